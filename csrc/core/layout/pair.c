/* What two ranks have in common, without a walk over all others. */
#include "core/layout/turn.h"

#include <stdlib.h>

/* Elements of one dimension that two parts share. */
static int64_t
shared(const dt_layout *a, int64_t a_part, const dt_layout *b, int64_t b_part, int dim)
{
    if (!a->dims[dim].strided && !b->dims[dim].strided) {
        dt_range x, y;
        dt_layout_ranges(&x, a, dim, a_part);
        dt_layout_ranges(&y, b, dim, b_part);
        int64_t start = x.start > y.start ? x.start : y.start;
        int64_t x_end = x.start + x.size, y_end = y.start + y.size;
        int64_t end = x_end < y_end ? x_end : y_end;
        return end > start ? end - start : 0;
    }
    dt_overlaps found = {0};
    dt_constraint any = {0};
    int64_t size = 0;
    dt_overlaps_find(&found, NULL, a, b, &any, dim, a_part);
    for (int64_t k = 0; k < found.count; k++)
        if (found.items[k].part == b_part)
            size = found.items[k].size;
    free(found.items);
    return size;
}

int64_t
dt_exchange_kept(const dt_exchange *exchange, int64_t rank)
{
    const dt_layout *from = exchange->from, *to = exchange->to;
    int64_t x[DT_MESH_MAX_NDIM], y[DT_MESH_MAX_NDIM];
    if (!dt_mesh_find(x, from->mesh, rank) || !dt_mesh_find(y, to->mesh, rank))
        return 0;
    int64_t kept = 1;
    for (int d = 0; d < from->ndim; d++)
        kept *=
            shared(from, dt_layout_part(from, d, x), to, dt_layout_part(to, d, y), d);
    return kept;
}

/* Whether the rank at `x` sends the one at `y` what it has of its part, or keeps it. */
static bool
serves(const dt_exchange *exchange, const int64_t *x, const int64_t *y)
{
    const dt_layout *from = exchange->from;
    bool holds = dt_turns_same_part(from, x, y);
    dt_turns turns;
    dt_turns_find(&turns, from, exchange->to);
    for (int m = 0; m < from->mesh->ndim; m++) {
        bool told =
            dt_placement_cuts(from->placements[m]) || (exchange->reduced >> m & 1) != 0;
        if (!told && x[m] != (holds ? y[m] : dt_turns_sender(&turns, m, y)))
            return false;
    }
    return true;
}

int64_t
dt_exchange_between(const dt_exchange *exchange, int64_t from_rank, int64_t to_rank)
{
    const dt_layout *from = exchange->from, *to = exchange->to;
    int64_t x[DT_MESH_MAX_NDIM], y[DT_MESH_MAX_NDIM], elements = 1;
    if (!dt_mesh_find(x, from->mesh, from_rank) || !dt_mesh_find(y, to->mesh, to_rank))
        return 0;
    if (!serves(exchange, x, y))
        return 0;
    for (int d = 0; d < from->ndim && elements > 0; d++)
        elements *=
            shared(from, dt_layout_part(from, d, x), to, dt_layout_part(to, d, y), d);
    return elements;
}
