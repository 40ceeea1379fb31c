/* pool.h: means and largest elements of windows over two dims. */
#ifndef DT_POOL_H
#define DT_POOL_H

#include <stdbool.h>
#include <stdint.h>

/* A window along a dim: elements `first`, `first + step`, ... before `end`, all of them
 * inside; and by what sums of them are divided. Means have steps of 1. */
typedef struct {
    int64_t first, end, step, count;
} dt_span;

/* A plane (lengths[0], lengths[1]) has spans[0] down and spans[1] to the right. */
typedef struct {
    int64_t lengths[2], places[2];
    const dt_span *spans[2];
    int64_t divisor; /* instead of the product of both counts, or 0 */
} dt_spans;

/* For each of `rows` planes the largest element of every window, and its number in the
 * plane, row-major: the first of equal ones, the last NaN if there is one, and -1 with
 * -inf for a window without elements. `wide`: double, else float. */
void dt_pool_max(bool wide, void *values, int64_t *index, const void *x, int64_t rows,
                 const dt_spans *spans);
/* The elements alone. `line` has lengths[1] elements, here and below. */
void dt_pool_values(bool wide, void *values, const void *x, int64_t rows,
                    const dt_spans *spans, void *line);

/* For each of `rows` planes the mean of every window: sums of columns first. */
void dt_pool_mean(bool wide, void *out, const void *x, int64_t rows,
                  const dt_spans *spans, void *line);
/* Its gradient: what each element got from the windows, added to `out`. */
void dt_pool_mean_input(bool wide, void *out, const void *grad, int64_t rows,
                        const dt_spans *spans, void *line);

#endif
