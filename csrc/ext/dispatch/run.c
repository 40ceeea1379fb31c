/* run.c: a hit: operands are moved, the kernel is called, its results become
 * tensors. */
#include "core/memory/memory.h"
#include "ext/dispatch/dispatch.h"

/* --- results --- */

/* A 0-d array of what NumPy gives as a scalar. */
static PyObject *
as_array(PyObject *result)
{
    PyObject *array = PyArray_IsScalar(result, Generic)
                          ? PyArray_FromScalar(result, NULL)
                          : PyArray_FromAny(result, NULL, 0, 0, 0, NULL);
    Py_DECREF(result);
    return array;
}

static PyObject *
raise_misfit(const op_result *result, PyObject *array, const op_call *call)
{
    PyObject *wanted = ext_tuple(result->shape, result->ndim);
    PyObject *shape = PyObject_GetAttrString(array, "shape");
    if (wanted != NULL && shape != NULL)
        PyErr_Format(PyExc_SystemError,
                     "operator %U: the rule promises %R %s on this rank, the kernel "
                     "gave %R %S",
                     call->op->name, wanted,
                     dt_dtype_name(result->layout->layout->dtype), shape,
                     (PyObject *)PyArray_DESCR((PyArrayObject *)array));
    Py_XDECREF(wanted);
    Py_XDECREF(shape);
    return NULL;
}

/* Steals `result`. */
static PyObject *
wrap(const op_entry *entry, int k, PyObject *result, const op_call *call,
     PyObject *const *moved)
{
    if (result != NULL && !PyArray_CheckExact(result))
        result = as_array(result);
    if (result != NULL && call->torch &&
        (!PyArray_IS_C_CONTIGUOUS((PyArrayObject *)result) ||
         (!entry->solo && entry->results[k].short_part)))
        result = op_in_order(entry, call, moved, result);
    if (result == NULL)
        return NULL;
    if (!entry->solo && !op_fits(&entry->results[k], (PyArrayObject *)result)) {
        raise_misfit(&entry->results[k], result, call);
        Py_DECREF(result);
        return NULL;
    }
    return op_result_of(entry, k, call, result);
}

PyObject *
op_contained(PyObject *tuple, PyObject *type)
{
    if (tuple == NULL || type == (PyObject *)&PyTuple_Type)
        return tuple;
    PyObject *made = NULL, *one = NULL;
    if (type == (PyObject *)&PyList_Type)
        made = PySequence_List(tuple);
    else if ((one = PyTuple_Pack(1, tuple)) != NULL)
        made = PyTuple_Type.tp_new((PyTypeObject *)type, one, NULL);
    Py_XDECREF(one);
    Py_DECREF(tuple);
    return made;
}

/* Several results, in the container that the kernel gave them in; steals it. */
static PyObject *
wrap_all(const op_entry *entry, PyObject *results, const op_call *call,
         PyObject *const *moved)
{
    Py_ssize_t count = PySequence_Fast_GET_SIZE(results);
    bool list = PyList_Check(results);
    PyObject *out = list ? PyList_New(count) : PyTuple_New(count);
    if (count != entry->result_count) {
        PyErr_Format(PyExc_SystemError,
                     "operator %U: the rule has %d results, the kernel gave %zd",
                     call->op->name, entry->result_count, count);
        Py_CLEAR(out);
    }
    for (Py_ssize_t k = 0; out != NULL && k < count; k++) {
        PyObject *item = Py_NewRef(PySequence_Fast_ITEMS(results)[k]);
        item = wrap(entry, (int)k, item, call, moved);
        ext_put(&out, k, item);
    }
    if (!list)
        out = op_contained(out, (PyObject *)Py_TYPE(results));
    Py_DECREF(results);
    return out;
}

/* What the kernel gave, as tensors; steals it. */
static PyObject *
wrap_result(const op_entry *entry, PyObject *result, const op_call *call,
            PyObject *const *moved)
{
    if (PyTuple_Check(result) || PyList_Check(result))
        return wrap_all(entry, result, call, moved);
    if (entry->result_count == 1)
        return wrap(entry, 0, result, call, moved);
    PyErr_Format(PyExc_SystemError, "operator %U: the rule has %d results, not one",
                 call->op->name, entry->result_count);
    Py_DECREF(result);
    return NULL;
}

/* --- the kernel --- */

