/* From layout to layout: plans, memory, and the run. */
#include "ext/watch.h"

#include <string.h>

enum { RELEASE_GIL_FROM = 1 << 16 }; /* bytes */

const dt_layout *
ext_layout_enter(dt_layout *layout)
{
    const dt_layout *entered;
    dt_error err;
    if (dt_context_layout(&entered, ext_context, layout, &err) == DT_OK)
        return entered;
    ext_raise(&err);
    return NULL;
}

const dt_layout *
ext_layout_make(const dt_mesh *mesh, const dt_placement *placements, int ndim,
                const int64_t *shape, dt_dtype dtype)
{
    dt_layout *layout;
    dt_error err;
    if (dt_layout_make(&layout, mesh, placements, ndim, shape, dtype, NULL, 0, NULL, 0,
                       &err) == DT_OK)
        return ext_layout_enter(layout);
    ext_raise(&err);
    return NULL;
}

const dt_layout *
ext_layout_at(const dt_mesh *mesh, int64_t rank, int ndim, const int64_t *shape,
              dt_dtype dtype)
{
    dt_mesh *made;
    const dt_mesh *point;
    dt_error err;
    if (dt_mesh_make(&made, 0, NULL, &rank, NULL, mesh->world, &err) != DT_OK ||
        dt_context_mesh(&point, ext_context, made, &err) != DT_OK) {
        ext_raise(&err);
        return NULL;
    }
    const dt_layout *layout = ext_layout_make(point, NULL, ndim, shape, dtype);
    dt_mesh_release(ext_context, point);
    return layout;
}

const dt_layout *
ext_layout_outside(const dt_mesh *mesh, const dt_placement *placements, int ndim,
                   const int64_t *shape, dt_dtype dtype)
{
    static const int64_t zeros[DT_MAX_NDIM];
    const dt_layout *layout =
        ndim < 0 ? NULL : ext_layout_make(mesh, placements, ndim, shape, dtype);
    if (layout != NULL)
        return layout;
    PyErr_Clear();
    ndim = 0;
    for (int m = 0; m < mesh->ndim; m++) {
        int dim = placements[m].dim;
        int least = dim < 0 ? -dim : dim + 1;
        if (placements[m].kind == DT_SHARD && least > ndim)
            ndim = least < DT_MAX_NDIM ? least : DT_MAX_NDIM;
    }
    return ext_layout_make(mesh, placements, ndim, zeros, dtype);
}

PyObject *
ext_part(const dt_layout *layout, int64_t rank)
{
    int64_t coordinate[DT_MESH_MAX_NDIM], shape[DT_MAX_NDIM + 1];
    int64_t index = dt_mesh_index(layout->mesh, rank);
    if (index >= 0)
        dt_mesh_coordinate(coordinate, layout->mesh, index);
    int ndim = dt_layout_local_shape(shape, layout, index >= 0 ? coordinate : NULL);
    return ext_array(ndim, shape, layout->dtype);
}

/* --- one item --- */

/* As execute.h wants it. `strides` is this move's own memory. */
static dt_transfer
move_of(const ext_item *item, const dt_plan *plan, int64_t rank, int64_t *strides)
{
    dt_transfer move = {.plan = plan, .src_stride = strides};
    if (dt_mesh_index(item->from->mesh, rank) >= 0) {
        PyArrayObject *array = (PyArrayObject *)item->array;
        for (int d = 0; d < PyArray_NDIM(array); d++)
            strides[d] = PyArray_STRIDE(array, d);
        move.src = PyArray_DATA(array);
    }
    if (dt_mesh_index(item->to->mesh, rank) >= 0)
        move.dst = PyArray_DATA((PyArrayObject *)item->result);
    return move;
}

