/* dialect.c: tensors in the other dialect, and code that runs as if all of them were in
 * NumPy's. */
#include "ext/dispatch/dispatch.h"

static bool
holds_torch(PyObject *value, int depth)
{
    if (ext_is_tensor(value))
        return ext_is_torch(value);
    if (depth == 0 || (!PyTuple_Check(value) && !PyList_Check(value)))
        return false;
    bool found = false;
    for (Py_ssize_t k = 0; !found && k < PySequence_Fast_GET_SIZE(value); k++)
        found = holds_torch(PySequence_Fast_GET_ITEM(value, k), depth - 1);
    return found;
}

bool
op_holds_torch(PyObject *args, PyObject *kwargs)
{
    PyObject *value;
    Py_ssize_t place = 0;
    bool found = holds_torch(args, 3);
    while (!found && kwargs != NULL && PyDict_Next(kwargs, &place, NULL, &value))
        found = holds_torch(value, 2);
    return found;
}

/* Results that nobody else has are turned, others get an alias. */
PyObject *
op_results_in_torch(PyObject *result)
{
    if (result == NULL)
        return NULL;
    if (PyTuple_Check(result) || PyList_Check(result)) {
        for (Py_ssize_t k = 0; k < PySequence_Fast_GET_SIZE(result); k++)
            if (Py_REFCNT(PySequence_Fast_GET_ITEM(result, k)) == 1)
                ext_into_torch(PySequence_Fast_GET_ITEM(result, k));
        return result;
    }
    bool ours =
        Py_TYPE(result) == &ext_tensor_type || Py_TYPE(result) == &ext_dtensor_type;
    if (!ours || Py_REFCNT(result) == 1)
        return ext_into_torch(result);
    PyObject *alias =
        ext_alias(result, ext_is_dtensor(result) ? &ext_torch_dtensor_type
                                                 : &ext_torch_tensor_type);
    Py_DECREF(result);
    return alias;
}

static PyObject *
composed(PyObject *Py_UNUSED(module), PyObject *args)
{
    PyObject *function, *given, *options;
    if (!PyArg_ParseTuple(args, "OO!O!:composed", &function, &PyTuple_Type, &given,
                          &PyDict_Type, &options))
        return NULL;
    bool torch = op_holds_torch(given, options), before = ext_trace.numpy;
    ext_trace.numpy = before || torch;
    PyObject *result = PyObject_Call(function, given, options);
    if (result == NULL)
        op_error_of_no_array(function, given);
    result = torch ? op_results_in_torch(result) : result;
    ext_trace.numpy = before;
    return result;
}

/* --- errors --- */

static PyObject *error_types; /* a dict of PyTorch's for types of exceptions, or NULL */

static void
raise_as(PyObject *type, PyObject *error, PyObject *traceback)
{
    PyObject *args = PyObject_GetAttrString(error, "args");
    PyObject *made = args == NULL ? NULL : PyObject_CallObject(type, args);
    PyObject *notes = made == NULL ? NULL : PyObject_GetAttrString(error, "__notes__");
    if (notes == NULL && PyErr_ExceptionMatches(PyExc_AttributeError))
        PyErr_Clear();
    else if (notes != NULL)
        PyObject_SetAttrString(made, "__notes__", notes);
    if (made != NULL && !PyErr_Occurred()) {
        PyException_SetCause(made, PyException_GetCause(error));
        PyException_SetContext(made, PyException_GetContext(error));
        PyErr_Restore(Py_NewRef(type), Py_NewRef(made), Py_XNewRef(traceback));
    }
    Py_XDECREF(notes);
    Py_XDECREF(made);
    Py_XDECREF(args);
}

void
op_error_in_torch(PyObject *const *args, Py_ssize_t count)
{
    bool torch = false;
    for (Py_ssize_t k = 0; k < count && error_types != NULL && !torch; k++)
        torch = holds_torch(args[k], 2);
    PyObject *wanted =
        torch ? PyDict_GetItem(error_types, PyErr_Occurred()) : NULL; /* borrowed */
    if (wanted == NULL)
        return;
    PyObject *type, *error, *traceback;
    PyErr_Fetch(&type, &error, &traceback);
    PyErr_NormalizeException(&type, &error, &traceback);
    raise_as(wanted, error, traceback);
    Py_XDECREF(type);
    Py_XDECREF(error);
    Py_XDECREF(traceback);
}

static PyObject *
set_torch_errors(PyObject *Py_UNUSED(module), PyObject *types)
{
    if (!PyDict_Check(types))
        return PyErr_Format(PyExc_TypeError, "set_torch_errors takes a dict");
    Py_XSETREF(error_types, Py_NewRef(types));
    Py_RETURN_NONE;
}

static PyObject *
is_torch(PyObject *Py_UNUSED(module), PyObject *args)
{
    return PyBool_FromLong(op_holds_torch(args, NULL));
}

static PyObject *
into_torch(PyObject *Py_UNUSED(module), PyObject *tensor)
{
    return ext_into_torch(Py_NewRef(tensor));
}

PyMethodDef ext_dialect_methods[] = {
    {"composed", composed, METH_VARARGS,
     "composed(function, args, kwargs, /)\n--\n\n"
     "Call a function of the library, in which operators promote as NumPy does; its\n"
     "results are in the dialect of its arguments."},
    {"set_torch_errors", set_torch_errors, METH_O,
     "set_torch_errors(types, /)\n--\n\n"
     "For types of exceptions: what operators raise if a tensor is in PyTorch's\n"
     "dialect."},
    {"is_torch", is_torch, METH_VARARGS,
     "is_torch(*objects)\n--\n\n"
     "Return whether any of them, or in lists and tuples of them, is a tensor in\n"
     "PyTorch's dialect."},
    {"into_torch", into_torch, METH_O,
     "into_torch(tensor, /)\n--\n\n"
     "Put a tensor itself, not a view of it, into PyTorch's dialect and return it:\n"
     "for one that is new. What is of another type stays."},
    {0},
};
