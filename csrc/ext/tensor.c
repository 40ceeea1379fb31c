/* Tensor: the type, how one is made, lives, is shown and dies. */
#include "ext/tape.h"

#include <stddef.h>

TensorObject *
ext_tensor_alloc(PyTypeObject *type, PyObject *array)
{
    TensorObject *self = array == NULL ? NULL : (TensorObject *)type->tp_alloc(type, 0);
    if (self == NULL)
        Py_XDECREF(array);
    else
        self->array = array;
    return self;
}

PyObject *
ext_tensor(PyObject *array)
{
    return (PyObject *)ext_tensor_alloc(&ext_tensor_type, array);
}

PyArrayObject *
ext_local(PyObject *tensor)
{
    if (ext_is_dtensor(tensor)) {
        DTensorObject *self = (DTensorObject *)tensor;
        if (self->pending != NULL) {
            if (ext_pending_wait(self->pending) < 0)
                return NULL;
            Py_CLEAR(self->pending);
        }
    }
    return (PyArrayObject *)((TensorObject *)tensor)->array;
}

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
    PyErr_Format(
        PyExc_RuntimeError,
        "only Tensors of floating point and complex dtype can require gradients, "
        "not %s",
        dt_dtype_name(dtype));
    return -1;
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
        PyErr_Format(PyExc_TypeError,
                     "%s takes no masked array: a mask cannot be spread; give "
                     "x.filled(value), and the mask as an array of its own",
                     what);
    return masked == 0 ? 0 : -1;
}

/* The array behind an object, in `dtype` if one is given. `numbers` says that Python's
 * own take torch's default dtype. */
