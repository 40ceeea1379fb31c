#include "kernels/reduce.h"
#include "kernels/reduce_level.h"
#include "kernels/widen.h"

#include "check.h"
#include "folds.h"

#include <float.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_ADDENDS = 24, MAX_COUNT = 2600, MAX_SIZE = 32 };

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

/* A grid of addends. */
typedef struct {
    int ndim;
    int64_t lengths[3];
} grid;

static const grid LINE_OF_TWO = {1, {2}};

static int
size_of(const grid *g)
{
    int n = 1;
    for (int d = 0; d < g->ndim; d++)
        n *= (int)g->lengths[d];
    return n;
}

/* Folds n elements into the first one, as halves of powers of two. */
static void
fold_line(dt_dtype dtype, dt_reduce_op op, char *elements, int n)
{
    size_t size = dt_dtype_size(dtype);
    int half = 1;
    if (n == 1)
        return;
    while (2 * half < n)
        half *= 2;
    fold_line(dtype, op, elements, half);
    fold_line(dtype, op, elements + (size_t)half * size, n - half);
    FOLDS[dtype](elements, elements + (size_t)half * size, op);
}

/* Folds the last dimension of a grid, then the one before it. */
static void
fold_grid(dt_dtype dtype, dt_reduce_op op, char *elements, const grid *g)
{
    size_t size = dt_dtype_size(dtype);
    int left = size_of(g);
    for (int d = g->ndim - 1; d >= 0; d--) {
        int length = (int)g->lengths[d];
        left /= length;
        for (int k = 0; k < left; k++) {
            fold_line(dtype, op, elements + (size_t)(k * length) * size, length);
            memmove(elements + (size_t)k * size, elements + (size_t)(k * length) * size,
                    size);
        }
    }
}

