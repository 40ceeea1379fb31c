/* Rule, Call, Part and Operand: what an operator's function takes and gives back. */
#include "ext/op/op.h"

#include <stddef.h>

/* --- Rule --- */

static int
reduce_of(int *out, PyObject *object)
{
    dt_reduce_op op;
    dt_error err;
    *out = DT_NO_REDUCE;
    if (object == Py_None)
        return 0;
    const char *name = PyUnicode_AsUTF8(object);
    if (name == NULL)
        return -1;
    if (ext_check(dt_reduce_op_parse(&op, name, &err), &err) < 0)
        return -1;
    *out = (int)op;
    return 0;
}

static PyObject *
rule_new(PyTypeObject *type, PyObject *args, PyObject *kwargs)
{
    static char *names[] = {"text", "partial", "reduce", NULL};
    PyObject *text, *partial = Py_None, *reduce = NULL;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "U|OO:Rule", names, &text, &partial,
                                     &reduce))
        return NULL;
    const char *rows = partial == Py_None ? NULL : PyUnicode_AsUTF8(partial);
    if (rows == NULL && partial != Py_None)
        return NULL;
    int op = DT_SUM;
    if (reduce != NULL && reduce_of(&op, reduce) < 0)
        return NULL;
    RuleObject *self = (RuleObject *)type->tp_alloc(type, 0);
    if (self == NULL)
        return NULL;
    self->text = Py_NewRef(text);
    self->partial = Py_NewRef(partial);
    self->reduce = reduce == NULL ? PyUnicode_FromString(dt_reduce_op_name(DT_SUM))
                                  : Py_NewRef(reduce);
    dt_error err;
    if (dt_rule_parse(&self->rule, PyUnicode_AsUTF8(text), rows, op, &err) != DT_OK) {
        Py_DECREF(self);
        return ext_raise(&err);
    }
    return (PyObject *)self;
}

static void
rule_dealloc(PyObject *object)
{
    RuleObject *self = (RuleObject *)object;
    dt_rule_free(self->rule);
    Py_XDECREF(self->text);
    Py_XDECREF(self->partial);
    Py_XDECREF(self->reduce);
    Py_TYPE(object)->tp_free(object);
}

static PyObject *
rule_repr(PyObject *object)
{
    RuleObject *self = (RuleObject *)object;
    return PyUnicode_FromFormat("Rule(%R, partial=%R, reduce=%R)", self->text,
                                self->partial, self->reduce);
}

#define MEMBER(type, name, doc) {#name, T_OBJECT, offsetof(type, name), READONLY, doc}

static PyMemberDef rule_members[] = {
    MEMBER(RuleObject, text, "The rule in factor notation."),
    MEMBER(RuleObject, partial, "Which Partial operands pass, or None."),
    MEMBER(RuleObject, reduce, "What a cut factor that a result lacks becomes."),
    {0},
};

PyTypeObject ext_rule_type = {
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = "dtensor._C.Rule",
    .tp_basicsize = sizeof(RuleObject),
    .tp_flags = Py_TPFLAGS_DEFAULT,
    .tp_doc = "Rule(text, partial=None, reduce='sum')\n--\n\n"
              "Which placements an operator accepts and gives on one mesh dimension.",
    .tp_new = rule_new,
    .tp_dealloc = rule_dealloc,
    .tp_repr = rule_repr,
    .tp_members = rule_members,
};

/* --- Call --- */

static PyObject *
call_new(PyTypeObject *type, PyObject *args, PyObject *kwargs)
{
    Py_ssize_t count = PyTuple_GET_SIZE(args);
    if (count == 0 || !PyCallable_Check(PyTuple_GET_ITEM(args, 0)))
        return PyErr_Format(PyExc_TypeError, "Call needs a kernel to call");
    CallObject *self = (CallObject *)type->tp_alloc(type, 0);
    if (self == NULL)
        return NULL;
    self->kernel = Py_NewRef(PyTuple_GET_ITEM(args, 0));
    self->args = PyTuple_GetSlice(args, 1, count);
    self->kwargs = Py_XNewRef(kwargs);
    if (self->args == NULL)
        Py_CLEAR(self);
    return (PyObject *)self;
}

static void
call_dealloc(PyObject *object)
{
    CallObject *self = (CallObject *)object;
    Py_XDECREF(self->kernel);
    Py_XDECREF(self->args);
    Py_XDECREF(self->kwargs);
    Py_TYPE(object)->tp_free(object);
}

static PyMemberDef call_members[] = {
    MEMBER(CallObject, kernel, "What each rank calls on its parts."),
    MEMBER(CallObject, args, "Positional arguments."),
    MEMBER(CallObject, kwargs, "Keyword arguments, or None."),
    {0},
};