/* A move for which nothing is sent: into the new array, at once. */
static int
move_locally(const ext_item *item, const dt_plan *plan, int64_t rank)
{
    int64_t strides[DT_MAX_NDIM];
    dt_transfer move = move_of(item, plan, rank, strides);
    bool large = PyArray_NBYTES((PyArrayObject *)item->result) >= RELEASE_GIL_FROM;
    dt_error err;
    PyThreadState *state = large ? PyEval_SaveThread() : NULL;
    dt_status status = dt_run_local(&move, rank, &err);
    if (state != NULL)
        PyEval_RestoreThread(state);
    if (status == DT_OK)
        return 0;
    ext_raise(&err);
    return -1;
}

int
ext_move_here(ext_item *item, const dt_plan *plan, const char *what)
{
    dt_world *world = ext_world(item->from->mesh, what);
    if (world == NULL)
        return -1;
    if (world->transport->alone)
        return ext_simulate_moves(item, 1, world, 0);
    if (plan->step_count == 0) {
        item->result = Py_NewRef(item->array);
        return 0;
    }
    item->result = ext_part(item->to, world->transport->rank);
    if (item->result == NULL || move_locally(item, plan, world->transport->rank) < 0) {
        Py_CLEAR(item->result);
        return -1;
    }
    return 0;
}

/* --- all items of a call --- */

typedef struct {
    ext_item *items;
    int count;
    dt_world *world;
    const char *what;
    int64_t max_bytes;
    uint64_t detail;       /* compared besides */
    dt_call call;          /* its hash and text once it is clear that data move */
    const dt_plan **plans; /* NULL where nothing is to be done any more */
    int remote;            /* how many are not done */
    bool unplanned;        /* some have no plan */
} journey;

/* The first thing that goes wrong on this rank is what the others are told. */
static void
note_error(dt_call *call)
{
    dt_error err;
    if (call->local.status != DT_OK)
        PyErr_Clear();
    else {
        ext_catch(&err);
        call->local = err;
    }
}

/* Whether the ranks compare this call, although nothing is sent here: another rank may
 * have asked for something else. */
static bool
is_compared(const journey *j, const ext_item *item)
{
    return j->world->check != DT_CHECK_NOTHING && item->from->mesh->size > 1;
}

/* Plans item i and makes room for its result; what sends nothing is done at once. */
static int
prepare_item(journey *j, int i)
{
    ext_item *item = &j->items[i];
    int64_t rank = j->world->transport->rank;
    if (item->from == item->to) {
        item->result = Py_XNewRef(item->array);
        return 0;
    }
    dt_error err;
    if (dt_plans_find(&j->plans[i], ext_plans, item->from, item->to, &j->world->cost,
                      j->max_bytes, &err) != DT_OK) {
        j->unplanned = true;
        ext_raise(&err);
        return -1;
    }
    const dt_plan *plan = j->plans[i];
    bool local =
        plan->step_count == 0 || (dt_plan_local(plan) && !is_compared(j, item));
    int failed = 0;
    if (!local)
        j->remote++;
    if (plan->step_count == 0)
        item->result = Py_XNewRef(item->array);
    else {
        item->result = ext_part(item->to, rank);
        failed = item->result == NULL ? -1 : 0;
    }
    bool here = j->call.local.status == DT_OK && item->array != NULL &&
                dt_mesh_index(item->to->mesh, rank) >= 0;
    if (local && plan->step_count > 0 && failed == 0 && here)
        failed = move_locally(item, plan, rank);
    if (local) {
        dt_plan_release(ext_plans, plan);
        j->plans[i] = NULL;
    }
    return failed;
}

/* Whether a run takes long to make: it brings large arrays into C order. */
static bool
is_long(const journey *j)
{
    for (int i = 0; i < j->count; i++) {
        PyArrayObject *array = (PyArrayObject *)j->items[i].array;
        if (array != NULL && PyArray_NBYTES(array) >= RELEASE_GIL_FROM &&
            !PyArray_IS_C_CONTIGUOUS(array))
            return true;
    }
    return false;
}

