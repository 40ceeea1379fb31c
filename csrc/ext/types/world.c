/* world.c: World as memory, which world a mesh lives on, its groups, and waiting
 * without the GIL. What Python can do with a World is filled in by
 * ext/face/world_type.c. */
#include "ext/types/types.h"

#include "comm/world.h"

#include <stdlib.h>

/* --- the object --- */

/* What the dictionary of the thread's state has, so that it is not looked up each time. A
 * thread may have one state after another, of which each has a number of its own. */
static _Thread_local struct {
    uint64_t state; /* 0: none */
    WorldObject *world;
} looked_up __attribute__((tls_model("initial-exec")));

/* A world that was met is not closed here: that is collective, and ranks may free in
 * different orders. */
static void
world_dealloc(PyObject *object)
{
    WorldObject *self = (WorldObject *)object;
    if (self->threads && self->transport != NULL)
        self->transport->table->close(self->transport);
    free(self->trail);
    if (looked_up.world == self)
        looked_up.state = 0;
    PyObject_Free(object);
}

PyTypeObject ext_world_type = {
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = "dtensor._C.World",
    .tp_basicsize = sizeof(WorldObject),
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION,
    .tp_dealloc = world_dealloc,
};

WorldObject *
ext_world_object(dt_transport *transport, bool threads)
{
    WorldObject *self = PyObject_New(WorldObject, &ext_world_type);
    if (self == NULL)
        return NULL;
    self->world = NULL;
    self->trail = NULL; /* until it has met the others */
    self->transport = transport;
    self->number = 1;
    self->rank = transport->rank;
    self->size = transport->size;
    self->threads = threads;
    self->shared_memory = transport->shared_memory;
    self->overlaps = !transport->shared_memory && !transport->alone;
    self->closed = self->busy = self->stays = false;
    self->state = NULL;
    self->live_bytes = self->peak_bytes = 0;
    return self;
}

/* --- which world --- */

static PyObject *listed;      /* dict: number -> World, for all threads */
static PyObject *current_key; /* of the World in a thread's dictionary */
_Thread_local int ext_thread_rank;
_Thread_local uint64_t ext_cost_hash __attribute__((tls_model("initial-exec")));

WorldObject *
ext_world_current(void)
{
    uint64_t state = PyThreadState_GetID(PyThreadState_Get());
    if (looked_up.state == state)
        return looked_up.world;
    PyObject *dict = PyThreadState_GetDict();
    if (dict == NULL || current_key == NULL)
        return NULL;
    WorldObject *world = (WorldObject *)PyDict_GetItemWithError(dict, current_key);
    if (world != NULL) {
        looked_up.world = world;
        looked_up.state = state;
    }
    return world;
}

int
ext_world_set_current(WorldObject *self)
{
    if (current_key == NULL)
        current_key = PyUnicode_InternFromString("dtensor.world");
    PyObject *dict = PyThreadState_GetDict();
    if (dict == NULL || current_key == NULL)
        return -1;
    looked_up.state = 0; /* it is looked up again */
    ext_thread_rank = self->rank + 1;
    ext_cost_hash = self->world != NULL ? self->world->cost.hash : 0;
    return PyDict_SetItem(dict, current_key, (PyObject *)self);
}

WorldObject *
ext_world_open(void)
{
    WorldObject *self = ext_world_current();
    if (self == NULL || self->closed)
        self = ext_world_find(1);
    return self == NULL || self->closed ? NULL : self;
}

WorldObject *
ext_world_find(int number)
{
    WorldObject *current = ext_world_current();
    bool fits = current != NULL && current->number == number;
    if (fits && !current->closed)
        return current;
    PyObject *found = NULL;
    PyObject *key = listed != NULL ? PyLong_FromLong(number) : NULL;
    if (key != NULL)
        found = PyDict_GetItemWithError(listed, key);
    Py_XDECREF(key);
    return found == NULL && fits ? current : (WorldObject *)found;
}

