/* placement.h: how one mesh dimension holds a tensor. */
#ifndef DT_PLACEMENT_H
#define DT_PLACEMENT_H

#include "core/facts/reduce_op.h"

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>

/* The test of the house keeps these three names in the core: others ask the questions
 * below. A new kind is added here, and the compiler names the switches that lack it. */
typedef enum { DT_REPLICATE, DT_SHARD, DT_PARTIAL } dt_placement_kind;

enum { DT_PLACEMENT_KIND_COUNT = DT_PARTIAL + 1 };

typedef struct {
    dt_placement_kind kind;
    dt_reduce_op op; /* of a Partial; else DT_SUM */
    int dim; /* tensor dimension of a Shard, negative counts from the end; else 0 */
    int64_t split; /* 1; more for torch's _StridedShard: the dimension is first cut into
                      so many pieces, and every coordinate takes its chunk of each */
} dt_placement;

#define DT_REPLICATED ((dt_placement){.kind = DT_REPLICATE, .split = 1})
#define DT_SHARDED(d) ((dt_placement){.kind = DT_SHARD, .dim = (d), .split = 1})
#define DT_STRIDED(d, n) ((dt_placement){.kind = DT_SHARD, .dim = (d), .split = (n)})
#define DT_PENDING(o) ((dt_placement){.kind = DT_PARTIAL, .op = (o), .split = 1})

/* --- questions, each with one answer for every kind --- */

/* Whether every coordinate holds all of what the mesh dimension is given. */
static inline bool
dt_placement_whole(dt_placement p)
{
    switch (p.kind) {
    case DT_REPLICATE:
        return true;
    case DT_SHARD:
    case DT_PARTIAL:
        break;
    }
    return false;
}

/* Whether it cuts a tensor dimension, p.dim: every coordinate holds other elements. */
static inline bool
dt_placement_cuts(dt_placement p)
{
    switch (p.kind) {
    case DT_SHARD:
        return true;
    case DT_REPLICATE:
    case DT_PARTIAL:
        break;
    }
    return false;
}

enum { DT_NO_CUT = INT_MIN };

/* The tensor dimension that a placement cuts, or DT_NO_CUT. */
static inline int
dt_placement_cut(dt_placement p)
{
    return dt_placement_cuts(p) ? p.dim : DT_NO_CUT;
}

/* Whether it cuts this tensor dimension; p.dim must not be negative. */
static inline bool
dt_placement_cuts_dim(dt_placement p, int dim)
{
    return dt_placement_cuts(p) && p.dim == dim;
}

/* How many parts it makes of p.dim on a mesh dimension of `count` ranks: chunks, of
 * which the first coordinates have one each and any others nothing. */
static inline int64_t
dt_placement_parts(dt_placement p, int64_t count)
{
    switch (p.kind) {
    case DT_SHARD:
        return count;
    case DT_REPLICATE:
    case DT_PARTIAL:
        break;
    }
    return 1;
}

/* Whether a reduction by p.op is pending: every coordinate holds an addend. */
static inline bool
dt_placement_pending(dt_placement p)
{
    switch (p.kind) {
    case DT_PARTIAL:
        return true;
    case DT_REPLICATE:
    case DT_SHARD:
        break;
    }
    return false;
}

/* Whether a reduction by this operator is pending. */
static inline bool
dt_placement_pending_by(dt_placement p, dt_reduce_op op)
{
    return dt_placement_pending(p) && p.op == op;
}

/* Whether a value that becomes pending leaves the identity of p.op at a coordinate: it
 * stays at coordinate 0, but an average has it everywhere. */
static inline bool
dt_placement_leaves_identity(dt_placement p, int64_t coordinate)
{
    return dt_placement_pending(p) && coordinate != 0 &&
           dt_reduce_op_get(p.op)->law != DT_LAW_AVERAGES;
}

/* The placement of the gradient of what is placed so: every addend has the whole. */
static inline dt_placement
dt_placement_dual(dt_placement p)
{
    return dt_placement_pending(p) ? DT_REPLICATED : p;
}

bool dt_placement_equal(dt_placement a, dt_placement b);

/* Writes "R", "S(0)", "P(sum)", or "_S(0, 2)" for a strided shard of split 2: torch's
 * str(). Returns the length, as snprintf does. */
int dt_placement_print(char *out, size_t size, dt_placement placement);

#endif
