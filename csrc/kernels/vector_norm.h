/* vector_norm.h: sums of absolute values, and roots of sums of squares. */
#ifndef DT_VECTOR_NORM_H
#define DT_VECTOR_NORM_H

#include <stdbool.h>
#include <stdint.h>

/* Norms along the middle dim of an array (outer, length, inner), of order 1 or 2, into
 * `out`, (outer, inner). `wide`: double, else float, whose long sums are added up in
 * double. */
void dt_vector_norm(bool wide, void *out, const void *x, int order, int64_t outer,
                    int64_t length, int64_t inner);

#endif
