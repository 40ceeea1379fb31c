#include "kernels/widen.h"

#include "kernels/half.h"
#include "kernels/level.h"

#include "check.h"
#include "folds.h"

#include <string.h>

enum { ALL = 1 << 16, ODD = ALL - 13 }; /* a length that no vector divides */

static const struct {
    dt_dtype dtype;
    const half_format *format;
} HALVES[] = {{DT_FLOAT16, &FLOAT16}, {DT_BFLOAT16, &BFLOAT16}};

static uint16_t halves[ALL], back[ALL];
static float floats[ALL];

static void
all_numbers_of_16_bits_are_widened_and_come_back(void)
{
    for (int k = 0; k < ALL; k++)
        halves[k] = (uint16_t)k;
    for (size_t h = 0; h < sizeof HALVES / sizeof *HALVES; h++)
        for (int level = 2; level >= 0; level--) {
            dt_level_set(level);
            dt_widen(HALVES[h].dtype, floats, halves, ALL);
            dt_narrow(HALVES[h].dtype, back, floats, ALL);
            for (int k = 0; k < ALL; k++) {
                float value = half_value(*HALVES[h].format, halves[k]);
                bool nan = value != value;
                CHECK(nan ? floats[k] != floats[k]
                          : memcmp(&value, &floats[k], sizeof value) == 0);
                CHECK(nan ? half_value(*HALVES[h].format, back[k]) != value
                          : back[k] == halves[k]);
            }
        }
    dt_level_set(-1);
}

static void
numbers_are_rounded_to_the_nearest_at_every_level(void)
{
    for (size_t h = 0; h < sizeof HALVES / sizeof *HALVES; h++)
        for (int level = 2; level >= 0; level--)
            for (uint32_t turn = 0; turn < 16; turn++) {
                dt_level_set(level);
                for (uint32_t k = 0; k < ALL; k++) /* all exponents, ties and beside */
                    floats[k] = dt_float_of_bits(
                        (k << 16 | (turn & 1) << 15 | (turn & 2) << 11) + (turn >> 2) -
                        1);
                dt_narrow(HALVES[h].dtype, back, floats, ODD);
                for (int k = 0; k < ODD; k++)
                    CHECK(floats[k] != floats[k] ||
                          back[k] == half_nearest(*HALVES[h].format, floats[k]));
            }
    dt_level_set(-1);
}

DT_MAIN(TEST(all_numbers_of_16_bits_are_widened_and_come_back),
        TEST(numbers_are_rounded_to_the_nearest_at_every_level))
