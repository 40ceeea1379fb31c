/* array.c: the arrays that user's arguments are, and copies of arrays. */
#include "ext/types/types.h"

enum { RELEASE_GIL_FROM = 1 << 16 }; /* bytes */

int
ext_check_grad(bool requires_grad, PyArrayObject *array)
{
    dt_dtype dtype;
    if (!requires_grad)
        return 0;
    if (ext_dtype(&dtype, PyArray_DESCR(array), "requires_grad") < 0)
        return -1;
    if (dt_dtype_kind(dtype) == 'f' || dt_dtype_kind(dtype) == 'c')
        return 0;
    return ext_fail(PyExc_RuntimeError,
                    "only Tensors of floating point and complex dtype can require "
                    "gradients, not %s",
                    dt_dtype_name(dtype));
}

/* The dtype that Python's own numbers become: torch's rule, not NumPy's. */
static dt_dtype
dtype_of_numbers(dt_dtype dtype)
{
    if (dtype == DT_FLOAT64)
        return ext_default_dtype;
    if (dtype == DT_COMPLEX128 && ext_default_dtype != DT_FLOAT64)
        return ext_default_dtype == DT_LONGDOUBLE ? DT_CLONGDOUBLE : DT_COMPLEX64;
    return dtype;
}

static bool
is_python_number(PyObject *object)
{
    return PyFloat_CheckExact(object) || PyComplex_CheckExact(object) ||
           PyList_Check(object) || PyTuple_Check(object);
}

static PyObject *
cast(PyArrayObject *array, dt_dtype dtype)
{
    if (!ext_has_data(array))
        return ext_cast_without_data(array, dtype);
    PyArray_Descr *descr = ext_descr(dtype);
    return descr == NULL ? NULL
                         : PyArray_FromArray(array, descr,
                                             NPY_ARRAY_ALIGNED | NPY_ARRAY_FORCECAST);
}

/* A mask is no part of what ranks could exchange, so it is not dropped in silence. */
int
ext_refuse_masked(PyObject *object, const char *what)
{
    static PyObject *masked_array;
    if (!PyArray_Check(object) || PyArray_CheckExact(object))
        return 0;
    ext_import(&masked_array, "numpy.ma", "MaskedArray");
    int masked = masked_array == NULL ? -1 : PyObject_IsInstance(object, masked_array);
    if (masked > 0)
        PyErr_Format(
            PyExc_TypeError,
            "%s does not accept masked arrays: a mask cannot be distributed; give "
            "x.filled(value), and the mask as an array of its own",
            what);
    return masked == 0 ? 0 : -1;
}

/* The array behind an object, in `dtype` if one is given. `numbers` says that Python's
 * own take torch's default dtype. */
static PyObject *
array_of(PyObject *object, PyObject *dtype, bool numbers, const char *what)
{
    if (ext_is_dtensor(object))
        return PyErr_Format(
            PyExc_RuntimeError,
            "%s takes a Tensor or an array of this rank, not a DTensor: "
            "x.to_local() is its local part, x.full_tensor() the whole",
            what);
    if (ext_refuse_masked(object, what) < 0)
        return NULL;
    if (ext_catch_up() < 0)
        return NULL;
    PyObject *source = ext_is_tensor(object) ? ((TensorObject *)object)->array : object;
    bool is_one =
        PyArray_CheckExact(source) && PyArray_ISALIGNED((PyArrayObject *)source);
    PyObject *array =
        is_one ? Py_NewRef(source)
               : PyArray_FromAny(source, NULL, 0, 0,
                                 NPY_ARRAY_ALIGNED | NPY_ARRAY_ENSUREARRAY, NULL);
    if (array == NULL)
        return NULL;
    dt_dtype have, want;
    int failed = ext_dtype(&have, PyArray_DESCR((PyArrayObject *)array), what);
    want = have;
    if (failed == 0 && numbers && is_python_number(object))
        want = dtype_of_numbers(have);
    if (failed == 0 && dtype != NULL && dtype != Py_None)
        failed = ext_dtype_like(&want, dtype, have, what);
    PyObject *result = NULL;
    if (failed == 0 && want != have)
        result = cast((PyArrayObject *)array, want);
    else if (failed == 0 &&
             array == object) /* whose metadata are the user's to change */
        result = PyArray_View((PyArrayObject *)array, NULL, &PyArray_Type);
    else if (failed == 0)
        result = Py_NewRef(array);
    Py_DECREF(array);
    return result;
}

PyObject *
ext_array_of(PyObject *object, PyObject *dtype, const char *what)
{
    return array_of(object, dtype, false, what);
}

PyObject *
ext_array_of_numbers(PyObject *object, PyObject *dtype, const char *what)
{
    return array_of(object, dtype, true, what);
}

void
ext_copy_into(PyObject *target, PyArrayObject *source)
{
    int ndim = PyArray_NDIM(source);
    int64_t shape[DT_MAX_NDIM], to[DT_MAX_NDIM], from[DT_MAX_NDIM];
    for (int d = 0; d < ndim; d++) {
        shape[d] = PyArray_DIM(source, d);
        to[d] = PyArray_STRIDE((PyArrayObject *)target, d);
        from[d] = PyArray_STRIDE(source, d);
    }
    void *dst = PyArray_DATA((PyArrayObject *)target);
    const void *src = PyArray_DATA(source);
    size_t itemsize = (size_t)PyArray_ITEMSIZE(source);
    PyThreadState *state =
        PyArray_NBYTES(source) >= RELEASE_GIL_FROM ? PyEval_SaveThread() : NULL;
    dt_copy_box(dst, to, src, from, ndim, shape, itemsize);
    if (state != NULL)
        PyEval_RestoreThread(state);
}

PyObject *
ext_array_copy(PyArrayObject *array)
{
    dt_dtype dtype;
    if (ext_dtype(&dtype, PyArray_DESCR(array), "copy") < 0)
        return NULL;
    if (!ext_has_data(array))
        return ext_cast_without_data(array, dtype);
    PyObject *copy = ext_array_like(array, dtype);
    if (copy != NULL)
        ext_copy_into(copy, array);
    return copy;
}
