/* Reading rules. The grammar is in rule.h. */
#include "core/rule/rule_parts.h"

#include "core/memory/bump.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
    dt_rule *rule;
    const char *text, *at;
    bool in_results;
    dt_error *err;
} parser;

static dt_status
no_memory(const parser *p)
{
    return dt_fail(p->err, DT_MEMORY, "no memory for a rule");
}

static dt_status
wrong(const parser *p, const char *what)
{
    return dt_fail(p->err, DT_VALUE, "rule '%.200s', column %td: %s", p->text,
                   p->at - p->text + 1, what);
}

static void
skip_blanks(parser *p)
{
    while (*p->at == ' ' || *p->at == '\t' || *p->at == '\n')
        p->at++;
}

static bool
starts(const parser *p, const char *sign)
{
    return strncmp(p->at, sign, strlen(sign)) == 0;
}

/* Steps over a sign, and the blanks around it, if it comes next. */
static bool
accept(parser *p, const char *sign)
{
    skip_blanks(p);
    if (!starts(p, sign))
        return false;
    p->at += strlen(sign);
    skip_blanks(p);
    return true;
}

static bool
is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool
is_letter(char c)
{
    return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z');
}

static dt_status
parse_number(int64_t *out, parser *p)
{
    int64_t value = 0;
    if (!is_digit(*p->at))
        return wrong(p, "a number is missing");
    for (; is_digit(*p->at); p->at++)
        if (__builtin_mul_overflow(value, 10, &value) ||
            __builtin_add_overflow(value, *p->at - '0', &value))
            return dt_fail(
                p->err, DT_VALUE,
                "array is too large: a dimension has 2**63 elements or more");
    skip_blanks(p);
    *out = value;
    return DT_OK;
}

/* --- factors --- */

/* The number of the factor whose name comes next, factor_count if it is new. */
static int
parse_name(parser *p, dt_rule_factor *name)
{
    *name = (dt_rule_factor){.letter = *p->at++, .last_term = -1, .given = -1};
    for (; *p->at == '\''; p->at++)
        name->primes++;
    skip_blanks(p);
    const dt_rule_factor *list = p->rule->factors;
    int k = 0;
    while (k < p->rule->factor_count &&
           (list[k].letter != name->letter || list[k].primes != name->primes))
        k++;
    return k;
}

static dt_status
parse_factor(int *out, parser *p)
{
    dt_rule *rule = p->rule;
    dt_rule_factor name;
    int k = parse_name(p, &name);
    if (k == rule->factor_count) {
        dt_rule_factor *list = dt_list_grow(rule->factors, k, sizeof *list);
        if (list == NULL)
            return no_memory(p);
        rule->factors = list;
        list[k] = name;
        rule->factor_count++;
    }
    dt_rule_factor *factor = &rule->factors[k];
    if (factor->last_term == rule->term_count)
        return wrong(p, "a factor lies twice in one term");
    factor->last_term = rule->term_count;
    factor->in_operands = factor->in_operands || !p->in_results;
    *out = k;
    return DT_OK;
}

/* "; a=3, b=4" */
static dt_status
parse_lengths(parser *p)
{
    do {
        if (!is_letter(*p->at))
            return wrong(p, "a factor is missing");
        dt_rule_factor name;
        int k = parse_name(p, &name);
        if (k == p->rule->factor_count)
            return wrong(p, "no term has this factor");
        if (!accept(p, "="))
            return wrong(p, "'=' is missing");
        DT_TRY(parse_number(&p->rule->factors[k].given, p));
    } while (accept(p, ","));
    return DT_OK;
}

/* --- dimensions --- */

static dt_status
parse_word(parser *p, dt_rule_dim *dim)
{
    dt_rule *rule = p->rule;
    dt_rule_word word = {.factor = -1};
    if (is_digit(*p->at))
        DT_TRY(parse_number(&word.length, p));
    else if (is_letter(*p->at))
        DT_TRY(parse_factor(&word.factor, p));
    else if (p->at[0] == '-' && is_digit(p->at[1])) /* a user's number, as NumPy says */
        return dt_fail(p->err, DT_VALUE, "negative dimensions are not allowed");
    else
        return wrong(p, *p->at == '\0' ? "the rule ends too early"
                                       : "this sign has no meaning here");
    dt_rule_word *list = dt_list_grow(rule->words, rule->word_count, sizeof *list);
    if (list == NULL)
        return no_memory(p);
    rule->words = list;
    list[rule->word_count++] = word;
    dim->count++;
    return DT_OK;
}

static dt_status
parse_window(parser *p, dt_rule_dim *dim)
{
    dt_window *window = &dim->window;
    if (!p->in_results)
        return wrong(p, "only results have windows");
    if (p->rule->words[dim->first].factor < 0)
        return wrong(p, "only factors have windows");
    accept(p, "[");
    dim->windowed = true;
    window->step = 1;
    DT_TRY(parse_number(&window->start, p));
    if (!accept(p, ":"))
        return wrong(p, "':' is missing");
    DT_TRY(parse_number(&window->count, p));
    if (accept(p, ":"))
        DT_TRY(parse_number(&window->step, p));
    if (window->step < 1)
        return wrong(p, "the step of a window is at least 1");
    if (!accept(p, "]"))
        return wrong(p, "']' is missing");
    return DT_OK;
}

