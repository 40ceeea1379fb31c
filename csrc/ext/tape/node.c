/* Node: what was computed, as Python sees it (`grad_fn`). */
#include "ext/tape/tape.h"

#include <stddef.h>
#include <string.h>

_Thread_local bool tape_off;

bool
tape_is_node(PyObject *object)
{
    return Py_TYPE(object) == &ext_node_type;
}

bool
tape_can_require(PyObject *object)
{
    if (!ext_is_tensor(object))
        return false;
    PyArrayObject *array = (PyArrayObject *)((TensorObject *)object)->array;
    dt_dtype dtype;
    if (PyArray_TYPE(array) < NPY_NTYPES_LEGACY)
        return PyArray_ISFLOAT(array) || PyArray_ISCOMPLEX(array);
    if (ext_dtype(&dtype, PyArray_DESCR(array), "requires_grad") == 0)
        return dt_dtype_kind(dtype) == 'f'; /* bfloat16 */
    PyErr_Clear();
    return false;
}

NodeObject *
tape_node(PyObject *name, int inputs, int outputs)
{
    static uint64_t youngest;
    NodeObject *node = (NodeObject *)ext_node_type.tp_alloc(&ext_node_type, 0);
    if (node == NULL)
        return NULL;
    node->name = Py_NewRef(name);
    node->sequence = ++youngest;
    node->edges = PyMem_Calloc((size_t)inputs + 1, sizeof *node->edges);
    node->metas = PyMem_Calloc((size_t)outputs + 1, sizeof *node->metas);
    if (node->edges == NULL || node->metas == NULL) {
        Py_DECREF(node);
        return (NodeObject *)PyErr_NoMemory();
    }
    node->input_count = inputs;
    node->output_count = outputs;
    node->differs = ext_trace.differs;
    return node;
}

PyObject *
tape_meta(TensorObject *tensor, int index)
{
    PyArrayObject *array = (PyArrayObject *)tensor->array;
    PyObject *layout = Py_None, *shape;
    if (ext_is_dtensor((PyObject *)tensor)) {
        layout = (PyObject *)((DTensorObject *)tensor)->layout;
        shape = Py_NewRef(((LayoutObject *)layout)->shape);
    } else {
        int64_t lengths[DT_MAX_NDIM];
        shape = ext_tuple(lengths, ext_tensor_shape(lengths, tensor));
    }
    PyObject *meta =
        shape == NULL
            ? NULL
            : ext_operand(index, shape, (PyObject *)PyArray_DESCR(array), layout);
    Py_XDECREF(shape);
    return meta;
}

tape_edge
tape_edge_to(TensorObject *tensor)
{
    if (!tensor->requires_grad)
        return (tape_edge){.target = NULL};
    if (tensor->node == NULL)
        return (tape_edge){.target = Py_NewRef((PyObject *)tensor)};
    return (tape_edge){.target = Py_NewRef(tensor->node), .output = tensor->output};
}

PyObject *
tape_retaining(TensorObject *tensor)
{
    NodeObject *node = (NodeObject *)tensor->node;
    bool any = node != NULL && node->hooks != NULL;
    for (Py_ssize_t k = 0; any && k < PyList_GET_SIZE(node->hooks); k++) {
        PyObject *entry = PyList_GET_ITEM(node->hooks, k), *function;
        int output;
        const char *kind;
        if (!PyArg_ParseTuple(entry, "isO", &output, &kind, &function))
            return NULL;
        if (output == tensor->output && strcmp(kind, "retain") == 0)
            return Py_NewRef(entry);
    }
    return Py_NewRef(Py_None);
}

/* Gives the new node what asks the old one to keep the gradient of a tensor. */
static int
move_entry(PyObject *entry, NodeObject *from, NodeObject *to, int output)
{
    PyObject *moved = Py_BuildValue("(iOO)", output, PyTuple_GET_ITEM(entry, 1),
                                    PyTuple_GET_ITEM(entry, 2));
    if (moved != NULL && to->hooks == NULL)
        to->hooks = PyList_New(0);
    bool done =
        moved != NULL && to->hooks != NULL && PyList_Append(to->hooks, moved) == 0 &&
        PySequence_DelItem(from->hooks, PySequence_Index(from->hooks, entry)) == 0;
    Py_XDECREF(moved);
    return done ? 0 : -1;
}

int
tape_set_node(TensorObject *tensor, NodeObject *node, int output)
{
    NodeObject *before = (NodeObject *)tensor->node;
    PyObject *entry = tape_retaining(tensor);
    int failed = entry == NULL ? -1 : 0;
    if (failed == 0 && entry != Py_None && node != NULL && node != before)
        failed = move_entry(entry, before, node, output);
    Py_XDECREF(entry);
    if (failed < 0)
        return -1;
    Py_XSETREF(tensor->node, Py_XNewRef((PyObject *)node));
    tensor->output = output;
    return 0;
}

int
tape_attach(TensorObject *tensor, NodeObject *node, int output)
{
    if (node->metas[output] == NULL)
        node->metas[output] = tape_meta(tensor, output);
    if (node->metas[output] == NULL)
        return -1;
    if (tape_set_node(tensor, node, output) < 0)
        return -1;
    tensor->requires_grad = true;
    tape_set_fresh(tensor);
    return 0;
}

