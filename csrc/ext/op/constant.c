/* constant.c: numbers, texts and lists of a call: when two are equal, and copies that
 * nobody changes. */
#include "ext/op/op.h"

#include <string.h>

static bool
sequence_equal(PyObject *a, PyObject *b)
{
    Py_ssize_t count = PySequence_Fast_GET_SIZE(a);
    if (PySequence_Fast_GET_SIZE(b) != count)
        return false;
    for (Py_ssize_t k = 0; k < count; k++)
        if (!op_static_equal(PySequence_Fast_ITEMS(a)[k], PySequence_Fast_ITEMS(b)[k]))
            return false;
    return true;
}

/* Of two floating-point or complex numbers of one type. */
static bool
same_bits(PyObject *a, PyObject *b)
{
    char x[2 * sizeof(npy_longdouble)] = {0}, y[sizeof x] = {0};
    if (PyArray_IsScalar(a, Inexact)) {
        PyArray_ScalarAsCtype(a, x);
        PyArray_ScalarAsCtype(b, y);
    } else {
        Py_complex left = PyComplex_AsCComplex(a), right = PyComplex_AsCComplex(b);
        memcpy(x, &left, sizeof left);
        memcpy(y, &right, sizeof right);
    }
    return memcmp(x, y, sizeof x) == 0;
}

/* Equal to the last bit: 1, 1.0 and True are three constants, 0.0 and -0.0 two. */
bool
op_static_equal(PyObject *a, PyObject *b)
{
    if (a == b)
        return true;
    if (Py_TYPE(a) != Py_TYPE(b))
        return false;
    if (PyTuple_Check(a) || PyList_Check(a))
        return sequence_equal(a, b);
    if (PySlice_Check(a)) {
        PySliceObject *x = (PySliceObject *)a, *y = (PySliceObject *)b;
        return op_static_equal(x->start, y->start) &&
               op_static_equal(x->stop, y->stop) && op_static_equal(x->step, y->step);
    }
    if (PyFloat_Check(a) || PyComplex_Check(a) || PyArray_IsScalar(a, Inexact))
        return same_bits(a, b);
    int equal = PyObject_RichCompareBool(a, b, Py_EQ);
    if (equal < 0)
        PyErr_Clear();
    return equal > 0;
}

PyObject *
op_static_copy(PyObject *object)
{
    bool list = PyList_CheckExact(object);
    if (!list && !PyTuple_CheckExact(object))
        return Py_NewRef(object);
    if (Py_EnterRecursiveCall(" in a list of arguments"))
        return NULL;
    Py_ssize_t count = PySequence_Fast_GET_SIZE(object);
    PyObject *copy = list ? PyList_New(count) : PyTuple_New(count);
    for (Py_ssize_t k = 0; copy != NULL && k < count; k++)
        ext_put(&copy, k, op_static_copy(PySequence_Fast_ITEMS(object)[k]));
    Py_LeaveRecursiveCall();
    return copy;
}
