/* world_simulated.c: World.simulated, and what such a world tells. */
#include "ext/face/face.h"

#include "comm/world.h"

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
    const char *text = NULL;
    if (!PyArg_ParseTuple(args, "ii|z:simulated", &size, &rank, &text))
        return NULL;
    const dt_cost *here = text == NULL ? ext_cost(NULL) : NULL;
    dt_cost cost;
    dt_error err;
    if (text == NULL && here == NULL)
        return NULL;
    if (text == NULL)
        cost = *here;
    else if (dt_cost_parse(&cost, text, &err) != DT_OK)
        return ext_raise(&err);
    dt_transport *transport;
    dt_world *world;
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
    ext_simulated_begin();
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
    "simulated(size, rank, costs=None, /)\n--\n\n"
    "Make a world of `size` ranks of which only `rank` is there.\n\n"
    "The others count as doing what it does. Moves are counted instead of made, and\n"
    "leave tensors without data. `costs` is as the attribute of this name; None: "
    "those\n"
    "of this thread's world.\n\n"
    "Raises\n------\n"
    "ValueError\n    If there is no such rank, or `costs` cannot be read.";

const char ext_world_memory_doc[] =
    "memory($self, forget=False, /)\n--\n\n"
    "Return the bytes of tensors without data that live, and most that ever did.\n\n"
    "Of a world that is simulated; with `forget` the peak starts again.";

const char ext_world_predicted_doc[] =
    "predicted($self)\n--\n\n"
    "Return the seconds by the cost model of what was counted, by kind.\n\n"
    "Of a world that is simulated.";
