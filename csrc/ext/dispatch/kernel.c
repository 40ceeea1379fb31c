/* kernel.c: C kernels of ours that are called again with other small arrays. */
#include "ext/dispatch/loop.h"
#include "ext/kernels/kernels.h"

/* What the kernel gets there: a new reference, or NULL. */
static PyObject *
value_at(const op_entry *entry, const op_call *call, int argument)
{
    const op_slot *slot = &entry->slots[argument];
    return Py_XNewRef(slot->kind == SLOT_OPERAND
                          ? op_held_value(entry, call, slot->index)
                          : slot->value);
}

PyObject *
op_kernel_again(const op_entry *entry, const op_call *call)
{
    const ext_kernel_known *known = entry->known_kernel;
    PyObject *arrays[EXT_KERNEL_ARGUMENTS], *made = NULL;
    int held = 0; /* a tensor may be given another array while the GIL is away */
    while (held < known->count &&
           (arrays[held] = value_at(entry, call, known->arrays[held].at)) != NULL)
        held++;
    if (held == known->count) {
        bool before = ext_computing;
        ext_computing = before || entry->pooled;
        made = ext_kernel_again(known, arrays);
        ext_computing = before;
        if (made == NULL)
            PyErr_Clear();
        else if (!PyArray_CheckExact(made) ||
                 (!entry->solo && !op_fits(entry->results, (PyArrayObject *)made)))
            Py_CLEAR(made);
    }
    while (held > 0)
        Py_DECREF(arrays[--held]);
    return made;
}

/* Whether a kernel of ours gives the result of an entry, in the order of both dialects. */
static bool
is_kernel(const op_entry *entry)
{
    return Py_TYPE(entry->kernel) == &ext_kernel_type && entry->kwnames == NULL &&
           entry->result_count == 1 && entry->slot_count == entry->positional &&
           entry->positional <= EXT_KERNEL_ARGUMENTS &&
           (entry->solo || !entry->results[0].short_part);
}

/* Whether the numbers of a call are constants, and its arrays no lists. */
static bool
is_fixed(const op_entry *entry, const ext_kernel_known *known)
{
    bool array[EXT_KERNEL_ARGUMENTS] = {false};
    for (int j = 0; j < known->count; j++)
        array[known->arrays[j].at] = true;
    for (Py_ssize_t k = 0; k < entry->positional; k++)
        if (entry->slots[k].kind != SLOT_CONSTANT &&
            (entry->slots[k].kind != SLOT_OPERAND || !array[k]))
            return false;
    return true;
}

void
op_kernel_keep(op_entry *entry, PyObject *const *argv)
{
    if (entry->runs > OP_LOOP_ATTEMPTS || !is_kernel(entry) || entry->runs++ == 0)
        return; /* it may be the only call */
    entry->runs = OP_LOOP_ATTEMPTS + 1;
    entry->loop_owner = ext_kernel_know(entry->kernel, argv, entry->positional);
    const ext_kernel_known *known = entry->loop_owner == NULL
                                        ? NULL
                                        : PyCapsule_GetPointer(entry->loop_owner, NULL);
    if (known != NULL && is_fixed(entry, known))
        entry->known_kernel = known;
    PyErr_Clear();
}
