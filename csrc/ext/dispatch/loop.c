/* loop.c: NumPy's inner loops, called directly. A ufunc spends most of its time on small
 * arrays before and after its loop. Here the loop is called on contiguous arrays of one
 * shape and numbers, as the ufunc would call it. Where it raises a floating-point flag or
 * an exception, the result is given up and the ufunc is called, which says what it says
 * of that: warnings, `errstate`, `seterrcall`. */
#include "ext/dispatch/loop.h"

#include <math.h>

bool op_shortcuts = true;
long long op_shortcut_count;

bool
op_loop_is_of(const op_entry *entry, const char *name)
{
    PyObject *own = PyObject_GetAttrString(entry->kernel, "__name__");
    bool same = own != NULL && PyUnicode_CompareWithASCIIString(own, name) == 0;
    Py_XDECREF(own);
    return same;
}

/* NumPy warns of numbers that are too large. */
static bool
put_half(op_loop_number *out, PyObject *object)
{
    bool known = PyFloat_CheckExact(object) || PyLong_CheckExact(object);
    double value = known ? PyFloat_AsDouble(object) : 0;
    if (!known || PyErr_Occurred() != NULL ||
        PyFloat_Pack2(value, (char *)&out->h, PY_LITTLE_ENDIAN) < 0) {
        PyErr_Clear();
        return false;
    }
    return true;
}

bool
op_loop_number_put(op_loop_number *out, const PyArray_Descr *dtype, PyObject *object)
{
    int type = dtype->type_num;
    if (type == NPY_HALF)
        return put_half(out, object);
    if (PyFloat_CheckExact(object)) {
        double value = PyFloat_AS_DOUBLE(object);
        if (type == NPY_DOUBLE)
            out->d = value;
        else
            out->f = (float)value;
        return type == NPY_DOUBLE ||
               (type == NPY_FLOAT && (isfinite(out->f) || !isfinite(value)));
    }
    if (!PyLong_CheckExact(object))
        return false;
    int overflow;
    long long value = PyLong_AsLongLongAndOverflow(object, &overflow);
    long long most = type == NPY_FLOAT ? 1 << 24 : 1LL << 53;
    bool exact = value <= most && value >= -most;
    if (type == NPY_DOUBLE)
        out->d = (double)value;
    else if (type == NPY_FLOAT)
        out->f = (float)value;
    else
        out->i = value;
    return overflow == 0 && (type == NPY_INT64 || exact) &&
           (type == NPY_INT64 || type == NPY_DOUBLE || type == NPY_FLOAT);
}

/* Where an operand begins and how far its elements lie apart; whether it is one that
 * needs neither a cast nor a copy. */
static bool
put_operand(char **data, npy_intp *stride, op_loop_number *space,
            const op_result *result, PyArray_Descr *dtype, PyObject *object)
{
    *stride = 0;
    if (!PyArray_CheckExact(object)) {
        *data = (char *)space;
        return op_loop_number_put(space, dtype, object);
    }
    PyArrayObject *array = (PyArrayObject *)object;
    int ndim = PyArray_NDIM(array);
    *data = PyArray_BYTES(array);
    if (PyArray_TYPE(array) != dtype->type_num || !PyArray_ISCARRAY_RO(array) ||
        (ndim > 0 && ndim != result->ndim))
        return false;
    for (int d = 0; d < ndim; d++)
        if (PyArray_DIM(array, d) != result->shape[d])
            return false;
    if (ndim > 0)
        *stride = ndim == 1 ? PyArray_STRIDE(array, 0) : PyDataType_ELSIZE(dtype);
    return true;
}

PyObject *
op_loop_result(const op_entry *entry, int ndim, const npy_intp *shape, int type)
{
    bool before = ext_computing;
    ext_computing = before || entry->pooled;
    PyObject *made = PyArray_SimpleNew(ndim, shape, type);
    ext_computing = before;
    if (made == NULL)
        PyErr_Clear();
    return made;
}

int
op_loop_once(const op_loop *loop, char *const *data, const npy_intp *lengths,
             const npy_intp *strides)
{
    if (!loop->no_floatingpoint_errors)
        feclearexcept(LOOP_ERRORS);
    int failed = loop->call(loop->context, data, lengths, strides, loop->auxdata);
    if (PyErr_Occurred() != NULL) {
        PyErr_Clear();
        failed = -1;
    }
    if (!loop->no_floatingpoint_errors && fetestexcept(LOOP_ERRORS) != 0)
        failed = -1;
    return failed;
}

PyObject *
op_loop_again(const op_entry *entry, PyObject *const *argv)
{
    const op_loop *loop = entry->loop;
    if (entry->solo || entry->large) /* loop_shared.c's */
        return NULL;
    PyArray_Descr *const *dtypes = loop->context->descriptors;
    const op_result *result = entry->results;
    char *data[OP_SHORT + 1];
    npy_intp strides[OP_SHORT + 1];
    op_loop_number numbers[OP_SHORT];
    int count = (int)entry->positional;
    for (int k = 0; k < count; k++)
        if (!put_operand(&data[k], &strides[k], &numbers[k], result, dtypes[k],
                         argv[k]))
            return NULL;
    PyArray_Descr *dtype = dtypes[count];
    PyObject *made = op_loop_result(entry, result->ndim,
                                    (const npy_intp *)result->shape, dtype->type_num);
    if (made == NULL)
        return NULL;
    data[count] = PyArray_BYTES((PyArrayObject *)made);
    strides[count] = PyDataType_ELSIZE(dtype);
    npy_intp length = PyArray_SIZE((PyArrayObject *)made);
    if (op_loop_once(loop, data, &length, strides) < 0)
        Py_CLEAR(made);
    return made;
}
