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

/* Whether the results that an entry has can be cast into `outs`. */
static int
check_casts(const op_entry *entry, PyObject *casting, PyObject *outs)
{
    if (entry->composite != NULL || entry->solo ||
        entry->result_count != PyTuple_GET_SIZE(outs))
        return 0; /* what is wrong with it is said when it is called */
    for (Py_ssize_t k = 0; k < entry->result_count; k++) {
        PyObject *out = PyTuple_GET_ITEM(outs, k);
        PyArray_Descr *made = ext_descr(entry->results[k].layout->layout->dtype);
        int failed = made == NULL ? -1 : 0;
        if (failed == 0 && ext_is_dtensor(out))
            failed = op_check_cast(NULL, made, PyArray_DESCR(op_array(out)), casting);
        Py_XDECREF(made);
        if (failed < 0)
            return -1;
    }
    return 0;
}

/* NumPy looks at casts before shapes: a call with a mask that does not fit is refused for
 * the cast into an `out`, if that is wrong as well. Nothing is computed for it. */
static int
check_casts_first(OperatorObject *op, PyObject *const *args, Py_ssize_t nargs,
                  PyObject *kwnames, PyObject *casting, PyObject *outs)
{
    Py_ssize_t count = nargs + PyTuple_GET_SIZE(kwnames);
    PyObject **given = PyMem_New(PyObject *, (size_t)count);
    if (given == NULL)
        return ext_no_memory();
    memcpy(given, args, (size_t)count * sizeof *given);
    given[nargs + op_find_keyword(kwnames, "where")] = Py_True;
    op_call call;
    op_entry *entry = NULL;
    if (op_call_read(&call, op, given, nargs, kwnames, NULL, false) == 0)
        entry = op_entry_of(&call);
    if (entry == NULL)
        PyErr_Clear(); /* the call itself raises it */
    int failed = entry == NULL ? 0 : check_casts(entry, casting, outs);
    op_entry_release(entry);
    op_call_clear(&call);
    PyMem_Free(given);
    return failed;
}

/* Writes the results into `outs`, and returns them. */
static PyObject *
write_all(OperatorObject *op, PyObject *made, PyObject *outs, PyObject *casting,
          PyObject *mask)
{
    Py_ssize_t count = PyTuple_GET_SIZE(outs);
    int failed = 0;
    PyObject *result = PyTuple_New(count);
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
    return result;
}

/* Allows to write into all of `outs`: `due` tells which are to be written back. */
static int
begin_all(const OperatorObject *op, PyObject *outs, bool *due)
{
    int failed = 0;
    for (Py_ssize_t k = 0; failed >= 0 && k < PyTuple_GET_SIZE(outs); k++) {
        PyObject *out = PyTuple_GET_ITEM(outs, k);
        if (out == Py_None || !ext_has_data(op_array(out)))
            continue;
        failed = op_begin_write(out, op->text);
        due[k] = failed > 0;
    }
    return failed < 0 ? -1 : 0;
}

/* In their order: where they came from one tensor, the last one counts. */
static int
end_all(PyObject *outs, const bool *due, bool written)
{
    int failed = 0;
    for (Py_ssize_t k = 0; k < PyTuple_GET_SIZE(outs); k++)
        if (due[k] &&
            op_end_write(PyTuple_GET_ITEM(outs, k), written && failed == 0) < 0)
            failed = -1;
    return failed;
}

static PyObject *
call_into_all(OperatorObject *op, PyObject *const *args, Py_ssize_t nargs,
              PyObject *kwnames, PyObject *outs)
{
    PyObject *casting = op_casting_of(args, nargs, kwnames);
    PyObject *mask = op_mask_of(args, nargs, kwnames);
    if (mask != NULL && check_casts_first(op, args, nargs, kwnames, casting, outs) < 0)
        return NULL;
    PyObject *made = PyObject_Vectorcall((PyObject *)op, args, (size_t)nargs, kwnames);
    if (made == NULL)
        return NULL;
    bool *due = PyMem_New(bool, (size_t)PyTuple_GET_SIZE(outs) + 1);
    PyObject *result = NULL;
    if (due == NULL)
        PyErr_NoMemory();
    else if (check_all(op, casting, made, outs) == 0) {
        memset(due, 0, (size_t)PyTuple_GET_SIZE(outs) * sizeof *due);
        if (begin_all(op, outs, due) == 0)
            result = write_all(op, made, outs, casting, mask);
        if (end_all(outs, due, result != NULL) < 0)
            Py_CLEAR(result);
    }
    PyMem_Free(due);
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

/* What gives the first operand in the dtype to compute in, for this `out`; or NULL.
 * Borrowed. */
static PyObject *
widening(const OperatorObject *op, PyObject *kwnames, PyObject *out)
{
    PyObject *found =
        op->dict == NULL ? NULL : PyDict_GetItemString(op->dict, "widens_out");
    bool array = found == NULL && op->dict != NULL && !ext_is_dtensor(out) &&
                 op_find_keyword(kwnames, "dtype") < 0;
    return array ? PyDict_GetItemString(op->dict, "widens_array") : found;
}

/* The call with its first operand in a wider dtype, for what it is written into. */
static PyObject *
call_widened(OperatorObject *op, PyObject *const *args, Py_ssize_t nargs,
             PyObject *kwnames, PyObject *out, PyObject *widens)
{
    Py_ssize_t count = nargs + (kwnames == NULL ? 0 : PyTuple_GET_SIZE(kwnames));
    Py_ssize_t place = nargs > 0 ? 0 : op_find_keyword(kwnames, "a");
    if (place < 0)
        return op_call_into(op, args, nargs, kwnames, out); /* which lacks it */
    PyObject **given = PyMem_New(PyObject *, (size_t)count);
    PyObject *wide = NULL, *result = NULL;
    if (given == NULL)
        PyErr_NoMemory();
    else
        wide = PyObject_CallFunctionObjArgs(widens, args[place], out, NULL);
    if (wide != NULL) {
        memcpy(given, args, (size_t)count * sizeof *given);
        given[place] = wide;
        result = op_call_into(op, given, nargs, kwnames, out);
    }
    PyMem_Free(given);
    Py_XDECREF(wide);
    return result;
}

PyObject *
op_call_out(OperatorObject *op, PyObject *const *args, Py_ssize_t nargs,
            PyObject *kwnames, PyObject *out)
{
    out = only_out(op, out);
    if (out == NULL)
        return NULL;
    if (PyTuple_Check(out))
        return call_into_all(op, args, nargs, kwnames, out);
    PyObject *widens = widening(op, kwnames, out);
    return widens == NULL ? op_call_into(op, args, nargs, kwnames, out)
                          : call_widened(op, args, nargs, kwnames, out, widens);
}
