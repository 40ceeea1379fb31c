/* half_ops.c: what rounds is widened, computed, rounded and looked at block by block, in the
 * cache; what chooses or compares looks at the bits. */
#include "kernels/half_ops.h"

#include "kernels/half.h"
#include "kernels/level.h"
#include "kernels/widen.h"

#include <fenv.h>
#include <math.h>
#include <string.h>

#if defined(__x86_64__)
#include "kernels/level_x86.h"
#endif

enum { BLOCK = 1024, LEVELS = 3 };

typedef void rounding(float *out, const float *a, const float *b, const float *c,
                      int64_t count);
typedef void choosing(uint16_t *out, const uint16_t *a, const uint16_t *b,
                      const uint16_t *c, int64_t count);
typedef void comparing(uint8_t *out, const uint16_t *a, const uint16_t *b,
                       const uint16_t *c, int64_t count);
/* Whether a number has got infinite, and whether one is not 0 and below the normal ones.
 */
typedef bool looking(bool *small, const uint16_t *out, const float *exact,
                     int64_t count);

struct dt_half_op {
    const char *name;
    int operands;
    rounding *rounding[LEVELS]; /* or */
    choosing *choosing[LEVELS]; /* or */
    comparing *comparing[LEVELS];
};

/* --- the functions, for each instruction set --- */

/* In float32: infinity, and the least number that float16 holds as a normal one. */
#define INFINITE UINT32_C(0x7f800000)
#define NORMAL UINT32_C(0x38800000)

/* Integers in the order of the numbers; both zeros are 0. */
static inline int16_t
order(uint16_t x)
{
    int16_t size = (int16_t)(x & 0x7fff);
    return (int16_t)((x & 0x8000) != 0 ? -size : size);
}

static inline bool
is_nan(uint16_t x)
{
    return (x & 0x7fff) > 0x7c00;
}

#define LOOP(name, set, target, type, from, value)                                     \
    target static void name##_##set(type *restrict out, const from *a, const from *b,  \
                                    const from *c, int64_t count)                      \
    {                                                                                  \
        for (int64_t i = 0; i < count; i++) {                                          \
            from x = a[i], y = b[i], z = c[i];                                         \
            (void)y;                                                                   \
            (void)z;                                                                   \
            out[i] = (type)(value);                                                    \
        }                                                                              \
    }

/* By masks, of which compilers make vectors. */
static inline uint16_t
chosen(bool first, uint16_t x, uint16_t y)
{
    uint16_t mask = (uint16_t)-(int)first;
    return (uint16_t)((x & mask) | (y & ~mask));
}

/* The larger and the smaller one; NaN if either is NaN. */
static inline uint16_t
larger(uint16_t x, uint16_t y)
{
    return chosen(is_nan(x) | (!is_nan(y) & (order(x) >= order(y))), x, y);
}

static inline uint16_t
smaller(uint16_t x, uint16_t y)
{
    return chosen(is_nan(x) | (!is_nan(y) & (order(x) <= order(y))), x, y);
}

#define ROUNDING(name, set, target, value) LOOP(name, set, target, float, float, value)
#define CHOOSING(name, set, target, value)                                             \
    LOOP(name, set, target, uint16_t, uint16_t, value)
#define COMPARING(name, set, target, value)                                            \
    LOOP(name, set, target, uint8_t, uint16_t, !is_nan(x) & !is_nan(y) & (value))

#define LOOKING(name, set, target, unused)                                             \
    target static bool name##_##set(bool *small, const uint16_t *restrict out,         \
                                    const float *restrict exact, int64_t count)        \
    {                                                                                  \
        uint32_t over = 0, below = 0;                                                  \
        for (int64_t i = 0; i < count; i++) {                                          \
            uint32_t size = dt_bits_of_float(exact[i]) & 0x7fffffff;                   \
            over |= ((out[i] & 0x7fff) == 0x7c00) & (size < INFINITE);                 \
            below |= size - 1 < NORMAL - 1;                                            \
        }                                                                              \
        *small = below;                                                                \
        return over;                                                                   \
    }

