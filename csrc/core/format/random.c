#include "core/format/random.h"

#include <stdlib.h>

__extension__ typedef unsigned __int128 uint128;

enum { ROUNDS = 10, BLOCK = 4 /* words */ };

/* --- words --- */

static uint64_t
multiply(uint64_t *high, uint64_t a, uint64_t b)
{
    uint128 product = (uint128)a * b;
    *high = (uint64_t)(product >> 64);
    return (uint64_t)product;
}

/* The multipliers and the steps of the key are those of Salmon et al. */
static inline void
make_block(uint64_t out[BLOCK], const uint64_t key[2], uint64_t block, uint64_t attempt)
{
    uint64_t x0 = block + 1, x1 = attempt, x2 = 0, x3 = 0;
    uint64_t k0 = key[0], k1 = key[1];
    for (int round = 0; round < ROUNDS; round++) {
        uint64_t high0, high2;
        uint64_t low0 = multiply(&high0, UINT64_C(0xd2e7470ee14c6c93), x0);
        uint64_t low2 = multiply(&high2, UINT64_C(0xca5a826395121157), x2);
        x0 = high2 ^ x1 ^ k0;
        x1 = low2;
        x2 = high0 ^ x3 ^ k1;
        x3 = low0;
        k0 += UINT64_C(0x9e3779b97f4a7c15);
        k1 += UINT64_C(0xbb67ae8584caa73b);
    }
    out[0] = x0;
    out[1] = x1;
    out[2] = x2;
    out[3] = x3;
}

void
dt_random_words(uint64_t *out, const uint64_t key[2], uint64_t first, int64_t count)
{
    uint64_t block = first / BLOCK, words[BLOCK];
    int64_t done = 0;
    if (first % BLOCK != 0) {
        make_block(words, key, block++, 0);
        for (uint64_t k = first % BLOCK; k < BLOCK && done < count; k++)
            out[done++] = words[k];
    }
    for (; count - done >= BLOCK; done += BLOCK)
        make_block(out + done, key, block++, 0);
    if (done < count) {
        make_block(words, key, block, 0);
        for (int k = 0; done < count; k++)
            out[done++] = words[k];
    }
}

void
dt_random_halves(uint32_t *out, const dt_stream *stream, int64_t first, int64_t count)
{
    enum { CHUNK = 64 };
    uint64_t words[CHUNK];
    int64_t done = 0;
    if (stream->half != DT_NO_HALF && count > 0 && first-- == 0) {
        dt_random_words(words, stream->key, stream->half, 1);
        out[done++] = (uint32_t)(words[0] >> 32);
        first = 0;
    }
    uint64_t word = stream->position + (uint64_t)(first / 2);
    if (first % 2 != 0 && done < count) {
        dt_random_words(words, stream->key, word++, 1);
        out[done++] = (uint32_t)(words[0] >> 32);
    }
    while (done < count) {
        int64_t left = count - done, room = 2 * CHUNK;
        int64_t part = left < room ? left : room;
        dt_random_words(words, stream->key, word, (part + 1) / 2);
        for (int64_t k = 0; k < part / 2; k++) {
            out[done + 2 * k] = (uint32_t)words[k];
            out[done + 2 * k + 1] = (uint32_t)(words[k] >> 32);
        }
        if (part % 2 != 0)
            out[done + part - 1] = (uint32_t)words[part / 2];
        done += part;
        word += CHUNK;
    }
}

void
dt_stream_take_words(dt_stream *stream, uint64_t count)
{
    stream->position += count;
}

void
dt_stream_take_halves(dt_stream *stream, uint64_t count)
{
    if (stream->half != DT_NO_HALF && count > 0) {
        stream->half = DT_NO_HALF;
        count--;
    }
    stream->position += count / 2;
    if (count % 2 != 0)
        stream->half = stream->position++;
}

/* --- whole numbers --- */

