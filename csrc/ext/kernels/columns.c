/* columns.c: what lies under the places of a kernel, in columns: convolutions are
 * products of these. */
#include "ext/kernels/kernels.h"

#include "kernels/columns.h"

enum { LEAD = 2, FIELDS = sizeof(dt_kernel_dim) / sizeof(int64_t) };

int
ext_kernel_dims(dt_kernel_dim out[DT_COLUMNS_DIMS], int count, PyArrayObject *table)
{
    bool fits = count >= 0 && count <= DT_COLUMNS_DIMS && PyArray_NDIM(table) == 2 &&
                PyArray_DIM(table, 0) == count && PyArray_DIM(table, 1) == FIELDS;
    for (int d = 0; d < DT_COLUMNS_DIMS; d++)
        out[d] = (dt_kernel_dim){1, 1, 1, 1, 0, 1};
    for (int d = 0; d < count && fits; d++) {
        dt_kernel_dim *dim = &out[DT_COLUMNS_DIMS - count + d];
        *dim = ((const dt_kernel_dim *)PyArray_DATA(table))[d];
        fits = dim->length >= 0 && dim->size >= 0 && dim->places >= 0 &&
               dim->stride > 0 && dim->dilation > 0;
    }
    return fits ? 0 : ext_fail(PyExc_ValueError, "a convolution of other dims");
}

/* How many elements a kernel has, at how many places, in how many elements. */
static void
count_dims(int64_t *kernel, int64_t *places, int64_t *length,
           const dt_kernel_dim dims[DT_COLUMNS_DIMS])
{
    *kernel = *places = *length = 1;
    for (int d = 0; d < DT_COLUMNS_DIMS; d++) {
        *kernel *= dims[d].size;
        *places *= dims[d].places;
        *length *= dims[d].length;
    }
}

/* The dims of an array. */
static int
read_dims(dt_kernel_dim out[DT_COLUMNS_DIMS], PyArrayObject *x, PyArrayObject *table)
{
    int count = PyArray_NDIM(x) - LEAD;
    if (ext_kernel_dims(out, count, table) < 0)
        return -1;
    for (int d = 0; d < count; d++)
        if (out[DT_COLUMNS_DIMS - count + d].length != PyArray_DIM(x, LEAD + d))
            return ext_fail(PyExc_ValueError, "columns of another array");
    return 0;
}

static PyObject *
columns_of(PyObject *Py_UNUSED(module), PyObject *args)
{
    PyObject *object, *given;
    int groups;
    dt_dtype dtype;
    dt_kernel_dim dims[DT_COLUMNS_DIMS];
    if (!PyArg_ParseTuple(args, "OOi:columns_of", &object, &given, &groups))
        return NULL;
    PyArrayObject *x =
        (PyArrayObject *)PyArray_FromAny(object, NULL, 0, 0, NPY_ARRAY_CARRAY_RO, NULL);
    PyArrayObject *table = (PyArrayObject *)PyArray_FromAny(
        given, PyArray_DescrFromType(NPY_INT64), 0, 0, NPY_ARRAY_CARRAY_RO, NULL);
    PyObject *out = NULL;
    bool good = x != NULL && table != NULL && read_dims(dims, x, table) == 0 &&
                ext_dtype(&dtype, PyArray_DESCR(x), "columns") == 0;
    size_t size = good ? dt_dtype_size(dtype) : 0;
    if (good && (groups < 1 || PyArray_DIM(x, 1) % groups != 0 ||
                 (size != 2 && size != 4 && size != 8 && size != 16))) {
        PyErr_SetString(PyExc_ValueError, "columns of another array");
        good = false;
    }
    if (good) {
        int64_t kernel, places, length;
        int64_t planes = PyArray_DIM(x, 0) * PyArray_DIM(x, 1);
        count_dims(&kernel, &places, &length, dims);
        int64_t shape[] = {PyArray_DIM(x, 0), groups,
                           PyArray_DIM(x, 1) / groups * kernel, places};
        out = ext_array(4, shape, dtype);
        PyThreadState *state = ext_kernel_begin(PyArray_SIZE(x));
        if (out != NULL)
            dt_columns(PyArray_DATA((PyArrayObject *)out), PyArray_DATA(x), planes,
                       dims, size);
        ext_kernel_end(state);
    }
    Py_XDECREF(x);
    Py_XDECREF(table);
    return out;
}

static PyObject *
columns_added(PyObject *Py_UNUSED(module), PyObject *args)
{
    PyArrayObject *given, *rows;
    int count;
    dt_kernel_dim dims[DT_COLUMNS_DIMS];
    if (!PyArg_ParseTuple(args, "O!Oi:columns_added", &PyArray_Type, &given, &rows,
                          &count))
        return NULL;
    int type = PyArray_TYPE(given);
    if (type != NPY_FLOAT && type != NPY_DOUBLE)
        return PyErr_Format(PyExc_TypeError, "columns of float32 or float64, not %R",
                            given);
    PyArrayObject *x =
        (PyArrayObject *)PyArray_FromArray(given, NULL, NPY_ARRAY_CARRAY_RO);
    PyArrayObject *table = (PyArrayObject *)PyArray_FromAny(
        (PyObject *)rows, PyArray_DescrFromType(NPY_INT64), 0, 0, NPY_ARRAY_CARRAY_RO,
        NULL);
    PyObject *out = NULL;
    int64_t kernel, places, length;
    if (x != NULL && table != NULL && ext_kernel_dims(dims, count, table) == 0) {
        count_dims(&kernel, &places, &length, dims);
        int64_t each = kernel * places, size = PyArray_SIZE(x);
        if (each == 0 || size % each != 0)
            PyErr_SetString(PyExc_ValueError, "columns of another array");
        else {
            int64_t shape[] = {size / each, length};
            out = ext_array(2, shape, type == NPY_DOUBLE ? DT_FLOAT64 : DT_FLOAT32);
        }
    }
    if (out != NULL) {
        PyThreadState *state = ext_kernel_begin(PyArray_SIZE(x));
        dt_columns_add(PyArray_DATA((PyArrayObject *)out), PyArray_DATA(x),
                       PyArray_DIM((PyArrayObject *)out, 0), dims, type == NPY_DOUBLE);
        ext_kernel_end(state);
    }
    Py_XDECREF(x);
    Py_XDECREF(table);
    return out;
}

PyMethodDef ext_columns_methods[] = {
    {"columns_of", columns_of, METH_VARARGS,
     "columns_of(x, dims, groups, /)\n--\n\n"
     "Return what lies under the places of a kernel, (samples, groups, channels and\n"
     "kernel, places). A row of `dims` for each dim: its length, that of the kernel,\n"
     "places, stride, padding before it and dilation."},
    {"columns_added", columns_added, METH_VARARGS,
     "columns_added(columns, dims, count, /)\n--\n\n"
     "Return the sums of the elements of columns that come from one element, (planes,\n"
     "elements), of float32 or float64. A row of `dims` for each of `count` dims."},
    {0},
};
