/* A rank without the others: moves are planned and counted, and leave tensors without
 * data; the bytes that these would have are added up while they live. */
#include "ext/tensor.h"
#include "ext/watch.h"

#include "comm/world.h"

static const char MEMORY[] = "dtensor.simulated";

static int worlds; /* that were made: without any, nothing is looked up */

bool
ext_is_simulated(const dt_mesh *mesh)
{
    if (worlds == 0 || mesh->world == 0)
        return false;
    WorldObject *self = ext_world_find(mesh->world);
    return self != NULL && self->world != NULL && self->world->transport->alone;
}

/* --- memory --- */

/* What a tensor without data would take. */
typedef struct {
    WorldObject *world; /* owned */
    int64_t bytes;
} claim;

static void
give_back(PyObject *capsule)
{
    claim *c = PyCapsule_GetPointer(capsule, MEMORY);
    c->world->live_bytes -= c->bytes;
    Py_DECREF((PyObject *)c->world);
    PyMem_Free(c);
}

static void
note_peak(WorldObject *self, int64_t besides)
{
    int64_t bytes = self->live_bytes + besides;
    if (bytes > self->peak_bytes)
        self->peak_bytes = bytes;
}

PyObject *
ext_simulated_memory(int ndim, const int64_t *shape, dt_dtype dtype)
{
    WorldObject *self = worlds == 0 ? NULL : ext_world_current();
    if (self == NULL || self->world == NULL || !self->world->transport->alone)
        return NULL;
    int64_t bytes = (int64_t)dt_dtype_size(dtype);
    for (int d = 0; d < ndim; d++)
        if (__builtin_mul_overflow(bytes, shape[d], &bytes))
            return PyErr_NoMemory();
    claim *c = PyMem_New(claim, 1);
    PyObject *capsule = c == NULL ? PyErr_NoMemory() : NULL;
    if (c != NULL)
        capsule = PyCapsule_New(c, MEMORY, give_back);
    if (capsule == NULL) {
        PyMem_Free(c);
        return NULL;
    }
    *c = (claim){(WorldObject *)Py_NewRef((PyObject *)self), bytes};
    self->live_bytes += bytes;
    note_peak(self, 0);
    return capsule;
}

/* --- moves --- */

/* The plan of an item and its result; *plan stays NULL where nothing is to be done. */
static int
simulate_item(const dt_plan **plan, ext_item *item, const dt_world *world,
              int64_t max_bytes)
{
    dt_error err;
    if (item->from != item->to &&
        dt_plans_find(plan, ext_plans, item->from, item->to, &world->cost, max_bytes,
                      &err) != DT_OK) {
        ext_raise(&err);
        return -1;
    }
    bool moves = *plan != NULL && (*plan)->step_count > 0;
    if (*plan != NULL && !moves) {
        dt_plan_release(ext_plans, *plan);
        *plan = NULL;
    }
    if (!moves && item->array != NULL) {
        item->result = Py_NewRef(item->array);
        return 0;
    }
    item->result = ext_part_without_data(item->to, world->transport->rank);
    return item->result == NULL ? -1 : 0;
}

/* Counts moves that go together, and tells who watches. */
static int
count_moves(dt_world *world, const dt_plan *const *plans, int count, int *done)
{
    PyObject *teller = watch_take_teller();
    dt_event *deeds = NULL;
    int steps = 1, made;
    for (int i = 0; i < count; i++)
        steps += plans[i]->step_count;
    if (teller != NULL && (deeds = PyMem_New(dt_event, (size_t)steps)) == NULL) {
        Py_DECREF(teller);
        PyErr_NoMemory();
        return -1;
    }
    int64_t between = dt_count_moves(world, plans, count, done, deeds, &made);
    note_peak(world->poll_data, between);
    if (teller != NULL)
        watch_tell_counted(teller, deeds, made);
    PyMem_Free(deeds);
    return 0;
}

