#include "core/memory/memory.h"

#include "check.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum { MIB = 1 << 20, DEFAULT_LIMIT = 1 << 30, SLOTS = 64, THREADS = 4 };

typedef struct {
    unsigned char *at;
    size_t bytes;
    unsigned char mark;
} slot;

/* The ends and 64 places between tell whether somebody else wrote to it. */
static void
mark(const slot *s)
{
    for (size_t i = 0; i < s->bytes; i += s->bytes / 64 + 1)
        s->at[i] = s->mark;
    if (s->bytes > 0)
        s->at[s->bytes - 1] = s->mark;
}

static bool
marked(const slot *s)
{
    for (size_t i = 0; i < s->bytes; i += s->bytes / 64 + 1)
        if (s->at[i] != s->mark)
            return false;
    return s->bytes == 0 || s->at[s->bytes - 1] == s->mark;
}

static void
take(slot *s, size_t bytes, unsigned char value)
{
    s->bytes = bytes;
    s->mark = value;
    s->at = dt_memory_take(bytes);
    CHECK(s->at != NULL && (uintptr_t)s->at % 64 == 0);
    mark(s);
}

static void
give(slot *s)
{
    CHECK(marked(s));
    dt_memory_give(s->at);
    s->at = NULL;
}

/* Sizes from 0 to `limit`, as many of each magnitude. */
static size_t
some_size(uint64_t *random, size_t limit)
{
    return (size_t)check_random(random) % (limit >> check_below(random, 20));
}

static void
take_and_give_at_random(uint64_t seed, int rounds)
{
    slot slots[SLOTS] = {{0}};
    uint64_t random = seed;
    for (int i = 0; i < rounds; i++) {
        slot *s = &slots[check_below(&random, SLOTS)];
        if (s->at != NULL)
            give(s);
        else
            take(s, some_size(&random, 8 * MIB), (unsigned char)(seed + (uint64_t)i));
    }
    for (int i = 0; i < SLOTS; i++)
        if (slots[i].at != NULL)
            give(&slots[i]);
}

static void
a_block_belongs_to_its_taker(void)
{
    size_t used = dt_memory_used();
    take_and_give_at_random(1, 20000);
    CHECK(dt_memory_used() == used);
}

static void *
run_thread(void *seed)
{
    take_and_give_at_random(*(uint64_t *)seed, 5000);
    return NULL;
}

static void
a_block_belongs_to_its_taker_among_threads(void)
{
    pthread_t threads[THREADS];
    uint64_t seeds[THREADS];
    size_t used = dt_memory_used();
    for (int i = 0; i < THREADS; i++) {
        seeds[i] = (uint64_t)i + 100;
        CHECK(pthread_create(&threads[i], NULL, run_thread, &seeds[i]) == 0);
    }
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    CHECK(dt_memory_used() == used);
}

static void
a_block_given_is_the_next_one_taken(void)
{
    dt_memory_set_limit(0);
    dt_memory_set_limit(DEFAULT_LIMIT);
    for (size_t bytes = 0; bytes < (size_t)64 * MIB; bytes += bytes / 3 + 1) {
        void *first = dt_memory_take(bytes);
        size_t kept = dt_memory_kept(), used = dt_memory_used();
        dt_memory_give(first);
        CHECK(dt_memory_kept() - kept == used - dt_memory_used());
        void *second = dt_memory_take(bytes);
        CHECK(second == first && dt_memory_kept() == kept && dt_memory_used() == used);
        dt_memory_give(second);
        if (bytes % 2 == 0)
            dt_memory_set_limit(0); /* also where nothing is kept before */
        dt_memory_set_limit(DEFAULT_LIMIT);
    }
}

static void *
run_giver(void *block)
{
    dt_memory_give(block);
    return NULL;
}

static void
what_a_thread_has_at_most_is_counted(void)
{
    CHECK(dt_memory_watched() == 0);
    void *before = dt_memory_take(1 << 20);
    CHECK(dt_memory_watch());
    void *first = dt_memory_take(5000), *second = dt_memory_take(3000);
    pthread_t other;
    CHECK(pthread_create(&other, NULL, run_giver, first) == 0);
    pthread_join(other, NULL);
    dt_memory_give(before);
    void *buffer = dt_memory_take_buffer(1 << 20), *third = dt_memory_take(4000);
    CHECK(dt_memory_watched() == 8000);
    dt_memory_give(second);
    CHECK(dt_memory_watch()); /* the third one is not of this account */
    dt_memory_give(third);
    dt_memory_give(buffer);
    void *last = dt_memory_take(100);
    CHECK(dt_memory_watched() == 100 && dt_memory_watched() == 0);
    dt_memory_give(last);
}

