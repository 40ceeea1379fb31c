/* threads.c: how many threads of this process share long loops. */
#include "ext/base/base.h"

#include "core/threads/team.h"

static PyObject *
set_num_threads(PyObject *Py_UNUSED(module), PyObject *number)
{
    int count = 0;
    if (ext_int(&count, number, "set_num_threads: num") < 0)
        return NULL;
    if (count < 1 || count > DT_TEAM_MOST)
        return PyErr_Format(PyExc_ValueError,
                            "set_num_threads: num must be from 1 to %d, got %d",
                            DT_TEAM_MOST, count);
    Py_BEGIN_ALLOW_THREADS;
    dt_team_set(count);
    Py_END_ALLOW_THREADS;
    Py_RETURN_NONE;
}

static PyObject *
get_num_threads(PyObject *Py_UNUSED(module), PyObject *Py_UNUSED(none))
{
    return PyLong_FromLong(dt_team_size());
}

int
ext_threads_constants(PyObject *module)
{
    return PyModule_AddIntConstant(module, "MOST_THREADS", DT_TEAM_MOST);
}

PyMethodDef ext_threads_methods[] = {
    {"set_num_threads", set_num_threads, METH_O,
     "set_num_threads(num, /)\n--\n\n"
     "Let so many threads of this process share long loops."},
    {"get_num_threads", get_num_threads, METH_NOARGS,
     "get_num_threads()\n--\n\n"
     "Return how many threads of this process share long loops."},
    {0},
};
