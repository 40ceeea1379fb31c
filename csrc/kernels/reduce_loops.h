/* reduce_loops.h: what reduce_level.c includes once for each instruction set. There
 * LEVEL(name) is the name of a function for that set and TARGET its attribute.
 *
 * LOOP(name, type, expression): out[i] = expression of a = first[i], b = second[i].
 * Where `out` is `first` it has a loop of its own, for compilers to see that no element
 * that is still to be read is written. */

#define LOOP(name, type, expression)                                                   \
    TARGET static void LEVEL(name)(void *out, const void *first, const void *second,   \
                                   int64_t count)                                      \
    {                                                                                  \
        type *o = out;                                                                 \
        const type *x = first, *y = second;                                            \
        if (out == first)                                                              \
            for (int64_t i = 0; i < count; i++) {                                      \
                type a = o[i], b = y[i];                                               \
                o[i] = expression;                                                     \
            }                                                                          \
        else                                                                           \
            for (int64_t i = 0; i < count; i++) {                                      \
                type a = x[i], b = y[i];                                               \
                o[i] = expression;                                                     \
            }                                                                          \
    }

/* Signed numbers wrap as the unsigned ones do. 1u: uint16_t would multiply as int. */
#define WRAPPING(type)                                                                 \
    LOOP(sum_##type, type##_t, (type##_t)(a + b))                                      \
    LOOP(product_##type, type##_t, (type##_t)(1u * a * b))

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
                                   int64_t count)                                      \
    {                                                                                  \
        real *o = out;                                                                 \
        const real *x = first, *y = second;                                            \
        if (out == first)                                                              \
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

#define ALL(sum, product, max, min)                                                    \
    {[DT_SUM] = LEVEL(sum),                                                            \
     [DT_AVG] = LEVEL(sum),                                                            \
     [DT_PRODUCT] = LEVEL(product),                                                    \
     [DT_MAX] = LEVEL(max),                                                            \
     [DT_MIN] = LEVEL(min)}
#define INTEGER_ROW(name, wrapping)                                                    \
    {.combine = ALL(sum_##wrapping, product_##wrapping, max_##name, min_##name)}
#define INEXACT_ROW(name)                                                              \
    {.combine = ALL(sum_##name, product_##name, max_##name, min_##name),               \
     .scale = LEVEL(scale_##name)}
#define HALF_ROW(name)                                                                 \
    {.combine = ALL(sum_float32, product_float32, max_##name, min_##name),             \
     .scale = LEVEL(scale_float32),                                                    \
     .widen = LEVEL(widen_##name),                                                     \
     .narrow = LEVEL(narrow_##name)}

static const dt_reduce_level LEVEL(level) = {
    .rows = {
        [DT_BOOL] = {.combine = ALL(or_bool, and_bool, or_bool, and_bool)},
        [DT_INT8] = INTEGER_ROW(int8, uint8),
        [DT_INT16] = INTEGER_ROW(int16, uint16),
        [DT_INT32] = INTEGER_ROW(int32, uint32),
        [DT_INT64] = INTEGER_ROW(int64, uint64),
        [DT_UINT8] = INTEGER_ROW(uint8, uint8),
        [DT_UINT16] = INTEGER_ROW(uint16, uint16),
        [DT_UINT32] = INTEGER_ROW(uint32, uint32),
        [DT_UINT64] = INTEGER_ROW(uint64, uint64),
        [DT_FLOAT16] = HALF_ROW(float16),
        [DT_BFLOAT16] = HALF_ROW(bfloat16),
        [DT_FLOAT32] = INEXACT_ROW(float32),
        [DT_FLOAT64] = INEXACT_ROW(float64),
        [DT_LONGDOUBLE] = INEXACT_ROW(longdouble),
        [DT_COMPLEX64] = INEXACT_ROW(complex64),
        [DT_COMPLEX128] = INEXACT_ROW(complex128),
        [DT_CLONGDOUBLE] = INEXACT_ROW(clongdouble),
    }};

#undef LOOP
#undef WRAPPING
#undef ORDERED
#undef SCALE
#undef FLOATING
#undef HALF
#undef COMPLEX_LOOP
#undef COMPLEX
#undef ALL
#undef INTEGER_ROW
#undef INEXACT_ROW
#undef HALF_ROW
