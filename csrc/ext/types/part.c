/* part.c: arrays for the part of a layout that a rank has. */
#include "ext/types/types.h"

PyObject *
ext_part(const dt_layout *layout, int64_t rank)
{
    int64_t coordinate[DT_MESH_MAX_NDIM], shape[DT_MAX_NDIM + 1];
    int64_t index = dt_mesh_index(layout->mesh, rank);
    if (index >= 0)
        dt_mesh_coordinate(coordinate, layout->mesh, index);
    int ndim = dt_layout_local_shape(shape, layout, index >= 0 ? coordinate : NULL);
    return ext_array(ndim, shape, layout->dtype);
}

PyObject *
ext_part_without_data(const dt_layout *layout, int64_t rank)
{
    int64_t coordinate[DT_MESH_MAX_NDIM], shape[DT_MAX_NDIM + 1];
    int64_t index = dt_mesh_index(layout->mesh, rank);
    if (index >= 0)
        dt_mesh_coordinate(coordinate, layout->mesh, index);
    int ndim = dt_layout_local_shape(shape, layout, index >= 0 ? coordinate : NULL);
    return ext_array_without_data(ndim, shape, layout->dtype);
}
