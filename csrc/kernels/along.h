/* along.h: elements along a dim, picked and put by an index, of any dtype. */
#ifndef DT_ALONG_H
#define DT_ALONG_H

#include "core/facts/dtype.h"

#include <stdbool.h>
#include <stdint.h>

enum { DT_ALONG_NDIM = 64 };

/* Indices in C order, of a shape without a length of 0, say for each element where it
 * is along one dim of an array in C order; along the others it is at the same place. */
typedef struct {
    int ndim, dim;
    int64_t shape[DT_ALONG_NDIM];  /* of the indices */
    int64_t stride[DT_ALONG_NDIM]; /* of the array, in elements */
    int64_t length;                /* of its dim */
} dt_along;

/* Each returns whether all indices are from -length, which is 0, to before `length`. */

/* out[k] = x[at k]: elements of `size` bytes. */
bool dt_along_take(const dt_along *along, void *out, const void *x,
                   const int64_t *index, size_t size);
/* x[at k] = values[k], or of one value where `step` is 0; `step` is 0 or 1. */
bool dt_along_put(const dt_along *along, void *x, const int64_t *index,
                  const void *values, int step, size_t size);
/* x[at k] += values[k], one after the other; not of 16-bit floats. */
bool dt_along_add(const dt_along *along, void *x, const int64_t *index,
                  const void *values, dt_dtype dtype);
/* Whether dt_along_add is there for a dtype. */
bool dt_along_adds(dt_dtype dtype);

typedef enum { DT_ALONG_MAX, DT_ALONG_MIN, DT_ALONG_PRODUCT } dt_along_op;
/* x[at k] becomes the larger or smaller of both, or NaN, or their product: of float32,
 * float64, int32 and int64. */
bool dt_along_reduce(const dt_along *along, void *x, const int64_t *index,
                     const void *values, dt_along_op op, dt_dtype dtype);

/* x[o, index[k], :] += values[o, k, :] for arrays (outer, length, inner) and (outer,
 * count, inner). */
bool dt_rows_add(void *x, const int64_t *index, const void *values, int64_t outer,
                 int64_t length, int64_t count, int64_t inner, dt_dtype dtype);

#endif
