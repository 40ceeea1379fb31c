/* Pending reductions, as steps.
 *
 * Who adds what to what is the same in all plans (kernels/reduce.h): over mesh dims the
 * last first. So a family may reduce mesh dims together, in one step whose addends lie on
 * a grid, or one by one from the last to the first; and the scattered ones before those
 * that are reduced whole only where they come after them. What is scattered over more
 * mesh dims than the target is gathered again: as many bytes as an all_reduce of the
 * part. A sum of 16-bit numbers is rounded once: families that share sums out send it as
 * float32 before it is whole, the others reduce those mesh dims together. An average is
 * divided in the last step, by the number of all addends; the steps before it add. */
#include "core/plan/builder.h"
#include "core/plan/tree.h"

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
scatter_dim(dt_draft *draft, const dt_builder *b, const dt_layout *to, int dim,
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
scatter_dims(dt_draft *draft, const dt_builder *b, const dt_layout *to, bool one_mesh,
             unsigned mask)
{
    unsigned done = 0;
    dt_draft_begin(draft, b->at);
    if (!one_mesh) {
        for (int m = 0; m < b->at->mesh->ndim; m++) {
            int dim = mask >> m & 1 ? dt_longest_dim(draft, b->at->mesh->shape[m]) : -1;
            if (dim >= 0) {
                dt_draft_append(draft, m, dim);
                done |= 1U << m;
            }
        }
        return done;
    }
    for (int d = 0; d < to->ndim; d++)
        done |= scatter_dim(draft, b, to, d, mask);
    for (int d = 0; d < to->ndim; d++)
        if (cut_begins_like(draft, to, d))
            slice_next(draft, b->at, to, d);
    return done;
}

/* The dimension to cut by a mesh dimension: that of `to`, or else one that `to` does not
 * go on to cut, so that a gather leads back; -1: there is none long enough. */
static int
dim_to_cut(const dt_draft *draft, const dt_layout *to, int m)
{
    dt_draft free = *draft;
    dt_placement wanted = to->placements[m];
    if (dt_placement_cuts(wanted) && dt_draft_can_append(draft, wanted.dim))
        return wanted.dim;
    for (int d = 0; d < to->ndim; d++)
        if (to->dims[d].count > draft->orders[d].count)
            free.strided[d] = true;
    int dim = dt_longest_dim(&free, to->mesh->shape[m]);
    return dim >= 0 ? dim : dt_longest_dim(draft, to->mesh->shape[m]);
}

/* Drops what no later step needs, so that less is reduced; with `all` also what other
 * ranks can look after. */
static dt_status
slice_first(dt_builder *b, const dt_layout *to, bool all)
{
    dt_draft draft;
    const dt_layout *next;
    dt_draft_begin(&draft, b->at);
    for (int d = 0; d < to->ndim; d++)
        if (cut_begins_like(&draft, to, d))
            slice_next(&draft, b->at, to, d);
    for (int m = to->mesh->ndim - 1; all && m >= 0; m--) {
        bool whole = dt_placement_whole(draft.placements[m]) && to->mesh->shape[m] > 1;
        int dim = whole ? dim_to_cut(&draft, to, m) : -1;
        if (dim >= 0)
            dt_draft_append(&draft, m, dim);
    }
    DT_TRY(dt_draft_layout(&next, &draft, b->context, b->err));
    dt_builder_exchange(b, next);
    return DT_OK;
}

/* --- steps --- */

/* Mesh dimensions that are reduced by one operator, as if at once. */
typedef struct {
    const dt_layout *to;
    bool one_mesh;
    unsigned mask;
    dt_reduce_op op;
    int64_t count; /* of addends */
} batch;

/* Appends the step to a draft that reduces `mask`; `rest` is to be reduced later. */
static dt_status
add_reduction(dt_builder *b, const batch *of, dt_step_kind kind, const dt_draft *draft,
              unsigned mask, unsigned rest)
{
    const dt_layout *next;
    DT_TRY(dt_draft_layout(&next, draft, b->context, b->err));
    bool averages = dt_reduce_op_get(of->op)->law == DT_LAW_AVERAGES;
    dt_step *step = dt_builder_step(b, kind, next, mask);
    step->op = averages && rest != 0 ? DT_SUM : of->op;
    step->divisor = of->count;
    return DT_OK;
}

static dt_status
reduce_whole(dt_builder *b, const batch *of, unsigned mask, unsigned rest)
{
    dt_draft draft;
    if (of->one_mesh)
        DT_TRY(slice_first(b, of->to, false));
    dt_draft_begin(&draft, b->at);
    for (int m = 0; m < b->at->mesh->ndim; m++)
        if (mask >> m & 1)
            dt_draft_set(&draft, m, DT_REPLICATED);
    return add_reduction(b, of, DT_STEP_ALL_REDUCE, &draft, mask, rest);
}

/* Scatters over all mesh dimensions of the batch, of which `draft` has those that the
 * target wants, and gathers the others. False if there is no dimension for them. */
static dt_status
scatter_more(bool *done, dt_builder *b, const batch *of, dt_draft *draft,
             unsigned whole)
{
    const dt_layout *gathered;
    dt_draft more = *draft;
    *done = false;
    for (int m = 0; m < b->at->mesh->ndim; m++) {
        int64_t length = b->at->mesh->shape[m];
        int dim = whole >> m & 1 ? dt_longest_dim(&more, length) : 0;
        if (dim < 0)
            return DT_OK;
        if (whole >> m & 1) {
            dt_draft_append(&more, m, dim);
            dt_draft_set(draft, m, DT_REPLICATED);
        }
    }
    DT_TRY(add_reduction(b, of, DT_STEP_REDUCE_SCATTER, &more, of->mask, 0));
    DT_TRY(dt_draft_layout(&gathered, draft, b->context, b->err));
    dt_builder_exchange(b, gathered);
    *done = true;
    return DT_OK;
}

static dt_status
reduce_together(dt_builder *b, const batch *of)
{
    dt_draft draft;
    unsigned mask = of->mask;
    unsigned scattered = scatter_dims(&draft, b, of->to, of->one_mesh, mask);
    unsigned whole = mask & ~scattered;
    if (whole == 0)
        return add_reduction(b, of, DT_STEP_REDUCE_SCATTER, &draft, scattered, 0);
    if (scattered == 0)
        return reduce_whole(b, of, whole, 0);
    unsigned first_scattered = scattered & (~scattered + 1U);
    if (whole < first_scattered && dt_reduce_op_travels(of->op, b->at->dtype)) {
        DT_TRY(add_reduction(b, of, DT_STEP_REDUCE_SCATTER, &draft, scattered, whole));
        return reduce_whole(b, of, whole, 0);
    }
    bool done = false;
    if (of->one_mesh && b->family != DT_DIRECT)
        DT_TRY(scatter_more(&done, b, of, &draft, whole));
    return done ? DT_OK : reduce_whole(b, of, mask, 0);
}

/* Whether scattering a mesh dimension alone leads towards the target: those that cut
 * the same dimension before it do so already. */
static bool
scatters_next(dt_draft *draft, const dt_builder *b, const batch *of, int m)
{
    if (scatter_dims(draft, b, of->to, of->one_mesh, 1U << m) == 0)
        return false;
    if (!of->one_mesh)
        return true;
    int dim = of->to->placements[m].dim;
    const dt_cut *cut = &of->to->dims[dim];
    if (draft->cuts[dim] != NULL)
        return true; /* cut exactly as the target */
    if (cut->cuts != NULL || cut->strided)
        return false;
    return cut_begins_like(draft, of->to, dim);
}

static dt_status
reduce_stepwise(dt_builder *b, const batch *of)
{
    for (int m = b->at->mesh->ndim - 1; m >= 0; m--) {
        unsigned one = 1U << m, rest = of->mask & (one - 1);
        dt_draft draft;
        if (!(of->mask & one))
            continue;
        if (scatters_next(&draft, b, of, m))
            DT_TRY(add_reduction(b, of, DT_STEP_REDUCE_SCATTER, &draft, one, rest));
        else
            DT_TRY(reduce_whole(b, of, one, rest));
    }
    return DT_OK;
}

/* Whether nothing is left to do but to gather, once mesh dimension m is reduced whole, and
 * few enough ranks do it: many halve what they have, then double it, in log2 n messages.
 * What is in float32 is gathered when it is rounded. */
static dt_status
ends_whole(bool *out, dt_builder *b, const batch *of, int m)
{
    const dt_layout *next;
    dt_draft draft;
    *out = false;
    if (is_cut(of->to, m) || (of->mask & ((1U << m) - 1)) != 0 ||
        of->to->mesh->shape[m] >= DT_TREE_LARGE_RANKS || b->at->dtype != of->to->dtype)
        return DT_OK;
    dt_draft_begin(&draft, b->at);
    dt_draft_set(&draft, m, DT_REPLICATED);
    DT_TRY(dt_draft_layout(&next, &draft, b->context, b->err));
    *out = dt_layout_nested(next, of->to);
    dt_layout_release(b->context, next);
    return DT_OK;
}

/* Cuts a dimension as the target does, where two mesh dimensions cut it: by the second,
 * which is reduced first, with a stride, then by both. False if it is not so. */
static bool
cut_in_turn(dt_draft *draft, const dt_layout *to, int m, unsigned rest)
{
    int first = dt_layout_first_cut(to, m);
    if (first >= 0 && rest >> first & 1) {
        int dim = to->placements[m].dim;
        if (draft->orders[dim].count > 0 || !dt_draft_can_append(draft, dim))
            return false;
        dt_draft_stride(draft, to, m);
        return true;
    }
    for (int second = m + 1; second < to->mesh->ndim; second++)
        if (dt_layout_first_cut(to, second) == m) {
            int dim = to->placements[m].dim;
            bool begun = draft->strided[dim] && draft->orders[dim].count == 1 &&
                         draft->orders[dim].mesh_dims[0] == second;
            if (begun)
                dt_draft_cut_like(draft, dim, to);
            return begun;
        }
    return false;
}

/* Rounds sums that are in float32 for being on the way. */
static dt_status
round_sums(dt_builder *b, dt_dtype dtype)
{
    dt_draft draft;
    const dt_layout *next;
    if (b->at->dtype == dtype)
        return DT_OK;
    dt_draft_begin(&draft, b->at);
    draft.dtype = dtype;
    DT_TRY(dt_draft_layout(&next, &draft, b->context, b->err));
    dt_builder_step(b, DT_STEP_LOCAL, next, 0);
    return DT_OK;
}

/* Scatters over one mesh dimension after the other, the last first. What is left at the
 * first of them is reduced whole if the target has it so. Where sums must not travel as
 * they are, addends are scattered and become float32. */
static dt_status
reduce_nested(dt_builder *b, const batch *of)
{
    bool travels = dt_reduce_op_travels(of->op, of->to->dtype);
    for (int m = b->at->mesh->ndim - 1; m >= 0; m--) {
        unsigned one = 1U << m, rest = of->mask & (one - 1);
        if (!(of->mask & one))
            continue;
        bool whole;
        DT_TRY(ends_whole(&whole, b, of, m));
        dt_draft draft;
        dt_draft_begin(&draft, b->at);
        bool cut = !whole && cut_in_turn(&draft, of->to, m, rest);
        int dim = whole || cut ? -1 : dim_to_cut(&draft, of->to, m);
        if (dim >= 0)
            dt_draft_append(&draft, m, dim);
        else if (!cut)
            dt_draft_set(&draft, m, DT_REPLICATED);
        dt_step_kind kind =
            cut || dim >= 0 ? DT_STEP_REDUCE_SCATTER : DT_STEP_ALL_REDUCE;
        if (!travels && rest != 0 && kind == DT_STEP_ALL_REDUCE &&
            b->at->dtype == of->to->dtype)
            return reduce_together(b, of); /* no addend is scattered: none travels */
        if (!travels && rest != 0)
            draft.dtype = DT_FLOAT32;
        DT_TRY(add_reduction(b, of, kind, &draft, one, rest));
    }
    return round_sums(b, of->to->dtype);
}

static dt_status
reduce_batch(dt_builder *b, const batch *of)
{
    bool nested = of->one_mesh && b->family >= DT_NESTED;
    if (nested)
        DT_TRY(slice_first(b, of->to, b->family == DT_SPREAD));
    if (nested)
        return reduce_nested(b, of);
    bool stepwise =
        b->family == DT_STEPWISE && dt_reduce_op_travels(of->op, b->at->dtype);
    return stepwise ? reduce_stepwise(b, of) : reduce_together(b, of);
}

/* The mesh dimensions from m on that are reduced together with it: of the same
 * operator, up to one of another. What stays pending between them commutes. */
static batch
batch_from(const dt_layout *at, int m, unsigned mask)
{
    batch of = {.op = at->placements[m].op, .count = 1};
    for (int k = m; k < at->mesh->ndim; k++) {
        if (!(mask >> k & 1))
            continue;
        if (at->placements[k].op != of.op)
            break;
        of.mask |= 1U << k;
        of.count *= at->mesh->shape[k];
    }
    return of;
}

dt_status
dt_builder_reduce(dt_builder *b, const dt_layout *to)
{
    bool one_mesh = dt_mesh_same_ranks(b->at->mesh, to->mesh);
    unsigned mask = dims_to_reduce(b->at, to, one_mesh);
    for (int m = 0; m < b->at->mesh->ndim; m++) {
        if (!(mask >> m & 1))
            continue;
        batch of = batch_from(b->at, m, mask);
        of.to = to;
        of.one_mesh = one_mesh;
        mask &= ~of.mask;
        DT_TRY(reduce_batch(b, &of));
    }
    return DT_OK;
}
