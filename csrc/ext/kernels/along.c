/* along.c: elements along a dim, picked, put and added by an index, of arrays of any
 * dtype. A wrong index is an IndexError. */
#include "ext/kernels/kernels.h"

#include "kernels/along.h"

#include <string.h>

/* An array in C order, itself where it is one: a new reference. */
static PyArrayObject *
in_order(PyObject *object, int type)
{
    PyArray_Descr *descr = type == NPY_NOTYPE ? NULL : PyArray_DescrFromType(type);
    return (PyArrayObject *)PyArray_FromAny(
        object, descr, 0, 0, NPY_ARRAY_CARRAY_RO | NPY_ARRAY_NOTSWAPPED, NULL);
}

static PyArrayObject *
new_array(int ndim, const npy_intp *shape, PyArrayObject *like)
{
    dt_dtype dtype;
    int64_t lengths[DT_MAX_NDIM];
    if (ext_dtype(&dtype, PyArray_DESCR(like), "an index") < 0)
        return NULL;
    for (int d = 0; d < ndim; d++)
        lengths[d] = shape[d];
    return (PyArrayObject *)ext_array(ndim, lengths, dtype);
}

static PyArrayObject *
copy_of(PyArrayObject *x)
{
    PyArrayObject *copy = new_array(PyArray_NDIM(x), PyArray_DIMS(x), x);
    if (copy != NULL && PyArray_CopyInto(copy, x) < 0)
        Py_CLEAR(copy);
    return copy;
}

/* The array that is written to: a copy of one, or zeros of a shape and of the dtype of
 * what is put there. */
static PyArrayObject *
target_of(PyObject *object, PyArrayObject *values)
{
    int64_t shape[DT_MAX_NDIM];
    npy_intp lengths[DT_MAX_NDIM];
    if (!PyTuple_Check(object)) {
        PyArrayObject *x = in_order(object, NPY_NOTYPE);
        PyArrayObject *copy = x == NULL ? NULL : copy_of(x);
        Py_XDECREF(x);
        return copy;
    }
    int ndim = ext_shape(shape, object, "an index");
    for (int d = 0; d < ndim; d++)
        lengths[d] = (npy_intp)shape[d];
    PyArrayObject *zeros = ndim < 0 ? NULL : new_array(ndim, lengths, values);
    if (zeros != NULL)
        memset(PyArray_DATA(zeros), 0, (size_t)PyArray_NBYTES(zeros));
    return zeros;
}

/* Whether no index counts from the end, which PyTorch does not take. */
static bool
are_from_0(PyArrayObject *index)
{
    const int64_t *at = PyArray_DATA(index);
    int64_t least = 0;
    for (npy_intp k = 0; k < PyArray_SIZE(index); k++)
        least = at[k] < least ? at[k] : least;
    return least == 0;
}

/* NumPy's error for the first index that is wrong; `from_0`: or negative. */
static PyObject *
raise_index(PyArrayObject *index, PyArrayObject *x, int dim, bool from_0)
{
    const int64_t *at = PyArray_DATA(index), length = PyArray_DIM(x, dim);
    const int64_t least = from_0 ? 0 : -length;
    npy_intp k = 0;
    while (k + 1 < PyArray_SIZE(index) && at[k] >= least && at[k] < length)
        k++;
    return PyErr_Format(PyExc_IndexError,
                        "index %lld is out of bounds for axis %d with size %lld",
                        (long long)at[k], dim, (long long)length);
}

/* Where indices are along a dim of an array; -1 with an exception. */
static int
read_along(dt_along *out, PyArrayObject *x, PyArrayObject *index, int dim)
{
    int ndim = PyArray_NDIM(x);
    bool fits = dim >= 0 && dim < ndim && PyArray_NDIM(index) == ndim;
    *out = (dt_along){.ndim = ndim, .dim = dim};
    int64_t stride = 1;
    for (int d = ndim - 1; d >= 0 && fits; d--) {
        out->shape[d] = PyArray_DIM(index, d);
        out->stride[d] = stride;
        stride *= PyArray_DIM(x, d);
        fits = d == dim || out->shape[d] <= PyArray_DIM(x, d);
    }
    if (!fits)
        return ext_fail(PyExc_ValueError,
                        "the shape of the index does not match the array");
    out->length = PyArray_DIM(x, dim);
    return 0;
}

