/* merge.h: sorted runs of numbers become one. */
#ifndef DT_MERGE_H
#define DT_MERGE_H

#include "core/facts/dtype.h"

#include <stdbool.h>
#include <stdint.h>

/* Sorted numbers, NaN last, and what goes with each of them: the number of its place,
 * or NULL. */
typedef struct {
    void *values;
    int64_t *places;
} dt_runs;

/* Whether there is a function for a dtype: integers, float32 and float64. */
bool dt_merge_has(dt_dtype dtype);

/* Merges `count` runs, which lie one after the other, the k-th of sizes[k] numbers: of
 * equal ones those of an earlier run come first. Writes to `out`, and to `other` in
 * turns if there are more than two runs (else it may be NULL); overwrites `sizes`.
 * Returns which of both has the result. */
const dt_runs *dt_merge(dt_dtype dtype, const dt_runs *x, int64_t *sizes, int64_t count,
                        const dt_runs *out, const dt_runs *other);

#endif
