/* A result that is written into a tensor which is there already: `out=`, `x += y`. */
#include "ext/dispatch/dispatch.h"

#include <string.h>

Py_ssize_t
op_find_keyword(PyObject *kwnames, const char *name)
{
    for (Py_ssize_t k = 0; kwnames != NULL && k < PyTuple_GET_SIZE(kwnames); k++)
        if (PyUnicode_CompareWithASCIIString(PyTuple_GET_ITEM(kwnames, k), name) == 0)
            return k;
    return -1;
}

/* NumPy's own error of a ufunc that cannot write into this dtype. */
static void
raise_cast(PyObject *ufunc, const char *rule, PyObject *from, PyObject *to)
{
    static PyObject *error;
    PyObject *place = PyObject_GetAttrString(ufunc, "nin");
    PyObject *args = NULL;
    if (place != NULL && ext_import(&error, "numpy._core._exceptions",
                                    "_UFuncOutputCastingError") != NULL)
        args = Py_BuildValue("(OsOOO)", ufunc, rule, from, to, place);
    if (args != NULL)
        PyErr_SetObject(error, args);
    Py_XDECREF(args);
    Py_XDECREF(place);
}

int
op_check_cast(PyObject *ufunc, PyArray_Descr *from, PyArray_Descr *to,
              PyObject *casting)
{
    NPY_CASTING rule = NPY_SAME_KIND_CASTING;
    if (casting != NULL && !PyArray_CastingConverter(casting, &rule))
        return -1;
    if (PyArray_CanCastTypeTo(from, to, rule))
        return 0;
    const char *name = casting == NULL ? "same_kind" : PyUnicode_AsUTF8(casting);
    if (ufunc != NULL)
        raise_cast(ufunc, name, (PyObject *)from, (PyObject *)to);
    else
        PyErr_Format(PyExc_TypeError,
                     "Cannot cast array data from %R to %R according to the rule '%s'",
                     (PyObject *)from, (PyObject *)to, name);
    return -1;
}

PyObject *
op_casting_of(PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames)
{
    Py_ssize_t place = op_find_keyword(kwnames, "casting");
    return place < 0 ? NULL : args[nargs + place];
}

PyObject *
op_mask_of(PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames)
{
    Py_ssize_t place = op_find_keyword(kwnames, "where");
    PyObject *mask = place < 0 ? Py_True : args[nargs + place];
    return mask == Py_True ? NULL : mask;
}

/* Where NumPy writes into no other dtype than that of the result. */
static int
check_exact(const OperatorObject *op, bool same)
{
    if (same || !op_says(op, "exact_out"))
        return 0;
    return ext_fail(PyExc_ValueError,
                    "%U: output array is not acceptable (must have the right datatype, "
                    "number of dimensions, and be a C-Array)",
                    op->name);
}

static int
check_cast_of(const op_entry *entry, const op_call *call, const DTensorObject *out)
{
    dt_dtype made = entry->results[0].layout->layout->dtype;
    if (check_exact(call->op, made == out->layout->layout->dtype) < 0)
        return -1;
    PyObject *casting = op_casting_of(call->args, call->nargs, call->kwnames);
    PyArray_Descr *from = ext_descr(made);
    PyArray_Descr *to = ext_descr(out->layout->layout->dtype);
    int failed = -1;
    if (from != NULL && to != NULL)
        failed = op_check_cast(entry->ufunc ? entry->kernel : NULL, from, to, casting);
    Py_XDECREF(from);
    Py_XDECREF(to);
    return failed;
}

/* The layout of `out` for values of the result's dtype, which may know no Partial of
 * its kind: whole where `out` has addends. */
static const dt_layout *
whole_target(const dt_layout *to, dt_dtype dtype)
{
    dt_layout *whole = NULL, *cast = NULL;
    dt_error err;
    dt_status status = dt_layout_dual(&whole, to, &err);
    if (status == DT_OK)
        status = dt_layout_with_dtype(&cast, whole, dtype, &err);
    dt_layout_free(whole);
    return ext_layout_made(status, cast, &err);
}

/* Moves an array to a layout; steals it, and gives a new one back. `lineage`: how its
 * elements came to be. */
