/* kernels_softmax.c: softmax and its kin along any axis. */
#include "ext/kernels.h"

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

/* Arrays of rows ('s'), arrays with a number for each row ('x'), and the axis that a
 * row lies along; without it, the numbers have the shape of the rows. */
static PyObject *
run_rows(const ext_kernel *kernel, const ext_argument *given, bool wide)
{
    int count = (int)strlen(kernel->takes) - 1, axis = (int)given[count].integer;
    dt_row_kernel which = (dt_row_kernel)kernel->which;
    PyArrayObject *rows[3] = {NULL}, *out = NULL;
    const void *in[3];
    int ready = 0;
    for (; ready < count; ready++) {
        bool full = kernel->takes[ready] == 's';
        rows[ready] = full ? axis_last(given[ready].array, axis)
                           : (PyArrayObject *)Py_NewRef(given[ready].array);
        if (rows[ready] == NULL)
            break;
        in[ready] = PyArray_DATA(rows[ready]);
    }
    if (ready == count) {
        int ndim = PyArray_NDIM(rows[0]);
        npy_intp *shape = PyArray_DIMS(rows[0]);
        int64_t lines = PyArray_MultiplyList(shape, ndim - 1);
        out = ext_kernel_array(ndim - dt_row_kernel_reduces(which), shape, wide);
        if (out != NULL) {
            PyThreadState *state = ext_kernel_begin(PyArray_SIZE(rows[0]));
            dt_row_kernel_run(which, wide, PyArray_DATA(out), in, lines,
                              shape[ndim - 1]);
            ext_kernel_end(state);
        }
    }
    for (int k = 0; k < ready; k++)
        Py_DECREF(rows[k]);
    return out == NULL || dt_row_kernel_reduces(which) ? (PyObject *)out
                                                       : axis_back(out, axis);
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
