/* bump.h: memory that grows: taken bit by bit and freed as a whole, or as a list. */
#ifndef DT_BUMP_H
#define DT_BUMP_H

#include <stddef.h>

typedef struct dt_bump_block {
    struct dt_bump_block *next;
} dt_bump_block;

/* A bump allocator. All zero is an empty one. */
typedef struct {
    char *at, *end;
    dt_bump_block *blocks;
} dt_bump;

/* Zeroed room for `count` items, aligned for every type; NULL: no memory. */
void *dt_bump_take(dt_bump *bump, size_t count, size_t size);
void dt_bump_free(dt_bump *bump); /* it is empty then */

/* `list`, from malloc or NULL, with room for at least count + 1 items; NULL without
 * memory: the list is as it was. For lists that grow by one item at a time. */
void *dt_list_grow(void *list, int count, size_t size);

#endif
