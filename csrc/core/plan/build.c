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
#include "core/plan/builder.h"

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
before_pending(const dt_layout **out, const dt_builder *b, const dt_layout *to)
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
sliced(const dt_layout **out, const dt_builder *b, const dt_layout *to)
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
ungathered(const dt_layout **out, const dt_builder *b, const dt_layout *to)
{
    dt_draft draft;
    dt_draft_begin(&draft, to);
    if (!dt_mesh_same_ranks(b->at->mesh, to->mesh)) {
        for (int m = 0; m < to->mesh->ndim; m++) {
            int dim = is_whole(to, m) ? dt_longest_dim(&draft, to->mesh->shape[m]) : -1;
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

/* The mesh dimension to gather next: of those that cut a dimension last, and `to` does not
 * cut by, the first, so that little is gathered from far away; -1: there is none. With
 * `strides` also the first of two such cuts: what is left has a stride. */
static int
next_to_gather(const dt_layout *at, const dt_layout *to, bool strides)
{
    int next = -1;
    for (int m = 0; strides && m < to->mesh->ndim; m++) {
        int first = is_cut(to, m) ? -1 : dt_layout_first_cut(at, m);
        if (first >= 0 && !is_cut(to, first))
            next = next < 0 || first < next ? first : next;
    }
    for (int d = 0; d < to->ndim; d++)
        for (int k = at->dims[d].count - 1; k >= 0; k--) {
            int m = at->dims[d].mesh_dims[k];
            if (is_cut(to, m) || at->mesh->shape[m] == 1)
                continue;
            next = next < 0 || m < next ? m : next;
            break;
        }
    return next;
}

/* The mesh dimension that cuts second what m cuts first; -1: there is none. */
static int
second_cut(const dt_layout *at, int m)
{
    for (int other = 0; other < at->mesh->ndim; other++)
        if (dt_layout_first_cut(at, other) == m)
            return other;
    return -1;
}

/* Gathers what `to` does not cut, one mesh dimension after the other. */
static dt_status
gather_stepwise(dt_builder *b, const dt_layout *to)
{
    bool strides = b->family >= DT_NESTED;
    for (int m; (m = next_to_gather(b->at, to, strides)) >= 0;) {
        dt_draft draft;
        const dt_layout *next, *before = b->at;
        dt_draft_begin(&draft, b->at);
        int second = second_cut(b->at, m);
        if (second >= 0)
            dt_draft_stride(&draft, b->at, second);
        else
            dt_draft_set(&draft, m, DT_REPLICATED);
        DT_TRY(dt_draft_layout(&next, &draft, b->context, b->err));
        dt_builder_exchange(b, next);
        if (b->at == before)
            break; /* nobody has more for it: what is left is one exchange */
    }
    return DT_OK;
}

static dt_status
move_parts(dt_builder *b, const dt_layout *to)
{
    if (dt_same_parts(b->at, to))
        return DT_OK;
    bool one_mesh = dt_mesh_same_ranks(b->at->mesh, to->mesh);
    const dt_layout *next;
    if (b->family != DT_DIRECT && !(one_mesh && dt_layout_nested(to, b->at))) {
        if (one_mesh) {
            DT_TRY(sliced(&next, b, to));
            dt_builder_exchange(b, next);
        }
        DT_TRY(ungathered(&next, b, to));
        dt_builder_exchange(b, next);
        if (b->family >= DT_STEPWISE)
            DT_TRY(gather_stepwise(b, to));
    }
    dt_layout_retain(to);
    dt_builder_exchange(b, to);
    return DT_OK;
}

dt_status
dt_build(dt_plan *plan, dt_context *context, dt_family family, const dt_layout *to,
         dt_error *err)
{
    dt_builder b = {plan, context, family, plan->start, err};
    if (dt_same_parts(b.at, to))
        return DT_OK;
    DT_TRY(dt_builder_reduce(&b, to));
    const dt_layout *whole;
    DT_TRY(before_pending(&whole, &b, to));
    dt_status status = move_parts(&b, whole);
    dt_layout_release(context, whole);
    DT_TRY(status);
    if (!dt_same_parts(b.at, to)) {
        dt_layout_retain(to);
        dt_builder_step(&b, DT_STEP_LOCAL, to, dt_changed_dims(b.at, to));
    }
    return DT_OK;
}
