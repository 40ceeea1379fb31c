/* watch.c: who is told of moves and collectives. */
#include "ext/move/move.h"

PyObject *watch_on_move;

/* A layout as Python knows it, or one of the mesh of another that it knows; else its
 * text: it may be of a mesh without an object. */
static PyObject *
as_object(const dt_layout *layout, const dt_layout *other)
{
    char text[1024];
    const LayoutObject *known = other->owner;
    if (layout->owner != NULL)
        return Py_NewRef((PyObject *)layout->owner);
    if (known != NULL && layout->mesh == other->mesh) {
        dt_layout_retain(layout);
        return (PyObject *)ext_layout(layout, known->mesh);
    }
    dt_layout_print(text, sizeof text, layout);
    return PyUnicode_FromString(text);
}

PyObject *
watch_move(const ext_item *items, int count, const char *what)
{
    PyObject *sources = PyTuple_New(count), *targets = PyTuple_New(count);
    for (int k = 0; k < count && sources != NULL && targets != NULL; k++) {
        ext_put(&sources, k, as_object(items[k].from, items[k].to));
        if (sources != NULL)
            ext_put(&targets, k, as_object(items[k].to, items[k].from));
    }
    PyObject *hook = Py_NewRef(watch_on_move), *answer = NULL;
    if (sources != NULL && targets != NULL)
        answer = PyObject_CallFunction(hook, "sOO", what, sources, targets);
    if (answer == NULL)
        PyErr_WriteUnraisable(hook);
    Py_DECREF(hook);
    Py_XDECREF(sources);
    Py_XDECREF(targets);
    if (answer == Py_None)
        Py_CLEAR(answer);
    return answer;
}

/* [(rank, bytes), ...] of the ranks that something was sent to; they are set to 0. */
static PyObject *
peers_of(int64_t *sent, int size)
{
    PyObject *list = PyList_New(0);
    for (int rank = 0; rank < size && list != NULL; rank++) {
        if (sent[rank] == 0)
            continue;
        ext_append(&list, Py_BuildValue("(iL)", rank, (long long)sent[rank]));
        sent[rank] = 0;
    }
    return list;
}

/* Adds (name, begin, end, bytes, messages, peers) to a list, and steals `peers`. On
 * failure the list is cleared. */
static void
add_event(PyObject **list, const dt_event *event, PyObject *peers)
{
    PyObject *item =
        peers == NULL ? NULL
                      : Py_BuildValue("(sddLLN)", dt_step_name(event->kind),
                                      event->begin, event->end, (long long)event->bytes,
                                      (long long)event->messages, peers);
    ext_append(list, item);
}

static PyObject *
events_of(const dt_run *run, int size)
{
    int64_t *sent = PyMem_Calloc((size_t)size, sizeof *sent);
    PyObject *list = sent == NULL ? PyErr_NoMemory() : PyList_New(0);
    dt_event event;
    for (int at = 0; list != NULL && (at = dt_run_event(&event, sent, run, at)) > 0;)
        add_event(&list, &event, peers_of(sent, size));
    PyMem_Free(sent);
    return list;
}

/* Steals `events`. */
static void
tell(PyObject *given, PyObject *events)
{
    PyObject *answer = events == NULL ? NULL : PyObject_CallOneArg(given, events);
    if (answer == NULL)
        PyErr_WriteUnraisable(given);
    Py_XDECREF(answer);
    Py_XDECREF(events);
}

void
watch_tell(PyObject *given, const dt_run *run, const dt_world *world)
{
    PyObject *type, *error, *trace;
    PyErr_Fetch(&type, &error, &trace);
    tell(given, events_of(run, world->transport->size));
    PyErr_Restore(type, error, trace);
}

void
watch_tell_counted(PyObject *given, const dt_event *events, int count)
{
    PyObject *list = PyList_New(0);
    for (int k = 0; k < count && list != NULL; k++)
        add_event(&list, &events[k], PyList_New(0));
    tell(given, list);
}
