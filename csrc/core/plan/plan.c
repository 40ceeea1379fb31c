/* Choosing a plan.
 *
 * The direct family, one exchange of box intersections, moves the fewest bytes and is
 * built first. The others are built only where they may lead to other steps
 * (worth_building): for a mixed exchange, or a step over several mesh dims. Each plan is
 * priced by the cost model, for the busiest of three ranks. The cheapest within the bound
 * on memory wins; of equal ones that of fewer messages, then the first. Steps beyond as
 * many as the direct plan and PyTorch have cost two latencies more: ranks wait for each
 * other. A mesh dimension along which several nodes have several ranks each is two
 * dimensions to the families that share sums out: so little of a sum leaves a node. Only
 * layouts and constants decide, so all ranks find the same plan without a message. */
#include "core/plan/plan.h"

#include "core/layout/unflatten.h"
#include "core/plan/build.h"
#include "core/plan/tree.h"

#include <inttypes.h>
#include <stdlib.h>

enum { UNUSUAL_LATENCIES = 2 };
_Static_assert((int)DT_COST_FAMILIES == (int)DT_FAMILIES, "costs name all families");

static void
drop_steps(dt_plan *plan, dt_context *context)
{
    for (int k = 0; k < plan->step_count; k++)
        dt_layout_release(context, plan->steps[k].to);
    dt_layout_release(context, plan->start);
    plan->step_count = 0;
    plan->start = NULL;
}

/* The most bytes of arrays that are neither the source nor the result. */
static int64_t
between_bytes(const dt_plan *plan)
{
    int64_t most = 0;
    for (int k = 0; k < plan->step_count; k++) {
        dt_traffic t;
        dt_step_traffic(&t, &plan->steps[k], dt_mesh_rank(plan->steps[k].to->mesh, 0));
        int64_t bytes = (k > 0 ? t.bytes_before : 0) +
                        (k + 1 < plan->step_count ? t.bytes_after : 0);
        most = bytes > most ? bytes : most;
    }
    return most;
}

static dt_status
check_ends(const dt_layout *from, const dt_layout *to, dt_error *err)
{
    if (from->dtype != to->dtype)
        return dt_fail(err, DT_TYPE, "cannot move %s into a layout of %s",
                       dt_dtype_name(from->dtype), dt_dtype_name(to->dtype));
    bool same = from->ndim == to->ndim;
    for (int d = 0; same && d < from->ndim; d++)
        same = from->shape[d] == to->shape[d];
    if (!same)
        return dt_fail(err, DT_VALUE, "the two layouts have different global shapes");
    if (from->mesh->world != to->mesh->world)
        return dt_fail(err, DT_VALUE,
                       "the two meshes are not of one world: one of them was made from "
                       "another communicator, or has no ranks behind it");
    return DT_OK;
}

/* Whether ranks hold the same addends, of which each could look after a share. */
static bool
replicates(const dt_layout *layout)
{
    for (int m = 0; m < layout->mesh->ndim; m++)
        if (layout->mesh->shape[m] > 1 && dt_placement_whole(layout->placements[m]))
            return true;
    return false;
}

/* Both ends as families see them that share sums out. */
typedef struct {
    bool known; /* which ranks share a node */
    int dim; /* of the mesh, which is two here: nodes, and ranks of a node; -1: none is */
    const dt_layout *from, *to;
} node_ends;

