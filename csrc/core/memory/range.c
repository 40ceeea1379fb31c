/* Ranges of addresses for large blocks.
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
static const size_t COLOURED_BYTES = (size_t)1 << 16; /* smaller ones begin alike */
static const size_t HUGE_BYTES = (size_t)2 << 20;

typedef struct gap gap;
struct gap {
    gap *next;
    void *at;
};

typedef struct {
    pthread_mutex_t lock;
    atomic_uintptr_t begin, end; /* 0, 0: there is none (yet) */
    uintptr_t next;              /* address that nobody has had */
    unsigned colour;
    gap *gaps[DT_RANGE_LISTS];
    dt_range_source source;
} range;

static range own = {.lock = PTHREAD_MUTEX_INITIALIZER},
             given = {.lock = PTHREAD_MUTEX_INITIALIZER};
static pthread_once_t reserved = PTHREAD_ONCE_INIT;
static _Atomic(range *) current = &own;

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

static void
begin(range *r, const dt_range_source *source)
{
    r->source = *source;
    r->next = (uintptr_t)source->at;
    atomic_store(&r->end, r->next + source->bytes);
    atomic_store(&r->begin, r->next);
}

static bool
has(const range *r, const void *address)
{
    uintptr_t first = atomic_load_explicit(&r->begin, memory_order_relaxed);
    uintptr_t end = atomic_load_explicit(&r->end, memory_order_relaxed);
    return (uintptr_t)address - first < end - first;
}

/* --- the range of this process alone --- */

static void *
reserve(void *at, size_t bytes, int flags)
{
    return mmap(at, bytes, PROT_NONE,
                MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | flags, -1, 0);
}

static bool
get_own(void *at, size_t bytes)
{
    return mprotect(at, bytes, PROT_READ | PROT_WRITE) == 0;
}

static bool
drop_own(void *at, size_t bytes)
{
    return reserve(at, bytes, MAP_FIXED) != MAP_FAILED;
}

void *
dt_range_reserve(size_t bytes)
{
    char *at = reserve(NULL, 2 * bytes, 0);
    if (at == MAP_FAILED)
        return NULL;
    munmap(at + bytes, bytes);
    return at;
}

static void
begin_own(void)
{
    for (int log2 = MOST_LOG2; log2 >= LEAST_LOG2; log2 -= STEP_LOG2) {
        size_t bytes = (size_t)1 << log2;
        void *at = dt_range_reserve(bytes);
        if (at == NULL)
            continue;
        begin(&own, &(dt_range_source){at, bytes, get_own, drop_own, .huge = true});
        return;
    }
}

void
dt_range_use(const dt_range_source *source)
{
    if (source != NULL)
        begin(&given, source);
    atomic_store(&current, source != NULL ? &given : &own);
}

bool
dt_range_given(void)
{
    return atomic_load_explicit(&current, memory_order_relaxed) == &given;
}

bool
dt_range_current(const void *block)
{
    return has(atomic_load(&current), block);
}

/* --- places --- */

/* An address for a block; 0: there is none left. */
static uintptr_t
find_place(range *r, size_t bytes, size_t before, size_t alignment, int list)
{
    uintptr_t at = 0;
    pthread_mutex_lock(&r->lock);
    gap *g = r->gaps[list];
    if (g != NULL) {
        r->gaps[list] = g->next;
        at = (uintptr_t)g->at;
    } else if (r->next != 0) {
        uintptr_t end = atomic_load(&r->end);
        at = round_up(r->next + before, alignment);
        if (alignment == LINE && bytes >= COLOURED_BYTES) {
            at += LINE * r->colour;
            r->colour = (r->colour + COLOUR_STEP) % COLOURS;
        }
        if (at > end || bytes > end - at)
            at = 0;
        else
            r->next = round_up(at + bytes, page_bytes());
    }
    pthread_mutex_unlock(&r->lock);
    free(g);
    return at;
}

/* Where no memory is left to remember the place, its addresses are lost. */
static void
keep_place(range *r, void *at, int list)
{
    gap *g = malloc(sizeof *g);
    if (g == NULL)
        return;
    g->at = at;
    pthread_mutex_lock(&r->lock);
    g->next = r->gaps[list];
    r->gaps[list] = g;
    pthread_mutex_unlock(&r->lock);
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
    pthread_once(&reserved, begin_own);
    range *r = atomic_load(&current);
    if (!r->source.huge && alignment > LINE && bytes >= HUGE_BYTES)
        alignment = LINE;
    uintptr_t place = find_place(r, bytes, before, alignment, list);
    if (place == 0)
        return NULL;
    void *pages, *block = (void *)place;
    size_t size = pages_of(&pages, block, bytes, before);
    if (!r->source.get(pages, size)) {
        keep_place(r, block, list);
        return NULL;
    }
#if defined(MADV_HUGEPAGE)
    if (r->source.huge && bytes >= HUGE_BYTES)
        madvise(block, bytes, MADV_HUGEPAGE);
#endif
    return block;
}

void
dt_range_give(void *block, size_t bytes, size_t before, int list)
{
    range *r = has(&own, block) ? &own : &given;
    void *pages;
    size_t size = pages_of(&pages, block, bytes, before);
    if (r->source.drop(pages, size))
        keep_place(r, block, list);
}

bool
dt_range_has(const void *address)
{
    return has(&own, address) || has(&given, address);
}