int
ext_simulate_moves(ext_item *items, int count, dt_world *world, int64_t max_bytes)
{
    const dt_plan **plans = PyMem_Calloc((size_t)count, sizeof *plans);
    int *done = PyMem_New(int, (size_t)count);
    int failed = plans == NULL || done == NULL ? (PyErr_NoMemory(), -1) : 0, made = 0;
    for (int i = 0; i < count && failed == 0; i++) {
        failed = simulate_item(&plans[made], &items[i], world, max_bytes);
        made += plans[made] != NULL;
    }
    if (failed == 0)
        failed = count_moves(world, plans, made, done);
    for (int i = 0; i < made; i++)
        dt_plan_release(ext_plans, plans[i]);
    for (int i = 0; i < count && failed < 0; i++)
        Py_CLEAR(items[i].result);
    PyMem_Free(plans);
    PyMem_Free(done);
    return failed;
}

/* --- the world --- */

/* Numbers that no other world has: what was planned with one cost is not used with
 * another, and what outlives a simulation fits no other mesh. */
static int
next_number(void)
{
    static int last = 1 << 30;
    return ++last;
}

PyObject *
ext_world_simulated(PyObject *Py_UNUSED(type), PyObject *args)
{
    int size, rank;
    dt_cost cost = DT_COST_DEFAULT;
    dt_link *link = &cost.links[DT_LINK_NODE];
    if (!PyArg_ParseTuple(args, "ii|(ddd):simulated", &size, &rank, &link->latency,
                          &link->bandwidth, &cost.copy))
        return NULL;
    cost.links[DT_LINK_NETWORK] = *link;
    if (!(link->latency >= 0 && link->bandwidth > 0 && cost.copy > 0))
        return PyErr_Format(PyExc_ValueError,
                            "simulated: a latency is 0 at least, and a bandwidth more");
    dt_transport *transport;
    dt_world *world;
    dt_error err;
    if (dt_alone_make(&transport, size, rank, &err) != DT_OK)
        return ext_raise(&err);
    if (dt_world_make(&world, transport, &err) != DT_OK) {
        transport->table->close(transport);
        return ext_raise(&err);
    }
    WorldObject *self = ext_world_object(transport, false);
    if (self == NULL) {
        dt_world_close(world);
        return NULL;
    }
    ext_world_begin(self, world);
    world->cost = cost;
    self->number = next_number();
    worlds++;
    return (PyObject *)self;
}

PyObject *
ext_world_memory(PyObject *object, PyObject *args)
{
    WorldObject *self = (WorldObject *)object;
    int forget = 0;
    if (!PyArg_ParseTuple(args, "|p:memory", &forget))
        return NULL;
    int64_t peak = self->peak_bytes;
    if (forget)
        self->peak_bytes = self->live_bytes;
    return Py_BuildValue("(LL)", (long long)self->live_bytes, (long long)peak);
}

PyObject *
ext_world_predicted(PyObject *object, PyObject *Py_UNUSED(none))
{
    WorldObject *self = (WorldObject *)object;
    if (ext_world_check(self, "predicted") < 0)
        return NULL;
    PyObject *dict = PyDict_New();
    for (int kind = 0; dict != NULL && kind < DT_STEP_KINDS; kind++) {
        PyObject *seconds = PyFloat_FromDouble(self->world->counters[kind].seconds);
        const char *name = dt_step_name((dt_step_kind)kind);
        if (seconds == NULL || PyDict_SetItemString(dict, name, seconds) < 0)
            Py_CLEAR(dict);
        Py_XDECREF(seconds);
    }
    return dict;
}

const char ext_world_simulated_doc[] =
    "simulated(size, rank, cost=(1e-6, 1e10, 1e10), /)\n--\n\n"
    "Make a world of `size` ranks of which only `rank` is there.\n\n"
    "The others count as doing what it does. Moves are counted instead of made, and\n"
    "leave tensors without data. `cost` is as the attribute of this name.\n\n"
    "Raises\n------\n"
    "ValueError\n    If there is no such rank, or a bandwidth is not positive.";

const char ext_world_memory_doc[] =
    "memory($self, forget=False, /)\n--\n\n"
    "Return the bytes of tensors without data that live, and most that ever did.\n\n"
    "Of a world that is simulated; with `forget` the peak starts again.";

const char ext_world_predicted_doc[] =
    "predicted($self)\n--\n\n"
    "Return the seconds by the cost model of what was counted, by kind.\n\n"
    "Of a world that is simulated.";