PyTypeObject ext_call_type = {
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = "dtensor._C.Call",
    .tp_basicsize = sizeof(CallObject),
    .tp_flags = Py_TPFLAGS_DEFAULT,
    .tp_doc = "Call(kernel, /, *args, **kwargs)\n--\n\n"
              "What each rank calls; operands stand for their arrays.",
    .tp_new = call_new,
    .tp_dealloc = call_dealloc,
    .tp_members = call_members,
};

/* --- Part --- */

static PyObject *
part_new(PyTypeObject *type, PyObject *args, PyObject *kwargs)
{
    static char *names[] = {"function", NULL};
    PyObject *function;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "O:Part", names, &function))
        return NULL;
    PartObject *self = (PartObject *)type->tp_alloc(type, 0);
    if (self != NULL)
        self->function = Py_NewRef(function);
    return (PyObject *)self;
}

static void
part_dealloc(PyObject *object)
{
    Py_XDECREF(((PartObject *)object)->function);
    Py_TYPE(object)->tp_free(object);
}

PyTypeObject ext_part_type = {
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = "dtensor._C.Part",
    .tp_basicsize = sizeof(PartObject),
    .tp_flags = Py_TPFLAGS_DEFAULT,
    .tp_doc = "Part(function)\n--\n\n"
              "An argument of a kernel that depends on this rank's part:\n"
              "``function(operands, results)`` gets tuples of layouts, once.",
    .tp_new = part_new,
    .tp_dealloc = part_dealloc,
};

static PyObject *
local_shape(PyObject *Py_UNUSED(module), PyObject *args)
{
    PyObject *operands, *results;
    if (!PyArg_ParseTuple(args, "OO!", &operands, &PyTuple_Type, &results))
        return NULL;
    return PyObject_CallMethod(PyTuple_GET_ITEM(results, 0), "local_shape", NULL);
}

static PyMethodDef local_shape_method = {"local_shape", local_shape, METH_VARARGS,
                                         "Shape of this rank's part of result 0."};

int
ext_add_local_shape(PyObject *module)
{
    PyObject *function = PyCFunction_New(&local_shape_method, NULL);
    PyObject *part = function == NULL
                         ? NULL
                         : PyObject_CallOneArg((PyObject *)&ext_part_type, function);
    Py_XDECREF(function);
    int failed = PyModule_AddObjectRef(module, "LOCAL_SHAPE", part);
    Py_XDECREF(part);
    return failed;
}

/* --- Operand --- */

PyObject *
ext_operand(int index, PyObject *shape, PyObject *dtype, PyObject *layout)
{
    OperandObject *self = PyObject_New(OperandObject, &ext_operand_type);
    if (self == NULL)
        return NULL;
    self->index = index;
    self->shape = Py_NewRef(shape);
    self->dtype = Py_NewRef(dtype);
    self->layout = Py_NewRef(layout);
    self->number = self->value = NULL;
    self->zero = self->read = self->counted = self->listed = false;
    return (PyObject *)self;
}

static void
operand_dealloc(PyObject *object)
{
    OperandObject *self = (OperandObject *)object;
    Py_DECREF(self->shape);
    Py_DECREF(self->dtype);
    Py_DECREF(self->layout);
    PyObject_Free(object);
}

static PyObject *
operand_ndim(PyObject *object, void *Py_UNUSED(closure))
{
    return PyLong_FromSsize_t(PyTuple_GET_SIZE(((OperandObject *)object)->shape));
}

/* Of other operands than DTensors the key of a call has the lengths. */
static void
note_read(OperandObject *self)
{
    self->read |= self->layout != Py_None;
}

static PyObject *
operand_shape(PyObject *object, void *Py_UNUSED(closure))
{
    OperandObject *self = (OperandObject *)object;
    note_read(self);
    return Py_NewRef(self->shape);
}

static PyObject *
operand_layout(PyObject *object, void *Py_UNUSED(closure))
{
    OperandObject *self = (OperandObject *)object;
    note_read(self);
    return Py_NewRef(self->layout);
}

static PyObject *
operand_ones(PyObject *object, void *Py_UNUSED(closure))
{
    PyObject *shape = ((OperandObject *)object)->shape;
    Py_ssize_t ndim = PyTuple_GET_SIZE(shape);
    PyObject *ones = PyTuple_New(ndim);
    for (Py_ssize_t d = 0; ones != NULL && d < ndim; d++)
        ext_put(&ones, d,
                PyLong_FromLong(PyLong_AsLongLong(PyTuple_GET_ITEM(shape, d)) != 0));
    return ones;
}