#if defined(__x86_64__)
#define AT_LEVELS(make, name, value)                                                   \
    make(name, base, , value) make(name, avx2, DT_AVX2, value)                         \
        make(name, avx512, DT_AVX512, value)
#define OF_LEVELS(name) {name##_base, name##_avx2, name##_avx512}
#else
#define AT_LEVELS(make, name, value) make(name, base, , value)
#define OF_LEVELS(name) {name##_base, name##_base, name##_base}
#endif

AT_LEVELS(ROUNDING, add, x + y)
AT_LEVELS(ROUNDING, subtract, x - y)
AT_LEVELS(ROUNDING, multiply, (x * y))
AT_LEVELS(ROUNDING, divide, x / y)
AT_LEVELS(ROUNDING, square, (x * x))
AT_LEVELS(ROUNDING, reciprocal, 1.0f / x)
AT_LEVELS(ROUNDING, root, sqrtf(x))
AT_LEVELS(CHOOSING, maximum, larger(x, y))
AT_LEVELS(CHOOSING, minimum, smaller(x, y))
AT_LEVELS(CHOOSING, clip, smaller(larger(x, y), z))
AT_LEVELS(CHOOSING, negative, x ^ 0x8000)
AT_LEVELS(CHOOSING, absolute, x & 0x7fff)
AT_LEVELS(COMPARING, less, order(x) < order(y))
AT_LEVELS(COMPARING, less_equal, order(x) <= order(y))
AT_LEVELS(COMPARING, greater, order(x) > order(y))
AT_LEVELS(COMPARING, greater_equal, order(x) >= order(y))
AT_LEVELS(COMPARING, equal, order(x) == order(y))
AT_LEVELS(LOOKING, look, )

/* It compares, but for NaN, which is equal to nothing. */
#define DIFFERING(name, set, target, unused)                                           \
    LOOP(name, set, target, uint8_t, uint16_t,                                         \
         is_nan(x) | is_nan(y) | (order(x) != order(y)))
AT_LEVELS(DIFFERING, not_equal, )

static const dt_half_op OPS[] = {
    {"add", 2, OF_LEVELS(add), {NULL}, {NULL}},
    {"subtract", 2, OF_LEVELS(subtract), {NULL}, {NULL}},
    {"multiply", 2, OF_LEVELS(multiply), {NULL}, {NULL}},
    {"divide", 2, OF_LEVELS(divide), {NULL}, {NULL}},
    {"square", 1, OF_LEVELS(square), {NULL}, {NULL}},
    {"reciprocal", 1, OF_LEVELS(reciprocal), {NULL}, {NULL}},
    {"sqrt", 1, OF_LEVELS(root), {NULL}, {NULL}},
    {"maximum", 2, {NULL}, OF_LEVELS(maximum), {NULL}},
    {"minimum", 2, {NULL}, OF_LEVELS(minimum), {NULL}},
    {"clip", 3, {NULL}, OF_LEVELS(clip), {NULL}},
    {"negative", 1, {NULL}, OF_LEVELS(negative), {NULL}},
    {"absolute", 1, {NULL}, OF_LEVELS(absolute), {NULL}},
    {"less", 2, {NULL}, {NULL}, OF_LEVELS(less)},
    {"less_equal", 2, {NULL}, {NULL}, OF_LEVELS(less_equal)},
    {"greater", 2, {NULL}, {NULL}, OF_LEVELS(greater)},
    {"greater_equal", 2, {NULL}, {NULL}, OF_LEVELS(greater_equal)},
    {"equal", 2, {NULL}, {NULL}, OF_LEVELS(equal)},
    {"not_equal", 2, {NULL}, {NULL}, OF_LEVELS(not_equal)},
};

static looking *const LOOK[] = OF_LEVELS(look);

