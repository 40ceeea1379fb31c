#include "kernels/along.h"

#include <stddef.h>
#include <string.h>

/* The last dim of the indices, from one place in the others on. */
typedef struct {
    int64_t base;  /* of the array, without what the index says */
    int64_t count; /* of indices */
    int64_t step;  /* from one to the next, where that is not the dim */
    int64_t scale; /* of the dim, in elements */
    int64_t length;
} line;

static line
line_of(const dt_along *a)
{
    int last = a->ndim - 1;
    return (line){.count = a->shape[last],
                  .step = a->dim == last ? 0 : a->stride[last],
                  .scale = a->stride[a->dim],
                  .length = a->length};
}

/* The next line; whether there is one. */
static bool
go_on(const dt_along *a, line *at, int64_t place[DT_ALONG_NDIM])
{
    for (int d = a->ndim - 2; d >= 0; d--) {
        int64_t stride = d == a->dim ? 0 : a->stride[d];
        at->base += stride;
        if (++place[d] < a->shape[d])
            return true;
        at->base -= place[d] * stride;
        place[d] = 0;
    }
    return false;
}

/* What indices are: all from 0 on, some counted from the end, some wrong. */
typedef enum { PLAIN, SIGNED, WRONG } indices;

static inline indices
look_at(const int64_t *index, int64_t count, int64_t length)
{
    int64_t least = 0, most = -1;
    for (int64_t k = 0; k < count; k++) {
        least = index[k] < least ? index[k] : least;
        most = index[k] > most ? index[k] : most;
    }
    return least < -length || most >= length ? WRONG : least < 0 ? SIGNED : PLAIN;
}

/* An index from 0 on. */
static inline int64_t
from_0(int64_t index, int64_t length)
{
    return index + (index < 0 ? length : 0);
}

typedef struct {
    float re, im;
} pair32;
typedef struct {
    double re, im;
} pair64;

/* A function that does something with each element `array[at]` and number k of a line. */
#define LINES(name, pointer, other, action)                                            \
    static bool name(const dt_along *along, pointer array, other values,               \
                     const int64_t *index, int step)                                   \
    {                                                                                  \
        line l = line_of(along);                                                       \
        int64_t place[DT_ALONG_NDIM] = {0};                                            \
        do {                                                                           \
            indices are = look_at(index, l.count, l.length);                           \
            if (are == WRONG)                                                          \
                return false;                                                          \
            if (are == PLAIN && l.scale == 1 && l.step == 0)                           \
                for (int64_t k = 0; k < l.count; k++) {                                \
                    int64_t at = l.base + index[k];                                    \
                    action;                                                            \
                }                                                                      \
            else                                                                       \
                for (int64_t k = 0; k < l.count; k++) {                                \
                    int64_t at = l.base + k * l.step;                                  \
                    at += from_0(index[k], l.length) * l.scale;                        \
                    action;                                                            \
                }                                                                      \
            index += l.count;                                                          \
            values += step * l.count;                                                  \
        } while (go_on(along, &l, place));                                             \
        return true;                                                                   \
    }

