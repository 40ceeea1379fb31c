/* placement.h: how one mesh dimension holds a tensor. */
#ifndef DT_PLACEMENT_H
#define DT_PLACEMENT_H

#include "core/dtype.h"
#include "core/status.h"

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>

typedef enum { DT_REPLICATE, DT_SHARD, DT_PARTIAL } dt_placement_kind;

/* How the addends of a Partial become one value. */
typedef enum { DT_SUM, DT_AVG, DT_PRODUCT, DT_MAX, DT_MIN } dt_reduce_op;

enum { DT_REDUCE_OP_COUNT = DT_MIN + 1 };

typedef struct {
    dt_placement_kind kind;
    dt_reduce_op op; /* of a Partial; else DT_SUM */
    int dim; /* tensor dimension of a Shard, negative counts from the end; else 0 */
    int64_t split; /* 1; more for torch's _StridedShard: the dimension is first cut into
                      so many pieces, and every coordinate takes its chunk of each */
} dt_placement;

enum { DT_NO_CUT = INT_MIN };

#define DT_REPLICATED ((dt_placement){.kind = DT_REPLICATE, .split = 1})
#define DT_SHARDED(d) ((dt_placement){.kind = DT_SHARD, .dim = (d), .split = 1})
#define DT_PENDING(o) ((dt_placement){.kind = DT_PARTIAL, .op = (o), .split = 1})

/* The tensor dimension that a placement cuts, or DT_NO_CUT. */
int dt_placement_cut(dt_placement placement);

bool dt_placement_equal(dt_placement a, dt_placement b);

/* Writes "R", "S(0)", "P(sum)", or "_S(0, 2)" for a strided shard of split 2: torch's
 * str(). Returns the length, as snprintf does. */
int dt_placement_print(char *out, size_t size, dt_placement placement);

const char *dt_reduce_op_name(dt_reduce_op op); /* "sum" */

/* DT_VALUE unless name is one of sum, avg, product, max, min. */
dt_status dt_reduce_op_parse(dt_reduce_op *out, const char *name, dt_error *err);

/* DT_TYPE unless addends of `dtype` can be reduced by `op`: an average of integers or
 * booleans has no exact value of that dtype. */
dt_status dt_reduce_op_check(dt_reduce_op op, dt_dtype dtype, dt_error *err);

#endif