/* Whether a family that shares reductions out can lead to other steps. */
static bool
worth_nesting(dt_family family, const dt_plan *direct, const node_ends *nodes)
{
    if (!dt_mesh_same_ranks(direct->from->mesh, direct->to->mesh))
        return false;
    bool reduced = false;
    for (int k = 0; k < direct->step_count; k++) {
        const dt_step *step = &direct->steps[k];
        bool whole = step->kind == DT_STEP_ALL_REDUCE;
        bool reduces = whole || step->kind == DT_STEP_REDUCE_SCATTER;
        if (whole && dt_step_group(step) >= DT_TREE_LARGE_RANKS)
            return true;
        bool gathers = step->kind == DT_STEP_ALL_GATHER;
        if (nodes->known && gathers && step->mesh_dim_count > 1)
            return true;
        if ((reduces || gathers) && nodes->dim >= 0 &&
            dt_step_mask(step) >> nodes->dim & 1)
            return true;
        if (reduces &&
            (family == DT_SPREAD ? replicates(step->from) : step->mesh_dim_count > 1))
            return true;
        if (reduced && !reduces && step->kind != DT_STEP_LOCAL)
            return true;
        reduced = reduced || whole;
    }
    return false;
}

/* Whether a family can lead to other steps than the direct one. */
static bool
worth_building(dt_family family, const dt_plan *direct, const node_ends *nodes)
{
    if (family >= DT_NESTED)
        return worth_nesting(family, direct, nodes);
    for (int k = 0; k < direct->step_count; k++) {
        const dt_step *step = &direct->steps[k];
        bool mixed = step->kind == DT_STEP_EXCHANGE || step->kind == DT_STEP_SCATTER;
        bool several = step->mesh_dim_count > 1 && step->kind != DT_STEP_ALL_TO_ALL &&
                       step->kind != DT_STEP_LOCAL;
        bool reduces = step->kind == DT_STEP_ALL_REDUCE;
        if (mixed || (several && (family == DT_STEPWISE || reduces)))
            return true;
    }
    return false;
}

/* As many as torch needs at least, one for each mesh dimension whose parts have to come
 * from others. */
static int
torch_collectives(const dt_layout *from, const dt_layout *to)
{
    int count = 0;
    for (int m = 0; m < from->mesh->ndim && m < to->mesh->ndim; m++)
        count += from->mesh->shape[m] > 1 && !dt_placement_whole(from->placements[m]) &&
                 !dt_placement_equal(from->placements[m], to->placements[m]);
    return count;
}

/* Two plans, of which the better one is kept. */
typedef struct {
    dt_plan *best, *trial;
    node_ends nodes;
    bool found;
    double price; /* of the best: its seconds, and latencies for each unusual step */
    int64_t messages; /* of the best */
    int64_t least;    /* bytes in between that some family needs */
    int usual;        /* steps that a plan has in any case */
} contest;

static bool
is_better(const contest *c, double price, int64_t messages)
{
    return !c->found || price < c->price ||
           (price == c->price && messages < c->messages);
}

static dt_status
try_family(contest *c, dt_context *context, dt_family family, const dt_cost *cost,
           int64_t max_scratch, dt_error *err)
{
    dt_plan *trial = c->trial;
    int64_t messages = 0;
    bool nodes = family >= DT_NESTED && c->nodes.dim >= 0;
    trial->step_count = 0;
    trial->seconds = trial->by_messages = 0;
    trial->node_dim = nodes ? c->nodes.dim : -1;
    trial->start = nodes ? c->nodes.from : trial->from;
    dt_layout_retain(trial->start);
    dt_status status =
        dt_build(trial, context, family, nodes ? c->nodes.to : trial->to, err);
    for (int k = 0; k < trial->step_count; k++) {
        dt_price step;
        if (c->found && trial->seconds > c->price)
            break; /* it is not the best */
        dt_step_price(&step, &trial->steps[k], cost);
        if (step.failed && status == DT_OK) /* another rank's plan may be another one */
            status = dt_fail(err, DT_MEMORY, "no memory to price a plan");
        trial->seconds += step.seconds;
        trial->by_messages += step.by_messages;
        messages += step.messages;
    }
    int64_t bytes = max_scratch > 0 ? between_bytes(trial) : 0;
    c->least = bytes < c->least ? bytes : c->least;
    if (family == DT_DIRECT && trial->step_count > c->usual)
        c->usual = trial->step_count;
    int unusual = trial->step_count > c->usual ? trial->step_count - c->usual : 0;
    double price = trial->seconds + UNUSUAL_LATENCIES * cost->link.latency * unusual;
    if (status == DT_OK && bytes <= max_scratch && is_better(c, price, messages)) {
        c->trial = c->best;
        c->best = trial;
        c->price = price;
        c->messages = messages;
        c->found = true;
    }
    drop_steps(c->trial, context);
    return status;
}

