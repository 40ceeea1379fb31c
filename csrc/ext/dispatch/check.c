/* A debugging aid, DTENSOR_CHECK=2: plain arrays count as replicated, and so do the
 * replicas of DTensors; are they? */
#include "ext/dispatch/dispatch.h"

#include <math.h>

/* Python hashes each NaN as another object: the bits count. */
static int
hash_number(uint64_t *out, PyObject *number)
{
    if (PyFloat_Check(number) || PyComplex_Check(number)) {
        Py_complex value = PyComplex_AsCComplex(number);
        double parts[] = {isnan(value.real) ? NAN : value.real,
                          isnan(value.imag) ? NAN : value.imag};
        *out = dt_hash(*out, parts, sizeof parts);
        return 0;
    }
    Py_hash_t hash = PyObject_Hash(number);
    *out = dt_hash(*out, &hash, sizeof hash);
    return hash == -1 ? -1 : 0;
}

/* The DTensors on the mesh of the call, whose replicas are to be equal. */
static int
check_replicas(const op_call *call, dt_group *group)
{
    size_t most = (size_t)call->operand_count;
    const dt_layout **layouts = PyMem_New(const dt_layout *, most);
    PyObject **arrays = PyMem_New(PyObject *, most);
    int failed = layouts == NULL || arrays == NULL ? ext_no_memory() : 0, count = 0;
    for (int k = 0; k < call->operand_count && failed == 0; k++) {
        if (!ext_is_dtensor(call->operands[k]))
            continue;
        layouts[count] = ((DTensorObject *)call->operands[k])->layout->layout;
        arrays[count] = (PyObject *)ext_local(call->operands[k]);
        failed = arrays[count] == NULL ? -1 : 0;
        count += layouts[count]->mesh == call->layout->mesh->mesh;
    }
    if (failed == 0)
        failed = ext_compare_replicas(layouts, arrays, count, group, call->op->text);
    PyMem_Free(layouts);
    PyMem_Free(arrays);
    return failed;
}

int
op_check_arrays(const op_call *call)
{
    dt_group *group = ext_group(call->layout->mesh->mesh, NULL, call->op->text);
    if (group == NULL)
        return -1;
    if (group->index < 0 || ext_trace.differs)
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
        int failed = kind == OP_ARRAY ? ext_hash_elements(&hash, operand)
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
    return check_replicas(call, group);
}
