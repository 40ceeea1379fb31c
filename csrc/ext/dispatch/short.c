/* short.c: a known call whose result is made without calling its kernel: a view, or what
 * an inner loop gives. Nothing moves, and nobody watches. */
#include "ext/dispatch/dispatch.h"

/* The result as an array, or NULL, without an exception. */
static inline PyObject *
make(const op_entry *entry, const op_call *call)
{
    PyObject *argv[OP_SHORT];
    if (entry->known_kernel != NULL)
        return op_kernel_again(entry, call);
    int count = entry->view != NULL || entry->summed ? 1 : (int)entry->positional;
    for (int k = 0; k < count; k++) {
        argv[k] = op_held_value(entry, call, entry->slots[k].index);
        if (argv[k] == NULL)
            return NULL;
    }
    return entry->view != NULL      ? op_view_again(entry, argv)
           : entry->loop != NULL    ? op_loop_again(entry, argv)
           : entry->product != NULL ? op_product_again(entry, argv)
                                    : op_sum_again(entry, argv);
}

bool
op_short(PyObject **out, const op_entry *entry, const op_call *call)
{
    if (entry->moved > 0 || !op_shortcuts || watch_on_operator != NULL ||
        call->op->agrees != NULL || (op_aside.fuses && entry->view == NULL))
        return false;
    *out = NULL;
    if (entry->view == NULL && ext_catch_up() < 0)
        return true;
    PyObject *result = make(entry, call);
    if (result == NULL)
        return false;
    op_shortcut_count++;
    if (!entry->traced)
        ext_local_done(call->op->local);
    result = op_result_of(entry, 0, call, result);
    *out = result == NULL ? NULL : tape_result(call, entry, NULL, result);
    return true;
}
