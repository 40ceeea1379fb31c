/* dtensor.c: how a DTensor is made. */
#include "ext/types/types.h"

DTensorObject *
ext_dtensor_alloc(PyTypeObject *type, PyObject *array, LayoutObject *layout)
{
    DTensorObject *self = (DTensorObject *)ext_tensor_alloc(type, array);
    if (self != NULL)
        self->layout = (LayoutObject *)Py_NewRef((PyObject *)layout);
    return self;
}

PyObject *
ext_dtensor(PyObject *array, LayoutObject *layout)
{
    return (PyObject *)ext_dtensor_alloc(&ext_dtensor_type, array, layout);
}

PyObject *
ext_tensor_like(PyObject *array, PyObject *tensor)
{
    if (!ext_is_dtensor(tensor) || array == NULL)
        return ext_in_dialect(ext_tensor(array), tensor);
    const DTensorObject *source = (DTensorObject *)tensor;
    PyObject *made = ext_dtensor(array, source->layout);
    return ext_in_dialect(ext_with_lineage(made, ext_lineage(source)), tensor);
}

PyObject *
ext_dtensor_new(PyObject *array, const dt_layout *layout, MeshObject *mesh,
                bool requires_grad)
{
    if (array == NULL) {
        dt_layout_release(ext_context, layout);
        return NULL;
    }
    LayoutObject *object = ext_layout(layout, mesh);
    if (object == NULL) {
        Py_DECREF(array);
        return NULL;
    }
    PyObject *self = ext_dtensor(array, object);
    Py_DECREF(object);
    if (self != NULL)
        ((TensorObject *)self)->requires_grad = requires_grad;
    return self;
}

/* -1 with an exception unless an array is this rank's part of a layout. */
static int
check_part(PyArrayObject *array, LayoutObject *object)
{
    const dt_layout *layout = object->layout;
    int64_t coordinate[DT_MESH_MAX_NDIM], shape[DT_MAX_NDIM + 1];
    dt_dtype dtype;
    int inside = ext_coordinate(coordinate, layout->mesh, "DTensor");
    if (inside < 0 || ext_dtype(&dtype, PyArray_DESCR(array), "DTensor") < 0)
        return -1;
    if (dtype != layout->dtype)
        return ext_fail(PyExc_TypeError,
                        "DTensor: the local array is %s, but the layout %s",
                        dt_dtype_name(dtype), dt_dtype_name(layout->dtype));
    int ndim = dt_layout_local_shape(shape, layout, inside ? coordinate : NULL);
    bool fits = PyArray_NDIM(array) == ndim;
    for (int d = 0; fits && d < ndim; d++)
        fits = PyArray_DIM(array, d) == shape[d];
    if (fits)
        return 0;
    PyObject *wanted = ext_tuple(shape, ndim);
    PyObject *given = PyObject_GetAttrString((PyObject *)array, "shape");
    if (wanted != NULL && given != NULL)
        PyErr_Format(
            PyExc_ValueError,
            "DTensor: the local array has shape %R, but this rank's part of %R "
            "has shape %R",
            given, object->shape, wanted);
    Py_XDECREF(wanted);
    Py_XDECREF(given);
    return -1;
}

PyObject *
ext_dtensor_checked(PyTypeObject *type, PyObject *array, LayoutObject *layout)
{
    if (check_part((PyArrayObject *)array, layout) == 0)
        return (PyObject *)ext_dtensor_alloc(type, array, layout);
    Py_DECREF(array);
    return NULL;
}
