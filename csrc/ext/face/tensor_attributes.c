/* The attributes of Tensor, which a DTensor answers for the whole array. */
#include "ext/face/face.h"

static PyObject *
get_shape(PyObject *object, void *Py_UNUSED(closure))
{
    if (ext_is_dtensor(object))
        return Py_NewRef(((DTensorObject *)object)->layout->shape);
    int64_t shape[DT_MAX_NDIM];
    int ndim = ext_tensor_shape(shape, (TensorObject *)object);
    return ext_tuple(shape, ndim);
}

static PyObject *
get_dtype(PyObject *object, void *Py_UNUSED(closure))
{
    /* A part that is under way has its dtype already. */
    return Py_NewRef(
        (PyObject *)PyArray_DESCR((PyArrayObject *)((TensorObject *)object)->array));
}

static PyObject *
get_ndim(PyObject *object, void *Py_UNUSED(closure))
{
    int64_t shape[DT_MAX_NDIM];
    return PyLong_FromLong(ext_tensor_shape(shape, (TensorObject *)object));
}

static PyObject *
get_size(PyObject *object, void *closure)
{
    return ext_size(ext_tensor_count((TensorObject *)object),
                    get_shape(object, closure));
}

static int64_t
item_size(PyObject *object)
{
    return PyArray_ITEMSIZE((PyArrayObject *)((TensorObject *)object)->array);
}

static PyObject *
get_itemsize(PyObject *object, void *Py_UNUSED(closure))
{
    return PyLong_FromLongLong(item_size(object));
}

static PyObject *
get_nbytes(PyObject *object, void *Py_UNUSED(closure))
{
    return PyLong_FromLongLong(item_size(object) *
                               ext_tensor_count((TensorObject *)object));
}

static PyObject *
get_strides(PyObject *object, void *Py_UNUSED(closure))
{
    PyArrayObject *array = ext_local(object);
    if (array == NULL)
        return NULL;
    int64_t strides[DT_MAX_NDIM];
    for (int d = 0; d < PyArray_NDIM(array); d++)
        strides[d] = PyArray_STRIDE(array, d);
    return ext_tuple(strides, PyArray_NDIM(array));
}

/* Of the NumPy array; an array that is not whole on any rank has none, and says why. */
static PyObject *
get_ctypes(PyObject *object, void *Py_UNUSED(closure))
{
    PyObject *array = PyObject_CallMethod(object, "__array__", NULL);
    if (array == NULL && PyErr_ExceptionMatches(PyExc_RuntimeError)) {
        PyObject *type, *error, *trace;
        PyErr_Fetch(&type, &error, &trace);
        PyErr_Format(PyExc_AttributeError, "ctypes: %S", error);
        Py_XDECREF(type);
        Py_XDECREF(error);
        Py_XDECREF(trace);
    }
    PyObject *found = NULL;
    if (array != NULL && !PyArray_IS_C_CONTIGUOUS((PyArrayObject *)array))
        PyErr_SetString(PyExc_AttributeError,
                        "ctypes: the elements do not lie one after the other; "
                        "x.contiguous() has them so");
    else if (array != NULL)
        found = PyObject_GetAttrString(array, "ctypes");
    Py_XDECREF(array);
    return found;
}

static PyObject *
get_device(PyObject *object, void *Py_UNUSED(closure))
{
    PyArrayObject *array = (PyArrayObject *)((TensorObject *)object)->array;
    return PyUnicode_FromString(ext_has_data(array) ? "cpu" : "meta");
}

static PyObject *
get_requires_grad(PyObject *object, void *Py_UNUSED(closure))
{
    return PyBool_FromLong(tape_requires(object));
}

int
ext_tensor_require_grad(TensorObject *self, bool wanted)
{
    if (ext_check_grad(wanted, (PyArrayObject *)self->array) < 0)
        return -1;
    if (self->node != NULL && !wanted)
        return ext_fail(PyExc_RuntimeError,
                        "you can only change requires_grad flags of leaf variables; "
                        "use x.detach() to stop recording");
    self->requires_grad = wanted;
    return 0;
}

static int
set_requires_grad(PyObject *object, PyObject *value, void *Py_UNUSED(closure))
{
    if (value == NULL || !PyBool_Check(value))
        return ext_fail(PyExc_TypeError, "requires_grad must be True or False");
    return ext_tensor_require_grad((TensorObject *)object, value == Py_True);
}

static PyObject *
get_grad(PyObject *object, void *Py_UNUSED(closure))
{
    PyObject *grad = ((TensorObject *)object)->grad;
    return Py_NewRef(grad == NULL ? Py_None : grad);
}

/* A gradient has the kind, shape and dtype of what it is the gradient of. */
static int
check_grad_value(TensorObject *self, PyObject *value)
{
    bool whole = ext_is_dtensor((PyObject *)self);
    if (!(whole ? ext_is_dtensor(value)
                : ext_is_tensor(value) && !ext_is_dtensor(value)))
        return ext_fail(PyExc_TypeError,
                        "can't assign a '%s' as a grad, expected a %s or None",
                        Py_TYPE(value)->tp_name, whole ? "DTensor" : "Tensor");
    const char *differs = ext_tensor_differs(self, (TensorObject *)value);
    if (differs == NULL)
        return 0;
    return ext_fail(PyExc_RuntimeError, "assigned grad has data of a different %s",
                    differs);
}

static int
set_grad(PyObject *object, PyObject *value, void *Py_UNUSED(closure))
{
    TensorObject *self = (TensorObject *)object;
    if (value == NULL || value == Py_None) {
        Py_CLEAR(self->grad);
        return 0;
    }
    if (check_grad_value(self, value) < 0)
        return -1;
    Py_XSETREF(self->grad, Py_NewRef(value));
    return 0;
}

