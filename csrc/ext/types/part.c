/* part.c: arrays for the part of a layout that a rank has. */
#include "ext/types/types.h"

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
