/* A run of moves and what it needs until it has ended: arrays, plans, the run itself.
 *
 * Other ranks count on what was started here, so a run that nobody waits for goes on:
 * the list of those under way holds a reference to each, and nothing is sent or given
 * up by a destructor. */
#include "ext/move/move.h"

#include <stddef.h>
#include <time.h>

typedef struct pending_object {
    PyObject_VAR_HEAD
    dt_run *run; /* NULL once it is freed */
    dt_world *world;
    struct pending_object *next; /* of those under way */
    PyObject *teller;            /* who is told what it has done, or NULL */
    dt_error error;
    bool poisoned;
    const dt_plan *plans[]; /* ob_size of them; behind them 2 * ob_size arrays */
} PendingObject;

PendingObject *ext_under_way;

enum { ROUNDS = 8, LOOK_NANOSECONDS = 200 * 1000, START_NANOSECONDS = 1000 * 1000 };

/* References to the arrays that are read and written; some are NULL. */
static PyObject **
arrays_of(PendingObject *self)
{
    return (PyObject **)(void *)&self->plans[Py_SIZE(self)];
}

/* Lets go of all that the run needed. Where messages of a failed run may still touch
 * the arrays, these are leaked. */
static void
settle(PendingObject *self)
{
    if (self->run == NULL)
        return;
    self->poisoned = dt_run_poisoned(self->run);
    if (self->teller != NULL)
        watch_tell(self->teller, self->run, self->world);
    Py_CLEAR(self->teller);
    dt_run_free(self->run);
    self->run = NULL;
    for (Py_ssize_t i = 0; i < Py_SIZE(self); i++)
        dt_plan_release(ext_plans, self->plans[i]);
    for (Py_ssize_t i = 0; i < 2 * Py_SIZE(self) && !self->poisoned; i++)
        Py_CLEAR(arrays_of(self)[i]);
}

static void
pending_dealloc(PyObject *object)
{
    settle((PendingObject *)object);
    Py_TYPE(object)->tp_free(object);
}

static PyTypeObject pending_type = {
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = "dtensor._C._Pending",
    .tp_basicsize = offsetof(PendingObject, plans),
    .tp_itemsize = sizeof(dt_plan *) + 2 * sizeof(PyObject *),
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION,
    .tp_doc = "Moves that are under way.",
    .tp_dealloc = pending_dealloc,
};

PyObject *
ext_pending(dt_run *run, dt_world *world, const dt_plan *const *plans, int count,
            const ext_item *items, PyObject *teller)
{
    bool ready = pending_type.tp_free != NULL || PyType_Ready(&pending_type) == 0;
    PendingObject *self =
        ready ? PyObject_NewVar(PendingObject, &pending_type, count) : NULL;
    if (self == NULL)
        return NULL;
    self->run = run;
    self->world = world;
    self->next = NULL;
    self->error.status = DT_OK;
    self->poisoned = false;
    self->teller = Py_XNewRef(teller);
    if (self->teller != NULL)
        dt_run_watch(run);
    for (int i = 0; i < count; i++) {
        self->plans[i] = plans[i];
        arrays_of(self)[2 * i] = Py_XNewRef(items[i].array);
        arrays_of(self)[2 * i + 1] = Py_XNewRef(items[i].result);
    }
    return (PyObject *)self;
}

static int64_t
now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

/* Whether a task, just started, is still to send its first messages: between nodes what is
 * computed next would leave them until it is done. */
static bool
is_silent(const WorldObject *self, const dt_task *started)
{
    return started != NULL && self->overlaps &&
           !self->world->transport->oversubscribed && !started->moved &&
           !started->finished;
}

/* What fails here is told to whoever waits for it. */
static void
look(const dt_task *started)
{
    WorldObject *self = ext_world_open();
    if (self == NULL || self->busy || self->world == NULL ||
        self->world->active == NULL)
        return;
    dt_world *world = self->world;
    PyThreadState *state = ext_world_enter(world);
    int64_t end = now_ns() + START_NANOSECONDS;
    while (is_silent(self, started) && now_ns() < end)
        dt_progress(world);
    for (int k = 0; k < ROUNDS && world->active != NULL; k++)
        dt_progress(world);
    ext_world_leave(world, state);
}

/* A look takes some microseconds, in which a link brings less than a few packets. */
void
ext_pending_advance(void)
{
    static _Thread_local int64_t looked;
    int64_t now = now_ns();
    if (now - looked < LOOK_NANOSECONDS)
        return;
    look(NULL);
    looked = now;
}

int
ext_pending_start(PyObject *pending)
{
    PendingObject *self = (PendingObject *)pending;
    if (ext_check(dt_start(dt_run_task(self->run), &self->error), &self->error) < 0)
        return -1;
    self->next = ext_under_way;
    ext_under_way = (PendingObject *)Py_NewRef(pending);
    look(dt_run_task(self->run));
    return 0;
}

/* Takes an object that has ended out of the list. */
static void
leave(PendingObject *self)
{
    PendingObject **place = &ext_under_way;
    while (*place != NULL && *place != self)
        place = &(*place)->next;
    if (*place == NULL)
        return;
    *place = self->next;
    self->next = NULL;
    Py_DECREF(self);
}

int
ext_pending_wait(PyObject *pending)
{
    PendingObject *self = (PendingObject *)Py_NewRef(pending);
    if (self->run != NULL) {
        dt_world *world = ext_world(self->plans[0]->to->mesh, "wait");
        if (world != self->world) {
            if (world != NULL)
                PyErr_SetString(PyExc_RuntimeError,
                                "these data are on their way to another thread's rank; "
                                "wait for them there");
            Py_DECREF(self);
            return -1;
        }
        PyThreadState *state = ext_world_enter(world);
        dt_wait(dt_run_task(self->run), &self->error);
        ext_world_leave(world, state);
        leave(self);
        settle(self);
    }
    dt_error err = self->error;
    Py_DECREF(self);
    ext_told |= err.status != DT_OK;
    return ext_check(err.status, &err);
}

bool
ext_pending_done(PyObject *pending)
{
    PendingObject *self = (PendingObject *)pending;
    return self->run == NULL || dt_run_task(self->run)->finished;
}

void
ext_pending_sweep(dt_world *world)
{
    PendingObject *self = ext_under_way;
    while (self != NULL) {
        bool ended = self->world == world && self->run != NULL &&
                     dt_run_task(self->run)->finished;
        if (!ended) {
            self = self->next;
            continue;
        }
        Py_INCREF(self);
        leave(self);
        self->error = dt_run_task(self->run)->error;
        settle(self); /* may call Python, so that the list changes */
        Py_DECREF(self);
        self = ext_under_way;
    }
}

PyArrayObject *
ext_local(PyObject *tensor)
{
    return ext_catch_up() < 0 ? NULL : ext_local_unread(tensor);
}

PyArrayObject *
ext_local_unread(PyObject *tensor)
{
    if (ext_is_dtensor(tensor)) {
        DTensorObject *self = (DTensorObject *)tensor;
        if (self->pending != NULL) {
            if (ext_pending_wait(self->pending) < 0)
                return NULL;
            Py_CLEAR(self->pending);
        }
    }
    ext_trace.looked = true;
    return (PyArrayObject *)((TensorObject *)tensor)->array;
}
