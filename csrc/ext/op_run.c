/* A hit: operands are moved, the kernel is called, its results become tensors. */
#include "ext/tape.h"
#include "ext/watch.h"

#include <string.h>

PyObject *ext_implicit_hook;

/* --- operands --- */

static int
call_hook(const op_entry *entry, const op_call *call)
{
    PyObject *from = PyList_New(0), *to = PyList_New(0);
    int failed = from == NULL || to == NULL ? -1 : 0;
    for (int k = 0; k < entry->operand_count && failed == 0; k++) {
        const op_operand *operand = &entry->operands[k];
        if (operand->plan == NULL || dt_plan_local(operand->plan))
            continue;
        failed = PyList_Append(from, (PyObject *)operand->from) < 0 ||
                         PyList_Append(to, (PyObject *)operand->to) < 0
                     ? -1
                     : 0;
    }
    PyObject *hook = Py_NewRef(ext_implicit_hook);
    PyObject *answer =
        failed < 0 ? NULL
                   : PyObject_CallFunctionObjArgs(hook, call->op->name, from, to, NULL);
    Py_DECREF(hook);
    Py_XDECREF(answer);
    Py_XDECREF(from);
    Py_XDECREF(to);
    return answer == NULL ? -1 : 0;
}

/* This rank's array of an operand (borrowed), before any move; a Python number, or a
 * scalar of an entry without arrays, is itself. */
static PyObject *
array_of(PyObject *object)
{
    if (Py_TYPE(object) == &ext_dtensor_type)
        return ((DTensorObject *)object)->pending == NULL
                   ? ((TensorObject *)object)->array
                   : (PyObject *)ext_local(object);
    if (ext_is_tensor(object))
        return (PyObject *)ext_local(object);
    return object;
}

/* Moves that send nothing, each on its own. */
static int
move_here(const op_entry *entry, const ext_item *items, const int *places, int count,
          PyObject **moved, const char *what)
{
    for (int i = 0; i < count; i++) {
        ext_item item = items[i];
        const dt_plan *plan = entry->operands[places[i]].plan;
        if (ext_move_here(&item, plan, what) < 0)
            return -1;
        moved[places[i]] = item.result;
    }
    return 0;
}

/* Brings the operands into the layouts of the entry: moved[k] is then a new reference
 * for each that has changed. */
static int
move_operands(const op_entry *entry, const op_call *call, PyObject **moved)
{
    ext_item space[OP_INLINE], *items = space;
    int place_space[OP_INLINE], *places = place_space;
    int count = 0, failed = 0;
    if (entry->sends && ext_implicit_hook != NULL && call_hook(entry, call) < 0)
        return -1;
    if (entry->moved > OP_INLINE) {
        items = PyMem_New(ext_item, (size_t)entry->moved);
        places = PyMem_New(int, (size_t)entry->moved);
        failed = items == NULL || places == NULL ? (PyErr_NoMemory(), -1) : 0;
    }
    for (int k = 0; k < entry->operand_count && failed == 0; k++) {
        const op_operand *operand = &entry->operands[k];
        if (operand->plan == NULL)
            continue;
        PyObject *array = array_of(call->operands[k]);
        failed = array == NULL ? -1 : 0;
        places[count] = k;
        items[count++] = (ext_item){
            .array = array, .from = operand->from->layout, .to = operand->to->layout};
    }
    if (failed == 0 && !entry->sends)
        failed = move_here(entry, items, places, count, moved, call->op->text);
    else if (failed == 0) {
        failed = ext_move_operands(items, count, call->op->text, entry->detail);
        for (int i = 0; i < count && failed == 0; i++)
            moved[places[i]] = items[i].result;
    }
    if (items != space)
        PyMem_Free(items);
    if (places != place_space)
        PyMem_Free(places);
    return failed;
}

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

static bool
fits(const op_result *result, PyArrayObject *array)
{
    if (PyArray_NDIM(array) != result->ndim)
        return false;
    for (int d = 0; d < result->ndim; d++)
        if (PyArray_DIM(array, d) != result->shape[d])
            return false;
    return ext_dtype_is(PyArray_DESCR(array), result->layout->layout->dtype);
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
wrap(const op_entry *entry, int k, PyObject *result, const op_call *call)
{
    if (result != NULL && !PyArray_CheckExact(result))
        result = as_array(result);
    if (result == NULL)
        return NULL;
    if (entry->solo)
        return ext_tensor(result);
    if (!fits(&entry->results[k], (PyArrayObject *)result)) {
        raise_misfit(&entry->results[k], result, call);
        Py_DECREF(result);
        return NULL;
    }
    return ext_dtensor(result, entry->results[k].layout);
}

/* A tuple as one of the type that the kernel gives: a list, or a named tuple. Steals
 * it. */
static PyObject *
named(PyObject *tuple, PyObject *type)
{
    if (tuple == NULL || type == (PyObject *)&PyTuple_Type)
        return tuple;
    PyObject *made = type == (PyObject *)&PyList_Type
                         ? PySequence_List(tuple)
                         : PyObject_CallObject(type, tuple);
    Py_DECREF(tuple);
    return made;
}

/* Several results, in the container that the kernel gave them in; steals it. */
static PyObject *
wrap_all(const op_entry *entry, PyObject *results, const op_call *call)
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
        item = wrap(entry, (int)k, item, call);
        if (item == NULL)
            Py_CLEAR(out);
        else if (list)
            PyList_SET_ITEM(out, k, item);
        else
            PyTuple_SET_ITEM(out, k, item);
    }
    if (!list)
        out = named(out, (PyObject *)Py_TYPE(results));
    Py_DECREF(results);
    return out;
}

