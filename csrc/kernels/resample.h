/* resample.h: the elements along a dim as weighted sums of a few of those that there were:
 * images of another size, and the gradient of that.
 *
 * An array has `outer` pieces of `length` rows of `inner` elements each; `size` rows are
 * made of them. Row k is the sum of weights[t, k] times row index[t, k], over taps t.
 */
#ifndef DT_RESAMPLE_H
#define DT_RESAMPLE_H

#include <stdbool.h>
#include <stdint.h>

typedef struct {
    int64_t outer, length, inner, size, taps;
    const int64_t *index; /* (taps, size), each from 0 to before `length` */
    const void *weights;  /* (taps, size) */
} dt_resample;

/* Numbers are of float32, or float64 where `wide`. A sum goes over the taps in their
 * order; in the other direction, over the rows in theirs, each with its taps. */

/* out (outer, size, inner) of x (outer, length, inner). */
void dt_resample_out(bool wide, void *out, const void *x, const dt_resample *of);

/* x, of what each row of `out` adds to those that it was made of. */
void dt_resample_back(bool wide, void *x, const void *out, const dt_resample *of);

#endif
