/* The steps of one family of plans.
 *
 * Steps are made in an order that never moves more than is needed: pending reductions
 * first, into the shards that the target wants (reduce_scatter) or else everywhere
 * (all_reduce); then slices, which send nothing; then one exchange between shards; then
 * gathering; and last the step that makes addends of values. The families differ in how
 * many mesh dims a step takes together (DT_FAMILIES in build.h): all at once, all of one
 * kind, or one by one. The builder keeps the layout that the steps have reached, `at`;
 * each helper proposes the next layout as a draft, which is entered into the context only
 * if it is a layout at all. Cost: a few layouts for each step, nothing that grows with the
 * number of ranks or elements. */
#include "core/plan/build.h"

#include "core/plan/draft.h"

#include <string.h>

typedef struct {
    dt_plan *plan;
    dt_context *context;
    dt_family family;
    const dt_layout *at; /* how far the steps go */
    dt_error *err;
} builder;

/* --- what is where --- */

/* Mesh dimensions of length 1 do nothing, whatever their placement. */
static bool
is_whole(const dt_layout *layout, int m)
{
    return layout->mesh->shape[m] > 1 && dt_placement_whole(layout->placements[m]);
}

static bool
is_cut(const dt_layout *layout, int m)
{
    return layout->mesh->shape[m] > 1 && dt_placement_cuts(layout->placements[m]);
}

static bool
is_pending(const dt_layout *layout, int m)
{
    return layout->mesh->shape[m] > 1 && dt_placement_pending(layout->placements[m]);
}

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

/* Every rank holds the same after as before. */
static bool
same_parts(const dt_layout *a, const dt_layout *b)
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

static unsigned
changed_dims(const dt_layout *from, const dt_layout *to)
{
    unsigned mask = 0;
    for (int m = 0; m < to->mesh->ndim; m++)
        if (to->mesh->shape[m] > 1 && cut_changes(from, to, m))
            mask |= 1U << m;
    return mask;
}

/* --- steps --- */

