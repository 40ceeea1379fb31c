/* join.c: arrays joined along a dim, in C order whatever theirs is, and copies in the order
 * in memory of PyTorch's. */
#include "ext/kernels/kernels.h"

#include "core/memory/copy.h"

/* --- joined --- */

/* Whether arrays are of one dtype and one shape, which `dim` is the only one to differ in;
 * -1 where it is a new one. */
static bool
are_alike(PyObject *const *items, Py_ssize_t count, int dim)
{
    PyArrayObject *first = (PyArrayObject *)items[0];
    for (Py_ssize_t k = 0; k < count; k++) {
        PyArrayObject *array = (PyArrayObject *)items[k];
        if (!PyArray_CheckExact(items[k]) ||
            PyArray_NDIM(array) != PyArray_NDIM(first) ||
            !PyArray_EquivTypes(PyArray_DESCR(array), PyArray_DESCR(first)))
            return false;
        for (int d = 0; d < PyArray_NDIM(first); d++)
            if (d != dim && PyArray_DIM(array, d) != PyArray_DIM(first, d))
                return false;
    }
    return true;
}

/* Copies an array to where it is in `out` along a dim. `stacked`: `out` has that dim more. */
static void
put(PyArrayObject *out, int dim, int64_t at, PyArrayObject *array, bool stacked)
{
    int64_t shape[DT_MAX_NDIM], to[DT_MAX_NDIM], from[DT_MAX_NDIM];
    int ndim = PyArray_NDIM(array);
    for (int d = 0; d < ndim; d++) {
        shape[d] = PyArray_DIM(array, d);
        from[d] = PyArray_STRIDE(array, d);
        to[d] = PyArray_STRIDE(out, d + (stacked && d >= dim));
    }
    dt_copy_box(PyArray_BYTES(out) + at * PyArray_STRIDE(out, dim), to,
                PyArray_DATA(array), from, ndim, shape,
                (size_t)PyArray_ITEMSIZE(array));
}

static PyObject *
join(PyObject *const *items, Py_ssize_t count, int dim, bool stacked)
{
    PyArrayObject *first = (PyArrayObject *)items[0];
    int ndim = PyArray_NDIM(first) + stacked;
    int64_t shape[DT_MAX_NDIM + 1];
    dt_dtype dtype;
    if (ext_dtype(&dtype, PyArray_DESCR(first), "join") < 0)
        return NULL;
    for (int d = 0; d < ndim; d++)
        if (d != dim)
            shape[d] = PyArray_DIM(first, d - (stacked && d > dim));
    shape[dim] = stacked ? count : 0;
    for (Py_ssize_t k = 0; !stacked && k < count; k++)
        shape[dim] += PyArray_DIM((PyArrayObject *)items[k], dim);
    PyArrayObject *out = (PyArrayObject *)ext_array(ndim, shape, dtype);
    if (out == NULL)
        return NULL;
    PyThreadState *state = ext_kernel_begin(PyArray_SIZE(out));
    int64_t at = 0;
    for (Py_ssize_t k = 0; k < count; k++) {
        PyArrayObject *array = (PyArrayObject *)items[k];
        put(out, dim, at, array, stacked);
        at += stacked ? 1 : PyArray_DIM(array, dim);
    }
    ext_kernel_end(state);
    return (PyObject *)out;
}

/* NumPy's function says what is wrong. */
static PyObject *
by_numpy(PyObject *arrays, int dim, bool stacked)
{
    static PyObject *stack, *concatenate;
    PyObject *function = stacked ? ext_import(&stack, "numpy", "stack")
                                 : ext_import(&concatenate, "numpy", "concatenate");
    return function == NULL ? NULL : PyObject_CallFunction(function, "Oi", arrays, dim);
}

static PyObject *
joined(PyObject *Py_UNUSED(module), PyObject *args)
{
    PyObject *arrays;
    int dim, stacked;
    if (!PyArg_ParseTuple(args, "Oip:joined", &arrays, &dim, &stacked))
        return NULL;
    bool known = PyList_CheckExact(arrays) || PyTuple_CheckExact(arrays);
    Py_ssize_t count = known ? PySequence_Fast_GET_SIZE(arrays) : 0;
    PyObject *const *items = count > 0 ? PySequence_Fast_ITEMS(arrays) : NULL;
    int ndim = count > 0 && PyArray_CheckExact(items[0])
                   ? PyArray_NDIM((PyArrayObject *)items[0]) + stacked
                   : 0;
    if (dim < -ndim || dim >= ndim || ndim > DT_MAX_NDIM)
        return by_numpy(arrays, dim, stacked);
    int at = dim < 0 ? dim + ndim : dim;
    if (!are_alike(items, count, stacked ? -1 : at))
        return by_numpy(arrays, dim, stacked);
    return join(items, count, at, stacked);
}

/* --- copied --- */

/* Whether elements of an array share their places. */
static bool
is_spread(PyArrayObject *array)
{
    for (int d = 0; d < PyArray_NDIM(array); d++)
        if (PyArray_STRIDE(array, d) == 0 && PyArray_DIM(array, d) > 1)
            return true;
    return false;
}

static PyObject *
copied(PyObject *Py_UNUSED(module), PyObject *object)
{
    if (!PyArray_CheckExact(object))
        return PyErr_Format(PyExc_TypeError, "copied takes an array");
    PyArrayObject *array = (PyArrayObject *)object;
    return PyArray_NewCopy(array, is_spread(array) ? NPY_CORDER : NPY_KEEPORDER);
}

PyMethodDef ext_join_methods[] = {
    {"joined", joined, METH_VARARGS,
     "joined(arrays, dim, stacked, /)\n--\n\n"
     "Return arrays of one dtype one after another along a dim, or along a new one, in "
     "C\n"
     "order."},
    {"copied", copied, METH_O,
     "copied(x, /)\n--\n\n"
     "Return a copy with the order of dims in memory of an array, in C order where it "
     "is\n"
     "expanded."},
    {0},
};