static PyObject *
operand_size(PyObject *object, void *Py_UNUSED(closure))
{
    PyObject *shape = ((OperandObject *)object)->shape;
    note_read((OperandObject *)object);
    long long count = 1;
    for (Py_ssize_t d = 0; d < PyTuple_GET_SIZE(shape); d++)
        count *= PyLong_AsLongLong(PyTuple_GET_ITEM(shape, d));
    return PyLong_FromLongLong(count);
}

static PyObject *
operand_repr(PyObject *object)
{
    OperandObject *self = (OperandObject *)object;
    note_read(self);
    return PyUnicode_FromFormat("Operand(%d, shape=%R, dtype=%S)", self->index,
                                self->shape, self->dtype);
}

/* Where a function counts with what should be a number, or the numbers of a list. */
static PyObject *
operand_as_number(PyObject *object)
{
    OperandObject *self = (OperandObject *)object;
    self->counted = true;
    return PyErr_Format(PyExc_TypeError,
                        "an array of shape %R cannot be interpreted as an integer; "
                        "give a number, as of x.item()",
                        self->shape);
}

static PyObject *
operand_in_sum(PyObject *left, PyObject *right)
{
    return operand_as_number(Py_TYPE(left) == &ext_operand_type ? left : right);
}

/* == and != compare the objects: a function looks for operands in lists. */
static PyObject *
operand_compare(PyObject *left, PyObject *Py_UNUSED(right), int how)
{
    if (how == Py_EQ || how == Py_NE)
        Py_RETURN_NOTIMPLEMENTED;
    return operand_as_number(left);
}

static PyObject *
operand_as_list(PyObject *object)
{
    ((OperandObject *)object)->listed = true;
    return PyErr_Format(PyExc_TypeError,
                        "an array of shape %R cannot be interpreted as a list of "
                        "integers; give one, as of x.tolist()",
                        ((OperandObject *)object)->shape);
}

static Py_hash_t
operand_hash(PyObject *object)
{
    return _Py_HashPointer(object);
}

static Py_ssize_t
operand_length(PyObject *object)
{
    operand_as_list(object);
    return -1;
}

static int
operand_is_true(PyObject *Py_UNUSED(object))
{
    return 1;
}

static PyObject *
operand_item(PyObject *object, Py_ssize_t Py_UNUSED(index))
{
    return operand_as_list(object);
}

static PySequenceMethods operand_as_sequence = {.sq_length = operand_length,
                                                .sq_item = operand_item};

static PyNumberMethods operand_as_index = {
    .nb_bool = operand_is_true,
    .nb_index = operand_as_number,
    .nb_negative = operand_as_number,
    .nb_absolute = operand_as_number,
    .nb_add = operand_in_sum,
    .nb_subtract = operand_in_sum,
    .nb_multiply = operand_in_sum,
    .nb_remainder = operand_in_sum,
    .nb_floor_divide = operand_in_sum,
};

static PyMemberDef operand_members[] = {
    {"index", T_INT, offsetof(OperandObject, index), READONLY, "Its number."},
    MEMBER(OperandObject, dtype, "Element type; None for a Python number."),
    MEMBER(OperandObject, number, "The type of a Python number, else None."),
    MEMBER(OperandObject, value, "That number, if it is one of `told`; else None."),
    {"zero", T_BOOL, offsetof(OperandObject, zero), READONLY,
     "Whether it is a number, 0, that addends would be divided by."},
    {0},
};

static PyGetSetDef operand_attributes[] = {
    {"ndim", operand_ndim, NULL, "Number of dimensions.", NULL},
    {"shape", operand_shape, NULL, "Global shape.", NULL},
    {"layout", operand_layout, NULL, "Layout of a DTensor, else None.", NULL},
    {"ones", operand_ones, NULL, "The shape with 1 for all lengths but 0.", NULL},
    {"size", operand_size, NULL, "Number of elements.", NULL},
    {0},
};

PyTypeObject ext_operand_type = {
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = "dtensor._C.Operand",
    .tp_basicsize = sizeof(OperandObject),
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION,
    .tp_doc = "An operand as an operator's function sees it.",
    .tp_dealloc = operand_dealloc,
    .tp_repr = operand_repr,
    .tp_as_number = &operand_as_index,
    .tp_as_sequence = &operand_as_sequence,
    .tp_iter = operand_as_list,
    .tp_richcompare = operand_compare,
    .tp_hash = operand_hash,
    .tp_members = operand_members,
    .tp_getset = operand_attributes,
};