/* What the kernel gave, as tensors; steals it. */
static PyObject *
wrap_result(const op_entry *entry, PyObject *result, const op_call *call)
{
    if (PyTuple_Check(result) || PyList_Check(result))
        return wrap_all(entry, result, call);
    if (entry->result_count == 1)
        return wrap(entry, 0, result, call);
    PyErr_Format(PyExc_SystemError, "operator %U: the rule has %d results, not one",
                 call->op->name, entry->result_count);
    Py_DECREF(result);
    return NULL;
}

/* The array without data that a result shows, if the operator gives views: borrowed. */
static PyObject *
viewed(const op_call *call, PyObject *const *moved)
{
    if (!call->op->view || call->operand_count != 1)
        return NULL;
    PyObject *array = moved != NULL && moved[0] != NULL  ? moved[0]
                      : ext_is_tensor(call->operands[0]) ? array_of(call->operands[0])
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
        PyObject *item = array == NULL ? NULL
                         : entry->solo ? ext_tensor(array)
                                       : ext_dtensor(array, r->layout);
        if (item == NULL)
            Py_CLEAR(out);
        else
            PyTuple_SET_ITEM(out, k, item);
    }
    if (entry->container != NULL)
        return named(out, entry->container);
    if (out == NULL || entry->result_count != 1)
        return out;
    PyObject *only = Py_NewRef(PyTuple_GET_ITEM(out, 0));
    Py_DECREF(out);
    return only;
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
    return array_of(call->operands[k]);
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

static PyObject *
call_kernel(const op_entry *entry, const op_call *call, PyObject *const *moved,
            PyObject *out)
{
    PyObject *space[OP_INLINE + 2], **argv = space;
    PyObject *lists[4];
    int list_count = 0;
    Py_ssize_t count = entry->arguments;
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
            value = list_count < 4 ? list_value(entry, call, moved, slot) : NULL;
            if (value != NULL)
                lists[list_count++] = value;
            slot += slot->count;
        }
        argv[k + 1] = value;
        good = value != NULL;
        slot++;
    }
    PyObject *result = NULL;
    if (good && out == NULL)
        result = PyObject_Vectorcall(
            entry->kernel, argv + 1,
            (size_t)entry->positional | PY_VECTORCALL_ARGUMENTS_OFFSET, entry->kwnames);
    else if (good) {
        argv[count + 1] = out;
        result = PyObject_Vectorcall(entry->kernel, argv + 1,
                                     (size_t)entry->positional |
                                         PY_VECTORCALL_ARGUMENTS_OFFSET,
                                     entry->out_names);
    } else if (!PyErr_Occurred())
        PyErr_SetString(PyExc_SystemError, "a kernel with too many lists of operands");
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

PyObject *
op_run(const op_entry *entry, const op_call *call, PyObject *out)
{
    PyObject *space[OP_INLINE], **moved = NULL;
    if (watch_on_operator != NULL && watch_inside != call)
        return watch_run(entry, call, out);
    if (entry->composite != NULL)
        return PyObject_Vectorcall(entry->composite, call->args, (size_t)call->nargs,
                                   call->kwnames);
    /* A simulated rank moves tensors without data too, and gets none by moving. */
    bool simulated = entry->moved > 0 && ext_is_simulated(call->layout->mesh->mesh);
    bool data = !simulated && !op_without_data(call);
    bool computes = data && !entry->outside;
    if (!data && out != NULL) {
        PyErr_SetString(PyExc_NotImplementedError,
                        "Cannot copy out of meta tensor; no data!");
        return NULL;
    }
    if (entry->moved > 0 && (computes || simulated)) {
        moved = entry->operand_count <= OP_INLINE
                    ? space
                    : PyMem_New(PyObject *, (size_t)entry->operand_count);
        if (moved == NULL)
            return PyErr_NoMemory();
        memset(moved, 0, (size_t)entry->operand_count * sizeof *moved);
    }
    PyObject *result = NULL;
    if (moved == NULL || move_operands(entry, call, moved) == 0)
        result = computes ? call_kernel(entry, call, moved, out)
                          : empty_results(entry, call, moved, data);
    if (computes && call->op->agrees != NULL && !entry->solo &&
        agree(call, &result) < 0)
        Py_CLEAR(result);
    if (result != NULL && out == NULL && computes)
        result = wrap_result(entry, result, call);
    if (result != NULL && out == NULL)
        result = tape_wants(call) ? tape_record(call, entry, moved, result)
                                  : tape_unrecorded(call, result);
    if (moved != NULL)
        for (int k = 0; k < entry->operand_count; k++)
            Py_XDECREF(moved[k]);
    if (moved != space)
        PyMem_Free(moved);
    return result;
}
