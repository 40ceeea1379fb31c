/* layout_make.c: layouts made and entered into the context. */
#include "ext/types/types.h"

const dt_layout *
ext_layout_made(dt_status status, dt_layout *layout, const dt_error *err)
{
    const dt_layout *entered = NULL;
    dt_error own;
    if (status != DT_OK)
        return ext_raise(err);
    if (dt_context_layout(&entered, ext_context, layout, &own) != DT_OK)
        return ext_raise(&own);
    return entered;
}

const dt_layout *
ext_layout_make(const dt_mesh *mesh, const dt_placement *placements, int ndim,
                const int64_t *shape, dt_dtype dtype)
{
    dt_layout *layout = NULL;
    dt_error err;
    dt_status status = dt_layout_make(&layout, mesh, placements, ndim, shape, dtype,
                                      NULL, 0, NULL, 0, &err);
    return ext_layout_made(status, layout, &err);
}

const dt_layout *
ext_layout_at(const dt_mesh *mesh, int64_t rank, int ndim, const int64_t *shape,
              dt_dtype dtype)
{
    dt_mesh *made;
    const dt_mesh *point;
    dt_error err;
    if (dt_mesh_make(&made, 0, NULL, &rank, NULL, mesh->world, &err) != DT_OK ||
        dt_context_mesh(&point, ext_context, made, &err) != DT_OK)
        return ext_raise(&err);
    const dt_layout *layout = ext_layout_make(point, NULL, ndim, shape, dtype);
    dt_mesh_release(ext_context, point);
    return layout;
}

const dt_layout *
ext_layout_outside(const dt_mesh *mesh, const dt_placement *placements, int ndim,
                   const int64_t *shape, dt_dtype dtype)
{
    static const int64_t zeros[DT_MAX_NDIM];
    const dt_layout *layout =
        ndim < 0 ? NULL : ext_layout_make(mesh, placements, ndim, shape, dtype);
    if (layout != NULL)
        return layout;
    PyErr_Clear();
    ndim = 0;
    for (int m = 0; m < mesh->ndim; m++) {
        int dim = placements[m].dim;
        int least = dim < 0 ? -dim : dim + 1;
        if (dt_placement_cuts(placements[m]) && least > ndim)
            ndim = least < DT_MAX_NDIM ? least : DT_MAX_NDIM;
    }
    return ext_layout_make(mesh, placements, ndim, zeros, dtype);
}
