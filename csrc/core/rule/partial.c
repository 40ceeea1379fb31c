/* Reading the rows of Partial placements that a rule has. The words are in rule.h. */
#include "core/rule/rule_parts.h"

#include "core/memory/bump.h"

#include <stdlib.h>
#include <string.h>

enum { OPS = DT_REDUCE_OP_COUNT };

typedef struct {
    dt_rule *rule;
    const char *text;
    int *seen; /* who x in x out: number of the row + 1 */
    dt_error *err;
} reader;

static dt_status
no_memory(const reader *r)
{
    return dt_fail(r->err, DT_MEMORY, "no memory for the Partial rows of a rule");
}

static int *
seen_row(const reader *r, const dt_rule_row *row)
{
    return &r->seen[((row->who + 1) * OPS + (int)row->in) * OPS + (int)row->out];
}

/* Takes over row->list. */
static dt_status
append_row(reader *r, const dt_rule_row *row)
{
    dt_rule *rule = r->rule;
    dt_rule_row *list = dt_list_grow(rule->rows, rule->row_count, sizeof *list);
    if (list == NULL) {
        free((void *)row->list);
        return no_memory(r);
    }
    rule->rows = list;
    list[rule->row_count++] = *row;
    return DT_OK;
}

/* Adds a row that is not listed, unless it is there. */
static dt_status
add_row(reader *r, dt_rule_row row)
{
    if (r->rule->operand_count == 1)
        row.who = DT_ALL_OPERANDS;
    int *seen = seen_row(r, &row);
    if (*seen > 0) {
        dt_rule_row *old = &r->rule->rows[*seen - 1];
        old->moves = old->moves || row.moves;
        old->monotone = old->monotone && row.monotone;
        return DT_OK;
    }
    DT_TRY(append_row(r, &row));
    *seen = r->rule->row_count;
    return DT_OK;
}

/* --- listed rows --- */

/* True if a list says the same as a row that is not listed. */
static bool
unlist(dt_rule_row *out, const dt_rule *rule, const signed char *list)
{
    int pending = 0, last = 0;
    for (int k = 0; k < rule->operand_count; k++)
        if (list[k] >= 0) {
            if (list[k] != list[last] && pending > 0)
                return false;
            pending++;
            last = k;
        }
    for (int k = 1; k < rule->result_count; k++)
        if (list[rule->operand_count + k] != list[rule->operand_count])
            return false;
    int to = list[rule->operand_count];
    if (to < 0 || (pending != 1 && pending != rule->operand_count))
        return false;
    *out = (dt_rule_row){.who = pending == 1 ? last : DT_ALL_OPERANDS,
                         .in = (dt_reduce_op)list[last],
                         .out = (dt_reduce_op)to};
    return true;
}

static bool
is_listed(const dt_rule *rule, const signed char *list)
{
    for (int k = 0; k < rule->row_count; k++)
        if (rule->rows[k].who == DT_LISTED &&
            memcmp(rule->rows[k].list, list, (size_t)rule->term_count) == 0)
            return true;
    return false;
}

static dt_status
read_placement(signed char *out, const char *name, dt_error *err)
{
    if (strcmp(name, "R") == 0) {
        *out = -1;
        return DT_OK;
    }
    dt_reduce_op op;
    DT_TRY(dt_reduce_op_parse(&op, name, err));
    *out = (signed char)op;
    return DT_OK;
}

/* Reads "sum,R->sum" into `list`; the arrow has become a comma. */
static dt_status
read_list(signed char *list, reader *r, char *text)
{
    int count = 0;
    char *name = text;
    for (; name != NULL && count < r->rule->term_count; count++) {
        char *comma = strchr(name, ',');
        if (comma != NULL)
            *comma++ = '\0';
        DT_TRY(read_placement(&list[count], name, r->err));
        name = comma;
    }
    if (name != NULL || count < r->rule->term_count)
        return dt_fail(r->err, DT_VALUE,
                       "Partial rows '%.200s': a row needs a placement for each of %d "
                       "operands and %d results",
                       r->text, r->rule->operand_count, r->rule->result_count);
    return DT_OK;
}

static int
commas(const char *text, const char *end)
{
    int count = 0;
    for (; text < end; text++)
        count += *text == ',';
    return count;
}

