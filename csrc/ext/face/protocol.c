/* NumPy's protocols: np.add(x, y) and np.sum(x) come here, and find what answers them
 * in tables that Python has filled. */
#include "ext/face/face.h"

static PyObject *functions;    /* dict: NumPy's function or ufunc -> what answers it */
static PyObject *fallback;     /* callable(function, args, kwargs) */
static PyObject *ufunc_method; /* callable(ufunc, method) -> what answers it */

/* Other classes may want to answer themselves: those with a protocol of their own. */
static bool
is_foreign(PyObject *object)
{
    op_kind kind = op_kind_of(object);
    if (kind != OP_CONSTANT || PyList_Check(object) || PyTuple_Check(object) ||
        object == Py_None || PyUnicode_Check(object))
        return false;
    return PyObject_HasAttrString((PyObject *)Py_TYPE(object), "__array_ufunc__");
}

static bool
has_out(PyObject *kwnames)
{
    bool found = false;
    for (Py_ssize_t k = 0; kwnames != NULL && k < PyTuple_GET_SIZE(kwnames); k++)
        found |=
            PyUnicode_CompareWithASCIIString(PyTuple_GET_ITEM(kwnames, k), "out") == 0;
    return found;
}

/* What answers `np.float64(2) * x` beside a tensor of PyTorch's dialect, or NULL. */
static PyObject *
slot_of(PyObject *ufunc)
{
    PyObject *name = PyObject_GetAttrString(ufunc, "__name__");
    const char *text = name == NULL ? NULL : PyUnicode_AsUTF8(name);
    if (text != NULL && strcmp(text, "divide") == 0)
        text = "true_divide";
    PyObject *slot = text == NULL ? NULL : ext_torch_slot(text);
    Py_XDECREF(name);
    PyErr_Clear();
    return slot;
}

PyObject *
ext_tensor_ufunc(PyObject *Py_UNUSED(self), PyObject *const *args, Py_ssize_t nargs,
                 PyObject *kwnames)
{
    if (nargs < 2)
        return PyErr_Format(PyExc_TypeError,
                            "__array_ufunc__ needs a ufunc and a method");
    if (functions == NULL)
        Py_RETURN_NOTIMPLEMENTED;
    for (Py_ssize_t k = 2; k < nargs; k++)
        if (is_foreign(args[k]))
            Py_RETURN_NOTIMPLEMENTED;
    static PyObject *plain; /* interned, as NumPy's is */
    if (plain == NULL)
        plain = PyUnicode_InternFromString("__call__");
    PyObject *ufunc = args[0], *method = args[1], *answer = NULL;
    bool called =
        method == plain || (PyUnicode_Check(method) &&
                            PyUnicode_CompareWithASCIIString(method, "__call__") == 0);
    if (called)
        answer = Py_XNewRef(PyDict_GetItemWithError(functions, ufunc));
    if (answer == NULL && !PyErr_Occurred())
        answer = PyObject_CallFunctionObjArgs(ufunc_method, ufunc, method, NULL);
    if (answer == NULL)
        return NULL;
    bool torch = false;
    for (Py_ssize_t k = 2; !torch && k < nargs; k++)
        torch = ext_is_tensor(args[k]) && ext_is_torch(args[k]);
    bool bare = torch && !ext_trace.numpy; /* a user's call */
    called &= kwnames == NULL || PyTuple_GET_SIZE(kwnames) == 0;
    if (bare && called && nargs == 4 && PyArray_IsScalar(args[2], Generic)) {
        PyObject *slot = slot_of(ufunc);
        if (slot != NULL) {
            Py_DECREF(answer);
            return op_call_bare(slot, args + 2, 2, NULL);
        }
    }
    bool before = ext_trace.numpy;
    ext_trace.numpy = true;
    PyObject *result =
        bare ? op_call_bare(answer, args + 2, nargs - 2, kwnames)
             : PyObject_Vectorcall(answer, args + 2, (size_t)(nargs - 2), kwnames);
    ext_trace.numpy = before;
    if (torch && Py_TYPE(answer) != &ext_operator_type && !has_out(kwnames))
        result = op_results_in_torch(result);
    Py_DECREF(answer);
    return result;
}

/* Whether there is a tensor in an argument: 1 or 0, -1 with an exception. */
static int
holds_tensor(PyObject *value)
{
    if (PyObject_TypeCheck(value, &ext_tensor_type))
        return 1;
    if (!PyList_Check(value) && !PyTuple_Check(value))
        return 0;
    if (Py_EnterRecursiveCall(" in a list of arguments"))
        return -1;
    int found = 0;
    for (Py_ssize_t k = 0; found == 0 && k < PySequence_Fast_GET_SIZE(value); k++)
        found = holds_tensor(PySequence_Fast_GET_ITEM(value, k));
    Py_LeaveRecursiveCall();
    return found;
}

/* Calls by like=x come without it: no argument is a tensor. A DTensor x says on which
 * mesh the result is, a Tensor that there is none: *answer is NULL then. New reference
 * to the keywords; NULL with an exception. */
