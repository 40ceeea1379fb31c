/* The methods of Tensor. Those that look at elements serve this rank's array; a DTensor
 * is gathered first for item(), bool() and the like, and else refuses unless every rank
 * has all of it. */
#include "ext/face/face.h"

#include <inttypes.h>
#include <stdlib.h>

static PyObject *
tensor_numel(PyObject *self, PyObject *Py_UNUSED(ignored))
{
    return PyLong_FromLongLong(ext_tensor_count((TensorObject *)self));
}

PyDoc_STRVAR(numel_doc, "numel($self, /)\n--\n\n"
                        "Return the number of elements: of the whole for a DTensor.\n");

static PyObject *
tensor_dim(PyObject *self, PyObject *Py_UNUSED(ignored))
{
    int64_t shape[DT_MAX_NDIM];
    return PyLong_FromLong(ext_tensor_shape(shape, (TensorObject *)self));
}

PyDoc_STRVAR(dim_doc, "dim($self, /)\n--\n\nReturn the number of dimensions.\n");

static PyObject *
tensor_element_size(PyObject *self, PyObject *Py_UNUSED(ignored))
{
    return PyObject_GetAttrString(self, "itemsize");
}

PyDoc_STRVAR(element_size_doc,
             "element_size($self, /)\n--\n\nReturn the bytes of one element.\n");

static PyObject *
tensor_requires_grad_(PyObject *self, PyObject *const *args, Py_ssize_t nargs,
                      PyObject *kwnames)
{
    static const ext_signature signature =
        EXT_SIGNATURE("requires_grad_", 1, 1, 0, "requires_grad");
    PyObject *object;
    bool wanted = true;
    if (ext_arguments(&object, &signature, args, nargs, kwnames) < 0 ||
        ext_argument_bool(&wanted, object) < 0 ||
        ext_tensor_require_grad((TensorObject *)self, wanted) < 0)
        return NULL;
    return Py_NewRef(self);
}

PyDoc_STRVAR(requires_grad_doc,
             "requires_grad_($self, /, requires_grad=True)\n--\n\n"
             "Set `requires_grad` and return the same object.\n\n"
             "Parameters\n----------\n"
             "requires_grad : bool, default True\n"
             "    Whether operations are to be recorded.\n\n"
             "Returns\n-------\n"
             "Tensor\n    The object itself.\n\n"
             "Raises\n------\n"
             "RuntimeError\n"
             "    If the elements are integers or booleans, or False is asked of the\n"
             "    result of a recorded operation.\n");

static PyObject *
tensor_detach(PyObject *object, PyObject *Py_UNUSED(ignored))
{
    TensorObject *self = (TensorObject *)object;
    PyObject *result = ext_tensor_like(Py_NewRef(self->array), object);
    if (result != NULL && ext_is_dtensor(object))
        ((DTensorObject *)result)->pending =
            Py_XNewRef(((DTensorObject *)object)->pending);
    if (result != NULL)
        ((TensorObject *)result)->apart = true;
    if (result != NULL && tape_share_version((TensorObject *)result, self) < 0)
        Py_CLEAR(result);
    return result;
}

PyDoc_STRVAR(detach_doc, "detach($self, /)\n--\n\n"
                         "Return the same array, shared, without gradients.\n");

static PyObject *
tensor_numpy(PyObject *self, PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames)
{
    static const ext_signature signature = EXT_SIGNATURE("numpy", 1, 0, 0, "force");
    PyObject *object;
    bool force = false;
    if (ext_arguments(&object, &signature, args, nargs, kwnames) < 0 ||
        ext_argument_bool(&force, object) < 0)
        return NULL;
    return ext_tensor_numpy((TensorObject *)self, force);
}

PyDoc_STRVAR(
    numpy_doc,
    "numpy($self, /, *, force=False)\n--\n\n"
    "Return the elements as a NumPy array that shares memory.\n\n"
    "Parameters\n----------\n"
    "force : bool, default False\n    Also under `requires_grad`.\n\n"
    "Returns\n-------\n"
    "numpy.ndarray\n"
    "    Of a Tensor a writable view, of a replicated DTensor a read-only one.\n\n"
    "Raises\n------\n"
    "RuntimeError\n"
    "    If `requires_grad` is set, or a DTensor is not whole on every rank: then\n"
    "    ``x.full_tensor()`` gathers it and ``x.to_local()`` is this rank's part.\n");

