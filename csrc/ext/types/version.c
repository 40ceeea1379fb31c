/* version.c: the counter of writes into memory that tensors share, by which backward
 * finds that what it kept has changed. */
#include "ext/types/types.h"

tape_version *
tape_version_of(TensorObject *tensor)
{
    if (tensor->version == NULL) {
        tensor->version = PyMem_Malloc(sizeof *tensor->version);
        if (tensor->version == NULL)
            return (tape_version *)PyErr_NoMemory();
        *tensor->version = (tape_version){.refs = 1};
    }
    return tensor->version;
}

static __attribute__((noinline)) int
share_any(TensorObject *tensor, TensorObject *owner)
{
    tape_version *version = tape_version_of(owner);
    if (version == NULL)
        return -1;
    bool global = ext_is_dtensor((PyObject *)tensor);
    uint64_t lineage = global ? ext_lineage((DTensorObject *)tensor) : 0;
    version->refs++;
    tape_forget_owner(tensor);
    tape_version_release(tensor->version);
    tensor->version = version;
    if (global)
        ext_with_lineage((PyObject *)tensor, lineage);
    return 0;
}

/* Of every view, which is new and has no version yet, in few instructions. */
int
tape_share_version(TensorObject *tensor, TensorObject *owner)
{
    tape_version *version = owner->version;
    if (version == NULL || tensor->version != NULL ||
        (Py_TYPE(tensor) != &ext_dtensor_type &&
         Py_TYPE(tensor) != &ext_torch_dtensor_type))
        return share_any(tensor, owner);
    version->refs++;
    tensor->version = version;
    ((DTensorObject *)tensor)->lineage -= version->writes;
    return 0;
}

/* A hash of the writes counts them in their order, and whichever of the tensors that
 * share the memory was written to. What a composite writes is made of what it was called
 * with, whatever has become of that in its Python code. */
int
tape_written(TensorObject *tensor, uint64_t call)
{
    bool global = ext_is_dtensor((PyObject *)tensor);
    tape_version *version = global ? tape_version_of(tensor) : tensor->version;
    if (version == NULL)
        return global ? -1 : 0;
    version->value++;
    if (!global)
        return 0;
    uint64_t before = ext_lineage((DTensorObject *)tensor);
    uint64_t by = call;
    if (ext_trace.scope.lineage != 0) {
        by = ext_trace.scope.lineage;
        call = dt_mix(call, by);
    }
    version->writes = dt_mix(dt_mix(version->writes, call), before);
    ext_journal_write(ext_lineage((DTensorObject *)tensor), by, before);
    return 0;
}

int
tape_written_recorded(TensorObject *tensor, uint64_t call)
{
    if (tape_version_of(tensor) == NULL)
        return -1;
    tensor->version->recorded++;
    return tape_written(tensor, call);
}

void
tape_set_fresh(TensorObject *tensor)
{
    tensor->fresh = tensor->version == NULL ? 0 : tensor->version->recorded;
}

/* --- views and their owners --- */

static PyObject *written_hook, *seen_hook;

void
tape_install_views(PyObject *written, PyObject *seen)
{
    Py_XSETREF(written_hook, Py_NewRef(written));
    Py_XSETREF(seen_hook, Py_NewRef(seen));
}

int
tape_share_view(TensorObject *view, TensorObject *owner)
{
    if (tape_share_version(view, owner) < 0)
        return -1;
    view->apart = owner->apart;
    if (view->version->owner == NULL && !owner->apart)
        view->version->owner = owner;
    return 0;
}

/* The owner of a Tensor that is a view of one; NULL: it is none, or not known. */
static TensorObject *
owner_of_view(TensorObject *view)
{
    TensorObject *owner = view->version == NULL ? NULL : view->version->owner;
    bool good = owner != NULL && owner != view && !view->apart &&
                !ext_is_dtensor((PyObject *)view) &&
                !ext_is_dtensor((PyObject *)owner) && written_hook != NULL;
    return good ? owner : NULL;
}

/* Calls a hook with an owner and a view; whether it could do it, or -1. */
static int
told(PyObject *hook, TensorObject *owner, TensorObject *view)
{
    PyObject *args[] = {(PyObject *)owner, (PyObject *)view};
    Py_INCREF(args[0]);
    Py_INCREF(args[1]);
    PyObject *done = PyObject_Vectorcall(hook, args, 2, NULL);
    int good = done == NULL ? -1 : PyObject_IsTrue(done);
    Py_XDECREF(done);
    Py_DECREF(args[0]);
    Py_DECREF(args[1]);
    return good;
}

int
tape_tell_owner(TensorObject *view)
{
    TensorObject *owner = owner_of_view(view);
    if (owner == NULL || !view->requires_grad)
        return 0;
    bool leaf = owner->node == NULL && owner->requires_grad;
    bool stale = owner->node != NULL && owner->fresh + 1 != view->version->recorded;
    if (leaf || stale)
        return 0;
    return told(written_hook, owner, view) < 0 ? -1 : 0;
}

static bool
is_fresh(const TensorObject *tensor)
{
    return tensor->node == NULL || tensor->version == NULL ||
           tensor->version->recorded == tensor->fresh;
}

int
tape_check_fresh(TensorObject *tensor)
{
    if (is_fresh(tensor))
        return 0;
    TensorObject *owner = owner_of_view(tensor);
    if (owner != NULL && owner->node != NULL && is_fresh(owner)) {
        int good = told(seen_hook, owner, tensor);
        if (good < 0 || (good > 0 && is_fresh(tensor)))
            return good < 0 ? -1 : 0;
    }
    return ext_fail(PyExc_RuntimeError,
                    "a tensor that is recorded was written to through a view of it; "
                    "write into it by x[index] = value, so that its gradient knows");
}
