/* parts_law.h: all operands and results of a choice hold the same part of each factor,
 * checked element by element. */
#ifndef DT_TEST_PARTS_LAW_H
#define DT_TEST_PARTS_LAW_H

#include "core/rule/propagate.h"
#include "core/rule/rule_parts.h"

#include "check.h"

#include <stdlib.h>
#include <string.h>

typedef struct {
    const dt_binding *binding;
    const dt_choice *choice;
    const int64_t *coordinate;
    bool *
        *sets; /* for each factor the indices that the rank has; NULL: not known yet */
} parts_check;

/* The indices of a dimension that a rank has. */
static inline bool *
held(const parts_check *c, int t, int dim)
{
    const dt_layout *layout = c->choice->operands[t];
    bool *out = calloc((size_t)layout->shape[dim] + 1, sizeof *out);
    size_t limit = (size_t)dt_layout_range_limit(layout, dim);
    dt_range *ranges = malloc(limit * sizeof *ranges);
    int64_t part = dt_layout_part(layout, dim, c->coordinate);
    int64_t count = dt_layout_ranges(ranges, layout, dim, part);
    for (int64_t k = 0; k < count; k++)
        for (int64_t i = 0; i < ranges[k].size; i++)
            out[ranges[k].start + i] = true;
    free(ranges);
    return out;
}

static inline int64_t
count_held(const bool *set, int64_t length)
{
    int64_t count = 0;
    for (int64_t i = 0; i < length; i++)
        count += set[i];
    return count;
}

/* Compares with what other terms have of the factor. Takes over `set`. */
static inline void
agree(parts_check *c, int factor, bool *set)
{
    const dt_bound_factor *f = &c->binding->factors[factor];
    if (!f->cuttable)
        CHECK(count_held(set, f->length) == f->length);
    if (c->sets[factor] == NULL) {
        c->sets[factor] = set;
        return;
    }
    CHECK(memcmp(c->sets[factor], set, (size_t)f->length) == 0);
    free(set);
}

/* A dimension of several words: a product of what it has of each. */
static inline void
check_group(parts_check *c, const dt_bound_word *words, int count, const bool *set,
            int64_t length)
{
    int64_t product = 1, elements = count_held(set, length);
    if (elements == 0)
        return;
    for (int k = 0; k < count; k++) {
        const dt_bound_word *word = &words[k];
        bool *one = calloc((size_t)word->length + 1, sizeof *one);
        for (int64_t i = 0; i < length; i++)
            if (set[i])
                one[i / word->rest % word->length] = true;
        int64_t own = count_held(one, word->length);
        product *= own;
        if (word->factor >= 0) {
            agree(c, word->factor, one);
            continue;
        }
        CHECK(own == word->length);
        free(one);
    }
    CHECK(product == elements);
}

static inline void
check_window(const parts_check *c, const dt_bound_word *word, const bool *set)
{
    const bool *whole = c->sets[word->factor];
    for (int64_t k = 0; whole != NULL && k < word->window.count; k++)
        CHECK(set[k] == whole[word->window.start + k * word->window.step]);
}

/* Dimensions that are one factor come in the first round, all others in the second. */
static inline void
check_dim(parts_check *c, int t, int dim, bool first)
{
    const dt_bound_term *term = &c->binding->terms[t];
    const dt_bound_word *words = &c->binding->words[term->first_word];
    int at = 0, count = 0;
    while (at < term->word_count && words[at].dim < dim)
        at++;
    while (at + count < term->word_count && words[at + count].dim == dim)
        count++;
    words += at;
    bool alone = count == 1 && words->factor >= 0 && !words->windowed;
    if (alone != first)
        return;
    bool *set = held(c, t, dim);
    if (alone) {
        agree(c, words->factor, set);
        return;
    }
    if (count == 0)
        CHECK(count_held(set, term->shape[dim]) == term->shape[dim]);
    else if (words->windowed)
        check_window(c, words, set);
    else
        check_group(c, words, count, set, term->shape[dim]);
    free(set);
}

/* A result of cut operands is cut too, or Partial. */
static inline void
check_nothing_is_lost(const parts_check *c)
{
    const dt_mesh *mesh = c->choice->operands[0]->mesh;
    int operands = c->binding->operand_count;
    for (int m = 0; m < mesh->ndim; m++) {
        bool whole = mesh->shape[m] == 1;
        for (int t = 0; t < c->binding->term_count; t++) {
            dt_placement_kind kind = c->choice->operands[t]->placements[m].kind;
            bool needed = false;
            for (int k = 0; k < operands; k++)
                needed = needed ||
                         c->choice->operands[k]->placements[m].kind != DT_REPLICATE;
            CHECK(whole || t < operands || !needed || kind != DT_REPLICATE);
        }
    }
}

static inline void
check_parts(const dt_binding *binding, const dt_choice *choice)
{
    const dt_mesh *mesh = choice->operands[0]->mesh;
    size_t factors = (size_t)binding->factor_count;
    for (int64_t rank = 0; rank < mesh->size; rank++) {
        int64_t coordinate[DT_MESH_MAX_NDIM];
        dt_mesh_coordinate(coordinate, mesh, rank);
        parts_check c = {binding, choice, coordinate,
                         calloc(factors + 1, sizeof *c.sets)};
        for (int round = 0; round < 2; round++)
            for (int t = 0; t < binding->term_count; t++)
                for (int d = 0; d < binding->terms[t].ndim; d++)
                    check_dim(&c, t, d, round == 0);
        for (size_t f = 0; f < factors; f++)
            free(c.sets[f]);
        free(c.sets);
        check_nothing_is_lost(&c);
    }
}

#endif
