/* builder.h: a plan in the making, and what its parts are made with. */
#ifndef DT_BUILDER_H
#define DT_BUILDER_H

#include "core/plan/build.h"
#include "core/plan/draft.h"

typedef struct {
    dt_plan *plan;
    dt_context *context;
    dt_family family;
    const dt_layout *at; /* how far the steps go */
    dt_error *err;
} dt_builder;

/* Mesh dimensions of length 1 do nothing, whatever their placement. */
static inline bool
is_whole(const dt_layout *layout, int m)
{
    return layout->mesh->shape[m] > 1 && dt_placement_whole(layout->placements[m]);
}

static inline bool
is_cut(const dt_layout *layout, int m)
{
    return layout->mesh->shape[m] > 1 && dt_placement_cuts(layout->placements[m]);
}

static inline bool
is_pending(const dt_layout *layout, int m)
{
    return layout->mesh->shape[m] > 1 && dt_placement_pending(layout->placements[m]);
}

/* Every rank holds the same after as before. */
bool dt_same_parts(const dt_layout *a, const dt_layout *b);

/* Mesh dimensions along which the parts change, a bit mask. */
unsigned dt_changed_dims(const dt_layout *from, const dt_layout *to);

/* Appends a step to `to`, of which one reference is taken over. */
dt_step *dt_builder_step(dt_builder *b, dt_step_kind kind, const dt_layout *to,
                         unsigned mask);

/* Goes to a layout without summing anything. Takes over a reference. */
void dt_builder_exchange(dt_builder *b, const dt_layout *to);

/* The dimension that is best cut once more: the one with the longest parts, of `least`
 * at least. -1: there is none. */
int dt_longest_dim(const dt_draft *draft, int64_t least);

/* Reduces all that must be reduced before `to` can be reached. DT_MEMORY. */
dt_status dt_builder_reduce(dt_builder *b, const dt_layout *to);

#endif
