/* again.c: most moves have been made before: of one array, between the same layouts, of all
 * ranks. All that depends on the layouts alone is kept: the plan, the shape of the result,
 * what the ranks compare; comm keeps the run. All other moves are in transfer.c. */
#include "ext/move/move.h"

#include <string.h>

enum { ROUTES = 64, NAME_MOST = 32, BRIEF = 1 << 16 /* bytes */ };

typedef struct {
    const dt_layout *from, *to; /* retained; NULL: nothing yet */
    const dt_plan *plan;        /* retained */
    uint64_t cost, hash;
    int64_t node;
    int rank;
    bool brief;
    char what[NAME_MOST];
    int64_t shape[DT_MAX_NDIM + 1];
    int ndim;
} route;

static route routes[ROUTES];

static route *
place_of(const ext_item *item, int rank)
{
    uint64_t hash = ((uint64_t)(uintptr_t)item->from >> 4) * 31 +
                    ((uint64_t)(uintptr_t)item->to >> 4) + (uint64_t)rank;
    return &routes[(hash ^ hash >> 8) % ROUTES];
}

static bool
leads(const route *r, const ext_item *item, const dt_world *world, const char *what)
{
    return r->from == item->from && r->to == item->to &&
           r->rank == world->transport->rank && r->cost == world->cost.hash &&
           r->node == world->cost.node && strcmp(r->what, what) == 0;
}

static void
release_route(route *r)
{
    if (r->from == NULL)
        return;
    dt_plan_release(ext_plans, r->plan);
    dt_layout_release(ext_context, r->from);
    dt_layout_release(ext_context, r->to);
    r->from = NULL;
}

void
move_forget_routes(void)
{
    for (int k = 0; k < ROUTES; k++)
        release_route(&routes[k]);
}

/* What the ranks compare is as transfer.c describes it. */
static uint64_t
hash_of(const dt_plan *plan, const char *what)
{
    static const transfer_options o;
    dt_call call;
    ext_call_plan(&call, plan, what);
    ext_call_hash(&call, &o.max_bytes, sizeof o.max_bytes);
    ext_call_hash(&call, &o.detail, sizeof o.detail);
    return call.hash;
}

/* False: there is no plan, or nothing to do, or the name is too long. */
static bool
find_route(route *r, const ext_item *item, const dt_world *world, const char *what)
{
    const dt_plan *plan;
    int rank = world->transport->rank;
    if (strlen(what) >= NAME_MOST ||
        dt_plans_find(&plan, ext_plans, item->from, item->to, &world->cost, 0, NULL) !=
            DT_OK)
        return false;
    if (plan->step_count == 0) {
        dt_plan_release(ext_plans, plan);
        return false;
    }
    dt_layout_retain(item->from);
    dt_layout_retain(item->to);
    release_route(r);
    r->from = item->from;
    r->to = item->to;
    r->plan = plan;
    r->cost = world->cost.hash;
    r->node = world->cost.node;
    r->rank = rank;
    strcpy(r->what, what);
    r->hash = hash_of(plan, what);
    r->ndim = dt_layout_shape_at(r->shape, item->to, rank);
    r->brief = dt_layout_bytes_at(item->from, rank) < BRIEF &&
               dt_layout_bytes_at(item->to, rank) < BRIEF;
    return true;
}

/* Of all ranks of the world, which compare no elements, and are not in a composite. */
static bool
is_plain(const ext_item *item, const dt_world *world)
{
    const dt_mesh *mesh = item->from->mesh;
    const dt_transport *t = world->transport;
    return item->to->mesh == mesh && mesh->ranks == NULL && mesh->size == t->size &&
           t->size > 1 && !t->alone && world->check != DT_CHECK_ARRAYS &&
           ext_trace.scope.name == NULL && ext_trace.scope.lineage == 0 &&
           item->array != NULL && ext_has_data((PyArrayObject *)item->array);
}

static int
travel(ext_item *item, const route *r, dt_world *world)
{
    dt_run *run = dt_run_take(world->all, r->plan, r->hash);
    if (run == NULL)
        return 0;
    PyArrayObject *array = (PyArrayObject *)item->array;
    dt_error local;
    dt_transfer move = {.plan = r->plan,
                        .src = PyArray_DATA(array),
                        .src_stride = (const int64_t *)PyArray_STRIDES(array)};
    item->result = ext_array(r->ndim, r->shape, r->to->dtype);
    if (item->result == NULL)
        ext_catch(&local);
    else
        move.dst = PyArray_DATA((PyArrayObject *)item->result);
    bool good = item->result != NULL;
    if (!dt_run_again(run, &move, item->lineage, item->lineage != 0,
                      good ? NULL : &local)) {
        Py_CLEAR(item->result);
        return 0;
    }
    const dt_plan *plan =
        r->plan; /* another thread's rank may take the route's place */
    dt_plan_retain(plan);
    int failed = move_finish(item, 1, run, world, r->brief, NULL);
    dt_plan_release(ext_plans, plan);
    if (failed < 0)
        Py_CLEAR(item->result);
    return failed < 0 ? -1 : 1;
}

int
move_again(ext_item *item, const char *what)
{
    item->result = NULL;
    if (item->from->mesh->world == 0)
        return 0;
    dt_world *world = ext_world(item->from->mesh, what);
    if (world == NULL)
        return -1;
    if (!is_plain(item, world))
        return 0;
    ext_pending_sweep(world);
    if (item->from == item->to) {
        item->result = Py_NewRef(item->array);
        move_done(what);
        return 1;
    }
    route *r = place_of(item, world->transport->rank);
    if (!leads(r, item, world, what) && !find_route(r, item, world, what))
        return 0;
    if (world->check == DT_CHECK_NOTHING && dt_plan_local(r->plan))
        return 0; /* nothing is agreed on */
    return travel(item, r, world);
}