static PyObject *
moved(PyObject *array, const dt_layout *from, const dt_layout *to, const char *what,
      uint64_t lineage)
{
    PyObject *result =
        array == NULL ? NULL : ext_move_one(array, from, to, what, lineage);
    Py_XDECREF(array);
    return result;
}

static PyObject *
cast_to(PyObject *array, dt_dtype dtype)
{
    PyArray_Descr *descr = array == NULL ? NULL : ext_descr(dtype);
    PyObject *result =
        descr == NULL ? NULL : PyArray_CastToType((PyArrayObject *)array, descr, 0);
    Py_XDECREF(array);
    return result;
}

/* Writes `array`, laid out as `from`, into `out`: moved, then cast, then made addends.
 * Steals the array. */
static int
write_array(DTensorObject *out, PyObject *array, const dt_layout *from,
            const char *what, uint64_t lineage)
{
    const dt_layout *to = out->layout->layout;
    if (from->dtype != to->dtype) {
        const dt_layout *whole = whole_target(to, from->dtype);
        const dt_layout *cast = whole == NULL ? NULL : whole_target(to, to->dtype);
        array = cast == NULL ? (Py_XDECREF(array), NULL)
                             : moved(array, from, whole, what, lineage);
        array = moved(cast_to(array, to->dtype), cast, to, what, lineage);
        dt_layout_release(ext_context, whole);
        dt_layout_release(ext_context, cast);
    } else
        array = moved(array, from, to, what, lineage);
    PyArrayObject *mine = array == NULL ? NULL : ext_local((PyObject *)out);
    int failed = mine == NULL || ext_refuse_without_data((PyArrayObject *)array) < 0
                     ? -1
                     : PyArray_CopyInto(mine, (PyArrayObject *)array);
    Py_XDECREF(array);
    return failed;
}

/* A result of a shape that NumPy broadcasts into `out`, or refuses to. */
static int
broadcast_result(DTensorObject *out, DTensorObject *result, bool may)
{
    const dt_layout *from = result->layout->layout, *to = out->layout->layout;
    bool fits = may && from->ndim <= to->ndim && from->mesh == to->mesh;
    for (int d = 1; fits && d <= from->ndim; d++) {
        int64_t length = from->shape[from->ndim - d];
        fits = length == 1 || length == to->shape[to->ndim - d];
    }
    if (fits)
        return PyObject_SetItem((PyObject *)out, Py_Ellipsis, (PyObject *)result);
    if (from->mesh != to->mesh)
        PyErr_Format(PyExc_ValueError, "out= is on %R, the operands on %R",
                     (PyObject *)out->layout->mesh, (PyObject *)result->layout->mesh);
    else
        PyErr_Format(PyExc_ValueError,
                     "non-broadcastable output operand with shape %R doesn't match the "
                     "broadcast shape %R",
                     out->layout->shape, result->layout->shape);
    return -1;
}

static bool
same_box(LayoutObject *a, LayoutObject *b)
{
    return a->layout->mesh == b->layout->mesh &&
           PyObject_RichCompareBool(a->shape, b->shape, Py_EQ) == 1;
}

int
op_write_result(const OperatorObject *op, DTensorObject *out, DTensorObject *result,
                bool ufunc)
{
    if (!same_box(result->layout, out->layout))
        return broadcast_result(out, result, ufunc || op_says(op, "broadcasts_out"));
    PyArrayObject *array = ext_local((PyObject *)result);
    return array == NULL
               ? -1
               : write_array(out, Py_NewRef((PyObject *)array), result->layout->layout,
                             op->text, ext_lineage(result));
}

/* Of what a call is made that leaves some elements of `out` as they are. */
static uint64_t
lineage_into(const op_call *call, DTensorObject *out)
{
    uint64_t before = ext_lineage(out), lineage = dt_mix(call->lineage, before);
    if (call->lineage == 0)
        return 0;
    ext_journal_note(lineage, PyUnicode_FromFormat("%U into out=", call->op->name),
                     NULL, call->lineage, false, before);
    return lineage;
}

