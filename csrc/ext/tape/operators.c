/* operators.c: the operators that backward itself needs. Python registers them,
 * for they are above the tape. */
#include "ext/tape/tape.h"

enum { SUM_TO, CAST, ZEROS, ONES, OPERATORS };
static const char *const names[] = {"sum_to", "cast", "zeros", "ones"};
static PyObject *operators[OPERATORS];

static PyObject *
install_tape(PyObject *Py_UNUSED(module), PyObject *given)
{
    for (int k = 0; k < OPERATORS; k++) {
        PyObject *answer = PyMapping_GetItemString(given, names[k]);
        if (answer == NULL)
            return NULL;
        Py_XSETREF(operators[k], answer);
    }
    Py_RETURN_NONE;
}

PyMethodDef ext_gradient_methods[] = {
    {"install_tape", install_tape, METH_O,
     "install_tape(functions, /)\n--\n\n"
     "Take from a dict the functions that backward itself needs: sum_to(x, shape),\n"
     "cast(x, dtype), zeros(operand), ones(tensor)."},
    {0},
};

PyObject *
tape_sum_to(PyObject *grad, PyObject *shape)
{
    return PyObject_CallFunctionObjArgs(operators[SUM_TO], grad, shape, NULL);
}

PyObject *
tape_cast(PyObject *grad, PyObject *dtype)
{
    return PyObject_CallFunctionObjArgs(operators[CAST], grad, dtype, NULL);
}

PyObject *
tape_zeros(PyObject *meta)
{
    return PyObject_CallOneArg(operators[ZEROS], meta);
}

PyObject *
tape_ones(PyObject *tensor)
{
    return PyObject_CallOneArg(operators[ONES], tensor);
}
