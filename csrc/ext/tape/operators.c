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

/* This rank's part of a layout, full of ones; NULL with an exception. */
static PyObject *
part_of_ones(const dt_layout *layout)
{
    static PyObject *one;
    dt_world *world = ext_world(layout->mesh, "backward");
    if (one == NULL)
        one = PyLong_FromLong(1);
    PyObject *part =
        world == NULL || one == NULL ? NULL : ext_part(layout, world->transport->rank);
    if (part != NULL && PyArray_FillWithScalar((PyArrayObject *)part, one) < 0)
        Py_CLEAR(part);
    return part;
}

PyObject *
tape_ones(PyObject *tensor)
{
    static PyObject *text;
    if (text == NULL)
        text = PyUnicode_InternFromString("a gradient of 1");
    LayoutObject *layout =
        ext_is_dtensor(tensor) ? ((DTensorObject *)tensor)->layout : NULL;
    PyArrayObject *array = (PyArrayObject *)((TensorObject *)tensor)->array;
    if (layout == NULL || text == NULL || layout->layout->mesh->world == 0 ||
        !ext_has_data(array))
        return PyObject_CallOneArg(operators[ONES], tensor);
    layout = layout->layout->has_partial ? ext_layout_dual(layout)
                                         : (LayoutObject *)Py_NewRef((PyObject *)layout);
    PyObject *part = layout == NULL ? NULL : part_of_ones(layout->layout);
    PyObject *made = part == NULL ? NULL : ext_dtensor(part, layout);
    if (made != NULL) {
        uint64_t lineage = ext_lineage_add(0, text);
        lineage = ext_lineage_add(lineage, layout->shape);
        lineage = ext_lineage_add(lineage, (PyObject *)PyArray_DESCR(array));
        ext_journal_note(lineage, Py_NewRef(text), NULL, lineage, true, 0);
        ext_with_lineage(made, lineage);
    }
    Py_XDECREF((PyObject *)layout);
    return ext_like_dialect(made, tensor);
}
