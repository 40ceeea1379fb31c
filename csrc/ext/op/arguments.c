/* The kernel's arguments: operands, constants, lists, and what depends on the part. */
#include "ext/op/op.h"

PyObject *
op_layouts(const op_entry *entry, op_which which)
{
    int count = which == OP_RESULTS ? entry->result_count : entry->operand_count;
    PyObject *tuple = PyTuple_New(count);
    for (int k = 0; tuple != NULL && k < count; k++) {
        const op_operand *operand = &entry->operands[k];
        bool moved = which == OP_TARGETS && operand->to != NULL;
        LayoutObject *layout = which == OP_RESULTS ? entry->results[k].layout
                               : moved             ? operand->to
                                                   : operand->from;
        PyTuple_SET_ITEM(tuple, k, Py_NewRef((PyObject *)layout));
    }
    return tuple;
}

/* What a Part is on this rank. */
static PyObject *
evaluate(const op_maker *m, PartObject *part)
{
    if (!m->entry->solo && (m->world == NULL || m->entry->outside))
        return Py_NewRef(Py_None); /* nothing is computed here */
    PyObject *operands = op_layouts(m->entry, OP_TARGETS);
    PyObject *results = op_layouts(m->entry, OP_RESULTS);
    PyObject *value = NULL;
    if (operands != NULL && results != NULL)
        value = PyObject_CallFunctionObjArgs(part->function, operands, results, NULL);
    Py_XDECREF(operands);
    Py_XDECREF(results);
    return value;
}

static int
make_constant(op_maker *m, PyObject *argument)
{
    op_slot *slot = &m->entry->slots[m->entry->slot_count];
    slot->kind = SLOT_CONSTANT;
    slot->value = Py_TYPE(argument) == &ext_part_type
                      ? evaluate(m, (PartObject *)argument)
                      : Py_NewRef(argument);
    if (slot->value == NULL)
        return -1;
    m->entry->slot_count++;
    return 0;
}

static bool
holds_operands(PyObject *argument)
{
    if (!PyTuple_CheckExact(argument) && !PyList_CheckExact(argument))
        return false;
    for (Py_ssize_t k = 0; k < PySequence_Fast_GET_SIZE(argument); k++) {
        PyTypeObject *type = Py_TYPE(PySequence_Fast_ITEMS(argument)[k]);
        if (type == &ext_operand_type || type == &ext_part_type)
            return true;
    }
    return false;
}

static int
make_item(op_maker *m, PyObject *argument)
{
    if (Py_TYPE(argument) != &ext_operand_type)
        return make_constant(m, argument);
    op_slot *slot = &m->entry->slots[m->entry->slot_count++];
    slot->kind = SLOT_OPERAND;
    slot->index = ((OperandObject *)argument)->index;
    return 0;
}

static int
make_slot(op_maker *m, PyObject *argument)
{
    op_slot *slot = &m->entry->slots[m->entry->slot_count];
    if (!holds_operands(argument))
        return make_item(m, argument);
    slot->kind = PyList_CheckExact(argument) ? SLOT_LIST : SLOT_TUPLE;
    slot->count = (int)PySequence_Fast_GET_SIZE(argument);
    m->entry->slot_count++;
    for (int k = 0; k < slot->count; k++)
        if (make_item(m, PySequence_Fast_ITEMS(argument)[k]) < 0)
            return -1;
    return 0;
}

/* Room for an argument and the elements of a list. */
static Py_ssize_t
room_of(PyObject *argument)
{
    return holds_operands(argument) ? 1 + PySequence_Fast_GET_SIZE(argument) : 1;
}

bool
op_is_ufunc(PyObject *kernel)
{
    static PyObject *ufunc;
    if (ext_import(&ufunc, "numpy", "ufunc") == NULL)
        PyErr_Clear();
    return (PyObject *)Py_TYPE(kernel) == ufunc;
}

/* Whether a function of ours says that it is a kernel of this kind. */
static bool
says_geometric(PyObject *kernel)
{
    PyObject *says =
        PyFunction_Check(kernel) ? ((PyFunctionObject *)kernel)->func_dict : NULL;
    return says != NULL && PyDict_GetItemString(says, "geometric") == Py_True;
}