/* Appends a step to `to`, of which one reference is taken over. */
static void
add_step(builder *b, dt_step_kind kind, const dt_layout *to, unsigned mask,
         dt_reduce_op op)
{
    dt_step *step = &b->plan->steps[b->plan->step_count++];
    *step = (dt_step){.kind = kind, .from = b->at, .to = to, .op = op};
    for (int m = 0; m < to->mesh->ndim; m++)
        if (mask >> m & 1)
            step->mesh_dims[step->mesh_dim_count++] = m;
    b->at = to;
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

/* Goes to a layout without summing anything. Takes over a reference. */
static void
add_exchange(builder *b, const dt_layout *to)
{
    if (same_parts(b->at, to)) {
        dt_layout_release(b->context, to);
        return;
    }
    bool one_mesh = dt_mesh_same_ranks(b->at->mesh, to->mesh);
    unsigned mask = one_mesh ? changed_dims(b->at, to) : (1U << to->mesh->ndim) - 1;
    add_step(b, exchange_kind(b->at, to), to, mask, DT_SUM);
}

/* --- first: pending reductions --- */

/* Mesh dimensions to be reduced before `to` can be reached. What is pending on the left
 * is reduced first; an operator that does not commute cannot wait. */
static unsigned
dims_to_reduce(const dt_layout *from, const dt_layout *to, bool one_mesh)
{
    unsigned mask = 0;
    for (int m = 0; m < from->mesh->ndim; m++)
        if (is_pending(from, m) &&
            (!one_mesh || !dt_placement_equal(from->placements[m], to->placements[m])))
            mask |= 1U << m;
    for (int m = from->mesh->ndim - 1; m >= 0; m--)
        for (int right = m + 1; right < from->mesh->ndim; right++)
            if (is_pending(from, m) && (mask >> right & 1) &&
                !dt_reduce_op_commute(from->placements[m].op,
                                      from->placements[right].op))
                mask |= 1U << m;
    return mask;
}

/* The dimension that a reduction across meshes is best scattered over: the longest. */
static int
longest_dim(const dt_draft *draft, int64_t least)
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

/* If all mesh dimensions that cut `dim` in `to` are in the mask and it is whole now, it
 * can be cut as `to` cuts it, be it by cut points. */
static bool
cut_exactly(const dt_layout *at, const dt_layout *to, int dim, unsigned mask)
{
    const dt_cut *cut = &to->dims[dim];
    if (at->dims[dim].count > 0)
        return false;
    for (int k = 0; k < cut->count; k++)
        if (!(mask >> cut->mesh_dims[k] & 1))
            return false;
    return true;
}

/* True if a dimension is cut so far as `to` cuts it first. */
static bool
cut_begins_like(const dt_draft *draft, const dt_layout *to, int dim)
{
    const dt_order *order = &draft->orders[dim];
    for (int k = 0; k < order->count; k++)
        if (k >= to->dims[dim].count ||
            order->mesh_dims[k] != to->dims[dim].mesh_dims[k])
            return false;
    return dt_draft_can_append(draft, dim);
}

/* Cuts a dimension as `to` does by mesh dimensions that replicate now, as long as they
 * come next; the rank drops what it will not hold. */
static void
slice_next(dt_draft *draft, const dt_layout *at, const dt_layout *to, int dim)
{
    const dt_cut *cut = &to->dims[dim];
    if (cut->strided || cut->cuts != NULL)
        return;
    for (int k = draft->orders[dim].count; k < cut->count; k++) {
        if (!dt_placement_whole(at->placements[cut->mesh_dims[k]]) ||
            !cut_begins_like(draft, to, dim))
            return;
        dt_draft_append(draft, cut->mesh_dims[k], dim);
    }
}

/* Scatters the mesh dimensions of `mask` that cut one dimension in `to`. */
static unsigned
scatter_dim(dt_draft *draft, const builder *b, const dt_layout *to, int dim,
            unsigned mask)
{
    const dt_cut *cut = &to->dims[dim];
    unsigned done = 0;
    if (cut->count > 0 && cut_exactly(b->at, to, dim, mask)) {
        dt_draft_cut_like(draft, dim, to);
        for (int k = 0; k < cut->count; k++)
            done |= 1U << cut->mesh_dims[k];
        return done;
    }
    for (int k = 0; k < cut->count; k++) {
        int m = cut->mesh_dims[k];
        if (!(mask >> m & 1) || !dt_draft_can_append(draft, dim))
            continue;
        slice_next(draft, b->at, to, dim);
        dt_draft_append(draft, m, dim);
        done |= 1U << m;
    }
    return done;
}

/* Scatters the mesh dimensions of `mask` in a draft of b->at; returns those that found
 * a tensor dimension to be scattered over. */
static unsigned
scatter_dims(dt_draft *draft, const builder *b, const dt_layout *to, bool one_mesh,
             unsigned mask)
{
    unsigned done = 0;
    dt_draft_begin(draft, b->at);
    if (!one_mesh) {
        for (int m = 0; m < b->at->mesh->ndim; m++) {
            int dim = mask >> m & 1 ? longest_dim(draft, b->at->mesh->shape[m]) : -1;
            if (dim >= 0) {
                dt_draft_append(draft, m, dim);
                done |= 1U << m;
            }
        }
        return done;
    }
    for (int d = 0; d < to->ndim; d++)
        done |= scatter_dim(draft, b, to, d, mask);
    return done;
}

/* Drops what no later step needs, so that less is reduced. */
static dt_status
slice_first(builder *b, const dt_layout *to)
{
    dt_draft draft;
    const dt_layout *next;
    dt_draft_begin(&draft, b->at);
    for (int d = 0; d < to->ndim; d++)
        if (cut_begins_like(&draft, to, d))
            slice_next(&draft, b->at, to, d);
    DT_TRY(dt_draft_layout(&next, &draft, b->context, b->err));
    add_exchange(b, next);
    return DT_OK;
}

/* Reduces mesh dimensions that have one operator: scattered where `to` is sharded, then
 * whole. */
static dt_status
reduce_batch(builder *b, const dt_layout *to, bool one_mesh, unsigned mask,
             dt_reduce_op op)
{
    dt_draft draft;
    const dt_layout *next;
    unsigned scattered = scatter_dims(&draft, b, to, one_mesh, mask);
    if (scattered != 0) {
        DT_TRY(dt_draft_layout(&next, &draft, b->context, b->err));
        add_step(b, DT_STEP_REDUCE_SCATTER, next, scattered, op);
    }
    unsigned whole = mask & ~scattered;
    if (whole != 0) {
        if (one_mesh)
            DT_TRY(slice_first(b, to));
        dt_draft_begin(&draft, b->at);
        for (int m = 0; m < b->at->mesh->ndim; m++)
            if (whole >> m & 1)
                dt_draft_set(&draft, m, DT_REPLICATED);
        DT_TRY(dt_draft_layout(&next, &draft, b->context, b->err));
        add_step(b, DT_STEP_ALL_REDUCE, next, whole, op);
    }
    return DT_OK;
}

static dt_status
reduce_all(builder *b, const dt_layout *to)
{
    bool one_mesh = dt_mesh_same_ranks(b->at->mesh, to->mesh);
    unsigned mask = dims_to_reduce(b->at, to, one_mesh);
    for (int m = 0; m < b->at->mesh->ndim; m++) {
        if (!(mask >> m & 1))
            continue;
        dt_reduce_op op = b->at->placements[m].op;
        unsigned batch = 0;
        for (int k = m; k < b->at->mesh->ndim; k++) {
            if (!is_pending(b->at, k))
                continue;
            if (!(mask >> k & 1) || b->at->placements[k].op != op ||
                (b->family == DT_STEPWISE && k > m))
                break;
            batch |= 1U << k;
        }
        mask &= ~batch;
        DT_TRY(reduce_batch(b, to, one_mesh, batch, op));
    }
    return DT_OK;
}

/* --- last: to Partial, which needs no message --- */

/* Shard to Partial keeps the own box between identities. With one exact operator
 * pending on all mesh dimensions the order of these does not matter. */
static bool
can_embed(const dt_layout *to)
{
    int op = -1;
    for (int m = 0; m < to->mesh->ndim; m++) {
        if (!is_pending(to, m))
            continue;
        if (dt_reduce_op_get(to->placements[m].op)->law == DT_LAW_AVERAGES ||
            (op >= 0 && (int)to->placements[m].op != op))
            return false;
        op = (int)to->placements[m].op;
    }
    return true;
}

/* The layout from which one local step leads to `to`: `to` itself unless something
 * becomes Partial. */
static dt_status
before_pending(const dt_layout **out, const builder *b, const dt_layout *to)
{
    dt_draft draft;
    dt_draft_begin(&draft, to);
    bool one_mesh = dt_mesh_same_ranks(b->at->mesh, to->mesh);
    bool embed = one_mesh && can_embed(to);
    for (int m = 0; m < to->mesh->ndim; m++) {
        if (!is_pending(to, m) || (one_mesh && is_pending(b->at, m)))
            continue;
        dt_draft_set(&draft, m, DT_REPLICATED);
        if (!embed || !is_cut(b->at, m))
            continue;
        int dim = b->at->placements[m].dim;
        if (dt_draft_can_append(&draft, dim))
            dt_draft_append(&draft, m, dim);
    }
    return dt_draft_layout(out, &draft, b->context, b->err);
}

/* --- between: slice, exchange, gather --- */

/* b->at with those mesh dimensions cut that `to` cuts in addition: no messages. */
static dt_status
sliced(const dt_layout **out, const builder *b, const dt_layout *to)
{
    dt_draft draft;
    dt_draft_begin(&draft, b->at);
    for (int d = 0; d < to->ndim; d++)
        for (int k = 0; k < to->dims[d].count; k++) {
            int m = to->dims[d].mesh_dims[k];
            if (is_whole(b->at, m) && dt_draft_can_append(&draft, d))
                dt_draft_append(&draft, m, d);
        }
    return dt_draft_layout(out, &draft, b->context, b->err);
}

/* `to` with those mesh dimensions still cut that b->at cuts in addition (across meshes:
 * that replicate), so that a gather leads from it to `to`. */
static dt_status
ungathered(const dt_layout **out, const builder *b, const dt_layout *to)
{
    dt_draft draft;
    dt_draft_begin(&draft, to);
    if (!dt_mesh_same_ranks(b->at->mesh, to->mesh)) {
        for (int m = 0; m < to->mesh->ndim; m++) {
            int dim = is_whole(to, m) ? longest_dim(&draft, to->mesh->shape[m]) : -1;
            if (dim >= 0)
                dt_draft_append(&draft, m, dim);
        }
        return dt_draft_layout(out, &draft, b->context, b->err);
    }
    for (int d = 0; d < to->ndim; d++)
        for (int k = 0; k < b->at->dims[d].count; k++) {
            int m = b->at->dims[d].mesh_dims[k];
            if (is_whole(to, m) && dt_draft_can_append(&draft, d))
                dt_draft_append(&draft, m, d);
        }
    return dt_draft_layout(out, &draft, b->context, b->err);
}

/* Gathers what `to` does not cut, the last cut first. */
static dt_status
gather_stepwise(builder *b, const dt_layout *to)
{
    for (int d = 0; d < to->ndim; d++)
        for (int k = b->at->dims[d].count - 1; k >= 0; k--) {
            int m = b->at->dims[d].mesh_dims[k];
            if (is_cut(to, m) || b->at->mesh->shape[m] == 1)
                continue;
            dt_draft draft;
            const dt_layout *next;
            dt_draft_begin(&draft, b->at);
            dt_draft_set(&draft, m, DT_REPLICATED);
            DT_TRY(dt_draft_layout(&next, &draft, b->context, b->err));
            add_exchange(b, next);
        }
    return DT_OK;
}

static dt_status
move_parts(builder *b, const dt_layout *to)
{
    if (same_parts(b->at, to))
        return DT_OK;
    bool one_mesh = dt_mesh_same_ranks(b->at->mesh, to->mesh);
    const dt_layout *next;
    if (b->family != DT_DIRECT && !(one_mesh && dt_layout_nested(to, b->at))) {
        if (one_mesh) {
            DT_TRY(sliced(&next, b, to));
            add_exchange(b, next);
        }
        DT_TRY(ungathered(&next, b, to));
        add_exchange(b, next);
        if (b->family == DT_STEPWISE)
            DT_TRY(gather_stepwise(b, to));
    }
    dt_layout_retain(to);
    add_exchange(b, to);
    return DT_OK;
}

dt_status
dt_build(dt_plan *plan, dt_context *context, dt_family family, dt_error *err)
{
    const dt_layout *to = plan->to;
    builder b = {plan, context, family, plan->from, err};
    if (same_parts(b.at, to))
        return DT_OK;
    DT_TRY(reduce_all(&b, to));
    const dt_layout *whole;
    DT_TRY(before_pending(&whole, &b, to));
    dt_status status = move_parts(&b, whole);
    dt_layout_release(context, whole);
    DT_TRY(status);
    if (!same_parts(b.at, to)) {
        dt_layout_retain(to);
        add_step(&b, DT_STEP_LOCAL, to, changed_dims(b.at, to), DT_SUM);
    }
    return DT_OK;
}