/* What the kernel gets for operand k: borrowed. */
static PyObject *
operand_value(const op_entry *entry, const op_call *call, PyObject *const *moved, int k)
{
    if (moved != NULL && moved[k] != NULL)
        return moved[k];
    if (entry->operands[k].stand_in != NULL)
        return entry->operands[k].stand_in;
    return op_local_array(call->operands[k]);
}

/* The list at a slot, a new reference. */
static PyObject *
list_value(const op_entry *entry, const op_call *call, PyObject *const *moved,
           const op_slot *slot)
{
    bool is_list = slot->kind == SLOT_LIST;
    PyObject *list = is_list ? PyList_New(slot->count) : PyTuple_New(slot->count);
    for (int k = 0; list != NULL && k < slot->count; k++) {
        const op_slot *item = slot + 1 + k;
        PyObject *value = item->kind == SLOT_CONSTANT
                              ? item->value
                              : operand_value(entry, call, moved, item->index);
        if (value == NULL)
            Py_CLEAR(list);
        else if (is_list)
            PyList_SET_ITEM(list, k, Py_NewRef(value));
        else
            PyTuple_SET_ITEM(list, k, Py_NewRef(value));
    }
    return list;
}

/* Of rank-local tensors nothing is known before: whether one is large, and whether memory
 * for so much as they have is ours. */
static void
look_at_arrays(bool *large, bool *pooled, const op_call *call)
{
    for (int k = 0; !*large && k < call->operand_count; k++) {
        PyObject *operand = call->operands[k];
        PyObject *array =
            ext_is_tensor(operand) ? ((TensorObject *)operand)->array : operand;
        if (!PyArray_Check(array))
            continue;
        int64_t bytes = PyArray_NBYTES((PyArrayObject *)array);
        *large = op_is_large(PyArray_TYPE((PyArrayObject *)array) == NPY_HALF, bytes);
        *pooled = *pooled || *large || bytes >= (int64_t)dt_memory_least();
    }
}

static PyObject *
call_kernel(op_entry *entry, const op_call *call, PyObject *const *moved, PyObject *out)
{
    PyObject *result = NULL;
    if (out == NULL && op_aside.fuses) {
        result = op_fuse(entry, call, moved);
        if (result != NULL || PyErr_Occurred())
            return result;
    }
    PyObject *space[OP_INLINE + 2], **argv = space;
    PyObject *lists[OP_LISTS];
    int list_count = 0;
    Py_ssize_t count = entry->arguments, held = 0;
    if (count > OP_INLINE)
        argv = PyMem_New(PyObject *, (size_t)count + 2);
    if (argv == NULL)
        return PyErr_NoMemory();
    const op_slot *slot = entry->slots;
    bool good = true;
    for (Py_ssize_t k = 0; k < count && good; k++) {
        PyObject *value = slot->value;
        if (slot->kind == SLOT_OPERAND)
            value = operand_value(entry, call, moved, slot->index);
        else if (slot->kind != SLOT_CONSTANT) {
            value = list_value(entry, call, moved, slot);
            if (value != NULL)
                lists[list_count++] = value;
            slot += slot->count;
        }
        /* A tensor may be given another array while the GIL is away. */
        argv[k + 1] = Py_XNewRef(value);
        held += value != NULL;
        good = value != NULL;
        slot++;
    }
    bool before = ext_computing, done = false;
    bool large = entry->large, pooled = entry->pooled;
    if (entry->solo)
        look_at_arrays(&large, &pooled, call);
    if (good && pooled) {
        good = ext_handler_install() == 0;
        ext_computing = true;
        if (good && large && op_shortcuts)
            done = entry->loop != NULL ? op_loop_shared(&result, entry, argv + 1, out)
                   : out == NULL       ? op_sum_shared(&result, entry, argv + 1)
                                       : false;
    }
    if (good && !done && out == NULL)
        result = PyObject_Vectorcall(
            entry->kernel, argv + 1,
            (size_t)entry->positional | PY_VECTORCALL_ARGUMENTS_OFFSET, entry->kwnames);
    else if (good && !done) {
        argv[count + 1] = out;
        result = PyObject_Vectorcall(entry->kernel, argv + 1,
                                     (size_t)entry->positional |
                                         PY_VECTORCALL_ARGUMENTS_OFFSET,
                                     entry->out_names);
    }
    ext_computing = before;
    if (result != NULL && op_shortcuts) {
        if (out == NULL)
            op_view_keep(entry, argv + 1, result);
        if (out == NULL && entry->arguments > 1)
            op_sum_keep(entry, argv + 1);
        if (out == NULL && !entry->ufunc)
            op_kernel_keep(entry, argv + 1);
        if (op_is_product(entry) && out == NULL)
            op_product_keep(entry, argv + 1);
        else if (out == NULL || entry->large)
            op_loop_keep(entry, argv + 1);
    }
    while (held > 0)
        Py_DECREF(argv[held--]);
    for (int k = 0; k < list_count; k++)
        Py_DECREF(lists[k]);
    if (argv != space)
        PyMem_Free(argv);
    return result;
}

