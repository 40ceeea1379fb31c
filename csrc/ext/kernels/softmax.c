/* softmax.c: softmax and its kin along any axis. */
#include "ext/kernels/kernels.h"

#include "core/memory/copy.h"
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

/* Whether all rows, along an axis, have one shape, and numbers are as many as rows. -1: the
 * last axis. */
static int
check_shapes(const ext_kernel *kernel, PyArrayObject *const *arrays, int count,
             int axis)
{
    PyArrayObject *first = arrays[0];
    int64_t length = PyArray_DIM(first, axis < 0 ? PyArray_NDIM(first) - 1 : axis);
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

/* --- along another axis than the last --- */

/* Arrays as blocks of (before, length, after) elements, of which some are turned at once:
 * their rows become neighbours in memory that the cache holds. */
typedef struct {
    int64_t before, length, after;
    int64_t many, wide; /* how many of `before` and of `after` are in a block */
    size_t itemsize;
} turning;

static turning
turning_of(PyArrayObject *array, int axis)
{
    enum { ELEMENTS = 1 << 13, LEAST = 16 };
    const npy_intp *shape = PyArray_DIMS(array);
    int ndim = PyArray_NDIM(array);
    turning t = {.length = shape[axis], .itemsize = (size_t)PyArray_ITEMSIZE(array)};
    t.before = PyArray_MultiplyList(shape, axis);
    t.after = PyArray_MultiplyList(shape + axis + 1, ndim - axis - 1);
    int64_t rows = ELEMENTS / (t.length < 1 ? 1 : t.length);
    rows = rows < LEAST ? LEAST : rows;
    t.wide = rows < t.after ? rows : t.after;
    t.many = t.wide < t.after || t.after == 0 ? 1 : rows / t.after;
    return t;
}

/* Copies a block of `many` times `wide` rows between where it is in the array and a place
 * where each row lies by itself. */
static void
turn(const turning *t, char *array, char *rows, int64_t many, int64_t wide, bool back)
{
    int64_t item = (int64_t)t->itemsize, shape[3] = {many, wide, t->length};
    int64_t apart[3] = {t->length * t->after * item, item, t->after * item};
    int64_t close[3] = {wide * t->length * item, t->length * item, item};
    if (back)
        dt_copy_box(array, apart, rows, close, 3, shape, t->itemsize);
    else
        dt_copy_box(rows, close, array, apart, 3, shape, t->itemsize);
}

static void
run_blocks(const ext_kernel *kernel, const turning *t, char *out, char *const *in,
           char *const *space, int count, bool wide)
{
    for (int64_t b = 0; b < t->before; b += t->many)
        for (int64_t a = 0; a < t->after; a += t->wide) {
            int64_t many = t->before - b < t->many ? t->before - b : t->many;
            int64_t some = t->after - a < t->wide ? t->after - a : t->wide;
            int64_t at = (b * t->length * t->after + a) * (int64_t)t->itemsize;
            const void *given[3];
            for (int k = 0; k < count; k++) {
                bool rows = kernel->takes[k] == 's';
                given[k] =
                    rows ? space[k] : in[k] + (b * t->after + a) * (int64_t)t->itemsize;
                if (rows)
                    turn(t, in[k] + at, space[k], many, some, false);
            }
            dt_row_kernel_run((dt_row_kernel)kernel->which, wide, space[count], given,
                              many * some, t->length);
            turn(t, out + at, space[count], many, some, true);
        }
}

/* The kernel along an axis that is not the last, on arrays in C order; so is the result. */
static PyArrayObject *
run_turned(const ext_kernel *kernel, PyArrayObject *const *arrays, int count, int axis,
           bool wide)
{
    turning t = turning_of(arrays[0], axis);
    npy_intp room = t.many * t.wide * t.length;
    PyArrayObject *space[4] = {NULL}, *out = NULL;
    char *in[3], *data[4] = {NULL};
    bool ready = true;
    for (int k = 0; k <= count && ready; k++) {
        if (k < count)
            in[k] = PyArray_BYTES(arrays[k]);
        if (k < count && kernel->takes[k] != 's')
            continue;
        space[k] = ext_kernel_array(1, &room, wide);
        ready = space[k] != NULL;
        if (ready)
            data[k] = PyArray_BYTES(space[k]);
    }
    if (ready)
        out = ext_kernel_like(arrays[0], wide);
    if (out != NULL) {
        PyThreadState *state = ext_kernel_begin(PyArray_SIZE(out));
        run_blocks(kernel, &t, PyArray_BYTES(out), in, data, count, wide);
        ext_kernel_end(state);
    }
    for (int k = 0; k <= count; k++)
        Py_XDECREF(space[k]);
    return out;
}

/* --- the call --- */

/* Arrays of rows ('s'), arrays with a number for each row ('x'), and the axis that a
 * row lies along; without it, the numbers have the shape of the rows. */
static PyObject *
run_rows(const ext_kernel *kernel, const ext_argument *given, bool wide)
{
    int count = (int)strlen(kernel->takes) - 1, axis = (int)given[count].integer;
    bool turns = axis < PyArray_NDIM(given[0].array) - 1 &&
                 !dt_row_kernel_reduces((dt_row_kernel)kernel->which);
    PyArrayObject *arrays[3] = {NULL}, *out = NULL;
    bool ready = true;
    for (int k = 0; k < count && ready; k++) {
        PyArrayObject *array = given[k].array;
        if (kernel->takes[k] != 's')
            arrays[k] = (PyArrayObject *)Py_NewRef(array);
        else
            arrays[k] = turns ? PyArray_GETCONTIGUOUS(array) : axis_last(array, axis);
        ready = arrays[k] != NULL;
    }
    if (ready && check_shapes(kernel, arrays, count, turns ? axis : -1) == 0)
        out = turns ? run_turned(kernel, arrays, count, axis, wide)
                    : run_last(kernel, arrays, count, wide);
    for (int k = 0; k < count; k++)
        Py_XDECREF(arrays[k]);
    return (PyObject *)out;
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
