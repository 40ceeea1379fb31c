/* program.c: whether a program is for what a gradient function is given, and playing it. */
#include "ext/tape/program.h"

#include <string.h>

long long tape_played_count;

/* --- its life --- */

void
program_forget_steps(program *p)
{
    for (int k = 0; k < p->count; k++) {
        program_step *s = &p->steps[k];
        for (int i = 0; i < s->count; i++)
            Py_XDECREF(s->arguments[i].constant);
        PyMem_Free(s->arguments);
        Py_DECREF(s->callable);
        Py_XDECREF(s->kwnames);
    }
    PyMem_Free(p->steps);
    p->steps = NULL;
    p->count = 0;
}

static void
program_free(program *p)
{
    program_forget_steps(p);
    for (int k = 0; p->is != NULL && k < p->given; k++)
        Py_XDECREF(p->is[k].known);
    PyMem_Free(p->is);
    PyMem_Free(p->sent);
    PyMem_Free(p->answers);
    PyMem_Free(p);
}

static void
programs_dealloc(PyObject *object)
{
    program *p = ((ProgramsObject *)object)->first;
    while (p != NULL) {
        program *next = p->next;
        program_free(p);
        p = next;
    }
    PyObject_Free(object);
}

PyTypeObject ext_programs_type = {
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = "dtensor._C.Programs",
    .tp_basicsize = sizeof(ProgramsObject),
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION,
    .tp_doc = "The calls that the gradient of an operator consists of.",
    .tp_dealloc = programs_dealloc,
};

/* --- what is given --- */

static bool
same_number(PyObject *a, PyObject *b)
{
    if (PyFloat_CheckExact(a))
        return memcmp(&((PyFloatObject *)a)->ob_fval, &((PyFloatObject *)b)->ob_fval,
                      sizeof(double)) == 0;
    if (PyComplex_CheckExact(a))
        return memcmp(&((PyComplexObject *)a)->cval, &((PyComplexObject *)b)->cval,
                      sizeof(Py_complex)) == 0;
    return a == b || PyObject_RichCompareBool(a, b, Py_EQ) > 0;
}

static bool
same_meta(const OperandObject *a, PyObject *shape, PyObject *dtype)
{
    return (a->dtype == dtype ||
            PyArray_EquivTypes((PyArray_Descr *)a->dtype, (PyArray_Descr *)dtype)) &&
           (a->shape == shape || PyObject_RichCompareBool(a->shape, shape, Py_EQ) > 0);
}

static bool
same_array(const OperandObject *a, PyArrayObject *array)
{
    PyArray_Descr *dtype = PyArray_DESCR(array);
    bool same = PyArray_NDIM(array) == PyTuple_GET_SIZE(a->shape) &&
                (a->dtype == (PyObject *)dtype ||
                 PyArray_EquivTypes((PyArray_Descr *)a->dtype, dtype));
    for (int d = 0; same && d < PyArray_NDIM(array); d++)
        same = PyLong_AsSsize_t(PyTuple_GET_ITEM(a->shape, d)) == PyArray_DIM(array, d);
    return same;
}

static bool
is_same(const program_value *is, PyObject *value)
{
    const OperandObject *known = (const OperandObject *)is->known;
    if (Py_TYPE(value) != is->type)
        return false;
    if (known == NULL)
        return true;
    if (is->type == &ext_operand_type) {
        const OperandObject *other = (const OperandObject *)value;
        return known->layout == other->layout &&
               (known->layout != Py_None ||
                same_meta(known, other->shape, other->dtype));
    }
    if (!ext_is_tensor(value))
        return same_number(is->known, value);
    PyArrayObject *array = (PyArrayObject *)((TensorObject *)value)->array;
    if (ext_has_data(array) != is->data)
        return false;
    return ext_is_dtensor(value)
               ? (PyObject *)((DTensorObject *)value)->layout == known->layout
               : same_array(known, array);
}

static bool
is_number(PyObject *object)
{
    return PyLong_CheckExact(object) || PyFloat_CheckExact(object) ||
           PyBool_Check(object) || PyComplex_CheckExact(object);
}

bool
program_is_constant(PyObject *object)
{
    if (PyTuple_Check(object) || PyList_CheckExact(object)) {
        for (Py_ssize_t k = 0; k < PySequence_Fast_GET_SIZE(object); k++)
            if (!program_is_constant(PySequence_Fast_ITEMS(object)[k]))
                return false;
        return true;
    }
    return op_is_plain(object) || is_number(object) || PyArray_DescrCheck(object) ||
           PyType_Check(object) || PyObject_TypeCheck(object, &ext_placement_type) ||
           Py_TYPE(object) == &ext_layout_type || Py_TYPE(object) == &ext_mesh_type;
}

