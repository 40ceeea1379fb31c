/* dispatch.c: the way into every call of an operator whose entry is known. Here it
 * is asked, once, whether operators are watched, whether a composite is called instead,
 * and whether anything is computed on this rank. */
#include "ext/dispatch/dispatch.h"

/* Whether an operand has no data: nor have the results. */
static bool
without_data(const op_call *call)
{
    for (int k = 0; k < call->operand_count; k++) {
        PyObject *operand = call->operands[k];
        if (ext_is_tensor(operand) &&
            !ext_has_data((PyArrayObject *)((TensorObject *)operand)->array))
            return true;
    }
    return false;
}

static PyObject *
call_composite(const op_entry *entry, const op_call *call)
{
    bool before = ext_trace.numpy;
    ext_trace.numpy |= call->torch && call->op->otherwise == NULL;
    PyObject *result = PyObject_Vectorcall(entry->composite, call->args,
                                           (size_t)call->nargs, entry->kwnames);
    ext_trace.numpy = before;
    return call->torch ? op_results_in_torch(result) : result;
}

/* Calls the operators that another one is composed of. What fails between them, for want
 * of memory, fails on this rank alone. */
static PyObject *
run_composite(const op_entry *entry, const op_call *call)
{
    if (!entry->traced) {
        ext_local_call local = ext_local_begin(call->op->text);
        PyObject *made = call_composite(entry, call);
        ext_local_end(&local, made != NULL);
        return made;
    }
    ext_scope before = ext_trace.scope;
    ext_trace.scope = (ext_scope){
        .lineage = call->lineage,
        .name = before.name == NULL ? call->op->text : before.name,
    };
    ext_told = false;
    PyObject *result = call_composite(entry, call);
    ext_trace.scope = before;
    if (result == NULL && !ext_told && PyErr_ExceptionMatches(PyExc_MemoryError))
        ext_note_failure(call->layout->mesh->mesh, call->lineage, call->op->text);
    return result;
}

static inline PyObject *
run(op_entry *entry, const op_call *call, PyObject *out)
{
    if (entry->composite != NULL)
        return run_composite(entry, call);
    /* A simulated rank moves tensors without data too, and gets none by moving. */
    bool simulated = entry->moved > 0 && ext_is_simulated(call->layout->mesh->mesh);
    bool data = !simulated && !without_data(call);
    return data && !entry->outside ? op_run(entry, call, out)
                                   : op_run_nothing(entry, call, out, simulated, data);
}

static PyObject *
run_watched(op_entry *entry, const op_call *call, PyObject *out)
{
    PyObject *after = entry->composite != NULL ? NULL : watch_operator(entry, call);
    PyObject *result = run(entry, call, out);
    watch_operator_done(after);
    return result;
}

PyObject *
op_dispatch(op_entry *entry, const op_call *call, PyObject *out)
{
    return watch_on_operator == NULL ? run(entry, call, out)
                                     : run_watched(entry, call, out);
}

PyObject *
op_call_bare(PyObject *function, PyObject *const *args, Py_ssize_t nargs,
             PyObject *kwnames)
{
    PyObject *given[8];
    const Py_ssize_t room = (Py_ssize_t)(sizeof given / sizeof *given);
    bool scalars = false;
    for (Py_ssize_t k = 0; !scalars && k < nargs; k++)
        scalars = PyArray_IsScalar(args[k], Generic);
    if (!scalars || nargs > room || kwnames != NULL)
        return PyObject_Vectorcall(function, args, (size_t)nargs, kwnames);
    Py_ssize_t count = 0;
    while (count < nargs && (given[count] = op_bare_number(args[count])) != NULL)
        count++;
    PyObject *result =
        count < nargs ? NULL
                      : PyObject_Vectorcall(function, given, (size_t)nargs, kwnames);
    while (count > 0)
        Py_DECREF(given[--count]);
    return result;
}

PyObject *
op_call_in_order(OperatorObject *self, PyObject *const *args, Py_ssize_t nargs,
                 PyObject *kwnames)
{
    op_call call;
    PyObject *result = NULL;
    op_entry *entry = kwnames == NULL ? op_call_again(&call, self, args, nargs) : NULL;
    if (entry == NULL &&
        op_call_read(&call, self, args, nargs, kwnames, NULL, false) == 0)
        entry = op_entry_of(&call);
    if (entry != NULL && entry->passes < 0)
        result = Py_NewRef(call.operands[0]);
    else if (entry != NULL && entry->passes > 0)
        result = self->bare ? op_call_bare(entry->composite, args, entry->passes, NULL)
                            : PyObject_Vectorcall(entry->composite, args,
                                                  (size_t)entry->passes, NULL);
    if (entry != NULL && entry->traced)
        op_call_trace(&call, entry);
    bool brief = entry != NULL && op_is_short(entry);
    if (entry != NULL && entry->passes == 0 &&
        (!entry->checks || op_check_arrays(&call) == 0) &&
        !(brief && op_short(&result, entry, &call)))
        result = op_dispatch(entry, &call, NULL);
    bool other = result == NULL && entry != NULL && op_asks_other(entry, self);
    op_entry_release(entry);
    op_call_clear(&call);
    if (other) {
        PyErr_Clear();
        result = PyObject_Vectorcall(self->otherwise, args, (size_t)nargs, kwnames);
    }
    return result;
}
