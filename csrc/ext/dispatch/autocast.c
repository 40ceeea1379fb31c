/* autocast.c: operators that compute in another dtype than that of their operands,
 * within a context. Which ones do, and in which dtypes, is said in Python. */
#include "ext/dispatch/dispatch.h"

PyObject *
op_call_cast(OperatorObject *op, PyObject *const *args, size_t flags, PyObject *kwnames)
{
    Py_ssize_t count = PyVectorcall_NARGS(flags), nargs = count + 1;
    count += kwnames == NULL ? 0 : PyTuple_GET_SIZE(kwnames);
    PyObject **given = PyMem_New(PyObject *, (size_t)count + 1);
    if (given == NULL)
        return PyErr_NoMemory();
    given[0] = (PyObject *)op;
    for (Py_ssize_t k = 0; k < count; k++)
        given[k + 1] = args[k];
    PyObject *result = PyObject_Vectorcall(op->autocast, given, (size_t)nargs, kwnames);
    PyMem_Free(given);
    return result;
}

static PyObject *
set_autocast(PyObject *Py_UNUSED(module), PyObject *wanted)
{
    return ext_switch(&op_aside.casts, wanted);
}

static PyObject *
is_autocast(PyObject *Py_UNUSED(module), PyObject *Py_UNUSED(none))
{
    return PyBool_FromLong(op_aside.casts);
}

PyMethodDef op_autocast_methods[] = {
    {"set_autocast", set_autocast, METH_O,
     "set_autocast(wanted, /)\n--\n\n"
     "Whether this thread calls `Operator.autocast` for operators that have it; "
     "return\n"
     "what was."},
    {"is_autocast", is_autocast, METH_NOARGS,
     "is_autocast()\n--\n\nReturn whether this thread calls `Operator.autocast`."},
    {0},
};
