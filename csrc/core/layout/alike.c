/* Layouts of other tensors that are cut as one is. */
#include "core/layout/layout.h"

bool
dt_layout_replicated(const dt_layout *layout)
{
    bool cut = false;
    for (int d = 0; d < layout->ndim; d++)
        cut = cut || layout->dims[d].count > 0;
    return !cut && !layout->has_partial;
}

bool
dt_layout_has_replicas(const dt_layout *layout)
{
    bool found = false;
    for (int m = 0; m < layout->mesh->ndim; m++)
        found |=
            dt_placement_whole(layout->placements[m]) && layout->mesh->shape[m] > 1;
    return found;
}

/* The placement of another tensor. Splits tell the order, which thus goes along. */
static dt_placement
placement_like(dt_placement p, const int *dims, bool partial)
{
    switch (p.kind) {
    case DT_SHARD:
        if (dims[p.dim] < 0)
            break;
        p.dim = dims[p.dim];
        return p;
    case DT_PARTIAL:
        if (partial)
            return p;
        break;
    case DT_REPLICATE:
        break;
    }
    return DT_REPLICATED;
}

dt_status
dt_layout_like(dt_layout **out, const dt_layout *from, const int *dims, int ndim,
               const int64_t *shape, dt_dtype dtype, bool partial, dt_error *err)
{
    dt_placement placements[DT_MESH_MAX_NDIM];
    for (int m = 0; m < from->mesh->ndim; m++)
        placements[m] = placement_like(dt_layout_placement(from, m), dims, partial);
    dt_cuts cuts[DT_MAX_NDIM];
    int count = 0;
    for (int d = 0; d < from->ndim; d++)
        if (dims[d] >= 0 && from->dims[d].cuts != NULL &&
            from->shape[d] == shape[dims[d]])
            cuts[count++] = (dt_cuts){.dim = dims[d],
                                      .count = from->dims[d].parts + 1,
                                      .cuts = from->dims[d].cuts};
    return dt_layout_make(out, from->mesh, placements, ndim, shape, dtype, NULL, 0,
                          cuts, count, err);
}

dt_status
dt_layout_whole(dt_layout **out, const dt_layout *from, const bool *whole,
                dt_error *err)
{
    dt_placement placements[DT_MESH_MAX_NDIM];
    for (int m = 0; m < from->mesh->ndim; m++)
        placements[m] = from->placements[m];
    for (int d = 0; d < from->ndim; d++)
        for (int k = 0; whole[d] && k < from->dims[d].count; k++)
            placements[from->dims[d].mesh_dims[k]] = DT_REPLICATED;
    return dt_layout_with(out, from, placements, err);
}
