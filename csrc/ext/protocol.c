/* NumPy's protocols: np.add(x, y) and np.sum(x) come here, and find what answers them
 * in tables that Python has filled. */
#include "ext/op.h"

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

PyObject *
ext_tensor_ufunc(PyObject *Py_UNUSED(self), PyObject *const *args, Py_ssize_t nargs,
                 PyObject *kwnames)
{
    if (nargs < 2) {
        PyErr_SetString(PyExc_TypeError, "__array_ufunc__ needs a ufunc and a method");
        return NULL;
    }
    if (functions == NULL)
        Py_RETURN_NOTIMPLEMENTED;
    for (Py_ssize_t k = 2; k < nargs; k++)
        if (is_foreign(args[k]))
            Py_RETURN_NOTIMPLEMENTED;
    PyObject *ufunc = args[0], *method = args[1], *answer = NULL;
    if (PyUnicode_CompareWithASCIIString(method, "__call__") == 0)
        answer = Py_XNewRef(PyDict_GetItemWithError(functions, ufunc));
    if (answer == NULL && !PyErr_Occurred())
        answer = PyObject_CallFunctionObjArgs(ufunc_method, ufunc, method, NULL);
    if (answer == NULL)
        return NULL;
    PyObject *result =
        PyObject_Vectorcall(answer, args + 2, (size_t)(nargs - 2), kwnames);
    Py_DECREF(answer);
    return result;
}

PyObject *
ext_tensor_function(PyObject *Py_UNUSED(self), PyObject *args)
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
        foreign = !PyType_IsSubtype(type, &ext_tensor_type) &&
                  !PyType_IsSubtype(type, &PyArray_Type);
    }
    Py_DECREF(list);
    if (foreign || functions == NULL)
        Py_RETURN_NOTIMPLEMENTED;
    PyObject *answer = PyDict_GetItemWithError(functions, function);
    if (answer != NULL)
        return PyObject_Call(answer, given, kwargs);
    if (PyErr_Occurred())
        return NULL;
    return PyObject_CallFunctionObjArgs(fallback, function, given, kwargs, NULL);
}

/* --- filling the tables --- */

static int
add_methods(PyObject *methods)
{
    PyObject *name, *answer;
    Py_ssize_t place = 0;
    while (PyDict_Next(methods, &place, &name, &answer))
        if (PyDict_SetItem(ext_tensor_type.tp_dict, name, answer) < 0)
            return -1;
    PyType_Modified(&ext_tensor_type);
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
    if (ext_fill_slots(slots) < 0 || add_methods(methods) < 0)
        return NULL;
    Py_XSETREF(functions, Py_NewRef(table));
    Py_XSETREF(fallback, Py_NewRef(other));
    Py_XSETREF(ufunc_method, Py_NewRef(method));
    Py_RETURN_NONE;
}

PyMethodDef ext_protocol_methods[] = {
    {"install", (PyCFunction)(void (*)(void))install, METH_VARARGS | METH_KEYWORDS,
     "install(slots, methods, functions, fallback, ufunc_method)\n--\n\n"
     "Give Tensor and DTensor their operators, methods and answers to NumPy."},
    {0},
};
