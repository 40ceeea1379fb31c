/* Choosing a row for each mesh dimension: depth first, without what costs too much. */
#include "core/rule/propagate.h"

#include "core/rule/search.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* --- which combinations there are --- */

/* True if two of these reductions may not be done in either order. */
static bool
is_mixed(unsigned ops)
{
    if ((ops & (ops - 1)) == 0)
        return false;
    for (int a = 0; a < DT_REDUCE_OP_COUNT; a++)
        for (int b = 0; b < a; b++)
            if ((ops >> a & ops >> b & 1) &&
                !dt_reduce_op_commute((dt_reduce_op)a, (dt_reduce_op)b))
                return true;
    return false;
}

/* True if nothing becomes Partial, and every row that has Partial is of `any`. */
static bool
was_mixed_before(const dt_search *s)
{
    for (int m = 0; m < s->mesh->ndim; m++) {
        const dt_row *row = &s->rows[s->row[m]];
        if (row->ops == 0)
            continue;
        if (row->kind != DT_ROW_PARTIAL || !row->pending->moves)
            return false;
        for (int k = 0; k < s->binding->operand_count; k++) {
            dt_placement p = s->operands[k]->placements[m];
            if (!dt_placement_pending_by(p, row->pending->in))
                return false;
        }
    }
    return true;
}

/* No term may mix kinds of Partial that did not before. */
static bool
kinds_fit(const dt_search *s)
{
    unsigned all = 0;
    for (int m = 0; m < s->mesh->ndim; m++)
        all |= s->rows[s->row[m]].ops;
    if (!is_mixed(all))
        return true;
    for (int t = 0; t < s->binding->term_count; t++) {
        unsigned ops = 0;
        for (int m = 0; m < s->mesh->ndim; m++) {
            int code = dt_row_code(s, &s->rows[s->row[m]], t);
            if (code <= DT_CODE_PARTIAL)
                ops |= 1U << (DT_CODE_PARTIAL - code);
        }
        if (is_mixed(ops))
            return was_mixed_before(s);
    }
    return true;
}

/* Behind other words of a group chunks of the factor must be chunks of all that lies
 * behind those. */
static bool
chunks_fit(const dt_search *s, int factor, int64_t count)
{
    const dt_binding *b = s->binding;
    for (int t = 0; t < b->term_count; t++) {
        int w = b->where[t * b->factor_count + factor];
        if (w < 0 || b->words[w].before <= 1)
            continue;
        const dt_bound_word *word = &b->words[w];
        if (dt_chunk(word->length, count, 0).size * word->rest !=
            dt_chunk(word->length * word->rest, count, 0).size)
            return false;
    }
    return true;
}

/* Mesh dimensions of length 1 cut nothing. */
static bool
cuts_alone(const dt_search *s, unsigned mask)
{
    for (int m = 0; m < s->mesh->ndim; m++)
        if ((mask >> m & 1) && s->mesh->shape[m] > 1)
            return false;
    return true;
}

/* Cuts the factor of row `r` by mesh dimension `m` too, if that can be. */
static bool
enter(dt_search *s, int m, int r)
{
    const dt_binding *b = s->binding;
    s->row[m] = r;
    if (s->rows[r].kind != DT_ROW_FACTOR)
        return true;
    int f = s->rows[r].factor;
    for (int k = 0; k < b->pair_count; k++)
        if ((b->pairs[k].a == f && s->masks[b->pairs[k].b] != 0) ||
            (b->pairs[k].b == f && s->masks[b->pairs[k].a] != 0))
            return false;
    int64_t n = s->mesh->shape[m];
    if (n > 1 && b->factors[f].chunked &&
        (!cuts_alone(s, s->masks[f]) || !chunks_fit(s, f, n)))
        return false;
    s->masks[f] |= 1U << m;
    return true;
}

static void
leave(dt_search *s, int m)
{
    const dt_row *row = &s->rows[s->row[m]];
    if (row->kind == DT_ROW_FACTOR)
        s->masks[row->factor] &= ~(1U << m);
}

/* --- which is the best --- */

static bool
is_better(const dt_search *s, double seconds, int moved)
{
    if (!s->found || seconds < s->best_seconds)
        return true;
    if (seconds > s->best_seconds || moved > s->best_moved)
        return false;
    if (moved < s->best_moved)
        return true;
    for (int m = 0; m < s->mesh->ndim; m++)
        if (s->row[m] != s->best_row[m])
            return s->row[m] < s->best_row[m];
    for (int m = 0; m < s->mesh->ndim; m++)
        if (s->rows[s->row[m]].kind == DT_ROW_FACTOR &&
            s->cutting[m] != s->best_cutting[m])
            return s->cutting[m]->id < s->best_cutting[m]->id;
    return false;
}

