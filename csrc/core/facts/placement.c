#include "core/facts/placement.h"

#include <inttypes.h>
#include <stdio.h>

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
