/* transfer.c: arrays with data from layout to layout: plans, memory, and the run.
 */
#include "ext/move/move.h"

#include <string.h>

enum { RELEASE_GIL_FROM = 1 << 16 }; /* bytes */

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

int
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
    return ext_check(status, &err);
}

/* --- all items of a call --- */

typedef struct {
    ext_item *items;
    int count;
    dt_world *world;
    const transfer_options *o;
    dt_call call;          /* its hash and text once it is clear that data move */
    const dt_plan **plans; /* NULL where nothing is to be done any more */
    int remote;            /* how many are not done */
    bool unplanned;        /* some have no plan */
} transfer;

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
is_compared(const transfer *t, const ext_item *item)
{
    return t->world->check != DT_CHECK_NOTHING && item->from->mesh->size > 1;
}

/* Plans item i and makes room for its result; what sends nothing is done at once. */
static int
prepare_item(transfer *t, int i)
{
    ext_item *item = &t->items[i];
    int64_t rank = t->world->transport->rank;
    if (item->from == item->to) {
        item->result = Py_XNewRef(item->array);
        return 0;
    }
    dt_error err;
    if (dt_plans_find(&t->plans[i], ext_plans, item->from, item->to, &t->world->cost,
                      t->o->max_bytes, &err) != DT_OK) {
        t->unplanned = true;
        ext_raise(&err);
        return -1;
    }
    const dt_plan *plan = t->plans[i];
    bool local =
        plan->step_count == 0 || (dt_plan_local(plan) && !is_compared(t, item));
    int failed = 0;
    if (!local)
        t->remote++;
    if (plan->step_count == 0)
        item->result = Py_XNewRef(item->array);
    else {
        item->result = ext_part(item->to, rank);
        failed = item->result == NULL ? -1 : 0;
    }
    bool here = t->call.local.status == DT_OK && item->array != NULL &&
                dt_mesh_index(item->to->mesh, rank) >= 0;
    if (local && plan->step_count > 0 && failed == 0 && here)
        failed = move_locally(item, plan, rank);
    if (local) {
        dt_plan_release(ext_plans, plan);
        t->plans[i] = NULL;
    }
    return failed;
}

/* Whether a run takes long to make: it brings large arrays into C order. */
static bool
is_long(const transfer *t)
{
    for (int i = 0; i < t->count; i++) {
        PyArrayObject *array = (PyArrayObject *)t->items[i].array;
        if (array != NULL && PyArray_NBYTES(array) >= RELEASE_GIL_FROM &&
            !PyArray_IS_C_CONTIGUOUS(array))
            return true;
    }
    return false;
}

/* Puts what is left to do into one run. */
static dt_run *
make_run(transfer *t, dt_group *group)
{
    typedef int64_t shape[DT_MAX_NDIM];
    dt_transfer few[MOVE_FEW], *moves = t->remote <= MOVE_FEW
                                            ? few
                                            : PyMem_New(dt_transfer, (size_t)t->remote);
    shape few_strides[MOVE_FEW], *strides = t->remote <= MOVE_FEW
                                                ? few_strides
                                                : PyMem_New(shape, (size_t)t->remote);
    dt_run *run = NULL;
    if (moves != NULL && strides != NULL) {
        bool good = t->call.local.status == DT_OK;
        int n = 0;
        for (int i = 0; i < t->count; i++)
            if (t->plans[i] != NULL) {
                moves[n] =
                    good ? move_of(&t->items[i], t->plans[i], t->world->transport->rank,
                                   strides[n])
                         : (dt_transfer){.plan = t->plans[i], .src_stride = strides[n]};
                n++;
            }
        PyThreadState *state = is_long(t) ? ext_world_enter(t->world) : NULL;
        run = dt_run_make(group, moves, n, t->o->max_bytes, &t->call);
        if (state != NULL)
            ext_world_leave(t->world, state);
    }
    EXT_SOME_FREE(moves, few);
    EXT_SOME_FREE(strides, few_strides);
    if (run == NULL)
        PyErr_NoMemory();
    return run;
}

