/* without_data.c: a call of which nothing is computed on this rank: some operand has
 * no data, the rank is outside the mesh, or it is simulated. The results are as the
 * entry says, and the call is recorded as any other. */
#include "ext/dispatch/dispatch.h"

/* The array without data that a result shows, if the operator gives views: borrowed. */
static PyObject *
viewed(const op_call *call, PyObject *const *moved)
{
    if (!call->op->view || call->operand_count != 1)
        return NULL;
    PyObject *array = moved != NULL && moved[0] != NULL ? moved[0]
                      : ext_is_tensor(call->operands[0])
                          ? op_local_array(call->operands[0])
                          : NULL;
    return array == NULL || ext_has_data((PyArrayObject *)array) ? NULL : array;
}

/* On a rank outside the mesh empty parts; of operands without data such results. */
static PyObject *
empty_results(const op_entry *entry, const op_call *call, PyObject *const *moved,
              bool data)
{
    PyObject *out = PyTuple_New(entry->result_count);
    PyObject *of = data ? NULL : viewed(call, moved);
    for (int k = 0; out != NULL && k < entry->result_count; k++) {
        const op_result *r = &entry->results[k];
        dt_dtype dtype = r->layout->layout->dtype;
        PyObject *array = data ? ext_array(r->ndim, r->shape, dtype)
                          : of != NULL
                              ? ext_view_without_data(of, r->ndim, r->shape, dtype)
                              : ext_array_without_data(r->ndim, r->shape, dtype);
        PyObject *made = array == NULL ? NULL
                         : entry->solo ? ext_tensor(array)
                                       : ext_with_lineage(ext_dtensor(array, r->layout),
                                                          op_lineage(call, k));
        ext_put(&out, k, call->torch ? ext_into_torch(made) : made);
    }
    if (entry->container != NULL)
        return op_contained(out, entry->container);
    if (out == NULL || entry->result_count != 1)
        return out;
    PyObject *only = Py_NewRef(PyTuple_GET_ITEM(out, 0));
    Py_DECREF(out);
    return only;
}

/* On a rank outside the mesh no array shows another one: where the other ranks have views
 * of what may become recorded, this one has them too. Steals the result and gives it
 * back. */
static PyObject *
follow_outside(const op_entry *entry, const op_call *call, PyObject *result)
{
    bool view = result != NULL && call->op->view && call->operand_count == 1 &&
                entry->moved == 0 && ext_is_dtensor(call->operands[0]);
    TensorObject *owner = view ? (TensorObject *)call->operands[0] : NULL;
    if (owner == NULL || owner->leaf_view ||
        (owner->requires_grad && owner->node == NULL))
        return result;
    bool several = PyTuple_Check(result) || PyList_Check(result);
    PyObject **outputs = several ? PySequence_Fast_ITEMS(result) : &result;
    Py_ssize_t count = several ? PySequence_Fast_GET_SIZE(result) : 1;
    int failed = 0;
    for (Py_ssize_t k = 0; k < count && failed == 0; k++)
        failed = tape_share_view((TensorObject *)outputs[k], owner);
    if (failed < 0)
        Py_CLEAR(result);
    return result;
}

PyObject *
op_run_nothing(const op_entry *entry, const op_call *call, PyObject *out,
               bool simulated, bool data)
{
    op_moved moved;
    moved.arrays = NULL;
    PyObject *result = NULL;
    if (!data && out != NULL)
        return PyErr_Format(PyExc_NotImplementedError,
                            "Cannot copy out of meta tensor; no data!");
    if (!simulated || op_move_operands(&moved, entry, call) == 0)
        result = empty_results(entry, call, moved.arrays, data);
    if (result != NULL && out == NULL)
        result = tape_result(call, entry, moved.arrays, result);
    if (data && out == NULL)
        result = follow_outside(entry, call, result);
    if (moved.arrays != NULL)
        op_moved_clear(&moved, entry);
    return result;
}
