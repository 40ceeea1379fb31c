/* tensor_type.c: Tensor() and DTensor(), and how they are shown. */
#include "ext/face/face.h"

static PyObject *
tensor_new(PyTypeObject *type, PyObject *args, PyObject *kwargs)
{
    static char *names[] = {"data", "dtype", "requires_grad", NULL};
    PyObject *data, *dtype = Py_None;
    int requires_grad = 0;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "O|Op:Tensor", names, &data, &dtype,
                                     &requires_grad))
        return NULL;
    PyObject *array = ext_array_of_numbers(data, dtype, "Tensor");
    if (array == NULL)
        return NULL;
    if (ext_check_grad(requires_grad != 0, (PyArrayObject *)array) < 0) {
        Py_DECREF(array);
        return NULL;
    }
    TensorObject *self = ext_tensor_alloc(type, array);
    if (self != NULL)
        self->requires_grad = requires_grad != 0;
    return (PyObject *)self;
}

/* "[[1., 2.],\n        [3., 4.]]" as NumPy prints it behind `prefix`. */
static PyObject *
array_text(PyObject *array, const char *prefix)
{
    static PyObject *print;
    if (ext_import(&print, "numpy", "array2string") == NULL)
        return NULL;
    PyObject *args = PyTuple_Pack(1, array);
    PyObject *options =
        args == NULL ? NULL
                     : Py_BuildValue("{s:s,s:s}", "separator", ", ", "prefix", prefix);
    PyObject *text = options == NULL ? NULL : PyObject_Call(print, args, options);
    Py_XDECREF(args);
    Py_XDECREF(options);
    return text;
}

static PyObject *
tensor_repr(PyObject *object)
{
    TensorObject *self = (TensorObject *)object;
    PyArrayObject *array = (PyArrayObject *)self->array;
    if (ext_catch_up() < 0)
        return NULL;
    PyObject *text = ext_has_data(array) ? array_text(self->array, "Tensor(")
                                         : PyUnicode_FromString("...");
    PyObject *shape =
        text == NULL ? NULL : PyObject_GetAttrString(self->array, "shape");
    PyObject *result = NULL;
    if (shape != NULL && !ext_has_data(array))
        result = PyUnicode_FromFormat(
            "Tensor(..., device='meta', shape=%R, dtype=%S%s)", shape,
            PyArray_DESCR(array), self->requires_grad ? ", requires_grad=True" : "");
    else if (shape != NULL && PyArray_SIZE(array) == 0 && PyArray_NDIM(array) > 1)
        result = PyUnicode_FromFormat(
            "Tensor(%U, shape=%R, dtype=%S%s)", text, shape, PyArray_DESCR(array),
            self->requires_grad ? ", requires_grad=True" : "");
    else if (shape != NULL)
        result =
            PyUnicode_FromFormat("Tensor(%U, dtype=%S%s)", text, PyArray_DESCR(array),
                                 self->requires_grad ? ", requires_grad=True" : "");
    Py_XDECREF(text);
    Py_XDECREF(shape);
    return result;
}

/* x == y is elementwise, so that objects are told apart by identity. */
static Py_hash_t
tensor_hash(PyObject *self)
{
    return _Py_HashPointer(self);
}

PyDoc_STRVAR(
    tensor_doc,
    "Tensor(data, dtype=None, requires_grad=False)\n--\n\n"
    "An array of this rank, with room for a gradient.\n\n"
    "A Tensor holds a NumPy array, without a copy where `data` is one already:\n"
    "``np.asarray(t)`` shares memory with it. `tensor` makes one from a copy.\n\n"
    "Parameters\n----------\n"
    "data : array_like\n"
    "    A Tensor, an array, or numbers. Python's own floats get the default dtype.\n"
    "dtype : dtype_like, optional\n"
    "    The wanted element type; default: that of `data`.\n"
    "requires_grad : bool, default False\n"
    "    Whether operations on it are recorded; float and complex only.\n\n"
    "Raises\n------\n"
    "TypeError\n"
    "    If the elements are neither numbers nor booleans. On this rank only.\n"
    "RuntimeError\n"
    "    If `requires_grad` asks for gradients of integers or booleans, or `data` is\n"
    "    a DTensor. On this rank only.\n");

