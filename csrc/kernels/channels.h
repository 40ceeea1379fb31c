/* channels.h: arrays of samples, channels and places, beside vectors that have a number
 * for each channel. A batch norm and its gradient are two reads of such an array each:
 * sums for each channel, and numbers that are scaled and shifted by them.
 *
 *     (32, 64, 28, 28): samples 32, channels 64, inner 784
 *     (128, 1000):      samples 128, channels 1000, inner 1
 */
#ifndef DT_CHANNELS_H
#define DT_CHANNELS_H

#include <stdbool.h>
#include <stdint.h>

typedef struct {
    int64_t samples, channels, inner;
    const void *x;    /* an array */
    const void *mean; /* a vector */
} dt_channels;

/* Numbers are of float32, or float64 where `wide`. Sums over a run of places are made in
 * that, and these added up in double: the bits follow from the shape alone. */

/* squares[c] = the sum of (x - mean[c])^2. */
void dt_channel_squares(bool wide, void *squares, const dt_channels *of);

/* sums[c] = the sum of g, products[c] = the sum of g (x - mean[c]). */
void dt_channel_sums(bool wide, void *sums, void *products, const void *g,
                     const dt_channels *of);

/* out = (x - mean[c]) scale[c] + shift[c] + g factor[c]; `shift` may be NULL, and so may
 * `g` with `factor`. */
void dt_channel_mix(bool wide, void *out, const void *scale, const void *shift,
                    const void *g, const void *factor, const dt_channels *of);

/* Rectified: only elements that are not above 0 are scaled. `mean` of these is NULL.
 *
 *     out = x > 0 ? x : x slope[c]
 *     out = x > 0 ? g : g slope[c], its gradient, if there is `g`
 *     sums[c] = the sum of g x where x is not above 0: the gradient of `slope` */
void dt_channel_rectify(bool wide, void *out, const void *slope, const void *g,
                        const dt_channels *of);
void dt_channel_rectified(bool wide, void *sums, const void *g, const dt_channels *of);

#endif
