/* The `size` of a tensor: NumPy's number and torch's method at once.
 *
 * int is of variable size in C, so the shape lives in the instance's dictionary. */
#include "ext/face/face.h"

static PyObject *size_type;
static PyObject *shape_name; /* "_shape" */

PyObject *
ext_one_or_all(PyObject *tuple, PyObject *place, const char *what)
{
    if (tuple == NULL || place == NULL || place == Py_None)
        return tuple;
    int64_t dim = 0, ndim = (int64_t)PyTuple_GET_SIZE(tuple);
    PyObject *one = NULL;
    if (ext_argument_int(&dim, place) == 0) {
        if (dim < -ndim || dim >= ndim)
            PyErr_Format(PyExc_IndexError,
                         "%s: dimension %lld is out of range for a tensor of %lld "
                         "dimensions",
                         what, (long long)dim, (long long)ndim);
        else
            one = Py_NewRef(
                PyTuple_GET_ITEM(tuple, (Py_ssize_t)(dim < 0 ? dim + ndim : dim)));
    }
    Py_DECREF(tuple);
    return one;
}

static PyObject *
size_call(PyObject *self, PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames)
{
    static const ext_signature signature = EXT_SIGNATURE("size", 1, 1, 0, "dim");
    PyObject *dim_object;
    if (ext_arguments(&dim_object, &signature, args, nargs, kwnames) < 0)
        return NULL;
    return ext_one_or_all(PyObject_GetAttr(self, shape_name), dim_object, "size");
}

PyDoc_STRVAR(size_call_doc, "__call__($self, /, dim=None)\n--\n\n"
                            "Return the shape, or the length of one dimension.\n\n"
                            "Parameters\n----------\n"
                            "dim : int, optional\n"
                            "    A dimension; negative ones count from the end.\n\n"
                            "Returns\n-------\n"
                            "tuple of int or int\n"
                            "    In elements.\n\n"
                            "Raises\n------\n"
                            "IndexError\n"
                            "    If the tensor has no such dimension.\n");

static PyObject *
size_reduce(PyObject *self, PyObject *Py_UNUSED(ignored))
{
    PyObject *number = PyNumber_Long(self);
    return number == NULL ? NULL : Py_BuildValue("O(N)", &PyLong_Type, number);
}

static PyMethodDef size_methods[] = {
    {"__call__", EXT_FAST(size_call), size_call_doc},
    {"__reduce__", size_reduce, METH_NOARGS, "Pickle as a plain int."},
};

static PyObject *
get_type(void)
{
    if (size_type != NULL)
        return size_type;
    PyObject *type =
        PyObject_CallFunction((PyObject *)&PyType_Type, "s(O){s:s,s:s}", "Size",
                              &PyLong_Type, "__module__", "dtensor._C", "__doc__",
                              "The number of elements of a tensor: an int that can be "
                              "called as ``size(dim)``.");
    if (type == NULL)
        return NULL;
    for (size_t i = 0; i < sizeof size_methods / sizeof *size_methods; i++) {
        PyObject *method = PyDescr_NewMethod((PyTypeObject *)type, &size_methods[i]);
        int failed =
            method == NULL
                ? -1
                : PyObject_SetAttrString(type, size_methods[i].ml_name, method);
        Py_XDECREF(method);
        if (failed < 0) {
            Py_DECREF(type);
            return NULL;
        }
    }
    if (shape_name == NULL)
        shape_name = PyUnicode_InternFromString("_shape");
    return shape_name == NULL ? NULL : (size_type = type);
}

PyObject *
ext_size(int64_t count, PyObject *shape)
{
    PyObject *result = NULL;
    if (shape != NULL && get_type() != NULL)
        result = PyObject_CallFunction(size_type, "L", (long long)count);
    if (result != NULL && PyObject_SetAttr(result, shape_name, shape) < 0)
        Py_CLEAR(result);
    Py_XDECREF(shape);
    return result;
}