/* Puts what is left to do into one run. */
static dt_run *
make_run(journey *j, dt_group *group)
{
    dt_transfer *moves = PyMem_New(dt_transfer, (size_t)j->remote);
    int64_t *strides = PyMem_New(int64_t, (size_t)j->remote *DT_MAX_NDIM);
    dt_run *run = NULL;
    if (moves != NULL && strides != NULL) {
        bool good = j->call.local.status == DT_OK;
        int n = 0;
        for (int i = 0; i < j->count; i++)
            if (j->plans[i] != NULL) {
                int64_t *own = strides + (size_t)n * DT_MAX_NDIM;
                moves[n] = good ? move_of(&j->items[i], j->plans[i],
                                          j->world->transport->rank, own)
                                : (dt_transfer){.plan = j->plans[i], .src_stride = own};
                n++;
            }
        PyThreadState *state = is_long(j) ? ext_world_enter(j->world) : NULL;
        run = dt_run_make(group, moves, n, j->max_bytes, &j->call);
        if (state != NULL)
            ext_world_leave(j->world, state);
    }
    PyMem_Free(moves);
    PyMem_Free(strides);
    if (run == NULL)
        PyErr_NoMemory();
    return run;
}

/* Starts the run and, unless it may go on behind the caller's back, waits. What is
 * known to fail is waited for: there may be no result to give back. */
static int
travel(journey *j, dt_group *group, PyObject **out)
{
    ext_item *items = PyMem_New(ext_item, (size_t)j->remote);
    const dt_plan **plans = PyMem_New(const dt_plan *, (size_t)j->remote);
    dt_run *run =
        items == NULL || plans == NULL ? (PyErr_NoMemory(), NULL) : make_run(j, group);
    PyObject *pending = NULL;
    if (run != NULL) {
        int n = 0;
        for (int i = 0; i < j->count; i++)
            if (j->plans[i] != NULL) {
                items[n] = j->items[i];
                plans[n++] = j->plans[i];
            }
        pending = ext_pending(run, j->world, plans, n, items);
        if (pending == NULL)
            dt_run_free(run);
        else
            for (int i = 0; i < j->count; i++)
                j->plans[i] = NULL; /* it has them now */
    }
    PyMem_Free(items);
    PyMem_Free(plans);
    int failed = pending == NULL ? -1 : ext_pending_start(pending);
    if (failed == 0 && out != NULL && j->call.local.status == DT_OK) {
        *out = pending;
        return 0;
    }
    if (failed == 0)
        failed = ext_pending_wait(pending);
    Py_XDECREF(pending);
    return failed;
}

/* What is compared across ranks before anything moves. */
static void
describe(journey *j)
{
    dt_error local = j->call.local;
    if (j->count == 1 && j->plans[0] != NULL)
        ext_call_plan(&j->call, j->plans[0], j->what);
    else {
        ext_call_begin(&j->call, j->what);
        ext_call_text(&j->call, "(%d arrays: ", j->count);
        for (int i = 0; i < j->count; i++) {
            ext_call_text(&j->call, i > 0 ? "; " : "");
            ext_call_move(&j->call, j->items[i].from, j->items[i].to);
        }
        ext_call_text(&j->call, ")");
    }
    ext_call_hash(&j->call, &j->max_bytes, sizeof j->max_bytes);
    ext_call_hash(&j->call, &j->detail, sizeof j->detail);
    j->call.local.status = local.status;
    if (local.status != DT_OK)
        j->call.local = local;
}

/* Every step before the run, with all that can go wrong on this rank alone. */
static void
prepare(journey *j)
{
    for (int i = 0; i < j->count; i++)
        if (prepare_item(j, i) < 0)
            note_error(&j->call);
}