/* True if what takes so long and moves so many operands, or more, is not the best. */
static bool
is_hopeless(const dt_search *s, double seconds, int moved)
{
    return !s->exhaustive && s->found &&
           (seconds > s->best_seconds ||
            (seconds == s->best_seconds && moved > s->best_moved));
}

static bool
is_counted(const dt_search *s, int t)
{
    int operands = s->binding->operand_count;
    return t < operands || (s->wanted != NULL && s->wanted[t - operands] != NULL);
}

static bool
is_replicated(const dt_layout *layout)
{
    for (int m = 0; m < layout->mesh->ndim; m++)
        if (!dt_placement_whole(layout->placements[m]))
            return false;
    return true;
}

/* Finds the targets of the combination, what is moved and how long that takes at least,
 * as long as there is hope. */
static dt_status
find_targets(bool *hope, double *seconds, int *moved, dt_search *s)
{
    double least = 0;
    *hope = true;
    *seconds = *moved = 0;
    for (int t = 0; t < s->binding->term_count && *hope; t++) {
        if (!is_counted(s, t))
            continue;
        DT_TRY(dt_search_target(&s->trial[t], s, t));
        least += s->trial[t]->least;
        if (t < s->binding->operand_count && s->trial[t]->layout != s->operands[t])
            *moved += is_replicated(s->operands[t]) ? 1 : 2;
        *seconds = DT_SURELY * least;
        *hope = !is_hopeless(s, *seconds, *moved);
    }
    return DT_OK;
}

/* The seconds of all moves, as long as there is hope. */
static dt_status
add_seconds(bool *hope, double *seconds, dt_search *s, int moved)
{
    int terms = s->binding->term_count;
    double least = 0;
    for (int t = terms - 1; t >= 0; t--) {
        s->after[t] = least;
        least += is_counted(s, t) ? s->trial[t]->least : 0;
    }
    *seconds = 0;
    for (int t = 0; t < terms && *hope; t++) {
        if (!is_counted(s, t))
            continue;
        DT_TRY(dt_search_plan(s, t, s->trial[t]));
        *seconds += s->trial[t]->least;
        *hope = !is_hopeless(s, DT_SURELY * (*seconds + s->after[t]), moved);
    }
    return DT_OK;
}

/* Compares the combination with the best one so far, while scouting by what it takes at
 * least. */
static dt_status
judge(dt_search *s)
{
    bool hope;
    int moved;
    double seconds;
    DT_TRY(find_targets(&hope, &seconds, &moved, s));
    if (hope && !s->scouting)
        DT_TRY(add_seconds(&hope, &seconds, s, moved));
    if (!hope || !is_better(s, seconds, moved))
        return DT_OK;
    s->found = true;
    s->best_seconds = seconds;
    s->best_moved = moved;
    memcpy(s->best_row, s->row, sizeof s->row);
    memcpy(s->best_cutting, s->cutting, sizeof s->cutting);
    for (int t = 0; t < s->binding->operand_count; t++)
        s->best[t] = s->trial[t]->layout;
    return DT_OK;
}

/* Goes through the cuttings of the factors that mesh dimensions from `m` on are the
 * first to cut. */
static dt_status
try_cuttings(dt_search *s, int m)
{
    const dt_row *row = NULL;
    for (; m < s->mesh->ndim; m++) {
        row = &s->rows[s->row[m]];
        if (row->kind == DT_ROW_FACTOR &&
            (s->masks[row->factor] & ((1U << m) - 1)) == 0)
            break;
    }
    if (m == s->mesh->ndim)
        return judge(s);
    const dt_cuttings *list;
    DT_TRY(dt_search_cuttings(&list, s, row->factor, s->masks[row->factor]));
    for (int k = 0; k < list->count; k++) {
        for (int d = m; d < s->mesh->ndim; d++)
            if (list->mask >> d & 1)
                s->cutting[d] = list->list[k];
        DT_TRY(try_cuttings(s, m + 1));
    }
    return DT_OK;
}

static dt_status
try_combination(dt_search *s, int moved)
{
    if (!kinds_fit(s))
        return DT_OK;
    double enough = s->found ? s->best_seconds : INFINITY;
    double least = s->exhaustive ? 0 : dt_bound_combination(s, enough);
    return is_hopeless(s, least, moved) ? DT_OK : try_cuttings(s, 0);
}

static dt_status
try_rows(dt_search *s, int m, dt_row_bound sum)
{
    if (m == s->mesh->ndim)
        return try_combination(s, sum.moved);
    for (int i = 0; i < s->row_count; i++) {
        int r = s->order[m * s->row_count + i];
        const dt_row_bound *row = &s->bounds[m * s->row_count + r];
        dt_row_bound next = {.messages = sum.messages + row->messages,
                             .shared =
                                 row->shared > sum.shared ? row->shared : sum.shared,
                             .moved = row->moved > sum.moved ? row->moved : sum.moved};
        int64_t least = next.messages + next.shared + s->rest[m + 1];
        if (row->barred || is_hopeless(s, dt_bound_seconds(s, least), next.moved) ||
            !enter(s, m, r))
            continue;
        DT_TRY(try_rows(s, m + 1, next));
        leave(s, m);
    }
    return DT_OK;
}

