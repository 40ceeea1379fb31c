/* world_type.c: World, for the Python files that start, compare and end things. */
#include "ext/face/face.h"

#include "comm/world.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

static WorldObject *
self_of(PyObject *self)
{
    return (WorldObject *)self;
}

/* --- making --- */

/* Meets the other ranks: collective. */
static int
start(WorldObject *self)
{
    dt_world *world;
    dt_error err;
    dt_status status;
    self->busy = true;
    Py_BEGIN_ALLOW_THREADS status = dt_world_make(&world, self->transport, &err);
    Py_END_ALLOW_THREADS self->busy = false;
    if (status == DT_OK) {
        ext_world_begin(self, world);
        world->made = ext_made_here;
        world->testify = ext_testify_here;
        world->place = ext_place_here;
        if (self->size > 1) /* without memory, local failures are told nobody */
            world->trail = self->trail = calloc(1, sizeof *self->trail);
        return 0;
    }
    ext_raise(&err);
    return -1;
}

/* Gives the world the lowest number that is free on all of its ranks, so that ranks
 * with other worlds of their own agree on it. */
static int
choose_number(WorldObject *self)
{
    static int last;
    dt_world *world = self->world;
    int *all = PyMem_New(int, (size_t)self->size);
    if (all == NULL)
        return ext_no_memory();
    int mine = last + 1;
    dt_group *group;
    dt_error err;
    dt_status status = dt_world_group(&group, world, NULL, 0, &err);
    if (status == DT_OK) {
        PyThreadState *state = ext_world_enter(world);
        status = dt_share(all, group, &mine, sizeof mine, "World.mpi", &err);
        ext_world_leave(world, state);
    }
    for (int k = 0; status == DT_OK && k < self->size; k++)
        mine = all[k] > mine ? all[k] : mine;
    PyMem_Free(all);
    if (status != DT_OK) {
        ext_raise(&err);
        return -1;
    }
    self->number = last = mine;
    return ext_world_enlist(self);
}

static PyObject *
world_mpi(PyObject *Py_UNUSED(type), PyObject *object)
{
    int handle;
    if (!PyArg_Parse(object, "i:mpi", &handle))
        return NULL;
    dt_transport *transport;
    dt_error err;
    dt_status status;
    Py_BEGIN_ALLOW_THREADS status = dt_mpi_make(&transport, handle, &err);
    Py_END_ALLOW_THREADS if (status != DT_OK) return ext_raise(&err);
    WorldObject *self = ext_world_object(transport, false);
    if (self != NULL && start(self) == 0 && choose_number(self) == 0)
        return (PyObject *)self;
    Py_XDECREF(self); /* the communicator is left to MPI's end */
    return NULL;
}

static PyObject *
world_threads(PyObject *Py_UNUSED(type), PyObject *object)
{
    static int made;
    int n;
    if (!PyArg_Parse(object, "i:threads", &n))
        return NULL;
    if (n < 1)
        return PyErr_Format(PyExc_ValueError, "a world needs at least 1 rank, not %d",
                            n);
    dt_transport **transports = PyMem_New(dt_transport *, (size_t)n);
    if (transports == NULL)
        return PyErr_NoMemory();
    dt_error err;
    PyObject *list = NULL;
    if (dt_threads_make(transports, n, &err) != DT_OK)
        ext_raise(&err);
    else
        list = PyList_New(n);
    made++;
    for (int k = 0; list != NULL && k < n; k++) {
        WorldObject *world = ext_world_object(transports[k], true);
        if (world != NULL)
            world->made = made;
        ext_put(&list, k, (PyObject *)world);
    }
    PyMem_Free(transports);
    return list;
}

static PyObject *
world_activate(PyObject *object, PyObject *Py_UNUSED(none))
{
    WorldObject *self = self_of(object);
    if (!self->closed && !self->busy && self->world == NULL && start(self) < 0)
        return NULL;
    if (ext_world_check(self, "activate") < 0 || ext_world_set_current(self) < 0)
        return NULL;
    ext_trace.whole = self->world->check == DT_CHECK_ARRAYS;
    ext_trace.trail = self->trail;
    Py_RETURN_NONE;
}

static PyObject *
world_current(PyObject *Py_UNUSED(type), PyObject *Py_UNUSED(none))
{
    WorldObject *self = ext_world_open();
    return Py_NewRef(self == NULL ? Py_None : (PyObject *)self);
}

/* --- ending --- */

