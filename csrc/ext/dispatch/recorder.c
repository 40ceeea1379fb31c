/* recorder.c: who is told of the operators that this thread calls, and of what they
 * give. Of the outermost calls: what an operator is made of is its own affair. */
#include "ext/dispatch/dispatch.h"

_Thread_local op_besides op_aside;

static PyObject *
tell(PyObject *recorder, PyObject *op, PyObject *const *args, Py_ssize_t nargs,
     PyObject *kwnames, PyObject *result)
{
    PyObject *named, *given = op_python_arguments(args, nargs, kwnames, &named);
    PyObject *answer = NULL;
    if (given != NULL && named != NULL)
        answer = PyObject_CallFunctionObjArgs(recorder, op, given, named, result, NULL);
    Py_XDECREF(given);
    Py_XDECREF(named);
    return answer;
}

PyObject *
op_call_recorded(PyObject *op, PyObject *const *args, size_t flags, PyObject *kwnames)
{
    if (((OperatorObject *)op)->otherwise != NULL) /* it has other words */
        return PyObject_Vectorcall(((OperatorObject *)op)->otherwise, args, flags,
                                   kwnames);
    PyObject *recorder = op_aside.recorder;
    op_aside.recorder = NULL; /* of what happens within nobody is told */
    PyObject *result = PyObject_Vectorcall(op, args, flags, kwnames);
    op_aside.recorder = recorder;
    if (result == NULL)
        return NULL;
    PyObject *answer =
        tell(recorder, op, args, PyVectorcall_NARGS(flags), kwnames, result);
    if (answer == NULL)
        Py_CLEAR(result);
    Py_XDECREF(answer);
    return result;
}

PyObject *
op_set_recorder(PyObject *Py_UNUSED(module), PyObject *recorder)
{
    Py_XSETREF(op_aside.recorder, recorder == Py_None ? NULL : Py_NewRef(recorder));
    Py_RETURN_NONE;
}