/* After a kernel whose errors depend on the values of a part: what went wrong on one
 * rank is raised on all. */
static int
agree(const op_call *call, PyObject **result)
{
    dt_call compared;
    ext_call_begin(&compared, call->op->text);
    compared.lineage = call->lineage;
    compared.traced = call->lineage != 0;
    if (*result == NULL)
        ext_catch(&compared.local);
    dt_error err = compared.local;
    dt_group *group = ext_group(call->layout->mesh->mesh, NULL, call->op->text);
    if (group == NULL)
        return -1;
    dt_status status = compared.local.status;
    if (group->index >= 0)
        status = ext_call_agree(group, &compared, true, &err);
    if (status == DT_OK)
        return 0;
    if (compared.local.status != DT_OK)
        ext_raise(&compared.local);
    else if (status == DT_VALUE)
        PyErr_SetString(call->op->agrees, err.message);
    else
        ext_raise(&err);
    return -1;
}

/* Maybe on this rank alone. */
static void
kernel_failed(const op_entry *entry, const op_call *call)
{
    if (op_asks_other(entry, call->op))
        return;
    if (!entry->traced)
        ext_local_failed(call->op->local, call->op->text);
    else if (call->op->agrees == NULL)
        ext_note_failure(call->layout->mesh->mesh, call->lineage, call->op->text);
}

/* Whether an array shows elements of operand k that lie elsewhere than it has them. */
static bool
shows(PyObject *array, PyObject *moved, PyObject *operand)
{
    while (array != NULL && array != moved)
        array = PyArray_Check(array) ? PyArray_BASE((PyArrayObject *)array) : NULL;
    PyObject *own = array == NULL ? NULL : op_local_array(operand);
    return own != NULL &&
           (PyArray_DATA((PyArrayObject *)own) !=
                PyArray_DATA((PyArrayObject *)moved) ||
            !PyArray_SAMESHAPE((PyArrayObject *)own, (PyArrayObject *)moved));
}

/* A view of what had to move is read-only: what is written to it would reach nobody. */
static void
close_views(PyObject *result, const op_call *call, PyObject *const *moved)
{
    bool several = PyTuple_Check(result) || PyList_Check(result);
    Py_ssize_t length = several ? PySequence_Fast_GET_SIZE(result) : 1;
    for (Py_ssize_t i = 0; i < length; i++) {
        PyObject *array = several ? PySequence_Fast_ITEMS(result)[i] : result;
        for (int k = 0; k < call->operand_count; k++)
            if (moved[k] != NULL && PyArray_Check(array) &&
                shows(array, moved[k], call->operands[k]))
                PyArray_CLEARFLAGS((PyArrayObject *)array, NPY_ARRAY_WRITEABLE);
    }
}

PyObject *
op_run(op_entry *entry, const op_call *call, PyObject *out)
{
    op_moved moved;
    moved.arrays = NULL;
    PyObject *result = NULL;
    ext_told = false;
    if (ext_under_way != NULL)
        ext_pending_advance();
    if (entry->moved > 0 && op_move_operands(&moved, entry, call) < 0) {
        if (!ext_told) /* before the ranks have agreed on it */
            kernel_failed(entry, call);
    } else {
        result = call_kernel(entry, call, moved.arrays, out);
        if (result == NULL)
            kernel_failed(entry, call);
        else if (!entry->traced)
            ext_local_done(call->op->local);
    }
    if (call->op->agrees != NULL && !entry->solo && agree(call, &result) < 0)
        Py_CLEAR(result);
    if (result != NULL && out == NULL && moved.arrays != NULL && !call->op->copies)
        close_views(result, call, moved.arrays);
    if (result != NULL && out == NULL)
        result = wrap_result(entry, result, call, moved.arrays);
    if (result != NULL && out == NULL)
        result = tape_result(call, entry, moved.arrays, result);
    if (moved.arrays != NULL)
        op_moved_clear(&moved, entry);
    return result;
}
