#include "kernels/reduce.h"
#include "kernels/reduce_level.h"

#include "check.h"

#include <float.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_ADDENDS = 5, MAX_COUNT = 2600, MAX_SIZE = 32 };

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

/* Of what real numbers an element is made: 2 of a complex one. */
static dt_dtype
part_of(dt_dtype dtype, int *count)
{
    *count = dt_dtype_kind(dtype) == 'c' ? 2 : 1;
    return *count == 1 ? dtype : (dt_dtype)(dtype - DT_COMPLEX64 + DT_FLOAT32);
}

static const half_format *
half_of(dt_dtype dtype)
{
    return dtype == DT_FLOAT16 ? &FLOAT16 : dtype == DT_BFLOAT16 ? &BFLOAT16 : NULL;
}

static long double
read_real(dt_dtype dtype, const void *at)
{
    float single;
    double twice;
    long double longest;
    uint16_t half;
    if (half_of(dtype) != NULL) {
        memcpy(&half, at, sizeof half);
        return (long double)half_value(*half_of(dtype), half);
    }
    if (dtype == DT_FLOAT32) {
        memcpy(&single, at, sizeof single);
        return (long double)single;
    }
    if (dtype == DT_FLOAT64) {
        memcpy(&twice, at, sizeof twice);
        return (long double)twice;
    }
    memcpy(&longest, at, sizeof longest);
    return longest;
}

static void
write_real(dt_dtype dtype, void *at, long double value)
{
    float single = (float)value;
    double twice = (double)value;
    uint16_t half = half_of(dtype) != NULL ? half_nearest(*half_of(dtype), single) : 0;
    if (half_of(dtype) != NULL)
        memcpy(at, &half, sizeof half);
    else if (dtype == DT_FLOAT32)
        memcpy(at, &single, sizeof single);
    else if (dtype == DT_FLOAT64)
        memcpy(at, &twice, sizeof twice);
    else
        memcpy(at, &value, sizeof value);
}

/* Bytes of a real number that mean something: an x86 long double has 10 of 16. */
static size_t
real_bytes(dt_dtype real)
{
    return real == DT_LONGDOUBLE && LDBL_MANT_DIG == 64 ? 10 : dt_dtype_size(real);
}

/* Equal bits; of two NaN that an addition or a product made, also other ones. */
static bool
same(dt_dtype dtype, dt_reduce_op op, const void *a, const void *b)
{
    if (dt_dtype_kind(dtype) != 'f' && dt_dtype_kind(dtype) != 'c')
        return memcmp(a, b, dt_dtype_size(dtype)) == 0;
    int parts;
    dt_dtype real = part_of(dtype, &parts);
    for (int part = 0; part < parts; part++) {
        const char *x = (const char *)a + (size_t)part * dt_dtype_size(real);
        const char *y = (const char *)b + (size_t)part * dt_dtype_size(real);
        bool nan = isnan(read_real(real, x)) && isnan(read_real(real, y));
        if (memcmp(x, y, real_bytes(real)) != 0 &&
            !(nan && op != DT_MAX && op != DT_MIN))
            return false;
    }
    return true;
}

static long double
some_real(uint64_t *random)
{
    const long double special[] = {0.0L, -0.0L, 1,     -1,       2,         0.5L,
                                   3,    65504, 6e-8L, INFINITY, -INFINITY, NAN};
    if (check_below(random, 2) == 0)
        return special[check_below(random, sizeof special / sizeof *special)];
    long double fraction = (long double)(int64_t)check_random(random);
    return ldexpl(fraction, (int)check_below(random, 60) - 90);
}

static void
some_element(dt_dtype dtype, void *out, uint64_t *random)
{
    char kind = dt_dtype_kind(dtype);
    uint64_t bits = check_random(random);
    size_t size = dt_dtype_size(dtype);
    int parts;
    dt_dtype real = part_of(dtype, &parts);
    if (kind == 'b')
        bits &= 1;
    if (kind == 'f' || kind == 'c')
        for (int part = 0; part < parts; part++)
            write_real(real, (char *)out + (size_t)part * dt_dtype_size(real),
                       some_real(random));
    bool raw = half_of(dtype) != NULL && check_below(random, 2) == 0;
    if (raw || (kind != 'f' && kind != 'c'))
        memcpy(out, &bits, size);
    else if (check_below(random, 8) == 0) /* what a product treats specially */
        dt_reduce_identity(dtype, DT_PRODUCT, out);
}

