/* random_normal.h: what random.c makes of uniform words by logarithm, sine and cosine.
 */
#ifndef DT_KERNELS_RANDOM_NORMAL_H
#define DT_KERNELS_RANDOM_NORMAL_H

#include <stdint.h>

/* Pairs of normal numbers: of words 2k and 2k + 1 elements 2k and 2k + 1. */
void dt_random_normals(double *out, const uint64_t *words, int64_t pairs);

/* Exponential numbers, one of each word. */
void dt_random_exponentials(double *out, const uint64_t *words, int64_t count);

#endif
