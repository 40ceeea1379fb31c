/* reduce_loops.h: what reduce_level.c includes once for each instruction set. There
 * LEVEL(name) is the name of a function for that set and TARGET its attribute.
 *
 * LOOP(name, type, expression): out[i] = expression of a = first[i], b = second[i].
 * Where `out` is `first` it has a loop of its own, for compilers to see that no element
 * that is still to be read is written. */

#define LOOP(name, type, expression)                                                   \
    static inline type LEVEL(one_##name)(type a, type b)                               \
    {                                                                                  \
        return expression;                                                             \
    }                                                                                  \
                                                                                       \
    TARGET static void LEVEL(four_##name)(                                             \
        type *restrict o, const type *x, const type *restrict y,                       \
        const type *restrict z, const type *restrict w, int64_t count)                 \
    {                                                                                  \
        if (o == x)                                                                    \
            for (int64_t i = 0; i < count; i++)                                        \
                o[i] = LEVEL(one_##name)(LEVEL(one_##name)(o[i], y[i]),                \
                                         LEVEL(one_##name)(z[i], w[i]));               \
        else                                                                           \
            for (int64_t i = 0; i < count; i++)                                        \
                o[i] = LEVEL(one_##name)(LEVEL(one_##name)(x[i], y[i]),                \
                                         LEVEL(one_##name)(z[i], w[i]));               \
    }                                                                                  \
                                                                                       \
    TARGET static void LEVEL(name)(void *out, const void *first, const void *second,   \
                                   const void *third, const void *fourth,              \
                                   int64_t count)                                      \
    {                                                                                  \
        type *o = out;                                                                 \
        const type *x = first, *y = second;                                            \
        if (third != NULL)                                                             \
            LEVEL(four_##name)(o, x, y, third, fourth, count);                         \
        else if (out == first)                                                         \
            for (int64_t i = 0; i < count; i++)                                        \
                o[i] = LEVEL(one_##name)(o[i], y[i]);                                  \
        else                                                                           \
            for (int64_t i = 0; i < count; i++)                                        \
                o[i] = LEVEL(one_##name)(x[i], y[i]);                                  \
    }

/* Signed numbers wrap as the unsigned ones do. 1u: uint16_t would multiply as int. */
#define WRAPPING(type)                                                                 \
    LOOP(sum_##type, type##_t, (type##_t)(a + b))                                      \
    LOOP(product_##type, type##_t, (type##_t)(1u * a * b))                             \
    LOOP(bitwise_or_##type, type##_t, (type##_t)(a | b))

#define ORDERED(type)                                                                  \
    LOOP(max_##type, type##_t, a > b ? a : b)                                          \
    LOOP(min_##type, type##_t, a < b ? a : b)

#define SCALE(name, real, factor)                                                      \
    TARGET static void LEVEL(scale_##name)(void *out, int64_t divisor, int64_t count)  \
    {                                                                                  \
        real *o = out, by = (real)divisor;                                             \
        for (int64_t i = 0; i < factor * count; i++)                                   \
            o[i] /= by;                                                                \
    }

#define FLOATING(name, real, greater, less)                                            \
    LOOP(sum_##name, real, (a + b))                                                    \
    LOOP(product_##name, real, (a * b))                                                \
    LOOP(max_##name, real, a != a ? a : (a greater b ? a : b))                         \
    LOOP(min_##name, real, a != a ? a : (a less b ? a : b))                            \
    SCALE(name, real, 1)

/* Of a number of 16 bits only the order is looked at. */
#define HALF(name, infinity, greater, less)                                            \
    LOOP(max_##name, uint16_t, HALF_WINS(a, greater, b, infinity) ? a : b)             \
    LOOP(min_##name, uint16_t, HALF_WINS(a, less, b, infinity) ? a : b)

/* Of a complex number the parts are loaded one by one: of a struct compilers make no
 * vectors. */
#define COMPLEX_LOOP(name, real, operation)                                            \
    TARGET static void LEVEL(name)(void *out, const void *first, const void *second,   \
                                   const void *third, const void *fourth,              \
                                   int64_t count)                                      \
    {                                                                                  \
        real *o = out;                                                                 \
        const real *x = first, *y = second, *z = third, *w = fourth;                   \
        if (z != NULL)                                                                 \
            for (int64_t i = 0; i < 2 * count; i += 2) {                               \
                real left[2], right[2];                                                \
                operation(left, x + i, y + i);                                         \
                operation(right, z + i, w + i);                                        \
                operation(o + i, left, right);                                         \
            }                                                                          \
        else if (out == first)                                                         \
            for (int64_t i = 0; i < 2 * count; i += 2)                                 \
                operation(o + i, o + i, y + i);                                        \
        else                                                                           \
            for (int64_t i = 0; i < 2 * count; i += 2)                                 \
                operation(o + i, x + i, y + i);                                        \
    }

#define COMPLEX(name, real)                                                            \
    COMPLEX_LOOP(sum_##name, real, name##_sum)                                         \
    COMPLEX_LOOP(product_##name, real, name##_product)                                 \
    COMPLEX_LOOP(max_##name, real, name##_max)                                         \
    COMPLEX_LOOP(min_##name, real, name##_min)                                         \
    SCALE(name, real, 2)

WRAPPING(uint8)
WRAPPING(uint16)
WRAPPING(uint32)
WRAPPING(uint64)
ORDERED(int8)
ORDERED(int16)
ORDERED(int32)
ORDERED(int64)
ORDERED(uint8)
ORDERED(uint16)
ORDERED(uint32)
ORDERED(uint64)
LOOP(or_bool, uint8_t, (uint8_t)((a | b) != 0))
LOOP(and_bool, uint8_t, (uint8_t)((a != 0) & (b != 0)))
/* Of equal zeros NumPy takes the second in float32 and float64 and the first in other
 * dtypes; ml_dtypes, whose bfloat16 is NumPy's, takes the second. */
FLOATING(float32, float, >, <)
FLOATING(float64, double, >, <)
FLOATING(longdouble, long double, >=, <=)
HALF(float16, 0x7c00, >=, <=)
HALF(bfloat16, 0x7f80, >, <)
COMPLEX(complex64, float)
COMPLEX(complex128, double)
COMPLEX(clongdouble, long double)

TARGET static void
LEVEL(widen_float16)(float *out, const uint16_t *in, int64_t count)
{
    int64_t i = 0;
#if defined(LEVEL_F16C)
    for (; i + 8 <= count; i += 8) {
        __m128i half = _mm_loadu_si128((const __m128i *)(const void *)(in + i));
        _mm256_storeu_ps(out + i, _mm256_cvtph_ps(half));
    }
#endif
    for (; i < count; i++)
        out[i] = dt_from_float16(in[i]);
}

TARGET static void
LEVEL(narrow_float16)(uint16_t *out, const float *in, int64_t count)
{
    int64_t i = 0;
#if defined(LEVEL_F16C)
    for (; i + 8 <= count; i += 8) {
        __m128i half =
            _mm256_cvtps_ph(_mm256_loadu_ps(in + i), _MM_FROUND_TO_NEAREST_INT);
        _mm_storeu_si128((__m128i *)(void *)(out + i), half);
    }
#endif
    for (; i < count; i++)
        out[i] = dt_to_float16(in[i]);
}

TARGET static void
LEVEL(widen_bfloat16)(float *out, const uint16_t *in, int64_t count)
{
    for (int64_t i = 0; i < count; i++)
        out[i] = dt_from_bfloat16(in[i]);
}

TARGET static void
LEVEL(narrow_bfloat16)(uint16_t *out, const float *in, int64_t count)
{
    for (int64_t i = 0; i < count; i++)
        out[i] = dt_to_bfloat16(in[i]);
}

/* Tables of loops: the loop of each dtype. Signed numbers are computed as unsigned. */
#define COMPUTED(op)                                                                   \
    [DT_INT8] = LEVEL(op##_uint8), [DT_INT16] = LEVEL(op##_uint16),                    \
    [DT_INT32] = LEVEL(op##_uint32), [DT_INT64] = LEVEL(op##_uint64),                  \
    [DT_UINT8] = LEVEL(op##_uint8), [DT_UINT16] = LEVEL(op##_uint16),                  \
    [DT_UINT32] = LEVEL(op##_uint32), [DT_UINT64] = LEVEL(op##_uint64)
#define SELECTED(op)                                                                   \
    [DT_INT8] = LEVEL(op##_int8), [DT_INT16] = LEVEL(op##_int16),                      \
    [DT_INT32] = LEVEL(op##_int32), [DT_INT64] = LEVEL(op##_int64),                    \
    [DT_UINT8] = LEVEL(op##_uint8), [DT_UINT16] = LEVEL(op##_uint16),                  \
    [DT_UINT32] = LEVEL(op##_uint32), [DT_UINT64] = LEVEL(op##_uint64)
#define INEXACT(op)                                                                    \
    [DT_FLOAT32] = LEVEL(op##_float32), [DT_FLOAT64] = LEVEL(op##_float64),            \
    [DT_LONGDOUBLE] = LEVEL(op##_longdouble), [DT_COMPLEX64] = LEVEL(op##_complex64),  \
    [DT_COMPLEX128] = LEVEL(op##_complex128),                                          \
    [DT_CLONGDOUBLE] = LEVEL(op##_clongdouble)
#define WIDENED(op)                                                                    \
    [DT_FLOAT16] = LEVEL(op##_float32), [DT_BFLOAT16] = LEVEL(op##_float32)
#define HALVES(op)                                                                     \
    [DT_FLOAT16] = LEVEL(op##_float16), [DT_BFLOAT16] = LEVEL(op##_bfloat16)
#define LOOPS(name, ...)                                                               \
    static dt_combine *const LEVEL(name)[DT_DTYPE_COUNT] = {__VA_ARGS__};

LOOPS(loops_SUM, [DT_BOOL] = LEVEL(or_bool), COMPUTED(sum), INEXACT(sum), WIDENED(sum))
LOOPS(loops_AVG, INEXACT(sum), WIDENED(sum))
LOOPS(loops_PRODUCT, [DT_BOOL] = LEVEL(and_bool), COMPUTED(product), INEXACT(product),
      WIDENED(product))
LOOPS(loops_MAX, [DT_BOOL] = LEVEL(or_bool), SELECTED(max), INEXACT(max), HALVES(max))
LOOPS(loops_MIN, [DT_BOOL] = LEVEL(and_bool), SELECTED(min), INEXACT(min), HALVES(min))
LOOPS(loops_BITWISE_OR, [DT_BOOL] = LEVEL(or_bool), COMPUTED(bitwise_or))

#define LOOPS_OF(op, ...) [DT_##op] = LEVEL(loops_##op),
#define SCALE_ROW(name) {.scale = LEVEL(scale_##name)}
#define HALF_ROW(name)                                                                 \
    {.scale = LEVEL(scale_float32),                                                    \
     .widen = LEVEL(widen_##name),                                                     \
     .narrow = LEVEL(narrow_##name)}

static const dt_reduce_level LEVEL(level) = {
    .combine = {DT_REDUCE_OPS(LOOPS_OF)},
    .rows = {
        [DT_FLOAT16] = HALF_ROW(float16),
        [DT_BFLOAT16] = HALF_ROW(bfloat16),
        [DT_FLOAT32] = SCALE_ROW(float32),
        [DT_FLOAT64] = SCALE_ROW(float64),
        [DT_LONGDOUBLE] = SCALE_ROW(longdouble),
        [DT_COMPLEX64] = SCALE_ROW(complex64),
        [DT_COMPLEX128] = SCALE_ROW(complex128),
        [DT_CLONGDOUBLE] = SCALE_ROW(clongdouble),
    }};
