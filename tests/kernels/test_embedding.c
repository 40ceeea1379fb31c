#include "kernels/embedding.h"

#include "check.h"

#include <string.h>

static const dt_rows RANGES[] = {{2, 2}, {7, 1}}; /* rows 2, 3 and 7 of a table */
static const int64_t INDEX[] = {3, 0, 7, 2, 3, 9};

static void
rows_are_taken_from_the_part_that_has_them(void)
{
    const float part[] = {1, 2, 3, 4, 5, 6};
    const float expected[] = {3, 4, 0, 0, 5, 6, 1, 2, 3, 4, 0, 0};
    float out[12];
    dt_table table = {DT_FLOAT32, 2, RANGES, 2};
    dt_table_take(&table, out, part, INDEX, 6);
    CHECK(memcmp(out, expected, sizeof out) == 0);
}

static void
what_is_added_goes_to_own_rows_but_the_one_that_is_skipped(void)
{
    const double add[] = {1, 10, 100, 1000, 10000, 100000};
    const double expected[] = {1000, 10001, 100}, skipped[] = {0, 10001, 100};
    double part[3] = {0}, other[3] = {0};
    dt_table table = {DT_FLOAT64, 1, RANGES, 2};
    dt_table_add(&table, part, add, INDEX, 6, -1);
    dt_table_add(&table, other, add, INDEX, 6, 2);
    CHECK(memcmp(part, expected, sizeof part) == 0);
    CHECK(memcmp(other, skipped, sizeof other) == 0);
}

static void
a_part_without_rows_gives_zeros(void)
{
    float out[6] = {1, 1, 1, 1, 1, 1};
    dt_table table = {DT_FLOAT32, 1, NULL, 0};
    dt_table_take(&table, out, NULL, INDEX, 6);
    for (int k = 0; k < 6; k++)
        CHECK(out[k] == 0);
    dt_table_add(&table, NULL, out, INDEX, 6, -1);
}

static void
an_index_is_checked_at_both_ends(void)
{
    const int64_t below[] = {0, -1}, above[] = {0, 5};
    CHECK(dt_index_check(INDEX, 6, 10));
    CHECK(!dt_index_check(INDEX, 6, 9));
    CHECK(!dt_index_check(below, 2, 5));
    CHECK(!dt_index_check(above, 2, 5));
    CHECK(dt_index_check(below, 0, 0));
}

DT_MAIN(TEST(rows_are_taken_from_the_part_that_has_them),
        TEST(what_is_added_goes_to_own_rows_but_the_one_that_is_skipped),
        TEST(a_part_without_rows_gives_zeros), TEST(an_index_is_checked_at_both_ends))