static dt_status
read_listed(reader *r, char *text, char *arrow)
{
    const dt_rule *rule = r->rule;
    if (commas(text, arrow) + 1 != rule->operand_count)
        return dt_fail(r->err, DT_VALUE,
                       "Partial rows '%.200s': the rule has %d operands", r->text,
                       rule->operand_count);
    *arrow = ',';
    memmove(arrow + 1, arrow + 2, strlen(arrow + 2) + 1);
    signed char *list = malloc((size_t)rule->term_count);
    if (list == NULL)
        return no_memory(r);
    dt_rule_row row;
    dt_status status = read_list(list, r, text);
    if (status == DT_OK && !unlist(&row, rule, list) && !is_listed(rule, list))
        return append_row(r, &(dt_rule_row){.who = DT_LISTED, .list = list});
    bool plain = status == DT_OK && unlist(&row, rule, list);
    free(list);
    return plain ? add_row(r, row) : status;
}

/* --- words --- */

static dt_status
add_linear(reader *r, int who)
{
    DT_TRY(add_row(r, (dt_rule_row){.who = who, .in = DT_SUM, .out = DT_SUM}));
    return add_row(r, (dt_rule_row){.who = who, .in = DT_AVG, .out = DT_AVG});
}

static dt_status
add_any(reader *r)
{
    for (int op = 0; op < OPS; op++)
        DT_TRY(add_row(r, (dt_rule_row){.who = DT_ALL_OPERANDS,
                                        .in = (dt_reduce_op)op,
                                        .out = (dt_reduce_op)op,
                                        .moves = true}));
    return DT_OK;
}

static dt_status
add_monotone(reader *r, dt_reduce_op max_to, dt_reduce_op min_to)
{
    for (int k = 0; k < r->rule->operand_count; k++) {
        dt_rule_row row = {.who = k, .in = DT_MAX, .out = max_to, .monotone = true};
        DT_TRY(add_row(r, row));
        row.in = DT_MIN;
        row.out = min_to;
        DT_TRY(add_row(r, row));
    }
    return DT_OK;
}

static dt_status
add_operand(reader *r, const char *text)
{
    char *end;
    long who = strtol(text, &end, 10);
    bool digit = *text >= '0' && *text <= '9';
    if (!digit || *end != '\0')
        return dt_fail(
            r->err, DT_VALUE,
            "Partial rows '%.200s': '%.40s' is none of all, each, any, "
            "increasing, decreasing, floating, an operand's number, or a row",
            r->text, text);
    if (who >= r->rule->operand_count)
        return dt_fail(r->err, DT_VALUE,
                       "Partial rows '%.200s': there is no operand %ld", r->text, who);
    return add_linear(r, (int)who);
}

static dt_status
read_item(reader *r, char *text)
{
    char *arrow = strstr(text, "->");
    if (arrow != NULL)
        return read_listed(r, text, arrow);
    if (strcmp(text, "all") == 0)
        return add_linear(r, DT_ALL_OPERANDS);
    if (strcmp(text, "any") == 0)
        return add_any(r);
    if (strcmp(text, "increasing") == 0)
        return add_monotone(r, DT_MAX, DT_MIN);
    if (strcmp(text, "decreasing") == 0)
        return add_monotone(r, DT_MIN, DT_MAX);
    if (strcmp(text, "floating") == 0) {
        r->rule->floating = true;
        return DT_OK;
    }
    if (strcmp(text, "each") != 0)
        return add_operand(r, text);
    for (int k = 0; k < r->rule->operand_count; k++)
        DT_TRY(add_linear(r, k));
    return DT_OK;
}

static dt_status
read_items(reader *r, char *text)
{
    for (char *item = text; item != NULL;) {
        char *next = strchr(item, ';');
        if (next != NULL)
            *next++ = '\0';
        if (*item != '\0')
            DT_TRY(read_item(r, item));
        item = next;
    }
    return DT_OK;
}

dt_status
dt_rule_parse_partial(dt_rule *rule, const char *text, dt_error *err)
{
    reader r = {.rule = rule, .text = text, .err = err};
    r.seen = calloc((size_t)(rule->operand_count + 1) * OPS * OPS, sizeof *r.seen);
    char *copy = malloc(strlen(text) + 1), *end = copy;
    dt_status status = DT_MEMORY;
    if (r.seen == NULL || copy == NULL) {
        no_memory(&r);
    } else {
        for (; *text != '\0'; text++)
            if (*text != ' ' && *text != '\t' && *text != '\n')
                *end++ = *text;
        *end = '\0';
        status = read_items(&r, copy);
    }
    free(copy);
    free(r.seen);
    return status;
}
