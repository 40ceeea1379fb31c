/* Addends of several ranks become one array.
 *
 * The association is a tree (reduce.h), walked once for each block: a block of the left
 * half is made in place, one of the right half in a buffer of its level, and both are
 * combined. All of that stays in the nearest cache, so memory is read once, whatever the
 * number of addends. Four neighbours are combined by one loop, without a buffer. */
#include "kernels/reduce.h"

#include "kernels/reduce_level.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

enum {
    BLOCK_BYTES = 8192, /* of the output: it stays in the nearest cache from one addend
                           to the next, and so does what is read beside it */
    WIDE_BYTES = 1024,  /* of 16-bit elements that are widened at a time: few, for their
                          arithmetic to overlap with the reading of the next ones */
    LEVEL_BYTES = 32768, /* of the buffers of all levels: blocks are smaller where there
                            are many */
    AHEAD_BYTES = 512,   /* of the next row, which are prefetched if rows are as long */
    LINE = 64,
};

static int64_t
least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static const char *
at(const void *base, int64_t index, size_t size)
{
    return (const char *)base + index * (int64_t)size;
}

/* One addend: nothing to combine, and its bits are kept. */
static void
copy_addend(void *out, const void *in, size_t bytes)
{
    if (out != in)
        memcpy(out, in, bytes);
}

/* --- the tree --- */

typedef struct {
    const dt_reduce_row *row;
    dt_combine *combine;
    const void *const *in;
    const int64_t *strides; /* of the rows of each; NULL: there is one */
    int64_t row_at;
    size_t size; /* of an element of an addend */
    bool wide;   /* what is combined is made of them by row->widen */
    const int64_t *lengths;
    int ndim;
    int64_t start, count; /* the block */
    char *levels;         /* a buffer for each level ... */
    size_t level_bytes;   /* ... of this size */
} tree;

/* Levels of a tree: no more buffers are in use at once. */
static int
depth_of(const int64_t *lengths, int ndim)
{
    int depth = 0;
    for (int d = 0; d < ndim; d++)
        for (int64_t leaves = 1; leaves < lengths[d]; leaves *= 2)
            depth++;
    return depth;
}

/* A machine prefetches along a row by itself, but not from its end to the next one. */
static void
prefetch(const char *row)
{
    for (int at = 0; at < AHEAD_BYTES; at += LINE)
        __builtin_prefetch(row + at);
}

/* The block of an addend. */
static const void *
leaf(const tree *t, int64_t index, void *into)
{
    const char *in = at(t->in[index], t->start, t->size);
    if (t->strides != NULL) {
        in += t->row_at * t->strides[index];
        if (t->count * (int64_t)t->size >= AHEAD_BYTES)
            prefetch(in + t->strides[index]);
    }
    if (!t->wide)
        return in;
    t->row->widen(into, (const uint16_t *)(const void *)in, t->count);
    return into;
}

/* The block of a subtree: of `length` addends along dimension d, from `first` on, which
 * are `stride` apart. It is in `into` or, if it is one addend, where that lies. */
static const void *
subtree(const tree *t, int d, int64_t first, int64_t length, int64_t stride, void *into,
        int level)
{
    if (length == 1 && d + 1 == t->ndim)
        return leaf(t, first, into);
    if (length == 1)
        return subtree(t, d + 1, first, t->lengths[d + 1], stride / t->lengths[d + 1],
                       into, level);
    if (length == 4 && d + 1 == t->ndim && !t->wide) {
        t->combine(into, leaf(t, first, NULL), leaf(t, first + 1, NULL),
                   leaf(t, first + 2, NULL), leaf(t, first + 3, NULL), t->count);
        return into;
    }
    int64_t half = 1;
    while (2 * half < length)
        half *= 2;
    void *buffer = t->levels + (size_t)level * t->level_bytes;
    const void *a = subtree(t, d, first, half, stride, into, level);
    const void *b =
        subtree(t, d, first + half * stride, length - half, stride, buffer, level + 1);
    t->combine(into, a, b, NULL, NULL, t->count);
    return into;
}

static const void *
reduce_block(tree *t, int64_t n, int64_t start, int64_t count, void *into, int level)
{
    t->start = start;
    t->count = count;
    return subtree(t, 0, 0, t->lengths[0], n / t->lengths[0], into, level);
}

/* Where the result is rounded, a block of it is made in the first of the buffers. */
static void
reduce_wide(tree *t, int64_t n, const dt_reduction *r, void *out)
{
    bool rounds = !r->wide;
    int64_t block = (int64_t)(t->level_bytes / sizeof(float));
    for (int64_t start = 0; start < r->count; start += block) {
        int64_t part = least(block, r->count - start);
        float *made = rounds ? (float *)(void *)t->levels : (float *)out + start;
        reduce_block(t, n, start, part, made, rounds);
        if (dt_reduce_op_get(r->op)->law == DT_LAW_AVERAGES)
            t->row->scale(made, r->divisor, part);
        if (rounds)
            t->row->narrow((uint16_t *)out + start, made, part);
    }
}

static void
reduce_blocks(tree *t, int64_t n, const dt_reduction *r, char *out)
{
    int64_t block = (int64_t)(t->level_bytes / t->size);
    for (int64_t start = 0; start < r->count; start += block) {
        int64_t part = least(block, r->count - start);
        char *to = out + start * (int64_t)t->size;
        const void *made = reduce_block(t, n, start, part, to, 0);
        copy_addend(to, made, (size_t)part * t->size);
        if (dt_reduce_op_get(r->op)->law == DT_LAW_AVERAGES)
            t->row->scale(to, r->divisor, part);
    }
}

