/* Blocks for arrays, kept by size when they are freed.
 *
 * Sizes are rounded up to one of eight steps for each power of two, so a kept block fits
 * the next array of about that size and at most an eighth is lost. The block kept last is
 * taken first, for it may be in a cache. Beyond the limit those kept longest are freed; when
 * memory runs out all of them are, before that is an error. */
#include "core/memory/memory.h"
#include "core/memory/range.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

enum {
    ALIGNMENT = 64,
    STEPS_LOG2 = 3, /* sizes per power of two: at most an eighth of a block is lost */
    CLASSES = 64 << STEPS_LOG2, /* as many as the range has lists */
    SHARED_LEAST = 1024
};

static const size_t LARGEST = SIZE_MAX >> 2; /* sizes round up without overflow */
static const size_t HUGE_BYTES = (size_t)2 << 20;
static const size_t DEFAULT_LIMIT = (size_t)1 << 30;

/* What a thread has of the blocks that it took since it is counted; there until the last
 * of them is given back. */
typedef struct {
    size_t used, most;
    size_t blocks;
    bool over;
} account;

/* Lies before the bytes that the user gets. */
typedef struct block block;
struct block {
    _Alignas(ALIGNMENT) size_t bytes;
    block *older, *newer;   /* of all kept blocks */
    block *previous, *next; /* of those of its class; next also of a list to free */
    account *counted;       /* by whom, or NULL; and as how many bytes */
    size_t asked;
};

static struct {
    pthread_mutex_t lock;
    bool started;
    size_t limit, used, kept;
    block *oldest, *newest;
    block
        *classes[CLASSES]; /* the one kept last is taken first: it may be in a cache */
} pool = {.lock = PTHREAD_MUTEX_INITIALIZER};

static _Thread_local long calls_to_failure;
static _Thread_local account *watch;

/* Kept blocks, and what a block has beyond the bytes asked for, are out of bounds. */
#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define WITH_ASAN
#endif
#elif defined(__SANITIZE_ADDRESS__)
#define WITH_ASAN
#endif

#if defined(WITH_ASAN)
void __asan_poison_memory_region(const volatile void *at, size_t bytes);
void __asan_unpoison_memory_region(const volatile void *at, size_t bytes);
#endif

static void
allow(const block *b, size_t bytes)
{
#if defined(WITH_ASAN)
    __asan_poison_memory_region(b + 1, b->bytes);
    __asan_unpoison_memory_region(b + 1, bytes);
#else
    (void)b;
    (void)bytes;
#endif
}

static int
floor_log2(size_t x)
{
    return (int)(8 * sizeof x) - 1 - __builtin_clzll(x);
}

static size_t
round_size(size_t bytes)
{
    size_t step = ALIGNMENT;
    if (bytes > ALIGNMENT << STEPS_LOG2)
        step = (size_t)1 << (floor_log2(bytes) - STEPS_LOG2);
    return bytes == 0 ? step : (bytes + step - 1) / step * step;
}

/* The number of a rounded size: sizes of one power of two lie side by side. */
static int
class_of(size_t bytes)
{
    int log2 = floor_log2(bytes);
    return (log2 << STEPS_LOG2) + (int)(bytes >> (log2 - STEPS_LOG2)) -
           (1 << STEPS_LOG2);
}

size_t
dt_memory_least(void)
{
    return dt_range_given() ? SHARED_LEAST : DT_MEMORY_LARGE;
}

/* Large ones in a range, those of huge pages at the beginning of one. What other
 * processes may read lies there from a page on. */
static block *
make_block(size_t bytes)
{
    block *b = NULL;
    if (bytes >= dt_memory_least()) {
        size_t alignment = bytes >= HUGE_BYTES ? HUGE_BYTES : ALIGNMENT;
        b = dt_range_take(bytes, sizeof(block), alignment, class_of(bytes));
        b = b == NULL ? NULL : b - 1;
    }
    if (b == NULL)
        b = aligned_alloc(ALIGNMENT, sizeof(block) + bytes);
    if (b != NULL)
        b->bytes = bytes;
    return b;
}

static void
free_blocks(block *list)
{
    while (list != NULL) {
        block *b = list;
        list = b->next;
        allow(b, b->bytes);
        if (dt_range_has(b))
            dt_range_give(b + 1, b->bytes, sizeof(block), class_of(b->bytes));
        else
            free(b);
    }
}

static void
lock(void)
{
    pthread_mutex_lock(&pool.lock);
    if (pool.started)
        return;
    pool.started = true;
    pool.limit = DEFAULT_LIMIT;
    const char *text = getenv("DTENSOR_POOL_BYTES");
    char *end = NULL;
    unsigned long long limit = text != NULL ? strtoull(text, &end, 10) : 0;
    if (end != text && *end == '\0')
        pool.limit = (size_t)limit;
}

static void
unlock(void)
{
    pthread_mutex_unlock(&pool.lock);
}

static void
keep(block *b)
{
    block **first = &pool.classes[class_of(b->bytes)];
    b->previous = NULL;
    b->next = *first;
    if (*first != NULL)
        (*first)->previous = b;
    *first = b;
    b->newer = NULL;
    b->older = pool.newest;
    *(pool.newest != NULL ? &pool.newest->newer : &pool.oldest) = b;
    pool.newest = b;
    pool.kept += b->bytes;
}

