/* reduce_op.h: how the addends of a Partial become one value.
 *
 * Everything that the library knows of a reduction is its row in DT_REDUCE_OPS, but for
 * its loops (kernels/reduce_level.c). What a row does not say outright follows from its
 * law, by the functions below. Python reads the same rows, as _C.REDUCE_OPS. */
#ifndef DT_REDUCE_OP_H
#define DT_REDUCE_OP_H

#include "core/facts/dtype.h"
#include "core/facts/status.h"

#include <stdbool.h>

/* What kind of arithmetic a reduction is: law, whether f(a op b) == f(a) op f(b) for
 * every linear f, whether x op x == x, so that addends may all be the value, and what is
 * told of a dtype that does not have it. An average adds, and divides by the number of
 * addends; what selects gives one of them, by their order. */
#define DT_REDUCE_LAWS(X)                                                              \
    X(ADDS, true, false, "")                                                           \
    X(AVERAGES, true, true, "; use a floating dtype, or Partial(sum)")                 \
    X(MULTIPLIES, false, false, "")                                                    \
    X(SELECTS, false, true, "")                                                        \
    X(BITWISE, false, true, "; it is of integers and booleans")

typedef enum {
#define DT_REDUCE_LAW_ENUM(law, ...) DT_LAW_##law,
    DT_REDUCE_LAWS(DT_REDUCE_LAW_ENUM)
#undef DT_REDUCE_LAW_ENUM
} dt_reduce_law;

/* The element that changes nothing: every dtype has one of each. */
typedef enum {
    DT_IDENTITY_NOTHING, /* -0.0, 0, False */
    DT_IDENTITY_ONE,
    DT_IDENTITY_LOWEST,
    DT_IDENTITY_HIGHEST,
    DT_IDENTITY_COUNT,
} dt_reduce_identity_kind;

/* enumerator, name, torch's ReduceOp in lower case (another name for the same), NumPy's
 * ufunc that reduces addends so, or NULL, law, identity, the kinds of dtype that it is
 * of, and the reduction that a decreasing function makes of it */
#define DT_REDUCE_OPS(X)                                                               \
    X(SUM, "sum", "sum", "add", ADDS, NOTHING, "biufc", SUM)                           \
    X(AVG, "avg", "avg", NULL, AVERAGES, NOTHING, "fc", AVG)                           \
    X(PRODUCT, "product", "product", "multiply", MULTIPLIES, ONE, "biufc", PRODUCT)    \
    X(MAX, "max", "max", "maximum", SELECTS, LOWEST, "biufc", MIN)                     \
    X(MIN, "min", "min", "minimum", SELECTS, HIGHEST, "biufc", MAX)                    \
    X(BITWISE_OR, "bitwise_or", "bor", "bitwise_or", BITWISE, NOTHING, "biu",          \
      BITWISE_OR)

typedef enum {
#define DT_REDUCE_OP_ENUM(op, ...) DT_##op,
    DT_REDUCE_OPS(DT_REDUCE_OP_ENUM)
#undef DT_REDUCE_OP_ENUM
} dt_reduce_op;

enum {
#define DT_REDUCE_OP_ONE(...) +1
    DT_REDUCE_OP_COUNT = 0 DT_REDUCE_OPS(DT_REDUCE_OP_ONE)
#undef DT_REDUCE_OP_ONE
};

typedef struct {
    const char *name, *torch, *ufunc;
    dt_reduce_law law;
    dt_reduce_identity_kind identity;
    const char *kinds;
    dt_reduce_op reversed;
} dt_reduce_op_row;

/* The row of a reduction. */
const dt_reduce_op_row *dt_reduce_op_get(dt_reduce_op op);

const char *dt_reduce_op_name(dt_reduce_op op); /* "sum" */

/* Reads a name or torch's. DT_VALUE, with the list of names, unless there is one. */
dt_status dt_reduce_op_parse(dt_reduce_op *out, const char *name, dt_error *err);

/* Whether what some of the addends become may be sent to be combined further: not where
 * it is rounded once, at the end, as sums of 16-bit floats are. */
bool dt_reduce_op_travels(dt_reduce_op op, dt_dtype dtype);

/* DT_TYPE unless addends of `dtype` can be reduced by `op`: an average of integers or
 * booleans has no exact value of that dtype, and floats have no bitwise_or. */
dt_status dt_reduce_op_check(dt_reduce_op op, dt_dtype dtype, dt_error *err);

bool dt_reduce_op_linear(dt_reduce_op op);     /* sum and avg: see DT_REDUCE_LAWS */
bool dt_reduce_op_idempotent(dt_reduce_op op); /* all but sum and product */

/* Whether pending reductions of two mesh dimensions may be done in either order. */
bool dt_reduce_op_commute(dt_reduce_op a, dt_reduce_op b);

/* Whether addends of dtype `from` may be converted to `to` one by one: reducing first
 * gives the same. */
bool dt_reduce_op_converts(dt_reduce_op op, dt_dtype from, dt_dtype to);

#endif
