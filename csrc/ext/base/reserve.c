/* reserve.c: small memory, which does not fail on one rank alone.
 *
 * Ranks agree on whether they have memory for arrays. For the small things around them
 * (layouts, plans, the agreement itself) they cannot: so when the C library has no memory,
 * small blocks come from a reserve. The linker leads the library's calls of malloc and the
 * like through here (CMakeLists.txt, `--wrap`): memory that another library takes is not
 * touched. */
#include "ext/base/base.h"

#include <malloc.h>
#include <pthread.h>
#include <stdalign.h>
#include <stdatomic.h>
#include <string.h>

enum { RESERVE = 1 << 20, SMALL = 1 << 16, ALIGNMENT = alignof(max_align_t) };

/* The reserve is a row of blocks, each with this before its bytes. */
typedef struct {
    alignas(max_align_t) size_t bytes; /* a multiple of ALIGNMENT; 0: not made yet */
    bool used;
} block;

static union {
    block first;
    char bytes[RESERVE];
} reserve;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static atomic_llong blocks; /* that the library's C code holds, for tests */

void *__real_malloc(size_t bytes);
void *__real_calloc(size_t count, size_t bytes);
void *__real_aligned_alloc(size_t alignment, size_t bytes);
void *__real_realloc(void *old, size_t bytes);
void __real_free(void *old);
void *__wrap_malloc(size_t bytes);
void *__wrap_calloc(size_t count, size_t bytes);
void *__wrap_aligned_alloc(size_t alignment, size_t bytes);
void *__wrap_realloc(void *old, size_t bytes);
void __wrap_free(void *old);

/* --- the reserve --- */

static block *
next_of(block *b)
{
    block *next = (block *)(void *)((char *)(b + 1) + b->bytes);
    return (char *)next < reserve.bytes + RESERVE ? next : NULL;
}

/* Joins a free block with the free ones behind it. */
static void
join(block *b)
{
    for (block *next = next_of(b); next != NULL && !next->used; next = next_of(b))
        b->bytes += sizeof *next + next->bytes;
}

/* Cuts off what a block has too much. */
static void
cut(block *b, size_t bytes)
{
    if (b->bytes < bytes + sizeof *b + ALIGNMENT)
        return;
    size_t rest = b->bytes - bytes - sizeof *b;
    b->bytes = bytes;
    *next_of(b) = (block){.bytes = rest};
}

/* Zeroed memory; NULL: it is not small, or the reserve is used up. */
static void *
take(size_t bytes)
{
    if (bytes > SMALL)
        return NULL;
    bytes = (bytes + ALIGNMENT) / ALIGNMENT * ALIGNMENT; /* not 0 */
    pthread_mutex_lock(&lock);
    if (reserve.first.bytes == 0)
        reserve.first.bytes = RESERVE - sizeof reserve.first;
    block *b = &reserve.first;
    for (; b != NULL; b = next_of(b)) {
        if (b->used)
            continue;
        join(b);
        if (b->bytes >= bytes)
            break;
    }
    if (b != NULL) {
        cut(b, bytes);
        b->used = true;
    }
    pthread_mutex_unlock(&lock);
    return b != NULL ? memset(b + 1, 0, bytes) : NULL;
}

static bool
is_ours(const void *memory)
{
    return (uintptr_t)memory - (uintptr_t)&reserve < RESERVE;
}

static block *
block_of(void *memory)
{
    return (block *)memory - 1;
}

/* --- the C library --- */

static void *
counted(void *made)
{
    if (made != NULL)
        atomic_fetch_add_explicit(&blocks, 1, memory_order_relaxed);
    return made;
}

static void *
make(size_t bytes)
{
    void *made = ext_fails(EXT_FAULT_MEMORY) ? NULL : __real_malloc(bytes);
    return made != NULL || ext_fails_all() ? made : take(bytes);
}

static void
end(void *old)
{
    if (!is_ours(old)) {
        __real_free(old);
        return;
    }
    pthread_mutex_lock(&lock);
    block_of(old)->used = false;
    pthread_mutex_unlock(&lock);
}

void *
__wrap_malloc(size_t bytes)
{
    return counted(make(bytes));
}

void *
__wrap_calloc(size_t count, size_t bytes)
{
    void *made = ext_fails(EXT_FAULT_MEMORY) ? NULL : __real_calloc(count, bytes);
    size_t all;
    if (made == NULL && !ext_fails_all() && !__builtin_mul_overflow(count, bytes, &all))
        made = take(all);
    return counted(made);
}

void *
__wrap_aligned_alloc(size_t alignment, size_t bytes)
{
    return counted(__real_aligned_alloc(alignment, bytes));
}

void *
__wrap_realloc(void *old, size_t bytes)
{
    if (old == NULL)
        return __wrap_malloc(bytes);
    if (!is_ours(old) && !ext_fails(EXT_FAULT_MEMORY)) {
        void *made = __real_realloc(old, bytes);
        if (made != NULL)
            return made;
    }
    void *made = is_ours(old) ? make(bytes) : ext_fails_all() ? NULL : take(bytes);
    if (made == NULL)
        return NULL;
    size_t held = is_ours(old) ? block_of(old)->bytes : malloc_usable_size(old);
    memcpy(made, old, held < bytes ? held : bytes);
    end(old);
    return made;
}

void
__wrap_free(void *old)
{
    if (old != NULL)
        atomic_fetch_sub_explicit(&blocks, 1, memory_order_relaxed);
    end(old);
}

long long
ext_blocks(void)
{
    return atomic_load_explicit(&blocks, memory_order_relaxed);
}