/* What is to be known of a value; false: nothing can be said, or an exception. */
static bool
know(program_value *is, PyObject *value)
{
    is->type = Py_TYPE(value);
    if (ext_is_tensor(value)) {
        is->data = ext_has_data((PyArrayObject *)((TensorObject *)value)->array);
        is->known = tape_meta((TensorObject *)value, 0);
        return is->known != NULL;
    }
    if (is->type == &ext_operand_type || is_number(value)) {
        is->known = Py_NewRef(value);
        return is_number(value) || ((OperandObject *)value)->dtype != Py_None;
    }
    return program_is_constant(value);
}

int
program_values(PyObject **values, const NodeObject *node, PyObject *const *argv)
{
    int count = 0, outputs = node->output_count;
    if (2 * outputs + node->count > PROGRAM_VALUES)
        return 0;
    for (int k = 1; k < 3; k++)
        for (int i = 0; i < outputs; i++)
            values[count++] = node->several ? PyTuple_GET_ITEM(argv[k], i) : argv[k];
    for (Py_ssize_t k = 0; k < node->count; k++)
        values[count++] = argv[k + 3];
    return count;
}

bool
program_fits(const program *p, const NodeObject *node, PyObject *const *values,
             int count, const bool *sent)
{
    if (p->gradient != tape_vjp_number(node->op->vjp) || p->given != count ||
        p->default_dtype != ext_default_dtype ||
        memcmp(p->sent, sent, (size_t)p->inputs * sizeof *sent) != 0)
        return false;
    for (int k = 0; k < count; k++)
        if (!is_same(&p->is[k], values[k]))
            return false;
    return true;
}

program *
program_begin(const NodeObject *node, PyObject *const *values, int count,
              const bool *sent)
{
    program *p = PyMem_Calloc(1, sizeof *p);
    if (p == NULL)
        return NULL;
    size_t inputs = (size_t)node->input_count;
    p->gradient = tape_vjp_number(node->op->vjp);
    p->default_dtype = ext_default_dtype;
    p->given = count;
    p->inputs = node->input_count;
    p->is = PyMem_Calloc((size_t)count, sizeof *p->is);
    p->sent = PyMem_Calloc(inputs + 1, sizeof *p->sent);
    p->answers = PyMem_Calloc(inputs + 1, sizeof *p->answers);
    bool good = p->is != NULL && p->sent != NULL && p->answers != NULL;
    for (int k = 0; good && k < count; k++)
        good = know(&p->is[k], values[k]);
    if (!good) {
        program_free(p);
        PyErr_Clear();
        return NULL;
    }
    memcpy(p->sent, sent, inputs * sizeof *sent);
    return p;
}

/* --- playing --- */

/* Calls one step; `values` get its results. */
static int
play_step(const program_step *s, PyObject **values)
{
    PyObject *space[OP_INLINE + 1], **argv = space;
    if (s->count > OP_INLINE)
        argv = PyMem_New(PyObject *, (size_t)s->count + 1);
    if (argv == NULL)
        return ext_no_memory();
    for (int k = 0; k < s->count; k++) {
        const program_argument *from = &s->arguments[k];
        argv[k + 1] = from->place >= 0 ? values[from->place] : from->constant;
    }
    PyObject *result = PyObject_Vectorcall(
        s->callable, argv + 1, (size_t)s->nargs | PY_VECTORCALL_ARGUMENTS_OFFSET,
        s->kwnames);
    if (argv != space)
        PyMem_Free(argv);
    for (int k = 0; k < s->count; k++)
        if (s->arguments[k].last)
            Py_CLEAR(values[s->arguments[k].place]);
    if (result == NULL)
        return -1;
    if (s->results == 0) {
        values[s->result] = result;
        return 0;
    }
    bool several = PyTuple_Check(result) || PyList_Check(result);
    int failed = several && PySequence_Fast_GET_SIZE(result) == s->results
                     ? 0
                     : ext_fail(PyExc_SystemError, "%R gave other results than before",
                                s->callable);
    for (int k = 0; failed == 0 && k < s->results; k++)
        values[s->result + k] = Py_NewRef(PySequence_Fast_ITEMS(result)[k]);
    Py_DECREF(result);
    return failed;
}

PyObject *
program_play(const program *p, PyObject *const *given)
{
    PyObject *values[PROGRAM_VALUES] = {NULL};
    memcpy(values, given, (size_t)p->given * sizeof *given);
    tape_played_count++;
    int failed = 0;
    for (int k = 0; k < p->count && failed == 0; k++)
        failed = play_step(&p->steps[k], values);
    PyObject *results = failed < 0 ? NULL : PyTuple_New(p->inputs);
    for (int k = 0; results != NULL && k < p->inputs; k++)
        PyTuple_SET_ITEM(
            results, k, Py_NewRef(p->answers[k] < 0 ? Py_None : values[p->answers[k]]));
    for (int k = p->given; k < PROGRAM_VALUES; k++)
        Py_XDECREF(values[k]);
    return results;
}
