/* One range of addresses for large blocks.
 *
 * A reserved address costs nothing until it has a page, so addresses are handed out one
 * after another and never merged: those of a freed block wait, without pages, for the
 * next block of their size. What is reserved may not be written to; it counts as memory
 * only from then on.
 *
 * Blocks begin at different places of their first page: copying between two that begin at
 * the same one takes a third longer, for their lines compete for the same sets of a cache,
 * and a load may look as if it met an earlier store. */
#include "core/memory/range.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

/* A terabyte where that is allowed, else less, down to a gigabyte. */
enum { MOST_LOG2 = 40, LEAST_LOG2 = 30, STEP_LOG2 = 2 };
enum { LINE = 64, COLOURS = 61 /* lines of a page; a prime */, COLOUR_STEP = 17 };
static const size_t HUGE_BYTES = (size_t)2 << 20;

typedef struct gap gap;
struct gap {
    gap *next;
    void *at;
};

static struct {
    pthread_mutex_t lock;
    bool started;
    atomic_uintptr_t begin, end;
    uintptr_t next; /* address that nobody has had */
    unsigned colour;
    gap *gaps[DT_RANGE_LISTS];
} range = {.lock = PTHREAD_MUTEX_INITIALIZER};

static uintptr_t
page_bytes(void)
{
    return (uintptr_t)sysconf(_SC_PAGESIZE);
}

static uintptr_t
round_up(uintptr_t address, uintptr_t step)
{
    return (address + step - 1) & ~(step - 1);
}

static void *
reserve(void *at, size_t bytes, int flags)
{
    return mmap(at, bytes, PROT_NONE,
                MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | flags, -1, 0);
}

static void
start(void)
{
    range.started = true;
    for (int log2 = MOST_LOG2; log2 >= LEAST_LOG2; log2 -= STEP_LOG2) {
        void *at = reserve(NULL, (size_t)1 << log2, 0);
        if (at == MAP_FAILED)
            continue;
        range.next = (uintptr_t)at;
        atomic_store(&range.end, (uintptr_t)at + ((uintptr_t)1 << log2));
        atomic_store(&range.begin, (uintptr_t)at);
        return;
    }
}

/* An address for a block; 0: there is none left. */
static uintptr_t
find_place(size_t bytes, size_t before, size_t alignment, int list)
{
    uintptr_t at = 0;
    gap *g = NULL;
    pthread_mutex_lock(&range.lock);
    if (!range.started)
        start();
    g = range.gaps[list];
    if (g != NULL) {
        range.gaps[list] = g->next;
        at = (uintptr_t)g->at;
    } else if (range.next != 0) {
        uintptr_t end = atomic_load(&range.end);
        at = round_up(range.next + before, alignment);
        if (alignment == LINE) {
            at += LINE * range.colour;
            range.colour = (range.colour + COLOUR_STEP) % COLOURS;
        }
        if (at > end || bytes > end - at)
            at = 0;
        else
            range.next = round_up(at + bytes, page_bytes());
    }
    pthread_mutex_unlock(&range.lock);
    free(g);
    return at;
}

/* Where no memory is left to remember the place, its addresses are lost. */
static void
keep_place(void *at, int list)
{
    gap *g = malloc(sizeof *g);
    if (g == NULL)
        return;
    g->at = at;
    pthread_mutex_lock(&range.lock);
    g->next = range.gaps[list];
    range.gaps[list] = g;
    pthread_mutex_unlock(&range.lock);
}

/* The pages of a block: returns their number of bytes. */
static size_t
pages_of(void **out, void *block, size_t bytes, size_t before)
{
    uintptr_t page = page_bytes(), at = (uintptr_t)block;
    uintptr_t first = (at - before) & ~(page - 1);
    *out = (char *)block - (at - first);
    return round_up(at + bytes, page) - first;
}

void *
dt_range_take(size_t bytes, size_t before, size_t alignment, int list)
{
    uintptr_t place = find_place(bytes, before, alignment, list);
    if (place == 0)
        return NULL;
    void *pages, *block = (void *)place;
    size_t size = pages_of(&pages, block, bytes, before);
    if (mprotect(pages, size, PROT_READ | PROT_WRITE) != 0) {
        keep_place(block, list);
        return NULL;
    }
#if defined(MADV_HUGEPAGE)
    if (bytes >= HUGE_BYTES)
        madvise(block, bytes, MADV_HUGEPAGE);
#endif
    return block;
}

void
dt_range_give(void *block, size_t bytes, size_t before, int list)
{
    void *pages;
    size_t size = pages_of(&pages, block, bytes, before);
    if (reserve(pages, size, MAP_FIXED) != MAP_FAILED)
        keep_place(block, list);
}

bool
dt_range_has(const void *address)
{
    uintptr_t at = (uintptr_t)address;
    return at - atomic_load_explicit(&range.begin, memory_order_relaxed) <
           atomic_load_explicit(&range.end, memory_order_relaxed) -
               atomic_load_explicit(&range.begin, memory_order_relaxed);
}