void
dt_reduce_at(const dt_reduce_level *level, const dt_reduction *r, void *out,
             const void *const *in)
{
    static const int64_t one = 1;
    _Alignas(64) char buffers[LEVEL_BYTES];
    dt_reduce_law law = dt_reduce_op_get(r->op)->law;
    int64_t n = 1;
    for (int d = 0; d < r->ndim; d++)
        n *= r->lengths[d];
    tree t = {.row = &level->rows[r->dtype],
              .combine = level->combine[r->op][r->dtype],
              .in = in,
              .strides = r->strides,
              .size = dt_dtype_size(r->dtype),
              .lengths = r->ndim > 0 ? r->lengths : &one,
              .ndim = r->ndim > 0 ? r->ndim : 1,
              .levels = buffers};
    bool copies = n == 1 && law != DT_LAW_AVERAGES && !r->wide; /* the bits are kept */
    t.wide = t.row->widen != NULL && law != DT_LAW_SELECTS && !copies;
    size_t share = LEVEL_BYTES / (size_t)(depth_of(r->lengths, r->ndim) + 1) / 64 * 64;
    size_t most = t.wide ? WIDE_BYTES : BLOCK_BYTES;
    t.level_bytes = share < most ? share : most;
    for (char *to = out; t.row_at < r->rows; t.row_at++, to += r->out_stride)
        if (t.wide)
            reduce_wide(&t, n, r, to);
        else
            reduce_blocks(&t, n, r, to);
}

void
dt_reduce(const dt_reduction *r, void *out, const void *const *in)
{
    dt_reduce_at(dt_reduce_level_best(), r, out, in);
}

/* For each dt_reduce_identity_kind. A sum starts with -0.0, for 0.0 would turn a -0.0
 * into 0.0. */
#define IDENTITIES(name, type, nothing, one, lowest, highest)                          \
    static const type name##_identity[DT_IDENTITY_COUNT] = {                           \
        [DT_IDENTITY_NOTHING] = nothing,                                               \
        [DT_IDENTITY_ONE] = one,                                                       \
        [DT_IDENTITY_LOWEST] = lowest,                                                 \
        [DT_IDENTITY_HIGHEST] = highest,                                               \
    };
#define PAIRS(name, real)                                                              \
    static const real name##_identity[DT_IDENTITY_COUNT][2] = {                        \
        [DT_IDENTITY_NOTHING] = {-0.0, -0.0},                                          \
        [DT_IDENTITY_ONE] = {1, 0},                                                    \
        [DT_IDENTITY_LOWEST] = {-INFINITY, -INFINITY},                                 \
        [DT_IDENTITY_HIGHEST] = {INFINITY, INFINITY},                                  \
    };

IDENTITIES(bool, uint8_t, 0, 1, 0, 1)
IDENTITIES(int8, int8_t, 0, 1, INT8_MIN, INT8_MAX)
IDENTITIES(int16, int16_t, 0, 1, INT16_MIN, INT16_MAX)
IDENTITIES(int32, int32_t, 0, 1, INT32_MIN, INT32_MAX)
IDENTITIES(int64, int64_t, 0, 1, INT64_MIN, INT64_MAX)
IDENTITIES(uint8, uint8_t, 0, 1, 0, UINT8_MAX)
IDENTITIES(uint16, uint16_t, 0, 1, 0, UINT16_MAX)
IDENTITIES(uint32, uint32_t, 0, 1, 0, UINT32_MAX)
IDENTITIES(uint64, uint64_t, 0, 1, 0, UINT64_MAX)
IDENTITIES(float16, uint16_t, 0x8000, 0x3c00, 0xfc00, 0x7c00)
IDENTITIES(bfloat16, uint16_t, 0x8000, 0x3f80, 0xff80, 0x7f80)
IDENTITIES(float32, float, -0.0f, 1, -INFINITY, INFINITY)
IDENTITIES(float64, double, -0.0, 1, -INFINITY, INFINITY)
IDENTITIES(longdouble, long double, -0.0L, 1, -INFINITY, INFINITY)
PAIRS(complex64, float)
PAIRS(complex128, double)
PAIRS(clongdouble, long double)

void
dt_reduce_identity(dt_dtype dtype, dt_reduce_op op, void *out)
{
    static const void *const TABLE[] = {
        [DT_BOOL] = bool_identity,
        [DT_INT8] = int8_identity,
        [DT_INT16] = int16_identity,
        [DT_INT32] = int32_identity,
        [DT_INT64] = int64_identity,
        [DT_UINT8] = uint8_identity,
        [DT_UINT16] = uint16_identity,
        [DT_UINT32] = uint32_identity,
        [DT_UINT64] = uint64_identity,
        [DT_FLOAT16] = float16_identity,
        [DT_BFLOAT16] = bfloat16_identity,
        [DT_FLOAT32] = float32_identity,
        [DT_FLOAT64] = float64_identity,
        [DT_LONGDOUBLE] = longdouble_identity,
        [DT_COMPLEX64] = complex64_identity,
        [DT_COMPLEX128] = complex128_identity,
        [DT_CLONGDOUBLE] = clongdouble_identity,
    };
    size_t size = dt_dtype_size(dtype);
    memcpy(out, at(TABLE[dtype], (int64_t)dt_reduce_op_get(op)->identity, size), size);
}
