/* columns.h: what lies under the places of a kernel, in columns. */
#ifndef DT_COLUMNS_H
#define DT_COLUMNS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { DT_COLUMNS_DIMS = 3 };

/* A kernel of `size` elements that are `dilation` apart, at `places` that are `stride`
 * apart, of which the first begins `low` before element 0 of a dim of a length. Dims that
 * there are not are of length, size and places 1. */
typedef struct {
    int64_t length, size, places, stride, low, dilation;
} dt_kernel_dim;

/* out[c, i, p] is the element i of the kernel at place p of plane c, or 0 outside of it:
 * for `planes` planes of elements of `size` bytes, 2, 4, 8 or 16. */
void dt_columns(void *out, const void *x, int64_t planes,
                const dt_kernel_dim dims[DT_COLUMNS_DIMS], size_t size);

/* The adjoint: x[c, i] is the sum of the elements of plane c that come from there, in the
 * order of the kernel's elements; of float32 or, if `wide`, float64. */
void dt_columns_add(void *x, const void *columns, int64_t planes,
                    const dt_kernel_dim dims[DT_COLUMNS_DIMS], bool wide);

#endif