/* The kernel writes into an array that is laid out as it computes, and has the old
 * elements where `where=` may keep them. */
static int
write_by_kernel(op_entry *entry, const op_call *call, DTensorObject *out)
{
    const dt_layout *from = entry->results[0].layout->layout;
    const dt_layout *to = out->layout->layout;
    PyArrayObject *mine = ext_local((PyObject *)out);
    dt_layout *made = NULL;
    dt_error err;
    if (mine == NULL)
        return -1;
    dt_status status = dt_layout_with_dtype(&made, from, to->dtype, &err);
    const dt_layout *there = ext_layout_made(status, made, &err);
    if (there == NULL)
        return -1;
    PyObject *target =
        moved(Py_NewRef((PyObject *)mine), to, there, call->op->text, ext_lineage(out));
    PyObject *result = target == NULL ? NULL : op_dispatch(entry, call, target);
    int failed = result == NULL ? -1 : 0;
    Py_XDECREF(result);
    if (failed == 0)
        failed = write_array(out, Py_NewRef(target), there, call->op->text,
                             lineage_into(call, out));
    Py_XDECREF(target);
    dt_layout_release(ext_context, there);
    return failed;
}

static int
run_into(op_entry *entry, const op_call *call, DTensorObject *out)
{
    LayoutObject *layout = entry->results[0].layout;
    PyArrayObject *mine = ext_local((PyObject *)out);
    if (mine == NULL)
        return -1;
    if (entry->ufunc && !entry->outside && layout->layout == out->layout->layout) {
        PyObject *result = op_dispatch(entry, call, (PyObject *)mine);
        Py_XDECREF(result);
        return result == NULL ? -1 : 0;
    }
    if (!op_says(call->op, "casts_out") && check_cast_of(entry, call, out) < 0)
        return -1;
    /* Only the kernel knows what a mask leaves out. Without one it does not cast: addends
     * are added in their own dtype first. */
    bool masked = op_mask_of(call->args, call->nargs, call->kwnames) != NULL;
    if (entry->ufunc && masked && !entry->outside && same_box(layout, out->layout))
        return write_by_kernel(entry, call, out);
    PyObject *made = op_dispatch(entry, call, NULL);
    int failed = made == NULL ? -1
                              : op_write_result(call->op, out, (DTensorObject *)made,
                                                entry->ufunc);
    Py_XDECREF(made);
    return failed;
}

static PyObject *call_into(OperatorObject *op, PyObject *const *args, Py_ssize_t nargs,
                           PyObject *kwnames, DTensorObject *out, bool in_place);

static bool
has_shape(PyObject *mask, PyObject *shape)
{
    PyObject *own = PyObject_GetAttrString(mask, "shape");
    bool same = own != NULL && PyObject_RichCompareBool(own, shape, Py_EQ) == 1;
    Py_XDECREF(own);
    PyErr_Clear(); /* a list has none */
    return same;
}

/* Whether only a kernel that writes into `out` knows which elements to leave there, but
 * `out` is larger than its result: then `where` is to have the shape of `out`. */
static bool
wants_wider_mask(const op_entry *entry, const op_call *call, DTensorObject *out)
{
    return entry->ufunc && entry->composite == NULL && !entry->solo &&
           entry->result_count == 1 && op_find_keyword(call->kwnames, "where") >= 0 &&
           !same_box(entry->results[0].layout, out->layout) &&
           !has_shape(call->args[call->nargs + op_find_keyword(call->kwnames, "where")],
                      out->layout->shape);
}

/* The call with `where` as wide as `out`. */
static int
call_with_wider_mask(const op_call *call, DTensorObject *out, bool in_place)
{
    static PyObject *broadcast_to;
    Py_ssize_t place = call->nargs + op_find_keyword(call->kwnames, "where");
    Py_ssize_t count = call->nargs + PyTuple_GET_SIZE(call->kwnames);
    PyObject *result = NULL, *wide = NULL,
             **args = PyMem_New(PyObject *, (size_t)count);
    if (args == NULL)
        PyErr_NoMemory();
    else if (ext_import(&broadcast_to, "numpy", "broadcast_to") != NULL)
        wide = PyObject_CallFunctionObjArgs(broadcast_to, call->args[place],
                                            out->layout->shape, NULL);
    if (wide != NULL) {
        memcpy(args, call->args, (size_t)count * sizeof *args);
        args[place] = wide;
        result = call_into(call->op, args, call->nargs, call->kwnames, out, in_place);
    }
    PyMem_Free(args);
    Py_XDECREF(wide);
    Py_XDECREF(result);
    return result == NULL ? -1 : 0;
}