const dt_half_op *
dt_half_op_of(const char *name)
{
    for (size_t k = 0; k < sizeof OPS / sizeof *OPS; k++)
        if (strcmp(OPS[k].name, name) == 0)
            return &OPS[k];
    return NULL;
}

int
dt_half_op_operands(const dt_half_op *op)
{
    return op->operands;
}

bool
dt_half_op_compares(const dt_half_op *op)
{
    return op->comparing[0] != NULL;
}

/* --- running them --- */

/* What rounding to float16 raises: conversions by hardware may be silent of it, and those
 * of half.h are. */
static void
raise_flags(const uint16_t *out, const float *exact, int64_t count)
{
    bool small, under = false;
    if (LOOK[dt_level()](&small, out, exact, count))
        feraiseexcept(FE_OVERFLOW);
    for (int64_t i = 0; i < count && small && !under; i++)
        under = (dt_bits_of_float(exact[i]) & 0x7fffffff) < NORMAL &&
                dt_from_float16(out[i]) != exact[i];
    if (under)
        feraiseexcept(FE_UNDERFLOW);
}

/* Arithmetic with a signaling NaN raises a flag, as the processor's conversions do, but not
 * those of half.h, which make it quiet. */
static void
raise_flag_of_nan(const uint16_t *x, int64_t count)
{
    bool signals = false;
    for (int64_t i = 0; i < count; i++)
        signals |= ((x[i] & 0x7e00) == 0x7c00) & ((x[i] & 0x1ff) != 0);
    if (signals)
        feraiseexcept(FE_INVALID);
}

/* Operands that a function does not take are its first one once more. NumPy rounds to
 * bfloat16 without a flag. */
static void
run_rounding(const dt_half_op *op, dt_dtype half, uint16_t *out,
             const uint16_t *const *x, int64_t count)
{
    float wide[2][BLOCK], exact[BLOCK];
    dt_widen(half, wide[0], x[0], count);
    if (x[1] != x[0])
        dt_widen(half, wide[1], x[1], count);
    op->rounding[dt_level()](exact, wide[0], wide[x[1] != x[0]], wide[0], count);
    for (int k = 0; k < 2 && dt_level() == 0 && half == DT_FLOAT16; k++)
        raise_flag_of_nan(x[k], count);
    dt_narrow(half, out, exact, count);
    if (half == DT_FLOAT16)
        raise_flags(out, exact, count);
}

bool
dt_half_op_has(const dt_half_op *op, dt_dtype half)
{
    return half == DT_FLOAT16 || (half == DT_BFLOAT16 && op->rounding[0] != NULL);
}

void
dt_half_op_run(const dt_half_op *op, dt_dtype half, void *out, const uint16_t *const *x,
               const int *step, int64_t count)
{
    int level = dt_level();
    uint16_t same[DT_HALF_OPERANDS][BLOCK]; /* numbers that stay */
    const uint16_t *at[DT_HALF_OPERANDS];
    for (int k = 0; k < op->operands; k++)
        for (int64_t i = 0; i < BLOCK && i < count && step[k] == 0; i++)
            same[k][i] = *x[k];
    for (int64_t begin = 0; begin < count; begin += BLOCK) {
        int64_t n = count - begin < BLOCK ? count - begin : BLOCK;
        for (int k = 0; k < DT_HALF_OPERANDS; k++) {
            int from = k < op->operands ? k : 0;
            at[k] = step[from] == 0 ? same[from] : x[from] + begin;
        }
        if (op->comparing[0] != NULL)
            op->comparing[level]((uint8_t *)out + begin, at[0], at[1], at[2], n);
        else if (op->choosing[0] != NULL) {
            uint16_t chosen_ones[BLOCK]; /* `out` may be an operand */
            op->choosing[level](chosen_ones, at[0], at[1], at[2], n);
            memcpy((uint16_t *)out + begin, chosen_ones, (size_t)n * sizeof *x[0]);
        } else
            run_rounding(op, half, (uint16_t *)out + begin, at, n);
    }
}
