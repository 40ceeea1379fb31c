#include "kernels/reduce.h"

#include "kernels/reduce_level.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

enum {
    BLOCK_BYTES = 8192, /* of the output: it stays in the nearest cache from one addend
                           to the next, and so does what is read beside it */
    WIDE_COUNT = 256 /* elements of 16 bits that are widened at a time: few, for their
                        arithmetic to overlap with the reading of the next ones */
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

static void
reduce_wide(const dt_reduce_row *row, dt_combine *combine, bool averages, uint16_t *out,
            const void *const *in, int n, int64_t divisor, int64_t count)
{
    float sum[WIDE_COUNT], addend[WIDE_COUNT];
    for (int64_t start = 0; start < count; start += WIDE_COUNT) {
        int64_t part = least(WIDE_COUNT, count - start);
        row->widen(sum, (const uint16_t *)in[0] + start, part);
        for (int k = 1; k < n; k++) {
            row->widen(addend, (const uint16_t *)in[k] + start, part);
            combine(sum, sum, addend, part);
        }
        if (averages)
            row->scale(sum, divisor, part);
        row->narrow(out + start, sum, part);
    }
}

void
dt_reduce_at(const dt_reduce_level *level, dt_dtype dtype, dt_reduce_op op, void *out,
             const void *const *in, int n, int64_t divisor, int64_t count)
{
    const dt_reduce_row *row = &level->rows[dtype];
    dt_combine *combine = level->combine[op][dtype];
    dt_reduce_law law = dt_reduce_op_get(op)->law;
    bool averages = law == DT_LAW_AVERAGES;
    size_t size = dt_dtype_size(dtype);
    if (n == 1 && !averages) {
        copy_addend(out, in[0], (size_t)count * size);
        return;
    }
    if (row->widen != NULL && law != DT_LAW_SELECTS) {
        reduce_wide(row, combine, averages, out, in, n, divisor, count);
        return;
    }
    int64_t block = BLOCK_BYTES / (int64_t)size;
    for (int64_t start = 0; start < count; start += block) {
        int64_t part = least(block, count - start);
        char *to = (char *)out + start * (int64_t)size;
        if (n == 1)
            copy_addend(to, at(in[0], start, size), (size_t)part * size);
        else
            combine(to, at(in[0], start, size), at(in[1], start, size), part);
        for (int k = 2; k < n; k++)
            combine(to, to, at(in[k], start, size), part);
        if (averages)
            row->scale(to, divisor, part);
    }
}

void
dt_reduce(dt_dtype dtype, dt_reduce_op op, void *out, const void *const *in, int n,
          int64_t divisor, int64_t count)
{
    dt_reduce_at(dt_reduce_level_best(), dtype, op, out, in, n, divisor, count);
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
