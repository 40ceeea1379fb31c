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
 * and it ends with `static const loops K(TABLE) = {...}`. Its macros may stay defined, if
 * they are the same each time. The levels differ by the width of their vectors and by
 * the fused multiply-add: by a few roundings in what they give. One level gives the
 * same bits for an element wherever it stands in the array. */
#ifndef DT_LEVELS_H
#define DT_LEVELS_H

#include "kernels/level.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

#if defined(__x86_64__)
#include "kernels/level_x86.h"
#endif

#define K_PASTE(a, b, c) a##b##c
#define K_OF(a, b, c) K_PASTE(a, b, c)
#define K(name) K_OF(name##_f, PRECISION, SET)

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

#define TARGET
#define VECTOR_BYTES 16
#define SET _base
#include "kernels/level_loops.h"

#if defined(__x86_64__)

#define TARGET DT_AVX2
#define VECTOR_BYTES 32
#define SET _avx2
#define V_X86(name) K_OF(_mm256_##name, _, V_SUFFIX)
#include "kernels/level_loops.h"

#define TARGET DT_AVX512
#define VECTOR_BYTES 64
#define SET _avx512
#define V_X86(name) K_OF(_mm512_##name, _, V_SUFFIX)
#include "kernels/level_loops.h"

#endif

#undef LOOPS