#define MOVES(suffix, type)                                                            \
    LINES(take_##suffix, const type *, type *, values[k] = array[at])                  \
    LINES(put_##suffix, type *, const type *, array[at] = values[k * step])
#define ADDS(suffix, type)                                                             \
    LINES(add_##suffix, type *, const type *, array[at] += values[k * step])
#define ADDS_PAIRS(suffix, type)                                                       \
    LINES(add_##suffix, type *, const type *, array[at].re += values[k].re;            \
          array[at].im += values[k].im)

MOVES(1, uint8_t)
MOVES(2, uint16_t)
MOVES(4, uint32_t)
MOVES(8, uint64_t)
MOVES(16, pair64)
ADDS(u8, uint8_t)
ADDS(u16, uint16_t)
ADDS(u32, uint32_t)
ADDS(u64, uint64_t)
ADDS(f32, float)
ADDS(f64, double)
ADDS_PAIRS(c64, pair32)
ADDS_PAIRS(c128, pair64)

/* The one that is more, or NaN. */
#define TAKE_IF(is_more)                                                               \
    if (values[k] is_more array[at] || values[k] != values[k])                         \
    array[at] = values[k]
#define REDUCES(suffix, type)                                                          \
    LINES(max_##suffix, type *, const type *, TAKE_IF(>))                              \
    LINES(min_##suffix, type *, const type *, TAKE_IF(<))                              \
    LINES(multiply_##suffix, type *, const type *, array[at] *= values[k])

REDUCES(f32, float)
REDUCES(f64, double)
REDUCES(i32, int32_t)
REDUCES(i64, int64_t)

bool
dt_along_take(const dt_along *along, void *out, const void *x, const int64_t *index,
              size_t size)
{
    switch (size) {
    case 1:
        return take_1(along, x, out, index, 1);
    case 2:
        return take_2(along, x, out, index, 1);
    case 4:
        return take_4(along, x, out, index, 1);
    case 8:
        return take_8(along, x, out, index, 1);
    default:
        return take_16(along, x, out, index, 1);
    }
}

bool
dt_along_put(const dt_along *along, void *x, const int64_t *index, const void *values,
             int step, size_t size)
{
    switch (size) {
    case 1:
        return put_1(along, x, values, index, step);
    case 2:
        return put_2(along, x, values, index, step);
    case 4:
        return put_4(along, x, values, index, step);
    case 8:
        return put_8(along, x, values, index, step);
    default:
        return put_16(along, x, values, index, step);
    }
}

/* Integers wrap, so that the sign does not matter. */
#define FOR_DTYPES(name)                                                               \
    switch ((int)dtype) {                                                              \
    case DT_INT8:                                                                      \
    case DT_UINT8:                                                                     \
        return name(u8, uint8_t);                                                      \
    case DT_INT16:                                                                     \
    case DT_UINT16:                                                                    \
        return name(u16, uint16_t);                                                    \
    case DT_INT32:                                                                     \
    case DT_UINT32:                                                                    \
        return name(u32, uint32_t);                                                    \
    case DT_INT64:                                                                     \
    case DT_UINT64:                                                                    \
        return name(u64, uint64_t);                                                    \
    case DT_FLOAT32:                                                                   \
        return name(f32, float);                                                       \
    case DT_FLOAT64:                                                                   \
        return name(f64, double);                                                      \
    case DT_COMPLEX64:                                                                 \
        return name(c64, pair32);                                                      \
    case DT_COMPLEX128:                                                                \
        return name(c128, pair64);                                                     \
    default: /* for the others there is no loop here */                                \
        return false;                                                                  \
    }

bool
dt_along_adds(dt_dtype dtype)
{
#define YES(suffix, type) true
    FOR_DTYPES(YES);
}

bool
dt_along_add(const dt_along *along, void *x, const int64_t *index, const void *values,
             dt_dtype dtype)
{
#define ADD(suffix, type) add_##suffix(along, x, values, index, 1)
    FOR_DTYPES(ADD);
}

#define REDUCE(suffix)                                                                 \
    return op == DT_ALONG_MAX   ? max_##suffix(along, x, values, index, 1)             \
           : op == DT_ALONG_MIN ? min_##suffix(along, x, values, index, 1)             \
                                : multiply_##suffix(along, x, values, index, 1)

bool
dt_along_reduce(const dt_along *along, void *x, const int64_t *index,
                const void *values, dt_along_op op, dt_dtype dtype)
{
    if (dtype == DT_FLOAT32)
        REDUCE(f32);
    if (dtype == DT_FLOAT64)
        REDUCE(f64);
    if (dtype == DT_INT32)
        REDUCE(i32);
    if (dtype == DT_INT64)
        REDUCE(i64);
    return false;
}

/* --- whole rows --- */

#define ROWS(suffix, type)                                                             \
    static bool rows_##suffix(type *restrict x, const int64_t *index,                  \
                              const type *restrict values, int64_t outer,              \
                              int64_t length, int64_t count, int64_t inner)            \
    {                                                                                  \
        for (int64_t o = 0; o < outer; o++, x += length * inner)                       \
            for (int64_t k = 0; k < count; k++, values += inner) {                     \
                type *to = x + from_0(index[k], length) * inner;                       \
                for (int64_t i = 0; i < inner; i++)                                    \
                    to[i] += values[i];                                                \
            }                                                                          \
        return true;                                                                   \
    }

ROWS(u8, uint8_t)
ROWS(u16, uint16_t)
ROWS(u32, uint32_t)
ROWS(u64, uint64_t)
ROWS(f32, float)
ROWS(f64, double)

/* Complex numbers are twice as many real ones. */
static bool
rows_c64(void *x, const int64_t *index, const void *values, int64_t outer,
         int64_t length, int64_t count, int64_t inner)
{
    return rows_f32(x, index, values, outer, length, count, 2 * inner);
}

static bool
rows_c128(void *x, const int64_t *index, const void *values, int64_t outer,
          int64_t length, int64_t count, int64_t inner)
{
    return rows_f64(x, index, values, outer, length, count, 2 * inner);
}

bool
dt_rows_add(void *x, const int64_t *index, const void *values, int64_t outer,
            int64_t length, int64_t count, int64_t inner, dt_dtype dtype)
{
    if (look_at(index, count, length) == WRONG)
        return false;
#define ADD_ROWS(suffix, type)                                                         \
    rows_##suffix(x, index, values, outer, length, count, inner)
    FOR_DTYPES(ADD_ROWS);
}
