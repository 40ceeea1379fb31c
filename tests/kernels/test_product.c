#include "kernels/product.h"

#include "kernels/half.h"

#include "check.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Lengths about those of tiles, blocks and panels. */
static const int64_t LENGTHS[] = {1, 2, 15, 16, 17, 31, 32, 33, 64, 95};
enum { COUNT = sizeof LENGTHS / sizeof *LENGTHS };

static uint64_t state = 1;

static uint32_t
draw(void)
{
    state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)(state >> 33);
}

/* A matrix in a memory of its own, by rows or by columns, with gaps. */
typedef struct {
    uint16_t *memory;
    dt_factor factor;
} matrix;

typedef float number(void);

static float
small_integer(void)
{
    return (float)(int)(draw() % 17) - 8;
}

static float
some_number(void)
{
    return (float)(draw() % 4096) / 1024 - 2;
}

static matrix
matrix_of(int64_t rows, int64_t columns, bool by_rows, number *next)
{
    int64_t length = by_rows ? columns : rows, lines = by_rows ? rows : columns;
    int64_t apart = length + (int64_t)(draw() % 3);
    matrix x = {.memory = calloc((size_t)(apart * lines + 1), sizeof(uint16_t))};
    x.factor = (dt_factor){x.memory, by_rows ? apart : 1, by_rows ? 1 : apart};
    for (int64_t line = 0; line < lines;
         line++) /* gaps are NaN: nobody may read them */
        for (int64_t k = 0; k < apart; k++)
            x.memory[line * apart + k] = k < length ? dt_to_bfloat16(next()) : 0x7fc0;
    return x;
}

static float
at(dt_factor x, int64_t i, int64_t j)
{
    return dt_from_bfloat16(x.data[i * x.row + j * x.column]);
}

static void
run(const dt_product *p)
{
    void *scratch = aligned_alloc(64, (dt_product_scratch(p) + 64) / 64 * 64);
    dt_product_run(p, scratch);
    free(scratch);
}

/* Calls a law with each way of this machine. */
static void
each_way(void (*law)(void))
{
    for (int way = DT_PRODUCT_AVX512; way <= DT_PRODUCT_AMX; way++)
        if (dt_product_use(way) == (dt_product_way)way)
            law();
    dt_product_use(-1);
}

/* Of small integers float32 has all sums: one is right, and one only. */
static void
check_integers(int64_t m, int64_t n, int64_t k, int order, bool biased)
{
    bool by_row = order & 1, wide = order == 3;
    matrix a = matrix_of(m, k, order & 1, small_integer);
    matrix b = matrix_of(k, n, order & 2, small_integer);
    matrix bias = matrix_of(1, by_row ? m : n, true, small_integer);
    float *out = malloc((size_t)(m * n) * sizeof *out);
    dt_product p = {m, n, k, a.factor, b.factor, {NULL, by_row, !by_row}, out, n, wide};
    p.bias.data = biased ? bias.memory : NULL;
    run(&p);
    for (int64_t i = 0; i < m; i++)
        for (int64_t j = 0; j < n; j++) {
            float sum = biased ? at(bias.factor, 0, by_row ? i : j) : 0;
            for (int64_t t = 0; t < k; t++)
                sum += at(a.factor, i, t) * at(b.factor, t, j);
            int64_t here = i * n + j;
            CHECK(wide ? out[here] == sum
                       : ((uint16_t *)out)[here] == dt_to_bfloat16(sum));
        }
    free(a.memory);
    free(b.memory);
    free(bias.memory);
    free(out);
}

static void
integers(void)
{
    for (int i = 0; i < COUNT; i++)
        for (int j = 0; j < COUNT; j++)
            for (int t = 0; t < COUNT; t++)
                check_integers(LENGTHS[i], LENGTHS[j], LENGTHS[t], (i + j + t) % 4,
                               draw() % 2);
    check_integers(1060, 1070, 520, 1, false);
    for (int order = 0; order < 4; order++) { /* several panels of each dim */
        check_integers(1100, 40, 33, order, false);
        check_integers(40, 1100, 33, order, true);
        check_integers(40, 33, 1100, order, true);
        check_integers(3, 5, 0, order, true);
    }
}