int
ext_world_enlist(WorldObject *self)
{
    if (listed == NULL)
        listed = PyDict_New();
    PyObject *key = listed != NULL ? PyLong_FromLong(self->number) : NULL;
    if (key == NULL)
        return -1;
    int status = PyDict_SetItem(listed, key, (PyObject *)self);
    Py_DECREF(key);
    return status;
}

int
ext_world_check(WorldObject *self, const char *what)
{
    if (self->closed)
        PyErr_Format(PyExc_RuntimeError, "%s: the world of these ranks was closed",
                     what);
    else if (self->busy)
        PyErr_Format(
            PyExc_RuntimeError,
            "%s: rank %d is in the middle of another call, in another thread or "
            "below a signal handler; a rank does one at a time",
            what, self->rank);
    else if (self->world == NULL)
        PyErr_Format(PyExc_RuntimeError,
                     "%s: activate() this world first, on each of its ranks", what);
    else
        return 0;
    return -1;
}

/* The object of a mesh's world, borrowed; raises. */
static WorldObject *
world_of(const dt_mesh *mesh, const char *what)
{
    if (mesh->world == 0)
        return (WorldObject *)PyErr_Format(
            PyExc_RuntimeError,
            "%s: the mesh is abstract: it has no ranks that could hold data", what);
    WorldObject *self = ext_world_find(mesh->world);
    if (self == NULL && !PyErr_Occurred())
        PyErr_Format(PyExc_RuntimeError,
                     "%s: the mesh belongs to ranks of another world than this thread: "
                     "to those of a run_ranks (dtensor.testing) that has ended, or "
                     "that this thread is not a rank of; to_local() still works",
                     what);
    return self;
}

dt_world *
ext_world(const dt_mesh *mesh, const char *what)
{
    WorldObject *self = world_of(mesh, what);
    return self != NULL && ext_world_check(self, what) == 0 ? self->world : NULL;
}

int
ext_coordinate(int64_t out[DT_MESH_MAX_NDIM], const dt_mesh *mesh, const char *what)
{
    WorldObject *self = world_of(mesh, what);
    if (self == NULL)
        return -1;
    return dt_mesh_find(out, mesh, self->rank);
}

const dt_cost *
ext_cost(const dt_world *world)
{
    static dt_cost given;
    static bool known;
    WorldObject *current = world == NULL ? ext_world_open() : NULL;
    if (current != NULL && current->world != NULL)
        world = current->world;
    if (world != NULL)
        return &world->cost;
    dt_error err;
    if (!known && dt_cost_read(&given, &err) != DT_OK)
        return ext_raise(&err);
    known = true;
    return &given;
}

/* --- groups --- */

