/* pool.h: the largest elements of windows over two dims. */
#ifndef DT_POOL_H
#define DT_POOL_H

#include <stdbool.h>
#include <stdint.h>

/* Windows along a dim: `size` elements that are `dilation` apart, the first window
 * beginning `padding` before element 0. Elements outside are in no window. */
typedef struct {
    int64_t length, places, size, stride, padding, dilation;
} dt_windows;

/* For each of `rows` planes the largest element of every window, and its number in the
 * plane, row-major: the first of equal ones, the last NaN if there is one, and -1 with
 * -inf for a window without elements. `wide`: double, else float. */
void dt_pool_max(bool wide, void *values, int64_t *index, const void *x, int64_t rows,
                 const dt_windows windows[2]);

#endif