static void
a_block_wastes_at_most_an_eighth(void)
{
    for (size_t bytes = 0; bytes < (size_t)64 * MIB; bytes += bytes / 30 + 1) {
        size_t used = dt_memory_used();
        void *block = dt_memory_take(bytes);
        size_t more = dt_memory_used() - used;
        CHECK(more >= bytes && more <= bytes + bytes / 8 + 64);
        dt_memory_give(block);
    }
}

static void
no_more_than_the_limit_is_kept(void)
{
    void *blocks[SLOTS];
    uint64_t random = 3;
    for (size_t limit = 0; limit < (size_t)128 * MIB; limit = 3 * limit + 100) {
        dt_memory_set_limit(limit);
        CHECK(dt_memory_kept() <= limit);
        for (int i = 0; i < SLOTS; i++)
            blocks[i] = dt_memory_take(some_size(&random, 6 * MIB));
        for (int i = 0; i < SLOTS; i++) {
            dt_memory_give(blocks[i]);
            CHECK(dt_memory_kept() <= limit);
        }
        dt_memory_set_limit(limit / 2);
        CHECK(dt_memory_kept() <= limit / 2);
    }
    dt_memory_set_limit(DEFAULT_LIMIT);
}

/* Gives `count` blocks of 1, 2, ... KiB under a limit that has room for all but the
 * first `gone`, then asks which of them are still there. */
static void
keep_all_but(int count, int gone)
{
    void *blocks[16];
    size_t limit = 0;
    dt_memory_set_limit(0);
    for (int i = 0; i < count; i++) {
        blocks[i] = dt_memory_take((size_t)(i + 1) * 1024);
        limit += i < gone ? 0 : (size_t)(i + 1) * 1024;
    }
    dt_memory_set_limit(limit);
    for (int i = 0; i < count; i++)
        dt_memory_give(blocks[i]);
    for (int i = 0; i < count; i++) {
        size_t kept = dt_memory_kept();
        blocks[i] = dt_memory_take((size_t)(i + 1) * 1024);
        CHECK((dt_memory_kept() < kept) == (i >= gone));
    }
    for (int i = 0; i < count; i++)
        dt_memory_give(blocks[i]);
    dt_memory_set_limit(DEFAULT_LIMIT);
}

static void
the_oldest_blocks_are_freed_first(void)
{
    for (int gone = 0; gone <= 8; gone++)
        keep_all_but(8, gone);
}

static void
a_block_beyond_the_limit_pushes_nothing_out(void)
{
    dt_memory_set_limit(0);
    void *large = dt_memory_take(1 << 16), *small = dt_memory_take(1 << 10);
    dt_memory_set_limit(1 << 15);
    dt_memory_give(small);
    dt_memory_give(large);
    CHECK(dt_memory_kept() == 1 << 10);
    dt_memory_set_limit(DEFAULT_LIMIT);
}

static void
what_no_machine_has_is_not_given(void)
{
    size_t used = dt_memory_used();
    for (int shift = 0; shift < 14; shift++) {
        CHECK(dt_memory_take(SIZE_MAX >> shift) == NULL);
        CHECK(dt_memory_take((SIZE_MAX >> shift) - 4096) == NULL);
    }
    CHECK(dt_memory_used() == used);
    dt_memory_give(NULL);
}

static void *
take_twice(void *out)
{
    for (int i = 0; i < 2; i++) {
        void *block = dt_memory_take(100);
        *(bool *)out = *(bool *)out && block != NULL;
        dt_memory_give(block);
    }
    return NULL;
}

static void
only_the_chosen_call_of_this_thread_fails(void)
{
    for (long k = 0; k <= 5; k++) {
        dt_memory_fail_at(k);
        bool others = true;
        pthread_t thread;
        CHECK(pthread_create(&thread, NULL, take_twice, &others) == 0);
        pthread_join(thread, NULL);
        CHECK(others);
        for (long call = 1; call <= 8; call++) {
            void *block = dt_memory_take(100);
            CHECK((block == NULL) == (call == k));
            dt_memory_give(block);
        }
    }
}

DT_MAIN(TEST(a_block_belongs_to_its_taker),
        TEST(a_block_belongs_to_its_taker_among_threads),
        TEST(a_block_given_is_the_next_one_taken),
        TEST(what_a_thread_has_at_most_is_counted),
        TEST(a_block_wastes_at_most_an_eighth), TEST(no_more_than_the_limit_is_kept),
        TEST(the_oldest_blocks_are_freed_first),
        TEST(a_block_beyond_the_limit_pushes_nothing_out),
        TEST(what_no_machine_has_is_not_given),
        TEST(only_the_chosen_call_of_this_thread_fails))
