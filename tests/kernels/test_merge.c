#include "kernels/merge.h"

#include "check.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { N = 400, RUNS = 9 };

static bool
is_before(double p, double q)
{
    return isnan(p) ? false : isnan(q) || p < q;
}

/* Sorts stably, by insertion. */
static void
sort(double *x, int64_t *places, int64_t n)
{
    for (int64_t k = 1; k < n; k++) {
        double own = x[k];
        int64_t place = places[k], at = k;
        for (; at > 0 && is_before(own, x[at - 1]); at--) {
            x[at] = x[at - 1];
            places[at] = places[at - 1];
        }
        x[at] = own;
        places[at] = place;
    }
}

/* Merges runs of some sizes, whose numbers repeat after `period`, and compares the
 * result with those that are sorted at once. */
static void
check(const int64_t *sizes, int64_t count, int period, bool placed)
{
    static double x[N], expected[N], out[N], other[N];
    static int64_t places[N], order[N], out_places[N], other_places[N];
    int64_t n = 0, own[RUNS];
    for (int64_t k = 0; k < count; k++)
        n += sizes[k];
    for (int64_t k = 0; k < n; k++) {
        int64_t number = k * 7919 % period;
        x[k] = number % 13 == 5 ? NAN : (double)(number - period / 2);
        x[k] = number % 17 == 3 ? -0.0 : number % 19 == 2 ? INFINITY : x[k];
        places[k] = k;
    }
    for (int64_t k = 0, at = 0; k < count; at += sizes[k++]) {
        sort(x + at, places + at, sizes[k]);
        own[k] = sizes[k];
    }
    memcpy(expected, x, sizeof x);
    memcpy(order, places, sizeof places);
    sort(expected, order, n);
    dt_runs from = {x, placed ? places : NULL}, a = {out, placed ? out_places : NULL},
            b = {other, placed ? other_places : NULL};
    const dt_runs *found =
        dt_merge(DT_FLOAT64, &from, own, count, &a, count > 2 ? &b : NULL);
    CHECK(n == 0 || memcmp(found->values, expected, (size_t)n * sizeof *x) == 0);
    CHECK(n == 0 || !placed ||
          memcmp(found->places, order, (size_t)n * sizeof *order) == 0);
}

static void
runs_of_any_sizes_become_one(void)
{
    const int64_t sizes[][RUNS] = {
        {0},
        {1, 1},
        {7, 0, 5},
        {0, 200},
        {200, 0},
        {150, 151},
        {3, 330},
        {40, 41, 42, 43, 44, 45, 46, 47, 48},
        {0, 0, 0, 1, 0, 90, 0, 3, 0},
    };
    const int64_t counts[] = {1, 2, 3, 2, 2, 2, 2, 9, 9};
    const int periods[] = {1, 2, 30, 1009};
    for (size_t k = 0; k < sizeof counts / sizeof *counts; k++)
        for (size_t p = 0; p < sizeof periods / sizeof *periods; p++)
            for (int placed = 0; placed < 2; placed++)
                check(sizes[k], counts[k], periods[p], placed);
}

static void
integers_keep_what_float64_has_not(void)
{
    const int64_t most = INT64_MAX;
    int64_t x[] = {INT64_MIN, most - 2, most, INT64_MIN + 1, most - 1},
            sizes[] = {3, 2};
    int64_t out[5];
    const int64_t expected[] = {INT64_MIN, INT64_MIN + 1, most - 2, most - 1, most};
    dt_runs from = {x, NULL}, to = {out, NULL};
    dt_merge(DT_INT64, &from, sizes, 2, &to, NULL);
    CHECK(memcmp(out, expected, sizeof out) == 0);
    CHECK(dt_merge_has(DT_BOOL) && dt_merge_has(DT_FLOAT32));
    CHECK(!dt_merge_has(DT_FLOAT16) && !dt_merge_has(DT_COMPLEX64));
}

DT_MAIN(TEST(runs_of_any_sizes_become_one), TEST(integers_keep_what_float64_has_not))