static void
unkeep(block *b)
{
    *(b->previous != NULL ? &b->previous->next : &pool.classes[class_of(b->bytes)]) =
        b->next;
    if (b->next != NULL)
        b->next->previous = b->previous;
    *(b->newer != NULL ? &b->newer->older : &pool.newest) = b->older;
    *(b->older != NULL ? &b->older->newer : &pool.oldest) = b->newer;
    pool.kept -= b->bytes;
}

/* The oldest kept blocks beyond `limit`, as a list: they are freed without the lock,
 * for to unmap takes long. */
static block *
beyond(size_t limit)
{
    block *list = NULL;
    while (pool.kept > limit) {
        block *b = pool.oldest;
        unkeep(b);
        b->next = list;
        list = b;
    }
    return list;
}

static block *
take_kept(size_t bytes)
{
    lock();
    block *b = pool.classes[class_of(bytes)];
    if (b != NULL) {
        unkeep(b);
        pool.used += bytes;
    }
    unlock();
    return b;
}

static block *
take_new(size_t bytes)
{
    block *b = make_block(bytes);
    if (b == NULL) { /* the kept blocks may be what is missing */
        lock();
        block *list = beyond(0);
        unlock();
        free_blocks(list);
        b = make_block(bytes);
    }
    if (b != NULL) {
        lock();
        pool.used += bytes;
        unlock();
    }
    return b;
}

static void
count(block *b, size_t bytes)
{
    lock();
    b->counted = watch;
    b->asked = bytes;
    watch->blocks++;
    watch->used += bytes;
    watch->most = watch->used > watch->most ? watch->used : watch->most;
    unlock();
}

/* With the lock. */
static void
uncount(block *b)
{
    account *t = b->counted;
    if (t == NULL)
        return;
    t->used -= b->asked;
    if (--t->blocks == 0 && t->over)
        free(t);
}

void *
dt_memory_take_buffer(size_t bytes)
{
    if (calls_to_failure > 0 && --calls_to_failure == 0)
        return NULL;
    if (bytes > LARGEST)
        return NULL;
    size_t rounded = round_size(bytes);
    block *b = take_kept(rounded);
    if (b == NULL)
        b = take_new(rounded);
    if (b == NULL)
        return NULL;
    allow(b, bytes);
    b->counted = NULL;
    return b + 1;
}

void *
dt_memory_take(size_t bytes)
{
    block *b = dt_memory_take_buffer(bytes);
    if (b != NULL && watch != NULL)
        count(b - 1, bytes);
    return b;
}

size_t
dt_memory_size(const void *block_)
{
    return ((const block *)block_ - 1)->bytes;
}

void
dt_memory_give(void *block_)
{
    if (block_ == NULL)
        return;
    block *b = (block *)block_ - 1;
    allow(b, 0);
    bool stale = !dt_range_current(b) &&
                 (dt_range_has(b) || (dt_range_given() && b->bytes >= SHARED_LEAST));
    lock();
    uncount(b);
    pool.used -= b->bytes;
    keep(b);
    block *list = NULL;
    if (stale) { /* not where new ones lie: it is not used again */
        unkeep(b);
        b->next = NULL;
        list = b;
    } else if (pool.kept > pool.limit) {
        if (b->bytes > pool.limit) { /* it alone: the others still fit */
            unkeep(b);
            b->next = NULL;
            list = b;
        } else {
            list = beyond(pool.limit);
        }
    }
    unlock();
    free_blocks(list);
}

void
dt_memory_set_limit(size_t bytes)
{
    lock();
    pool.limit = bytes;
    block *list = beyond(bytes);
    unlock();
    free_blocks(list);
}

/* --- the range that is given --- */

static void
before_fork(void)
{
    lock();
}

static void
after_fork(void)
{
    unlock();
}

/* The pages of the given range are another process's now: they are read, not reused. */
static void
in_child(void)
{
    dt_range_use(NULL);
    beyond(0);
    unlock();
}

bool
dt_memory_use(const dt_range_source *source)
{
    if (pthread_atfork(before_fork, after_fork, in_child) != 0)
        return false;
    lock();
    dt_range_use(source);
    block *list = beyond(0);
    unlock();
    free_blocks(list);
    return true;
}

size_t
dt_memory_used(void)
{
    lock();
    size_t used = pool.used;
    unlock();
    return used;
}

size_t
dt_memory_kept(void)
{
    lock();
    size_t kept = pool.kept;
    unlock();
    return kept;
}

bool
dt_memory_watch(void)
{
    dt_memory_watched();
    watch = calloc(1, sizeof *watch);
    return watch != NULL;
}

size_t
dt_memory_watched(void)
{
    account *t = watch;
    if (t == NULL)
        return 0;
    watch = NULL;
    lock();
    size_t most = t->most;
    t->over = true;
    bool last = t->blocks == 0;
    unlock();
    if (last)
        free(t);
    return most;
}

bool
dt_memory_observed(void)
{
    return watch != NULL || calls_to_failure > 0;
}

long
dt_memory_fail_at(long k)
{
    long left = calls_to_failure;
    calls_to_failure = k;
    return left;
}
