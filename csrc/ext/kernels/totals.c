/* totals.c: sums, products and norms along dims; running ones. */
#include "ext/kernels/kernels.h"

#include "kernels/totals.h"

/* The dims `first` to before `end` of an array as one; -1 with an exception. */
static int
read_dims(dt_dims *out, PyArrayObject *x, int64_t first, int64_t end)
{
    int ndim = PyArray_NDIM(x);
    if (first < 0 || end < first || end > ndim)
        return ext_fail(PyExc_ValueError, "a total along dims %d to %d", (int)first,
                        (int)end);
    *out = (dt_dims){1, 1, 1};
    for (int d = 0; d < ndim; d++)
        *(d < first ? &out->outer
          : d < end ? &out->length
                    : &out->inner) *= PyArray_DIM(x, d);
    return 0;
}

/* total(x, dt_total, first, end, keepdims, divisor) */
static PyObject *
total(const ext_kernel *Py_UNUSED(kernel), const ext_argument *given, bool wide)
{
    PyArrayObject *x = given[0].array;
    int64_t first = given[2].integer, end = given[3].integer;
    dt_dims dims;
    npy_intp shape[DT_MAX_NDIM];
    int ndim = 0;
    if (read_dims(&dims, x, first, end) < 0)
        return NULL;
    for (int d = 0; d < PyArray_NDIM(x); d++)
        if (d < first || d >= end)
            shape[ndim++] = PyArray_DIM(x, d);
        else if (given[4].integer != 0)
            shape[ndim++] = 1;
    PyArrayObject *out = ext_kernel_array(ndim, shape, wide);
    if (out == NULL)
        return NULL;
    PyThreadState *state = ext_kernel_begin(PyArray_SIZE(x));
    dt_total_of(wide, PyArray_DATA(out), PyArray_DATA(x), (dt_total)given[1].integer,
                dims, given[5].number);
    ext_kernel_end(state);
    return (PyObject *)out;
}

/* running(x, dt_total, dim) */
static PyObject *
running(const ext_kernel *Py_UNUSED(kernel), const ext_argument *given, bool wide)
{
    PyArrayObject *x = given[0].array;
    dt_dims dims;
    if (read_dims(&dims, x, given[2].integer, given[2].integer + 1) < 0)
        return NULL;
    PyArrayObject *out = ext_kernel_like(x, wide);
    if (out == NULL)
        return NULL;
    PyThreadState *state = ext_kernel_begin(PyArray_SIZE(x));
    dt_running(wide, PyArray_DATA(out), PyArray_DATA(x), (dt_total)given[1].integer,
               dims);
    ext_kernel_end(state);
    return (PyObject *)out;
}

/* running_extreme(x, least, dim): values and indices. */
static PyObject *
running_extreme(const ext_kernel *Py_UNUSED(kernel), const ext_argument *given,
                bool wide)
{
    PyArrayObject *x = given[0].array;
    dt_dims dims;
    if (read_dims(&dims, x, given[2].integer, given[2].integer + 1) < 0)
        return NULL;
    PyArrayObject *out = ext_kernel_like(x, wide);
    PyObject *index = ext_array_like(x, DT_INT64), *both = NULL;
    if (out != NULL && index != NULL) {
        PyThreadState *state = ext_kernel_begin(PyArray_SIZE(x));
        dt_running_extreme(wide, PyArray_DATA(out),
                           PyArray_DATA((PyArrayObject *)index), PyArray_DATA(x),
                           given[1].integer != 0, dims);
        ext_kernel_end(state);
        both = PyTuple_Pack(2, out, index);
    }
    Py_XDECREF(out);
    Py_XDECREF(index);
    return both;
}

const ext_kernel ext_total_kernels[] = {
    {"total", "xkkkkn", total, 0},
    {"running", "xkk", running, 0},
    {"running_extreme", "xkk", running_extreme, 0},
    {0},
};
