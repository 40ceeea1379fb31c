/* draft.h: a layout that is being changed, one mesh dimension at a time. The planner's
 * way to the layouts between two others. */
#ifndef DT_DRAFT_H
#define DT_DRAFT_H

#include "core/layout/context.h"

typedef struct {
    const dt_layout *base;
    dt_dtype dtype;
    dt_placement placements[DT_MESH_MAX_NDIM];
    dt_order orders[DT_MAX_NDIM];
    const int64_t *cuts[DT_MAX_NDIM]; /* NULL: chunks */
    bool strided[DT_MAX_NDIM];
} dt_draft;

void dt_draft_begin(dt_draft *draft, const dt_layout *base);

/* Replaces the placement of a mesh dimension by one that is no Shard. */
void dt_draft_set(dt_draft *draft, int mesh_dim, dt_placement placement);

/* True if dimension `dim` can be cut further: not by cut points or strides. */
bool dt_draft_can_append(const dt_draft *draft, int dim);

/* Lets a mesh dimension that does not shard cut `dim` after all others. */
void dt_draft_append(dt_draft *draft, int mesh_dim, int dim);

/* Lets mesh dimension m cut a dimension as in `like`, but without the cut that comes first
 * there (dt_layout_first_cut), whose mesh dimension does not shard then. */
void dt_draft_stride(dt_draft *draft, const dt_layout *like, int m);

/* Cuts a whole dimension exactly as `like` does, by mesh dimensions that do not shard.
 */
void dt_draft_cut_like(dt_draft *draft, int dim, const dt_layout *like);

/* The layout, entered into the context; one reference is the caller's. DT_MEMORY. */
dt_status dt_draft_layout(const dt_layout **out, const dt_draft *draft,
                          dt_context *context, dt_error *err);

#endif
