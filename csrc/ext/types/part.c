/* part.c: arrays for the part of a layout that a rank has. */
#include "ext/types/types.h"

#include <string.h>

PyObject *
ext_part(const dt_layout *layout, int64_t rank)
{
    int64_t shape[DT_MAX_NDIM + 1];
    int ndim = dt_layout_shape_at(shape, layout, rank);
    return ext_array(ndim, shape, layout->dtype);
}

PyObject *
ext_part_without_data(const dt_layout *layout, int64_t rank)
{
    int64_t shape[DT_MAX_NDIM + 1];
    int ndim = dt_layout_shape_at(shape, layout, rank);
    return ext_array_without_data(ndim, shape, layout->dtype);
}

int
ext_boxes_make(ext_boxes *b, const dt_layout *layout, const int64_t *coordinate)
{
    int64_t total = 1;
    memset(b, 0, sizeof *b);
    b->ndim = layout->ndim;
    for (int d = 0; d < layout->ndim; d++)
        total += dt_layout_range_limit(layout, d);
    dt_range *block = PyMem_New(dt_range, (size_t)total);
    if (block == NULL)
        return ext_no_memory();
    b->ranges[0] = block;
    for (int d = 0; d < layout->ndim; d++) {
        b->ranges[d] = block;
        b->counts[d] =
            dt_layout_ranges(block, layout, d, dt_layout_part(layout, d, coordinate));
        b->empty = b->empty || block->size == 0;
        block += b->counts[d];
    }
    return 0;
}

bool
ext_boxes_next(ext_boxes *b)
{
    for (int d = b->ndim - 1; d >= 0; d--) {
        b->local[d] += b->ranges[d][b->choice[d]].size;
        if (++b->choice[d] < b->counts[d])
            return true;
        b->choice[d] = b->local[d] = 0;
    }
    return false;
}
