#include "kernels/reduce_level.h"

#include "kernels/half.h"

#include <stdbool.h>
#include <stddef.h>

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

/* `product` returns an operand itself where the other is 1 + 0j: by the formula, inf
 * and nan would spoil both parts, and the identity of a product would be none. `wins`
 * is NumPy's order: a NaN in either part first, then real parts, then imaginary ones.
 */
#define COMPLEX_TYPE(name, real)                                                       \
    typedef struct {                                                                   \
        real re, im;                                                                   \
    } name;                                                                            \
                                                                                       \
    static inline name name##_sum(name a, name b)                                      \
    {                                                                                  \
        return (name){a.re + b.re, a.im + b.im};                                       \
    }                                                                                  \
                                                                                       \
    static inline bool name##_is_one(name a)                                           \
    {                                                                                  \
        return (a.re == 1) & (a.im == 0) & !__builtin_signbit(a.im);                   \
    }                                                                                  \
                                                                                       \
    static inline name name##_product(name a, name b)                                  \
    {                                                                                  \
        name c = {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};               \
        c = name##_is_one(a) ? b : c;                                                  \
        return name##_is_one(b) ? a : c;                                               \
    }                                                                                  \
                                                                                       \
    static inline bool name##_wins(name a, name b, bool least)                         \
    {                                                                                  \
        bool nan = (a.re != a.re) | (a.im != a.im);                                    \
        bool first = least ? a.re < b.re : a.re > b.re;                                \
        bool second = least ? a.im <= b.im : a.im >= b.im;                             \
        return nan | (first & (b.im == b.im)) | ((a.re == b.re) & second);             \
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
