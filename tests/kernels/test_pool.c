#include "kernels/columns.h"
#include "kernels/pool.h"

#include "check.h"

#include <math.h>
#include <string.h>

/* Windows of 2 over 5 elements, the first beginning before them. */
static const dt_span SPANS[] = {{0, 1, 1, 2}, {1, 3, 1, 2}, {3, 5, 1, 2}};
static const dt_span ONE[] = {{0, 1, 1, 1}};
static const dt_spans LINE = {
    .lengths = {1, 5}, .places = {1, 3}, .spans = {ONE, SPANS}};

static void
maxima_are_found_with_and_without_their_places(void)
{
    const float x[] = {-1, 2, 2, NAN, 7, -3, -4, 5, 6, -9};
    float values[6], alone[6], line[5];
    int64_t index[6];
    dt_pool_max(false, values, index, x, 2, &LINE);
    dt_pool_values(false, alone, x, 2, &LINE, line);
    CHECK(values[0] == -1 && values[1] == 2 && isnan(values[2]) && isnan(alone[2]));
    CHECK(index[0] == 0 && index[1] == 1 && index[2] == 3 && index[4] == 2);
    for (int k = 0; k < 6; k++)
        CHECK(k == 2 || values[k] == alone[k]);
}

static void
means_count_the_padding_and_go_back(void)
{
    const double x[] = {1, 2, 4, 8, 16}, means[] = {0.5, 3, 12};
    const double back[] = {0.5, 0.5, 0.5, 0.5, 0.5}, ones[] = {1, 1, 1};
    double out[5] = {0}, line[5];
    dt_pool_mean(true, out, x, 1, &LINE, line);
    CHECK(memcmp(out, means, sizeof means) == 0);
    memset(out, 0, sizeof out);
    dt_pool_mean_input(true, out, ones, 1, &LINE, line);
    CHECK(memcmp(out, back, sizeof back) == 0);
}

static void
columns_have_zeros_outside(void)
{
    const float x[] = {1, 2, 3, 4, 5, 6};
    const float expected[] = {0, 0, 0, 2, 0, 0, 1, 3, 0, 2, 0, 5, 1, 3, 4, 6};
    const dt_kernel_dim dims[] = {
        {1, 1, 1, 1, 0, 1}, {2, 2, 2, 1, 1, 1}, {3, 2, 2, 2, 1, 1}};
    float out[16];
    dt_columns(out, x, 1, dims, sizeof *x);
    CHECK(memcmp(out, expected, sizeof out) == 0);
}

DT_MAIN(TEST(maxima_are_found_with_and_without_their_places),
        TEST(means_count_the_padding_and_go_back), TEST(columns_have_zeros_outside))