/* A family is built if it can be better: those that share sums out have more steps, which
 * do not pay where a few messages are all. */
static bool
is_wanted(const contest *c, dt_family family, const dt_cost *cost)
{
    if (cost->family != 0)
        return cost->family == 1 + (int)family;
    if (!c->found)
        return true;
    bool cheap = c->price <= 2 * UNUSUAL_LATENCIES * cost->link.latency;
    return !(cheap && family >= DT_NESTED) &&
           worth_building(family, c->best, &c->nodes);
}

static dt_status
choose(contest *c, dt_context *context, const dt_cost *cost, int64_t max_scratch,
       dt_error *err)
{
    for (int k = DT_DIRECT; k < DT_FAMILIES; k++)
        if (is_wanted(c, (dt_family)k, cost))
            DT_TRY(try_family(c, context, (dt_family)k, cost, max_scratch, err));
    if (!c->found)
        return dt_fail(err, DT_VALUE,
                       "max_bytes=%" PRId64 " is too little: this move needs %" PRId64
                       " bytes for arrays in between",
                       max_scratch, c->least);
    return DT_OK;
}

/* Looks for a mesh dimension of which several nodes have several ranks each. */
static dt_status
find_nodes(node_ends *out, dt_context *context, const dt_plan *ends,
           const dt_cost *cost, dt_error *err)
{
    *out = (node_ends){.dim = -1, .known = cost->node != 0};
    const dt_mesh *mesh = ends->from->mesh;
    int64_t ranks;
    int dim = dt_mesh_same_ranks(mesh, ends->to->mesh)
                  ? dt_cost_node_dim(&ranks, cost, mesh)
                  : -1;
    if (dim < 0)
        return DT_OK;
    DT_TRY(dt_layout_unflatten(&out->from, context, ends->from, dim, ranks, err));
    DT_TRY(dt_layout_unflatten(&out->to, context, ends->to, dim, ranks, err));
    if (out->from != NULL && out->to != NULL)
        out->dim = dim;
    return DT_OK;
}

dt_status
dt_plan_make(dt_plan **out, dt_context *context, const dt_layout *from,
             const dt_layout *to, const dt_cost *cost, int64_t max_scratch,
             dt_error *err)
{
    DT_TRY(check_ends(from, to, err));
    contest c = {.best = malloc(sizeof(dt_plan)),
                 .trial = malloc(sizeof(dt_plan)),
                 .least = INT64_MAX,
                 .usual = torch_collectives(from, to)};
    dt_status status = DT_MEMORY;
    if (c.best == NULL || c.trial == NULL) {
        dt_fail(err, status, "no memory for a plan");
    } else {
        dt_plan empty = {.from = from, .to = to, .node_dim = -1};
        *c.best = *c.trial = empty;
        status = find_nodes(&c.nodes, context, &empty, cost, err);
        if (status == DT_OK)
            status = choose(&c, context, cost, max_scratch, err);
        dt_layout_release(context, c.nodes.from);
        dt_layout_release(context, c.nodes.to);
    }
    free(c.trial);
    if (status != DT_OK) {
        if (c.best != NULL)
            drop_steps(c.best, context);
        free(c.best);
        return status;
    }
    *out = c.best;
    return DT_OK;
}

void
dt_plan_free(dt_plan *plan, dt_context *context)
{
    drop_steps(plan, context);
    free(plan);
}

bool
dt_plan_local(const dt_plan *plan)
{
    for (int k = 0; k < plan->step_count; k++)
        if (plan->steps[k].kind != DT_STEP_LOCAL)
            return false;
    return true;
}
