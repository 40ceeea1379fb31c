/* Putting shapes into rules. */
#include "core/rule/rule_parts.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
    const dt_rule *rule;
    const dt_shape *shapes;
    dt_binding *out;
    int broadcast; /* how many dimensions "..." stands for */
    dt_error *err;
} binder;

/* --- how much there is --- */

/* How many dimensions a term has without its "...". */
static int
fixed_dims(const dt_rule_term *term)
{
    return term->count - (term->broadcasts ? 1 : 0);
}

static dt_status
count_broadcast(binder *b)
{
    const dt_rule *rule = b->rule;
    for (int k = 0; k < rule->operand_count; k++) {
        const dt_rule_term *term = &rule->terms[k];
        int more = b->shapes[k].ndim - fixed_dims(term);
        if (more < 0 || (more > 0 && !term->broadcasts))
            return dt_fail(b->err, DT_VALUE,
                           "operand %d has %d dimensions, '%.200s' wants %s%d", k,
                           b->shapes[k].ndim, rule->text,
                           term->broadcasts ? "at least " : "", fixed_dims(term));
        b->broadcast = more > b->broadcast ? more : b->broadcast;
    }
    return DT_OK;
}

static int
term_ndim(const binder *b, int t)
{
    const dt_rule_term *term = &b->rule->terms[t];
    if (t < b->rule->operand_count)
        return b->shapes[t].ndim;
    return fixed_dims(term) + (term->broadcasts ? b->broadcast : 0);
}

/* How many dimensions of term `t` one of the rule's stands for. */
static int
span(const binder *b, int t, const dt_rule_dim *dim)
{
    if (dim->kind != DT_DIM_BROADCAST)
        return 1;
    return term_ndim(b, t) - fixed_dims(&b->rule->terms[t]);
}

/* --- memory: one block --- */

typedef struct {
    char *block; /* NULL: only counts */
    size_t used;
} block;

static void *
carve(block *from, size_t count, size_t size)
{
    void *out = from->block != NULL ? from->block + from->used : NULL;
    from->used += (count * size + 15) / 16 * 16;
    return out;
}

static dt_binding *
carve_all(block *from, const binder *b, size_t dims, size_t words, size_t pairs)
{
    size_t terms = (size_t)b->rule->term_count;
    size_t factors = (size_t)(b->rule->factor_count + b->broadcast);
    dt_binding list = {.operand_count = b->rule->operand_count,
                       .term_count = b->rule->term_count,
                       .factor_count = b->rule->factor_count + b->broadcast};
    dt_binding *out = carve(from, 1, sizeof *out);
    list.factors = carve(from, factors, sizeof *list.factors);
    list.words = carve(from, words, sizeof *list.words);
    list.terms = carve(from, terms, sizeof *list.terms);
    list.pairs = carve(from, pairs, sizeof *list.pairs);
    list.where = carve(from, terms * factors, sizeof *list.where);
    list.shapes = carve(from, dims, sizeof *list.shapes);
    if (out != NULL)
        *out = list;
    return out;
}

static dt_status
allocate(binder *b)
{
    const dt_rule *rule = b->rule;
    int words = rule->word_count, dims = 0, pairs = 0;
    for (int t = 0; t < rule->term_count; t++) {
        dims += term_ndim(b, t);
        words += rule->terms[t].broadcasts ? b->broadcast : 0;
    }
    for (int d = 0; d < rule->dim_count; d++)
        pairs += rule->dims[d].count * (rule->dims[d].count - 1) / 2;
    block from = {NULL, 0};
    carve_all(&from, b, (size_t)dims, (size_t)words, (size_t)pairs);
    from = (block){.block = calloc(1, from.used)};
    if (from.block == NULL)
        return dt_fail(b->err, DT_MEMORY, "no memory for the shapes of a rule");
    b->out = carve_all(&from, b, (size_t)dims, (size_t)words, (size_t)pairs);
    return DT_OK;
}

