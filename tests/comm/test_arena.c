/* Memory that other processes can read: who sees what, and what a fork leaves to whom. */
#include "comm/transport/arena.h"
#include "comm/transport/fetch.h"
#include "core/memory/copy.h"
#include "core/memory/memory.h"

#include "check.h"

#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

enum { BYTES = 300000, ROUNDS = 300 };

static dt_arena_card own;

/* Runs in a child of fork; true if it returns true there. */
static bool
in_child(bool (*run)(void *), void *data)
{
    int status = 0;
    fflush(stdout);
    pid_t pid = fork();
    if (pid == 0)
        _exit(run(data) ? 0 : 1);
    waitpid(pid, &status, 0);
    return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

static bool
has_none(void *data)
{
    dt_arena_card card;
    (void)data;
    dt_arena_open(&card);
    void *block = dt_memory_take(BYTES);
    return card.pid == 0 && card.node != 0 && dt_arena_door(64) == NULL &&
           block != NULL && !dt_arena_has(block);
}

static bool
has_none_by_setting(void *data)
{
    setenv("DTENSOR_ARENA", "0", 1);
    return has_none(data);
}

static bool
has_none_with_small_files(void *data)
{
    struct rlimit limit = {1 << 20, 1 << 20};
    return setrlimit(RLIMIT_FSIZE, &limit) == 0 && has_none(data);
}

static bool
has_none_without_descriptors(void *data)
{
    struct rlimit limit = {0, 0};
    return setrlimit(RLIMIT_NOFILE, &limit) == 0 && has_none(data);
}

static void
where_there_can_be_none_memory_is_as_before(void)
{
    CHECK(in_child(has_none_by_setting, NULL));
    CHECK(in_child(has_none_with_small_files, NULL));
    CHECK(in_child(has_none_without_descriptors, NULL));
}

static void
it_is_made_once_and_the_pool_takes_its_blocks_there(void)
{
    char *before = dt_memory_take(BYTES);
    dt_arena_card again;
    dt_arena_open(&own);
    dt_arena_open(&again);
    CHECK(own.pid == getpid() && memcmp(&own, &again, sizeof own) == 0);
    CHECK(!dt_arena_has(before) && !dt_arena_has(&own));
    dt_memory_give(before);
    char *block = dt_memory_take(BYTES), *small = dt_memory_take(100);
    CHECK(block != before && dt_arena_has(block) && dt_arena_has(block + BYTES - 1));
    CHECK(!dt_arena_has(small));
    memset(block, 1, BYTES);
    dt_memory_give(block);
    CHECK(dt_memory_take(BYTES) == block); /* kept */
    dt_memory_give(block);
    dt_memory_set_limit(0); /* its pages are given back */
    dt_memory_set_limit((size_t)1 << 30);
    block = dt_memory_take(BYTES);
    CHECK(dt_arena_has(block) && block[0] == 0 && block[BYTES - 1] == 0);
    dt_memory_give(block);
    dt_memory_give(small);
}

/* What a child does with an array of its parent. */
typedef struct {
    volatile char *array, *door;
    int told[2], answered[2];
} shared;

static bool
see_and_write(void *data)
{
    shared *s = data;
    dt_arena_view view;
    char word = 0;
    bool well = dt_arena_map(&view, &own, (uint64_t)(uintptr_t)s->door, 4096);
    volatile char *seen = well ? dt_arena_see(&view, (const void *)s->array) : NULL;
    well = well && seen != s->array && seen[5] == 1 && s->array[5] == 1;
    well = well && dt_arena_see(&view, &word) == NULL;
    s->array[5] = 7; /* the child's own */
    well =
        well && write(s->answered[1], "x", 1) == 1 && read(s->told[0], &word, 1) == 1;
    well = well && seen[6] == 2 && seen[5] == 1; /* what the parent has written */
    ((volatile char *)dt_arena_see(&view, (const void *)s->door))[9] = 3;
    char *block = dt_memory_take(BYTES);
    well = well && block != NULL && !dt_arena_has(block);
    dt_memory_give(block);
    dt_memory_give((void *)(uintptr_t)s->array);
    dt_arena_unmap(&view);
    return well;
}

static void
another_process_sees_what_is_written_and_a_child_writes_for_itself(void)
{
    shared s = {.array = dt_memory_take(BYTES), .door = dt_arena_door(100)};
    CHECK(s.array != NULL && s.door != NULL && s.door[9] == 0);
    CHECK(pipe(s.told) == 0 && pipe(s.answered) == 0);
    memset((void *)(uintptr_t)s.array, 1, BYTES);
    fflush(stdout);
    pid_t pid = fork();
    if (pid == 0)
        _exit(see_and_write(&s) ? 0 : 1);
    char word;
    int status = 1;
    CHECK(read(s.answered[0], &word, 1) == 1);
    CHECK(s.array[5] == 1);
    s.array[6] = 2;
    CHECK(write(s.told[1], "x", 1) == 1);
    waitpid(pid, &status, 0);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    CHECK(s.array[5] == 1 && s.door[9] == 3);
    dt_memory_give((void *)(uintptr_t)s.array);
}

static void
a_card_that_leads_nowhere_maps_nothing(void)
{
    dt_arena_view view;
    dt_arena_card wrong = own;
    wrong.file++;
    CHECK(!dt_arena_map(&view, &wrong, 0, 0) && view.at == NULL);
    wrong = own;
    wrong.pid = 0;
    CHECK(!dt_arena_map(&view, &wrong, 0, 0));
    dt_arena_unmap(&view);
}

/* A random box of a random array, into another one. */
static void
a_box_that_is_fetched_is_the_box_that_is_copied(void)
{
    uint64_t random = 3;
    unsigned char *src = malloc(BYTES), *dst = malloc(BYTES), *want = malloc(BYTES);
    for (size_t k = 0; k < BYTES; k++)
        src[k] = (unsigned char)check_random(&random);
    for (int round = 0; round < ROUNDS; round++) {
        int ndim = (int)check_below(&random, 4);
        size_t itemsize = (size_t)1 << check_below(&random, 5);
        int64_t shape[3], from[3], to[3], inner = (int64_t)itemsize;
        int64_t outer = (int64_t)itemsize;
        for (int d = ndim - 1; d >= 0; d--) {
            shape[d] = (int64_t)check_below(&random, 14);
            to[d] = inner;
            inner *= shape[d] + (int64_t)check_below(&random, 2);
            from[d] = outer;
            outer *= shape[d] + (int64_t)check_below(&random, 3);
        }
        if (ndim > 1 && check_below(&random, 3) == 0) { /* in Fortran order */
            from[0] = (int64_t)itemsize;
            from[ndim - 1] = outer;
        }
        memset(dst, 0, BYTES);
        memset(want, 0, BYTES);
        dt_copy_box(want, to, src, from, ndim, shape, itemsize);
        CHECK(dt_fetch_box(getpid(), dst, to, src, from, ndim, shape, itemsize, NULL) ==
              DT_OK);
        CHECK(memcmp(dst, want, BYTES) == 0);
    }
    dt_error err;
    CHECK(dt_fetch_box(getpid(), dst, NULL, (void *)8, NULL, 0, NULL, 8, &err) ==
          DT_RUNTIME);
    free(src);
    free(dst);
    free(want);
}

DT_MAIN(TEST(where_there_can_be_none_memory_is_as_before),
        TEST(it_is_made_once_and_the_pool_takes_its_blocks_there),
        TEST(another_process_sees_what_is_written_and_a_child_writes_for_itself),
        TEST(a_card_that_leads_nowhere_maps_nothing),
        TEST(a_box_that_is_fetched_is_the_box_that_is_copied))
