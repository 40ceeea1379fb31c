/* widen.h: arrays of float16 and bfloat16 as float32, and back. */
#ifndef DT_WIDEN_H
#define DT_WIDEN_H

#include "core/facts/dtype.h"

#include <stdbool.h>
#include <stdint.h>

/* out[i] = x[i], for i in 0 .. count - 1. `half`: DT_FLOAT16 or DT_BFLOAT16, the dtype
 * of the array of 16 bits. Exact one way; rounded to nearest, ties to even, the other:
 * the same bits at every level (see half.h). */
void dt_widen(dt_dtype half, float *out, const uint16_t *x, int64_t count);
void dt_narrow(dt_dtype half, uint16_t *out, const float *x, int64_t count);

/* What is among the results of a dt_narrow: infinities or NaN, and numbers that are below
 * the normal ones without being 0. */
typedef struct {
    bool special, tiny;
} dt_narrowed;

dt_narrowed dt_narrow_look(dt_dtype half, const uint16_t *out, const float *x,
                           int64_t count);

#endif
