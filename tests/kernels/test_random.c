#include "kernels/random.h"

#include "kernels/half.h"
#include "kernels/random_normal.h"

#include "check.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

static const dt_stream STREAM = {{5, 0}, 3, DT_NO_HALF}, KEPT = {{5, 0}, 7, 2};

enum { COUNT = 1300 }; /* more than two chunks */

static dt_draw
draw_of(dt_draw_kind kind, dt_dtype dtype)
{
    static const double a[DT_DRAW_KIND_COUNT] = {-1.5, 0.25, 2, 0.3, 0};
    static const double b[DT_DRAW_KIND_COUNT] = {0.7, 3, 0, 0, 0};
    return (dt_draw){.kind = kind,
                     .dtype = dtype,
                     .a = a[kind],
                     .b = b[kind],
                     .low = 3,
                     .span = 100};
}

static bool
exists(dt_draw_kind kind, dt_dtype dtype)
{
    char of = dt_dtype_kind(dtype);
    bool whole = kind == DT_DRAW_BERNOULLI || kind == DT_DRAW_INTEGERS;
    return of == 'f' || (whole && strchr("biu", of) != NULL) ||
           (of == 'c' && !whole && kind != DT_DRAW_EXPONENTIAL);
}

static void
an_array_is_the_same_however_it_is_cut_into_runs(void)
{
    static char whole[COUNT * 32], parts[COUNT * 32];
    uint64_t state = 1;
    for (unsigned kind = 0; kind < DT_DRAW_KIND_COUNT; kind++)
        for (unsigned dtype = 0; dtype < DT_DTYPE_COUNT; dtype++)
            for (int trial = 0; trial < 8 && exists(kind, dtype); trial++) {
                const dt_stream *stream = trial % 2 ? &KEPT : &STREAM;
                dt_draw draw = draw_of(kind, dtype);
                size_t size = dt_dtype_size(dtype);
                memset(whole, 0, sizeof whole); /* long double has bytes of padding */
                memset(parts, 0, sizeof parts);
                dt_draw_run(whole, &draw, stream, 0, COUNT);
                for (int64_t first = 0, n; first < COUNT; first += n) {
                    n = 1 + check_below(&state, trial < 4 ? 5 : 700);
                    n = n < COUNT - first ? n : COUNT - first;
                    dt_draw_run(parts + first * (int64_t)size, &draw, stream, first, n);
                }
                CHECK(memcmp(whole, parts, sizeof whole) == 0);
            }
}

/* What numpy.random.Generator(numpy.random.Philox(key=5)).random() gives. */
static void
uniform_numbers_are_those_of_numpy(void)
{
    const dt_stream start = {{5, 0}, 0, DT_NO_HALF};
    dt_draw draw = {.kind = DT_DRAW_UNIFORM, .dtype = DT_FLOAT64, .b = 1};
    double doubles[3];
    dt_draw_run(doubles, &draw, &start, 0, 3);
    CHECK(doubles[0] == (double)(0xbbd6c66234fd0c91 >> 11) * 0x1p-53);
    CHECK(doubles[1] == (double)(0x972c5c680d78ea48 >> 11) * 0x1p-53);
    float floats[3];
    draw.dtype = DT_FLOAT32;
    dt_draw_run(floats, &draw, &start, 0, 3);
    CHECK(floats[0] == (float)(0x34fd0c91 >> 8) * 0x1p-24f);
    CHECK(floats[1] == (float)(0xbbd6c662 >> 8) * 0x1p-24f);
    CHECK(floats[2] == (float)(0x0d78ea48 >> 8) * 0x1p-24f);
}

static void
a_draw_takes_what_its_elements_are_made_of(void)
{
    static const struct {
        dt_draw_kind kind;
        dt_dtype dtype;
        uint64_t count, words, kept; /* kept: the word whose half is left */
    } cases[] = {
        {DT_DRAW_UNIFORM, DT_FLOAT64, 5, 5, DT_NO_HALF},
        {DT_DRAW_UNIFORM, DT_COMPLEX128, 5, 10, DT_NO_HALF},
        {DT_DRAW_UNIFORM, DT_FLOAT32, 5, 3, 5},
        {DT_DRAW_UNIFORM, DT_FLOAT16, 4, 2, DT_NO_HALF},
        {DT_DRAW_UNIFORM, DT_COMPLEX64, 5, 5, DT_NO_HALF},
        {DT_DRAW_NORMAL, DT_FLOAT32, 5, 6, DT_NO_HALF},
        {DT_DRAW_NORMAL, DT_COMPLEX64, 5, 10, DT_NO_HALF},
        {DT_DRAW_EXPONENTIAL, DT_FLOAT32, 5, 5, DT_NO_HALF},
        {DT_DRAW_BERNOULLI, DT_BOOL, 5, 5, DT_NO_HALF},
        {DT_DRAW_INTEGERS, DT_INT8, 5, 5, DT_NO_HALF},
    };
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        dt_stream stream = STREAM;
        dt_draw_take(&stream, cases[k].kind, cases[k].dtype, cases[k].count);
        CHECK(stream.position == STREAM.position + cases[k].words);
        CHECK(stream.half == cases[k].kept);
    }
}

