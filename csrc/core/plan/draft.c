#include "core/plan/draft.h"

#include <string.h>

void
dt_draft_begin(dt_draft *draft, const dt_layout *base)
{
    draft->base = base;
    draft->dtype = base->dtype;
    memcpy(draft->placements, base->placements, sizeof draft->placements);
    for (int d = 0; d < base->ndim; d++) {
        const dt_cut *cut = &base->dims[d];
        draft->orders[d] = (dt_order){.dim = d, .count = cut->count};
        memcpy(draft->orders[d].mesh_dims, cut->mesh_dims, sizeof cut->mesh_dims);
        draft->cuts[d] = cut->cuts;
        draft->strided[d] = cut->strided;
    }
}

void
dt_draft_set(dt_draft *draft, int mesh_dim, dt_placement placement)
{
    dt_placement old = draft->placements[mesh_dim];
    draft->placements[mesh_dim] = placement;
    if (!dt_placement_cuts(old))
        return;
    dt_order *order = &draft->orders[old.dim];
    int kept = 0;
    bool strided = false;
    for (int k = 0; k < order->count; k++)
        if (order->mesh_dims[k] != mesh_dim) {
            order->mesh_dims[kept++] = order->mesh_dims[k];
            strided = strided || draft->placements[order->mesh_dims[k]].split > 1;
        }
    order->count = kept;
    draft->cuts[old.dim] = NULL;
    draft->strided[old.dim] = strided;
}

bool
dt_draft_can_append(const dt_draft *draft, int dim)
{
    return draft->cuts[dim] == NULL && !draft->strided[dim];
}

void
dt_draft_append(dt_draft *draft, int mesh_dim, int dim)
{
    draft->placements[mesh_dim] = DT_SHARDED(dim);
    dt_order *order = &draft->orders[dim];
    order->mesh_dims[order->count++] = mesh_dim;
}

void
dt_draft_stride(dt_draft *draft, const dt_layout *like, int m)
{
    int dim = like->placements[m].dim, first = dt_layout_first_cut(like, m);
    if (dt_placement_cuts(draft->placements[first]))
        draft->placements[first] = DT_REPLICATED;
    draft->placements[m] = DT_STRIDED(dim, like->mesh->shape[first]);
    draft->orders[dim] = (dt_order){.dim = dim, .count = 1, .mesh_dims = {m}};
    draft->cuts[dim] = NULL;
    draft->strided[dim] = true;
}

void
dt_draft_cut_like(dt_draft *draft, int dim, const dt_layout *like)
{
    const dt_cut *cut = &like->dims[dim];
    for (int k = 0; k < cut->count; k++)
        draft->placements[cut->mesh_dims[k]] = like->placements[cut->mesh_dims[k]];
    draft->orders[dim].count = cut->count;
    memcpy(draft->orders[dim].mesh_dims, cut->mesh_dims, sizeof cut->mesh_dims);
    draft->cuts[dim] = cut->cuts;
    draft->strided[dim] = cut->strided;
}

dt_status
dt_draft_layout(const dt_layout **out, const dt_draft *draft, dt_context *context,
                dt_error *err)
{
    const dt_layout *base = draft->base;
    dt_order orders[DT_MAX_NDIM];
    dt_cuts cuts[DT_MAX_NDIM];
    int order_count = 0, cuts_count = 0;
    for (int d = 0; d < base->ndim; d++) {
        if (draft->orders[d].count > 1 && !draft->strided[d])
            orders[order_count++] = draft->orders[d];
        if (draft->cuts[d] == NULL)
            continue;
        int64_t parts = 1;
        for (int k = 0; k < draft->orders[d].count; k++)
            parts *= base->mesh->shape[draft->orders[d].mesh_dims[k]];
        cuts[cuts_count++] =
            (dt_cuts){.dim = d, .count = parts + 1, .cuts = draft->cuts[d]};
    }
    dt_layout *layout;
    DT_TRY(dt_layout_make(&layout, base->mesh, draft->placements, base->ndim,
                          base->shape, draft->dtype, orders, order_count, cuts,
                          cuts_count, err));
    return dt_context_layout(out, context, layout, err);
}
