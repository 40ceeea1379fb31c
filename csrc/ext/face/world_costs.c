/* world_costs.c: the costs that plans are chosen by: told, set and measured. */
#include "ext/face/face.h"

#include "comm/talk/measure.h"
#include "ext/op/op.h"

PyObject *
ext_world_costs(PyObject *object, void *Py_UNUSED(closure))
{
    WorldObject *self = (WorldObject *)object;
    if (ext_world_check(self, "costs") < 0)
        return NULL;
    char text[4096];
    dt_cost_print(text, sizeof text, &self->world->cost);
    return PyUnicode_FromString(text);
}

/* All ranks come with the same costs, or none has new ones. */
PyObject *
ext_world_set_costs(PyObject *object, PyObject *given)
{
    WorldObject *self = (WorldObject *)object;
    const char *text = PyUnicode_AsUTF8(given);
    if (text == NULL || ext_world_check(self, "set_costs") < 0)
        return NULL;
    dt_cost cost;
    dt_call call;
    ext_call_begin(&call, "set_costs");
    ext_call_text(&call, "(%s)", text);
    if (dt_cost_parse(&cost, text, &call.local) == DT_OK)
        call.hash = dt_hash(call.hash, &cost.hash, sizeof cost.hash);
    dt_group *all = NULL;
    dt_world_group(&all, self->world, NULL, 0, NULL);
    if (ext_agree(all, &call, true) < 0)
        return NULL;
    const dt_transport *t = self->world->transport;
    dt_cost_find_nodes(&cost, t->nodes, t->size);
    self->world->cost = cost;
    ext_cost_hash = cost.hash;
    op_cache_clear(NULL); /* of threads that have no world of their own */
    Py_RETURN_NONE;
}

PyObject *
ext_world_measure(PyObject *object, PyObject *Py_UNUSED(none))
{
    WorldObject *self = (WorldObject *)object;
    if (ext_world_check(self, "measure") < 0)
        return NULL;
    dt_call call;
    ext_call_begin(&call, "measure()");
    void *scratch = PyMem_RawMalloc(dt_measure_scratch(self->size));
    if (scratch == NULL)
        dt_fail(&call.local, DT_MEMORY, "no memory for measuring messages");
    dt_group *all = NULL;
    dt_world_group(&all, self->world, NULL, 0, NULL);
    if (ext_agree(all, &call, true) < 0) {
        PyMem_RawFree(scratch);
        return NULL;
    }
    dt_cost cost;
    dt_error err;
    PyThreadState *state = ext_world_enter(self->world);
    dt_status status = dt_measure(&cost, self->world, scratch, &err);
    ext_world_leave(self->world, state);
    if (ext_check(status, &err) < 0)
        return NULL; /* messages may be under way: the scratch must stay */
    PyMem_RawFree(scratch);
    return Py_BuildValue("(ddddd)", cost.link.latency, cost.link.bandwidth, cost.copy,
                         cost.nodes.latency, cost.nodes.bandwidth);
}

const char ext_world_set_costs_doc[] =
    "set_costs($self, costs, /)\n--\n\n"
    "Set what plans are chosen by, as DTENSOR_COSTS is written. Collective.\n\n"
    "Raises\n------\n"
    "ValueError\n    If `costs` cannot be read: on all ranks.\n"
    "RuntimeError\n    If ranks come with other costs, or do not come: on all ranks.";

const char ext_world_measure_doc[] =
    "measure($self)\n--\n\n"
    "Measure, collectively, and return what a message, its bytes and copies cost.\n\n"
    "Returns\n-------\n"
    "tuple of 5 float\n"
    "    Seconds of a message, bytes per second of messages, and of copies, of the\n"
    "    slowest rank; and seconds and bytes per second of messages between nodes, "
    "the\n"
    "    defaults on one node. Takes some milliseconds; changes nothing.";
