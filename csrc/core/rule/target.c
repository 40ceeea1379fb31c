/* Which layout a term has in a combination, and what it costs to get there. */
#include "core/rule/search.h"

/* --- layouts --- */

/* What dt_layout_make wants besides placements. */
typedef struct {
    dt_placement placements[DT_MESH_MAX_NDIM];
    dt_order orders[DT_MESH_MAX_NDIM];
    dt_cuts cuts[DT_MESH_MAX_NDIM];
    int order_count, cuts_count;
} blueprint;

static bool
is_ascending(const dt_cutting *cutting)
{
    for (int k = 1; k < cutting->count; k++)
        if (cutting->mesh_dims[k] < cutting->mesh_dims[k - 1])
            return false;
    return true;
}

/* Draws one dimension, which its word is cut for. */
static dt_status
draw_dim(blueprint *out, dt_search *s, const dt_cutting *cutting,
         const dt_bound_word *word, int64_t length)
{
    for (int k = 0; k < cutting->count; k++) {
        dt_placement *p = &out->placements[cutting->mesh_dims[k]];
        *p = DT_SHARDED(word->dim);
        if (cutting->strided)
            p->split = cutting->splits[k];
        else if (word->before > 1)
            p->split = word->before;
    }
    if (!cutting->strided && word->before <= 1 && !is_ascending(cutting)) {
        dt_order *order = &out->orders[out->order_count++];
        *order = (dt_order){.dim = word->dim, .count = cutting->count};
        for (int k = 0; k < cutting->count; k++)
            order->mesh_dims[k] = cutting->mesh_dims[k];
    }
    const int64_t *points;
    DT_TRY(dt_cutting_points(&points, s, cutting, word, length));
    if (points != NULL)
        out->cuts[out->cuts_count++] =
            (dt_cuts){.dim = word->dim, .count = cutting->parts + 1, .cuts = points};
    return DT_OK;
}

/* `codes`: of the term, for each mesh dimension. */
static dt_status
draw(blueprint *out, dt_search *s, const dt_bound_term *term, const int *codes)
{
    unsigned drawn = 0;
    out->order_count = out->cuts_count = 0;
    for (int m = 0; m < s->mesh->ndim; m++) {
        if (codes[m] == DT_CODE_WHOLE) {
            out->placements[m] = DT_REPLICATED;
        } else if (codes[m] < 0) {
            out->placements[m] = DT_PENDING((dt_reduce_op)(DT_CODE_PARTIAL - codes[m]));
        } else if (!(drawn >> m & 1)) {
            const dt_bound_word *word = &s->binding->words[codes[m]];
            const dt_cutting *cutting = s->cutting[m];
            DT_TRY(draw_dim(out, s, cutting, word, term->shape[word->dim]));
            for (int k = 0; k < cutting->count; k++)
                drawn |= 1U << cutting->mesh_dims[k];
        }
    }
    return DT_OK;
}

static dt_status
make_layout(const dt_layout **out, dt_search *s, int t, const int *codes)
{
    const dt_bound_term *term = &s->binding->terms[t];
    int operands = s->binding->operand_count;
    blueprint b;
    DT_TRY(draw(&b, s, term, codes));
    dt_layout *layout;
    DT_TRY(
        dt_layout_make(&layout, s->mesh, b.placements, term->ndim, term->shape,
                       t < operands ? s->operands[t]->dtype : s->results[t - operands],
                       b.orders, b.order_count, b.cuts, b.cuts_count, s->err));
    return dt_context_layout(out, s->context, layout, s->err);
}

/* --- what need not be made --- */

/* True if a dimension is surely cut so already; not said where that takes thought. */
static bool
is_cut_so(const dt_cut *cut, const dt_cutting *cutting, const dt_bound_word *word)
{
    bool even = word->rest == 1 || word->length % cutting->parts == 0;
    if (word->before > 1 || cutting->strided || cut->strided || !even ||
        cut->cuts != cutting->cuts || (word->rest != 1 && cut->cuts != NULL))
        return false;
    for (int k = 0; k < cut->count; k++)
        if (cut->mesh_dims[k] != cutting->mesh_dims[k])
            return false;
    return true;
}

