/* depthwise.h: convolutions whose filters look at one channel each, and their gradients.
 * As products of matrices they would be products of a matrix and a vector for every
 * channel; here a plane stays in the cache, and sums of its places in registers.
 *
 *     x (samples, channels, lengths), weight (channels each, sizes),
 *     out (samples, channels each, places)
 */
#ifndef DT_DEPTHWISE_H
#define DT_DEPTHWISE_H

#include "kernels/columns.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Which of the three arrays is made of the other two: `x` and `weight` as gradients, with
 * the gradient of `out` in its place. */
typedef enum {
    DT_DEPTHWISE_OUT,
    DT_DEPTHWISE_X,
    DT_DEPTHWISE_WEIGHT
} dt_depthwise_kind;

typedef struct {
    int64_t samples, channels;
    int64_t each;                        /* filters of a channel */
    dt_kernel_dim dims[DT_COLUMNS_DIMS]; /* `low` is not negative */
    void *x, *weight, *out;
    const void *bias; /* of the filters, added to `out`; or NULL */
} dt_depthwise;

/* How many pieces of work there are, none of which writes where another one does, and the
 * bytes of scratch that each thread needs; -1: more than a machine has. */
int64_t dt_depthwise_pieces(dt_depthwise_kind kind, const dt_depthwise *of);
int64_t dt_depthwise_scratch(dt_depthwise_kind kind, bool wide, const dt_depthwise *of);

/* Makes an array, in float32, or float64 where `wide`, by so many threads at most, with
 * scratch for all of them, aligned to 64. A sum goes over the taps in their order; that of
 * a weight over runs of places in vectors, and over these in double. */
void dt_depthwise_run(dt_depthwise_kind kind, bool wide, const dt_depthwise *of,
                      int threads, void *scratch);

#endif
