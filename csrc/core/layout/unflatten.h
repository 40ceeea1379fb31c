/* unflatten.h: a layout on a mesh of which one dimension is two, the nodes and the ranks of
 * a node, say. Every rank holds the same. */
#ifndef DT_UNFLATTEN_H
#define DT_UNFLATTEN_H

#include "core/layout/context.h"

/* Mesh dimension m, of a length that `inner` divides, becomes m and m + 1, of lengths
 * shape[m] / inner and inner; one reference is the caller's. NULL: the layout is strided.
 *
 *     [S(0)] on (6,), m 0, inner 2:  [S(0), S(0)] on (3, 2), with the cut points of before
 *
 * The mesh has no names, and fewer than DT_MESH_MAX_NDIM dimensions before. DT_MEMORY. */
dt_status dt_layout_unflatten(const dt_layout **out, dt_context *context,
                              const dt_layout *from, int m, int64_t inner,
                              dt_error *err);

#endif