/* True if a combination leaves an operand as it is. */
static bool
is_unchanged(const dt_search *s, const dt_layout *layout, const int *codes)
{
    for (int m = 0; m < s->mesh->ndim; m++) {
        dt_placement p = layout->placements[m];
        if (!dt_code_keeps(s, codes[m], p))
            return false;
        if (!dt_placement_cuts(p))
            continue;
        const dt_bound_word *word = &s->binding->words[codes[m]];
        const dt_cut *cut = &layout->dims[p.dim];
        if (cut->count != s->cutting[m]->count || !is_cut_so(cut, s->cutting[m], word))
            return false;
    }
    return true;
}

/* --- targets --- */

static void
find_codes(int *codes, const dt_search *s, int term)
{
    for (int m = 0; m < s->mesh->ndim; m++)
        codes[m] = dt_row_code(s, &s->rows[s->row[m]], term);
}

/* Where a term's layout is moved from and to; the same: nothing is moved. */
static void
find_move(const dt_layout **from, const dt_layout **to, const dt_search *s, int t,
          const dt_target *target)
{
    int operands = s->binding->operand_count;
    bool asked = t >= operands && s->wanted != NULL && s->wanted[t - operands] != NULL;
    *from = t < operands ? s->operands[t] : target->layout;
    *to = asked ? s->wanted[t - operands] : target->layout;
}

dt_status
dt_search_plan(dt_search *s, int t, dt_target *target)
{
    const dt_layout *from, *to;
    const dt_plan *plan;
    int codes[DT_MESH_MAX_NDIM];
    if (target->planned)
        return DT_OK;
    find_move(&from, &to, s, t, target);
    DT_TRY(dt_plans_find(&plan, s->plans, from, to, s->cost, 0, s->err));
    find_codes(codes, s, t);
    bool free = t < s->binding->operand_count && dt_plan_local(plan) &&
                dt_search_only_cuts(s, t, codes);
    target->least = free ? 0 : plan->by_messages;
    target->planned = true;
    dt_plan_release(s->plans, plan);
    return DT_OK;
}

static dt_status
fill_target(dt_target *target, dt_search *s, int t, const int *codes)
{
    bool operand = t < s->binding->operand_count;
    if (operand && is_unchanged(s, s->operands[t], codes)) {
        target->layout = s->operands[t];
        target->planned = true;
        dt_layout_retain(target->layout);
        return DT_OK;
    }
    DT_TRY(make_layout(&target->layout, s, t, codes));
    const dt_layout *from, *to;
    find_move(&from, &to, s, t, target);
    target->planned = from == to;
    bool bounded = operand ? !dt_search_only_cuts(s, t, codes) : !to->has_partial;
    if (!target->planned && !s->exhaustive && bounded)
        target->least = dt_bound_move(s, from, to);
    return DT_OK;
}

dt_status
dt_search_target(dt_target **out, dt_search *s, int t)
{
    int ndim = s->mesh->ndim, codes[DT_MESH_MAX_NDIM];
    int64_t key[DT_MESH_MAX_NDIM];
    find_codes(codes, s, t);
    for (int m = 0; m < ndim; m++) {
        key[m] = codes[m];
        if (codes[m] >= 0)
            key[m] |= (int64_t)s->cutting[m]->id << 32;
    }
    for (dt_target *at = s->targets[t]; at != NULL; at = at->next) {
        bool same = true;
        for (int m = 0; m < ndim; m++)
            same = same && at->key[m] == key[m];
        if (same) {
            *out = at;
            return DT_OK;
        }
    }
    dt_target *target =
        dt_bump_take(&s->bump, 1, sizeof *target + sizeof *key * (size_t)ndim);
    if (target == NULL)
        return dt_search_no_memory(s);
    for (int m = 0; m < ndim; m++)
        target->key[m] = key[m];
    DT_TRY(fill_target(target, s, t, codes));
    target->next = s->targets[t];
    s->targets[t] = target;
    *out = target;
    return DT_OK;
}
