/* placement.h: how one mesh dimension holds a tensor. */
#ifndef DT_PLACEMENT_H
#define DT_PLACEMENT_H

#include "core/reduce_op.h"

#include <stdbool.h>
#include <stdint.h>

typedef enum { DT_REPLICATE, DT_SHARD, DT_PARTIAL } dt_placement_kind;

typedef struct {
    dt_placement_kind kind;
    dt_reduce_op op; /* of a Partial; else DT_SUM */
    int dim; /* tensor dimension of a Shard, negative counts from the end; else 0 */
    int64_t split; /* 1; more for torch's _StridedShard: the dimension is first cut into
                      so many pieces, and every coordinate takes its chunk of each */
} dt_placement;

#define DT_REPLICATED ((dt_placement){.kind = DT_REPLICATE, .split = 1})
#define DT_SHARDED(d) ((dt_placement){.kind = DT_SHARD, .dim = (d), .split = 1})
#define DT_PENDING(o) ((dt_placement){.kind = DT_PARTIAL, .op = (o), .split = 1})

bool dt_placement_equal(dt_placement a, dt_placement b);

/* Writes "R", "S(0)", "P(sum)", or "_S(0, 2)" for a strided shard of split 2: torch's
 * str(). Returns the length, as snprintf does. */
int dt_placement_print(char *out, size_t size, dt_placement placement);

#endif