/* Starts a run that goes on behind the caller's back. */
static int
set_out(transfer *t, dt_run *run, PyObject **out)
{
    ext_item *items = PyMem_New(ext_item, (size_t)t->remote);
    const dt_plan **plans = PyMem_New(const dt_plan *, (size_t)t->remote);
    PyObject *pending = NULL;
    if (items == NULL || plans == NULL) {
        PyErr_NoMemory();
        dt_run_free(run);
    } else {
        int n = 0;
        for (int i = 0; i < t->count; i++)
            if (t->plans[i] != NULL) {
                items[n] = t->items[i];
                plans[n++] = t->plans[i];
            }
        pending = ext_pending(run, t->world, plans, n, items, t->o->teller);
        if (pending == NULL)
            dt_run_free(run);
        else
            for (int i = 0; i < n; i++) /* it has references of its own */
                dt_plan_retain(plans[i]);
    }
    PyMem_Free(items);
    PyMem_Free(plans);
    int failed = pending == NULL ? -1 : ext_pending_start(pending);
    if (failed == 0)
        *out = pending;
    else
        Py_XDECREF(pending);
    return failed;
}

/* Whether other Python threads need not run meanwhile. */
static bool
is_short(const transfer *t)
{
    for (int i = 0; i < t->count; i++) {
        PyArrayObject *array = (PyArrayObject *)t->items[i].array;
        PyArrayObject *result = (PyArrayObject *)t->items[i].result;
        if ((array != NULL && PyArray_NBYTES(array) >= RELEASE_GIL_FROM) ||
            (result != NULL && PyArray_NBYTES(result) >= RELEASE_GIL_FROM))
            return false;
    }
    return true;
}

int
move_finish(const ext_item *items, int count, dt_run *run, dt_world *world, bool brief,
            PyObject *teller)
{
    dt_error err;
    if (teller != NULL)
        dt_run_watch(run);
    dt_task *task = dt_run_task(run);
    PyThreadState *state = brief ? ext_world_stay(world) : ext_world_enter(world);
    dt_status status = dt_start(task, &err);
    if (status == DT_OK) {
        status = dt_wait(task, &err);
        ext_told |= status != DT_OK;
    }
    ext_world_leave(world, state);
    for (int i = 0; i < count && dt_run_poisoned(run); i++) {
        Py_XINCREF(items[i].array);
        Py_XINCREF(items[i].result);
    }
    if (teller != NULL)
        watch_tell(teller, run, world);
    dt_run_free(run);
    return ext_check(status, &err);
}

/* What is known to fail is waited for: there may be no result to give back. */
static int
travel(transfer *t, dt_group *group, PyObject **out)
{
    dt_run *run = make_run(t, group);
    if (run == NULL)
        return -1;
    bool later = out != NULL && t->call.local.status == DT_OK;
    return later ? set_out(t, run, out)
                 : move_finish(t->items, t->count, run, t->world, is_short(t),
                               t->o->teller);
}

/* Several arrays are one value to the journal: of whom they are made, in as many records
 * as it takes, each of which has the one before it as its last operand. Returns the
 * lineage of all. */
static uint64_t
record(const transfer *t)
{
    uint64_t rest = 0;
    for (int end = t->count, begin; end > 0; end = begin) {
        PyObject *text = PyUnicode_FromFormat("%s of %d arrays", t->o->what, t->count);
        PyErr_Clear();
        ext_record *record = ext_journal_add(text != NULL ? text : Py_NewRef(Py_None));
        uint64_t lineage = 0;
        int room = end == t->count ? EXT_RECORDED : EXT_RECORDED - 1;
        begin = end > room ? end - room : 0;
        record->call = (uint64_t)end;
        record->count = 0;
        for (int k = begin; k < end; k++)
            record->operands[record->count++] = t->items[k].lineage;
        if (end < t->count)
            record->operands[record->count++] = rest;
        for (int k = 0; k < record->count; k++)
            lineage = dt_mix(lineage, record->operands[k]);
        record->lineage = rest = lineage;
    }
    return rest;
}

/* The values that move: of one array its lineage, of several a hash of all. Ranks that
 * are not in the mesh where they come from have none. */
static void
trace(transfer *t)
{
    const dt_mesh *mesh = t->items[0].from->mesh;
    uint64_t lineage = t->o->lineage;
    if (lineage == 0)
        lineage = t->count == 1 ? t->items[0].lineage : record(t);
    if (lineage == 0)
        lineage = ext_trace.scope.lineage;
    t->call.lineage = lineage;
    t->call.traced =
        lineage != 0 && dt_mesh_index(mesh, t->world->transport->rank) >= 0;
}

