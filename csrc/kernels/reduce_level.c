#include "kernels/reduce_level.h"

#include "kernels/half.h"

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#if defined(__x86_64__)
#include <cpuid.h>
#include <immintrin.h>
#endif

/* The bits of a number of 16 bits, as an integer of the same order; both zeros are 0.
 */
static inline int16_t
half_key(uint16_t half)
{
    int16_t magnitude = half & 0x7fff;
    return half & 0x8000 ? (int16_t)-magnitude : magnitude;
}

#define HALF_NAN(a, infinity) (((a) & 0x7fff) > (infinity))
#define HALF_WINS(a, compare, b, infinity)                                             \
    (HALF_NAN(a, infinity) |                                                           \
     ((half_key(a) compare half_key(b)) & !HALF_NAN(b, infinity)))

/* first ? a : b, and whether a is 0.0 and not -0.0, by bits: compilers would branch
 * around what is not chosen, as its arithmetic could trap, and make no vectors. */
#define BITS_OF(name, real, word)                                                      \
    static inline real name##_pick(bool first, real a, real b)                         \
    {                                                                                  \
        word x, y, mask = (word)(-(word)first);                                        \
        memcpy(&x, &a, sizeof x);                                                      \
        memcpy(&y, &b, sizeof y);                                                      \
        x = (x & mask) | (y & ~mask);                                                  \
        memcpy(&a, &x, sizeof x);                                                      \
        return a;                                                                      \
    }                                                                                  \
                                                                                       \
    static inline bool name##_is_zero(real a)                                          \
    {                                                                                  \
        word x;                                                                        \
        memcpy(&x, &a, sizeof x);                                                      \
        return x == 0;                                                                 \
    }

BITS_OF(complex64, float, uint32_t)
BITS_OF(complex128, double, uint64_t)

static inline long double
clongdouble_pick(bool first, long double a, long double b)
{
    return first ? a : b;
}

static inline bool
clongdouble_is_zero(long double a)
{
    return a == 0 && !__builtin_signbit(a);
}

/* `product` gives an operand itself where the other is 1 + 0j: by the formula, inf and
 * nan would spoil both parts, and the identity of a product would be none. `max` has
 * NumPy's order: a NaN in either part first, then by real parts, then imaginary ones.
 */
#define COMPLEX_TYPE(name, real)                                                       \
    static inline void name##_sum(real *out, const real *a, const real *b)             \
    {                                                                                  \
        real re = a[0] + b[0], im = a[1] + b[1];                                       \
        out[0] = re;                                                                   \
        out[1] = im;                                                                   \
    }                                                                                  \
                                                                                       \
    static inline void name##_product(real *out, const real *a, const real *b)         \
    {                                                                                  \
        real ar = a[0], ai = a[1], br = b[0], bi = b[1];                               \
        real re = ar * br - ai * bi, im = ar * bi + ai * br;                           \
        bool a_one = (ar == 1) & name##_is_zero(ai);                                   \
        bool b_one = (br == 1) & name##_is_zero(bi);                                   \
        re = name##_pick(a_one, br, re);                                               \
        im = name##_pick(a_one, bi, im);                                               \
        out[0] = name##_pick(b_one, ar, re);                                           \
        out[1] = name##_pick(b_one, ai, im);                                           \
    }                                                                                  \
                                                                                       \
    static inline void name##_choose(real *out, const real *a, const real *b,          \
                                     real sign)                                        \
    {                                                                                  \
        real ar = a[0], ai = a[1], br = b[0], bi = b[1];                               \
        bool nan = (ar != ar) | (ai != ai);                                            \
        bool real_part = (sign * ar > sign * br) & (bi == bi);                         \
        bool imaginary_part = (ar == br) & (sign * ai >= sign * bi);                   \
        bool first = nan | real_part | imaginary_part;                                 \
        out[0] = first ? ar : br;                                                      \
        out[1] = first ? ai : bi;                                                      \
    }                                                                                  \
                                                                                       \
    static inline void name##_max(real *out, const real *a, const real *b)             \
    {                                                                                  \
        name##_choose(out, a, b, 1);                                                   \
    }                                                                                  \
                                                                                       \
    static inline void name##_min(real *out, const real *a, const real *b)             \
    {                                                                                  \
        name##_choose(out, a, b, -1);                                                  \
    }

COMPLEX_TYPE(complex64, float)
COMPLEX_TYPE(complex128, double)
COMPLEX_TYPE(clongdouble, long double)

#define TARGET
#define LEVEL(name) name##_base
#include "kernels/reduce_loops.h"
#undef TARGET
#undef LEVEL

#if defined(__x86_64__)
#define TARGET __attribute__((target("avx2,f16c")))
#define LEVEL(name) name##_avx2
#define LEVEL_F16C
#include "kernels/reduce_loops.h"
#endif

static const dt_reduce_level *const LEVELS[] = {
    &level_base,
#if defined(__x86_64__)
    &level_avx2,
#endif
};

static int level_count = 1;

/* Asked once, for in a virtual machine the question takes microseconds. Compilers do
 * not agree on whether __builtin_cpu_supports knows f16c. */
#if defined(__x86_64__)
__attribute__((constructor)) static void
count_levels(void)
{
    unsigned a, b, c = 0, d;
    __builtin_cpu_init();
    __get_cpuid(1, &a, &b, &c, &d);
    if (__builtin_cpu_supports("avx2") && (c & bit_F16C) != 0)
        level_count = 2;
}
#endif

const dt_reduce_level *
dt_reduce_level_at(int index)
{
    return index < level_count ? LEVELS[index] : NULL;
}

const dt_reduce_level *
dt_reduce_level_best(void)
{
    return LEVELS[level_count - 1];
}
