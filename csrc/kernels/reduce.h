/* reduce.h: element-by-element reduction of addends that came from different ranks. */
#ifndef DT_REDUCE_H
#define DT_REDUCE_H

#include "core/facts/reduce_op.h"

#include <stdbool.h>
#include <stdint.h>

/* How addends are combined, row by row. */
typedef struct {
    dt_dtype dtype;
    dt_reduce_op op;
    const int64_t *lengths; /* of the grid on which the addends lie ... */
    int ndim;               /* ... and of how many dimensions */
    int64_t divisor;        /* what AVG divides by: the addends of the whole average */
    bool wide;              /* 16-bit floats: the result is float32, and not rounded */
    int64_t rows, count;    /* and elements of each */
    int64_t out_stride;     /* bytes from one row of the result to the next ... */
    const int64_t *strides; /* ... and of each addend; NULL: there is one row */
} dt_reduction;

/* out[i] = in[0][i] op in[1][i] op ... op in[n - 1][i], for i in 0 .. count - 1, of each
 * row.
 *
 * The addends lie on a grid of `ndim` dimensions, in row-major order, and n is the
 * product of its lengths. Who adds what to what follows from the lengths alone: along a
 * dimension a binary tree, whose left half has the largest power of two of addends that
 * is less than all; over the dimensions the last first.
 *
 *     lengths {5}:     ((0 + 1) + (2 + 3)) + 4
 *     lengths {2, 3}:  ((0 + 1) + 2) + ((3 + 4) + 5)
 *
 * NumPy's rules: sum of booleans is `or`, product `and`; integers wrap; max and min
 * keep a NaN and compare complex numbers as NumPy does; AVG is the sum divided by
 * `divisor`, once. float16 and bfloat16 are widened to float32, added there and rounded
 * once (to nearest, ties to even), if the sum is whole (`wide`).
 *
 * `out` is aligned to its element; it may be the same as in[0], and must not overlap the
 * others otherwise. dt_reduce_op_check(op, dtype) must have said DT_OK. */
void dt_reduce(const dt_reduction *r, void *out, const void *const *in);

/* Writes the element e for which x op e == x, bit for bit, for every x of the dtype:
 * -0.0 for a float sum, -inf for a float max, False for a bool sum, ... For AVG that of
 * SUM. `out` has dt_dtype_size(dtype) bytes. */
void dt_reduce_identity(dt_dtype dtype, dt_reduce_op op, void *out);

#endif
