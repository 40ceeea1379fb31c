/* lineage.c: of what a call is made: in every call, so without a function where DTensors
 * and numbers are operands. */
#include "ext/op/op.h"

/* Any call. */
static __attribute__((noinline)) void
trace_any(op_call *call, const op_entry *entry)
{
    ext_record *record = ext_journal_add(Py_NewRef(entry->text));
    uint64_t hash = ext_trace.differs ? entry->loose : entry->detail;
    record->call = hash;
    record->count = call->operand_count;
    for (int k = 0; k < call->operand_count; k++)
        hash = dt_mix(hash, ext_lineage_operand(record, k, call->operands[k]));
    record->lineage = call->lineage = hash;
}

/* The same for a few DTensors and floats, in as few instructions as it can be had: all
 * that is called is called last. */
void
op_call_trace(op_call *call, const op_entry *entry)
{
    ext_tracing *trace = &ext_trace;
    int count = call->operand_count;
    if (trace->journal == NULL || trace->differs || count > EXT_RECORDED) {
        trace_any(call, entry);
        return;
    }
    /* The oldest record: until it is the newest one, it may be half a record. */
    ext_record *record = &trace->journal[trace->next % EXT_JOURNAL];
    uint64_t hash = entry->detail;
    record->call = hash;
    record->count = count;
    record->kinds = 0;
    record->failed = false;
    int k = 0;
    do { /* there is a DTensor */
        PyObject *operand = call->operands[k];
        uint64_t word;
        if (__builtin_expect(Py_TYPE(operand) == &ext_dtensor_type, true)) {
            word = ext_lineage((DTensorObject *)operand);
        } else if (PyFloat_CheckExact(operand)) {
            word = ext_float_bits(operand);
            record->kinds |= EXT_FLOAT(k);
        } else {
            trace_any(call, entry);
            return;
        }
        hash = dt_mix(hash, word);
        record->operands[k] = word;
    } while (++k < count);
    PyObject *before = record->text;
    trace->next++;
    record->text = Py_NewRef(entry->text);
    record->lineage = call->lineage = hash;
    Py_XDECREF(before);
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
