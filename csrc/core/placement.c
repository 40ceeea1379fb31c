#include "core/placement.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static const char *const OP_NAMES[] = {"sum", "avg", "product", "max", "min"};

int
dt_placement_cut(dt_placement placement)
{
    switch (placement.kind) {
    case DT_SHARD:
        return placement.dim;
    case DT_REPLICATE:
    case DT_PARTIAL:
        break;
    }
    return DT_NO_CUT;
}

bool
dt_placement_equal(dt_placement a, dt_placement b)
{
    return a.kind == b.kind && a.op == b.op && a.dim == b.dim && a.split == b.split;
}

int
dt_placement_print(char *out, size_t size, dt_placement placement)
{
    switch (placement.kind) {
    case DT_REPLICATE:
        return snprintf(out, size, "R");
    case DT_SHARD:
        if (placement.split != 1)
            return snprintf(out, size, "_S(%d, %" PRId64 ")", placement.dim,
                            placement.split);
        return snprintf(out, size, "S(%d)", placement.dim);
    case DT_PARTIAL:
        return snprintf(out, size, "P(%s)", dt_reduce_op_name(placement.op));
    }
    return 0;
}

const char *
dt_reduce_op_name(dt_reduce_op op)
{
    return OP_NAMES[op];
}

dt_status
dt_reduce_op_parse(dt_reduce_op *out, const char *name, dt_error *err)
{
    for (int op = 0; op < DT_REDUCE_OP_COUNT; op++)
        if (strcmp(name, OP_NAMES[op]) == 0) {
            *out = (dt_reduce_op)op;
            return DT_OK;
        }
    return dt_fail(err, DT_VALUE,
                   "Partial has no reduce_op '%.40s'; it is one of 'sum', 'avg', "
                   "'product', 'max', 'min'",
                   name);
}

dt_status
dt_reduce_op_check(dt_reduce_op op, dt_dtype dtype, dt_error *err)
{
    char kind = dt_dtype_kind(dtype);
    if (op == DT_AVG && kind != 'f' && kind != 'c')
        return dt_fail(err, DT_TYPE,
                       "Partial(avg) has no exact value in dtype %s; use a floating "
                       "dtype, or Partial(sum)",
                       dt_dtype_name(dtype));
    return DT_OK;
}