static PyObject *
array_of(PyObject *object, PyObject *dtype, bool numbers, const char *what)
{
    if (ext_is_dtensor(object)) {
        PyErr_Format(PyExc_RuntimeError,
                     "%s takes a Tensor or an array of this rank, not a DTensor: "
                     "x.to_local() is its local part, x.full_tensor() the whole",
                     what);
        return NULL;
    }
    if (ext_refuse_masked(object, what) < 0)
        return NULL;
    PyObject *source = ext_is_tensor(object) ? ((TensorObject *)object)->array : object;
    PyObject *array = PyArray_FromAny(source, NULL, 0, 0,
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

static int
tensor_traverse(PyObject *object, visitproc visit, void *arg)
{
    TensorObject *self = (TensorObject *)object;
    Py_VISIT(self->array);
    Py_VISIT(self->grad);
    Py_VISIT(self->node);
    Py_VISIT(self->hooks);
    Py_VISIT(self->dict);
    if (ext_is_dtensor(object)) {
        Py_VISIT(((DTensorObject *)self)->layout);
        Py_VISIT(((DTensorObject *)self)->pending);
    }
    return 0;
}

/* The array and the layout form no cycles and stay: a weak reference's callback may
 * still look at them. */
static int
tensor_clear(PyObject *object)
{
    TensorObject *self = (TensorObject *)object;
    Py_CLEAR(self->grad);
    Py_CLEAR(self->node);
    Py_CLEAR(self->hooks);
    Py_CLEAR(self->dict);
    return 0;
}

static void
tensor_dealloc(PyObject *object)
{
    TensorObject *self = (TensorObject *)object;
    PyObject_GC_UnTrack(object);
    if (self->weakrefs != NULL)
        PyObject_ClearWeakRefs(object);
    tensor_clear(object);
    tape_version_release(self->version);
    Py_CLEAR(self->array);
    if (ext_is_dtensor(object)) {
        Py_CLEAR(((DTensorObject *)self)->layout);
        Py_CLEAR(((DTensorObject *)self)->pending);
    }
    Py_TYPE(object)->tp_free(object);
}

/* "[[1., 2.],\n        [3., 4.]]" as NumPy prints it behind `prefix`. */
static PyObject *
array_text(PyObject *array, const char *prefix)
{
    PyObject *numpy = PyImport_ImportModule("numpy");
    PyObject *print =
        numpy == NULL ? NULL : PyObject_GetAttrString(numpy, "array2string");
    PyObject *args = print == NULL ? NULL : PyTuple_Pack(1, array);
    PyObject *options =
        args == NULL ? NULL
                     : Py_BuildValue("{s:s,s:s}", "separator", ", ", "prefix", prefix);
    PyObject *text = options == NULL ? NULL : PyObject_Call(print, args, options);
    Py_XDECREF(numpy);
    Py_XDECREF(print);
    Py_XDECREF(args);
    Py_XDECREF(options);
    return text;
}

static PyObject *
tensor_repr(PyObject *object)
{
    TensorObject *self = (TensorObject *)object;
    PyArrayObject *array = (PyArrayObject *)self->array;
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
    "Tensor(data, dtype=None, requires_grad=False)\n"
    "--\n\n"
    "An array of this rank, with room for a gradient.\n\n"
    "A Tensor holds a NumPy array, without a copy where `data` is one already:\n"
    "``np.asarray(t)`` shares memory with it. `tensor` makes one from a copy.\n\n"
    "Parameters\n"
    "----------\n"
    "data : array_like\n"
    "    A Tensor, an array, or numbers. Python's own floats get the default dtype.\n"
    "dtype : dtype_like, optional\n"
    "    The wanted element type; default: that of `data`.\n"
    "requires_grad : bool, default False\n"
    "    Whether operations on it are recorded; float and complex only.\n\n"
    "Raises\n"
    "------\n"
    "TypeError\n"
    "    If the elements are neither numbers nor booleans. On this rank only.\n"
    "RuntimeError\n"
    "    If `requires_grad` asks for gradients of integers or booleans, or `data` is\n"
    "    a DTensor. On this rank only.\n");

PyTypeObject ext_tensor_type = {
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = "dtensor.Tensor",
    .tp_basicsize = sizeof(TensorObject),
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_HAVE_GC,
    .tp_doc = tensor_doc,
    .tp_new = tensor_new,
    .tp_dealloc = tensor_dealloc,
    .tp_traverse = tensor_traverse,
    .tp_clear = tensor_clear,
    .tp_repr = tensor_repr,
    .tp_as_mapping = &ext_tensor_mapping,
    .tp_as_sequence = &ext_tensor_sequence,
    .tp_richcompare = ext_tensor_compare,
    .tp_hash = tensor_hash,
    .tp_iter = ext_tensor_iter,
    .tp_as_number = &ext_tensor_numbers,
    .tp_getset = ext_tensor_attributes,
    .tp_methods = ext_tensor_methods,
    .tp_dictoffset = offsetof(TensorObject, dict),
    .tp_weaklistoffset = offsetof(TensorObject, weakrefs),
};

PyDoc_STRVAR(
    dtensor_doc,
    "DTensor(local_tensor, spec, *, requires_grad)\n"
    "--\n\n"
    "One array, spread over the ranks of a mesh.\n\n"
    "`shape`, `size`, `dtype` and the like are those of the whole array; this rank's\n"
    "part is ``to_local()``. Made by `distribute_tensor`, ``DTensor.from_local`` or a\n"
    "factory such as `zeros`; the constructor trusts all ranks to call it alike.\n\n"
    "Parameters\n"
    "----------\n"
    "local_tensor : Tensor or array_like\n"
    "    This rank's part, shared and not copied.\n"
    "spec : Layout\n"
    "    Mesh, placements, shape and dtype of the whole.\n"
    "requires_grad : bool\n"
    "    Whether operations on it are recorded; float and complex only.\n\n"
    "Raises\n"
    "------\n"
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
    if (requires_grad < 0) {
        PyErr_SetString(PyExc_TypeError,
                        "DTensor() missing required keyword-only argument "
                        "'requires_grad'");
        return NULL;
    }
    PyObject *array = ext_array_of(local, NULL, "DTensor");
    PyObject *self =
        array == NULL ? NULL : ext_dtensor_checked(type, array, (LayoutObject *)spec);
    if (self != NULL && ext_check_grad(requires_grad != 0, (PyArrayObject *)array) < 0)
        Py_CLEAR(self);
    if (self != NULL)
        ((TensorObject *)self)->requires_grad = requires_grad != 0;
    return self;
}

PyTypeObject ext_dtensor_type = {
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = "dtensor.DTensor",
    .tp_basicsize = sizeof(DTensorObject),
    .tp_base = &ext_tensor_type,
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_HAVE_GC,
    .tp_doc = dtensor_doc,
    .tp_new = dtensor_new,
    .tp_dealloc = tensor_dealloc,
    .tp_traverse = tensor_traverse,
    .tp_clear = tensor_clear,
    .tp_repr = ext_dtensor_repr,
    .tp_getset = ext_dtensor_attributes,
    .tp_methods = ext_dtensor_methods,
};
