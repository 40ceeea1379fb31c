/* half_ops.h: arithmetic of floats of 16 bits: each number is computed in float32 and
 * rounded once. These are NumPy's bits, and NumPy's flags of floating-point exceptions are
 * raised; NumPy converts one number after the other, and takes ten times as long. */
#ifndef DT_HALF_OPS_H
#define DT_HALF_OPS_H

#include "core/facts/dtype.h"

#include <stdbool.h>
#include <stdint.h>

typedef struct dt_half_op dt_half_op;

/* The function of a name of NumPy's: "add", "less", ...; NULL: there is none here. */
const dt_half_op *dt_half_op_of(const char *name);

enum { DT_HALF_OPERANDS = 3 }; /* at most */

/* How many numbers it takes; whether it gives bytes that are 0 or 1, not float16. */
int dt_half_op_operands(const dt_half_op *op);
bool dt_half_op_compares(const dt_half_op *op);

/* Whether there is a function of this dtype: of float16 there are all, of bfloat16 those
 * that round. */
bool dt_half_op_has(const dt_half_op *op, dt_dtype half);

/* out[i] = f(x[0][i * step[0]], ...), for i in 0 .. count - 1; steps are 0 or 1. `out` may
 * be an operand whose step is 1, if it has floats. */
void dt_half_op_run(const dt_half_op *op, dt_dtype half, void *out,
                    const uint16_t *const *x, const int *step, int64_t count);

#endif