static void
uniform_numbers_never_reach_the_upper_end(void)
{
    static const double ends[][2] = {{0, 1}, {-1, 1}, {1, 1.001}, {-3, -2}, {2, 2}};
    static double doubles[COUNT];
    static float floats[COUNT];
    static uint16_t halves[COUNT];
    for (size_t k = 0; k < sizeof ends / sizeof *ends; k++) {
        double a = ends[k][0], b = ends[k][1];
        dt_draw draw = {.kind = DT_DRAW_UNIFORM, .dtype = DT_FLOAT64, .a = a, .b = b};
        dt_draw_run(doubles, &draw, &STREAM, 0, COUNT);
        draw.dtype = DT_FLOAT32;
        dt_draw_run(floats, &draw, &STREAM, 0, COUNT);
        draw.dtype = DT_FLOAT16;
        dt_draw_run(halves, &draw, &STREAM, 0, COUNT);
        for (int i = 0; i < COUNT; i++) {
            double half = dt_from_float16(halves[i]);
            CHECK(doubles[i] >= a && (doubles[i] < b || a == b));
            CHECK(floats[i] >= (float)a && (floats[i] < b || a == b));
            CHECK(half >= a - 1e-3 && (half < b || b - a < 0.01));
        }
    }
}

static long double
units(double value, long double exact)
{
    double away = nextafter((double)fabsl(exact), INFINITY);
    long double unit = (long double)away - (long double)(double)fabsl(exact);
    return fabsl((long double)value - exact) / unit;
}

static void
normal_and_exponential_numbers_are_right_to_the_last_places(void)
{
    const long double pi = 3.14159265358979323846264338327950288L;
    uint64_t state = 1, words[COUNT];
    double normals[COUNT], exponentials[COUNT];
    for (int trial = 0; trial < 200; trial++) {
        for (int k = 0; k < COUNT; k++)
            words[k] = check_random(&state) >> check_below(&state, 2) * trial % 64;
        dt_random_normals(normals, words, COUNT / 2);
        dt_random_exponentials(exponentials, words, COUNT);
        for (int k = 0; k < COUNT / 2; k++) {
            long double u = (long double)(words[2 * k] >> 12) * 0x1p-52L;
            long double v = (long double)(words[2 * k + 1] >> 12) * 0x1p-52L;
            long double radius = sqrtl(-2 * log1pl(-u));
            CHECK(units(exponentials[2 * k], -log1pl(-u)) <= 2);
            CHECK(fabsl(normals[2 * k] - radius * cosl(2 * pi * v)) <=
                  radius * 0x1p-51L);
            CHECK(fabsl(normals[2 * k + 1] - radius * sinl(2 * pi * v)) <=
                  radius * 0x1p-51L);
        }
    }
}

static void
the_ends_of_the_words_give_finite_numbers(void)
{
    static const uint64_t ends[] = {0, 1, UINT64_MAX, UINT64_MAX - 1, 1ull << 63};
    for (int i = 0; i < 5; i++)
        for (int k = 0; k < 5; k++) {
            double pair[2], one;
            dt_random_normals(pair, (uint64_t[]){ends[i], ends[k]}, 1);
            dt_random_exponentials(&one, &ends[i], 1);
            CHECK(fabs(pair[0]) < 8.5 && fabs(pair[1]) < 8.5);
            CHECK(one >= 0 && one < 36.1 && !signbit(one));
        }
}

static void
dropout_drops_where_uniform_numbers_of_float32_are_below_p(void)
{
    static float u[COUNT], x[COUNT], y[COUNT];
    static double pairs[2 * COUNT], out[2 * COUNT];
    dt_draw draw = {.kind = DT_DRAW_UNIFORM, .dtype = DT_FLOAT32, .b = 1};
    dt_draw_run(u, &draw, &KEPT, 0, COUNT);
    for (int i = 0; i < COUNT; i++)
        x[i] = (float)(i + 1), pairs[2 * i] = i + 1, pairs[2 * i + 1] = -i;
    x[7] = INFINITY;
    static const double ps[] = {0, 0.25, 0.5, 1, 1e-9};
    for (int k = 0; k < 5; k++) {
        float scale = (float)(1 / (1 - ps[k]));
        memset(y, 0xff, sizeof y);
        dt_dropout_run(y, x, DT_FLOAT32, ps[k], &KEPT, 0, 5);
        dt_dropout_run(y + 5, x + 5, DT_FLOAT32, ps[k], &KEPT, 5, COUNT - 5);
        dt_dropout_run(out, pairs, DT_COMPLEX128, ps[k], &KEPT, 0, COUNT);
        for (int i = 0; i < COUNT; i++) {
            bool dropped = u[i] < ps[k];
            CHECK(y[i] == (dropped ? 0 : x[i] * scale));
            CHECK(out[2 * i] == (dropped ? 0 : pairs[2 * i] * (1 / (1 - ps[k]))));
            CHECK((out[2 * i + 1] == 0) == (dropped || i == 0));
        }
    }
}

DT_MAIN(TEST(an_array_is_the_same_however_it_is_cut_into_runs),
        TEST(uniform_numbers_are_those_of_numpy),
        TEST(a_draw_takes_what_its_elements_are_made_of),
        TEST(uniform_numbers_never_reach_the_upper_end),
        TEST(normal_and_exponential_numbers_are_right_to_the_last_places),
        TEST(the_ends_of_the_words_give_finite_numbers),
        TEST(dropout_drops_where_uniform_numbers_of_float32_are_below_p))
