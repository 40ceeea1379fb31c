#include "core/memory/memory.h"
#include "core/memory/range.h"

#include "check.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

enum { PAGE = 4096, LIST = 7, ROUNDS = 200 };

static void
a_block_lies_in_the_range_and_is_zeroed(void)
{
    for (size_t bytes = 1; bytes < (size_t)64 << 20; bytes = 5 * bytes + 3)
        for (size_t alignment = 64; alignment <= (size_t)2 << 20; alignment *= 8) {
            unsigned char *at = dt_range_take(bytes, 64, alignment, LIST);
            CHECK(at != NULL && (uintptr_t)at % alignment == 0);
            CHECK(dt_range_has(at) && dt_range_has(at + bytes - 1));
            CHECK(at[-64] == 0 && at[0] == 0 && at[bytes - 1] == 0);
            memset(at - 64, 1, 64 + bytes);
            dt_range_give(at, bytes, 64, LIST);
            unsigned char *again = dt_range_take(bytes, 64, alignment, LIST);
            CHECK(again == at && again[-64] == 0 && again[bytes - 1] == 0);
            /* Its addresses are used up: the next size has others. */
        }
}

static void
other_addresses_are_not_in_the_range(void)
{
    int local;
    void *mapped = mmap(NULL, PAGE, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    void *block = dt_range_take(PAGE, 0, 64, LIST + 1);
    CHECK(!dt_range_has(NULL) && !dt_range_has(&local) && !dt_range_has(mapped));
    CHECK(dt_range_has(block) && !dt_range_has((char *)block - ((intptr_t)1 << 40)));
    munmap(mapped, PAGE);
    dt_range_give(block, PAGE, 0, LIST + 1);
}

static void
blocks_do_not_overlap(void)
{
    unsigned char *blocks[ROUNDS];
    uint64_t random = 5;
    size_t sizes[ROUNDS];
    for (int i = 0; i < ROUNDS; i++) {
        int list = 10 + (int)check_below(&random, 5);
        sizes[i] = (size_t)(list - 9) * 3 * PAGE;
        blocks[i] = dt_range_take(sizes[i], 64, 64, list);
        memset(blocks[i] - 64, i, 64 + sizes[i]);
        int gone = (int)check_below(&random, i + 1); /* gives one back now and then */
        if (i % 3 == 0 && blocks[gone] != NULL) {
            dt_range_give(blocks[gone], sizes[gone], 64,
                          9 + (int)(sizes[gone] / PAGE / 3));
            blocks[gone] = NULL;
        }
    }
    for (int i = 0; i < ROUNDS; i++)
        for (size_t k = 0; blocks[i] != NULL && k < 64 + sizes[i]; k++)
            if (blocks[i][(ptrdiff_t)k - 64] != (unsigned char)i) {
                CHECK(false);
                break;
            }
}

static void
without_memory_there_is_no_block_and_nothing_is_lost(void)
{
    struct rlimit before, none;
    getrlimit(RLIMIT_DATA, &before);
    none = before;
    none.rlim_cur = 1 << 20;
    setrlimit(RLIMIT_DATA, &none);
    CHECK(dt_range_take((size_t)1 << 30, 64, 64, 30) == NULL);
    setrlimit(RLIMIT_DATA, &before);
    void *block = dt_range_take((size_t)1 << 30, 64, 64, 30);
    CHECK(block != NULL);
    dt_range_give(block, (size_t)1 << 30, 64, 30);
    CHECK(dt_range_take(SIZE_MAX >> 1, 64, 64, 31) == NULL);
}

/* In a process of its own, which has no range yet. */
static void
a_limit_of_addresses_leaves_others_half_of_them(void)
{
    pid_t child = fork();
    if (child == 0) {
        long pages = 0;
        FILE *file = fopen("/proc/self/statm", "r");
        if (file == NULL || fscanf(file, "%ld", &pages) != 1)
            _exit(2);
        rlim_t most = (rlim_t)pages * PAGE + ((rlim_t)4 << 30);
        setrlimit(RLIMIT_AS, &(struct rlimit){most, most});
        const char *block = dt_range_take(PAGE, 0, 64, LIST);
        const void *other =
            mmap(NULL, (size_t)3 << 29, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        _exit(block == NULL || other == MAP_FAILED);
    }
    int status = -1;
    CHECK(child > 0 && waitpid(child, &status, 0) == child && status == 0);
}

/* A range with pages for some blocks only. */
static int pages_left, dropped;

static bool
get_some(void *at, size_t bytes)
{
    return pages_left-- > 0 && mprotect(at, bytes, PROT_READ | PROT_WRITE) == 0;
}

static bool
drop_and_count(void *at, size_t bytes)
{
    dropped++;
    return mprotect(at, bytes, PROT_NONE) == 0;
}

static void
blocks_lie_in_a_range_that_is_given_while_it_has_pages(void)
{
    enum { BYTES = 1 << 26, SMALL = 5000 };
    char *at = mmap(NULL, BYTES, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    dt_range_source source = {at, BYTES, get_some, drop_and_count, .huge = false};
    char *before = dt_memory_take(SMALL), *large = dt_memory_take(SMALL << 5);
    CHECK(!dt_range_has(before) && dt_range_has(large) && !dt_range_given());
    dt_memory_give(before);
    CHECK(dt_memory_use(&source) && dt_range_given());
    CHECK(dt_memory_kept() == 0);
    pages_left = 2;
    char *blocks[4];
    for (int k = 0; k < 4; k++) {
        blocks[k] = dt_memory_take(SMALL);
        CHECK(blocks[k] != NULL && dt_range_has(blocks[k]) == (k < 2));
        CHECK(dt_range_current(blocks[k]) == (k < 2));
        memset(blocks[k], k, SMALL);
    }
    CHECK(!dt_range_current(large));
    dt_memory_give(large);
    for (int k = 0; k < 4; k++)
        dt_memory_give(blocks[k]);
    CHECK(dt_memory_kept() > 0 && dt_memory_kept() < 3 * SMALL); /* two of them */
    CHECK(dt_memory_take(SMALL) == blocks[1]);
    dt_memory_set_limit(0);
    CHECK(dropped == 1 && dt_range_has(blocks[1]));
    dt_range_use(NULL);
    dt_memory_give(blocks[1]);
    CHECK(dropped == 2);
    char *after = dt_memory_take(SMALL << 5);
    CHECK(dt_range_has(after) && !(after >= at && after < at + BYTES));
    dt_memory_give(after);
}

DT_MAIN(TEST(a_limit_of_addresses_leaves_others_half_of_them),
        TEST(a_block_lies_in_the_range_and_is_zeroed),
        TEST(other_addresses_are_not_in_the_range), TEST(blocks_do_not_overlap),
        TEST(without_memory_there_is_no_block_and_nothing_is_lost),
        TEST(blocks_lie_in_a_range_that_is_given_while_it_has_pages))