/* --- lengths of factors --- */

/* The factors that "..." stands for come where it comes first in the text. */
static int
shifted(const binder *b, int factor)
{
    bool behind = b->rule->broadcast_at >= 0 && factor >= b->rule->broadcast_at;
    return behind ? factor + b->broadcast : factor;
}

static void
name_factors(binder *b)
{
    for (int i = 0; i < b->broadcast; i++)
        b->out->factors[b->rule->broadcast_at + i] =
            (dt_bound_factor){.length = 1, .cuttable = true, .in_operands = true};
    for (int k = 0; k < b->rule->factor_count; k++) {
        const dt_rule_factor *factor = &b->rule->factors[k];
        b->out->factors[shifted(b, k)] =
            (dt_bound_factor){.length = -1,
                              .cuttable = factor->letter >= 'a',
                              .in_operands = factor->in_operands};
    }
}

static dt_status
set_length(const binder *b, int factor, int64_t length)
{
    int64_t *old = &b->out->factors[shifted(b, factor)].length;
    if (*old >= 0 && *old != length)
        return dt_fail(b->err, DT_VALUE,
                       "factor %c of '%.200s' has lengths %" PRId64 " and %" PRId64,
                       b->rule->factors[factor].letter, b->rule->text, *old, length);
    *old = length;
    return DT_OK;
}

/* As NumPy broadcasts: lengths are equal or 1. */
static dt_status
read_broadcast(const binder *b, int t, int dim, int count)
{
    for (int i = 0; i < count; i++) {
        int64_t length = b->shapes[t].shape[dim + i];
        int place = b->broadcast - count + i;
        int64_t *old = &b->out->factors[b->rule->broadcast_at + place].length;
        if (length != 1 && *old != 1 && *old != length)
            return dt_fail(b->err, DT_VALUE,
                           "operands of lengths %" PRId64 " and %" PRId64
                           " could not be broadcast together",
                           *old, length);
        *old = *old == 1 ? length : *old;
    }
    return DT_OK;
}

/* Dimensions that are one factor or the "...". */
static dt_status
read_alone(const binder *b)
{
    const dt_rule *rule = b->rule;
    for (int t = 0; t < rule->operand_count; t++) {
        int d = 0;
        for (int i = 0; i < rule->terms[t].count; i++) {
            const dt_rule_dim *dim = &rule->dims[rule->terms[t].first + i];
            int count = span(b, t, dim);
            if (dim->kind == DT_DIM_BROADCAST)
                DT_TRY(read_broadcast(b, t, d, count));
            else if (dim->count == 1 && rule->words[dim->first].factor >= 0)
                DT_TRY(set_length(b, rule->words[dim->first].factor,
                                  b->shapes[t].shape[d]));
            d += count;
        }
    }
    for (int k = 0; k < rule->factor_count; k++)
        if (rule->factors[k].given >= 0)
            DT_TRY(set_length(b, k, rule->factors[k].given));
    return DT_OK;
}

static int64_t
word_length(const binder *b, const dt_rule_word *word)
{
    if (word->factor < 0)
        return word->length;
    return b->out->factors[shifted(b, word->factor)].length;
}

/* The length of a group's one unknown factor; true if there was one. */
static bool
solve_group(const binder *b, const dt_rule_dim *dim, int64_t length)
{
    int unknown = -1, count = 0;
    int64_t known = 1;
    for (int k = dim->first; k < dim->first + dim->count; k++) {
        int64_t l = word_length(b, &b->rule->words[k]);
        if (l < 0) {
            unknown = b->rule->words[k].factor;
            count++;
        } else if (__builtin_mul_overflow(known, l, &known)) {
            return false;
        }
    }
    if (count != 1 || known == 0 || length % known != 0)
        return false;
    b->out->factors[shifted(b, unknown)].length = length / known;
    return true;
}

