/* tensor_strides.c: how a tensor lies in memory, a DTensor as its part would, were it the
 * whole. */
#include "ext/face/face.h"

#include <stdlib.h>

/* Whether a whole array lies in C order without gaps. A part that has one slice of a
 * dimension, or none, may do so where the whole does not; its strides tell, but those of
 * 0. */
static bool
is_in_rows(TensorObject *tensor, PyArrayObject *part)
{
    int64_t shape[DT_MAX_NDIM];
    int ndim = ext_tensor_shape(shape, tensor);
    bool empty = PyArray_SIZE(part) == 0;
    npy_intp step = PyArray_ITEMSIZE(part);
    if (PyArray_NDIM(part) != ndim || ext_tensor_count(tensor) == 0)
        return PyArray_IS_C_CONTIGUOUS(part);
    for (int d = ndim - 1; d >= 0; d--) {
        npy_intp length = PyArray_DIM(part, d), own = PyArray_STRIDE(part, d);
        bool tells = shape[d] > 1 && (own != 0 || (length > 1 && !empty));
        if (tells && own != step)
            return false;
        step *= length > 1 ? length : 1;
    }
    return true;
}

/* Whether slices of a dimension of a part lie closer together than those of another. */
static bool
is_within(PyArrayObject *part, int dim, int other)
{
    long long own = llabs(PyArray_STRIDE(part, dim));
    long long theirs = llabs(PyArray_STRIDE(part, other));
    return own < theirs || (own == theirs && PyArray_DIM(part, dim) < 2 &&
                            PyArray_DIM(part, other) > 1);
}

/* The strides of a whole array whose dimensions lie in memory in the order in which
 * those of this rank's part lie. Returns how many there are. */
static int
whole_strides(int64_t *out, TensorObject *tensor, PyArrayObject *part)
{
    int64_t shape[DT_MAX_NDIM];
    int ndim = ext_tensor_shape(shape, tensor);
    int order[DT_MAX_NDIM]; /* innermost first */
    bool sort = !is_in_rows(tensor, part) && PyArray_NDIM(part) == ndim;
    for (int k = 0; k < ndim; k++) {
        int dim = ndim - 1 - k, place = k;
        while (sort && place > 0 && is_within(part, dim, order[place - 1])) {
            order[place] = order[place - 1];
            place--;
        }
        order[place] = dim;
    }
    int64_t next = 1;
    for (int k = 0; k < ndim; k++) {
        out[order[k]] = next;
        next *= shape[order[k]] > 0 ? shape[order[k]] : 1;
    }
    return ndim;
}

PyObject *
ext_tensor_stride(PyObject *object, PyObject *const *args, Py_ssize_t nargs,
                  PyObject *kwnames)
{
    static const ext_signature signature = EXT_SIGNATURE("stride", 1, 1, 0, "dim");
    PyObject *dim_object;
    PyArrayObject *array = ext_local(object);
    if (array == NULL ||
        ext_arguments(&dim_object, &signature, args, nargs, kwnames) < 0)
        return NULL;
    int64_t stride[DT_MAX_NDIM];
    int ndim = PyArray_NDIM(array);
    if (ext_is_dtensor(object))
        ndim = whole_strides(stride, (TensorObject *)object, array);
    else
        for (int d = 0; d < ndim; d++)
            stride[d] = PyArray_STRIDE(array, d) / PyArray_ITEMSIZE(array);
    return ext_one_or_all(ext_tuple(stride, ndim), dim_object, "stride");
}

const char ext_tensor_stride_doc[] =
    "stride($self, /, dim=None)\n--\n\n"
    "Return how many elements lie between neighbours along each dimension.\n\n"
    "For a DTensor those of the whole array, were it in one memory in the order of "
    "this\n"
    "rank's part.\n\n"
    "Parameters\n----------\n"
    "dim : int, optional\n    One dimension only; negative ones count from the end.\n\n"
    "Returns\n-------\n"
    "tuple of int or int\n    In elements; `strides` is in bytes.\n\n"
    "Raises\n------\n"
    "IndexError\n    If the tensor has no dimension `dim`.\n";

PyObject *
ext_tensor_is_contiguous(PyObject *self, PyObject *Py_UNUSED(ignored))
{
    PyArrayObject *array = ext_local(self);
    return array == NULL ? NULL
                         : PyBool_FromLong(is_in_rows((TensorObject *)self, array));
}

const char ext_tensor_is_contiguous_doc[] =
    "is_contiguous($self, /)\n--\n\n"
    "Return whether the array is in C order without gaps.\n\n"
    "Of a DTensor: whether this rank's part is, were it longer.\n";