static PyObject *
world_close(PyObject *object, PyObject *Py_UNUSED(none))
{
    WorldObject *self = self_of(object);
    if (self->closed)
        Py_RETURN_NONE;
    bool begun = self->world != NULL || self->busy; /* busy: it meets the others */
    if (begun && ext_world_check(self, "close") < 0)
        return NULL;
    if (self->world != NULL) {
        dt_give_up_all(self->world, "its world was closed");
        ext_pending_sweep(self->world);
    }
    dt_world *world = self->world;
    dt_transport *transport = self->transport;
    self->closed = true;
    self->world = NULL;
    self->transport = NULL;
    Py_BEGIN_ALLOW_THREADS if (world != NULL) dt_world_close(world);
    else if (transport != NULL) transport->table->close(transport);
    Py_END_ALLOW_THREADS Py_RETURN_NONE;
}

/* Called from any thread, also while another one waits in the world. */
static PyObject *
world_abort(PyObject *object, PyObject *sentence)
{
    WorldObject *self = self_of(object);
    const char *text = PyUnicode_AsUTF8(sentence);
    if (text == NULL)
        return NULL;
    if (self->closed)
        Py_RETURN_NONE;
    dt_world *world = self->world;
    if (self->threads)
        dt_threads_abort(world != NULL ? world->transport : self->transport, text);
    else if (world != NULL && !self->busy && !world->broken) {
        world->broken = true;
        dt_fail(&world->broken_by, DT_RUNTIME, "%s", text);
    }
    Py_RETURN_NONE;
}

static PyObject *
world_progress(PyObject *object, PyObject *Py_UNUSED(none))
{
    WorldObject *self = self_of(object);
    if (ext_world_check(self, "progress") < 0)
        return NULL;
    if (self->world->active != NULL) {
        dt_world *world = self->world;
        PyThreadState *state = ext_world_enter(world);
        dt_progress(world);
        ext_world_leave(world, state);
    }
    Py_RETURN_NONE;
}

/* --- what it is --- */

static PyObject *
world_counters(PyObject *object, PyObject *Py_UNUSED(none))
{
    WorldObject *self = self_of(object);
    if (ext_world_check(self, "counters") < 0)
        return NULL;
    PyObject *dict = PyDict_New();
    for (int kind = 0; dict != NULL && kind < DT_STEP_KINDS; kind++) {
        const dt_counter *c = &self->world->counters[kind];
        PyObject *row = Py_BuildValue("(LLL)", (long long)c->calls, (long long)c->bytes,
                                      (long long)c->messages);
        const char *name = dt_step_name((dt_step_kind)kind);
        if (row == NULL || PyDict_SetItemString(dict, name, row) < 0)
            Py_CLEAR(dict);
        Py_XDECREF(row);
    }
    return dict;
}

static PyObject *
world_late_at(PyObject *object, PyObject *args)
{
    WorldObject *self = self_of(object);
    long call;
    double seconds;
    if (!PyArg_ParseTuple(args, "ld:_late_at", &call, &seconds) ||
        ext_world_check(self, "_late_at") < 0)
        return NULL;
    dt_error err;
    long left = dt_late_left(self->world->transport);
    if (ext_check(dt_late_at(self->world->transport, call, seconds, &err), &err) < 0)
        return NULL;
    return PyLong_FromLong(left);
}

static PyObject *
get_timeout(PyObject *self, void *Py_UNUSED(closure))
{
    if (ext_world_check(self_of(self), "timeout") < 0)
        return NULL;
    return PyFloat_FromDouble(self_of(self)->world->timeout);
}

static int
set_timeout(PyObject *self, PyObject *value, void *Py_UNUSED(closure))
{
    double seconds = value != NULL ? PyFloat_AsDouble(value) : 0;
    if (PyErr_Occurred() || ext_world_check(self_of(self), "timeout") < 0)
        return -1;
    if (!(seconds > 0)) { /* also for NaN */
        return ext_fail(PyExc_ValueError,
                        "timeout must be a positive number of seconds");
    }
    self_of(self)->world->timeout = seconds;
    return 0;
}

static PyObject *
get_limit(PyObject *self, void *Py_UNUSED(closure))
{
    if (ext_world_check(self_of(self), "limit") < 0)
        return NULL;
    return PyUnicode_FromString(self_of(self)->world->limit);
}

static int
set_limit(PyObject *self, PyObject *value, void *Py_UNUSED(closure))
{
    Py_ssize_t size = 0;
    const char *text = value != NULL && PyUnicode_Check(value)
                           ? PyUnicode_AsUTF8AndSize(value, &size)
                           : NULL;
    if (PyErr_Occurred() || ext_world_check(self_of(self), "limit") < 0)
        return -1;
    dt_world *world = self_of(self)->world;
    if (text == NULL || (size_t)size >= sizeof world->limit)
        return ext_fail(PyExc_ValueError, "limit must be a str of at most %zd bytes",
                        (Py_ssize_t)sizeof world->limit - 1);
    memcpy(world->limit, text, (size_t)size + 1);
    return 0;
}