static void
solve_groups(const binder *b)
{
    const dt_rule *rule = b->rule;
    for (bool more = true; more;) {
        more = false;
        for (int t = 0; t < rule->operand_count; t++) {
            int d = 0;
            for (int i = 0; i < rule->terms[t].count; i++) {
                const dt_rule_dim *dim = &rule->dims[rule->terms[t].first + i];
                if (dim->count > 1 && solve_group(b, dim, b->shapes[t].shape[d]))
                    more = true;
                d += span(b, t, dim);
            }
        }
    }
}

static dt_status
check_known(const binder *b)
{
    for (int k = 0; k < b->rule->factor_count; k++)
        if (b->out->factors[shifted(b, k)].length < 0)
            return dt_fail(b->err, DT_BUG,
                           "the length of factor %c of '%.200s' is missing",
                           b->rule->factors[k].letter, b->rule->text);
    return DT_OK;
}

/* --- terms --- */

/* Products of lengths before and after each of a dimension's words. */
static dt_status
fill_products(int64_t *length, const binder *b, dt_bound_word *words, int count)
{
    int64_t product = 1;
    for (int k = 0; k < count; k++) {
        words[k].before = product;
        if (__builtin_mul_overflow(product, words[k].length, &product))
            return dt_fail(b->err, DT_VALUE, "the lengths of '%.200s' are too large",
                           b->rule->text);
    }
    *length = product;
    product = 1;
    for (int k = count - 1; k >= 0; k--) {
        words[k].rest = product;
        if (__builtin_mul_overflow(product, words[k].length, &product))
            return dt_fail(b->err, DT_VALUE, "the lengths of '%.200s' are too large",
                           b->rule->text);
    }
    return DT_OK;
}

static dt_status
check_window(const binder *b, const dt_bound_word *word)
{
    const dt_window *w = &word->window;
    if (w->count > 0 && (w->start >= word->length ||
                         w->count - 1 > (word->length - 1 - w->start) / w->step))
        return dt_fail(b->err, DT_VALUE,
                       "'%.200s' takes %" PRId64 " elements from %" PRId64
                       " on in steps of %" PRId64 " out of %" PRId64,
                       b->rule->text, w->count, w->start, w->step, word->length);
    return DT_OK;
}

static dt_status
fill_words(int64_t *length, binder *b, int t, int d, const dt_rule_dim *dim)
{
    dt_bound_term *term = &b->out->terms[t];
    dt_bound_word *words = &b->out->words[term->first_word + term->word_count];
    for (int k = 0; k < dim->count; k++) {
        const dt_rule_word *word = &b->rule->words[dim->first + k];
        words[k] =
            (dt_bound_word){.factor = word->factor < 0 ? -1 : shifted(b, word->factor),
                            .dim = d,
                            .length = word_length(b, word),
                            .windowed = dim->windowed,
                            .window = dim->window};
    }
    term->word_count += dim->count;
    DT_TRY(fill_products(length, b, words, dim->count));
    if (!dim->windowed)
        return DT_OK;
    *length = dim->window.count;
    return check_window(b, words);
}

/* Words for the dimensions of a "...", but for those of length 1 that are broadcast. */
static void
fill_broadcast(const binder *b, int t, int d, int count)
{
    dt_bound_term *term = &b->out->terms[t];
    for (int i = 0; i < count; i++) {
        int factor = b->rule->broadcast_at + b->broadcast - count + i;
        int64_t length = b->out->factors[factor].length;
        if (t >= b->rule->operand_count)
            term->shape[d + i] = length;
        else if (b->shapes[t].shape[d + i] != length)
            continue;
        b->out->words[term->first_word + term->word_count++] = (dt_bound_word){
            .factor = factor, .dim = d + i, .length = length, .before = 1, .rest = 1};
    }
}