static PyObject *
picked_along(PyObject *Py_UNUSED(module), PyObject *args)
{
    PyObject *given[2];
    int dim, from_0 = false;
    if (!PyArg_ParseTuple(args, "OOi|p:picked_along", &given[0], &given[1], &dim,
                          &from_0))
        return NULL;
    PyArrayObject *x = in_order(given[0], NPY_NOTYPE);
    PyArrayObject *index = in_order(given[1], NPY_INT64), *out = NULL;
    dt_along along;
    if (x != NULL && index != NULL && read_along(&along, x, index, dim) == 0)
        out = new_array(PyArray_NDIM(index), PyArray_DIMS(index), x);
    if (out != NULL && PyArray_SIZE(index) > 0) {
        PyThreadState *state = ext_kernel_begin(PyArray_SIZE(index));
        bool good = (!from_0 || are_from_0(index)) &&
                    dt_along_take(&along, PyArray_DATA(out), PyArray_DATA(x),
                                  PyArray_DATA(index), (size_t)PyArray_ITEMSIZE(x));
        ext_kernel_end(state);
        if (!good) {
            raise_index(index, x, dim, from_0);
            Py_CLEAR(out);
        }
    }
    Py_XDECREF(x);
    Py_XDECREF(index);
    return (PyObject *)out;
}

static PyObject *
rows_picked(PyObject *Py_UNUSED(module), PyObject *args)
{
    PyObject *x, *object, *out = NULL;
    int dim;
    if (!PyArg_ParseTuple(args, "O!Oi:rows_picked", &PyArray_Type, &x, &object, &dim))
        return NULL;
    PyArrayObject *index = in_order(object, NPY_INT64);
    if (index != NULL && are_from_0(index))
        out = PyArray_TakeFrom((PyArrayObject *)x, (PyObject *)index, dim, NULL,
                               NPY_RAISE);
    else if (index != NULL)
        raise_index(index, (PyArrayObject *)x, dim, true);
    Py_XDECREF(index);
    return out;
}

/* What is written to, in `x`, and what is put there: a number is an array of one. */
typedef struct {
    PyArrayObject *x, *index, *values;
    int from_0;
} writing;

static bool
begin(writing *w, PyObject *const given[3])
{
    bool zeros = PyTuple_Check(given[0]);
    w->index = in_order(given[1], NPY_INT64);
    if (zeros)
        w->values = in_order(given[2], NPY_NOTYPE);
    if (!zeros || w->values != NULL)
        w->x = target_of(given[0], w->values);
    if (!zeros && w->x != NULL)
        w->values = in_order(given[2], PyArray_TYPE(w->x));
    return w->x != NULL && w->index != NULL && w->values != NULL;
}

/* Gives the result, if it is `good`; else an index of the dim is wrong. */
static PyObject *
end(writing *w, bool good, int dim)
{
    if (!good && !PyErr_Occurred())
        raise_index(w->index, w->x, dim, w->from_0);
    Py_XDECREF(w->index);
    Py_XDECREF(w->values);
    if (good)
        return (PyObject *)w->x;
    Py_XDECREF(w->x);
    return NULL;
}

/* How values come to where they go. */
enum { PUTS, ADDS, REDUCES }; /* from REDUCES on: a dt_along_op */

