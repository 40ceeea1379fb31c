/* arena.h: memory that is taken bit by bit and freed as a whole. */
#ifndef DT_ARENA_H
#define DT_ARENA_H

#include <stddef.h>

typedef struct dt_arena_block {
    struct dt_arena_block *next;
} dt_arena_block;

/* All zero is an empty arena. */
typedef struct {
    char *at, *end;
    dt_arena_block *blocks;
} dt_arena;

/* Zeroed room for `count` items, aligned for every type; NULL: no memory. */
void *dt_arena_take(dt_arena *arena, size_t count, size_t size);
void dt_arena_free(dt_arena *arena);

#endif
