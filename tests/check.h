/* check.h: all of the C tests' framework.
 *
 * A test is a function whose name is a sentence that is true. A file of tests is one
 * executable; it prints every name, and returns 1 if any CHECK failed:
 *
 *     DT_MAIN(TEST(chunks_tile_the_dimension), TEST(an_order_is_kept))
 */
#ifndef DT_CHECK_H
#define DT_CHECK_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum { CHECK_PRINTED = 20 }; /* a law that fails mostly fails often */

static long check_failures;

#define CHECK(condition)                                                               \
    do {                                                                               \
        if (!(condition) && check_failures++ < CHECK_PRINTED)                          \
            printf("%s:%d: %s\n", __FILE__, __LINE__, #condition);                     \
    } while (0)

typedef struct {
    void (*run)(void);
    const char *name;
} check_test;

#define TEST(name) {name, #name}

static inline int
check_run(const check_test *tests, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        long before = check_failures;
        tests[i].run();
        printf("%s %s\n", check_failures == before ? "ok    " : "FAILED",
               tests[i].name);
        fflush(stdout);
    }
    if (check_failures > 0)
        printf("%ld checks failed\n", check_failures);
    return check_failures > 0;
}

#define DT_MAIN(...)                                                                   \
    int main(void)                                                                     \
    {                                                                                  \
        const check_test tests[] = {__VA_ARGS__};                                      \
        return check_run(tests, sizeof tests / sizeof *tests);                         \
    }

/* Numbers random enough to test with, the same in every run (splitmix64). */
static inline uint64_t
check_random(uint64_t *state)
{
    uint64_t x = *state += UINT64_C(0x9e3779b97f4a7c15);
    x = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ (x >> 27)) * UINT64_C(0x94d049bb133111eb);
    return x ^ (x >> 31);
}

/* One of 0, 1, ..., limit - 1. */
static inline int64_t
check_below(uint64_t *state, int64_t limit)
{
    return (int64_t)(check_random(state) % (uint64_t)limit);
}

#endif
