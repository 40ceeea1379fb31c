/* order.h: the first elements of lines of numbers, in order, and where they are. */
#ifndef DT_ORDER_H
#define DT_ORDER_H

#include "core/facts/dtype.h"

#include <stdbool.h>
#include <stdint.h>

/* `length` elements, `step` bytes apart. NaN is larger than every number; -0.0 and 0.0
 * are equal; of equal elements the first one comes first. */
typedef struct {
    dt_dtype dtype;
    int64_t length, step;
    bool largest; /* the largest one first */
} dt_line;

/* Whether these functions are there for a dtype: all but complex and long ones. */
bool dt_order_has(dt_dtype dtype);
/* The memory, in bytes, that they need for a line. */
size_t dt_order_scratch(const dt_line *line);

/* The indices of the first `count` elements, `out_step` places apart in `out`. */
void dt_order_first(int64_t *out, int64_t out_step, const void *x, const dt_line *line,
                    int64_t count, void *scratch);
/* The index of the element that comes at a place of the order, from 0 on; with `nan`
 * that of the first NaN, if there is one. */
int64_t dt_order_at(const void *x, const dt_line *line, int64_t place, bool nan,
                    void *scratch);
/* The index of the last one of those elements that there are most of, the smallest of
 * several; no NaN is equal to another. */
int64_t dt_order_mode(const void *x, const dt_line *line, void *scratch);

#endif
