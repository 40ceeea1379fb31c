/* copy.h: strided copies of boxes. All strides are in bytes. */
#ifndef DT_COPY_H
#define DT_COPY_H

#include "core/facts/dtype.h"

#include <stdint.h>

/* Copies a box of `ndim` dimensions of lengths `shape` (elements of `itemsize` bytes).
 * Strides may be negative, zero or overlapping on the source side.
 * The two boxes must not overlap each other. Any length may be 0; ndim 0 copies one
 * element. Adjacent dimensions are merged, runs are copied by memcpy or by fixed-width
 * moves, and a large destination is written past the caches where that is faster. */
void dt_copy_box(void *dst, const int64_t *dst_stride, const void *src,
                 const int64_t *src_stride, int ndim, const int64_t *shape,
                 size_t itemsize);

/* The strides of an array in C order. */
void dt_c_strides(int64_t *stride, int ndim, const int64_t *shape, size_t itemsize);

/* A plain copy of `bytes`, as dt_copy_box does its long runs. */
void dt_copy_bytes(void *dst, const void *src, size_t bytes);

/* Fills `count` elements of `itemsize` bytes with copies of `value`. */
void dt_fill(void *dst, const void *value, size_t itemsize, int64_t count);

#endif
