#include "kernels/level.h"

#include "check.h"

#include <float.h>
#include <math.h>
#include <stdbool.h>
#include <string.h>

enum {
    EXP,
    EXPM1,
    TANH,
    SIGMOID,
    LOG,
    LOG1P,
    ERF,
    ERFC,
    NORMAL,
    FUNCTIONS,
    COUNT = 4099
};

typedef struct {
    void (*apply[FUNCTIONS])(void *out, const void *x, int64_t count);
} loops;

#define LOOPS "kernels/vmath_loops.h"
#include "kernels/levels.h"

static const loops *const TABLE[][2] = DT_LEVELS(TABLE);

static long double
sigmoidl(long double x)
{
    return 1 / (1 + expl(-x));
}

static long double
normall(long double x)
{
    return erfcl(-x / sqrtl(2)) / 2;
}

/* Where a function is looked at in float32 and in float64 (without results that are
 * subnormal, but of exp; without the far tails of erfc and normal), and the error that it may
 * have in units of the last place. */
static const struct {
    const char *name;
    long double (*exact)(long double);
    double low, high, wide_low, wide_high, error;
} ROWS[] = {
    [EXP] = {"exp", expl, -110, 95, -750, 712, 1.1},
    [EXPM1] = {"expm1", expm1l, -40, 87, -60, 700, 2.5},
    [TANH] = {"tanh", tanhl, -12, 12, -24, 24, 3},
    [SIGMOID] = {"sigmoid", sigmoidl, -87, 50, -708, 50, 3},
    [LOG] = {"log", logl, 0, 1e30, 0, 1e300, 1},
    [LOG1P] = {"log1p", log1pl, 0, 1, 0, 1, 1.5},
    [ERF] = {"erf", erfl, -6, 6, -8, 8, 3},
    [ERFC] = {"erfc", erfcl, -6, 3.5, -6, 3.5, 20},
    [NORMAL] = {"normal", normall, -5, 12, -5, 12, 20},
};

/* The error of a result, in units of the last place of the exact one. */
static double
error_of(long double got, long double exact, int digits, int least)
{
    int exponent;
    if (got == exact)
        return 0;
    frexpl(exact, &exponent);
    if (exponent < least)
        exponent = least;
    return (double)(fabsl(got - exact) / ldexpl(1, exponent - digits));
}

/* Numbers between two, or (every other turn) of all sizes. */
static double
number(uint64_t *state, double low, double high, int turn)
{
    double u = (double)(check_random(state) >> 11) / 0x1p53;
    if (turn % 2 == 0)
        return low + (high - low) * u;
    double x = exp(-60 + 60 * u) * (high < 1 ? high : 1);
    return low < 0 && (check_random(state) & 1) ? -x : x;
}

static void
functions_are_as_exact_as_it_is_said(void)
{
    static float x[COUNT], y[COUNT];
    static double wide_x[COUNT], wide_y[COUNT];
    uint64_t state = 1;
    for (int level = 0; level <= dt_level(); level++)
        for (int f = 0; f < FUNCTIONS; f++)
            for (int turn = 0; turn < 12; turn++) {
                for (int i = 0; i < COUNT; i++) {
                    x[i] = (float)number(&state, ROWS[f].low, ROWS[f].high, turn);
                    wide_x[i] =
                        number(&state, ROWS[f].wide_low, ROWS[f].wide_high, turn);
                }
                TABLE[level][0]->apply[f](y, x, COUNT);
                TABLE[level][1]->apply[f](wide_y, wide_x, COUNT);
                double worst = 0, wide_worst = 0;
                for (int i = 0; i < COUNT; i++) {
                    long double exact = ROWS[f].exact((long double)x[i]);
                    if (fabsl(exact) <= (long double)FLT_MAX)
                        worst =
                            fmax(worst, error_of((long double)y[i], exact, 24, -125));
                    exact = ROWS[f].exact((long double)wide_x[i]);
                    if (fabsl(exact) <= (long double)DBL_MAX)
                        wide_worst = fmax(wide_worst, error_of((long double)wide_y[i],
                                                               exact, 53, -1021));
                }
                if (worst > ROWS[f].error || wide_worst > ROWS[f].error)
                    printf("%s, level %d: %g and %g\n", ROWS[f].name, level, worst,
                           wide_worst);
                CHECK(worst <= ROWS[f].error && wide_worst <= ROWS[f].error);
            }
}

static bool
same(double a, double b)
{
    return (isnan(a) && isnan(b)) || a == b;
}

static void
functions_know_infinities_and_nan(void)
{
    static const float ENDS[] = {-INFINITY, INFINITY, NAN, 0, -0.0f};
    /* one for each of ENDS; expm1 of infinity, log1p of what it does not take: any */
    static const float WANTED[FUNCTIONS][5] = {
        [EXP] = {0, INFINITY, NAN, 1, 1},
        [EXPM1] = {-1, 1, NAN, 0},
        [TANH] = {-1, 1, NAN, 0},
        [SIGMOID] = {0, 1, NAN, 0.5f, 0.5f},
        [LOG] = {NAN, INFINITY, NAN, -INFINITY, -INFINITY},
        [LOG1P] = {NAN, 1, NAN, 0},
        [ERF] = {-1, 1, NAN, 0},
        [ERFC] = {2, 0, NAN, 1, 1},
        [NORMAL] = {0, 1, NAN, 0.5f, 0.5f},
    };
    double wide[5], wide_out[5];
    float out[5];
    for (int k = 0; k < 5; k++)
        wide[k] = (double)ENDS[k];
    for (int level = 0; level <= dt_level(); level++)
        for (int f = 0; f < FUNCTIONS; f++) {
            TABLE[level][0]->apply[f](out, ENDS, 5);
            TABLE[level][1]->apply[f](wide_out, wide, 5);
            for (int k = 0; k < 5; k++) {
                if (k == 1 && (f == EXPM1 || f == LOG1P))
                    continue;
                CHECK(same((double)out[k], (double)WANTED[f][k]));
                CHECK(same(wide_out[k], (double)WANTED[f][k]));
            }
        }
}

static void
an_element_has_the_same_bits_wherever_it_stands(void)
{
    static float x[COUNT], whole[COUNT], part[COUNT];
    uint64_t state = 2;
    for (int i = 0; i < COUNT; i++)
        x[i] = (float)number(&state, -5, 5, 0);
    for (int level = 0; level <= dt_level(); level++)
        for (int f = 0; f < FUNCTIONS; f++) {
            TABLE[level][0]->apply[f](whole, x, COUNT);
            for (int first = 0; first < 70; first++) {
                int64_t count = check_below(&state, COUNT - first);
                TABLE[level][0]->apply[f](part, x + first, count);
                CHECK(memcmp(part, whole + first, (size_t)count * sizeof *part) == 0);
            }
        }
}

static void
a_level_is_set_if_the_machine_has_it(void)
{
    int best = dt_level();
    CHECK(dt_level_set(0) == 0 && dt_level() == 0);
    CHECK(dt_level_set(best + 1) == best);
    CHECK(dt_level_set(-1) == best);
}

DT_MAIN(TEST(functions_are_as_exact_as_it_is_said),
        TEST(functions_know_infinities_and_nan),
        TEST(an_element_has_the_same_bits_wherever_it_stands),
        TEST(a_level_is_set_if_the_machine_has_it))
