/* What a step takes, by the way that it is expected to go: by tree, or else by messages.
 * What would be routed is priced as messages: to know its bytes takes n log n looks. */
#include "core/plan/tree.h"

/* The busiest of a few ranks of a mesh: the first has the longest parts, the others are
 * not on the diagonal on which nothing moves when an order changes. */
static double
mesh_price(dt_price *out, const dt_step *step, const dt_cost *cost, dt_link link,
           const dt_mesh *mesh, bool by_tree)
{
    int64_t sample[] = {0, 1, mesh->size - 2};
    double most = 0;
    for (int k = 0; k < 3; k++) {
        if (sample[k] < 0 || sample[k] >= mesh->size || (k == 2 && sample[2] <= 1))
            continue;
        dt_traffic t;
        (by_tree ? dt_tree_traffic : dt_step_traffic)(&t, step,
                                                      dt_mesh_rank(mesh, sample[k]));
        double seconds = dt_traffic_seconds(&t, cost, link);
        most = seconds > most ? seconds : most;
        out->messages = t.messages > out->messages ? t.messages : out->messages;
        out->failed |= t.failed;
    }
    return most;
}

static double
step_price(dt_price *out, const dt_step *step, const dt_cost *cost, bool by_tree)
{
    dt_link link = dt_step_link(step, cost);
    out->messages = 0;
    double seconds = mesh_price(out, step, cost, link, step->from->mesh, by_tree);
    if (dt_mesh_same_ranks(step->from->mesh, step->to->mesh))
        return seconds;
    double there = mesh_price(out, step, cost, link, step->to->mesh, by_tree);
    return seconds > there ? seconds : there;
}

double
dt_step_seconds(const dt_step *step, const dt_cost *cost)
{
    dt_price price = {0};
    return step_price(&price, step, cost, false);
}

void
dt_step_price(dt_price *out, const dt_step *step, const dt_cost *cost)
{
    out->failed = false;
    out->by_messages = step_price(out, step, cost, false);
    out->seconds = out->by_messages;
    if (dt_tree_quick(step) && dt_tree_pays(step))
        out->seconds = step_price(out, step, cost, true);
}
