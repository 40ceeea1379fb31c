/* range.h: addresses of large blocks.
 *
 * They all lie in one range of addresses, which is reserved once and holds pages only
 * where blocks are: so one comparison tells whose memory an address is. A second range may
 * be given, whose pages other processes see, too; new blocks then lie there. Thread-safe. */
#ifndef DT_RANGE_H
#define DT_RANGE_H

#include <stdbool.h>
#include <stddef.h>

enum { DT_RANGE_LISTS = 512 };

/* Addresses for blocks, and how they get pages and lose them. */
typedef struct {
    void *at;
    size_t bytes;
    bool (*get)(void *at,
                size_t bytes); /* zeroed, to be written to; false: no memory */
    bool (*drop)(void *at, size_t bytes);
    bool huge; /* pages may be huge ones */
} dt_range_source;

/* From now on blocks lie in this range, which stays for ever; there is one such at most.
 * NULL: in the range that was reserved first again. */
void dt_range_use(const dt_range_source *source);

/* Whether new blocks lie in the given range; whether a block lies where new ones do. */
bool dt_range_given(void);
bool dt_range_current(const void *block);

/* Addresses without pages, of which a limit leaves as many to others; NULL: it forbids. */
void *dt_range_reserve(size_t bytes);

/* Zeroed memory: `bytes` from an address that is a multiple of `alignment` (a power of
 * two), and `before` bytes, at most a page, before it. `list` is below DT_RANGE_LISTS,
 * and another one for other sizes. NULL: no memory, or nothing was to be reserved. */
void *dt_range_take(size_t bytes, size_t before, size_t alignment, int list);

/* Gives its pages back; the addresses are kept for a block of the same list. */
void dt_range_give(void *block, size_t bytes, size_t before, int list);

/* Whether an address is in one of the ranges. */
bool dt_range_has(const void *address);

#endif