/* What is compared across ranks before anything moves. */
static void
describe_well(transfer *t)
{
    if (t->count == 1 && t->plans[0] != NULL)
        ext_call_plan(&t->call, t->plans[0], t->o->what);
    else {
        ext_call_begin(&t->call, t->o->what);
        ext_call_text(&t->call, "(%d arrays: ", t->count);
        for (int i = 0; i < t->count; i++) {
            ext_call_text(&t->call, i > 0 ? "; " : "");
            ext_call_move(&t->call, t->items[i].from, t->items[i].to);
        }
        ext_call_text(&t->call, ")");
    }
    ext_call_hash(&t->call, &t->o->max_bytes, sizeof t->o->max_bytes);
    ext_call_hash(&t->call, &t->o->detail, sizeof t->o->detail);
    trace(t);
}

/* The same; a local error stays. */
static void
describe(transfer *t)
{
    if (t->call.local.status == DT_OK) {
        describe_well(t);
        return;
    }
    dt_error local = t->call.local;
    describe_well(t);
    t->call.local = local;
}

/* Every step before the run, with all that can go wrong on this rank alone. */
static void
prepare(transfer *t)
{
    for (int i = 0; i < t->count; i++)
        if (prepare_item(t, i) < 0)
            note_error(&t->call);
}

static int
move_inside(transfer *t, dt_group *group, PyObject **pending)
{
    const dt_plan *few[MOVE_FEW];
    t->plans = EXT_SOME(few, t->count);
    if (t->plans == NULL)
        return ext_no_memory();
    ext_pending_sweep(t->world);
    prepare(t);
    if (t->remote > 0 || t->unplanned)
        describe(t);
    int failed = 0;
    if (t->remote > 0)
        failed = travel(t, group, pending);
    else if (t->call.local.status != DT_OK) {
        /* Without a plan nobody knows whether the others wait for this rank. */
        dt_error err = t->call.local;
        if (t->unplanned)
            ext_call_agree(group, &t->call, false, &err);
        ext_raise(&err);
        if (!t->unplanned)
            ext_local_failed(ext_local_name(t->o->what), t->o->what);
        failed = -1;
    } else
        move_done(t->o->what);
    for (int i = 0; i < t->count; i++)
        if (t->plans[i] != NULL)
            dt_plan_release(ext_plans, t->plans[i]);
    EXT_SOME_FREE(t->plans, few);
    return failed;
}

/* What DTENSOR_CHECK=2 compares before the items move. */
static int
compare(const ext_item *items, int count, const char *what)
{
    dt_group *group = ext_group(items[0].from->mesh, NULL, what);
    const dt_layout **layouts = PyMem_New(const dt_layout *, (size_t)count);
    PyObject **arrays = PyMem_New(PyObject *, (size_t)count);
    int failed = group == NULL                       ? -1
                 : layouts == NULL || arrays == NULL ? ext_no_memory()
                                                     : 0;
    for (int i = 0; i < count && failed == 0; i++) {
        layouts[i] = items[i].from;
        arrays[i] = items[i].array;
    }
    if (failed == 0)
        failed = ext_compare_replicas(layouts, arrays, count, group, what);
    PyMem_Free(layouts);
    PyMem_Free(arrays);
    return failed;
}

int
move_transfer(ext_item *items, int count, dt_world *world, const transfer_options *o,
              PyObject **pending)
{
    if (world->check == DT_CHECK_ARRAYS && compare(items, count, o->what) < 0)
        return -1;
    transfer t; /* field by field: the call has kilobytes that are rarely used */
    t.items = items;
    t.count = count;
    t.world = world;
    t.o = o;
    t.call.traced = false;
    t.call.local.status = DT_OK;
    if (o->local != NULL && o->local->status != DT_OK)
        t.call.local = *o->local;
    t.remote = 0;
    t.unplanned = false;
    dt_group *group = ext_group(items[0].from->mesh, items[0].to->mesh, o->what);
    if (group == NULL) {
        ext_fail_together(items[0].from->mesh, NULL, o->what);
        return -1;
    }
    int failed = 0;
    if (group->index >= 0)
        return move_inside(&t, group, pending);
    for (int i = 0; i < count && failed == 0; i++) {
        items[i].result = ext_part(items[i].to, world->transport->rank);
        failed = items[i].result == NULL ? -1 : 0;
    }
    return failed;
}