/* Whether the kernel gives what depends on nothing but its operand's shape and strides,
 * where it gives a view. */
static bool
is_geometric(const op_entry *entry)
{
    static PyObject *getitem, *broadcast_to;
    if (ext_import(&getitem, "operator", "getitem") == NULL ||
        ext_import(&broadcast_to, "numpy", "broadcast_to") == NULL)
        PyErr_Clear();
    bool method = Py_TYPE(entry->kernel) == &PyMethodDescr_Type &&
                  PyDescr_TYPE(entry->kernel) == &PyArray_Type;
    bool known = entry->kernel == getitem || entry->kernel == broadcast_to;
    bool good = (method || known || says_geometric(entry->kernel)) &&
                entry->operand_count == 1 && entry->result_count == 1 &&
                entry->slot_count > 0 && entry->slots[0].kind == SLOT_OPERAND;
    for (int k = 1; good && k < entry->slot_count; k++)
        good = entry->slots[k].kind == SLOT_CONSTANT;
    return good;
}

/* A ufunc writes into what it is given as `out`. */
static int
make_out_names(op_entry *entry)
{
    entry->ufunc = op_is_ufunc(entry->kernel);
    if (!entry->ufunc)
        return 0;
    Py_ssize_t count = entry->kwnames == NULL ? 0 : PyTuple_GET_SIZE(entry->kwnames);
    entry->out_names = PyTuple_New(count + 1);
    PyObject *name = PyUnicode_InternFromString("out");
    if (entry->out_names == NULL || name == NULL)
        return -1;
    for (Py_ssize_t k = 0; k < count; k++)
        PyTuple_SET_ITEM(entry->out_names, k,
                         Py_NewRef(PyTuple_GET_ITEM(entry->kwnames, k)));
    PyTuple_SET_ITEM(entry->out_names, count, name);
    return 0;
}

/* The call of a kernel has room for so many lists that it makes. */
static int
check_lists(const op_maker *m)
{
    int lists = 0;
    for (int k = 0; k < m->entry->slot_count; k++) {
        int kind = (int)m->entry->slots[k].kind;
        lists += kind == SLOT_LIST || kind == SLOT_TUPLE;
    }
    if (lists <= OP_LISTS)
        return 0;
    return ext_fail(PyExc_TypeError,
                    "the function of operator %U gives its kernel %d lists of "
                    "operands, but %d are the most",
                    m->call->op->name, lists, (int)OP_LISTS);
}

int
op_make_slots(op_maker *m)
{
    op_entry *entry = m->entry;
    PyObject *args = m->kernel->args, *kwargs = m->kernel->kwargs;
    PyObject *key, *value;
    Py_ssize_t place = 0, room = 0, keywords = kwargs == NULL ? 0 : PyDict_Size(kwargs);
    entry->kernel = Py_NewRef(m->kernel->kernel);
    entry->positional = PyTuple_GET_SIZE(args);
    entry->arguments = entry->positional + keywords;
    for (Py_ssize_t k = 0; k < entry->positional; k++)
        room += room_of(PyTuple_GET_ITEM(args, k));
    while (kwargs != NULL && PyDict_Next(kwargs, &place, &key, &value))
        room += room_of(value);
    entry->slots = PyMem_Calloc((size_t)room + 1, sizeof *entry->slots);
    entry->kwnames = keywords > 0 ? PyTuple_New(keywords) : NULL;
    if (entry->slots == NULL || (keywords > 0 && entry->kwnames == NULL)) {
        if (!PyErr_Occurred())
            PyErr_NoMemory();
        return -1;
    }
    for (Py_ssize_t k = 0; k < entry->positional; k++)
        if (make_slot(m, PyTuple_GET_ITEM(args, k)) < 0)
            return -1;
    place = 0;
    for (Py_ssize_t k = 0; kwargs != NULL && PyDict_Next(kwargs, &place, &key, &value);
         k++) {
        PyTuple_SET_ITEM(entry->kwnames, k, Py_NewRef(key));
        if (make_slot(m, value) < 0)
            return -1;
    }
    entry->geometric = is_geometric(entry);
    return check_lists(m) < 0 ? -1 : make_out_names(entry);
}
