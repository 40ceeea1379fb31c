/* version.c: the counter of writes into memory that tensors share, by which backward
 * finds that what it kept has changed. */
#include "ext/types/types.h"

tape_version *
tape_version_of(TensorObject *tensor)
{
    if (tensor->version == NULL) {
        tensor->version = PyMem_Calloc(1, sizeof *tensor->version);
        if (tensor->version == NULL)
            return (tape_version *)PyErr_NoMemory();
        tensor->version->refs = 1;
        if (!tensor->apart)
            tensor->history = &tensor->version->history;
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
    if (tensor->version != NULL)
        tape_leave(tensor);
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
tape_recorded(TensorObject *tensor)
{
    if (tape_version_of(tensor) == NULL)
        return -1;
    if (tensor->history != NULL)
        tensor->history->recorded++;
    return 0;
}

int
tape_written_recorded(TensorObject *tensor, uint64_t call)
{
    return tape_recorded(tensor) < 0 ? -1 : tape_written(tensor, call);
}

void
tape_set_fresh(TensorObject *tensor)
{
    tensor->fresh = tensor->history == NULL ? 0 : tensor->history->recorded;
}

/* --- views and their owners --- */

static PyObject *written_hook, *seen_hook;

void
tape_install_views(PyObject *written, PyObject *seen)
{
    Py_XSETREF(written_hook, Py_NewRef(written));
    Py_XSETREF(seen_hook, Py_NewRef(seen));
}

/* What was detached has a history of its own once there are views of it. */
static int
begin_apart(TensorObject *tensor)
{
    if (tensor->history == NULL) {
        tensor->history = PyMem_Calloc(1, sizeof *tensor->history);
        if (tensor->history == NULL)
            return ext_no_memory();
        tensor->history->refs = 1;
        tensor->fresh = 0;
    }
    tensor->history->refs++;
    return 0;
}

/* Where the history of a tensor has the owner of its kind. */
static TensorObject **
owner_of_kind(const TensorObject *tensor)
{
    return &tensor->history->owners[ext_is_dtensor((PyObject *)tensor)];
}

/* The first view of a tensor, or the first of its kind: of a DTensor its part. */
static __attribute__((noinline)) void
begin_kind(TensorObject *view, TensorObject *owner)
{
    if (*owner_of_kind(owner) == NULL)
        *owner_of_kind(owner) = owner;
    if (*owner_of_kind(view) == NULL)
        *owner_of_kind(view) = view;
}

int
tape_share_view(TensorObject *view, TensorObject *owner)
{
    if (tape_share_version(view, owner) < 0 || (owner->apart && begin_apart(owner) < 0))
        return -1;
    tape_history *history = view->history = owner->history;
    view->apart = owner->apart;
    view->fresh = history->recorded;
    TensorObject **of_view = owner_of_kind(view);
    if (*of_view == NULL)
        begin_kind(view, owner);
    owner = *of_view;
    if (owner != view)
        Py_XSETREF(view->base, Py_NewRef((PyObject *)owner));
    return 0;
}

PyObject *
ext_alias(PyObject *object, PyTypeObject *type)
{
    TensorObject *self = (TensorObject *)object;
    TensorObject *alias = ext_tensor_alloc(type, Py_NewRef(self->array));
    if (alias == NULL)
        return NULL;
    alias->requires_grad = self->requires_grad;
    alias->node = Py_XNewRef(self->node);
    alias->output = self->output;
    alias->leaf_view = self->leaf_view;
    if (ext_is_dtensor(object)) {
        const DTensorObject *source = (DTensorObject *)object;
        DTensorObject *made = (DTensorObject *)alias;
        made->layout = (LayoutObject *)Py_NewRef((PyObject *)source->layout);
        made->pending = Py_XNewRef(source->pending);
        ext_with_lineage((PyObject *)alias, ext_lineage(source));
    }
    if (tape_share_view(alias, self) < 0)
        Py_CLEAR(alias);
    else
        alias->fresh = self->fresh;
    return (PyObject *)alias;
}

TensorObject *
tape_owner(const TensorObject *view)
{
    TensorObject *owner = view->history == NULL ? NULL : *owner_of_kind(view);
    return owner != view && written_hook != NULL ? owner : NULL;
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
    TensorObject *owner = tape_owner(view);
    if (owner == NULL || !view->requires_grad)
        return 0;
    bool leaf = owner->node == NULL && owner->requires_grad;
    bool stale = owner->fresh + 1 != view->history->recorded;
    if (leaf || stale)
        return 0;
    return told(written_hook, owner, view) < 0 ? -1 : 0;
}

int
tape_see(TensorObject *view)
{
    TensorObject *owner = tape_owner(view);
    return owner == NULL || told(seen_hook, owner, view) >= 0 ? 0 : -1;
}

bool
tape_follows(TensorObject *tensor)
{
    int type = PyArray_TYPE((PyArrayObject *)tensor->array);
    if (PyTypeNum_ISINTEGER(type) || PyTypeNum_ISBOOL(type))
        return false;
    TensorObject *owner = tape_owner(tensor);
    return owner == NULL || owner->requires_grad || tape_is_behind(owner);
}

bool
tape_is_unrecorded_view(TensorObject *tensor)
{
    TensorObject *owner = tape_owner(tensor);
    return owner != NULL && owner->requires_grad && !tensor->requires_grad &&
           !tape_is_behind(tensor);
}

int
tape_check_fresh(TensorObject *tensor)
{
    if (!tape_is_behind(tensor) || !(tensor->requires_grad || tape_follows(tensor)))
        return 0;
    TensorObject *owner = tape_owner(tensor);
    if (owner != NULL && owner->node != NULL && !tape_is_behind(owner)) {
        int good = told(seen_hook, owner, tensor);
        if (good < 0 || (good > 0 && !tape_is_behind(tensor)))
            return good < 0 ? -1 : 0;
    }
    return ext_fail(PyExc_RuntimeError,
                    "a tensor that is recorded was written to through a view of it; "
                    "write into it by x[index] = value, so that its gradient knows");
}
