/* softmax.h: exponentials of rows, divided by their sum.
 *
 * A row is `length` numbers one after the other; `rows` of them follow each other. A
 * row whose greatest number is not finite, or that has NaN, becomes NaN, as in NumPy.
 */
#ifndef DT_SOFTMAX_H
#define DT_SOFTMAX_H

#include <stdbool.h>
#include <stdint.h>

/* What is computed of which arrays. x, y, g: rows, and so is the result; top, total,
 * dot: a number for each row. */
typedef enum {
    DT_SOFTMAX,     /* x: e^(x - top) / total, top = max x, total = sum e^(x - top) */
    DT_LOG_SOFTMAX, /* x: x - top - log total */
    /* The gradients, from the one of the result and from the result: */
    DT_SOFTMAX_BACKWARD,     /* g, y: y (g - sum g y) */
    DT_LOG_SOFTMAX_BACKWARD, /* g, y: g - e^y sum g */
    /* A number for each row: */
    DT_LOGSUMEXP, /* x: log sum e^x; the greatest x itself where that is infinite; of
                     an empty row -infinity */
    DT_SUM_EXP,   /* x, top: sum e^(x - top); where top is infinite, sum e^x */
    DT_ROW_DOT,   /* g, y: sum g y */
    /* The same, where a row is only a part, and the numbers those of the whole: */
    DT_SOFTMAX_GIVEN,              /* x, top, total */
    DT_LOG_SOFTMAX_GIVEN,          /* x, top, total */
    DT_SOFTMAX_BACKWARD_GIVEN,     /* g, y, dot = sum g y */
    DT_LOG_SOFTMAX_BACKWARD_GIVEN, /* g, y, total = sum g */
    DT_ROW_KERNEL_COUNT
} dt_row_kernel;

/* Whether the result is a number for each row. */
bool dt_row_kernel_reduces(dt_row_kernel which);

/* Arrays are of float32, or float64 where `wide`. `out` overlaps no other array. */
void dt_row_kernel_run(dt_row_kernel which, bool wide, void *out, const void *const *in,
                       int64_t rows, int64_t length);

#endif