static void
expect_half(half_format f, dt_reduce_op op, uint16_t *out, const uint16_t *in, int n,
            int64_t divisor)
{
    float sum = half_value(f, in[0]);
    for (int k = 1; k < n; k++)
        sum =
            op == DT_PRODUCT ? sum * half_value(f, in[k]) : sum + half_value(f, in[k]);
    *out = half_nearest(f, op == DT_AVG ? sum / (float)divisor : sum);
}

static void
divide(dt_dtype dtype, void *out, int64_t divisor)
{
    int parts;
    dt_dtype real = part_of(dtype, &parts);
    for (int part = 0; part < parts; part++) {
        char *at = (char *)out + (size_t)part * dt_dtype_size(real);
        double twice;
        memcpy(&twice, at, real == DT_FLOAT64 ? sizeof twice : 0);
        if (real == DT_FLOAT64) /* a long double would be rounded twice */
            write_real(real, at, (long double)(twice / (double)divisor));
        else
            write_real(real, at, read_real(real, at) / (long double)divisor);
    }
}

/* What one element must be; `in` holds its addends one behind the other. */
static void
expect(dt_dtype dtype, dt_reduce_op op, void *out, const char *in, int n,
       int64_t divisor)
{
    size_t size = dt_dtype_size(dtype);
    bool wide = half_of(dtype) != NULL && op != DT_MAX && op != DT_MIN;
    if (wide && (n > 1 || op == DT_AVG)) {
        uint16_t halves[MAX_ADDENDS];
        memcpy(halves, in, (size_t)n * size);
        expect_half(*half_of(dtype), op, out, halves, n, divisor);
        return;
    }
    memcpy(out, in, size);
    for (int k = 1; k < n; k++)
        FOLDS[dtype](out, in + (size_t)k * size, op);
    if (op == DT_AVG)
        divide(dtype, out, divisor);
}

typedef struct {
    const dt_reduce_level *level;
    dt_dtype dtype;
    dt_reduce_op op;
} job;

typedef void law(const job *j, uint64_t *random);

static void
for_each_job(law *check)
{
    uint64_t random = 1;
    for (int i = 0; dt_reduce_level_at(i) != NULL; i++)
        for (int d = 0; d < DT_DTYPE_COUNT; d++)
            for (int op = 0; op < DT_REDUCE_OP_COUNT; op++)
                if (dt_reduce_op_check((dt_reduce_op)op, (dt_dtype)d, NULL) == DT_OK)
                    check(&(job){dt_reduce_level_at(i), (dt_dtype)d, (dt_reduce_op)op},
                          &random);
}

static void
check_addends(const job *j, int n, int64_t count, bool in_place, uint64_t *random)
{
    size_t size = dt_dtype_size(j->dtype), bytes = (size_t)count * size;
    char *in[MAX_ADDENDS], *old = malloc(bytes), *other = malloc(bytes);
    for (int k = 0; k < n; k++) {
        in[k] = malloc(bytes); /* no byte more, for sanitizers to see */
        for (int64_t i = 0; i < count; i++)
            some_element(j->dtype, in[k] + (size_t)i * size, random);
    }
    memcpy(old, in[0], bytes);
    char *out = in_place ? in[0] : other;
    dt_reduce_at(j->level, j->dtype, j->op, out, (const void *const *)in, n, n + 1,
                 count);
    for (int64_t i = 0; i < count; i++) {
        char addends[MAX_ADDENDS * MAX_SIZE], want[MAX_SIZE];
        size_t at = (size_t)i * size;
        memcpy(addends, old + at, size);
        for (int k = 1; k < n; k++)
            memcpy(addends + (size_t)k * size, in[k] + at, size);
        expect(j->dtype, j->op, want, addends, n, n + 1);
        CHECK(same(j->dtype, j->op, out + at, want));
    }
    for (int k = 0; k < n; k++)
        free(in[k]);
    free(old);
    free(other);
}

