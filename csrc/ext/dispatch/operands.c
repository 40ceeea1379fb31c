/* operands.c: the operands of a call, brought into the layouts of its entry. */
#include "ext/dispatch/dispatch.h"

#include <string.h>

PyObject *ext_implicit_hook;
int64_t ext_implicit_bytes;

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

/* As op_move_operands, into the arrays that it has made room for. */
static int
move_all(PyObject **moved, const op_entry *entry, const op_call *call)
{
    ext_item space[OP_INLINE], *items = space;
    int place_space[OP_INLINE], *places = place_space;
    int count = 0, failed = 0;
    if (entry->sends && entry->gathered >= ext_implicit_bytes &&
        ext_implicit_hook != NULL && call_hook(entry, call) < 0)
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
        PyObject *array = op_local_array(call->operands[k]);
        failed = array == NULL ? -1 : 0;
        places[count] = k;
        items[count++] = (ext_item){
            .array = array, .from = operand->from->layout, .to = operand->to->layout};
    }
    if (failed == 0 && !entry->sends)
        failed = move_here(entry, items, places, count, moved, call->op->text);
    else if (failed == 0) {
        failed = ext_move_operands(items, count, call->op->text,
                                   ext_trace.differs ? entry->loose : entry->detail,
                                   call->lineage);
        for (int i = 0; i < count && failed == 0; i++)
            moved[places[i]] = items[i].result;
    }
    if (items != space)
        PyMem_Free(items);
    if (places != place_space)
        PyMem_Free(places);
    return failed;
}

int
op_move_operands(op_moved *moved, const op_entry *entry, const op_call *call)
{
    moved->arrays = entry->operand_count <= OP_INLINE
                        ? moved->space
                        : PyMem_New(PyObject *, (size_t)entry->operand_count);
    if (moved->arrays == NULL)
        return ext_no_memory();
    memset(moved->arrays, 0, (size_t)entry->operand_count * sizeof *moved->arrays);
    return move_all(moved->arrays, entry, call);
}

void
op_moved_clear(op_moved *moved, const op_entry *entry)
{
    for (int k = 0; k < entry->operand_count; k++)
        Py_XDECREF(moved->arrays[k]);
    if (moved->arrays != moved->space)
        PyMem_Free(moved->arrays);
}