/* What one element must be; `in` holds its addends one behind the other. */
static void
expect(dt_dtype dtype, dt_reduce_op op, void *out, const char *in, const grid *g,
       int64_t divisor)
{
    size_t size = dt_dtype_size(dtype);
    char elements[MAX_ADDENDS * MAX_SIZE];
    const half_format *half = op == DT_MAX || op == DT_MIN ? NULL : half_of(dtype);
    int n = size_of(g);
    if (half != NULL && (n > 1 || op == DT_AVG)) {
        float values[MAX_ADDENDS];
        uint16_t bits;
        for (int k = 0; k < n; k++) {
            memcpy(&bits, in + (size_t)k * size, sizeof bits);
            values[k] = half_value(*half, bits);
        }
        fold_grid(DT_FLOAT32, op, (char *)values, g);
        bits =
            half_nearest(*half, op == DT_AVG ? values[0] / (float)divisor : values[0]);
        memcpy(out, &bits, sizeof bits);
        return;
    }
    memcpy(elements, in, (size_t)n * size);
    fold_grid(dtype, op, elements, g);
    memcpy(out, elements, size);
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

static dt_reduction
one_row(dt_dtype dtype, dt_reduce_op op, const grid *g, int64_t divisor, int64_t count)
{
    return (dt_reduction){.dtype = dtype,
                          .op = op,
                          .lengths = g->lengths,
                          .ndim = g->ndim,
                          .divisor = divisor,
                          .rows = 1,
                          .count = count};
}

static void
check_addends(const job *j, const grid *g, int64_t count, bool in_place,
              uint64_t *random)
{
    int n = size_of(g);
    size_t size = dt_dtype_size(j->dtype), bytes = (size_t)count * size;
    char *in[MAX_ADDENDS], *old = malloc(bytes), *other = malloc(bytes);
    for (int k = 0; k < n; k++) {
        in[k] = malloc(bytes); /* no byte more, for sanitizers to see */
        for (int64_t i = 0; i < count; i++)
            some_element(j->dtype, in[k] + (size_t)i * size, random);
    }
    memcpy(old, in[0], bytes);
    char *out = in_place ? in[0] : other;
    const dt_reduction how = one_row(j->dtype, j->op, g, n + 1, count);
    dt_reduce_at(j->level, &how, out, (const void *const *)in);
    for (int64_t i = 0; i < count; i++) {
        char addends[MAX_ADDENDS * MAX_SIZE], want[MAX_SIZE];
        size_t at = (size_t)i * size;
        memcpy(addends, old + at, size);
        for (int k = 1; k < n; k++)
            memcpy(addends + (size_t)k * size, in[k] + at, size);
        expect(j->dtype, j->op, want, addends, g, n + 1);
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
    static const int64_t COUNTS[] = {0, 1, 2, 3, 7, 8, 9, 31, 64, 65};
    static const grid GRIDS[] = {
        {1, {1}},    {1, {2}},       {1, {3}},       {1, {4}},       {1, {5}},
        {1, {8}},    {1, {11}},      {1, {17}},      {2, {2, 3}},    {2, {3, 2}},
        {2, {1, 4}}, {3, {2, 2, 2}}, {3, {2, 3, 4}}, {3, {3, 1, 5}}, {0, {0}}};
    for (size_t g = 0; g < sizeof GRIDS / sizeof *GRIDS; g++)
        for (int in_place = 0; in_place < 2; in_place++) {
            int n = size_of(&GRIDS[g]);
            for (size_t i = 0; i < sizeof COUNTS / sizeof *COUNTS; i++)
                if (n <= 5 || i % 3 == 0)
                    check_addends(j, &GRIDS[g], COUNTS[i], in_place, random);
            if (n <= 2 || n == 6) /* more than a block of 4 bytes */
                check_addends(j, &GRIDS[g], MAX_COUNT - n, in_place, random);
        }
}

static void
every_element_is_reduced_by_one_tree_as_numpy_does(void)
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
            const dt_reduction how = one_row(j->dtype, op, &LINE_OF_TWO, 1, 1);
            dt_reduce_at(j->level, &how, out, in);
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
        const dt_reduction how = one_row(j->dtype, j->op, &LINE_OF_TWO, 1, ALL);
        dt_reduce_at(j->level, &how, out, in);
        for (int i = 0; i < ALL; i++) {
            uint16_t want, addends[] = {x[i], y[i]};
            expect(j->dtype, j->op, &want, (const char *)addends, &LINE_OF_TWO, 1);
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
    const dt_reduction how = one_row(DT_FLOAT32, DT_AVG, &LINE_OF_TWO, 3, 100);
    dt_reduce(&how, out[0], in);
    dt_reduce_at(dt_reduce_level_best(), &how, out[1], in);
    CHECK(memcmp(out[0], out[1], sizeof a) == 0);
}

/* Over the last dimension of a grid of 2 x 3 first, unrounded, then over the first. */
static void
check_in_two_steps(const job *j, uint64_t *random)
{
    enum { COUNT = 300 };
    static const grid ALL = {2, {2, 3}}, ROW = {1, {3}};
    static uint16_t x[6][COUNT], once[COUNT], twice[COUNT];
    static float rows[2][COUNT];
    const void *in[6], *sums[2] = {rows[0], rows[1]};
    if (half_of(j->dtype) == NULL || j->op == DT_MAX || j->op == DT_MIN)
        return;
    for (int k = 0; k < 6; k++) {
        in[k] = x[k];
        for (int i = 0; i < COUNT; i++)
            some_element(j->dtype, (char *)&x[k][i], random);
    }
    dt_reduce_op first = j->op == DT_AVG ? DT_SUM : j->op;
    const dt_reduction whole = one_row(j->dtype, j->op, &ALL, 6, COUNT);
    dt_reduction half = one_row(j->dtype, first, &ROW, 1, COUNT);
    const dt_reduction last = one_row(DT_FLOAT32, j->op, &LINE_OF_TWO, 6, COUNT);
    half.wide = true;
    dt_reduce(&whole, once, in);
    for (int row = 0; row < 2; row++)
        dt_reduce(&half, rows[row], in + 3 * row);
    dt_reduce(&last, rows[0], sums);
    dt_narrow(j->dtype, twice, rows[0], COUNT);
    for (int i = 0; i < COUNT; i++)
        CHECK(same(j->dtype, j->op, &once[i], &twice[i]));
}

static void
sums_of_halves_may_be_made_in_two_steps(void)
{
    for_each_job(check_in_two_steps);
}

/* Rows that lie apart, and otherwise in each array: as each row by itself. */
static void
check_rows(const job *j, uint64_t *random)
{
    enum { ADDENDS = 3, ROWS = 4, COUNT = 37, APART = COUNT + 3, BYTES = 32 };
    static const grid LINE = {1, {ADDENDS}};
    static _Alignas(32) char x[ADDENDS][ROWS * APART * BYTES];
    static _Alignas(32) char apart[ROWS * APART * BYTES], once[COUNT * BYTES];
    int64_t size = (int64_t)dt_dtype_size(j->dtype), strides[ADDENDS];
    const void *in[ADDENDS], *row[ADDENDS];
    bool wide = half_of(j->dtype) != NULL && j->op != DT_MAX && j->op != DT_MIN;
    for (int k = 0; k < ADDENDS; k++) {
        for (int i = 0; i < ROWS * APART; i++)
            some_element(j->dtype, x[k] + i * size, random);
        strides[k] = (k == 1 ? -1 : 1) * (COUNT + k) * size;
        in[k] = x[k] + (k == 1 ? -(ROWS - 1) * strides[k] : 0);
    }
    for (int to_wide = 0; to_wide <= wide; to_wide++) {
        int64_t out_size = to_wide ? (int64_t)sizeof(float) : size;
        dt_reduction one = one_row(j->dtype, j->op, &LINE, 7, COUNT), how;
        one.wide = to_wide;
        how = one;
        how.rows = ROWS;
        how.out_stride = APART * out_size;
        how.strides = strides;
        dt_reduce(&how, apart, in);
        for (int r = 0; r < ROWS; r++) {
            for (int k = 0; k < ADDENDS; k++)
                row[k] = (const char *)in[k] + r * strides[k];
            dt_reduce(&one, once, row);
            for (int i = 0; i < COUNT; i++)
                CHECK(same(to_wide ? DT_FLOAT32 : j->dtype, j->op,
                           apart + r * how.out_stride + i * out_size,
                           once + i * out_size));
        }
    }
}

static void
rows_are_reduced_as_each_by_itself(void)
{
    for_each_job(check_rows);
}

DT_MAIN(TEST(every_element_is_reduced_by_one_tree_as_numpy_does),
        TEST(an_identity_changes_no_bit), TEST(halves_are_rounded_once_to_nearest_even),
        TEST(dt_reduce_is_its_best_level),
        TEST(sums_of_halves_may_be_made_in_two_steps),
        TEST(rows_are_reduced_as_each_by_itself))
