#include "kernels/half_ops.h"

#include "kernels/half.h"
#include "kernels/level.h"

#include "check.h"

#include <fenv.h>
#include <math.h>
#include <string.h>

enum { ALL = 1 << 16, COUNT = ALL - 13 }; /* a length that no vector divides */

static uint16_t a[ALL], b[ALL], c[ALL], out[ALL];

/* All numbers of 16 bits, in orders of which each has other neighbours. */
static void
fill(void)
{
    for (uint32_t k = 0; k < ALL; k++) {
        a[k] = (uint16_t)k;
        b[k] = (uint16_t)(k * 40503 + 77);
        c[k] = (uint16_t)(k * 30011 + 5);
    }
}

static bool
is_same(uint16_t x, float value)
{
    float found = dt_from_float16(x);
    return (isnan(found) && isnan(value)) ||
           (found == value && signbit(found) == signbit(value));
}

/* In either format; float32 rounds exactly as the sum, product or quotient of float64. */
static void
check_rounding(dt_dtype half, const char *name, char symbol)
{
    const bool wide = half == DT_BFLOAT16;
    const uint16_t *x[] = {a, b};
    const int steps[] = {1, 1};
    CHECK(dt_half_op_has(dt_half_op_of(name), half));
    dt_half_op_run(dt_half_op_of(name), half, out, x, steps, COUNT);
    for (int i = 0; i < COUNT; i++) {
        float p = wide ? dt_from_bfloat16(a[i]) : dt_from_float16(a[i]);
        float q = wide ? dt_from_bfloat16(b[i]) : dt_from_float16(b[i]);
        float exact = symbol == '+'   ? p + q
                      : symbol == '-' ? p - q
                      : symbol == '*' ? p * q
                                      : p / q;
        uint16_t want = wide ? dt_to_bfloat16(exact) : dt_to_float16(exact);
        float found = wide ? dt_from_bfloat16(out[i]) : dt_from_float16(out[i]);
        CHECK(isnan(exact) ? isnan(found) : out[i] == want);
    }
}

static void
sums_products_and_quotients_are_rounded_once(void)
{
    static const char *const NAMES[] = {"add", "subtract", "multiply", "divide"};
    fill();
    for (int level = 2; level >= 0; level--) {
        dt_level_set(level);
        for (int k = 0; k < 4; k++) {
            check_rounding(DT_FLOAT16, NAMES[k], "+-*/"[k]);
            check_rounding(DT_BFLOAT16, NAMES[k], "+-*/"[k]);
        }
    }
    dt_level_set(-1);
    CHECK(!dt_half_op_has(dt_half_op_of("less"), DT_BFLOAT16));
}

static void
numbers_are_chosen_and_compared(void)
{
    static uint8_t bytes[ALL];
    const int steps[] = {1, 0, 1};
    fill();
    for (int level = 2; level >= 0; level--) {
        dt_level_set(level);
        const uint16_t one[] = {dt_to_float16(1)}, *x[] = {a, one, c};
        dt_half_op_run(dt_half_op_of("maximum"), DT_FLOAT16, out, x, steps, COUNT);
        dt_half_op_run(dt_half_op_of("less"), DT_FLOAT16, bytes, x, steps, COUNT);
        for (int i = 0; i < COUNT; i++) {
            float p = dt_from_float16(a[i]);
            CHECK(is_same(out[i], isnan(p) || p >= 1 ? p : 1));
            CHECK(bytes[i] == (p < 1));
        }
        dt_half_op_run(dt_half_op_of("clip"), DT_FLOAT16, out, x, steps, COUNT);
        for (int i = 0; i < COUNT; i++) {
            float p = dt_from_float16(a[i]), low = isnan(p) || p >= 1 ? p : 1;
            float high = dt_from_float16(c[i]);
            CHECK(is_same(out[i], isnan(low) || low <= high ? low : high));
        }
    }
    dt_level_set(-1);
}

static int
raised(const char *name, uint16_t x, uint16_t y)
{
    const uint16_t *operands[] = {&x, &y};
    const int steps[] = {1, 1};
    uint16_t result;
    feclearexcept(FE_ALL_EXCEPT);
    dt_half_op_run(dt_half_op_of(name), DT_FLOAT16, &result, operands, steps, 1);
    return fetestexcept(FE_DIVBYZERO | FE_OVERFLOW | FE_UNDERFLOW | FE_INVALID);
}

static void
flags_are_raised(void)
{
    const uint16_t zero = 0, one = 0x3c00, most = 0x7bff, least = 1, infinite = 0x7c00,
                   nan = 0x7e00, normal = 0x0400;
    for (int level = 2; level >= 0; level--) {
        dt_level_set(level);
        CHECK(raised("add", one, one) == 0);
        CHECK(raised("add", most, most) == FE_OVERFLOW);
        CHECK(raised("add", infinite, one) == 0);
        CHECK(raised("add", nan, one) == 0);
        CHECK(raised("subtract", infinite, infinite) == FE_INVALID);
        CHECK(raised("divide", one, zero) == FE_DIVBYZERO);
        CHECK(raised("multiply", least, least) == FE_UNDERFLOW);
        CHECK(raised("multiply", least, one) == 0); /* exact */
        CHECK(raised("subtract", normal, least) == 0);
        CHECK(raised("sqrt", dt_to_float16(-1), zero) == FE_INVALID);
        CHECK(raised("less", nan, one) == 0);
        CHECK(raised("maximum", nan, one) == 0);
    }
    dt_level_set(-1);
}

static void
a_result_may_be_an_operand(void)
{
    const uint16_t *x[] = {a, b};
    const int steps[] = {1, 1};
    fill();
    dt_half_op_run(dt_half_op_of("add"), DT_FLOAT16, out, x, steps, COUNT);
    dt_half_op_run(dt_half_op_of("add"), DT_FLOAT16, a, x, steps, COUNT);
    CHECK(memcmp(out, a, COUNT * sizeof *out) == 0);
    CHECK(dt_half_op_of("sin") == NULL);
}

DT_MAIN(TEST(sums_products_and_quotients_are_rounded_once),
        TEST(numbers_are_chosen_and_compared), TEST(flags_are_raised),
        TEST(a_result_may_be_an_operand))