/* The number below `span` that word `place` of a key decides; `word` is its value. */
static uint64_t
below(uint64_t word, const uint64_t key[2], uint64_t place, uint64_t span)
{
    uint64_t number, low = multiply(&number, word, span);
    if (low >= span)
        return number;
    /* Of the 2^64 words, which span need not divide, the first few are left out. */
    uint64_t surplus = (0 - span) % span, words[BLOCK];
    for (uint64_t attempt = 1; low < surplus; attempt++) {
        make_block(words, key, place / BLOCK, attempt);
        low = multiply(&number, words[place % BLOCK], span);
    }
    return number;
}

void
dt_random_below(uint64_t *out, const uint64_t key[2], uint64_t first, int64_t count,
                uint64_t span)
{
    dt_random_words(out, key, first, count);
    for (int64_t k = 0; span != 0 && k < count; k++)
        out[k] = below(out[k], key, first + (uint64_t)k, span);
}

/* Fisher and Yates: what lies at place k - 1 is exchanged with one of the first k. */
void
dt_random_permutation(int64_t *out, const dt_stream *stream, int64_t count)
{
    enum { CHUNK = 256 };
    uint64_t words[CHUNK];
    for (int64_t k = 0; k < count; k++)
        out[k] = k;
    for (int64_t start = 0; start < count; start += CHUNK) {
        int64_t part = count - start < CHUNK ? count - start : CHUNK;
        uint64_t first = stream->position + (uint64_t)start;
        dt_random_words(words, stream->key, first, part);
        for (int64_t i = 0; i < part; i++) {
            int64_t last = count - 1 - start - i;
            int64_t other = (int64_t)below(words[i], stream->key, first + (uint64_t)i,
                                           (uint64_t)last + 1);
            int64_t kept = out[last];
            out[last] = out[other];
            out[other] = kept;
        }
    }
}

/* --- parts --- */

/* A part while it is visited. Dimensions `flat` and later are whole, but for the first
 * of them: they make up one stretch. */
typedef struct {
    int flat;
    int64_t strides[DT_MAX_NDIM]; /* of the whole array, in elements */
    const dt_range *ranges[DT_MAX_NDIM];
    int64_t counts[DT_MAX_NDIM];
    dt_stretch_visit *visit;
    void *data;
    int64_t local;
} walk;

static void
walk_dim(walk *w, int dim, int64_t global)
{
    for (int64_t k = 0; k < w->counts[dim]; k++) {
        dt_range range = w->ranges[dim][k];
        int64_t start = global + range.start * w->strides[dim];
        if (dim == w->flat) {
            int64_t count = range.size * w->strides[dim];
            w->visit(w->data, w->local, start, count);
            w->local += count;
            continue;
        }
        for (int64_t i = 0; i < range.size; i++)
            walk_dim(w, dim + 1, start + i * w->strides[dim]);
    }
}

/* Finds the ranges of a part; false if it has no elements. */
static bool
walk_prepare(walk *w, dt_range *ranges, const dt_layout *layout,
             const int64_t *coordinate)
{
    int64_t stride = 1;
    bool filled = true;
    w->flat = 0;
    for (int d = layout->ndim - 1; d >= 0; d--) {
        w->ranges[d] = ranges;
        w->counts[d] =
            dt_layout_ranges(ranges, layout, d, dt_layout_part(layout, d, coordinate));
        filled = filled && ranges->size > 0;
        if (ranges->size != layout->shape[d] && w->flat == 0)
            w->flat = d;
        ranges += w->counts[d];
        w->strides[d] = stride;
        stride *= layout->shape[d];
    }
    return filled;
}

dt_status
dt_stretches(const dt_layout *layout, const int64_t *coordinate,
             dt_stretch_visit *visit, void *data, dt_error *err)
{
    if (layout->ndim == 0) {
        visit(data, 0, 0, 1);
        return DT_OK;
    }
    int64_t room = 0;
    for (int d = 0; d < layout->ndim; d++)
        room += dt_layout_range_limit(layout, d);
    dt_range *ranges = malloc((size_t)room * sizeof *ranges);
    if (ranges == NULL)
        return dt_fail(err, DT_MEMORY, "no memory to find the elements of a part");
    walk w = {.visit = visit, .data = data};
    if (walk_prepare(&w, ranges, layout, coordinate))
        walk_dim(&w, 0, 0);
    free(ranges);
    return DT_OK;
}