static PyObject *
get_is_leaf(PyObject *object, void *Py_UNUSED(closure))
{
    TensorObject *self = (TensorObject *)object;
    return PyBool_FromLong(self->node == NULL &&
                           (self->requires_grad || !tape_requires(object)));
}

/* Of a tensor that is behind, and cannot be made anew, what it had. */
static PyObject *
get_grad_fn(PyObject *object, void *Py_UNUSED(closure))
{
    TensorObject *self = (TensorObject *)object;
    if (tape_check_fresh(self) < 0)
        PyErr_Clear();
    return Py_NewRef(self->node == NULL ? Py_None : self->node);
}

static PyObject *
get_data(PyObject *object, void *Py_UNUSED(closure))
{
    /* PyTorch's of a tensor counts its own writes: backward does not see them */
    if (ext_is_torch(object) && !ext_is_dtensor(object))
        return tape_alias((TensorObject *)object);
    return PyObject_CallMethod(object, "detach", NULL);
}

/* The object stays, with another array: optimizers go on to know their parameters. */
static int
set_data(PyObject *object, PyObject *value, void *Py_UNUSED(closure))
{
    TensorObject *self = (TensorObject *)object;
    if (value == NULL || !ext_is_tensor(value) ||
        ext_is_dtensor(value) != ext_is_dtensor(object))
        return ext_fail(PyExc_TypeError, "data of a %s takes a %s, not %R",
                        Py_TYPE(object)->tp_name, Py_TYPE(object)->tp_name,
                        value == NULL ? Py_None : (PyObject *)Py_TYPE(value));
    PyArrayObject *array = ext_local(value);
    if (array == NULL || ext_local(object) == NULL ||
        ext_check_grad(self->requires_grad, array) < 0)
        return -1;
    if (ext_is_dtensor(object)) {
        PyObject *layout = (PyObject *)((DTensorObject *)value)->layout;
        Py_SETREF(((DTensorObject *)self)->layout, (LayoutObject *)Py_NewRef(layout));
    }
    Py_SETREF(self->array, Py_NewRef((PyObject *)array));
    if (ext_is_dtensor(object))
        ext_with_lineage(object, ext_lineage((DTensorObject *)value));
    return 0;
}

static PyObject *
get_retains_grad(PyObject *object, void *Py_UNUSED(closure))
{
    PyObject *entry = tape_retaining((TensorObject *)object);
    if (entry == NULL)
        return NULL;
    Py_DECREF(entry);
    return PyBool_FromLong(entry != Py_None);
}

static PyObject *
get_version(PyObject *object, void *Py_UNUSED(closure))
{
    const tape_version *version = ((TensorObject *)object)->version;
    return PyLong_FromUnsignedLongLong(version == NULL ? 0 : version->value);
}

#define MEMBER(name, type, field, flags, doc)                                          \
    {name, type, offsetof(TensorObject, field), flags, doc}

PyMemberDef ext_tensor_members[] = {
    MEMBER("output_nr", T_INT, output, READONLY, "Which output of `grad_fn` it is."),
    /* The flag by which isinstance(x, nn.Parameter) answers. */
    MEMBER("_is_param", T_BOOL, parameter, 0,
           "Whether this is a parameter of a module: see `dtensor.nn.Parameter`."),
    {0},
};

PyGetSetDef ext_tensor_attributes[] = {
    {"shape", get_shape, NULL,
     "Lengths of the dimensions, in elements: of the whole array for a DTensor.", NULL},
    {"dtype", get_dtype, NULL, "The NumPy dtype of the elements.", NULL},
    {"ndim", get_ndim, NULL, "Number of dimensions.", NULL},
    {"size", get_size, NULL,
     "Number of elements: an int that can be called as torch's ``size(dim=None)``.",
     NULL},
    {"itemsize", get_itemsize, NULL, "Bytes of one element.", NULL},
    {"nbytes", get_nbytes, NULL, "Bytes of all elements: of the whole for a DTensor.",
     NULL},
    {"strides", get_strides, NULL,
     "NumPy's strides of this rank's array, in bytes; `stride` counts elements.", NULL},
    {"ctypes", get_ctypes, NULL,
     "NumPy's attribute of this name, for C functions. Not of a DTensor that is cut, "
     "nor\n"
     "of an array with gaps.",
     NULL},
    {"device", get_device, NULL,
     "Where the elements are: ``'cpu'``, or ``'meta'`` of a tensor that has none.",
     NULL},
    {"requires_grad", get_requires_grad, set_requires_grad,
     "Whether operations are recorded for gradients; can be set.", NULL},
    {"grad", get_grad, set_grad,
     "The gradient of the same shape and dtype, or None; can be set.", NULL},
    {"grad_fn", get_grad_fn, NULL,
     "The Node of the recorded operation that made it, or None.", NULL},
    {"is_leaf", get_is_leaf, NULL,
     "True unless an operation that was recorded made it.", NULL},
    {"retains_grad", get_retains_grad, NULL,
     "Whether backward sets `grad` of this result: `retain_grad` was called.", NULL},
    {"_version", get_version, NULL,
     "How often it was written to since something was kept for backward.", NULL},
    {"data", get_data, set_data,
     "The same array without gradients; set, it takes the place of the array, and of\n"
     "a DTensor's layout, while the object stays.",
     NULL},
    {"__dict__", PyObject_GenericGetDict, PyObject_GenericSetDict, NULL, NULL},
    {NULL, NULL, NULL, NULL, NULL},
};