static PyObject *
get_unsettled(PyObject *self, void *Py_UNUSED(closure))
{
    if (ext_world_check(self_of(self), "_unsettled") < 0)
        return NULL;
    const dt_group *group = self_of(self)->world->groups;
    while (group != NULL && group->failure_count == 0)
        group = group->next;
    return PyBool_FromLong(group != NULL);
}

static PyObject *
get_check(PyObject *self, void *Py_UNUSED(closure))
{
    if (ext_world_check(self_of(self), "check") < 0)
        return NULL;
    return PyBool_FromLong(self_of(self)->world->check != DT_CHECK_NOTHING);
}

static int
set_check(PyObject *self, PyObject *value, void *Py_UNUSED(closure))
{
    int check = value != NULL ? PyObject_IsTrue(value) : 0;
    if (check < 0 || ext_world_check(self_of(self), "check") < 0)
        return -1;
    self_of(self)->world->check = check ? DT_CHECK_CALLS : DT_CHECK_NOTHING;
    return 0;
}

static PyObject *
world_repr(PyObject *object)
{
    WorldObject *self = self_of(object);
    return PyUnicode_FromFormat("World(rank=%d, size=%d%s)", self->rank, self->size,
                                self->closed ? ", closed" : "");
}

#define MEMBER(name, type, doc)                                                        \
    {#name, type, offsetof(WorldObject, name), READONLY, doc}

static PyMemberDef world_members[] = {
    MEMBER(rank, T_INT, "The rank of the caller."),
    MEMBER(size, T_INT, "Number of ranks."),
    MEMBER(number, T_INT,
           "What meshes know the world by: 1 for the first one and for ranks that are "
           "threads."),
    MEMBER(made, T_INT,
           "Of ranks that are threads: a number that they have in common, and that no "
           "others of this process ever had."),
    MEMBER(shared_memory, T_BOOL, "Whether all ranks are on one node."),
    MEMBER(closed, T_BOOL, "Whether close() was called."),
    {"overlaps", T_BOOL, offsetof(WorldObject, overlaps), 0,
     "Whether fully_shard computes while its data are on their way: in a job of "
     "several\n"
     "nodes. To be set alike on all ranks."},
    {0},
};

static PyGetSetDef world_attributes[] = {
    {"timeout", get_timeout, set_timeout, "Seconds that a wait may take.", NULL},
    {"limit", get_limit, set_limit,
     "What has set `timeout`: the sentence of a wait in vain names it.", NULL},
    {"costs", ext_world_costs, NULL,
     "What plans are chosen by, as DTENSOR_COSTS is written.", NULL},
    {"_unsettled", get_unsettled, NULL,
     "Whether this rank has failed in a call and the others have not been told yet.",
     NULL},
    {"check", get_check, set_check,
     "Whether ranks compare what they call before data moves; set it alike on all.",
     NULL},
    {0},
};

/* --- the module's functions --- */

static PyObject *
mpi_library_version(PyObject *Py_UNUSED(module), PyObject *Py_UNUSED(none))
{
    char text[8192];
    dt_mpi_version(text, sizeof text);
    return PyUnicode_DecodeUTF8(text, (Py_ssize_t)strlen(text), "replace");
}

static PyObject *
set_count_limit(PyObject *Py_UNUSED(module), PyObject *object)
{
    int64_t limit = PyLong_AsLongLong(object);
    if (limit == -1 && PyErr_Occurred())
        return NULL;
    if (limit < 1 || limit > INT_MAX)
        return PyErr_Format(PyExc_ValueError,
                            "a message has 1 to %d elements, not %lld", INT_MAX,
                            (long long)limit);
    dt_count_limit = limit;
    Py_RETURN_NONE;
}

static PyObject *
get_count_limit(PyObject *Py_UNUSED(module), PyObject *Py_UNUSED(none))
{
    return PyLong_FromLongLong(dt_count_limit);
}

static PyObject *
raise_in(PyObject *Py_UNUSED(module), PyObject *args)
{
    unsigned long thread;
    PyObject *exception;
    if (!PyArg_ParseTuple(args, "kO:_raise_in", &thread, &exception))
        return NULL;
    return PyBool_FromLong(PyThreadState_SetAsyncExc(thread, exception));
}

PyMethodDef ext_world_methods[] = {
    {"mpi_library_version", mpi_library_version, METH_NOARGS,
     "mpi_library_version()\n--\n\n"
     "Return the version text of the MPI library that is linked."},
    {"_set_count_limit", set_count_limit, METH_O,
     "_set_count_limit(limit, /)\n--\n\n"
     "Set the most elements of one message, the same on all ranks: for tests."},
    {"_get_count_limit", get_count_limit, METH_NOARGS,
     "_get_count_limit()\n--\n\nReturn the most elements of one message."},
    {"_raise_in", raise_in, METH_VARARGS,
     "_raise_in(thread, exception, /)\n--\n\n"
     "Raise in a thread, when it next runs Python or waits for a rank. Return whether\n"
     "there is such a thread."},
    {0},
};

/* --- the type --- */

static const char mpi_doc[] =
    "mpi(handle, /)\n--\n\n"
    "Make a world of the ranks of an MPI communicator, which is duplicated.\n\n"
    "Collective over the communicator. `handle` is ``comm.py2f()``.\n\n"
    "Raises\n------\n"
    "MPIError\n    If MPI fails.\n"
    "RuntimeError\n    If some rank does not come, or DTENSOR_CHECK or DTENSOR_COSTS "
    "is\n"
    "    not set alike.\n"
    "ValueError\n    If DTENSOR_TIMEOUT, DTENSOR_CHECK or DTENSOR_COSTS cannot be "
    "read.";

static const char threads_doc[] =
    "threads(n, /)\n--\n\n"
    "Make the n ends of a world whose ranks are threads of this process.\n\n"
    "Each of them is for one thread, which calls `activate` first.\n\n"
    "Raises\n------\n"
    "ValueError\n    If n is below 1.";

static const char activate_doc[] =
    "activate($self)\n--\n\n"
    "Make this the world of the calling thread.\n\n"
    "Collective the first time, where ranks are threads.\n\n"
    "Raises\n------\n"
    "RuntimeError\n    If it was closed, or some rank does not come.";

static PyMethodDef world_methods[] = {
    {"mpi", world_mpi, METH_O | METH_STATIC, mpi_doc},
    {"threads", world_threads, METH_O | METH_STATIC, threads_doc},
    {"simulated", ext_world_simulated, METH_VARARGS | METH_STATIC,
     ext_world_simulated_doc},
    {"memory", ext_world_memory, METH_VARARGS, ext_world_memory_doc},
    {"predicted", ext_world_predicted, METH_NOARGS, ext_world_predicted_doc},
    {"current", world_current, METH_NOARGS | METH_STATIC,
     "current()\n--\n\n"
     "Return the world of this thread, else the first one of the process, else None."},
    {"mpi_version", mpi_library_version, METH_NOARGS | METH_STATIC,
     "mpi_version()\n--\n\n"
     "Return the version text of the MPI library that is linked."},
    {"activate", world_activate, METH_NOARGS, activate_doc},
    {"set_costs", ext_world_set_costs, METH_O, ext_world_set_costs_doc},
    {"measure", ext_world_measure, METH_NOARGS, ext_world_measure_doc},
    {"share", EXT_KEYWORDS(ext_world_share), ext_world_share_doc},
    {"agree", EXT_KEYWORDS(ext_world_agree), ext_world_agree_doc},
    {"resync", ext_world_resync, METH_VARARGS, ext_world_resync_doc},
    {"close", world_close, METH_NOARGS,
     "close($self)\n--\n\n"
     "Give up what is under way and free the communicator. Collective for MPI.\n\n"
     "Raises\n------\n"
     "RuntimeError\n    If another thread is inside a call."},
    {"abort", world_abort, METH_O,
     "abort($self, sentence, /)\n--\n\n"
     "Let every later call fail with this sentence: of all ranks that are threads, "
     "else\n"
     "of this rank."},
    {"progress", world_progress, METH_NOARGS,
     "progress($self)\n--\n\n"
     "Go on with moves that were started and that nobody waits for yet; never waits."},
    {"counters", world_counters, METH_NOARGS,
     "counters($self)\n--\n\n"
     "Return calls, bytes and messages sent by this rank, by kind of communication."},
    {"_late_at", world_late_at, METH_VARARGS,
     "_late_at($self, k, seconds, /)\n--\n\n"
     "Let the k-th message that this rank sends from now on leave late: for tests.\n"
     "0 switches it off. Return the messages that were left before."},
    {0},
};

static const char world_doc[] =
    "The ranks that this thread is one of.\n\n"
    "Made by `mpi` and `threads`. One thread at a time may be inside a call; any\n"
    "other gets a RuntimeError.";

void
ext_fill_world_type(void)
{
    ext_world_type.tp_doc = world_doc;
    ext_world_type.tp_repr = world_repr;
    ext_world_type.tp_methods = world_methods;
    ext_world_type.tp_members = world_members;
    ext_world_type.tp_getset = world_attributes;
}
