/* folds.h: two addends of any dtype become one, element by element and with no regard to
 * speed; numbers of 16 bits and back. */
#ifndef FOLDS_H
#define FOLDS_H

#include "core/facts/reduce_op.h"

#include "check.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

typedef struct {
    int fraction_bits, bias;
} half_format;

static const half_format FLOAT16 = {10, 15}, BFLOAT16 = {7, 127};

static uint32_t
half_infinity(half_format f)
{
    return (uint32_t)(2 * f.bias + 1) << f.fraction_bits;
}

/* The value of a magnitude; at infinity and beyond, what would come after the last. */
static double
half_magnitude(half_format f, uint32_t bits)
{
    int exponent = (int)(bits >> f.fraction_bits);
    uint32_t fraction = bits & ((1u << f.fraction_bits) - 1);
    if (exponent > 0)
        fraction += 1u << f.fraction_bits;
    else
        exponent = 1;
    return ldexp((double)fraction, exponent - f.bias - f.fraction_bits);
}

static float
half_value(half_format f, uint16_t bits)
{
    uint32_t magnitude = bits & 0x7fff, infinity = half_infinity(f);
    double value = magnitude > infinity    ? (double)NAN
                   : magnitude == infinity ? (double)INFINITY
                                           : half_magnitude(f, magnitude);
    return (float)(bits & 0x8000 ? -value : value);
}

/* The nearest one; of two as near, the one that is even. */
static uint16_t
half_nearest(half_format f, float value)
{
    uint16_t sign = signbit(value) ? 0x8000 : 0;
    double magnitude = fabs((double)value);
    uint32_t low = 0, high = half_infinity(f); /* low <= magnitude < high */
    if (isnan(value))
        return (uint16_t)(sign | (high + 1));
    if (magnitude >= half_magnitude(f, high))
        return (uint16_t)(sign | high);
    while (high - low > 1) {
        uint32_t middle = (low + high) / 2;
        *(half_magnitude(f, middle) <= magnitude ? &low : &high) = middle;
    }
    double below = magnitude - half_magnitude(f, low);
    double above = half_magnitude(f, high) - magnitude;
    bool up = above < below || (above == below && low % 2 == 1);
    return (uint16_t)(sign | (up ? high : low));
}

typedef void fold(void *sum, const void *addend, dt_reduce_op op);

#define FOLD(name, type, sum_of, product_of, max_of, min_of, bits_of)                  \
    static void fold_##name(void *sum, const void *addend, dt_reduce_op op)            \
    {                                                                                  \
        type a, b;                                                                     \
        memcpy(&a, sum, sizeof a);                                                     \
        memcpy(&b, addend, sizeof b);                                                  \
        switch (op) {                                                                  \
        case DT_SUM:                                                                   \
        case DT_AVG:                                                                   \
            a = sum_of;                                                                \
            break;                                                                     \
        case DT_PRODUCT:                                                               \
            a = product_of;                                                            \
            break;                                                                     \
        case DT_MAX:                                                                   \
            a = max_of;                                                                \
            break;                                                                     \
        case DT_MIN:                                                                   \
            a = min_of;                                                                \
            break;                                                                     \
        case DT_BITWISE_OR:                                                            \
            a = bits_of(type, a, |, b);                                                \
            break;                                                                     \
        }                                                                              \
        memcpy(sum, &a, sizeof a);                                                     \
    }

#define BITS(type, a, sign, b) ((type)((uint64_t)(a)sign(uint64_t)(b)))
#define NO_BITS(type, a, sign, b) (a)
#define INTEGER(name, type)                                                            \
    FOLD(name, type, (type)((uint64_t)a + (uint64_t)b),                                \
         (type)((uint64_t)a * (uint64_t)b), a > b ? a : b, a < b ? a : b, BITS)

#define PICK(a_nan, b_nan, a_wins) (a_nan) || (!(b_nan) && (a_wins)) ? a : b