static PyObject *
put_along(PyObject *Py_UNUSED(module), PyObject *args)
{
    PyObject *given[3];
    int dim, how;
    writing w = {0};
    dt_along along;
    dt_dtype dtype;
    if (!PyArg_ParseTuple(args, "OOOii|p:put_along", &given[0], &given[1], &given[2],
                          &dim, &how, &w.from_0))
        return NULL;
    bool good = begin(&w, given) && read_along(&along, w.x, w.index, dim) == 0 &&
                ext_dtype(&dtype, PyArray_DESCR(w.x), "an index") == 0;
    int step = good && PyArray_NDIM(w.values) > 0;
    if (good && (step > 0 || how != PUTS) && !PyArray_SAMESHAPE(w.values, w.index))
        good = ext_fail(PyExc_ValueError,
                        "values and their index must have the same shape") == 0;
    if (good && how == ADDS && !dt_along_adds(dtype))
        good = ext_fail(PyExc_TypeError, "no sums of %s", dt_dtype_name(dtype)) == 0;
    if (PyErr_Occurred() || PyArray_SIZE(w.index) == 0)
        return end(&w, good && !PyErr_Occurred(), dim);
    PyThreadState *state = ext_kernel_begin(PyArray_SIZE(w.index));
    void *x = PyArray_DATA(w.x), *values = PyArray_DATA(w.values);
    const int64_t *at = PyArray_DATA(w.index);
    if (w.from_0 && !are_from_0(w.index))
        good = false;
    else if (how == PUTS)
        good = dt_along_put(&along, x, at, values, step, dt_dtype_size(dtype));
    else if (how == ADDS)
        good = dt_along_add(&along, x, at, values, dtype);
    else
        good =
            dt_along_reduce(&along, x, at, values, (dt_along_op)(how - REDUCES), dtype);
    ext_kernel_end(state);
    return end(&w, good, dim);
}

/* The product of lengths from `first` to before `end`. */
static int64_t
product(PyArrayObject *x, int first, int end)
{
    int64_t count = 1;
    for (int d = first; d < end; d++)
        count *= PyArray_DIM(x, d);
    return count;
}

/* Whether slices along a dim are as many as indices, and of the others' lengths. */
static bool
are_rows(const writing *w, int dim)
{
    int ndim = PyArray_NDIM(w->x);
    bool fits = dim >= 0 && dim < ndim && PyArray_NDIM(w->values) == ndim &&
                PyArray_NDIM(w->index) == 1;
    for (int d = 0; d < ndim && fits; d++)
        fits = PyArray_DIM(w->values, d) ==
               (d == dim ? PyArray_SIZE(w->index) : PyArray_DIM(w->x, d));
    return fits || ext_fail(PyExc_ValueError, "the rows do not match the array") == 0;
}

static PyObject *
rows_added(PyObject *Py_UNUSED(module), PyObject *args)
{
    PyObject *given[3];
    int dim;
    writing w = {0};
    dt_dtype dtype;
    if (!PyArg_ParseTuple(args, "OOOi|p:rows_added", &given[0], &given[1], &given[2],
                          &dim, &w.from_0))
        return NULL;
    if (!begin(&w, given) || !are_rows(&w, dim) ||
        ext_dtype(&dtype, PyArray_DESCR(w.x), "an index") < 0)
        return end(&w, false, dim);
    PyThreadState *state = ext_kernel_begin(PyArray_SIZE(w.values));
    bool good =
        (!w.from_0 || are_from_0(w.index)) &&
        dt_rows_add(PyArray_DATA(w.x), PyArray_DATA(w.index), PyArray_DATA(w.values),
                    product(w.x, 0, dim), PyArray_DIM(w.x, dim), PyArray_SIZE(w.index),
                    product(w.x, dim + 1, PyArray_NDIM(w.x)), dtype);
    ext_kernel_end(state);
    return end(&w, good, dim);
}

PyMethodDef ext_along_methods[] = {
    {"picked_along", picked_along, METH_VARARGS,
     "picked_along(x, index, dim, from_0=False, /)\n--\n\n"
     "Return the elements of an array at indices along a dim; along the others "
     "`index`\n"
     "may be shorter. Negative indices count from the end, or are wrong: `from_0`."},
    {"rows_picked", rows_picked, METH_VARARGS,
     "rows_picked(x, index, dim, /)\n--\n\n"
     "Return the slices of an array along a dim that an index names, from 0 on."},
    {"put_along", put_along, METH_VARARGS,
     "put_along(x, index, values, dim, how, from_0=False, /)\n--\n\n"
     "Return a copy of an array, or zeros of a shape, in which values, or one, are at\n"
     "indices along a dim. `how`: 0; 1, they are added there, in their order; 2 and 3, "
     "the\n"
     "larger or smaller one stays; 4, they are multiplied."},
    {"rows_added", rows_added, METH_VARARGS,
     "rows_added(x, index, values, dim, from_0=False, /)\n--\n\n"
     "Return a copy of an array, or zeros of a shape, to whose slices along a dim "
     "that\n"
     "an index of one dim names those of another array are added."},
    {0},
};
