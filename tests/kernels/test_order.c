#include "kernels/order.h"

#include "check.h"

#include <math.h>
#include <stdlib.h>

/* Whether x[a] comes before x[b]. */
static bool
is_before(const double *x, int64_t a, int64_t b, bool largest)
{
    double p = x[a], q = x[b];
    if (isnan(p) != isnan(q))
        return isnan(p) == largest;
    if (p == q || isnan(p))
        return a < b;
    return (p < q) != largest;
}

/* Compares the first `count` of n elements with their order, and one by its place. */
static void
check(dt_dtype dtype, const void *x, int64_t step, const double *as, int64_t n,
      int64_t count, bool largest)
{
    dt_line line = {.dtype = dtype, .length = n, .step = step, .largest = largest};
    void *scratch = malloc(dt_order_scratch(&line));
    int64_t *found = malloc((size_t)(2 * n) * sizeof *found);
    dt_order_first(found, 2, x, &line, count, scratch);
    bool good = true;
    for (int64_t k = 0; k < count; k++) {
        int64_t before = 0;
        for (int64_t j = 0; j < n; j++)
            before += is_before(as, j, found[2 * k], largest);
        good &= before == k;
    }
    good &= dt_order_at(x, &line, count - 1, false, scratch) == found[2 * (count - 1)];
    CHECK(good);
    free(scratch);
    free(found);
}

enum { N = 300 };

static void
lines_of_every_length_are_in_order(void)
{
    static float x[2 * N];
    static double wide[N], as[N];
    for (int k = 0; k < N; k++) {
        x[2 * k] = (float)((k * 7919) % 101 - 50) / 7;
        x[2 * k] = k % 37 == 5 ? NAN : k % 41 == 3 ? -0.0f : k % 43 == 1 ? 0 : x[2 * k];
        wide[k] = as[k] = x[2 * k];
    }
    const int64_t lengths[] = {1, 2, 20, 24, 25, 60, N};
    for (size_t k = 0; k < sizeof lengths / sizeof *lengths; k++)
        for (int64_t count = 1; count <= lengths[k]; count += 1 + count / 3)
            for (int largest = 0; largest < 2; largest++) {
                check(DT_FLOAT32, x, 2 * sizeof *x, as, lengths[k], count, largest);
                check(DT_FLOAT64, wide, sizeof *wide, as, lengths[k], count, largest);
            }
}

static void
integers_keep_their_sign(void)
{
    static int64_t x[N];
    static int8_t small[N];
    static double as[N], of_small[N];
    for (int k = 0; k < N; k++) {
        x[k] = (k % 2 == 0 ? -1 : 1) * (((int64_t)1 << 40) + k % 17);
        as[k] = (double)x[k];
        of_small[k] = small[k] = (int8_t)(k * 31);
    }
    check(DT_INT64, x, sizeof *x, as, N, N, false);
    check(DT_INT64, x, sizeof *x, as, N, 50, true);
    check(DT_INT8, small, sizeof *small, of_small, N, 10, false);
    check(DT_INT8, small, sizeof *small, of_small, N, N, true);
}

static void
the_first_nan_and_the_mode_are_found(void)
{
    const float x[] = {3, NAN, 1, NAN, 2};
    dt_line line = {.dtype = DT_FLOAT32, .length = 5, .step = sizeof *x};
    char scratch[200];
    CHECK(dt_order_at(x, &line, 0, true, scratch) == 1);
    CHECK(dt_order_at(x, &line, 0, false, scratch) == 2);
    const float y[] = {2, 1, 2, 1, 5, -0.0f, 0};
    line.length = 7;
    line.step = sizeof *y;
    CHECK(dt_order_mode(y, &line, scratch) == 6);
    CHECK(!dt_order_has(DT_COMPLEX64) && !dt_order_has(DT_LONGDOUBLE));
    CHECK(dt_order_has(DT_BFLOAT16) && dt_order_has(DT_BOOL));
}

DT_MAIN(TEST(lines_of_every_length_are_in_order), TEST(integers_keep_their_sign),
        TEST(the_first_nan_and_the_mode_are_found))