PyDoc_STRVAR(
    dtensor_doc,
    "DTensor(local_tensor, spec, *, requires_grad)\n--\n\n"
    "One array, spread over the ranks of a mesh.\n\n"
    "`shape`, `size`, `dtype` and the like are those of the whole array; this rank's\n"
    "part is ``to_local()``. Made by `distribute_tensor`, ``DTensor.from_local`` or a\n"
    "factory such as `zeros`; the constructor trusts all ranks to call it alike.\n\n"
    "Parameters\n----------\n"
    "local_tensor : Tensor or array_like\n"
    "    This rank's part, shared and not copied.\n"
    "spec : Layout\n"
    "    Mesh, placements, shape and dtype of the whole.\n"
    "requires_grad : bool\n"
    "    Whether operations on it are recorded; float and complex only.\n\n"
    "Raises\n------\n"
    "ValueError\n"
    "    If the shape of `local_tensor` is not that of this rank's part. On this rank\n"
    "    only: nothing is communicated.\n"
    "TypeError\n"
    "    If `spec` is no Layout, or its dtype is not that of `local_tensor`. On this\n"
    "    rank only.\n");

static PyObject *
dtensor_new(PyTypeObject *type, PyObject *args, PyObject *kwargs)
{
    static char *names[] = {"local_tensor", "spec", "requires_grad", NULL};
    PyObject *local, *spec;
    int requires_grad = -1;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "OO!|$p:DTensor", names, &local,
                                     &ext_layout_type, &spec, &requires_grad))
        return NULL;
    if (requires_grad < 0)
        return PyErr_Format(PyExc_TypeError,
                            "DTensor() missing required keyword-only argument "
                            "'requires_grad'");
    PyObject *array = ext_array_of(local, NULL, "DTensor");
    PyObject *self =
        array == NULL ? NULL : ext_dtensor_checked(type, array, (LayoutObject *)spec);
    if (self != NULL && ext_check_grad(requires_grad != 0, (PyArrayObject *)array) < 0)
        Py_CLEAR(self);
    if (self != NULL)
        ((TensorObject *)self)->requires_grad = requires_grad != 0;
    return ext_arrived(self, ((LayoutObject *)spec)->mesh->mesh, "DTensor");
}

void
ext_fill_tensor_types(void)
{
    ext_fill_number_slots(&ext_tensor_numbers);
    ext_tensor_type.tp_doc = tensor_doc;
    ext_tensor_type.tp_new = tensor_new;
    ext_tensor_type.tp_repr = tensor_repr;
    ext_tensor_type.tp_as_mapping = &ext_tensor_mapping;
    ext_tensor_type.tp_as_sequence = &ext_tensor_sequence;
    ext_tensor_type.tp_as_number = &ext_tensor_numbers;
    ext_tensor_type.tp_richcompare = ext_tensor_compare;
    ext_tensor_type.tp_hash = tensor_hash;
    ext_tensor_type.tp_iter = ext_tensor_iter;
    ext_tensor_type.tp_members = ext_tensor_members;
    ext_tensor_type.tp_getset = ext_tensor_attributes;
    ext_tensor_type.tp_methods = ext_tensor_methods;
    ext_dtensor_type.tp_doc = dtensor_doc;
    ext_dtensor_type.tp_new = dtensor_new;
    ext_dtensor_type.tp_repr = ext_dtensor_repr;
    ext_dtensor_type.tp_getset = ext_dtensor_attributes;
    ext_dtensor_type.tp_methods = ext_dtensor_methods;
}
