/* loop_rows.c: an inner loop is called on arrays as they lie: on elements that follow
 * each other, or on rows of them, as the ufunc would call it. */
#include "ext/dispatch/loop.h"

#include <numpy/ufuncobject.h>

#include <string.h>

enum { LEAST_ROW = 512 }; /* bytes: a loop over less takes no longer than its call */

int
op_loop_shape(npy_intp *shape, int64_t *bytes, PyObject *const *argv, int count)
{
    int ndim = 0, least = 0;
    for (int k = 0; k < count; k++) {
        if (!PyArray_CheckExact(argv[k]))
            continue;
        PyArrayObject *array = (PyArrayObject *)argv[k];
        int size = (int)PyArray_ITEMSIZE(array);
        ndim = PyArray_NDIM(array) > ndim ? PyArray_NDIM(array) : ndim;
        least = least == 0 || size < least ? size : least;
    }
    for (int d = 0; d < ndim; d++)
        shape[d] = 1;
    for (int k = 0; k < count; k++) {
        if (!PyArray_CheckExact(argv[k]))
            continue;
        PyArrayObject *array = (PyArrayObject *)argv[k];
        npy_intp *end = shape + ndim - PyArray_NDIM(array);
        for (int d = 0; d < PyArray_NDIM(array); d++) {
            npy_intp length = PyArray_DIM(array, d);
            if (length != 1 && end[d] != 1 && end[d] != length)
                return -1;
            end[d] = length == 1 ? end[d] : length;
        }
    }
    *bytes = (int64_t)PyArray_MultiplyList(shape, ndim) * least;
    return ndim;
}

/* The strides of an array in C order along the dims that it is broadcast to. */
static void
strides_of(npy_intp *strides, PyArrayObject *array, int ndim)
{
    int more = ndim - PyArray_NDIM(array);
    for (int d = 0; d < ndim; d++)
        strides[d] = d < more || PyArray_DIM(array, d - more) == 1
                         ? 0
                         : PyArray_STRIDE(array, d - more);
}

/* Makes a row of as many of the last dims as lie one after the other in every array, a
 * plane of as many before them, and planes of the rest, which must do so, too. */
static bool
make_rows(op_loop_call *c, const npy_intp *shape, npy_intp strides[][NPY_MAXDIMS],
          int ndim)
{
    enum { GROUPS = 3 };
    int groups = 0;
    npy_intp lengths[GROUPS] = {1, 1, 1},
             *steps[GROUPS] = {c->inner, c->outer, c->apart};
    for (int g = 0; g < GROUPS; g++)
        memset(steps[g], 0, sizeof c->inner);
    for (int d = ndim - 1; d >= 0; d--) {
        if (shape[d] == 1)
            continue;
        bool follows = groups > 0;
        for (int k = 0; k <= c->count && follows; k++)
            follows = strides[k][d] == steps[groups - 1][k] * lengths[groups - 1];
        if (!follows) {
            if (groups == GROUPS)
                return false;
            for (int k = 0; k <= c->count; k++)
                steps[groups][k] = strides[k][d];
            groups++;
        }
        lengths[groups - 1] *= shape[d];
    }
    c->length = lengths[0];
    c->plane = lengths[1];
    c->rows = lengths[1] * lengths[2];
    return c->rows == 1 || c->length * c->inner[c->count] >= LEAST_ROW;
}

/* Reads the operands; false: some must be cast or copied first, or lie in pieces. */
static bool
read_operands(op_loop_call *c, npy_intp strides[][NPY_MAXDIMS], PyObject *const *argv,
              int ndim)
{
    PyArray_Descr *const *dtypes = c->loop->context->descriptors;
    for (int k = 0; k < c->count; k++) {
        PyArrayObject *array = (PyArrayObject *)argv[k];
        c->data[k] = (char *)&c->numbers[k];
        memset(strides[k], 0, sizeof strides[k]);
        if (!PyArray_CheckExact(argv[k])) {
            if (!op_loop_number_put(&c->numbers[k], dtypes[k], argv[k]))
                return false;
        } else if (PyArray_TYPE(array) == dtypes[k]->type_num &&
                   PyArray_ISCARRAY_RO(array)) {
            c->data[k] = PyArray_BYTES(array);
            strides_of(strides[k], array, ndim);
        } else
            return false;
    }
    return true;
}

/* A loop of powers computes otherwise where the exponent is one number. NumPy calls it so
 * for rows that are longer than its buffers, and with copies of the number for others. */
static bool
is_power_of_rows(const op_entry *entry, const op_loop_call *c)
{
    return c->rows > 1 && c->count == 2 && c->inner[1] == 0 &&
           op_loop_is_of(entry, "power");
}

bool
op_loop_lay(op_loop_call *c, const npy_intp *shape, int ndim, const op_entry *entry,
            PyObject *const *argv)
{
    npy_intp strides[OP_SHORT + 1][NPY_MAXDIMS];
    c->loop = entry->loop;
    c->count = (int)entry->positional;
    npy_intp step = PyDataType_ELSIZE(c->loop->context->descriptors[c->count]);
    for (int d = ndim - 1; d >= 0; step *= shape[d--])
        strides[c->count][d] = step;
    return read_operands(c, strides, argv, ndim) &&
           make_rows(c, shape, strides, ndim) && !is_power_of_rows(entry, c);
}

int
op_loop_errors(int flags)
{
    int told = 0;
    told |= flags & FE_DIVBYZERO ? NPY_FPE_DIVIDEBYZERO : 0;
    told |= flags & FE_OVERFLOW ? NPY_FPE_OVERFLOW : 0;
    told |= flags & FE_UNDERFLOW ? NPY_FPE_UNDERFLOW : 0;
    told |= flags & FE_INVALID ? NPY_FPE_INVALID : 0;
    return told;
}

int
op_loop_tell(const op_entry *entry, int flags)
{
    PyObject *name = PyObject_GetAttrString(entry->kernel, "__name__");
    const char *text = name == NULL ? NULL : PyUnicode_AsUTF8(name);
    int failed = text == NULL
                     ? -1
                     : PyUFunc_GiveFloatingpointErrors(text, op_loop_errors(flags));
    Py_XDECREF(name);
    return failed;
}
