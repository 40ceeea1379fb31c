/* Which rows a rule has for given dtypes. */
#include "core/rule/search.h"

static dt_dtype
term_dtype(const dt_search *s, int t)
{
    int operands = s->binding->operand_count;
    return t < operands ? s->operands[t]->dtype : s->results[t - operands];
}

/* --- what a row does with a term --- */

static int
pending_code(const dt_search *s, const dt_rule_row *row, int t)
{
    if (row->who == DT_LISTED)
        return row->list[t] < 0 ? DT_CODE_WHOLE : DT_CODE_PARTIAL - row->list[t];
    if (t >= s->binding->operand_count)
        return DT_CODE_PARTIAL - (int)row->out;
    bool is = row->who == DT_ALL_OPERANDS || row->who == t;
    return is ? DT_CODE_PARTIAL - (int)row->in : DT_CODE_WHOLE;
}

int
dt_row_code(const dt_search *s, const dt_row *row, int t)
{
    const dt_binding *b = s->binding;
    switch (row->kind) {
    case DT_ROW_WHOLE:
        return DT_CODE_WHOLE;
    case DT_ROW_PARTIAL:
        return pending_code(s, row->pending, t);
    case DT_ROW_FACTOR:
        break;
    }
    int word = b->where[t * b->factor_count + row->factor];
    if (word >= 0)
        return word;
    /* What no operand has is computed whole from whole operands. */
    bool pending = t >= b->operand_count && b->factors[row->factor].in_operands;
    return pending ? DT_CODE_PARTIAL - s->rule->reduce : DT_CODE_WHOLE;
}

/* --- factors --- */

static bool
factor_row(dt_row *out, const dt_search *s, int f)
{
    const dt_binding *b = s->binding;
    *out = (dt_row){.kind = DT_ROW_FACTOR, .factor = f};
    if (!b->factors[f].cuttable)
        return false;
    for (int t = b->operand_count; t < b->term_count; t++) {
        if (b->where[t * b->factor_count + f] >= 0 || !b->factors[f].in_operands)
            continue;
        if (s->rule->reduce == DT_NO_REDUCE ||
            dt_reduce_op_check((dt_reduce_op)s->rule->reduce, term_dtype(s, t), NULL) !=
                DT_OK)
            return false;
        out->ops = 1U << s->rule->reduce;
    }
    return true;
}

/* --- Partial placements --- */

/* An operand pending by one operator may become a result pending by another: what only
 * moves is the same, complex maxima too. */
static bool
passes(const dt_search *s, const dt_rule_row *row, int operand, int op, int result)
{
    dt_dtype from = term_dtype(s, operand), to = term_dtype(s, result);
    return (row->moves && from == to) ||
           dt_reduce_op_converts((dt_reduce_op)op, from, to);
}

static bool
pending_row(dt_row *out, const dt_search *s, const dt_rule_row *row)
{
    const dt_binding *b = s->binding;
    *out = (dt_row){.kind = DT_ROW_PARTIAL, .pending = row};
    for (int t = 0; t < b->term_count; t++) {
        int op = DT_CODE_PARTIAL - pending_code(s, row, t);
        if (op < 0)
            continue;
        if (dt_reduce_op_check((dt_reduce_op)op, term_dtype(s, t), NULL) != DT_OK)
            return false;
        out->ops |= 1U << op;
        if (t >= b->operand_count)
            continue;
        if (row->monotone && s->rule->floating &&
            dt_dtype_kind(term_dtype(s, t)) != 'f')
            return false;
        for (int r = b->operand_count; r < b->term_count; r++)
            if (pending_code(s, row, r) != DT_CODE_WHOLE && !passes(s, row, t, op, r))
                return false;
    }
    return true;
}

dt_status
dt_search_rows(dt_search *s)
{
    int most = 1 + s->binding->factor_count + s->rule->row_count;
    s->rows = dt_bump_take(&s->bump, (size_t)most, sizeof *s->rows);
    if (s->rows == NULL)
        return dt_search_no_memory(s);
    s->rows[0] = (dt_row){.kind = DT_ROW_WHOLE};
    s->row_count = 1;
    for (int f = 0; f < s->binding->factor_count; f++)
        s->row_count += factor_row(&s->rows[s->row_count], s, f);
    for (int k = 0; k < s->rule->row_count; k++)
        s->row_count += pending_row(&s->rows[s->row_count], s, &s->rule->rows[k]);
    return DT_OK;
}

/* --- what a row does with an operand --- */

static bool
cuts_results(const dt_search *s, const dt_row *row)
{
    const dt_binding *b = s->binding;
    bool all = row->kind == DT_ROW_FACTOR && b->term_count > b->operand_count;
    for (int t = b->operand_count; t < b->term_count && all; t++)
        all = b->where[t * b->factor_count + row->factor] >= 0;
    return all;
}

bool
dt_search_only_cuts(const dt_search *s, int operand, const int *codes)
{
    const dt_layout *layout = s->operands[operand];
    for (int m = 0; m < s->mesh->ndim; m++) {
        dt_placement p = layout->placements[m];
        bool kept = dt_code_keeps(s, codes[m], p);
        bool cut = dt_placement_whole(p) && codes[m] >= 0;
        if (!kept && !(cut && cuts_results(s, &s->rows[s->row[m]])))
            return false;
    }
    return true;
}
