/* Memory that is freed as a whole. */
#include "core/memory/bump.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { BLOCK_BYTES = 1 << 13, ALIGNED = 16 };

void *
dt_bump_take(dt_bump *bump, size_t count, size_t size)
{
    if (count > SIZE_MAX / 2 / size)
        return NULL;
    size_t bytes = (count * size + ALIGNED - 1) / ALIGNED * ALIGNED;
    if (bytes > (size_t)(bump->end - bump->at)) {
        size_t more = sizeof(max_align_t) > ALIGNED ? sizeof(max_align_t) : ALIGNED;
        more += bytes > BLOCK_BYTES ? bytes : BLOCK_BYTES;
        dt_bump_block *block = malloc(more);
        if (block == NULL)
            return NULL;
        block->next = bump->blocks;
        bump->blocks = block;
        bump->at = (char *)block + ALIGNED;
        bump->end = (char *)block + more;
    }
    void *out = memset(bump->at, 0, bytes);
    bump->at += bytes;
    return out;
}

void
dt_bump_free(dt_bump *bump)
{
    while (bump->blocks != NULL) {
        dt_bump_block *block = bump->blocks;
        bump->blocks = block->next;
        free(block);
    }
    *bump = (dt_bump){0};
}

/* Room for 8, 16, 32 ... items: the count alone tells whether it is used up. */
void *
dt_list_grow(void *list, int count, size_t size)
{
    if (count > 0 && (count < 8 || (count & (count - 1)) != 0))
        return list;
    return realloc(list, size * (size_t)(count < 8 ? 8 : 2 * count));
}
