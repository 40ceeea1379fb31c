/* copy_loops.h: the inner loops of copy.c, over two dimensions of runs of contiguous bytes.
 * Not for others: call copy.h. */
#ifndef DT_COPY_LOOPS_H
#define DT_COPY_LOOPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A dimension: its length, and its strides in bytes on both sides. */
typedef struct {
    int64_t count, to, from;
} dt_axis;

/* Copies outer.count * inner.count runs of `run` bytes each. */
typedef void dt_loop(char *to, const char *from, dt_axis outer, dt_axis inner,
                     size_t run);

/* The loop for runs of `run` bytes, in the order given. */
dt_loop *dt_loop_rows(size_t run);

/* Whether stores that pass the caches pay for such runs, and the loop that has them. */
bool dt_loop_streams(const char *to, dt_axis outer, dt_axis inner, size_t run);
dt_loop dt_loop_streamed;

/* For an `inner` that is the fastest dimension of the destination and an `outer` that
 * is that of the source: goes by blocks of whole cache lines on both sides. The second
 * writes past the caches where it can. */
dt_loop dt_loop_crossed;
dt_loop dt_loop_crossed_streamed;

/* One run, through the caches, and past them where it is of 64 bytes or more. */
void dt_loop_run(void *to, const void *from, size_t bytes);
void dt_loop_run_streamed(void *to, const void *from, size_t bytes);

#endif
