/* fused_tell.c: warnings of floating-point flags that a program has raised. */
#include "ext/dispatch/fused.h"

/* Maybe on this rank alone, as kernel_failed in run.c. */
static void
step_failed(const fused_step *step)
{
    if (!step->entry->traced)
        ext_local_failed(step->op->local, step->op->text);
    else
        ext_note_failure(step->entry->results[0].layout->mesh->mesh, step->lineage,
                         step->op->text);
}

static int
tell_in_order(fused_program *p)
{
    for (int k = 0; k < p->count; k++) {
        fused_step *step = &p->steps[k];
        int flags = atomic_load(&step->flags);
        int told = flags == 0           ? 0
                   : fused_is_sum(step) ? op_sum_tell(flags)
                                        : op_loop_tell(step->entry, flags);
        if (told < 0) {
            step_failed(step);
            return -1;
        }
    }
    return 0;
}

/* numpy.seterr(**modes) */
static int
set_modes(PyObject *modes)
{
    static PyObject *seterr;
    PyObject *none = PyTuple_New(0), *before = NULL;
    if (none != NULL && ext_import(&seterr, "numpy", "seterr") != NULL)
        before = PyObject_Call(seterr, none, modes);
    bool good = before != NULL;
    Py_XDECREF(none);
    Py_XDECREF(before);
    return good ? 0 : -1;
}

/* In a context of its own, so that nothing has to be put back, whatever happens. */
int
fused_tell(fused_program *p)
{
    int flags = 0;
    for (int k = 0; k < p->count; k++)
        flags |= atomic_load(&p->steps[k].flags);
    if (atomic_load(&p->failed))
        return ext_fail(PyExc_SystemError, "a loop of a fused program has failed");
    PyObject *context = flags == 0 ? NULL : PyContext_CopyCurrent();
    if (context == NULL || PyContext_Enter(context) < 0) {
        Py_XDECREF(context);
        return flags == 0 ? 0 : -1;
    }
    int failed = set_modes(p->modes) < 0 || tell_in_order(p) < 0 ? -1 : 0;
    PyObject *type, *error, *trace;
    PyErr_Fetch(&type, &error, &trace);
    PyContext_Exit(context);
    PyErr_Restore(type, error, trace);
    Py_DECREF(context);
    return failed;
}
