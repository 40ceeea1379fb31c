/* arena.h: memory of this process that the other processes of its node can read.
 *
 * A file without a name, as large as there are addresses to spare and without a page
 * until one is asked for. Every process maps its own whole, and each peer maps it once;
 * no peer is asked when a block gets its pages. The pool (core/memory) takes its blocks
 * from there. Nothing of it is left when the processes have ended, however they do. */
#ifndef DT_ARENA_H
#define DT_ARENA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What others must know of an arena to map it. All zero: there is none. */
typedef struct {
    uint64_t node;      /* a hash of the machine and the name of the host */
    int64_t pid;        /* 0: there is no arena */
    int64_t fd;         /* of that process */
    uint64_t dev, file; /* that the descriptor must lead to */
    uint64_t at, bytes; /* addresses in that process */
} dt_arena_card;

/* The arena of this process, made at first use; the pool's from then on. Only `node` is
 * set where there can be none: without memory, addresses, or permission, or because of
 * DTENSOR_ARENA=0. */
void dt_arena_open(dt_arena_card *out);

/* Whether an address of this process lies in its arena. */
bool dt_arena_has(const void *address);

/* `bytes` that peers may write to, zeroed, a multiple of pages: for ever, since peers may
 * do so at any time. NULL: there are none left. */
void *dt_arena_door(size_t bytes);

/* The arena of another process, or of this one: only to be read, but for the `bytes` of a
 * door at `door`, an address of that process. NULL where that is not allowed. */
typedef struct {
    dt_arena_card card;
    char *at; /* where it lies in this process */
} dt_arena_view;
bool dt_arena_map(dt_arena_view *out, const dt_arena_card *card, uint64_t door,
                  size_t bytes);
void dt_arena_unmap(dt_arena_view *view);

/* An address of that process, as it is seen in this one; NULL: it is not in the arena. */
static inline void *
dt_arena_see(const dt_arena_view *view, const void *address)
{
    uint64_t offset = (uint64_t)(uintptr_t)address - view->card.at;
    return offset < view->card.bytes ? view->at + offset : NULL;
}

#endif
