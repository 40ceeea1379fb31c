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

int
op_resize_out(PyObject *out, PyObject *result)
{
    if (!ext_is_torch(out) ||
        PyArray_SAMESHAPE((PyArrayObject *)((TensorObject *)out)->array,
                          (PyArrayObject *)result))
        return 0;
    PyObject *shape = PyObject_GetAttrString(result, "shape");
    PyObject *done =
        shape == NULL ? NULL : PyObject_CallMethod(out, "resize_", "O", shape);
    Py_XDECREF(shape);
    Py_XDECREF(done);
    return done == NULL ? -1 : 0;
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

static PyObject *speaker; /* gives PyTorch's exception for another, or None; or NULL */

static bool
may_speak(PyObject *const *args, Py_ssize_t count)
{
    bool torch = false;
    for (Py_ssize_t k = 0; k < count && speaker != NULL && !torch; k++)
        torch = holds_torch(args[k], 2);
    return torch && (PyErr_ExceptionMatches(PyExc_ValueError) ||
                     PyErr_ExceptionMatches(PyExc_IndexError) ||
                     PyErr_ExceptionMatches(PyExc_TypeError) ||
                     PyErr_ExceptionMatches(PyExc_OverflowError));
}

void
op_error_in_torch(PyObject *name, PyObject *const *args, Py_ssize_t nargs,
                  PyObject *kwnames)
{
    if (!may_speak(args, nargs))
        return;
    PyObject *type, *error, *traceback, *options = NULL, *made = NULL;
    PyErr_Fetch(&type, &error, &traceback);
    PyErr_NormalizeException(&type, &error, &traceback);
    if (traceback != NULL)
        PyException_SetTraceback(error, traceback);
    PyObject *given = op_python_arguments(args, nargs, kwnames, &options);
    if (given != NULL && options != NULL)
        made = PyObject_CallFunctionObjArgs(speaker, error, name, given, options, NULL);
    if (made == NULL)
        PyErr_WriteUnraisable(speaker); /* the exception itself matters more */
    if (made != NULL && PyExceptionInstance_Check(made)) {
        PyErr_Restore(Py_NewRef(Py_TYPE(made)), Py_NewRef(made),
                      PyException_GetTraceback(made));
        Py_DECREF(type);
        Py_DECREF(error);
        Py_XDECREF(traceback);
    } else
        PyErr_Restore(type, error, traceback);
    Py_XDECREF(given);
    Py_XDECREF(options);
    Py_XDECREF(made);
}

static PyObject *
set_torch_errors(PyObject *Py_UNUSED(module), PyObject *function)
{
    if (!PyCallable_Check(function))
        return PyErr_Format(PyExc_TypeError, "set_torch_errors takes a function");
    Py_XSETREF(speaker, Py_NewRef(function));
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
     "set_torch_errors(function, /)\n--\n\n"
     "`function(error, name, args, kwargs)` gives what an operator raises instead if "
     "a\n"
     "tensor is in PyTorch's dialect, or None."},
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
