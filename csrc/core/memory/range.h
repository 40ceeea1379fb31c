/* range.h: addresses of large blocks.
 *
 * They all lie in one range of addresses, which is reserved once and holds pages only
 * where blocks are: so one comparison tells whose memory an address is. Thread-safe. */
#ifndef DT_RANGE_H
#define DT_RANGE_H

#include <stdbool.h>
#include <stddef.h>

enum { DT_RANGE_LISTS = 512 };

/* Zeroed memory: `bytes` from an address that is a multiple of `alignment` (a power of
 * two), and `before` bytes, at most a page, before it. `list` is below DT_RANGE_LISTS,
 * and another one for other sizes. NULL: no memory, or nothing was to be reserved. */
void *dt_range_take(size_t bytes, size_t before, size_t alignment, int list);

/* Gives its pages back; the addresses are kept for a block of the same list. */
void dt_range_give(void *block, size_t bytes, size_t before, int list);

/* Whether an address is in the range. */
bool dt_range_has(const void *address);

#endif
