/* product.h: products of matrices of bfloat16 by the processor's own dot products, which
 * take 16-bit numbers and add up in float32: AMX, or AVX512-BF16.
 *
 * Sums are rounded to bfloat16 once, or not at all. The order of additions follows from the number of
 * terms alone, so that an element has the same bits in whichever part of a matrix it is
 * computed; AMX and AVX512-BF16 add in different orders. Both take subnormal numbers as
 * 0. */
#ifndef DT_PRODUCT_H
#define DT_PRODUCT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A matrix of bfloat16: distances in elements. Rows or columns are contiguous: one of
 * the distances is 1, or there is one row or one column. */
typedef struct {
    const uint16_t *data;
    int64_t row, column;
} dt_factor;

/* out = a b + bias, of an m x k and a k x n matrix. */
typedef struct {
    int64_t m, n, k;
    dt_factor a, b;
    dt_factor bias; /* distances may be 0; without data there is none */
    void *out;      /* of bfloat16 or, if `wide`, of float32. Rows are contiguous ... */
    int64_t out_row; /* ... and so many elements apart */
    bool wide;
} dt_product;

typedef enum { DT_PRODUCT_NONE, DT_PRODUCT_AVX512, DT_PRODUCT_AMX } dt_product_way;

/* The way that is used: DT_PRODUCT_NONE where float32 is faster, and where dt_level() is
 * below 2 (level.h). */
dt_product_way dt_product_used(void);

/* Has a way used that the processor has (for tests), else, or if it is negative, the best.
 * Returns the one that is used now. */
dt_product_way dt_product_use(int way);

/* Whether a matrix can be taken as it is. */
bool dt_product_takes(dt_factor x, int64_t rows, int64_t columns);

/* Bytes that a call needs at `scratch`, aligned to 64. */
size_t dt_product_scratch(const dt_product *p);

/* There is a way that is used. */
void dt_product_run(const dt_product *p, void *scratch);

#endif
