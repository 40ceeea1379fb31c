/* The arguments of fast calls, sorted by name. */
#include "ext/base/base.h"

#include <limits.h>

/* The place of a keyword in a signature, or -1. */
static int
find_name(const ext_signature *signature, PyObject *name)
{
    if (!PyUnicode_IS_COMPACT_ASCII(name))
        return -1;
    const char *text = PyUnicode_DATA(name);
    for (int i = 0; i < signature->count; i++)
        if (text[0] == signature->names[i][0] && strcmp(text, signature->names[i]) == 0)
            return i;
    return -1;
}

/* Raises TypeError, with the keyword that may be meant. */
static int
unexpected(const ext_signature *signature, PyObject *name)
{
    static PyObject *told;
    PyObject *names = PyList_New(signature->count);
    for (int i = 0; names != NULL && i < signature->count; i++)
        ext_put(&names, i, PyUnicode_FromString(signature->names[i]));
    PyObject *text = NULL;
    if (names != NULL && ext_import(&told, "dtensor._core.keywords", "unexpected"))
        text = PyObject_CallFunction(told, "sOO", signature->function, name, names);
    Py_XDECREF(names);
    if (text != NULL)
        PyErr_SetObject(PyExc_TypeError, text);
    Py_XDECREF(text);
    return -1;
}

static int
take_keyword(PyObject **out, const ext_signature *signature, PyObject *name,
             PyObject *value)
{
    int place = find_name(signature, name);
    if (place < 0)
        return unexpected(signature, name);
    if (out[place] != NULL)
        return ext_fail(PyExc_TypeError, "%s() got multiple values for argument '%U'",
                        signature->function, name);
    out[place] = value;
    return 0;
}

int
ext_arguments(PyObject **out, const ext_signature *signature, PyObject *const *args,
              Py_ssize_t nargs, PyObject *kwnames)
{
    if (nargs > signature->positional)
        return ext_fail(PyExc_TypeError,
                        "%s() takes at most %d positional arguments (%zd given)",
                        signature->function, signature->positional, nargs);
    for (int i = 0; i < signature->count; i++)
        out[i] = i < nargs ? args[i] : NULL;
    Py_ssize_t keywords = kwnames == NULL ? 0 : PyTuple_GET_SIZE(kwnames);
    for (Py_ssize_t k = 0; k < keywords; k++)
        if (take_keyword(out, signature, PyTuple_GET_ITEM(kwnames, k),
                         args[nargs + k]) < 0)
            return -1;
    for (int i = 0; i < signature->required; i++)
        if (out[i] == NULL)
            return ext_fail(PyExc_TypeError, "%s() missing required argument '%s'",
                            signature->function, signature->names[i]);
    return 0;
}

int
ext_argument_bool(bool *out, PyObject *object)
{
    if (object == NULL || object == Py_None)
        return 0;
    int truth = PyObject_IsTrue(object);
    if (truth < 0)
        return -1;
    *out = truth != 0;
    return 0;
}

int
ext_argument_int(int64_t *out, PyObject *object)
{
    if (object == NULL || object == Py_None)
        return 0;
    PyObject *number = PyNumber_Index(object);
    if (number == NULL)
        return -1;
    long long value = PyLong_AsLongLong(number);
    Py_DECREF(number);
    if (value == -1 && PyErr_Occurred())
        return -1;
    *out = value;
    return 0;
}

int
ext_int(int *out, PyObject *object, const char *what)
{
    int64_t value = 0;
    if (!PyIndex_Check(object))
        return ext_fail(PyExc_TypeError, "%s must be an int, not %s %R", what,
                        Py_TYPE(object)->tp_name, object);
    bool read = ext_argument_int(&value, object) == 0;
    if (read && value >= INT_MIN && value <= INT_MAX) {
        *out = (int)value;
        return 0;
    }
    if (read || PyErr_ExceptionMatches(PyExc_OverflowError))
        PyErr_Format(PyExc_OverflowError, "%s does not fit in a C int: %R", what,
                     object);
    return -1;
}

PyObject *
ext_switch(bool *on, PyObject *wanted)
{
    int truth = PyObject_IsTrue(wanted);
    if (truth < 0)
        return NULL;
    bool before = *on;
    *on = truth != 0;
    return PyBool_FromLong(before);
}