static dt_status
fill_dim(binder *b, int t, int d, const dt_rule_dim *dim)
{
    dt_bound_term *term = &b->out->terms[t];
    bool operand = t < b->rule->operand_count;
    if (dim->kind == DT_DIM_BROADCAST) {
        fill_broadcast(b, t, d, span(b, t, dim));
    } else if (dim->kind == DT_DIM_WORDS) {
        int64_t length = 0;
        DT_TRY(fill_words(&length, b, t, d, dim));
        if (operand && length != term->shape[d])
            return dt_fail(b->err, DT_VALUE,
                           "dimension %d of operand %d has length %" PRId64
                           ", '%.200s' wants %" PRId64,
                           d, t, term->shape[d], b->rule->text, length);
        term->shape[d] = length;
    }
    return DT_OK;
}

static dt_status
fill_terms(binder *b)
{
    const dt_rule *rule = b->rule;
    int word = 0;
    int64_t *shape = b->out->shapes;
    for (int t = 0; t < rule->term_count; t++) {
        int ndim = term_ndim(b, t), d = 0;
        b->out->terms[t] =
            (dt_bound_term){.ndim = ndim, .shape = shape, .first_word = word};
        if (t < rule->operand_count && ndim > 0)
            memcpy(shape, b->shapes[t].shape, sizeof *shape * (size_t)ndim);
        for (int i = 0; i < rule->terms[t].count; i++) {
            const dt_rule_dim *dim = &rule->dims[rule->terms[t].first + i];
            DT_TRY(fill_dim(b, t, d, dim));
            d += span(b, t, dim);
        }
        shape += ndim;
        word += b->out->terms[t].word_count;
    }
    return DT_OK;
}

/* --- what follows from the words --- */

static void
index_words(dt_binding *out)
{
    for (int f = 0; f < out->factor_count; f++)
        out->factors[f].alone = true;
    memset(out->where, -1,
           sizeof *out->where * (size_t)out->term_count * (size_t)out->factor_count);
    for (int t = 0; t < out->term_count; t++) {
        const dt_bound_term *term = &out->terms[t];
        for (int w = term->first_word; w < term->first_word + term->word_count; w++) {
            const dt_bound_word *word = &out->words[w];
            if (word->factor < 0)
                continue;
            dt_bound_factor *factor = &out->factors[word->factor];
            out->where[t * out->factor_count + word->factor] = w;
            factor->chunked = factor->chunked || word->before > 1;
            if (word->before != 1 || word->rest != 1 || word->windowed)
                factor->alone = false;
            for (int v = w + 1; v < term->first_word + term->word_count &&
                                out->words[v].dim == word->dim;
                 v++)
                if (out->words[v].factor >= 0)
                    out->pairs[out->pair_count++] =
                        (dt_factor_pair){word->factor, out->words[v].factor};
        }
    }
}

static dt_status
bind_shapes(binder *b)
{
    name_factors(b);
    DT_TRY(read_alone(b));
    solve_groups(b);
    DT_TRY(check_known(b));
    DT_TRY(fill_terms(b));
    index_words(b->out);
    return DT_OK;
}

dt_status
dt_rule_bind(dt_binding **out, const dt_rule *rule, const dt_shape *operands, int count,
             dt_error *err)
{
    if (count != rule->operand_count)
        return dt_fail(err, DT_VALUE, "'%.200s' has %d operands, not %d", rule->text,
                       rule->operand_count, count);
    binder b = {.rule = rule, .shapes = operands, .err = err};
    DT_TRY(count_broadcast(&b));
    DT_TRY(allocate(&b));
    dt_status status = bind_shapes(&b);
    if (status != DT_OK) {
        free(b.out);
        return status;
    }
    *out = b.out;
    return DT_OK;
}

void
dt_binding_free(dt_binding *binding)
{
    free(binding);
}

dt_shape
dt_binding_result(const dt_binding *binding, int index)
{
    const dt_bound_term *term = &binding->terms[binding->operand_count + index];
    return (dt_shape){.ndim = term->ndim, .shape = term->shape};
}
