/* The room core/memory: blocks for arrays, memory that grows, hash tables, and
 * the strided copies by which every byte moves.
 *
 * May use: core/facts.
 * Begin with: copy.h. */

/* memory.h: where every array of the library comes from, also results of NumPy's.
 *
 * A freshly mapped page costs more than copying to it, so freed blocks are kept for
 * reuse up to a limit. Where ranks of one node are processes, blocks lie in memory that
 * all of them see (dt_memory_use). Thread-safe. */
#ifndef DT_MEMORY_H
#define DT_MEMORY_H

#include "core/memory/range.h"

/* A block of at least `bytes` bytes (also for 0), aligned to 64 bytes, contents
 * arbitrary; NULL when there is no memory. */
void *dt_memory_take(size_t bytes);

/* The same for buffers of bounded size, however large arrays are: they are not counted by
 * dt_memory_watch. */
void *dt_memory_take_buffer(size_t bytes);

/* From this many bytes on a block is in the range of this process, where there is one. */
enum { DT_MEMORY_LARGE = 1 << 16 };

/* The same for the range that is in use: that which others see has smaller blocks, too. */
size_t dt_memory_least(void);

/* How many bytes a block has, at least those that were asked for. */
size_t dt_memory_size(const void *block);

/* Gives a block back. NULL is allowed. */
void dt_memory_give(void *block);

/* How many bytes of freed blocks are kept at most (default 1 GiB, at start the value of
 * DTENSOR_POOL_BYTES), and how many are in use and kept now. Setting a lower limit
 * frees at once. */
void dt_memory_set_limit(size_t bytes);
size_t dt_memory_used(void);
size_t dt_memory_kept(void);

/* From now on blocks of 1 KiB or more lie in this range (range.h), and those of before
 * are not used again. Once. In a child of fork they lie elsewhere again, and the range is
 * the source's own to make good. False: no memory. */
bool dt_memory_use(const dt_range_source *source);

/* Counts the memory of one thread: the blocks that it takes from now on, in the bytes that
 * were asked for; false: no memory. The other one ends that, and returns how many bytes it
 * had at most at one time, whoever gave them back. */
bool dt_memory_watch(void);
size_t dt_memory_watched(void);

/* Whether this thread's memory is counted, or a call of dt_memory_take is to fail: then all
 * of its arrays are to come from here. */
bool dt_memory_observed(void);

/* For tests: from now on the k-th call of dt_memory_take (k = 1 is the next) in this
 * thread returns NULL once; 0 switches it off. Returns how many calls were left. */
long dt_memory_fail_at(long k);

#endif
