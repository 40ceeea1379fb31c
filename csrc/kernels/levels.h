/* levels.h: compiles the loops of a family of kernels for every instruction set, in
 * float32 and in float64, and says which ones this machine runs.
 *
 *     typedef struct { void (*softmax)(...); } loops;       softmax.c
 *     #define LOOPS "kernels/softmax_loops.h"
 *     #include "kernels/levels.h"
 *     static const loops *const TABLE[][2] = DT_LEVELS(TABLE);
 *     ... TABLE[dt_level()][dtype == DT_FLOAT64]->softmax(...)
 *
 * In LOOPS, which is included six times after vmath.h, are
 *
 *     REAL       float or double
 *     K(name)    the name of a static function or table of this inclusion
 *     TARGET     the attribute that each function has
 *     PRECISION  32 or 64, for #if; LANES: how many REAL a vector has
 *
 * and it ends with `static const loops K(TABLE) = {...}`. The levels differ by the
 * width of their vectors and by the fused multiply-add: by a few roundings in what they
 * give. One level gives the same bits for an element wherever it stands in the array.
 */
#ifndef DT_LEVELS_H
#define DT_LEVELS_H

#include "kernels/level.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

#if defined(__x86_64__)
#include "kernels/level_x86.h"
#endif

#define K_PASTE(name, suffix) name##suffix
#define K_OF(name, suffix) K_PASTE(name, suffix)

#if defined(__x86_64__)
#define DT_LEVELS(table)                                                               \
    {                                                                                  \
        {&table##_f32_base, &table##_f64_base},                                        \
            {&table##_f32_avx2, &table##_f64_avx2},                                    \
        {                                                                              \
            &table##_f32_avx512, &table##_f64_avx512                                   \
        }                                                                              \
    }
#else
#define DT_LEVELS(table)                                                               \
    {                                                                                  \
        {                                                                              \
            &table##_f32_base, &table##_f64_base                                       \
        }                                                                              \
    }
#endif

#endif

#if !defined(LOOPS)
#error "levels.h: LOOPS is the file to compile"
#endif

/* --- any machine: vectors of 16 bytes, which compilers know how to make --- */

#define TARGET
#define VECTOR_BYTES 16

#define REAL float
#define PRECISION 32
#define K(name) name##_f32_base
#define V_FMA(a, b, c) ((a) * (b) + (c))
#define V_MAX(a, b) v_select((a) > (b), a, b)
#define V_MIN(a, b) v_select((a) < (b), a, b)
#define V_SUM(x) v_fold_sum(x)
#define V_TOP(x) v_fold_max(x)
#include "kernels/vmath.h"
#include LOOPS
#undef REAL
#undef PRECISION
#undef K
#undef V_FMA
#undef V_MAX
#undef V_MIN
#undef V_SUM
#undef V_TOP

#define REAL double
#define PRECISION 64
#define K(name) name##_f64_base
#define V_FMA(a, b, c) ((a) * (b) + (c))
#define V_MAX(a, b) v_select((a) > (b), a, b)
#define V_MIN(a, b) v_select((a) < (b), a, b)
#define V_SUM(x) v_fold_sum(x)
#define V_TOP(x) v_fold_max(x)
#include "kernels/vmath.h"
#include LOOPS
#undef REAL
#undef PRECISION
#undef K
#undef V_FMA
#undef V_MAX
#undef V_MIN
#undef V_SUM
#undef V_TOP

#undef TARGET
#undef VECTOR_BYTES

#if defined(__x86_64__)

/* --- AVX2 with FMA --- */

#define TARGET DT_AVX2
#define VECTOR_BYTES 32

#define REAL float
#define PRECISION 32
#define K(name) name##_f32_avx2
#define V_FMA(a, b, c) _mm256_fmadd_ps(a, b, c)
#define V_MAX(a, b) _mm256_max_ps(a, b)
#define V_MIN(a, b) _mm256_min_ps(a, b)
#define V_SUM(x) dt_add_f32_avx2(x)
#define V_TOP(x) dt_max_f32_avx2(x)
#include "kernels/vmath.h"
#include LOOPS
#undef REAL
#undef PRECISION
#undef K
#undef V_FMA
#undef V_MAX
#undef V_MIN
#undef V_SUM
#undef V_TOP

#define REAL double
#define PRECISION 64
#define K(name) name##_f64_avx2
#define V_FMA(a, b, c) _mm256_fmadd_pd(a, b, c)
#define V_MAX(a, b) _mm256_max_pd(a, b)
#define V_MIN(a, b) _mm256_min_pd(a, b)
#define V_SUM(x) dt_add_f64_avx2(x)
#define V_TOP(x) dt_max_f64_avx2(x)
#include "kernels/vmath.h"
#include LOOPS
#undef REAL
#undef PRECISION
#undef K
#undef V_FMA
#undef V_MAX
#undef V_MIN
#undef V_SUM
#undef V_TOP

#undef TARGET
#undef VECTOR_BYTES

/* --- AVX-512 --- */

#define TARGET DT_AVX512
#define VECTOR_BYTES 64

#define REAL float
#define PRECISION 32
#define K(name) name##_f32_avx512
#define V_FMA(a, b, c) _mm512_fmadd_ps(a, b, c)
#define V_MAX(a, b) _mm512_max_ps(a, b)
#define V_MIN(a, b) _mm512_min_ps(a, b)
#define V_SUM(x) dt_add_f32_avx512(x)
#define V_TOP(x) dt_max_f32_avx512(x)
#include "kernels/vmath.h"
#include LOOPS
#undef REAL
#undef PRECISION
#undef K
#undef V_FMA
#undef V_MAX
#undef V_MIN
#undef V_SUM
#undef V_TOP

#define REAL double
#define PRECISION 64
#define K(name) name##_f64_avx512
#define V_FMA(a, b, c) _mm512_fmadd_pd(a, b, c)
#define V_MAX(a, b) _mm512_max_pd(a, b)
#define V_MIN(a, b) _mm512_min_pd(a, b)
#define V_SUM(x) dt_add_f64_avx512(x)
#define V_TOP(x) dt_max_f64_avx512(x)
#include "kernels/vmath.h"
#include LOOPS
#undef REAL
#undef PRECISION
#undef K
#undef V_FMA
#undef V_MAX
#undef V_MIN
#undef V_SUM
#undef V_TOP

#undef TARGET
#undef VECTOR_BYTES

#endif

#undef LOOPS