PyObject *
tape_raise_done(void)
{
    return PyErr_Format(
        PyExc_RuntimeError,
        "Trying to backward through the graph a second time (or directly access saved "
        "tensors after they have already been freed). Saved intermediate values of the "
        "graph are freed when you call .backward() or autograd.grad(). Specify "
        "retain_graph=True if you need to backward through the graph a second time or "
        "if you need to access saved tensors after calling backward.");
}

/* --- the life of a node --- */

void
tape_node_forget(NodeObject *node)
{
    node->done = true;
    PyObject **args = node->args, **outs = node->outs;
    node->args = node->outs = NULL;
    for (Py_ssize_t k = 0; args != NULL && k < node->count; k++)
        Py_XDECREF(args[k]);
    for (int k = 0; outs != NULL && k < node->output_count; k++)
        Py_XDECREF(outs[k]);
    PyMem_Free(args);
    PyMem_Free(outs);
    Py_CLEAR(node->backward);
}

static int
node_traverse(PyObject *object, visitproc visit, void *arg)
{
    NodeObject *self = (NodeObject *)object;
    for (int k = 0; k < self->input_count; k++)
        Py_VISIT(self->edges[k].target);
    for (Py_ssize_t k = 0; self->args != NULL && k < self->count; k++)
        Py_VISIT(self->args[k]);
    for (int k = 0; self->outs != NULL && k < self->output_count; k++)
        Py_VISIT(self->outs[k]);
    Py_VISIT(self->backward);
    Py_VISIT(self->hooks);
    Py_VISIT(self->dict);
    return 0;
}

static int
node_clear(PyObject *object)
{
    NodeObject *self = (NodeObject *)object;
    tape_node_forget(self);
    for (int k = 0; k < self->input_count; k++)
        Py_CLEAR(self->edges[k].target);
    Py_CLEAR(self->hooks);
    Py_CLEAR(self->dict);
    return 0;
}

/* A long chain of nodes must not be a deep recursion. */
static void
node_dealloc(PyObject *object)
{
    NodeObject *self = (NodeObject *)object;
    PyObject_GC_UnTrack(object);
    Py_TRASHCAN_BEGIN(object, node_dealloc) if (self->weakrefs != NULL)
        PyObject_ClearWeakRefs(object);
    node_clear(object);
    for (int k = 0; k < self->output_count; k++)
        Py_XDECREF(self->metas[k]);
    PyMem_Free(self->metas);
    PyMem_Free(self->edges);
    Py_XDECREF(self->name);
    Py_XDECREF((PyObject *)self->op);
    op_entry_release(self->entry);
    Py_XDECREF(self->kwnames);
    Py_TYPE(object)->tp_free(object);
    Py_TRASHCAN_END
}

/* --- what Python sees --- */

static PyObject *
node_next(PyObject *object, void *Py_UNUSED(closure))
{
    NodeObject *self = (NodeObject *)object;
    PyObject *next = PyTuple_New(self->input_count);
    for (int k = 0; next != NULL && k < self->input_count; k++) {
        PyObject *target = self->edges[k].target;
        ext_put(&next, k,
                Py_BuildValue("(Oi)", target == NULL ? Py_None : target,
                              self->edges[k].output));
    }
    return next;
}

/* What nodes of operators that nobody calls by name are called. */
static const char *const known_as[][2] = {
    {"class_loss", "nll_loss"},
    {"log_softmax_given", "log_softmax"},
    {"number_loss", "loss"},
    {"softmax_given", "softmax"},
};

static PyObject *
node_text(PyObject *self, const char *format)
{
    PyObject *name = Py_NewRef(((NodeObject *)self)->name);
    for (size_t k = 0; name != NULL && k < sizeof known_as / sizeof *known_as; k++)
        if (PyUnicode_CompareWithASCIIString(name, known_as[k][0]) == 0)
            Py_SETREF(name, PyUnicode_FromString(known_as[k][1]));
    PyObject *text = name == NULL ? NULL : PyUnicode_FromFormat(format, name);
    Py_XDECREF(name);
    return text;
}

static PyObject *
node_name(PyObject *self, PyObject *Py_UNUSED(none))
{
    return node_text(self, "%UBackward");
}

static PyObject *
node_repr(PyObject *self)
{
    return node_text(self, "<%UBackward>");
}

static PyGetSetDef node_attributes[] = {
    {"next_functions", node_next, NULL,
     "For each input (the Node that made it, or the leaf, or None; its output).", NULL},
    {"__dict__", PyObject_GenericGetDict, PyObject_GenericSetDict, NULL, NULL},
    {0},
};

static PyMethodDef node_methods[] = {
    {"name", node_name, METH_NOARGS, "name($self, /)\n--\n\nReturn what it is called."},
    {0},
};

PyTypeObject ext_node_type = {
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = "dtensor._C.Node",
    .tp_basicsize = sizeof(NodeObject),
    .tp_flags =
        Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_DISALLOW_INSTANTIATION,
    .tp_doc = "What made a tensor, and the way back through it.",
    .tp_dealloc = node_dealloc,
    .tp_traverse = node_traverse,
    .tp_clear = node_clear,
    .tp_repr = node_repr,
    .tp_getset = node_attributes,
    .tp_methods = node_methods,
    .tp_dictoffset = offsetof(NodeObject, dict),
    .tp_weaklistoffset = offsetof(NodeObject, weakrefs),
};
