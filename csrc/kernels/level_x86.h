/* level_x86.h: what levels.h needs of the vectors of x86-64. */
#ifndef DT_LEVEL_X86_H
#define DT_LEVEL_X86_H

#include <immintrin.h>

#define DT_AVX2 __attribute__((target("avx2,fma")))
#define DT_AVX512 __attribute__((target("avx512f,avx512dq,avx512vl,avx512bw,fma")))

/* All lanes together by `op` (add, max), in halves. */
#define DT_FOLD(op)                                                                    \
    DT_AVX2 static inline float dt_##op##_f32_avx2(__m256 x)                           \
    {                                                                                  \
        __m128 y =                                                                     \
            _mm_##op##_ps(_mm256_castps256_ps128(x), _mm256_extractf128_ps(x, 1));     \
        y = _mm_##op##_ps(y, _mm_movehl_ps(y, y));                                     \
        return _mm_cvtss_f32(_mm_##op##_ss(y, _mm_shuffle_ps(y, y, 1)));               \
    }                                                                                  \
                                                                                       \
    DT_AVX2 static inline double dt_##op##_f64_avx2(__m256d x)                         \
    {                                                                                  \
        __m128d y =                                                                    \
            _mm_##op##_pd(_mm256_castpd256_pd128(x), _mm256_extractf128_pd(x, 1));     \
        return _mm_cvtsd_f64(_mm_##op##_sd(y, _mm_unpackhi_pd(y, y)));                 \
    }                                                                                  \
                                                                                       \
    DT_AVX512 static inline float dt_##op##_f32_avx512(__m512 x)                       \
    {                                                                                  \
        return dt_##op##_f32_avx2(_mm256_##op##_ps(_mm512_castps512_ps256(x),          \
                                                   _mm512_extractf32x8_ps(x, 1)));     \
    }                                                                                  \
                                                                                       \
    DT_AVX512 static inline double dt_##op##_f64_avx512(__m512d x)                     \
    {                                                                                  \
        return dt_##op##_f64_avx2(_mm256_##op##_pd(_mm512_castpd512_pd256(x),          \
                                                   _mm512_extractf64x4_pd(x, 1)));     \
    }

DT_FOLD(add)
DT_FOLD(max)

#undef DT_FOLD

#endif
