/* fetch.h: copies out of the memory of another process, wherever it lies there. */
#ifndef DT_FETCH_H
#define DT_FETCH_H

#include "core/facts/status.h"

#include <stddef.h>
#include <stdint.h>

/* Copies a box as dt_copy_box does, from addresses of the process `pid`. Rows that are
 * contiguous on both sides go at once, by one call of the system for many of them: long
 * rows cost one copy. DT_RUNTIME where the system does not allow it, or nothing lies there. */
dt_status dt_fetch_box(int64_t pid, void *dst, const int64_t *dst_stride,
                       const void *src, const int64_t *src_stride, int ndim,
                       const int64_t *shape, size_t itemsize, dt_error *err);

#endif