/* Calls a composite, and copies its result as NumPy casts results. */
static int
composite_into(op_entry *entry, const op_call *call, DTensorObject *out)
{
    static PyObject *copyto;
    if (ext_import(&copyto, "numpy", "copyto") == NULL)
        return -1;
    PyObject *made = op_dispatch(entry, call, NULL), *copied = NULL;
    if (made != NULL &&
        check_exact(call->op, !ext_is_dtensor(made) ||
                                  ((DTensorObject *)made)->layout->layout->dtype ==
                                      out->layout->layout->dtype) == 0)
        copied = PyObject_CallFunctionObjArgs(copyto, out, made, NULL);
    Py_XDECREF(made);
    Py_XDECREF(copied);
    return copied == NULL ? -1 : 0;
}

static PyObject *
call_into(OperatorObject *op, PyObject *const *args, Py_ssize_t nargs,
          PyObject *kwnames, DTensorObject *out, bool in_place)
{
    op_call call;
    op_entry *entry = NULL;
    int failed = -1;
    if (op_call_read(&call, op, args, nargs, kwnames, out->layout, false) == 0)
        entry = op_entry_of(&call);
    if (entry != NULL && entry->traced)
        op_call_trace(&call, entry);
    if (entry == NULL)
        ; /* the exception is set */
    else if (wants_wider_mask(entry, &call, out))
        failed = call_with_wider_mask(&call, out, in_place);
    else if (entry->composite != NULL)
        failed = composite_into(entry, &call, out);
    else if (entry->solo)
        PyErr_Format(PyExc_RuntimeError, "%U: out= is a DTensor, but no operand is one",
                     op->name);
    else if (entry->result_count != 1)
        PyErr_Format(PyExc_TypeError, "%U has %d results, but one out=", op->name,
                     entry->result_count);
    else if ((!entry->checks || op_check_arrays(&call) == 0) &&
             tape_check_write(&call, &out->tensor, in_place) == 0) {
        bool off = tape_off;
        tape_off = true; /* it is recorded as a write */
        failed = run_into(entry, &call, out);
        tape_off = off;
        if (failed == 0)
            failed = tape_record_write(&call, &out->tensor);
    }
    op_entry_release(entry);
    op_call_clear(&call);
    return failed < 0 ? NULL : Py_NewRef((PyObject *)out);
}

/* Whether arrays that lie in one piece each have nothing of each other's memory. */
static bool
lie_apart(PyArrayObject *a, PyArrayObject *b)
{
    return PyArray_ISONESEGMENT(a) && PyArray_ISONESEGMENT(b) &&
           (PyArray_BYTES(a) + PyArray_NBYTES(a) <= PyArray_BYTES(b) ||
            PyArray_BYTES(b) + PyArray_NBYTES(b) <= PyArray_BYTES(a));
}

/* The result may be a view of the target. */
static int
copy_result(PyArrayObject *target, PyArrayObject *array)
{
    if (PyArray_DESCR(target) != PyArray_DESCR(array) ||
        !PyArray_SAMESHAPE(target, array) || !PyArray_ISBEHAVED(target) ||
        PyDataType_REFCHK(PyArray_DESCR(array)) || !lie_apart(target, array))
        return PyArray_CopyInto(target, array);
    ext_copy_into((PyObject *)target, array);
    return 0;
}

