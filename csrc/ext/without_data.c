/* Tensors without data: a shape, a dtype and perhaps a layout, and no elements.
 *
 * Their array has one element for all, which nobody reads: strides of 0 over a constant
 * of the library. Its address is the mark, so it goes wherever the array goes. */
#include "ext/op.h"

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
    for (int d = 0; d < PyArray_NDIM(array); d++)
        shape[d] = PyArray_DIM(array, d);
    return ext_array_without_data(PyArray_NDIM(array), shape, dtype);
}

int
ext_refuse_without_data(PyArrayObject *array)
{
    if (ext_has_data(array))
        return 0;
    PyErr_SetString(PyExc_NotImplementedError,
                    "Cannot copy out of meta tensor; no data!");
    return -1;
}

PyObject *
ext_part_without_data(const dt_layout *layout, int64_t rank)
{
    int64_t shape[DT_MAX_NDIM + 1];
    int ndim = dt_layout_shape_at(shape, layout, rank);
    return ext_array_without_data(ndim, shape, layout->dtype);
}

bool
op_without_data(const op_call *call)
{
    for (int k = 0; k < call->operand_count; k++) {
        PyObject *operand = call->operands[k];
        if (ext_is_tensor(operand) &&
            !ext_has_data((PyArrayObject *)((TensorObject *)operand)->array))
            return true;
    }
    return false;
}

static PyObject *
of_layout(LayoutObject *layout)
{
    const dt_mesh *mesh = layout->mesh->mesh;
    int64_t rank = -1;
    if (mesh->world != 0) {
        dt_world *world = ext_world(mesh, "without_data");
        if (world == NULL)
            return NULL;
        rank = world->transport->rank;
    }
    PyObject *array = ext_part_without_data(layout->layout, rank);
    return array == NULL ? NULL : ext_dtensor(array, layout);
}

static PyObject *
without_data(PyObject *Py_UNUSED(module), PyObject *args)
{
    PyObject *what, *wanted = Py_None;
    int64_t shape[DT_MAX_NDIM];
    dt_dtype dtype;
    if (!PyArg_ParseTuple(args, "O|O:without_data", &what, &wanted))
        return NULL;
    if (Py_TYPE(what) == &ext_layout_type)
        return of_layout((LayoutObject *)what);
    int ndim = ext_shape(shape, what, "without_data");
    if (ndim < 0 || ext_dtype_like(&dtype, wanted, ext_default_dtype, "empty") < 0)
        return NULL;
    PyObject *array = ext_array_without_data(ndim, shape, dtype);
    return array == NULL ? NULL : ext_tensor(array);
}

PyMethodDef ext_without_data_methods[] = {
    {"without_data", without_data, METH_VARARGS,
     "without_data(shape_or_layout, dtype=None, /)\n--\n\n"
     "Return a Tensor of a shape, or a DTensor of a layout, that has no elements:\n"
     "operators give such ones of it."},
    {0},
};
