#include "core/plan/builder.h"

#include <string.h>

/* --- what is where --- */

static bool
same_pending(const dt_layout *a, const dt_layout *b)
{
    for (int m = 0; m < a->mesh->ndim; m++) {
        bool x = is_pending(a, m), y = is_pending(b, m);
        if (x != y || (x && a->placements[m].op != b->placements[m].op))
            return false;
    }
    return true;
}

bool
dt_same_parts(const dt_layout *a, const dt_layout *b)
{
    return a == b || (dt_mesh_same_ranks(a->mesh, b->mesh) && same_pending(a, b) &&
                      dt_layout_nested(a, b) && dt_layout_nested(b, a));
}

/* Mesh dimensions whose part of the cutting of a tensor dimension changes. */
static bool
cut_changes(const dt_layout *from, const dt_layout *to, int m)
{
    dt_placement a = from->placements[m], b = to->placements[m];
    if (!dt_placement_equal(a, b))
        return true;
    if (!dt_placement_cuts(a))
        return false;
    const dt_cut *x = &from->dims[a.dim], *y = &to->dims[a.dim];
    if ((x->cuts == NULL) != (y->cuts == NULL) ||
        (x->cuts != NULL &&
         (x->parts != y->parts ||
          memcmp(x->cuts, y->cuts, sizeof(int64_t) * (size_t)(x->parts + 1)) != 0)))
        return true;
    for (int k = 0; k < x->count && k < y->count; k++) {
        if (x->mesh_dims[k] != y->mesh_dims[k])
            return true;
        if (x->mesh_dims[k] == m)
            return false;
    }
    return true;
}

unsigned
dt_changed_dims(const dt_layout *from, const dt_layout *to)
{
    unsigned mask = 0;
    for (int m = 0; m < to->mesh->ndim; m++)
        if (to->mesh->shape[m] > 1 && cut_changes(from, to, m))
            mask |= 1U << m;
    return mask;
}

/* --- steps --- */

dt_step *
dt_builder_step(dt_builder *b, dt_step_kind kind, const dt_layout *to, unsigned mask)
{
    dt_step *step = &b->plan->steps[b->plan->step_count++];
    *step = (dt_step){.kind = kind, .from = b->at, .to = to};
    for (int m = 0; m < to->mesh->ndim; m++)
        if (mask >> m & 1)
            step->mesh_dims[step->mesh_dim_count++] = m;
    b->at = to;
    return step;
}

static dt_step_kind
exchange_kind(const dt_layout *from, const dt_layout *to)
{
    if (!dt_mesh_same_ranks(from->mesh, to->mesh)) {
        bool whole = true;
        for (int m = 0; m < to->mesh->ndim; m++)
            whole = whole && !is_cut(to, m);
        if (to->mesh->size == 1)
            return DT_STEP_GATHER;
        if (from->mesh->size == 1)
            return whole ? DT_STEP_BROADCAST : DT_STEP_SCATTER;
        return DT_STEP_EXCHANGE;
    }
    if (dt_layout_nested(to, from))
        return DT_STEP_LOCAL;
    if (dt_layout_nested(from, to))
        return DT_STEP_ALL_GATHER;
    for (int m = 0; m < to->mesh->ndim; m++)
        if (is_cut(from, m) != is_cut(to, m))
            return DT_STEP_EXCHANGE;
    return DT_STEP_ALL_TO_ALL;
}

void
dt_builder_exchange(dt_builder *b, const dt_layout *to)
{
    if (dt_same_parts(b->at, to)) {
        dt_layout_release(b->context, to);
        return;
    }
    bool one_mesh = dt_mesh_same_ranks(b->at->mesh, to->mesh);
    unsigned mask = one_mesh ? dt_changed_dims(b->at, to) : (1U << to->mesh->ndim) - 1;
    dt_builder_step(b, exchange_kind(b->at, to), to, mask);
}

/* --- dimensions --- */

int
dt_longest_dim(const dt_draft *draft, int64_t least)
{
    int best = -1;
    int64_t best_length = least - 1;
    const dt_layout *base = draft->base;
    for (int d = 0; d < base->ndim; d++) {
        int64_t length = base->shape[d];
        for (int k = 0; k < draft->orders[d].count; k++)
            length /= base->mesh->shape[draft->orders[d].mesh_dims[k]];
        if (dt_draft_can_append(draft, d) && length > best_length) {
            best = d;
            best_length = length;
        }
    }
    return best;
}