static void
check_all_counts(const job *j, uint64_t *random)
{
    const int64_t counts[] = {0, 1, 2, 3, 7, 8, 9, 31, 64, 65};
    for (int n = 1; n <= MAX_ADDENDS; n++)
        for (int in_place = 0; in_place < 2; in_place++) {
            for (size_t i = 0; i < sizeof counts / sizeof *counts; i++)
                check_addends(j, n, counts[i], in_place, random);
            if (n == 1 || n == 2 || n == MAX_ADDENDS) /* more than a block of 4 bytes */
                check_addends(j, n, MAX_COUNT - n, in_place, random);
        }
}

static void
every_element_is_reduced_in_order_as_numpy_does(void)
{
    for_each_job(check_all_counts);
}

static void
check_identity(const job *j, uint64_t *random)
{
    char x[MAX_SIZE], e[MAX_SIZE], out[MAX_SIZE];
    dt_reduce_op op = j->op == DT_AVG ? DT_SUM : j->op;
    dt_reduce_identity(j->dtype, j->op, e);
    for (int i = 0; i < 2000; i++) {
        some_element(j->dtype, x, random);
        if (half_of(j->dtype) != NULL && isnan(read_real(j->dtype, x)))
            x[0] |= 0x40, x[1] |= 0x02; /* quiet in either format, as a sum leaves it */
        for (int swap = 0; swap < 2; swap++) {
            const void *in[] = {swap ? e : x, swap ? x : e};
            dt_reduce_at(j->level, j->dtype, op, out, in, 2, 1, 1);
            CHECK(same(j->dtype, DT_MAX, out, x)); /* bit for bit, also a NaN */
        }
    }
}

static void
an_identity_changes_no_bit(void)
{
    for_each_job(check_identity);
}

/* Every half plus and times some powers of two: all that a rounding can meet, halves of
 * the last place and less and more, carries, subnormal numbers, overflow. */
static void
check_rounding(const job *j, uint64_t *random)
{
    enum { ALL = 0x10000 };
    static uint16_t x[ALL], y[ALL], out[ALL];
    const half_format *f = half_of(j->dtype);
    (void)random;
    if (f == NULL || (j->op != DT_SUM && j->op != DT_PRODUCT))
        return;
    int exponents = 1 << (15 - f->fraction_bits);
    for (int exponent = 1; exponent < exponents; exponent += exponents / 8 - 1) {
        for (int i = 0; i < ALL; i++) {
            x[i] = (uint16_t)i;
            y[i] = (uint16_t)(exponent << f->fraction_bits);
        }
        const void *in[] = {x, y};
        dt_reduce_at(j->level, j->dtype, j->op, out, in, 2, 1, ALL);
        for (int i = 0; i < ALL; i++) {
            uint16_t want, addends[] = {x[i], y[i]};
            expect_half(*f, j->op, &want, addends, 2, 1);
            CHECK(same(j->dtype, j->op, &out[i], &want));
        }
    }
}

static void
halves_are_rounded_once_to_nearest_even(void)
{
    for_each_job(check_rounding);
}

/* dt_reduce takes the best level, and levels give the same bits: NaN aside, which
 * `same` lets pass, they were compared with the same expectation. */
static void
dt_reduce_is_its_best_level(void)
{
    float a[100], b[100], out[2][100];
    const void *in[] = {a, b};
    for (int i = 0; i < 100; i++) {
        a[i] = 1.0f / (float)(i + 1);
        b[i] = (float)i;
    }
    dt_reduce(DT_FLOAT32, DT_AVG, out[0], in, 2, 3, 100);
    dt_reduce_at(dt_reduce_level_best(), DT_FLOAT32, DT_AVG, out[1], in, 2, 3, 100);
    CHECK(memcmp(out[0], out[1], sizeof a) == 0);
}

DT_MAIN(TEST(every_element_is_reduced_in_order_as_numpy_does),
        TEST(an_identity_changes_no_bit), TEST(halves_are_rounded_once_to_nearest_even),
        TEST(dt_reduce_is_its_best_level))
