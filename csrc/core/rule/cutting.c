/* In which order and at which points a factor is cut: as one of the operands has it. */
#include "core/rule/search.h"

#include <string.h>

static unsigned
mask_of(const dt_cut *cut)
{
    unsigned mask = 0;
    for (int k = 0; k < cut->count; k++)
        mask |= 1U << cut->mesh_dims[k];
    return mask;
}

/* Left to right, by chunks. */
static dt_cutting
chunks(const dt_search *s, unsigned mask)
{
    dt_cutting out = {.parts = 1};
    for (int m = 0; m < s->mesh->ndim; m++)
        if (mask >> m & 1) {
            out.mesh_dims[out.count++] = m;
            out.parts *= s->mesh->shape[m];
        }
    return out;
}

/* Where part number `part` of a dimension that is cut by chunks starts. */
static int64_t
chunk_start(const dt_search *s, const dt_cutting *cutting, int64_t length, int64_t part)
{
    int64_t radix = cutting->parts, start = 0;
    for (int k = 0; k < cutting->count; k++) {
        int64_t count = s->mesh->shape[cutting->mesh_dims[k]];
        radix /= count;
        dt_range range = dt_chunk(length, count, part / radix);
        part %= radix;
        start += range.start;
        length = range.size;
    }
    return start;
}

/* A copy of a cutting's boundaries of a dimension of `length`. */
static dt_status
boundaries(int64_t **out, dt_search *s, const dt_cutting *cutting, int64_t length)
{
    size_t count = (size_t)cutting->parts + 1;
    int64_t *list = dt_bump_take(&s->bump, count, sizeof *list);
    if (list == NULL)
        return dt_search_no_memory(s);
    if (cutting->cuts != NULL)
        memcpy(list, cutting->cuts, count * sizeof *list);
    for (int64_t p = 0; cutting->cuts == NULL && p < cutting->parts; p++)
        list[p] = chunk_start(s, cutting, length, p);
    list[cutting->parts] = length;
    *out = list;
    return DT_OK;
}

/* --- from an operand to the factor --- */

/* Divides the cut points of a group's dim by the length behind its first word; `fits`:
 * they are multiples of it. */
static dt_status
divide_points(bool *fits, dt_search *s, dt_cutting *cutting, const dt_bound_word *word)
{
    bool whole = word->rest == 0 || word->length == 0;
    *fits = true;
    if (whole || (cutting->cuts == NULL && word->length % cutting->parts == 0)) {
        cutting->cuts = NULL;
        return DT_OK;
    }
    int64_t *list;
    DT_TRY(boundaries(&list, s, cutting, word->length * word->rest));
    bool same = true;
    for (int64_t p = 0; p <= cutting->parts; p++) {
        *fits = *fits && list[p] % word->rest == 0;
        list[p] /= word->rest;
        same = same && p < cutting->parts
                   ? list[p] == chunk_start(s, cutting, word->length, p)
                   : same;
    }
    cutting->cuts = same ? NULL : list;
    return DT_OK;
}

/* How operand `k` has the factor cut; `fits` is false unless by these mesh dims and in
 * a way that all terms can have. */
static dt_status
donate(bool *fits, dt_cutting *out, dt_search *s, int k, const dt_bound_word *word,
       unsigned mask)
{
    const dt_layout *layout = s->operands[k];
    const dt_cut *cut = &layout->dims[word->dim];
    *fits = false;
    if (mask_of(cut) != mask ||
        (cut->strided && !s->binding->factors[word->factor].alone))
        return DT_OK;
    *out = (dt_cutting){.count = cut->count,
                        .parts = cut->parts,
                        .cuts = cut->cuts,
                        .strided = cut->strided};
    memcpy(out->mesh_dims, cut->mesh_dims, sizeof cut->mesh_dims);
    for (int m = 0; cut->strided && m < cut->count; m++)
        out->splits[m] = layout->placements[cut->mesh_dims[m]].split;
    *fits = true;
    return word->rest == 1 ? DT_OK : divide_points(fits, s, out, word);
}

static bool
same_cutting(const dt_cutting *a, const dt_cutting *b)
{
    if (a->strided != b->strided || (a->cuts == NULL) != (b->cuts == NULL) ||
        memcmp(a->mesh_dims, b->mesh_dims, sizeof(int) * (size_t)a->count) != 0 ||
        memcmp(a->splits, b->splits, sizeof a->splits) != 0)
        return false;
    return a->cuts == NULL ||
           memcmp(a->cuts, b->cuts, sizeof(int64_t) * (size_t)(a->parts + 1)) == 0;
}

static dt_status
add_cutting(dt_cuttings *list, dt_search *s, const dt_cutting *cutting)
{
    for (int k = 0; k < list->count; k++)
        if (same_cutting(list->list[k], cutting))
            return DT_OK;
    dt_cutting *own = dt_bump_take(&s->bump, 1, sizeof *own);
    if (own == NULL)
        return dt_search_no_memory(s);
    *own = *cutting;
    own->id = s->cutting_count++;
    list->list[list->count++] = own;
    return DT_OK;
}

static dt_status
collect(dt_cuttings *list, dt_search *s, int factor)
{
    const dt_binding *b = s->binding;
    dt_cutting cutting;
    for (int k = 0; k < b->operand_count && !b->factors[factor].chunked; k++) {
        int word = b->where[k * b->factor_count + factor];
        if (word < 0 || list->count == DT_CUTTINGS_MAX)
            continue;
        bool fits;
        DT_TRY(donate(&fits, &cutting, s, k, &b->words[word], list->mask));
        if (fits)
            DT_TRY(add_cutting(list, s, &cutting));
    }
    if (list->count > 0)
        return DT_OK;
    cutting = chunks(s, list->mask);
    return add_cutting(list, s, &cutting);
}

dt_status
dt_search_cuttings(const dt_cuttings **out, dt_search *s, int factor, unsigned mask)
{
    for (dt_cuttings *c = s->cuttings[factor]; c != NULL; c = c->next)
        if (c->mask == mask) {
            *out = c;
            return DT_OK;
        }
    dt_cuttings *list = dt_bump_take(&s->bump, 1, sizeof *list);
    if (list == NULL)
        return dt_search_no_memory(s);
    list->mask = mask;
    DT_TRY(collect(list, s, factor));
    list->next = s->cuttings[factor];
    s->cuttings[factor] = list;
    *out = list;
    return DT_OK;
}

/* --- from the factor to a term --- */

static int64_t
ceil_div(int64_t a, int64_t b)
{
    return a / b + (a % b != 0);
}

static int64_t
in_window(const dt_window *window, int64_t point)
{
    if (point <= window->start)
        return 0;
    int64_t before = ceil_div(point - window->start, window->step);
    return before < window->count ? before : window->count;
}

dt_status
dt_cutting_points(const int64_t **out, dt_search *s, const dt_cutting *cutting,
                  const dt_bound_word *word, int64_t length)
{
    *out = NULL;
    if (length == 0 || word->before > 1 || cutting->strided)
        return DT_OK;
    bool even = cutting->cuts == NULL && word->length % cutting->parts == 0;
    if (!word->windowed && (word->rest == 1 || even)) {
        *out = cutting->cuts;
        return DT_OK;
    }
    int64_t *list;
    DT_TRY(boundaries(&list, s, cutting, word->length));
    for (int64_t p = 0; p <= cutting->parts; p++)
        list[p] =
            word->windowed ? in_window(&word->window, list[p]) : list[p] * word->rest;
    *out = list;
    return DT_OK;
}
