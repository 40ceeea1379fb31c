/* The room core/plan: the steps from one layout to another: how they are made,
 * what they send and cost, and which plan is the best.
 *
 * May use: core/facts, core/memory, core/layout.
 * Begin with: this header, then build.c (steps), traffic.c (bytes), plan.c (choice). */

/* plan.h: the steps from one layout to another. Pure: the same on every rank.
 *
 * Two families, of which the cheaper is taken: a sequence (reduce, slice, exchange,
 * gather), and one exchange of box intersections, which moves the fewest bytes that can
 * be moved. Nothing is tabulated over pairs of ranks: traffic is a product over tensor
 * dimensions.
 *
 * Redistribution as in torch.distributed.tensor; order of the steps after Rink et al.,
 * "Memory-efficient array redistribution through portable collective communication",
 * arXiv 2112.01075. */
#ifndef DT_PLAN_H
#define DT_PLAN_H

#include "core/layout/context.h"
#include "core/plan/cost.h"
#include "core/layout/exchange.h"

typedef enum {
    DT_STEP_LOCAL,          /* every rank makes its new part of its old one */
    DT_STEP_ALL_GATHER,     /* mesh dims from Shard to Replicate */
    DT_STEP_ALL_TO_ALL,     /* mesh dims from Shard to another Shard, order or cuts */
    DT_STEP_REDUCE_SCATTER, /* mesh dims from Partial to Shard of the rank's own part */
    DT_STEP_ALL_REDUCE,     /* mesh dims from Partial to Replicate */
    DT_STEP_BROADCAST,      /* from one rank to all of a mesh, whole */
    DT_STEP_SCATTER,        /* from one rank to all of a mesh, in parts */
    DT_STEP_GATHER,         /* from all of a mesh to one rank */
    DT_STEP_EXCHANGE,       /* any other exchange of box intersections */
} dt_step_kind;

enum { DT_STEP_KINDS = DT_STEP_EXCHANGE + 1 };

/* The dtype changes where sums of 16-bit floats travel before they are whole: a
 * reduce_scatter makes float32 of the first addends, a local step rounds the last sum. */
typedef struct {
    dt_step_kind kind;
    const dt_layout *from, *to;
    int mesh_dim_count; /* mesh dims of `to` that change; all, across meshes */
    int mesh_dims[DT_MESH_MAX_NDIM];
    dt_reduce_op op; /* of reductions */
    int64_t divisor; /* of averages: the number of all addends, in the last step */
} dt_step;

/* Each mesh dimension is sliced, reduced and gathered at most once, and there are at most
 * four steps besides. */
enum { DT_PLAN_MAX_STEPS = 3 * DT_MESH_MAX_NDIM + 4 };

typedef struct dt_plan {
    uint64_t serial; /* no other plan of the same dt_plans has or had this number */
    int64_t refs;    /* from here to max_scratch: plans.c's */
    struct dt_plan *newer, *older;
    int64_t max_scratch;
    uint64_t cost; /* hash of the costs, and of nodes, that it was chosen by */
    const dt_layout *from, *to;
    const dt_layout
        *start;   /* of the steps: `from`, or its parts on a mesh of nodes ... */
    int node_dim; /* ... of which this dim is two, nodes and ranks of a node; else -1 */
    int step_count; /* 0: nothing to do, the parts are the same */
    dt_step steps[DT_PLAN_MAX_STEPS];
    double seconds;     /* predicted */
    double by_messages; /* the same if all went by messages: what operators choose by */
} dt_plan;

/* Makes the plan from `from` to `to`, of equal shapes and dtypes, on any two meshes of
 * one world. `max_scratch` (0: no bound) excludes plans with larger intermediate parts.
 * Layouts in between are entered into the context and held by the plan.
 *
 * DT_VALUE if shapes differ or no plan keeps the bound. DT_TYPE if dtypes differ.
 * DT_MEMORY. */
dt_status dt_plan_make(dt_plan **out, dt_context *context, const dt_layout *from,
                       const dt_layout *to, const dt_cost *cost, int64_t max_scratch,
                       dt_error *err);
void dt_plan_free(dt_plan *plan, dt_context *context);

/* True if no rank sends anything. */
bool dt_plan_local(const dt_plan *plan);

/* What one rank of the world sends, receives and copies in a step. */
typedef struct {
    int64_t bytes_sent, bytes_received;
    int64_t messages;     /* that it sends, one for each peer and round */
    int64_t waits;        /* for messages that are not counted, one by one */
    int64_t bytes_copied; /* within the rank */
    int64_t bytes_before, bytes_after; /* of its part */
    bool failed; /* for want of memory: what is sent is not known */
} dt_traffic;

void dt_step_traffic(dt_traffic *out, const dt_step *step, int64_t rank);

/* The dearest link along a step's mesh dimensions. */
dt_link dt_step_link(const dt_step *step, const dt_cost *cost);

/* Predicted seconds of what a rank sends and receives over a link, and copies. */
double dt_traffic_seconds(const dt_traffic *traffic, const dt_cost *cost, dt_link link);

/* Predicted seconds of a step, of its busiest rank, by messages. */
double dt_step_seconds(const dt_step *step, const dt_cost *cost);

/* Of the busiest rank of a step. */
typedef struct {
    double seconds;     /* as it is expected to go, by tree or by messages */
    double by_messages; /* dt_step_seconds */
    int64_t messages;   /* that a rank sends */
    bool failed;        /* for want of memory */
} dt_price;

void dt_step_price(dt_price *out, const dt_step *step, const dt_cost *cost);

/* An all_reduce or broadcast of few bytes goes whole in one round; larger ones are
 * scattered and gathered in two. Of 2 ranks that read, more goes in one: the bytes that
 * count are the same. */
bool dt_in_one_round(int64_t bytes, int64_t ranks, bool reads);

/* The number of ranks that a step's mesh dimensions bring together. */
int64_t dt_step_group(const dt_step *step);

/* The grid on which the addends of a reduction lie, as dt_reduce has it; returns its number
 * of dimensions. One joins the next if that has a power of two of them: the tree is the
 * same, and the kernel has larger ones to walk. */
int dt_step_grid(int64_t *lengths, const dt_step *step);

/* Whether steps of two plans can be done as one, message by message: they do the same
 * between the same ranks. */
bool dt_steps_together(const dt_step *a, const dt_step *b);

/* The place, among them, of the rank at place `index` of a mesh. */
int64_t dt_step_place(const dt_step *step, const dt_mesh *mesh, int64_t index);

/* A step's mesh dimensions as a bit mask. */
unsigned dt_step_mask(const dt_step *step);

/* "all_gather" and so on: the names of CommDebugMode. */
const char *dt_step_name(dt_step_kind kind);

#endif
