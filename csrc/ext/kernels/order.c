/* order.c: the first elements along a dim, in order, and where they are; the element at
 * a place of the order. */
#include "ext/kernels/kernels.h"

#include "kernels/order.h"

#include <string.h>

/* The lines of an array along a dim, in C order; dim -1: all elements are one. */
typedef struct {
    PyArrayObject *x; /* a new reference */
    dt_line line;
    int64_t outer, inner;
    void *scratch;
} lines;

static int
read_lines(lines *out, PyObject *object, int dim, bool largest)
{
    *out = (lines){.x = (PyArrayObject *)PyArray_FromAny(object, NULL, 0, 0,
                                                         NPY_ARRAY_CARRAY_RO, NULL)};
    dt_dtype dtype;
    if (out->x == NULL || ext_dtype(&dtype, PyArray_DESCR(out->x), "an order") < 0)
        return -1;
    int ndim = PyArray_NDIM(out->x);
    if (dim < -1 || dim >= ndim || !dt_order_has(dtype))
        return ext_fail(PyExc_TypeError, "no order of dim %d of %R", dim, object);
    out->outer = out->inner = 1;
    for (int d = 0; d < ndim; d++)
        if (d != dim && dim >= 0)
            *(d < dim ? &out->outer : &out->inner) *= PyArray_DIM(out->x, d);
    out->line =
        (dt_line){.dtype = dtype,
                  .length = dim < 0 ? PyArray_SIZE(out->x) : PyArray_DIM(out->x, dim),
                  .step = out->inner * (int64_t)dt_dtype_size(dtype),
                  .largest = largest};
    out->scratch = PyMem_RawMalloc(dt_order_scratch(&out->line) + 1);
    return out->scratch == NULL ? ext_no_memory() : 0;
}

static void
clear(lines *l)
{
    Py_XDECREF(l->x);
    PyMem_RawFree(l->scratch);
}

/* The first element of a line. */
static const char *
begin_of(const lines *l, int64_t outer, int64_t inner)
{
    int64_t size = (int64_t)dt_dtype_size(l->line.dtype);
    return PyArray_BYTES(l->x) + outer * l->line.length * l->line.step + inner * size;
}

/* New arrays of values and of indices, with another length of a dim, or without it. */
static int
make_pair(PyArrayObject *pair[2], const lines *l, int dim, int64_t count, bool keeps)
{
    int64_t shape[DT_MAX_NDIM];
    int ndim = 0;
    for (int d = 0; d < PyArray_NDIM(l->x) && dim >= 0; d++)
        if (d != dim || keeps)
            shape[ndim++] = d == dim ? count : PyArray_DIM(l->x, d);
    pair[0] = (PyArrayObject *)ext_array(ndim, shape, l->line.dtype);
    pair[1] = (PyArrayObject *)ext_array(ndim, shape, DT_INT64);
    return pair[0] == NULL || pair[1] == NULL ? -1 : 0;
}

/* Gives both as a named tuple; steals them. */
static PyObject *
named(PyArrayObject *pair[2], PyTypeObject *type, bool good)
{
    PyObject *both = good ? Py_BuildValue("((OO))", pair[0], pair[1]) : NULL;
    PyObject *result = both == NULL ? NULL : PyTuple_Type.tp_new(type, both, NULL);
    Py_XDECREF(both);
    Py_XDECREF(pair[0]);
    Py_XDECREF(pair[1]);
    return result;
}

static void
copy_first(const lines *l, PyArrayObject *pair[2], int64_t count)
{
    const size_t size = dt_dtype_size(l->line.dtype);
    int64_t *index = PyArray_DATA(pair[1]);
    char *value = PyArray_BYTES(pair[0]);
    for (int64_t o = 0; o < l->outer; o++)
        for (int64_t i = 0; i < l->inner; i++) {
            const char *from = begin_of(l, o, i);
            int64_t first = o * count * l->inner + i;
            dt_order_first(index + first, l->inner, from, &l->line, count, l->scratch);
            for (int64_t k = 0; k < count; k++) {
                int64_t at = first + k * l->inner;
                memcpy(value + (size_t)at * size, from + index[at] * l->line.step,
                       size);
            }
        }
}