static PyObject *
tensor_array(PyObject *self, PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames)
{
    static const ext_signature signature =
        EXT_SIGNATURE("__array__", 2, 2, 0, "dtype", "copy");
    PyObject *given[2];
    if (ext_arguments(given, &signature, args, nargs, kwnames) < 0)
        return NULL;
    PyArray_Descr *descr = NULL;
    if (given[0] != NULL && given[0] != Py_None &&
        PyArray_DescrConverter(given[0], &descr) != NPY_SUCCEED)
        return NULL;
    bool copy = false;
    bool never = given[1] == Py_False;
    PyObject *array = ext_argument_bool(&copy, given[1]) < 0
                          ? NULL
                          : ext_tensor_numpy((TensorObject *)self, false);
    PyObject *result = NULL;
    if (array == NULL) {
        Py_XDECREF(descr);
        return NULL;
    }
    bool convert = descr != NULL &&
                   !PyArray_EquivTypes(descr, PyArray_DESCR((PyArrayObject *)array));
    if (convert && never) {
        PyErr_SetString(PyExc_ValueError,
                        "Unable to avoid copy while creating an array as requested.");
        Py_DECREF(descr);
    } else if (convert) {
        result = PyArray_FromArray((PyArrayObject *)array, descr, NPY_ARRAY_FORCECAST);
    } else {
        Py_XDECREF(descr);
        result = copy ? PyArray_NewCopy((PyArrayObject *)array, NPY_KEEPORDER)
                      : Py_NewRef(array);
    }
    Py_DECREF(array);
    return result;
}

PyDoc_STRVAR(array_doc,
             "__array__($self, /, dtype=None, copy=None)\n--\n\n"
             "Return the elements as `numpy.asarray` wants them; see `numpy`.\n");

/* Also under requires_grad. */
static PyObject *
tensor_tolist(PyObject *self, PyObject *Py_UNUSED(ignored))
{
    TensorObject *tensor = (TensorObject *)self;
    if (ext_refuse_without_data((PyArrayObject *)tensor->array) < 0 ||
        ext_catch_up() < 0)
        return NULL;
    ext_trace.looked = true;
    PyObject *array = ext_is_dtensor(self)
                          ? ext_dtensor_gather((DTensorObject *)self, -1, "tolist")
                          : Py_NewRef(tensor->array);
    PyObject *list = array == NULL ? NULL : PyObject_CallMethod(array, "tolist", NULL);
    Py_XDECREF(array);
    return list;
}

PyDoc_STRVAR(tolist_doc,
             "tolist($self, /)\n--\n\n"
             "Return the elements as nested lists of Python numbers.\n\n"
             "Of a DTensor collective: all ranks of the mesh get the same list, those\n"
             "outside an empty one.\n\n"
             "Returns\n-------\n"
             "list or number\n    A number where there are no dimensions.\n\n"
             "Raises\n------\n"
             "RuntimeError\n    If the ranks call different things; on every rank.\n");

static PyObject *
item_of(TensorObject *tensor)
{
    int64_t count = ext_tensor_count(tensor);
    if (count != 1)
        return PyErr_Format(
            PyExc_ValueError,
            "can only convert an array of size 1 to a Python scalar, not "
            "one of size %lld",
            (long long)count);
    if (ext_refuse_without_data((PyArrayObject *)tensor->array) < 0 ||
        ext_catch_up() < 0)
        return NULL;
    ext_trace.looked = true;
    PyObject *array = ext_is_dtensor((PyObject *)tensor)
                          ? ext_dtensor_gather((DTensorObject *)tensor, -1, "item")
                          : Py_NewRef(tensor->array);
    PyObject *item = NULL;
    if (array != NULL && PyArray_SIZE((PyArrayObject *)array) != 1)
        PyErr_SetString(
            PyExc_RuntimeError,
            "this rank is outside the mesh of the DTensor and has no element");
    else if (array != NULL && ext_refuse_without_data((PyArrayObject *)array) == 0)
        item = PyObject_CallMethod(array, "item", NULL);
    Py_XDECREF(array);
    return item;
}

