/* Tensors without data: a shape, a dtype and perhaps a layout, and no elements.
 *
 * Their array has one element for all, which nobody reads: strides of 0 over a constant
 * of the library. Its address is the mark, so it goes wherever the array goes. */
#include "ext/types/types.h"

const _Alignas(32) char ext_no_data[32];

/* Steals `base`, which may be NULL. */
static PyObject *
hollow_array(int ndim, const int64_t *shape, dt_dtype dtype, PyObject *base)
{
    npy_intp lengths[DT_MAX_NDIM], strides[DT_MAX_NDIM] = {0};
    for (int d = 0; d < ndim; d++)
        lengths[d] = (npy_intp)shape[d];
    PyArray_Descr *descr = ext_descr(dtype);
    PyObject *array = NULL;
    if (descr != NULL)
        array = PyArray_NewFromDescr(&PyArray_Type, descr, ndim, lengths, strides,
                                     (void *)(uintptr_t)ext_no_data, NPY_ARRAY_ALIGNED,
                                     NULL);
    if (array == NULL)
        Py_XDECREF(base);
    else if (base != NULL && PyArray_SetBaseObject((PyArrayObject *)array, base) < 0)
        Py_CLEAR(array);
    return array;
}

PyObject *
ext_array_without_data(int ndim, const int64_t *shape, dt_dtype dtype)
{
    PyObject *memory = ext_simulated_memory(ndim, shape, dtype);
    if (memory == NULL && PyErr_Occurred())
        return NULL;
    return hollow_array(ndim, shape, dtype, memory);
}

PyObject *
ext_view_without_data(PyObject *of, int ndim, const int64_t *shape, dt_dtype dtype)
{
    return hollow_array(ndim, shape, dtype, Py_NewRef(of));
}

PyObject *
ext_cast_without_data(PyArrayObject *array, dt_dtype dtype)
{
    int64_t shape[DT_MAX_NDIM];
    return ext_array_without_data(ext_array_shape(shape, array), shape, dtype);
}

int
ext_refuse_without_data(PyArrayObject *array)
{
    if (ext_has_data(array))
        return 0;
    return ext_fail(PyExc_NotImplementedError,
                    "Cannot copy out of meta tensor; no data!");
}
