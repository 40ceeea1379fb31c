/* softmax.c: softmax and its kin along any axis. */
#include "ext/kernels/kernels.h"

#include "kernels/softmax.h"

#include <string.h>

/* An array in C order with an axis moved to the end: a copy where it must be. */
static PyArrayObject *
axis_last(PyArrayObject *array, int axis)
{
    int ndim = PyArray_NDIM(array);
    if (axis == ndim - 1)
        return PyArray_GETCONTIGUOUS(array);
    npy_intp order[DT_MAX_NDIM];
    for (int d = 0; d < ndim; d++)
        order[d] = d < axis ? d : d < ndim - 1 ? d + 1 : axis;
    PyArray_Dims wanted = {order, ndim};
    PyArrayObject *turned = (PyArrayObject *)PyArray_Transpose(array, &wanted);
    PyArrayObject *rows = turned == NULL ? NULL : PyArray_GETCONTIGUOUS(turned);
    Py_XDECREF(turned);
    return rows;
}

/* The last axis moved back to where it was: a view; steals the array. */
static PyObject *
axis_back(PyArrayObject *array, int axis)
{
    int ndim = PyArray_NDIM(array);
    if (axis == ndim - 1)
        return (PyObject *)array;
    npy_intp order[DT_MAX_NDIM];
    for (int d = 0; d < ndim; d++)
        order[d] = d < axis ? d : d == axis ? ndim - 1 : d - 1;
    PyArray_Dims wanted = {order, ndim};
    PyObject *turned = PyArray_Transpose(array, &wanted);
    Py_DECREF(array);
    return turned;
}

/* Whether all rows have one shape, and numbers are as many as rows. */
static int
check_shapes(const ext_kernel *kernel, PyArrayObject *const *arrays, int count)
{
    PyArrayObject *first = arrays[0];
    int64_t length = PyArray_DIM(first, PyArray_NDIM(first) - 1);
    for (int k = 1; k < count; k++) {
        if (kernel->takes[k] == 's' && ext_kernel_check(kernel, first, arrays[k]) < 0)
            return -1;
        if (kernel->takes[k] == 'x' &&
            PyArray_SIZE(arrays[k]) * length != PyArray_SIZE(first))
            return ext_fail(PyExc_ValueError, "%s takes a number for each row",
                            kernel->name);
    }
    return 0;
}

/* The kernel on arrays whose rows are along the last axis. */
static PyArrayObject *
run_last(const ext_kernel *kernel, PyArrayObject *const *arrays, int count, bool wide)
{
    dt_row_kernel which = (dt_row_kernel)kernel->which;
    int ndim = PyArray_NDIM(arrays[0]);
    npy_intp *shape = PyArray_DIMS(arrays[0]);
    const void *in[3];
    if (check_shapes(kernel, arrays, count) < 0)
        return NULL;
    for (int k = 0; k < count; k++)
        in[k] = PyArray_DATA(arrays[k]);
    PyArrayObject *out =
        ext_kernel_array(ndim - dt_row_kernel_reduces(which), shape, wide);
    if (out == NULL)
        return NULL;
    PyThreadState *state = ext_kernel_begin(PyArray_SIZE(arrays[0]));
    dt_row_kernel_run(which, wide, PyArray_DATA(out), in,
                      PyArray_MultiplyList(shape, ndim - 1), shape[ndim - 1]);
    ext_kernel_end(state);
    return out;
}

/* Arrays of rows ('s'), arrays with a number for each row ('x'), and the axis that a
 * row lies along; without it, the numbers have the shape of the rows. */
static PyObject *
run_rows(const ext_kernel *kernel, const ext_argument *given, bool wide)
{
    int count = (int)strlen(kernel->takes) - 1, axis = (int)given[count].integer;
    PyArrayObject *arrays[3] = {NULL}, *out = NULL;
    bool ready = true;
    for (int k = 0; k < count && ready; k++) {
        arrays[k] = kernel->takes[k] == 's'
                        ? axis_last(given[k].array, axis)
                        : (PyArrayObject *)Py_NewRef(given[k].array);
        ready = arrays[k] != NULL;
    }
    if (ready)
        out = run_last(kernel, arrays, count, wide);
    for (int k = 0; k < count; k++)
        Py_XDECREF(arrays[k]);
    if (out == NULL || dt_row_kernel_reduces((dt_row_kernel)kernel->which))
        return (PyObject *)out;
    return axis_back(out, axis);
}

const ext_kernel ext_softmax_kernels[] = {
    {"softmax", "sk", run_rows, DT_SOFTMAX},
    {"log_softmax", "sk", run_rows, DT_LOG_SOFTMAX},
    {"softmax_backward", "ssk", run_rows, DT_SOFTMAX_BACKWARD},
    {"log_softmax_backward", "ssk", run_rows, DT_LOG_SOFTMAX_BACKWARD},
    {"logsumexp", "sk", run_rows, DT_LOGSUMEXP},
    {"sum_exp", "sxk", run_rows, DT_SUM_EXP},
    {"row_dot", "ssk", run_rows, DT_ROW_DOT},
    {"softmax_given", "sxxk", run_rows, DT_SOFTMAX_GIVEN},
    {"log_softmax_given", "sxxk", run_rows, DT_LOG_SOFTMAX_GIVEN},
    {"softmax_backward_given", "ssxk", run_rows, DT_SOFTMAX_BACKWARD_GIVEN},
    {"log_softmax_backward_given", "ssxk", run_rows, DT_LOG_SOFTMAX_BACKWARD_GIVEN},
    {0},
};
