/* The same parts on a mesh of which one dimension is two. */
#include "core/layout/unflatten.h"

#include <stdlib.h>
#include <string.h>

static dt_status
unflattened_mesh(const dt_mesh **out, dt_context *context, const dt_mesh *mesh, int m,
                 int64_t inner, dt_error *err)
{
    int64_t shape[DT_MESH_MAX_NDIM];
    dt_mesh *made;
    memcpy(shape, mesh->shape, sizeof *shape * (size_t)m);
    shape[m] = mesh->shape[m] / inner;
    shape[m + 1] = inner;
    memcpy(shape + m + 2, mesh->shape + m + 1,
           sizeof *shape * (size_t)(mesh->ndim - m - 1));
    DT_TRY(dt_mesh_make(&made, mesh->ndim + 1, shape, mesh->ranks, NULL, mesh->world,
                        err));
    return dt_context_mesh(out, context, made, err);
}

/* The order of a dimension, in which `m` is followed by its other half. */
static dt_order
unflattened_order(const dt_cut *cut, int dim, int m)
{
    dt_order order = {.dim = dim};
    for (int k = 0; k < cut->count; k++) {
        int at = cut->mesh_dims[k];
        order.mesh_dims[order.count++] = at > m ? at + 1 : at;
        if (at == m)
            order.mesh_dims[order.count++] = m + 1;
    }
    return order;
}

/* The boundaries of the parts of a dimension, parts + 1 of them. */
static void
write_boundaries(int64_t *out, const dt_layout *layout, int dim)
{
    out[0] = 0;
    for (int64_t p = 0; p < layout->dims[dim].parts; p++)
        out[p + 1] = out[p] + dt_layout_part_size(layout, dim, p);
}

static dt_status
make_layout(dt_layout **out, const dt_layout *from, const dt_mesh *mesh, int m,
            int64_t *boundaries, dt_error *err)
{
    dt_placement placements[DT_MESH_MAX_NDIM];
    dt_order orders[DT_MAX_NDIM];
    dt_cuts cuts[DT_MAX_NDIM];
    int count = 0;
    for (int k = 0; k < mesh->ndim; k++)
        placements[k] = from->placements[k > m ? k - 1 : k];
    for (int d = 0; d < from->ndim; d++) {
        const dt_cut *cut = &from->dims[d];
        if (cut->count == 0)
            continue;
        write_boundaries(boundaries, from, d);
        orders[count] = unflattened_order(cut, d, m);
        cuts[count++] =
            (dt_cuts){.dim = d, .count = cut->parts + 1, .cuts = boundaries};
        boundaries += cut->parts + 1;
    }
    return dt_layout_make(out, mesh, placements, from->ndim, from->shape, from->dtype,
                          orders, count, cuts, count, err);
}

dt_status
dt_layout_unflatten(const dt_layout **out, dt_context *context, const dt_layout *from,
                    int m, int64_t inner, dt_error *err)
{
    *out = NULL;
    size_t room = 1;
    for (int d = 0; d < from->ndim; d++) {
        if (from->dims[d].strided)
            return DT_OK;
        room += from->dims[d].count > 0 ? (size_t)from->dims[d].parts + 1 : 0;
    }
    const dt_mesh *mesh;
    DT_TRY(unflattened_mesh(&mesh, context, from->mesh, m, inner, err));
    int64_t *boundaries = malloc(sizeof *boundaries * room);
    dt_layout *made = NULL;
    dt_status status = boundaries == NULL
                           ? dt_fail(err, DT_MEMORY, "no memory for cut points")
                           : make_layout(&made, from, mesh, m, boundaries, err);
    if (status == DT_OK)
        status = dt_context_layout(out, context, made, err);
    free(boundaries);
    dt_mesh_release(context, mesh);
    return status;
}