static int
compare_ranks(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

/* Puts the ranks of both meshes into ascending order, each once; returns how many. The
 * same list on all of them, whatever the order in the meshes. */
static int64_t
unite(int64_t *out, const dt_mesh *a, const dt_mesh *b)
{
    int64_t count = 0, kept = 0;
    for (int64_t k = 0; k < a->size; k++)
        out[count++] = dt_mesh_rank(a, k);
    for (int64_t k = 0; b != NULL && k < b->size; k++)
        out[count++] = dt_mesh_rank(b, k);
    qsort(out, (size_t)count, sizeof *out, compare_ranks);
    for (int64_t k = 0; k < count; k++)
        if (kept == 0 || out[kept - 1] != out[k])
            out[kept++] = out[k];
    return kept;
}

static dt_group *
group_of_some(dt_world *world, const dt_mesh *a, const dt_mesh *b, const char *what)
{
    int64_t room = a->size + (b != NULL ? b->size : 0);
    int64_t *ranks = PyMem_New(int64_t, (size_t)room);
    if (ranks == NULL)
        return (dt_group *)PyErr_NoMemory();
    dt_group *group = NULL;
    dt_error err;
    int64_t count = unite(ranks, a, b);
    dt_status status = dt_world_group(&group, world, ranks, count, &err);
    PyMem_Free(ranks);
    if (status != DT_OK) {
        dt_error_prefix(&err, what);
        ext_raise(&err);
    }
    return group;
}

dt_group *
ext_group(const dt_mesh *a, const dt_mesh *b, const char *what)
{
    b = b == a ? NULL : b;
    dt_world *world = ext_world(a, what);
    dt_world *other = b != NULL && world != NULL ? ext_world(b, what) : world;
    if (world == NULL || other == NULL)
        return NULL;
    if (world != other)
        return (dt_group *)PyErr_Format(
            PyExc_RuntimeError, "%s: the meshes belong to different worlds", what);
    int size = world->transport->size;
    if (a->size > size || (b != NULL && b->size > size))
        return (dt_group *)PyErr_Format(
            PyExc_RuntimeError,
            "Mesh should not be bigger than default world size %d, but found %lld "
            "ranks!",
            size, (long long)(a->size > size ? a->size : b->size));
    if (a->ranks == NULL && a->size == size && (b == NULL || b->ranks == NULL)) {
        /* the usual case */
        dt_group *all = NULL;
        dt_world_group(&all, world, NULL, 0, NULL);
        return all;
    }
    return group_of_some(world, a, b, what);
}

static int
compare_members(const void *a, const void *b)
{
    int x = *(const int *)a, y = *(const int *)b;
    return (x > y) - (x < y);
}

size_t
ext_group_place(const dt_group *group, const dt_mesh *mesh, int64_t place)
{
    if (mesh == NULL || mesh->ranks == NULL)
        return (size_t)place;
    int rank = (int)mesh->ranks[place];
    const int *found =
        bsearch(&rank, group->ranks, (size_t)group->size, sizeof rank, compare_members);
    return (size_t)(found - group->ranks);
}

/* --- waiting --- */

/* The object that owns a world. */
static WorldObject *
object_of(dt_world *world)
{
    return world->poll_data;
}

/* Raises what another thread has asked this one to raise (PyThreadState_SetAsyncExc),
 * which Python does where it begins to run code. */
static bool
is_asked_to_raise(void)
{
    static PyObject *nothing; /* code; kept for good */
    if (nothing == NULL)
        nothing = Py_CompileString("0", "<dtensor>", Py_eval_input);
    PyObject *globals = nothing == NULL ? NULL : PyDict_New();
    PyObject *result =
        globals == NULL ? NULL : PyEval_EvalCode(nothing, globals, globals);
    Py_XDECREF(globals);
    Py_XDECREF(result);
    if (result == NULL && PyErr_ExceptionMatches(PyExc_MemoryError))
        PyErr_Clear();
    return PyErr_Occurred() != NULL;
}

/* Runs handlers of signals, which Python does in the main thread only, and raises in
 * ranks that are threads what they are asked to raise. */
static dt_status
poll(void *Py_UNUSED(data))
{
    PyGILState_STATE state = PyGILState_Ensure();
    bool failed = PyErr_CheckSignals() != 0 || is_asked_to_raise();
    PyGILState_Release(state);
    return failed ? DT_INTERRUPTED : DT_OK;
}

/* Before a rank waits for long, and after it. */
static void
let_go(void *data, bool waits)
{
    WorldObject *self = data;
    if (waits && self->stays)
        self->state = PyEval_SaveThread();
    if (!waits && self->state != NULL) {
        PyEval_RestoreThread(self->state);
        self->state = NULL;
    }
}

void
ext_world_begin(WorldObject *self, dt_world *world)
{
    self->world = world;
    self->transport = NULL;
    world->poll = poll;
    world->let_go = let_go;
    world->poll_data = self;
}

PyThreadState *
ext_world_enter(dt_world *world)
{
    object_of(world)->busy = true;
    return PyEval_SaveThread();
}

PyThreadState *
ext_world_stay(dt_world *world)
{
    WorldObject *self = object_of(world);
    if (self->threads || world->active != NULL)
        return ext_world_enter(world);
    self->busy = self->stays = true;
    return NULL;
}

void
ext_world_leave(dt_world *world, PyThreadState *state)
{
    WorldObject *self = object_of(world);
    if (state != NULL)
        PyEval_RestoreThread(state);
    self->busy = self->stays = false;
}
