#include "kernels/totals.h"

#include "check.h"

#include <math.h>
#include <string.h>

enum { N = 5000 };

static void
totals_are_those_of_every_dim(void)
{
    const float x[] = {1, 2, 3, 4, 5, -6}, sums[] = {6, 3}, columns[] = {5, 7, -3};
    const float sizes[] = {6, 15}, products[] = {6, -120};
    float out[3];
    dt_total_of(false, out, x, DT_TOTAL_SUM, (dt_dims){2, 3, 1}, 1);
    CHECK(memcmp(out, sums, sizeof sums) == 0);
    dt_total_of(false, out, x, DT_TOTAL_SUM, (dt_dims){1, 2, 3}, 1);
    CHECK(memcmp(out, columns, sizeof columns) == 0);
    dt_total_of(false, out, x, DT_TOTAL_SIZES, (dt_dims){2, 3, 1}, 1);
    CHECK(memcmp(out, sizes, sizeof sizes) == 0);
    dt_total_of(false, out, x, DT_TOTAL_PRODUCT, (dt_dims){2, 3, 1}, 1);
    CHECK(memcmp(out, products, sizeof products) == 0);
    dt_total_of(false, out, x, DT_TOTAL_SQUARES, (dt_dims){1, 6, 1}, 1);
    CHECK(fabsf(out[0] - sqrtf(91)) < 1e-5f);
    dt_total_of(false, out, x, DT_TOTAL_SUM, (dt_dims){1, 0, 1}, 1);
    CHECK(out[0] == 0);
}

static void
long_sums_are_added_up_in_double(void)
{
    static float x[N];
    float mean;
    for (int k = 0; k < N; k++)
        x[k] = 1e4f + (float)(k % 2);
    dt_total_of(false, &mean, x, DT_TOTAL_SUM, (dt_dims){1, N, 1}, N);
    CHECK(fabsf(mean - 10000.5f) < 1e-2f);
}

static void
running_ones_go_along_either_dim(void)
{
    const double x[] = {1, 3, 3, 2, NAN, 0}, rows[] = {1, 4, 7}, down[] = {1, 3, 3, 2};
    double out[6];
    int64_t index[6];
    dt_running(true, out, x, DT_TOTAL_SUM, (dt_dims){2, 3, 1});
    CHECK(memcmp(out, rows, sizeof rows) == 0 && out[3] == 2 && isnan(out[5]));
    dt_running(true, out, x, DT_TOTAL_PRODUCT, (dt_dims){1, 2, 3});
    CHECK(memcmp(out, down, sizeof down) == 0 && out[5] == 0);
    dt_running_extreme(true, out, index, x, false, (dt_dims){2, 3, 1});
    CHECK(out[2] == 3 && index[1] == 1 && index[2] == 2 && isnan(out[5]));
    CHECK(index[4] == 1 && index[5] == 1);
    dt_running_extreme(true, out, index, x, true, (dt_dims){1, 2, 3});
    CHECK(out[3] == 1 && index[3] == 0 && isnan(out[4]) && out[5] == 0 &&
          index[5] == 1);
}

DT_MAIN(TEST(totals_are_those_of_every_dim), TEST(long_sums_are_added_up_in_double),
        TEST(running_ones_go_along_either_dim))
