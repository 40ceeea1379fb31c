/* A debugging aid: plain arrays count as replicated; are they? */
#include "ext/dispatch/dispatch.h"

/* A number for the bytes of an array, in C order. */
static int
hash_array(uint64_t *out, PyArrayObject *array)
{
    PyArrayObject *whole = PyArray_GETCONTIGUOUS(array);
    if (whole == NULL)
        return -1;
    *out = dt_hash(*out, PyArray_DATA(whole), (size_t)PyArray_NBYTES(whole));
    Py_DECREF(whole);
    return 0;
}

static int
hash_number(uint64_t *out, PyObject *number)
{
    Py_hash_t hash = PyObject_Hash(number);
    *out = dt_hash(*out, &hash, sizeof hash);
    return hash == -1 ? -1 : 0;
}

int
op_check_arrays(const op_call *call)
{
    dt_group *group = ext_group(call->layout->mesh->mesh, NULL, call->op->text);
    if (group == NULL)
        return -1;
    if (group->index < 0)
        return 0;
    for (int k = 0; k < call->operand_count; k++) {
        PyObject *operand = call->operands[k];
        uint64_t hash = 0;
        bool equal;
        op_kind kind = op_kind_of(operand);
        if (kind != OP_ARRAY && kind != OP_NUMBER)
            continue;
        dt_call compared;
        ext_call_begin(&compared, call->op->text);
        ext_call_text(&compared, ": the plain array or number that is operand %d", k);
        int failed = kind == OP_ARRAY ? hash_array(&hash, (PyArrayObject *)operand)
                                      : hash_number(&hash, operand);
        if (failed < 0)
            ext_catch(&compared.local);
        if (ext_call_compare(&equal, group, &compared, hash) < 0)
            return -1;
        if (!equal)
            return ext_fail(PyExc_ValueError,
                            "%U: operand %d is a plain array or number, which counts "
                            "as replicated, but it differs between ranks; make it a "
                            "DTensor: DTensor.from_local(array, mesh, placements)",
                            call->op->name, k);
    }
    return 0;
}
