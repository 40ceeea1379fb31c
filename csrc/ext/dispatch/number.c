/* number.c: arrays of integers where numbers are wanted, as axes or lengths. A call has
 * them as operands, of which its function knows no values; a function that counts with one
 * fails, and is called again with a number, or a list. */
#include "ext/dispatch/dispatch.h"

/* An argument, or its elements, with a number in the place of an array. */
static PyObject *
with_number(PyObject *argument, PyObject *array, PyObject *number, bool *found)
{
    bool list = PyList_CheckExact(argument);
    if (argument == array) {
        *found = true;
        return Py_NewRef(number);
    }
    if (!list && !PyTuple_CheckExact(argument))
        return Py_NewRef(argument);
    PyObject *items = PySequence_List(argument);
    bool holds = false;
    for (Py_ssize_t k = 0; items != NULL && k < PyList_GET_SIZE(items); k++)
        holds |= PyList_GET_ITEM(items, k) == array;
    for (Py_ssize_t k = 0; holds && items != NULL && k < PyList_GET_SIZE(items); k++)
        if (PyArray_CheckExact(PyList_GET_ITEM(items, k))) {
            PyObject *item = PyArray_ToList((PyArrayObject *)PyList_GET_ITEM(items, k));
            if (item == NULL)
                Py_CLEAR(items);
            else
                PyList_SetItem(items, k, item);
        }
    *found |= holds;
    if (items != NULL && !list)
        Py_SETREF(items, PyList_AsTuple(items));
    return items;
}

PyObject *
op_call_counted(PyObject *self, PyObject *const *args, Py_ssize_t nargs,
                PyObject *kwnames)
{
    PyObject *type, *error, *traceback, *array = op_counted, *result = NULL;
    PyErr_Fetch(&type, &error, &traceback);
    op_counted = NULL;
    Py_ssize_t count = nargs + (kwnames == NULL ? 0 : PyTuple_GET_SIZE(kwnames));
    PyObject *number =
        PyArray_ToList((PyArrayObject *)array); /* of no dims: a number */
    PyObject *given = PyTuple_New(count);
    bool found = false, good = number != NULL && given != NULL;
    for (Py_ssize_t k = 0; good && k < count; k++) {
        PyObject *argument = with_number(args[k], array, number, &found);
        good = argument != NULL;
        if (good)
            PyTuple_SET_ITEM(given, k, argument);
    }
    PyErr_Clear();
    if (good && found) {
        Py_CLEAR(type);
        Py_CLEAR(error);
        Py_CLEAR(traceback);
        result = PyObject_Vectorcall(self, PySequence_Fast_ITEMS(given), (size_t)nargs,
                                     kwnames);
    } else
        PyErr_Restore(type, error, traceback);
    Py_XDECREF(number);
    Py_XDECREF(given);
    Py_DECREF(array);
    return result;
}
