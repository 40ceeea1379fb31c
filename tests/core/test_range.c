#include "core/memory/range.h"

#include "check.h"

#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>

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

DT_MAIN(TEST(a_block_lies_in_the_range_and_is_zeroed),
        TEST(other_addresses_are_not_in_the_range), TEST(blocks_do_not_overlap),
        TEST(without_memory_there_is_no_block_and_nothing_is_lost))
