/* Tensors that are kept until backward, and whether they were written to meanwhile. */
#include "ext/tape/tape.h"

/* --- the hooks of dtensor.autograd.graph.saved_tensors_hooks --- */

static _Thread_local PyObject *pack_hook, *unpack_hook;

static PyObject *
set_saved_hooks(PyObject *Py_UNUSED(module), PyObject *args)
{
    PyObject *pack, *unpack;
    if (!PyArg_ParseTuple(args, "OO:set_saved_hooks", &pack, &unpack))
        return NULL;
    PyObject *before = Py_BuildValue("(OO)", pack_hook == NULL ? Py_None : pack_hook,
                                     unpack_hook == NULL ? Py_None : unpack_hook);
    if (before == NULL)
        return NULL;
    bool none = pack == Py_None;
    Py_XSETREF(pack_hook, none ? NULL : Py_NewRef(pack));
    Py_XSETREF(unpack_hook, none ? NULL : Py_NewRef(unpack));
    return before;
}

PyMethodDef ext_saved_methods[] = {
    {"set_saved_hooks", set_saved_hooks, METH_VARARGS,
     "set_saved_hooks(pack, unpack, /)\n--\n\n"
     "Pass what is kept for backward through two functions, or None; return the pair\n"
     "that was."},
    {0},
};

/* --- Saved --- */

PyObject *
tape_alias(TensorObject *tensor)
{
    PyObject *array = (PyObject *)ext_local_unread((PyObject *)tensor);
    return ext_tensor_like(Py_XNewRef(array), (PyObject *)tensor);
}

/* What the pack hook makes of a tensor, which it sees without a history, for what it
 * keeps must not keep the graph. */
static PyObject *
packed(TensorObject *tensor)
{
    PyObject *bare = tape_alias(tensor);
    if (bare == NULL)
        return NULL;
    bool before = tape_off;
    tape_off = true;
    PyObject *value = PyObject_CallOneArg(pack_hook, bare);
    tape_off = before;
    Py_DECREF(bare);
    return value;
}

PyObject *
tape_save(TensorObject *tensor, int output, TensorObject *moved)
{
    SavedObject *saved = PyObject_GC_New(SavedObject, &ext_saved_type);
    tape_version *version = saved == NULL ? NULL : tape_version_of(tensor);
    if (version == NULL) {
        if (saved != NULL)
            PyObject_GC_Del(saved);
        return NULL;
    }
    version->refs++;
    saved->version = version;
    saved->at = version->value;
    saved->output = output >= 0;
    saved->bare = pack_hook != NULL || output >= 0 || moved != NULL;
    saved->data = ext_has_data((PyArrayObject *)tensor->array);
    saved->edge = saved->bare && output < 0 ? tape_edge_to(tensor)
                                            : (tape_edge){.output = output};
    saved->unpack = NULL;
    if (pack_hook != NULL) {
        saved->unpack = Py_NewRef(unpack_hook);
        saved->value = packed(moved != NULL ? moved : tensor);
    } else if (output >= 0) /* the tensor itself would keep its own node */
        saved->value = tape_alias(tensor);
    else
        saved->value = Py_NewRef((PyObject *)(moved != NULL ? moved : tensor));
    PyObject_GC_Track(saved);
    if (saved->value == NULL)
        Py_CLEAR(saved);
    return (PyObject *)saved;
}

/* Whether a node keeps tensors for backward: among its arguments, or lists of them. */
static bool
keeps_tensors(PyObject *kept)
{
    bool list = kept != NULL && (PyList_CheckExact(kept) || PyTuple_CheckExact(kept));
    bool found = kept != NULL && Py_IS_TYPE(kept, &ext_saved_type);
    for (Py_ssize_t k = 0; list && !found && k < PySequence_Fast_GET_SIZE(kept); k++)
        found = Py_IS_TYPE(PySequence_Fast_GET_ITEM(kept, k), &ext_saved_type);
    return found;
}

void
tape_node_used(NodeObject *node)
{
    bool keeps = node->op == NULL;
    for (Py_ssize_t k = 0; !keeps && node->args != NULL && k < node->count; k++)
        keeps = keeps_tensors(node->args[k]);
    for (int k = 0; !keeps && node->outs != NULL && k < node->output_count; k++)
        keeps = keeps_tensors(node->outs[k]);
    if (keeps)
        tape_node_forget(node);
}