static bool
is_named_tuple(PyTypeObject *type)
{
    return PyType_IsSubtype(type, &PyTuple_Type);
}

static PyObject *
ordered_of(PyObject *Py_UNUSED(module), PyObject *args)
{
    PyObject *x;
    PyTypeObject *type;
    Py_ssize_t count;
    int dim, largest;
    if (!PyArg_ParseTuple(args, "OinpO!:ordered_of", &x, &dim, &count, &largest,
                          &PyType_Type, &type))
        return NULL;
    lines l;
    PyArrayObject *pair[2] = {NULL};
    bool good = read_lines(&l, x, dim, largest) == 0;
    if (good &&
        (dim < 0 || count < 0 || count > l.line.length || !is_named_tuple(type))) {
        PyErr_Format(PyExc_ValueError, "ordered_of: %zd elements", count);
        good = false;
    }
    good = good && make_pair(pair, &l, dim, count, true) == 0;
    if (good && count > 0) {
        PyThreadState *state = ext_kernel_begin(PyArray_SIZE(l.x));
        copy_first(&l, pair, count);
        ext_kernel_end(state);
    }
    clear(&l);
    return named(pair, type, good);
}

static void
copy_at(const lines *l, PyArrayObject *pair[2], int64_t place, bool nan)
{
    const size_t size = dt_dtype_size(l->line.dtype);
    int64_t *index = PyArray_DATA(pair[1]);
    char *value = PyArray_BYTES(pair[0]);
    for (int64_t o = 0; o < l->outer; o++)
        for (int64_t i = 0; i < l->inner; i++, index++, value += size) {
            const char *from = begin_of(l, o, i);
            *index = place < 0 ? dt_order_mode(from, &l->line, l->scratch)
                               : dt_order_at(from, &l->line, place, nan, l->scratch);
            memcpy(value, from + *index * l->line.step, size);
        }
}

static PyObject *
element_of(PyObject *Py_UNUSED(module), PyObject *args)
{
    PyObject *x;
    PyTypeObject *type;
    Py_ssize_t place;
    int dim, keeps, nan;
    if (!PyArg_ParseTuple(args, "OinppO!:element_of", &x, &dim, &place, &keeps, &nan,
                          &PyType_Type, &type))
        return NULL;
    lines l;
    PyArrayObject *pair[2] = {NULL};
    bool good = read_lines(&l, x, dim, false) == 0;
    if (good && (place < -1 || place >= l.line.length || l.line.length == 0 ||
                 !is_named_tuple(type))) {
        PyErr_Format(PyExc_ValueError, "element_of: place %zd", place);
        good = false;
    }
    good = good && make_pair(pair, &l, dim, 1, keeps) == 0;
    if (good) {
        PyThreadState *state = ext_kernel_begin(PyArray_SIZE(l.x));
        copy_at(&l, pair, place, nan);
        ext_kernel_end(state);
    }
    clear(&l);
    return named(pair, type, good);
}

PyMethodDef ext_order_methods[] = {
    {"ordered_of", ordered_of, METH_VARARGS,
     "ordered_of(x, dim, count, largest, type, /)\n--\n\n"
     "Return the first elements along a dim in rising order, or the largest ones\n"
     "first, and their indices, in a named tuple of this type: equal ones as they\n"
     "come."},
    {"element_of", element_of, METH_VARARGS,
     "element_of(x, dim, place, keepdims, nan, type, /)\n--\n\n"
     "Return the elements that sorting would put at a place of a dim, and their\n"
     "indices, in a named tuple of this type; of dim -1 that of all. `nan`: the first\n"
     "NaN, if there is one. Place -1: the element that is there most often."},
    {0},
};
