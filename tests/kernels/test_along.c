#include "kernels/along.h"

#include "check.h"

#include <string.h>

/* Indices (2, 3) along dim 1 of an array (2, 4), and along dim 0 of (3, 3). */
static const dt_along ROWS = {
    .ndim = 2, .dim = 1, .shape = {2, 3}, .stride = {4, 1}, .length = 4};
static const dt_along COLUMNS = {
    .ndim = 2, .dim = 0, .shape = {2, 3}, .stride = {3, 1}, .length = 3};
static const int64_t INDEX[] = {2, 0, 2, 1, -1, 0};

static void
elements_are_taken_along_either_dim(void)
{
    const float x[] = {0, 1, 2, 3, 4, 5, 6, 7, 8};
    const float rows[] = {2, 0, 2, 5, 7, 4}, columns[] = {6, 1, 8, 3, 7, 2};
    float out[6];
    CHECK(dt_along_take(&ROWS, out, x, INDEX, sizeof *x));
    CHECK(memcmp(out, rows, sizeof out) == 0);
    CHECK(dt_along_take(&COLUMNS, out, x, INDEX, sizeof *x));
    CHECK(memcmp(out, columns, sizeof out) == 0);
}

static void
elements_are_put_and_added_in_their_order(void)
{
    const int16_t values[] = {1, 2, 3, 4, 5, 6};
    const int16_t put[] = {2, 0, 3, 0, 6, 4, 0, 5}, added[] = {2, 0, 4, 0, 6, 4, 0, 5};
    int16_t x[8] = {0}, y[8] = {0};
    CHECK(dt_along_put(&ROWS, x, INDEX, values, 1, sizeof *x));
    CHECK(memcmp(x, put, sizeof x) == 0);
    CHECK(dt_along_add(&ROWS, y, INDEX, values, DT_INT16));
    CHECK(memcmp(y, added, sizeof y) == 0);
    CHECK(dt_along_put(&ROWS, x, INDEX, values + 5, 0, sizeof *x));
    CHECK(x[0] == 6 && x[2] == 6 && x[1] == 0);
}

static void
rows_are_added_and_a_wrong_index_is_found(void)
{
    const int64_t index[] = {1, 1, -3}, wrong[] = {0, 3, 0}, below[] = {-4, 0, 0};
    const double values[] = {1, 2, 3, 4, 5, 6}, sums[] = {5, 6, 4, 6, 0, 0};
    double x[6] = {0};
    CHECK(dt_rows_add(x, index, values, 1, 3, 3, 2, DT_FLOAT64));
    CHECK(memcmp(x, sums, sizeof x) == 0);
    CHECK(!dt_rows_add(x, wrong, values, 1, 3, 3, 2, DT_FLOAT64));
    CHECK(!dt_rows_add(x, below, values, 1, 3, 3, 2, DT_FLOAT64));
    CHECK(!dt_along_add(&ROWS, x, INDEX, values, DT_BOOL));
    CHECK(!dt_along_adds(DT_FLOAT16) && dt_along_adds(DT_COMPLEX64));
}

DT_MAIN(TEST(elements_are_taken_along_either_dim),
        TEST(elements_are_put_and_added_in_their_order),
        TEST(rows_are_added_and_a_wrong_index_is_found))
