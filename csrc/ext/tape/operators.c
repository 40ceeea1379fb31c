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

static PyObject *
install_views(PyObject *Py_UNUSED(module), PyObject *args)
{
    PyObject *written, *seen;
    if (!PyArg_ParseTuple(args, "OO:install_views", &written, &seen))
        return NULL;
    tape_install_views(written, seen);
    Py_RETURN_NONE;
}

PyMethodDef ext_gradient_methods[] = {
    {"install_tape", install_tape, METH_O,
     "install_tape(functions, /)\n--\n\n"
     "Take from a dict the functions that backward itself needs: sum_to(x, shape),\n"
     "cast(x, dtype), zeros(operand), ones(tensor)."},
    {"install_views", install_views, METH_VARARGS,
     "install_views(written, seen, /)\n--\n\n"
     "Take what is called with a tensor and a view of it after a recorded write into "
     "one\n"
     "of them: `written` makes the tensor's node anew, `seen` the view's. They return\n"
     "whether they could."},
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

/* A gradient of one number for all of a tensor, in the layout that is dual to that of the
 * tensor; NULL with an exception. */
static PyObject *
filled(LayoutObject *layout, PyObject *dtype, long number)
{
    static PyObject *texts[2];
    static const char *const said[] = {"a gradient of 0", "a gradient of 1"};
    if (texts[number] == NULL)
        texts[number] = PyUnicode_InternFromString(said[number]);
    PyObject *text = texts[number], *value = PyLong_FromLong(number);
    dt_world *world = ext_world(layout->layout->mesh, "backward");
    LayoutObject *dual = layout->layout->has_partial
                             ? ext_layout_dual(layout)
                             : (LayoutObject *)Py_NewRef((PyObject *)layout);
    PyObject *part = world == NULL || dual == NULL || text == NULL || value == NULL
                         ? NULL
                         : ext_part(dual->layout, world->transport->rank);
    if (part != NULL && PyArray_FillWithScalar((PyArrayObject *)part, value) < 0)
        Py_CLEAR(part);
    PyObject *made = part == NULL ? NULL : ext_dtensor(part, dual);
    if (made != NULL) {
        uint64_t lineage = ext_lineage_add(0, text);
        lineage = ext_lineage_add(lineage, layout->shape);
        lineage = ext_lineage_add(lineage, dtype);
        ext_journal_note(lineage, Py_NewRef(text), NULL, lineage, true, 0);
        ext_with_lineage(made, lineage);
    }
    Py_XDECREF((PyObject *)dual);
    Py_XDECREF(value);
    return made;
}

PyObject *
tape_zeros(PyObject *meta)
{
    OperandObject *of = (OperandObject *)meta;
    LayoutObject *layout = of->layout == Py_None ? NULL : (LayoutObject *)of->layout;
    if (layout == NULL || layout->layout->mesh->world == 0)
        return PyObject_CallOneArg(operators[ZEROS], meta);
    return filled(layout, of->dtype, 0);
}

PyObject *
tape_ones(PyObject *tensor)
{
    PyArrayObject *array = (PyArrayObject *)((TensorObject *)tensor)->array;
    LayoutObject *layout =
        ext_is_dtensor(tensor) ? ((DTensorObject *)tensor)->layout : NULL;
    if (layout == NULL || layout->layout->mesh->world == 0 || !ext_has_data(array))
        return PyObject_CallOneArg(operators[ONES], tensor);
    return ext_like_dialect(filled(layout, (PyObject *)PyArray_DESCR(array), 1),
                            tensor);
}
