/* lineage.c: of what a call is made: in every call, so without a function where DTensors
 * and numbers are operands. */
#include "ext/op/op.h"

#include <string.h>

/* Keeps a number for people: with others of the call in a tuple. */
static void
keep_number(ext_record *record, PyObject *number)
{
    if (record->number == NULL)
        record->number = Py_NewRef(number);
    else if (!PyTuple_Check(record->number))
        Py_SETREF(record->number, PyTuple_Pack(2, record->number, number));
    else {
        PyObject *one = PyTuple_Pack(1, number);
        Py_SETREF(record->number,
                  one == NULL ? NULL : PySequence_Concat(record->number, one));
        Py_XDECREF(one);
    }
    PyErr_Clear();
}

/* The same of what is no DTensor: operand k, by its value. */
static uint64_t
add_plain(ext_record *record, PyObject *operand, int k)
{
    op_kind kind = op_kind_of(operand);
    if (kind == OP_DTENSOR) /* of a subclass */
        return ext_lineage((DTensorObject *)operand);
    if (k < EXT_RECORDED)
        record->plain |= UINT32_C(1) << k;
    if (kind == OP_NUMBER)
        keep_number(record, operand);
    if (!PyFloat_CheckExact(operand) || ext_trace.differs)
        return ext_lineage_add(0, operand);
    double number = PyFloat_AS_DOUBLE(operand);
    uint64_t bits;
    memcpy(&bits, &number, sizeof bits);
    return bits;
}

void
op_call_trace(op_call *call, const op_entry *entry)
{
    ext_record none, *record = ext_journal_add();
    if (record == NULL) /* no memory for a journal */
        record = &none;
    uint64_t hash = ext_trace.differs ? entry->loose : entry->detail;
    record->call = hash;
    record->text = record == &none ? NULL : Py_NewRef(entry->text);
    record->number = NULL;
    record->plain = 0;
    record->failed = false;
    record->count = call->operand_count;
    for (int k = 0; k < call->operand_count; k++) {
        PyObject *operand = call->operands[k];
        uint64_t lineage = Py_TYPE(operand) == &ext_dtensor_type
                               ? ext_lineage((DTensorObject *)operand)
                               : add_plain(record, operand, k);
        hash = dt_mix(hash, lineage);
        if (k < EXT_RECORDED)
            record->operands[k] = lineage;
    }
    record->lineage = call->lineage = hash;
    if (record == &none)
        Py_XDECREF(none.number);
}

/* --- for people --- */

/* "(10, 7) float64" of a tensor, a number's type where it is an operand, and what the
 * user wrote of a constant. */
static PyObject *
argument_text(PyObject *object)
{
    if (PyTuple_Check(object) || PyList_Check(object)) {
        PyObject *parts = PyList_New(0), *comma = PyUnicode_FromString(", ");
        for (Py_ssize_t k = 0; parts != NULL && k < PySequence_Fast_GET_SIZE(object);
             k++) {
            PyObject *part = argument_text(PySequence_Fast_GET_ITEM(object, k));
            if (part == NULL || PyList_Append(parts, part) < 0)
                Py_CLEAR(parts);
            Py_XDECREF(part);
        }
        PyObject *joined =
            parts == NULL || comma == NULL ? NULL : PyUnicode_Join(comma, parts);
        PyObject *text =
            joined == NULL
                ? NULL
                : PyUnicode_FromFormat(PyList_Check(object) ? "[%U]" : "(%U)", joined);
        Py_XDECREF(parts);
        Py_XDECREF(comma);
        Py_XDECREF(joined);
        return text;
    }
    if (ext_is_dtensor(object)) {
        LayoutObject *layout = ((DTensorObject *)object)->layout;
        return PyUnicode_FromFormat("%R %s", layout->shape,
                                    dt_dtype_name(layout->layout->dtype));
    }
    if (PyArray_Check(object) || ext_is_tensor(object))
        return PyUnicode_FromString(Py_TYPE(object)->tp_name);
    return PyObject_Repr(object);
}

PyObject *
op_call_text(const op_call *call)
{
    Py_ssize_t count =
        call->nargs + (call->kwnames == NULL ? 0 : PyTuple_GET_SIZE(call->kwnames));
    PyObject *text = PyUnicode_FromFormat("%U(", call->op->name);
    for (Py_ssize_t k = 0; text != NULL && k < count; k++) {
        bool number = op_is_expected(call, k) && op_kind_of(call->args[k]) == OP_NUMBER;
        PyObject *argument = number
                                 ? PyUnicode_FromString(Py_TYPE(call->args[k])->tp_name)
                                 : argument_text(call->args[k]);
        PyObject *name =
            k < call->nargs ? NULL : PyTuple_GET_ITEM(call->kwnames, k - call->nargs);
        PyObject *longer =
            argument == NULL
                ? NULL
                : PyUnicode_FromFormat("%U%s%V%s%U", text, k == 0 ? "" : ", ", name, "",
                                       name == NULL ? "" : "=", argument);
        Py_XDECREF(argument);
        Py_SETREF(text, longer);
    }
    if (text != NULL)
        Py_SETREF(text, PyUnicode_FromFormat("%U)", text));
    return text;
}
