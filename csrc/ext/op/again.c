/* again.c: a call like the last one of its operator, found without making a key: tensors
 * of the same layouts, numbers of the same types, the same constants. */
#include "ext/op/op.h"

bool
op_is_plain(PyObject *object)
{
    if (PySlice_Check(object)) {
        PySliceObject *slice = (PySliceObject *)object;
        return op_is_plain(slice->start) && op_is_plain(slice->stop) &&
               op_is_plain(slice->step);
    }
    if (!PyTuple_CheckExact(object))
        return object == Py_None || object == Py_Ellipsis || PyBool_Check(object) ||
               PyLong_CheckExact(object) || PyFloat_CheckExact(object) ||
               PyUnicode_CheckExact(object) || Py_TYPE(object) == &PyType_Type;
    for (Py_ssize_t k = 0; k < PyTuple_GET_SIZE(object); k++)
        if (!op_is_plain(PyTuple_GET_ITEM(object, k)))
            return false;
    return true;
}

/* What argument k has to be; whether there is such a thing. */
static bool
know(op_known *out, const op_call *call, Py_ssize_t k)
{
    PyObject *object = call->args[k];
    op_kind kind = op_kind_of(object);
    bool ours = Py_TYPE(object) == &ext_dtensor_type ||
                Py_TYPE(object) == &ext_torch_dtensor_type;
    bool expected = op_is_expected(call, k);
    *out = (op_known){.kind = kind};
    if (kind == OP_DTENSOR && ours)
        out->is = ((DTensorObject *)object)->layout;
    else if (kind == OP_NUMBER && expected) {
        out->is = Py_TYPE(object);
        out->told = op_told(call->op, object);
    } else {
        out->kind = OP_CONSTANT;
        return !(expected && PyTuple_CheckExact(object)) && op_is_plain(object);
    }
    return true;
}

void
op_know(op_entry *entry, const op_call *call)
{
    bool divides = call->op->divides && call->layout != NULL &&
                   call->layout->layout->has_partial; /* its numbers matter */
    bool known = call->nargs > 0 && call->nargs <= OP_KNOWN && call->kwnames == NULL &&
                 call->out == NULL && call->layout != NULL && !divides;
    for (Py_ssize_t k = 0; known && k < call->nargs; k++)
        known = know(&entry->known[k], call, k);
    entry->known_count = known ? (int)call->nargs : 0;
    entry->costs = ext_cost_hash;
    entry->first = call->layout;
}

op_entry *
op_call_again(op_call *call, OperatorObject *op, PyObject *const *args,
              Py_ssize_t nargs)
{
    op_entry *entry = op->last;
    if (entry == NULL || entry->known_count != nargs || entry->costs != ext_cost_hash ||
        entry->words[0] != op_first_word(nargs))
        return NULL;
    PyObject **operand = call->operand_space, **constant = call->static_space;
    PyObject *const *wanted = entry->statics + 1;
    bool torch = false;
    for (Py_ssize_t k = 0; k < nargs; k++) {
        const op_known *known = &entry->known[k];
        PyObject *arg = args[k];
        PyTypeObject *type = Py_TYPE(arg);
        if (known->kind == OP_CONSTANT) {
            if (arg != *wanted && !op_static_equal(*wanted, arg))
                return NULL;
            *constant++ = arg;
            wanted++;
            continue;
        }
        *operand++ = arg;
        if (known->kind == OP_NUMBER) {
            if ((void *)type != known->is || op_told(op, arg) != known->told)
                return NULL;
            continue;
        }
        if (type != &ext_dtensor_type && type != &ext_torch_dtensor_type)
            return NULL;
        if ((void *)((DTensorObject *)arg)->layout != known->is)
            return NULL;
        torch |= type != &ext_dtensor_type;
    }
    op_call_begin(call, op, args, nargs, NULL);
    call->torch = torch;
    call->operand_count = (int)(operand - call->operand_space);
    call->static_count = (int)(constant - call->static_space);
    call->layout = entry->first;
    op_cache_used(entry);
    return entry;
}
