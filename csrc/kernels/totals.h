/* totals.h: sums, products and norms along dims; running sums, products and extremes. */
#ifndef DT_TOTALS_H
#define DT_TOTALS_H

#include <stdbool.h>
#include <stdint.h>

/* An array (outer, length, inner): totals are along the middle dim. */
typedef struct {
    int64_t outer, length, inner;
} dt_dims;

typedef enum {
    DT_TOTAL_SUM,
    DT_TOTAL_SIZES,   /* the sum of absolute values */
    DT_TOTAL_SQUARES, /* the root of the sum of squares */
    DT_TOTAL_PRODUCT,
} dt_total;

/* Into `out`, (outer, inner), divided by `divisor`. `wide`: double, else float, of which
 * blocks of a long line are added up in double. */
void dt_total_of(bool wide, void *out, const void *x, dt_total total, dt_dims dims,
                 double divisor);

/* Into `out`, of the shape of `x`: the sum, or the product, of the elements so far, one
 * after the other. */
void dt_running(bool wide, void *out, const void *x, dt_total total, dt_dims dims);

/* The greatest element so far, or the least, and its index: of equal ones the last; NaN
 * stays, with the index of the last one. */
void dt_running_extreme(bool wide, void *out, int64_t *index, const void *x, bool least,
                        dt_dims dims);

#endif