/* A tensor with the history that the saved one had. */
static PyObject *
with_history(const SavedObject *saved, TensorObject *value, NodeObject *node)
{
    PyObject *target = saved->output ? (PyObject *)node : saved->edge.target;
    if (target == NULL || !tape_can_require((PyObject *)value))
        return Py_NewRef((PyObject *)value);
    TensorObject *made = (TensorObject *)tape_alias(value);
    if (made == NULL)
        return NULL;
    made->node = Py_NewRef(target);
    made->output = saved->edge.output;
    made->requires_grad = true;
    return (PyObject *)made;
}

static PyObject *
empty_text(void)
{
    static PyObject *text;
    if (text == NULL)
        text = PyUnicode_FromString("");
    return text;
}

/* fully_shard has its parameters without data while they are spread. */
static int
check_data(const SavedObject *saved, PyObject *value)
{
    if (!saved->data || ext_has_data((PyArrayObject *)((TensorObject *)value)->array))
        return 0;
    return ext_fail(
        PyExc_RuntimeError,
        "a tensor that is needed for gradient computation has no data any more: a "
        "parameter under fully_shard is given back after forward, and is whole again "
        "when the gradient of an output comes; let forward return all that the loss is "
        "made of, in tensors or in lists, tuples and dicts of them, or say "
        "reshard_after_forward=False; gradients of gradients need "
        "set_reshard_after_backward(False) too");
}

PyObject *
tape_unpack(SavedObject *saved, NodeObject *node)
{
    if (saved->unpack == NULL && saved->version->value != saved->at)
        return PyErr_Format(
            PyExc_RuntimeError,
            "one of the variables needed for gradient computation has been modified by "
            "an inplace operation: a tensor%s%S is at version %llu; expected version "
            "%llu instead",
            node == NULL ? "" : " that is needed by ",
            node == NULL ? empty_text() : (PyObject *)node->name,
            (unsigned long long)saved->version->value, (unsigned long long)saved->at);
    PyObject *value = saved->unpack == NULL
                          ? Py_NewRef(saved->value)
                          : PyObject_CallOneArg(saved->unpack, saved->value);
    PyObject *result = NULL;
    if (value != NULL && !ext_is_tensor(value))
        PyErr_Format(PyExc_TypeError,
                     "Output of saved tensor unpack_hook expected to be a Tensor but "
                     "got result of type %s",
                     Py_TYPE(value)->tp_name);
    else if (value != NULL && check_data(saved, value) == 0)
        result = saved->bare ? with_history(saved, (TensorObject *)value, node)
                             : Py_NewRef(value);
    Py_XDECREF(value);
    return result;
}

static int
saved_traverse(PyObject *object, visitproc visit, void *arg)
{
    SavedObject *self = (SavedObject *)object;
    Py_VISIT(self->value);
    Py_VISIT(self->unpack);
    Py_VISIT(self->edge.target);
    return 0;
}

static int
saved_clear(PyObject *object)
{
    SavedObject *self = (SavedObject *)object;
    Py_CLEAR(self->value);
    Py_CLEAR(self->unpack);
    Py_CLEAR(self->edge.target);
    return 0;
}

static void
saved_dealloc(PyObject *object)
{
    PyObject_GC_UnTrack(object);
    Py_TRASHCAN_BEGIN(object, saved_dealloc) saved_clear(object);
    tape_version_release(((SavedObject *)object)->version);
    PyObject_GC_Del(object);
    Py_TRASHCAN_END
}

static PyObject *
saved_unpack(PyObject *self, PyObject *Py_UNUSED(none))
{
    return tape_unpack((SavedObject *)self, NULL);
}

static PyMethodDef saved_methods[] = {
    {"unpack", saved_unpack, METH_NOARGS,
     "unpack($self, /)\n--\n\n"
     "Return the tensor; RuntimeError if it was written to since."},
    {0},
};

PyTypeObject ext_saved_type = {
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = "dtensor._C.Saved",
    .tp_basicsize = sizeof(SavedObject),
    .tp_flags =
        Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_DISALLOW_INSTANTIATION,
    .tp_doc = "A tensor that is kept until backward.",
    .tp_methods = saved_methods,
    .tp_dealloc = saved_dealloc,
    .tp_traverse = saved_traverse,
    .tp_clear = saved_clear,
};