/* `greater` and `less` say which of two equal zeros wins. */
#define REAL(name, type, greater, less)                                                \
    FOLD(name, type, (a + b), (a * b), PICK(isnan(a), isnan(b), a greater b),          \
         PICK(isnan(a), isnan(b), a less b), NO_BITS)

#define COMPLEX(name, real)                                                            \
    typedef struct {                                                                   \
        real re, im;                                                                   \
    } name;                                                                            \
                                                                                       \
    static bool name##_is_one(name a)                                                  \
    {                                                                                  \
        return a.re == 1 && a.im == 0 && !signbit(a.im);                               \
    }                                                                                  \
                                                                                       \
    static bool name##_is_nan(name a)                                                  \
    {                                                                                  \
        return isnan(a.re) || isnan(a.im);                                             \
    }                                                                                  \
                                                                                       \
    static name name##_times(name a, name b)                                           \
    {                                                                                  \
        if (name##_is_one(a) || name##_is_one(b))                                      \
            return name##_is_one(a) ? b : a;                                           \
        return (name){a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};           \
    }                                                                                  \
                                                                                       \
    /* 1 if a comes after b, -1 if before, 0 if they are equal. */                     \
    static int name##_order(name a, name b)                                            \
    {                                                                                  \
        int re = (a.re > b.re) - (a.re < b.re);                                        \
        return re != 0 ? re : (a.im > b.im) - (a.im < b.im);                           \
    }                                                                                  \
                                                                                       \
    FOLD(name, name, ((name){a.re + b.re, a.im + b.im}), name##_times(a, b),           \
         PICK(name##_is_nan(a), name##_is_nan(b), name##_order(a, b) >= 0),            \
         PICK(name##_is_nan(a), name##_is_nan(b), name##_order(a, b) <= 0), NO_BITS)

FOLD(bool, uint8_t, (a | b), (a & b), (a | b), (a & b), BITS)
INTEGER(int8, int8_t)
INTEGER(int16, int16_t)
INTEGER(int32, int32_t)
INTEGER(int64, int64_t)
INTEGER(uint8, uint8_t)
INTEGER(uint16, uint16_t)
INTEGER(uint32, uint32_t)
INTEGER(uint64, uint64_t)
REAL(float32, float, >, <)
REAL(float64, double, >, <)
REAL(longdouble, long double, >=, <=)
COMPLEX(complex64, float)
COMPLEX(complex128, double)
COMPLEX(clongdouble, long double)

/* Of halves, the sum is a float32; max and min are bits. */
#define HALF(name, format, greater, less)                                              \
    static void fold_##name(void *sum, const void *addend, dt_reduce_op op)            \
    {                                                                                  \
        uint16_t a, b;                                                                 \
        memcpy(&a, sum, sizeof a);                                                     \
        memcpy(&b, addend, sizeof b);                                                  \
        float x = half_value(format, a), y = half_value(format, b);                    \
        a = PICK(isnan(x), isnan(y), op == DT_MAX ? x greater y : x less y);           \
        memcpy(sum, &a, sizeof a);                                                     \
    }

HALF(float16, FLOAT16, >=, <=)
HALF(bfloat16, BFLOAT16, >, <)

static fold *const FOLDS[] = {
    [DT_BOOL] = fold_bool,
    [DT_INT8] = fold_int8,
    [DT_INT16] = fold_int16,
    [DT_INT32] = fold_int32,
    [DT_INT64] = fold_int64,
    [DT_UINT8] = fold_uint8,
    [DT_UINT16] = fold_uint16,
    [DT_UINT32] = fold_uint32,
    [DT_UINT64] = fold_uint64,
    [DT_FLOAT16] = fold_float16,
    [DT_BFLOAT16] = fold_bfloat16,
    [DT_FLOAT32] = fold_float32,
    [DT_FLOAT64] = fold_float64,
    [DT_LONGDOUBLE] = fold_longdouble,
    [DT_COMPLEX64] = fold_complex64,
    [DT_COMPLEX128] = fold_complex128,
    [DT_CLONGDOUBLE] = fold_clongdouble,
};

#endif