/* The index of the element at a place in the flattened tensor. */
static PyObject *
index_of_place(TensorObject *tensor, PyObject *place, const int64_t *shape, int ndim)
{
    int64_t count = ext_tensor_count(tensor);
    int64_t at = PyNumber_AsSsize_t(place, PyExc_IndexError);
    if (at == -1 && PyErr_Occurred())
        return NULL;
    if (at < -count || at >= count)
        return PyErr_Format(PyExc_IndexError,
                            "index %lld is out of bounds for size %lld", (long long)at,
                            (long long)count);
    PyObject *index = PyTuple_New(ndim);
    at += at < 0 ? count : 0;
    for (int d = ndim - 1; index != NULL && d >= 0; at /= shape[d--])
        ext_put(&index, d, PyLong_FromLongLong(at % shape[d]));
    return index;
}

/* The index of one element: of item(i), by its place, or of item(i, j). */
static PyObject *
item_index(TensorObject *tensor, PyObject *args)
{
    int64_t shape[DT_MAX_NDIM];
    int ndim = ext_tensor_shape(shape, tensor);
    Py_ssize_t count = PyTuple_GET_SIZE(args);
    if (count != 1 && count != ndim)
        return PyErr_Format(PyExc_ValueError, "incorrect number of indices for array");
    PyObject *index = PyTuple_New(count);
    for (Py_ssize_t k = 0; index != NULL && k < count; k++) {
        PyObject *given = PyTuple_GET_ITEM(args, k), *number = NULL;
        if (PyBool_Check(given))
            PyErr_SetString(PyExc_TypeError, "an integer is required");
        else
            number = PyNumber_Index(given);
        ext_put(&index, k, number);
    }
    if (index != NULL && count == 1)
        Py_SETREF(index,
                  index_of_place(tensor, PyTuple_GET_ITEM(index, 0), shape, ndim));
    return index;
}

static PyObject *
tensor_item(PyObject *self, PyObject *args)
{
    if (PyTuple_GET_SIZE(args) == 1 && PyTuple_Check(PyTuple_GET_ITEM(args, 0)))
        args = PyTuple_GET_ITEM(args, 0);
    if (PyTuple_GET_SIZE(args) == 0)
        return item_of((TensorObject *)self);
    PyObject *index = item_index((TensorObject *)self, args);
    PyObject *element = index == NULL ? NULL : PyObject_GetItem(self, index);
    PyObject *item = element == NULL ? NULL : item_of((TensorObject *)element);
    Py_XDECREF(index);
    Py_XDECREF(element);
    return item;
}

PyDoc_STRVAR(
    item_doc,
    "item($self, /, *args)\n--\n\n"
    "Return one element as a Python number.\n\n"
    "Of a DTensor collective: all ranks of the mesh get the same value.\n\n"
    "Parameters\n----------\n"
    "*args : int\n"
    "    None: there is one element only. One: its place in the flattened\n"
    "    tensor. Else its index, which may be a tuple.\n\n"
    "Raises\n------\n"
    "ValueError\n"
    "    If there is not exactly one element, or not an index for each dim. On\n"
    "    every rank, before anything is sent.\n"
    "IndexError\n    If an index is out of range. Likewise.\n");

static PyObject *
tensor_wait(PyObject *self, PyObject *Py_UNUSED(ignored))
{
    return ext_local(self) == NULL ? NULL : Py_NewRef(self);
}

PyDoc_STRVAR(
    wait_doc,
    "wait($self, /)\n--\n\n"
    "Wait until the data are here, and return the same object.\n\n"
    "Looking at the data waits as well; nothing else needs this.\n\n"
    "Raises\n------\n"
    "RuntimeError\n"
    "    If a redistribute with ``async_op=True`` failed; on every rank of it.\n");

/* What float(x) and the like take: NumPy's TypeError where item() has a ValueError. */
static PyObject *
only_item(PyObject *self)
{
    if (ext_tensor_count((TensorObject *)self) != 1)
        return PyErr_Format(PyExc_TypeError, "only length-1 arrays can be converted to "
                                             "Python scalars");
    return item_of((TensorObject *)self);
}

/* The one element as `number` makes it. */
static PyObject *
only_number(PyObject *self, PyTypeObject *number)
{
    PyObject *item = only_item(self);
    PyObject *made =
        item == NULL ? NULL : PyObject_CallOneArg((PyObject *)number, item);
    Py_XDECREF(item);
    return made;
}

