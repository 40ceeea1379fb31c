/* norm.h: rows that are brought to mean 0 and variance 1.
 *
 * With `centred` (layer_norm, group_norm)
 *
 *     y = (x - mean) / sqrt(variance + eps) * weight + bias
 *
 * where mean and (biased) variance are those of the row; without it (rms_norm) mean is
 * 0 and variance the mean of squares. A row has `channels` runs of `inner` numbers, one
 * after the other; row r has the weights and biases from (r % groups) * channels on,
 * one for each run:
 *
 *     layer_norm of (8, 128, 256) over the last dim: 1024 rows, channels 256, inner 1,
 *                                                    groups 1
 *     group_norm of (8, 12, 5, 5) in 3 groups:       24 rows, channels 4, inner 25,
 *                                                    groups 3
 */
#ifndef DT_NORM_H
#define DT_NORM_H

#include <stdbool.h>
#include <stdint.h>

typedef struct {
    int64_t rows, channels, inner, groups;
    double eps;
    bool centred;
    const void *x, *weight, *bias; /* weight and bias may be NULL: 1 and 0 */
} dt_norm;

/* Numbers are of float32, or float64 where `wide`. */
void dt_norm_run(bool wide, void *out, const dt_norm *norm);

/* From the gradient g of the result those of x, weight and bias; any may be NULL, and
 * is not computed then. Those of weight and bias are sums over rows. `bias` of norm is
 * not looked at. `scratch` has room for dt_norm_scratch(norm) numbers. */
void dt_norm_backward(bool wide, void *dx, void *dweight, void *dbias, void *scratch,
                      const void *g, const dt_norm *norm);
int64_t dt_norm_scratch(const dt_norm *norm);

#endif
