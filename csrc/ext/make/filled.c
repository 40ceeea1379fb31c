/* filled.c: new Tensors of one number, in PyTorch's dialect, in few instructions. */
#include "ext/make/make.h"
#include "ext/move/move.h"

#include <string.h>

/* The lengths in a tuple of ints; -1 without an exception if it is another thing. */
static int
read_lengths(int64_t shape[DT_MAX_NDIM], PyObject *size)
{
    Py_ssize_t ndim = PyTuple_Check(size) ? PyTuple_GET_SIZE(size) : -1;
    if (ndim > DT_MAX_NDIM)
        return -1;
    for (Py_ssize_t d = 0; d < ndim; d++) {
        PyObject *length = PyTuple_GET_ITEM(size, d);
        if (!PyLong_CheckExact(length))
            return -1;
        shape[d] = PyLong_AsLongLong(length);
        if (shape[d] < 0 || shape[d] > INT32_MAX) {
            PyErr_Clear();
            return -1;
        }
    }
    return (int)ndim;
}

/* Fills in float32 and float64 faster than NumPy. */
static int
fill(PyArrayObject *array, PyObject *value)
{
    const npy_intp count = PyArray_SIZE(array);
    const int type = PyArray_TYPE(array);
    if (type != NPY_FLOAT && type != NPY_DOUBLE)
        return PyArray_FillWithScalar(array, value);
    double number = PyFloat_AsDouble(value);
    float *narrow = PyArray_DATA(array);
    double *wide = PyArray_DATA(array);
    for (npy_intp k = 0; k < count && type == NPY_FLOAT; k++)
        narrow[k] = (float)number;
    for (npy_intp k = 0; k < count && type == NPY_DOUBLE; k++)
        wide[k] = number;
    return PyErr_Occurred() == NULL ? 0 : -1;
}

/* A Tensor, filled with a number unless that is None. */
static PyObject *
made(int ndim, const int64_t *shape, dt_dtype dtype, PyObject *value)
{
    ext_local_call local = ext_local_begin("empty");
    PyArrayObject *array = (PyArrayObject *)ext_array(ndim, shape, dtype);
    int failed = array == NULL ? -1 : 0;
    if (failed == 0 && value == Py_False)
        memset(PyArray_DATA(array), 0, (size_t)PyArray_NBYTES(array));
    else if (failed == 0 && value != Py_None)
        failed = fill(array, value);
    if (failed < 0)
        Py_CLEAR(array);
    ext_local_end(&local, array != NULL);
    return array == NULL ? NULL : ext_into_torch(ext_tensor((PyObject *)array));
}

static PyObject *
filled(PyObject *Py_UNUSED(module), PyObject *const *args, Py_ssize_t nargs,
       PyObject *kwnames)
{
    int64_t shape[DT_MAX_NDIM];
    if (nargs != 2 || kwnames != NULL)
        return PyErr_Format(PyExc_TypeError, "filled(size, value)");
    int ndim = read_lengths(shape, args[0]);
    if (ndim < 0)
        Py_RETURN_NONE;
    return made(ndim, shape, ext_default_dtype, args[1]);
}

static PyObject *
filled_like(PyObject *Py_UNUSED(module), PyObject *const *args, Py_ssize_t nargs,
            PyObject *kwnames)
{
    int64_t shape[DT_MAX_NDIM];
    dt_dtype dtype;
    if (nargs != 2 || kwnames != NULL)
        return PyErr_Format(PyExc_TypeError, "filled_like(tensor, value)");
    if (!ext_is_tensor(args[0]) || ext_is_dtensor(args[0]))
        Py_RETURN_NONE;
    PyArrayObject *array = (PyArrayObject *)((TensorObject *)args[0])->array;
    if (!ext_has_data(array) || !PyArray_IS_C_CONTIGUOUS(array))
        Py_RETURN_NONE;
    if (ext_dtype(&dtype, PyArray_DESCR(array), "filled_like") < 0)
        return NULL;
    return made(ext_array_shape(shape, array), shape, dtype, args[1]);
}

PyMethodDef ext_filled_methods[] = {
    {"filled", EXT_FAST(filled),
     "filled(size, value, /)\n--\n\n"
     "Return a Tensor in PyTorch's dialect, of the default dtype, all of whose "
     "elements\n"
     "are a number; False: 0; None: arbitrary. None for a size that is no tuple of\n"
     "ints."},
    {"filled_like", EXT_FAST(filled_like),
     "filled_like(tensor, value, /)\n--\n\n"
     "Return one in shape and dtype of a Tensor of this rank, which is in C order; "
     "None\n"
     "for any other."},
    {0},
};
