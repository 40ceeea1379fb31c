/* outs.c: `out=`: one tensor, or several, each for its own result. */
#include "ext/dispatch/dispatch.h"

#include <string.h>

/* Whether results can be written into `outs`, before any is. */
static int
check_all(const OperatorObject *op, PyObject *casting, PyObject *made, PyObject *outs)
{
    Py_ssize_t count = PyTuple_GET_SIZE(outs);
    if (!PyTuple_Check(made) || PyTuple_GET_SIZE(made) != count)
        return ext_fail(
            PyExc_ValueError,
            "%U: out= has %zd tensors, which is not how many results there are",
            op->name, count);
    for (Py_ssize_t k = 0; k < count; k++) {
        PyObject *out = PyTuple_GET_ITEM(outs, k), *item = PyTuple_GET_ITEM(made, k);
        if (out == Py_None)
            continue;
        if (!ext_is_dtensor(out) || !ext_is_dtensor(item))
            return ext_fail(PyExc_TypeError, "%U: out= takes DTensors here", op->name);
        if (op_check_cast(NULL, PyArray_DESCR(op_array(item)),
                          PyArray_DESCR(op_array(out)), casting) < 0)
            return -1;
    }
    return 0;
}

/* Writes a result into `out` where the mask says so: elsewhere it is undefined. */
static int
write_where(PyObject *out, PyObject *made, PyObject *casting, PyObject *mask)
{
    static PyObject *copyto;
    if (ext_import(&copyto, "numpy", "copyto") == NULL)
        return -1;
    PyObject *none =
        casting == NULL
            ? PyObject_CallFunction(copyto, "OOsO", out, made, "same_kind", mask)
            : PyObject_CallFunctionObjArgs(copyto, out, made, casting, mask, NULL);
    Py_XDECREF(none);
    return none == NULL ? -1 : 0;
}

/* The mask of a call that has one, or NULL. Borrowed. */
static PyObject *
mask_of(PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames)
{
    Py_ssize_t place = op_find_keyword(kwnames, "where");
    PyObject *mask = place < 0 ? Py_True : args[nargs + place];
    return mask == Py_True ? NULL : mask;
}

/* The same call without a mask. */
static PyObject *
call_without_mask(OperatorObject *op, PyObject *const *args, Py_ssize_t nargs,
                  PyObject *kwnames)
{
    Py_ssize_t count = nargs + PyTuple_GET_SIZE(kwnames);
    Py_ssize_t place = nargs + op_find_keyword(kwnames, "where");
    PyObject **given = PyMem_New(PyObject *, (size_t)count), *result = NULL;
    if (given == NULL)
        return PyErr_NoMemory();
    memcpy(given, args, (size_t)count * sizeof *given);
    given[place] = Py_True;
    result = PyObject_Vectorcall((PyObject *)op, given, (size_t)nargs, kwnames);
    PyMem_Free(given);
    return result;
}

/* NumPy looks at casts before shapes: a call that was refused for the shape of its mask
 * is refused for the cast into an `out`, if that is wrong as well. */
static void
prefer_cast_error(OperatorObject *op, PyObject *const *args, Py_ssize_t nargs,
                  PyObject *kwnames, PyObject *outs)
{
    PyObject *type, *error, *trace;
    PyErr_Fetch(&type, &error, &trace);
    PyObject *made = call_without_mask(op, args, nargs, kwnames);
    PyObject *casting = op_casting_of(args, nargs, kwnames);
    bool fits = made == NULL || check_all(op, casting, made, outs) == 0;
    Py_XDECREF(made);
    if (fits) {
        PyErr_Clear();
        PyErr_Restore(type, error, trace);
        return;
    }
    Py_XDECREF(type);
    Py_XDECREF(error);
    Py_XDECREF(trace);
}

static PyObject *
call_into_all(OperatorObject *op, PyObject *const *args, Py_ssize_t nargs,
              PyObject *kwnames, PyObject *outs)
{
    PyObject *made = PyObject_Vectorcall((PyObject *)op, args, (size_t)nargs, kwnames);
    PyObject *casting = op_casting_of(args, nargs, kwnames);
    PyObject *mask = mask_of(args, nargs, kwnames);
    if (made == NULL && mask != NULL && PyErr_ExceptionMatches(PyExc_ValueError))
        prefer_cast_error(op, args, nargs, kwnames, outs);
    if (made == NULL)
        return NULL;
    Py_ssize_t count = PyTuple_GET_SIZE(outs);
    int failed = check_all(op, casting, made, outs);
    PyObject *result = failed < 0 ? NULL : PyTuple_New(count);
    for (Py_ssize_t k = 0; result != NULL && k < count; k++) {
        PyObject *out = PyTuple_GET_ITEM(outs, k), *item = PyTuple_GET_ITEM(made, k);
        if (out == Py_None)
            out = item;
        else if (tape_take_over((TensorObject *)out, (TensorObject *)item, false,
                                op->name) < 0)
            failed = -1;
        else if (mask != NULL)
            failed = write_where(out, item, casting, mask);
        else
            failed =
                op_write_result(op, (DTensorObject *)out, (DTensorObject *)item, true);
        if (failed < 0)
            Py_CLEAR(result);
        else
            PyTuple_SET_ITEM(result, k, Py_NewRef(out));
    }
    Py_DECREF(made);
    return result;
}

/* The one tensor that is written to; raises. */
static PyObject *
only_out(const OperatorObject *op, PyObject *out)
{
    if (PyTuple_Check(out) && PyTuple_GET_SIZE(out) == 1)
        out = PyTuple_GET_ITEM(out, 0);
    if (ext_is_tensor(out) || PyArray_Check(out))
        return out;
    if (PyTuple_Check(out))
        return out;
    return PyErr_Format(PyExc_TypeError,
                        "%U: return arrays must be of ArrayType, not %s", op->name,
                        Py_TYPE(out)->tp_name);
}

PyObject *
op_call_out(OperatorObject *op, PyObject *const *args, Py_ssize_t nargs,
            PyObject *kwnames, PyObject *out)
{
    out = only_out(op, out);
    if (out == NULL)
        return NULL;
    return PyTuple_Check(out) ? call_into_all(op, args, nargs, kwnames, out)
                              : op_call_into(op, args, nargs, kwnames, out);
}