static PyObject *
tensor_complex(PyObject *self, PyObject *Py_UNUSED(ignored))
{
    return only_number(self, &PyComplex_Type);
}

PyDoc_STRVAR(complex_doc, "__complex__($self, /)\n--\n\n"
                          "Return the one element as a complex number; see `item`.\n"
                          "TypeError if there is not exactly one.\n");

PyMethodDef ext_tensor_methods[] = {
    {"numel", tensor_numel, METH_NOARGS, numel_doc},
    {"dim", tensor_dim, METH_NOARGS, dim_doc},
    {"element_size", tensor_element_size, METH_NOARGS, element_size_doc},
    {"stride", EXT_FAST(ext_tensor_stride), ext_tensor_stride_doc},
    {"is_contiguous", ext_tensor_is_contiguous, METH_NOARGS,
     ext_tensor_is_contiguous_doc},
    {"requires_grad_", EXT_FAST(tensor_requires_grad_), requires_grad_doc},
    {"detach", tensor_detach, METH_NOARGS, detach_doc},
    {"numpy", EXT_FAST(tensor_numpy), numpy_doc},
    {"item", tensor_item, METH_VARARGS, item_doc},
    {"tolist", tensor_tolist, METH_NOARGS, tolist_doc},
    {"as_torch", ext_tensor_as_torch, METH_NOARGS, ext_tensor_as_torch_doc},
    {"as_numpy", ext_tensor_as_numpy, METH_NOARGS, ext_tensor_as_numpy_doc},
    {"wait", tensor_wait, METH_NOARGS, wait_doc},
    {"__array__", EXT_FAST(tensor_array), array_doc},
    {"__complex__", tensor_complex, METH_NOARGS, complex_doc},
    {"__array_ufunc__", EXT_FAST(ext_tensor_ufunc),
     "__array_ufunc__($self, ufunc, method, /, *inputs, **kwargs)\n--\n\n"
     "Answer a ufunc of NumPy's; see NEP 13.\n"},
    {"__array_function__", ext_tensor_function, METH_VARARGS,
     "__array_function__($self, func, types, args, kwargs, /)\n--\n\n"
     "Answer a function of NumPy's; see NEP 18.\n"},
    {"__copy__", ext_tensor_copy, METH_NOARGS, ext_tensor_copy_doc},
    {"__deepcopy__", ext_tensor_deepcopy, METH_O, ext_tensor_deepcopy_doc},
    {"__reduce_ex__", ext_tensor_reduce, METH_O, ext_tensor_reduce_doc},
    {"__dlpack__", EXT_FAST(ext_tensor_dlpack), ext_tensor_dlpack_doc},
    {"__dlpack_device__", ext_tensor_dlpack_device, METH_NOARGS,
     ext_tensor_dlpack_device_doc},
    {NULL, NULL, 0, NULL},
};

/* Each of them is what Python's own number does with the one element. */

static int
tensor_bool(PyObject *self)
{
    int64_t count = ext_tensor_count((TensorObject *)self);
    if (count != 1)
        return ext_fail(PyExc_ValueError,
                        count == 0
                            ? "The truth value of an empty array is ambiguous. Use "
                              "`array.size > 0` to check that an array is not empty."
                            : "The truth value of an array with more than one element "
                              "is ambiguous. Use a.any() or a.all()");
    PyObject *item = item_of((TensorObject *)self);
    int truth = item == NULL ? -1 : PyObject_IsTrue(item);
    Py_XDECREF(item);
    return truth;
}

static PyObject *
tensor_int(PyObject *self)
{
    return only_number(self, &PyLong_Type);
}

static PyObject *
tensor_float(PyObject *self)
{
    return only_number(self, &PyFloat_Type);
}

static PyObject *
tensor_index(PyObject *self)
{
    PyArray_Descr *descr =
        PyArray_DESCR((PyArrayObject *)((TensorObject *)self)->array);
    if (ext_tensor_count((TensorObject *)self) != 1 || !PyDataType_ISINTEGER(descr))
        return PyErr_Format(PyExc_TypeError,
                            "only integer arrays of one element can be converted to an "
                            "index");
    return tensor_int(self);
}

PyNumberMethods ext_tensor_numbers = {
    .nb_bool = tensor_bool,
    .nb_int = tensor_int,
    .nb_float = tensor_float,
    .nb_index = tensor_index,
};