/* Without layouts, into an array of this rank. */
static PyObject *
call_into_array(OperatorObject *op, PyObject *const *args, Py_ssize_t nargs,
                PyObject *kwnames, PyObject *out, bool in_place)
{
    PyObject *made = PyObject_Vectorcall((PyObject *)op, args, (size_t)nargs, kwnames);
    if (made == NULL)
        return NULL;
    int failed = -1;
    if (ext_catch_up() < 0)
        ; /* before `out` is said to be written to */
    else if (ext_is_dtensor(made) || !ext_is_tensor(made))
        PyErr_Format(PyExc_TypeError,
                     "%U: the result is distributed, out= is an array of this rank; "
                     "give a DTensor",
                     op->name);
    else if (in_place || op_resize_out(out, ((TensorObject *)made)->array) == 0) {
        PyArrayObject *target =
            (PyArrayObject *)(ext_is_tensor(out) ? ((TensorObject *)out)->array : out);
        PyArrayObject *array = (PyArrayObject *)((TensorObject *)made)->array;
        failed = check_exact(op, PyArray_TYPE(array) == PyArray_TYPE(target));
        if (failed == 0)
            failed =
                op_check_cast(NULL, PyArray_DESCR(array), PyArray_DESCR(target), NULL);
        if (failed == 0)
            failed = ext_refuse_without_data(array);
        if (failed == 0 && ext_is_tensor(out))
            failed = tape_take_over((TensorObject *)out, (TensorObject *)made, in_place,
                                    op->name);
        if (failed == 0)
            failed = copy_result(target, array);
    }
    Py_DECREF(made);
    return failed < 0 ? NULL : Py_NewRef(out);
}

/* Only the shapes are checked: there is nothing to write into. */
static PyObject *
call_without_data(OperatorObject *op, PyObject *const *args, Py_ssize_t nargs,
                  PyObject *kwnames, PyObject *out)
{
    PyObject *made = PyObject_Vectorcall((PyObject *)op, args, (size_t)nargs, kwnames);
    int failed = made == NULL
                     ? -1
                     : tape_take_over((TensorObject *)out, (TensorObject *)made,
                                      nargs > 0 && args[0] == out, op->name);
    Py_XDECREF(made);
    return failed < 0 ? NULL : Py_NewRef(out);
}

/* Into the one tensor `out`; `in_place`: it is the first argument too, of which `args`
 * may have a copy. */
static PyObject *
call_into_one(OperatorObject *op, PyObject *const *args, Py_ssize_t nargs,
              PyObject *kwnames, PyObject *out, bool in_place)
{
    if (!ext_is_dtensor(out))
        return call_into_array(op, args, nargs, kwnames, out, in_place);
    int due = op_begin_write(out, op->text);
    PyObject *result = NULL;
    if (due >= 0)
        result = call_into(op, args, nargs, kwnames, (DTensorObject *)out, in_place);
    if (due > 0 && op_end_write(out, result != NULL) < 0)
        Py_CLEAR(result);
    return result;
}

/* The same, where backward will need what is overwritten, or its history without hooks:
 * it gets a copy. */
static PyObject *
call_into_copied(OperatorObject *op, PyObject *const *args, Py_ssize_t nargs,
                 PyObject *kwnames, PyObject *out)
{
    Py_ssize_t count = nargs + (kwnames == NULL ? 0 : PyTuple_GET_SIZE(kwnames));
    PyObject *old = tape_old_value((TensorObject *)out);
    PyObject **copied = PyMem_New(PyObject *, (size_t)count);
    PyObject *result = NULL;
    if (copied == NULL)
        PyErr_NoMemory();
    else if (old != NULL) {
        memcpy(copied, args, (size_t)count * sizeof *copied);
        copied[0] = old;
        result = call_into_one(op, copied, nargs, kwnames, out, true);
    }
    PyMem_Free(copied);
    Py_XDECREF(old);
    return result;
}

PyObject *
op_call_into(OperatorObject *op, PyObject *const *args, Py_ssize_t nargs,
             PyObject *kwnames, PyObject *out)
{
    if (ext_is_tensor(out) && !ext_has_data(op_array(out)))
        return call_without_data(op, args, nargs, kwnames, out);
    bool in_place = nargs > 0 && args[0] == out;
    if (in_place && tape_needs_old_value(op, args, nargs))
        return call_into_copied(op, args, nargs, kwnames, out);
    return call_into_one(op, args, nargs, kwnames, out, in_place);
}