static dt_status
parse_broadcast(parser *p, dt_rule_dim *dim)
{
    dt_rule *rule = p->rule;
    dt_rule_term *term = &rule->terms[rule->term_count];
    if (term->broadcasts)
        return wrong(p, "'...' lies twice in one term");
    if (rule->broadcast_at < 0) {
        if (p->in_results)
            return wrong(p, "no operand has '...'");
        rule->broadcast_at = rule->factor_count;
    }
    term->broadcasts = true;
    dim->kind = DT_DIM_BROADCAST;
    return DT_OK;
}

static dt_status
parse_dim_words(parser *p, dt_rule_dim *dim)
{
    if (accept(p, "(")) {
        while (*p->at != ')')
            DT_TRY(parse_word(p, dim));
        accept(p, ")");
        return DT_OK;
    }
    DT_TRY(parse_word(p, dim));
    return *p->at == '[' ? parse_window(p, dim) : DT_OK;
}

static dt_status
parse_dim(parser *p)
{
    dt_rule *rule = p->rule;
    dt_rule_dim dim = {.kind = DT_DIM_WORDS, .first = rule->word_count};
    if (accept(p, "...")) {
        DT_TRY(parse_broadcast(p, &dim));
    } else if (!p->in_results && accept(p, "*")) {
        dim.kind = DT_DIM_ANY;
    } else {
        DT_TRY(parse_dim_words(p, &dim));
    }
    dt_rule_dim *list = dt_list_grow(rule->dims, rule->dim_count, sizeof *list);
    if (list == NULL)
        return no_memory(p);
    rule->dims = list;
    list[rule->dim_count++] = dim;
    rule->terms[rule->term_count].count++;
    return DT_OK;
}

/* --- terms --- */

static bool
term_ends(const parser *p)
{
    return *p->at == ',' || *p->at == ';' || *p->at == '\0' || starts(p, "->");
}

static dt_status
parse_terms(int *count, parser *p)
{
    dt_rule *rule = p->rule;
    do {
        dt_rule_term *list = dt_list_grow(rule->terms, rule->term_count, sizeof *list);
        if (list == NULL)
            return no_memory(p);
        rule->terms = list;
        list[rule->term_count] = (dt_rule_term){.first = rule->dim_count};
        while (!term_ends(p))
            DT_TRY(parse_dim(p));
        rule->term_count++;
        ++*count;
    } while (accept(p, ","));
    return DT_OK;
}

static dt_status
parse_rule(parser *p)
{
    dt_rule *rule = p->rule;
    skip_blanks(p);
    DT_TRY(parse_terms(&rule->operand_count, p));
    if (!accept(p, "->"))
        return wrong(p, "'->' is missing");
    p->in_results = true;
    DT_TRY(parse_terms(&rule->result_count, p));
    if (accept(p, ";"))
        DT_TRY(parse_lengths(p));
    if (*p->at != '\0')
        return wrong(p, "the rule should end here");
    for (int k = 0; k < rule->factor_count; k++)
        if (!rule->factors[k].in_operands && rule->factors[k].given < 0)
            return dt_fail(p->err, DT_VALUE,
                           "rule '%.200s': factor %c of a result has no length",
                           p->text, rule->factors[k].letter);
    return DT_OK;
}

dt_status
dt_rule_parse(dt_rule **out, const char *text, const char *partial, int reduce,
              dt_error *err)
{
    dt_rule *rule = calloc(1, sizeof *rule);
    if (rule == NULL)
        return dt_fail(err, DT_MEMORY, "no memory for a rule");
    *rule = (dt_rule){.broadcast_at = -1, .reduce = reduce};
    rule->text = strdup(text);
    parser p = {.rule = rule, .text = text, .at = text, .err = err};
    dt_status status = rule->text != NULL ? parse_rule(&p) : no_memory(&p);
    if (status == DT_OK && partial != NULL)
        status = dt_rule_parse_partial(rule, partial, err);
    if (status != DT_OK) {
        dt_rule_free(rule);
        return status;
    }
    *out = rule;
    return DT_OK;
}

void
dt_rule_free(dt_rule *rule)
{
    if (rule == NULL)
        return;
    for (int k = 0; k < rule->row_count; k++)
        free((void *)rule->rows[k].list);
    free(rule->rows);
    free(rule->terms);
    free(rule->dims);
    free(rule->words);
    free(rule->factors);
    free(rule->text);
    free(rule);
}

int
dt_rule_operands(const dt_rule *rule)
{
    return rule->operand_count;
}

int
dt_rule_results(const dt_rule *rule)
{
    return rule->result_count;
}

/* The factor that is all of a dim, -1 for "...", or -2. */
static int
lone_factor(const dt_rule *rule, const dt_rule_dim *dim)
{
    if (dim->kind == DT_DIM_BROADCAST)
        return -1;
    if (dim->kind != DT_DIM_WORDS || dim->count != 1 || dim->windowed)
        return -2;
    int factor = rule->words[dim->first].factor;
    bool whole = factor < 0 || isupper((unsigned char)rule->factors[factor].letter);
    return whole ? -2 : factor;
}

bool
dt_rule_elementwise(const dt_rule *rule)
{
    const dt_rule_term *first = rule->terms;
    for (int t = 0; t < rule->term_count; t++) {
        const dt_rule_term *term = &rule->terms[t];
        if (term->count != first->count)
            return false;
        for (int d = 0; d < term->count; d++) {
            int factor = lone_factor(rule, &rule->dims[term->first + d]);
            if (factor == -2 ||
                factor != lone_factor(rule, &rule->dims[first->first + d]))
                return false;
        }
    }
    return rule->operand_count > 0;
}
