/* local.c: calls without a DTensor, of which the other ranks know nothing: that they ended
 * well is put on the trail (comm/talk/trail.h), that they failed is told. */
#include "ext/move/move.h"

#include "comm/talk/note.h"
#include "comm/talk/settle.h"

#include <string.h>

uint32_t
ext_local_name(const char *text)
{
    return (uint32_t)dt_hash(0, text, strlen(text));
}

/* The world whose ranks are to be told; NULL if nobody can be. */
static dt_world *
world_to_tell(void)
{
    WorldObject *world = ext_world_current();
    bool open = ext_trace.trail != NULL && world != NULL && !world->closed &&
                !world->busy && world->world != NULL;
    return open && world->world->trail == ext_trace.trail ? world->world : NULL;
}

void
ext_local_failed(uint32_t name, const char *text)
{
    if (!PyErr_ExceptionMatches(PyExc_Exception))
        return; /* an interrupt, or the end of the program */
    dt_world *world = world_to_tell();
    if (world == NULL)
        return;
    dt_error error, told;
    ext_catch(&error);
    told = error;
    dt_error_prefix(&told, text);
    if (dt_note_local_failure(world, name, &told))
        ext_trace.trail->failed = true;
    ext_raise(&error);
    ext_told = true;
}

PyObject *
ext_local_failed_handling(PyObject *what)
{
    PyObject *error = PyErr_GetHandledException();
    const char *text = PyUnicode_AsUTF8(what);
    if (text != NULL && error != NULL) {
        PyErr_SetObject((PyObject *)Py_TYPE(error), error);
        ext_local_failed(ext_local_name(text), text);
    }
    PyErr_Clear();
    Py_XDECREF(error);
    Py_RETURN_NONE;
}

/* A rank that does something after a failure has swallowed it, and will come to the others'
 * next call; but not one whose exception is still handled, by `finally` say. */
void
ext_local_recovered(void)
{
    PyObject *handled = PyErr_GetHandledException();
    dt_world *world = handled == NULL ? world_to_tell() : NULL;
    Py_XDECREF(handled);
    if (world == NULL)
        return;
    ext_trace.trail->failed = false;
    dt_notes_tell_recovered(world->notes);
}

ext_local_call
ext_local_begin(const char *text)
{
    ext_local_call call = {.trail = ext_trace.trail, .text = text};
    ext_told = false;
    if (call.trail != NULL) {
        call.name = ext_local_name(text);
        dt_trail_begin(call.trail, call.name);
    }
    return call;
}

void
ext_local_end(const ext_local_call *call, bool well)
{
    if (call->trail == NULL || call->trail != ext_trace.trail)
        return; /* it has made another world its own */
    dt_trail_end(call->trail, call->name, well);
    if (!well && !ext_told)
        ext_local_failed(call->name, call->text);
}

void
move_done(const char *what)
{
    static char last[32]; /* most are of the name of the one before */
    static uint32_t name;
    if (ext_trace.trail == NULL)
        return;
    if (strcmp(what, last) != 0) {
        name = ext_local_name(what);
        strncpy(last, what, sizeof last - 1);
    }
    ext_local_done(name);
}
