/* watch.c: who is told of operators. */
#include "ext/dispatch/dispatch.h"

PyObject *watch_on_operator;

enum { SOURCE, TARGET, RESULT };

/* The layouts of operands, or of results, as a tuple. */
static PyObject *
layouts_of(const op_entry *entry, int which)
{
    int count = which == RESULT ? entry->result_count : entry->operand_count;
    PyObject *tuple = PyTuple_New(count);
    for (int k = 0; tuple != NULL && k < count; k++) {
        LayoutObject *layout;
        if (which == RESULT)
            layout = entry->results[k].layout;
        else {
            const op_operand *operand = &entry->operands[k];
            layout =
                which == TARGET && operand->to != NULL ? operand->to : operand->from;
        }
        PyTuple_SET_ITEM(tuple, k, Py_NewRef((PyObject *)layout));
    }
    return tuple;
}

static PyObject *
arguments_of(const op_call *call, PyObject **kwargs)
{
    Py_ssize_t keywords = call->kwnames == NULL ? 0 : PyTuple_GET_SIZE(call->kwnames);
    PyObject *args = PyTuple_New(call->nargs);
    *kwargs = PyDict_New();
    for (Py_ssize_t k = 0; args != NULL && k < call->nargs; k++)
        PyTuple_SET_ITEM(args, k, Py_NewRef(call->args[k]));
    for (Py_ssize_t k = 0; *kwargs != NULL && k < keywords; k++)
        if (PyDict_SetItem(*kwargs, PyTuple_GET_ITEM(call->kwnames, k),
                           call->args[call->nargs + k]) < 0)
            Py_CLEAR(*kwargs);
    return args;
}

PyObject *
watch_operator(const op_entry *entry, const op_call *call)
{
    PyObject *kwargs, *args = arguments_of(call, &kwargs);
    PyObject *sources = layouts_of(entry, SOURCE), *targets = layouts_of(entry, TARGET);
    PyObject *results = layouts_of(entry, RESULT);
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