static PyObject *
keywords_of(PyObject *self, PyObject *given, PyObject *kwargs, PyObject **answer)
{
    int found = holds_tensor(given);
    PyObject *value;
    Py_ssize_t place = 0;
    while (found == 0 && PyDict_Next(kwargs, &place, NULL, &value))
        found = holds_tensor(value);
    if (found < 0)
        return NULL;
    if (found)
        return Py_NewRef(kwargs);
    if (!PyObject_TypeCheck(self, &ext_dtensor_type)) {
        *answer = NULL;
        return Py_NewRef(kwargs);
    }
    PyObject *mesh = PyObject_GetAttrString(self, "device_mesh");
    PyObject *more = mesh == NULL ? NULL : PyDict_Copy(kwargs);
    if (more != NULL && PyDict_SetItemString(more, "device_mesh", mesh) < 0)
        Py_CLEAR(more);
    Py_XDECREF(mesh);
    return more;
}

PyObject *
ext_tensor_function(PyObject *self, PyObject *args)
{
    PyObject *function, *types, *given, *kwargs;
    if (!PyArg_ParseTuple(args, "OOO!O!:__array_function__", &function, &types,
                          &PyTuple_Type, &given, &PyDict_Type, &kwargs))
        return NULL;
    PyObject *list = PySequence_Fast(types, "types must be a sequence");
    if (list == NULL)
        return NULL;
    bool foreign = false;
    for (Py_ssize_t k = 0; k < PySequence_Fast_GET_SIZE(list) && !foreign; k++) {
        PyTypeObject *type = (PyTypeObject *)PySequence_Fast_ITEMS(list)[k];
        foreign = !PyType_Check(type) || (!PyType_IsSubtype(type, &ext_tensor_type) &&
                                          !PyType_IsSubtype(type, &PyArray_Type));
    }
    Py_DECREF(list);
    if (foreign || functions == NULL)
        Py_RETURN_NOTIMPLEMENTED;
    PyObject *answer = PyDict_GetItemWithError(functions, function);
    if (answer == NULL && PyErr_Occurred())
        return NULL;
    PyObject *keywords = keywords_of(self, given, kwargs, &answer);
    if (keywords == NULL)
        return NULL;
    bool before = ext_trace.numpy;
    ext_trace.numpy = true;
    PyObject *result =
        answer != NULL
            ? PyObject_Call(answer, given, keywords)
            : PyObject_CallFunctionObjArgs(fallback, function, given, keywords, NULL);
    ext_trace.numpy = before;
    if (result == NULL)
        op_error_of_no_array(function, given);
    if (ext_is_torch(self) || op_holds_torch(given, keywords))
        result = op_results_in_torch(result);
    Py_DECREF(keywords);
    return result;
}

/* --- filling the tables --- */

int
ext_add_methods(PyTypeObject *type, PyObject *methods)
{
    PyObject *name, *answer;
    Py_ssize_t place = 0;
    while (PyDict_Next(methods, &place, &name, &answer))
        if (PyDict_SetItem(type->tp_dict, name, answer) < 0)
            return -1;
    PyType_Modified(type);
    return 0;
}

static PyObject *
install(PyObject *Py_UNUSED(module), PyObject *args, PyObject *kwargs)
{
    static char *names[] = {"slots",    "methods",      "functions",
                            "fallback", "ufunc_method", NULL};
    PyObject *slots, *methods, *table, *other, *method;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "O!O!O!OO:install", names,
                                     &PyDict_Type, &slots, &PyDict_Type, &methods,
                                     &PyDict_Type, &table, &other, &method))
        return NULL;
    if (ext_fill_slots(slots, false) < 0 ||
        ext_add_methods(&ext_tensor_type, methods) < 0)
        return NULL;
    Py_XSETREF(functions, Py_NewRef(table));
    Py_XSETREF(fallback, Py_NewRef(other));
    Py_XSETREF(ufunc_method, Py_NewRef(method));
    Py_RETURN_NONE;
}

static PyObject *
install_in(PyObject *Py_UNUSED(module), PyObject *args)
{
    PyObject *type, *methods;
    if (!PyArg_ParseTuple(args, "O!O!:install_in", &PyType_Type, &type, &PyDict_Type,
                          &methods))
        return NULL;
    if (type != (PyObject *)&ext_tensor_type && type != (PyObject *)&ext_layout_type &&
        type != (PyObject *)&ext_node_type)
        return PyErr_Format(PyExc_TypeError,
                            "install_in takes Tensor, Layout or Node, not %R", type);
    if (ext_add_methods((PyTypeObject *)type, methods) < 0)
        return NULL;
    Py_RETURN_NONE;
}

PyMethodDef ext_protocol_methods[] = {
    {"install", EXT_KEYWORDS(install),
     "install(slots, methods, functions, fallback, ufunc_method)\n--\n\n"
     "Give Tensor and DTensor their operators, methods and answers to NumPy."},
    {"install_in", install_in, METH_VARARGS,
     "install_in($module, type, methods, /)\n--\n\n"
     "Give Tensor, Layout or Node methods of Python's."},
    {0},
};
