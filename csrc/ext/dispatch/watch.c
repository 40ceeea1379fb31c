/* watch.c: who is told of operators. */
#include "ext/dispatch/dispatch.h"

PyObject *watch_on_operator;

PyObject *
op_python_arguments(PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames,
                    PyObject **kwargs)
{
    Py_ssize_t keywords = kwnames == NULL ? 0 : PyTuple_GET_SIZE(kwnames);
    *kwargs = PyDict_New();
    for (Py_ssize_t k = 0; *kwargs != NULL && k < keywords; k++)
        if (PyDict_SetItem(*kwargs, PyTuple_GET_ITEM(kwnames, k), args[nargs + k]) < 0)
            Py_CLEAR(*kwargs);
    return ext_tuple_of(args, nargs);
}

PyObject *
watch_operator(const op_entry *entry, const op_call *call)
{
    PyObject *kwargs;
    PyObject *args =
        op_python_arguments(call->args, call->nargs, call->kwnames, &kwargs);
    PyObject *sources = op_layouts(entry, OP_SOURCES);
    PyObject *targets = op_layouts(entry, OP_TARGETS);
    PyObject *results = op_layouts(entry, OP_RESULTS);
    PyObject *hook = Py_NewRef(watch_on_operator), *answer = NULL;
    if (args != NULL && kwargs != NULL && sources != NULL && targets != NULL &&
        results != NULL)
        answer = PyObject_CallFunction(hook, "OOOOOOdO", call->op, args, kwargs,
                                       sources, targets, results, entry->seconds,
                                       call->layout == NULL ? Py_False : Py_True);
    if (answer == NULL)
        PyErr_WriteUnraisable(hook);
    Py_DECREF(hook);
    Py_XDECREF(args);
    Py_XDECREF(kwargs);
    Py_XDECREF(sources);
    Py_XDECREF(targets);
    Py_XDECREF(results);
    return answer;
}

void
watch_operator_done(PyObject *after)
{
    if (after != NULL && after != Py_None) {
        PyObject *type, *error, *trace;
        PyErr_Fetch(&type, &error, &trace);
        PyObject *answer = PyObject_CallNoArgs(after);
        if (answer == NULL)
            PyErr_WriteUnraisable(after);
        Py_XDECREF(answer);
        PyErr_Restore(type, error, trace);
    }
    Py_XDECREF(after);
}
