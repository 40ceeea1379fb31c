/* embedding.c: rows of a table by number. */
#include "ext/kernels/kernels.h"

#include "kernels/embedding.h"

#include <string.h>

static dt_table
table_of(const ext_argument *ranges, npy_intp columns, bool wide)
{
    return (dt_table){.dtype = wide ? DT_FLOAT64 : DT_FLOAT32,
                      .columns = columns,
                      .ranges = PyArray_DATA(ranges->array),
                      .range_count = PyArray_DIM(ranges->array, 0)};
}

/* Whether a part of so many rows has these ranges: a rule that is wrong must not end in
 * other memory. -1 with an exception. */
static int
check(bool fits, PyArrayObject *ranges, int64_t rows)
{
    const int64_t *pairs = PyArray_DATA(ranges);
    fits = fits && PyArray_NDIM(ranges) == 2 && PyArray_DIM(ranges, 1) == 2;
    for (npy_intp k = 0; fits && k < PyArray_DIM(ranges, 0); k++) {
        rows -= pairs[2 * k + 1];
        fits = pairs[2 * k + 1] >= 0 && rows >= 0;
    }
    if (!fits)
        PyErr_SetString(PyExc_ValueError, "embedding: incompatible shapes");
    return fits ? 0 : -1;
}

/* embedding(part, index, ranges, length): IndexError for numbers beyond the table. */
static PyObject *
take(const ext_kernel *Py_UNUSED(kernel), const ext_argument *given, bool wide)
{
    PyArrayObject *part = given[0].array, *index = given[1].array;
    int ndim = PyArray_NDIM(index);
    bool fits = PyArray_NDIM(part) == 2 && ndim < NPY_MAXDIMS;
    if (check(fits, given[2].array, fits ? PyArray_DIM(part, 0) : 0) < 0)
        return NULL;
    npy_intp shape[NPY_MAXDIMS + 1];
    for (int d = 0; d < ndim; d++)
        shape[d] = PyArray_DIM(index, d);
    shape[ndim] = PyArray_DIM(part, 1);
    if (!dt_index_check(PyArray_DATA(index), PyArray_SIZE(index), given[3].integer))
        return PyErr_Format(PyExc_IndexError, "index out of range in self");
    PyArrayObject *out = ext_kernel_array(ndim + 1, shape, wide);
    if (out == NULL)
        return NULL;
    dt_table table = table_of(&given[2], shape[ndim], wide);
    PyThreadState *state = ext_kernel_begin(PyArray_SIZE(out));
    dt_table_take(&table, PyArray_DATA(out), PyArray_DATA(part), PyArray_DATA(index),
                  PyArray_SIZE(index));
    ext_kernel_end(state);
    return (PyObject *)out;
}

/* embedding_backward(grad, index, ranges, rows, skip): a part of so many rows. */
static PyObject *
add(const ext_kernel *Py_UNUSED(kernel), const ext_argument *given, bool wide)
{
    PyArrayObject *grad = given[0].array, *index = given[1].array;
    int last = PyArray_NDIM(grad) - 1;
    npy_intp shape[] = {given[3].integer, last < 0 ? 0 : PyArray_DIM(grad, last)};
    bool fits = last == PyArray_NDIM(index) && shape[0] >= 0 &&
                PyArray_CompareLists(PyArray_DIMS(grad), PyArray_DIMS(index), last);
    if (check(fits, given[2].array, shape[0]) < 0)
        return NULL;
    PyArrayObject *part = ext_kernel_array(2, shape, wide);
    if (part == NULL)
        return NULL;
    dt_table table = table_of(&given[2], shape[1], wide);
    PyThreadState *state = ext_kernel_begin(PyArray_SIZE(part) + PyArray_SIZE(grad));
    memset(PyArray_DATA(part), 0, (size_t)PyArray_NBYTES(part));
    dt_table_add(&table, PyArray_DATA(part), PyArray_DATA(grad), PyArray_DATA(index),
                 PyArray_SIZE(index), given[4].integer);
    ext_kernel_end(state);
    return (PyObject *)part;
}

const ext_kernel ext_embedding_kernels[] = {
    {"embedding", "xiik", take, 0},
    {"embedding_backward", "xiikk", add, 0},
    {0},
};