static int
move_inside(journey *j, dt_group *group, PyObject **pending)
{
    j->plans = PyMem_Calloc((size_t)j->count, sizeof *j->plans);
    if (j->plans == NULL) {
        PyErr_NoMemory();
        return -1;
    }
    ext_pending_sweep(j->world);
    prepare(j);
    if (j->remote > 0 || j->unplanned)
        describe(j);
    int failed = 0;
    if (j->remote > 0)
        failed = travel(j, group, pending);
    else if (j->call.local.status != DT_OK) {
        /* Without a plan nobody knows whether the others wait for this rank. */
        dt_error err = j->call.local;
        if (j->unplanned)
            ext_call_agree(group, &j->call, false, &err);
        ext_raise(&err);
        failed = -1;
    }
    for (int i = 0; i < j->count; i++)
        if (j->plans[i] != NULL)
            dt_plan_release(ext_plans, j->plans[i]);
    PyMem_Free(j->plans);
    return failed;
}

/* Where there is no data only the layouts change. */
static int
move_nothing(ext_item *items, int count, int64_t rank)
{
    for (int i = 0; i < count; i++) {
        items[i].result = ext_part_without_data(items[i].to, rank);
        if (items[i].result == NULL)
            return -1;
    }
    return 0;
}

/* Whether all items, or none, are without data; -1: some are. */
static int
without_data(const ext_item *items, int count)
{
    int hollow = 0;
    for (int i = 0; i < count; i++)
        hollow +=
            items[i].array != NULL && !ext_has_data((PyArrayObject *)items[i].array);
    if (hollow == 0 || hollow == count)
        return hollow > 0;
    PyErr_SetString(PyExc_NotImplementedError,
                    "tensors with data and tensors without do not move together");
    return -1;
}

static int
move_all(ext_item *items, int count, const char *what, int64_t max_bytes,
         uint64_t detail, const dt_error *local, PyObject **pending)
{
    if (pending != NULL)
        *pending = NULL;
    for (int i = 0; i < count; i++)
        items[i].result = NULL;
    if (watch_on_move != NULL)
        watch_move(items, count, what);
    journey j; /* field by field: the call has kilobytes that are rarely used */
    j.items = items;
    j.count = count;
    j.what = what;
    j.max_bytes = max_bytes;
    j.detail = detail;
    j.call.local.status = DT_OK;
    if (local != NULL && local->status != DT_OK)
        j.call.local = *local;
    j.remote = 0;
    j.unplanned = false;
    if (count > 0 && items[0].from->mesh->world == 0 && items[0].to->mesh->world == 0)
        return move_nothing(items, count, -1);
    j.world = count == 0 ? NULL : ext_world(items[0].from->mesh, what);
    if (j.world != NULL && j.world->transport->alone && j.call.local.status == DT_OK)
        return ext_simulate_moves(items, count, j.world, max_bytes);
    int hollow = j.world == NULL ? 0 : without_data(items, count);
    if (hollow != 0)
        return hollow < 0 ? -1 : move_nothing(items, count, j.world->transport->rank);
    dt_group *group = NULL;
    if (j.world != NULL)
        group = ext_group(items[0].from->mesh, items[0].to->mesh, what);
    int failed = count > 0 && group == NULL ? -1 : 0;
    if (failed < 0 && j.world != NULL)
        ext_fail_together(items[0].from->mesh, NULL, what);
    if (failed == 0 && count > 0 && group->index < 0)
        for (int i = 0; i < count && failed == 0; i++) {
            items[i].result = ext_part(items[i].to, j.world->transport->rank);
            failed = items[i].result == NULL ? -1 : 0;
        }
    else if (failed == 0 && count > 0)
        failed = move_inside(&j, group, pending);
    for (int i = 0; i < count && failed < 0; i++)
        Py_CLEAR(items[i].result);
    return failed;
}

int
ext_move_items(ext_item *items, int count, const char *what, int64_t max_bytes,
               const dt_error *local, PyObject **pending)
{
    return move_all(items, count, what, max_bytes, 0, local, pending);
}

int
ext_move_operands(ext_item *items, int count, const char *what, uint64_t detail)
{
    return move_all(items, count, what, 0, detail, NULL, NULL);
}
