/* reduce_level.h: the inner loops of reduce.c for one instruction set. Every set gives
 * the same bits, but for the sign and payload of a NaN that comes of two. Not for
 * others: call reduce.h. */
#ifndef DT_REDUCE_LEVEL_H
#define DT_REDUCE_LEVEL_H

#include "kernels/reduce.h"

#include <stdint.h>

/* out[i] = first[i] op second[i]; or, where there is a third and a fourth (else both are
 * NULL), (first[i] op second[i]) op (third[i] op fourth[i]). `out` is `first` or overlaps
 * none. */
typedef void dt_combine(void *out, const void *first, const void *second,
                        const void *third, const void *fourth, int64_t count);

/* How a dtype is reduced. Where `widen` is not NULL, what is computed is made of
 * float32: those loops take what `widen` makes, and `narrow` rounds the result. */
typedef struct {
    void (*scale)(void *out, int64_t divisor, int64_t count); /* out[i] /= divisor */
    void (*widen)(float *out, const uint16_t *in, int64_t count);
    void (*narrow)(uint16_t *out, const float *in, int64_t count);
} dt_reduce_row;

typedef struct {
    dt_combine *const *combine[DT_REDUCE_OP_COUNT]; /* each has a loop for each dtype */
    dt_reduce_row rows[DT_DTYPE_COUNT];
} dt_reduce_level;

/* The best level of this machine. */
const dt_reduce_level *dt_reduce_level_best(void);

/* Level 0 runs on every machine; NULL if this one has not so many. */
const dt_reduce_level *dt_reduce_level_at(int index);

/* dt_reduce with the loops of a level. */
void dt_reduce_at(const dt_reduce_level *level, const dt_reduction *r, void *out,
                  const void *const *in);

#endif