/* --- the answer --- */

static void
restore_best(dt_search *s)
{
    memcpy(s->row, s->best_row, sizeof s->row);
    memcpy(s->cutting, s->best_cutting, sizeof s->cutting);
}

static void
retain_all(const dt_layout **out, const dt_layout **layouts, int count)
{
    for (int t = 0; t < count; t++) {
        out[t] = layouts[t];
        dt_layout_retain(out[t]);
    }
}

static dt_status
take_best(dt_choice *out, dt_search *s)
{
    const dt_binding *b = s->binding;
    restore_best(s);
    for (int t = b->operand_count; t < b->term_count; t++) {
        dt_target *target;
        DT_TRY(dt_search_target(&target, s, t));
        s->best[t] = target->layout;
    }
    const dt_layout **list = malloc(sizeof *list * (size_t)b->term_count);
    if (list == NULL)
        return dt_search_no_memory(s);
    retain_all(list, s->best, b->term_count);
    *out = (dt_choice){.operand_count = b->operand_count,
                       .result_count = b->term_count - b->operand_count,
                       .operands = list,
                       .results = list + b->operand_count,
                       .seconds = s->best_seconds,
                       .moved = s->best_moved};
    return DT_OK;
}

static dt_status
prepare(dt_search *s)
{
    size_t factors = (size_t)s->binding->factor_count;
    size_t terms = (size_t)s->binding->term_count;
    s->cuttings = dt_bump_take(&s->bump, factors, sizeof *s->cuttings);
    s->masks = dt_bump_take(&s->bump, factors, sizeof *s->masks);
    s->targets = dt_bump_take(&s->bump, terms, sizeof *s->targets);
    s->trial = dt_bump_take(&s->bump, terms, sizeof *s->trial);
    s->after = dt_bump_take(&s->bump, terms, sizeof *s->after);
    s->best = dt_bump_take(&s->bump, terms, sizeof *s->best);
    if (s->cuttings == NULL || s->masks == NULL || s->targets == NULL ||
        s->trial == NULL || s->after == NULL || s->best == NULL)
        return dt_search_no_memory(s);
    DT_TRY(dt_search_rows(s));
    return dt_search_bounds(s);
}

/* The combination that takes the least at least comes first, so that most others take
 * too long to be planned. */
static dt_status
try_most_promising(dt_search *s)
{
    s->scouting = true;
    DT_TRY(try_rows(s, 0, (dt_row_bound){0}));
    s->scouting = s->found = false;
    restore_best(s);
    return judge(s);
}

static dt_status
search(dt_choice *out, dt_search *s)
{
    DT_TRY(prepare(s));
    if (!s->exhaustive)
        DT_TRY(try_most_promising(s));
    DT_TRY(try_rows(s, 0, (dt_row_bound){0}));
    return take_best(out, s);
}

static void
release_targets(dt_search *s)
{
    for (int t = 0; s->targets != NULL && t < s->binding->term_count; t++)
        for (dt_target *at = s->targets[t]; at != NULL; at = at->next)
            dt_layout_release(s->context, at->layout);
}

/* Memory for what most operators need lies on the stack. */
static dt_status
run(dt_choice *out, dt_search *s)
{
    _Alignas(max_align_t) char block[8192];
    s->bump = (dt_bump){.at = block, .end = block + sizeof block};
    s->mesh = s->operands[0]->mesh;
    for (int k = 1; k < s->binding->operand_count; k++)
        assert(s->operands[k]->mesh == s->mesh);
    dt_status status = search(out, s);
    release_targets(s);
    dt_bump_free(&s->bump);
    return status;
}

dt_status
dt_propagate(dt_choice *out, dt_plans *plans, const dt_rule *rule,
             const dt_binding *binding, const dt_layout *const *operands,
             const dt_dtype *results, const dt_layout *const *wanted,
             const dt_cost *cost, bool exhaustive, dt_error *err)
{
    dt_cost anywhere = *cost; /* layouts do not depend on which ranks share a node */
    anywhere.node = 0;
    dt_search s = {.context = dt_plans_context(plans),
                   .plans = plans,
                   .rule = rule,
                   .binding = binding,
                   .operands = operands,
                   .results = results,
                   .wanted = wanted,
                   .cost = &anywhere,
                   .least = dt_cost_least(&anywhere),
                   .err = err,
                   .exhaustive = exhaustive};
    return run(out, &s);
}

void
dt_choice_clear(dt_choice *choice, dt_context *context)
{
    for (int t = 0; t < choice->operand_count + choice->result_count; t++)
        dt_layout_release(context, choice->operands[t]);
    free(choice->operands);
    *choice = (dt_choice){0};
}
