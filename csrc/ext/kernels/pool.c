/* pool.c: means of windows; their largest elements, and where these are. */
#include "ext/kernels/kernels.h"

#include "kernels/pool.h"

#include <string.h>

enum { LEAD = 2, SPAN = sizeof(dt_span) / sizeof(int64_t) };

/* Windows over the dims after samples and channels, whose lengths are given; of one dim
 * they are as those over two, the first of which has one element, and the second table is
 * not used. `places`: the array has a place for each window, else all elements. */
static int
read_spans(dt_spans *out, PyArrayObject *x, const ext_argument *tables,
           PyArrayObject *lengths, bool places)
{
    static const dt_span one = {0, 1, 1, 1};
    int dims = PyArray_NDIM(x) - LEAD;
    bool fits = (dims == 1 || dims == 2) && PyArray_SIZE(lengths) >= dims;
    *out = (dt_spans){.lengths = {1, 1}, .places = {1, 1}, .spans = {&one, &one}};
    for (int d = 0; d < dims && fits; d++) {
        PyArrayObject *table = tables[d].array;
        int at = 2 - dims + d;
        int64_t own = PyArray_DIM(x, LEAD + d);
        fits = PyArray_NDIM(table) == 2 && PyArray_DIM(table, 1) == SPAN;
        if (!fits)
            break;
        out->spans[at] = PyArray_DATA(table);
        out->places[at] = PyArray_DIM(table, 0);
        out->lengths[at] = ((const int64_t *)PyArray_DATA(lengths))[d];
        fits = own == (places ? out->places[at] : out->lengths[at]);
        for (int64_t p = 0; p < out->places[at] && fits; p++) {
            const dt_span *s = &out->spans[at][p];
            fits = s->first >= 0 && s->end <= out->lengths[at] && s->step > 0;
        }
    }
    if (!fits)
        PyErr_SetString(PyExc_ValueError, "a pool: windows of another array");
    return fits ? 0 : -1;
}

/* The shape of an array of all places, or of all elements. */
static void
shape_of(npy_intp shape[LEAD + 2], PyArrayObject *x, const int64_t lengths[2])
{
    int dims = PyArray_NDIM(x) - LEAD;
    memcpy(shape, PyArray_DIMS(x), LEAD * sizeof *shape);
    for (int d = 0; d < dims; d++)
        shape[LEAD + d] = lengths[2 - dims + d];
}

/* max_pool(x, down, right, lengths): the values and their numbers. */
static PyObject *
largest(const ext_kernel *Py_UNUSED(kernel), const ext_argument *given, bool wide)
{
    PyArrayObject *x = given[0].array;
    dt_spans spans;
    npy_intp shape[LEAD + 2];
    if (read_spans(&spans, x, given + 1, given[3].array, false) < 0)
        return NULL;
    shape_of(shape, x, spans.places);
    int ndim = PyArray_NDIM(x);
    PyObject *values = (PyObject *)ext_kernel_array(ndim, shape, wide);
    PyObject *index = PyArray_SimpleNew(ndim, shape, NPY_INT64);
    if (values != NULL && index != NULL) {
        PyThreadState *state = ext_kernel_begin(PyArray_SIZE(x));
        dt_pool_max(wide, PyArray_DATA((PyArrayObject *)values),
                    PyArray_DATA((PyArrayObject *)index), PyArray_DATA(x),
                    shape[0] * shape[1], &spans);
        ext_kernel_end(state);
    }
    PyObject *both =
        values == NULL || index == NULL ? NULL : PyTuple_Pack(2, values, index);
    Py_XDECREF(values);
    Py_XDECREF(index);
    return both;
}

/* What is made line by line. */
enum { VALUES, MEANS, MEANS_BACK };

/* max_pool_values(x, down, right, lengths, 0), avg_pool(..., divisor), and what gradients
 * of means give to the elements. */
static PyObject *
by_lines(const ext_kernel *kernel, const ext_argument *given, bool wide)
{
    PyArrayObject *x = given[0].array;
    bool back = kernel->which == MEANS_BACK;
    dt_spans spans;
    npy_intp shape[LEAD + 2];
    if (read_spans(&spans, x, given + 1, given[3].array, back) < 0)
        return NULL;
    spans.divisor = given[4].integer;
    shape_of(shape, x, back ? spans.lengths : spans.places);
    PyArrayObject *out = ext_kernel_array(PyArray_NDIM(x), shape, wide);
    void *line = PyMem_Malloc((size_t)spans.lengths[1] * sizeof(double) + 1);
    if (out == NULL || line == NULL) {
        PyMem_Free(line);
        Py_XDECREF(out);
        return PyErr_Occurred() ? NULL : PyErr_NoMemory();
    }
    PyThreadState *state = ext_kernel_begin(PyArray_SIZE(x));
    int64_t rows = shape[0] * shape[1];
    if (back)
        memset(PyArray_DATA(out), 0, (size_t)PyArray_NBYTES(out));
    (kernel->which == VALUES ? dt_pool_values
     : back
         ? dt_pool_mean_input
         : dt_pool_mean)(wide, PyArray_DATA(out), PyArray_DATA(x), rows, &spans, line);
    ext_kernel_end(state);
    PyMem_Free(line);
    return (PyObject *)out;
}

const ext_kernel ext_pool_kernels[] = {
    {"max_pool", "xiii", largest, 0},
    {"max_pool_values", "xiiik", by_lines, VALUES},
    {"avg_pool", "xiiik", by_lines, MEANS},
    {"avg_pool_backward", "xiiik", by_lines, MEANS_BACK},
    {0},
};
