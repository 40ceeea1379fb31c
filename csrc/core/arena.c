/* Memory that is freed as a whole. */
#include "core/arena.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { BLOCK_BYTES = 1 << 14, ALIGNED = 16 };

void *
dt_arena_take(dt_arena *arena, size_t count, size_t size)
{
    if (count > SIZE_MAX / 2 / size)
        return NULL;
    size_t bytes = (count * size + ALIGNED - 1) / ALIGNED * ALIGNED;
    if (bytes > (size_t)(arena->end - arena->at)) {
        size_t more = sizeof(max_align_t) > ALIGNED ? sizeof(max_align_t) : ALIGNED;
        more += bytes > BLOCK_BYTES ? bytes : BLOCK_BYTES;
        dt_arena_block *block = malloc(more);
        if (block == NULL)
            return NULL;
        block->next = arena->blocks;
        arena->blocks = block;
        arena->at = (char *)block + ALIGNED;
        arena->end = (char *)block + more;
    }
    void *out = memset(arena->at, 0, bytes);
    arena->at += bytes;
    return out;
}

void
dt_arena_free(dt_arena *arena)
{
    while (arena->blocks != NULL) {
        dt_arena_block *block = arena->blocks;
        arena->blocks = block->next;
        free(block);
    }
}