/* Every third element of every fifth line, of one row, one column, one term. */
static void
thin(void)
{
    enum { LINE = 40, STEP = 3, MOST = 20 };
    static uint16_t x[LINE * MOST * 5], y[LINE * MOST * 5], out[MOST * MOST];
    static const int64_t SHAPES[][3] = {{1, MOST, 1}, {MOST, 1, 1}, {1, 1, MOST}};
    for (size_t k = 0; k < sizeof x / sizeof *x; k++) {
        x[k] = dt_to_bfloat16(small_integer());
        y[k] = dt_to_bfloat16(small_integer());
    }
    for (int s = 0; s < 3; s++) {
        const int64_t *of = SHAPES[s];
        const dt_factor a = {x, 5 * LINE, STEP}, b = {y, 5 * LINE, STEP};
        CHECK(dt_product_takes(a, of[0], of[2]) && dt_product_takes(b, of[2], of[1]));
        dt_product p = {of[0], of[1], of[2], a, b, {NULL}, out, of[1], false};
        run(&p);
        for (int64_t i = 0; i < of[0]; i++)
            for (int64_t j = 0; j < of[1]; j++) {
                float sum = 0;
                for (int64_t t = 0; t < of[2]; t++)
                    sum += at(a, i, t) * at(b, t, j);
                CHECK(out[i * of[1] + j] == dt_to_bfloat16(sum));
            }
    }
}

static void
thin_matrices_lie_anyhow(void)
{
    each_way(thin);
}

static void
products_of_integers_are_exact(void)
{
    each_way(integers);
}

/* A part of the rows and columns has the bits that it has in the whole. */
static void
parts(void)
{
    enum { M = 75, N = 70, K = 600 };
    static uint16_t whole[M * N], part[M * N];
    for (int order = 0; order < 4; order++) {
        matrix a = matrix_of(M, K, order & 1, some_number);
        matrix b = matrix_of(K, N, order & 2, some_number);
        dt_product p = {M, N, K, a.factor, b.factor, {NULL}, whole, N, false};
        run(&p);
        for (int k = 0; k < 40; k++) {
            int64_t i = draw() % M, j = draw() % N;
            p.m = 1 + draw() % (uint32_t)(M - i);
            p.n = 1 + draw() % (uint32_t)(N - j);
            p.a.data = a.factor.data + i * a.factor.row;
            p.b.data = b.factor.data + j * b.factor.column;
            p.out = part;
            p.out_row = p.n;
            run(&p);
            for (int64_t r = 0; r < p.m; r++)
                CHECK(memcmp(part + r * p.n, whole + (i + r) * N + j,
                             (size_t)p.n * sizeof *part) == 0);
        }
        for (int64_t i = 0; i < M; i++)
            for (int64_t j = 0; j < N; j++) {
                double sum = 0, most = 0;
                for (int64_t t = 0; t < K; t++) {
                    double x = (double)at(a.factor, i, t) * (double)at(b.factor, t, j);
                    sum += x;
                    most += fabs(x);
                }
                float got = dt_from_bfloat16(whole[i * N + j]);
                CHECK(fabs((double)got - sum) <= fabs(sum) / 256 + most * 0x1p-20);
            }
        free(a.memory);
        free(b.memory);
    }
}

static void
parts_have_the_bits_of_the_whole(void)
{
    each_way(parts);
}

static void
specials(void)
{
    const uint16_t infinity = 0x7f80, one = 0x3f80, nan = 0x7fc0, zero = 0;
    const uint16_t row[4][2] = {
        {infinity, one}, {infinity, zero}, {nan, one}, {one, one}};
    const uint16_t column[4][2] = {
        {one, one}, {zero, one}, {zero, one}, {0x7f7f, 0x7f7f}};
    for (int k = 0; k < 4; k++) { /* inf, nan, nan, and what overflows */
        uint16_t out;
        dt_product p = {1,      1,    2, {row[k], 2, 1}, {column[k], 1, 2},
                        {NULL}, &out, 1, false};
        run(&p);
        float got = dt_from_bfloat16(out);
        CHECK(k == 1 || k == 2 ? isnan(got) : isinf(got) && got > 0);
    }
}

static void
infinities_and_nan_are_met(void)
{
    each_way(specials);
}

static void
a_matrix_is_taken_where_a_dim_is_contiguous(void)
{
    CHECK(dt_product_takes((dt_factor){NULL, 7, 1}, 3, 4));
    CHECK(dt_product_takes((dt_factor){NULL, 1, 7}, 3, 4));
    CHECK(!dt_product_takes((dt_factor){NULL, 7, 2}, 3, 4));
    CHECK(dt_product_takes((dt_factor){NULL, 7, 2}, 3, 1));
    CHECK(dt_product_takes((dt_factor){NULL, 7, 2}, 1, 4));
}

DT_MAIN(TEST(products_of_integers_are_exact), TEST(thin_matrices_lie_anyhow),
        TEST(parts_have_the_bits_of_the_whole), TEST(infinities_and_nan_are_met),
        TEST(a_matrix_is_taken_where_a_dim_is_contiguous))
