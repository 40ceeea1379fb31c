/* Recording: a call becomes a node. */
#include "ext/tape/tape.h"

#include <string.h>

static bool
wants(const op_call *call)
{
    for (int k = 0; k < call->operand_count; k++)
        if (tape_requires(call->operands[k]))
            return !tape_off;
    return false;
}

/* --- what is kept --- */

/* Walks through the arguments of a call in the order of ext/op/key.c. */
typedef struct {
    const op_call *call;
    const op_entry *entry;
    PyObject *const *moved; /* as tape_result */
    NodeObject *node;
    int operand; /* the next one */
} walk;

/* Of an operand that was Partial its elements are kept, if they were found: backward
 * would reduce the addends once more. */
static PyObject *
saved_operand(const walk *w, int k)
{
    PyObject *operand = w->call->operands[k];
    PyObject *array = w->moved == NULL ? NULL : w->moved[k];
    if (array == NULL || !w->entry->operands[k].from->layout->has_partial)
        return tape_save((TensorObject *)operand, -1, NULL);
    PyObject *moved =
        ext_with_lineage(ext_dtensor(Py_NewRef(array), w->entry->operands[k].to),
                         ext_lineage((DTensorObject *)operand));
    ext_in_dialect(moved, operand);
    PyObject *saved =
        moved == NULL ? NULL
                      : tape_save((TensorObject *)operand, -1, (TensorObject *)moved);
    Py_XDECREF(moved);
    return saved;
}

static PyObject *
kept_operand(walk *w, bool keeps)
{
    int k = w->operand++;
    PyObject *operand = w->call->operands[k];
    if (ext_is_tensor(operand))
        return keeps ? saved_operand(w, k) : tape_meta((TensorObject *)operand, k);
    if (keeps || !PyArray_Check(operand))
        return Py_NewRef(operand);
    PyObject *shape = PyObject_GetAttrString(operand, "shape");
    PyObject *dtype = (PyObject *)PyArray_DESCR((PyArrayObject *)operand);
    PyObject *meta = shape == NULL ? NULL : ext_operand(k, shape, dtype, Py_None);
    Py_XDECREF(shape);
    return meta;
}

static PyObject *
kept_list(walk *w, PyObject *list, bool keeps)
{
    Py_ssize_t count = PySequence_Fast_GET_SIZE(list);
    bool is_list = PyList_CheckExact(list);
    PyObject *kept = is_list ? PyList_New(count) : PyTuple_New(count);
    for (Py_ssize_t k = 0; kept != NULL && k < count; k++) {
        PyObject *item = PySequence_Fast_ITEMS(list)[k];
        op_kind kind = op_kind_of(item);
        bool operand =
            op_is_array(kind, w->call) || kind == OP_NUMBER || kind == OP_SCALAR;
        item = operand ? kept_operand(w, keeps) : op_static_copy(item);
        ext_put(&kept, k, item);
    }
    return kept;
}

static PyObject *
kept_argument(walk *w, PyObject *argument, bool expected, bool keeps)
{
    op_kind kind = op_kind_of(argument);
    if (op_is_array(kind, w->call))
        return kept_operand(w, keeps);
    if (op_holds_arrays(argument, w->call))
        return kept_list(w, argument, keeps);
    if (expected && (kind == OP_NUMBER || kind == OP_SCALAR ||
                     PyList_CheckExact(argument) || PyTuple_CheckExact(argument)))
        return kept_operand(w, keeps);
    return op_static_copy(argument);
}

static int
keep_arguments(walk *w)
{
    NodeObject *node = w->node;
    const op_call *call = w->call;
    const struct tape_vjp *vjp = call->op->vjp;
    Py_ssize_t keywords = call->kwnames == NULL ? 0 : PyTuple_GET_SIZE(call->kwnames);
    node->nargs = call->nargs;
    node->count = call->nargs + keywords;
    node->kwnames = op_keywords(call);
    node->args = PyMem_Calloc((size_t)node->count + 1, sizeof *node->args);
    if (node->args == NULL)
        return ext_no_memory();
    if (keywords > 0 && node->kwnames == NULL)
        return -1;
    for (Py_ssize_t k = 0; k < node->count; k++) {
        bool named = k >= call->nargs;
        PyObject *keyword =
            named ? PyTuple_GET_ITEM(node->kwnames, k - call->nargs) : NULL;
        bool keeps = tape_vjp_keeps(vjp, node->edges, node->input_count, k, keyword);
        node->args[k] = kept_argument(w, call->args[k], op_is_expected(call, k), keeps);
        if (node->args[k] == NULL)
            return -1;
    }
    return 0;
}

static bool
is_of_integers(PyObject *output)
{
    PyArrayObject *array = (PyArrayObject *)((TensorObject *)output)->array;
    return PyTypeNum_ISINTEGER(PyArray_TYPE(array));
}

/* Of values with their indices, as of a sort, gradients take the indices alone: the
 * values may be written to. */
static int
keep_outputs(NodeObject *node, PyObject *const *outputs)
{
    bool keeps = tape_vjp_keeps_out(node->op->vjp, node->edges, node->input_count);
    bool indexed = false;
    for (int k = 0; k < node->output_count; k++)
        indexed |= is_of_integers(outputs[k]);
    node->outs = PyMem_Calloc((size_t)node->output_count + 1, sizeof *node->outs);
    if (node->outs == NULL)
        return ext_no_memory();
    for (int k = 0; k < node->output_count; k++) {
        TensorObject *output = (TensorObject *)outputs[k];
        node->metas[k] = tape_meta(output, k);
        bool kept = keeps && (!indexed || is_of_integers(outputs[k]));
        node->outs[k] = kept ? tape_save(output, k, NULL) : Py_XNewRef(node->metas[k]);
        if (node->metas[k] == NULL || node->outs[k] == NULL)
            return -1;
    }
    return 0;
}

/* --- operators --- */

PyObject *
tape_follow(PyObject *result, TensorObject *owner)
{
    TensorObject *self = (TensorObject *)result;
    if (result == NULL)
        return NULL;
    self->leaf_view = owner->requires_grad && (owner->node == NULL || owner->leaf_view);
    if (tape_share_view(self, owner) < 0) {
        Py_DECREF(result);
        return NULL;
    }
    tape_set_fresh(self);
    return result;
}

/* The operand whose memory a result shows, or NULL. */
static TensorObject *
owner_of(const TensorObject *result, const op_call *call)
{
    for (int k = 0; k < call->operand_count; k++) {
        PyObject *operand = call->operands[k];
        if (ext_is_tensor(operand) && tape_shows(result, (TensorObject *)operand))
            return (TensorObject *)operand;
    }
    return NULL;
}

static int
share_with_owner(const op_call *call, PyObject *result)
{
    TensorObject *owner =
        ext_is_tensor(result) ? owner_of((TensorObject *)result, call) : NULL;
    return owner != NULL ? tape_share_view((TensorObject *)result, owner) : 0;
}

/* A result that is not recorded, or one of several, shows the memory of an operand: a
 * write into it counts for both. Steals the result and gives it back. */
static PyObject *
unrecorded(const op_call *call, PyObject *result)
{
    bool several = PyTuple_Check(result) || PyList_Check(result);
    PyObject **outputs = several ? PySequence_Fast_ITEMS(result) : &result;
    Py_ssize_t count = several ? PySequence_Fast_GET_SIZE(result) : 1;
    int failed = 0;
    for (Py_ssize_t k = 0; k < count && failed == 0; k++)
        failed = share_with_owner(call, outputs[k]);
    if (failed < 0)
        Py_CLEAR(result);
    return result;
}

/* `w`: the call. `written`: the operand that it has written into, or NULL: what it was
 * before is gone, what it is now is kept. */
static NodeObject *
operator_node(walk w, PyObject *const *outputs, int count, TensorObject *written)
{
    const op_call *call = w.call;
    /* what this makes anew is older than the node */
    for (int k = 0; k < call->operand_count; k++)
        if (ext_is_tensor(call->operands[k]) &&
            tape_check_fresh((TensorObject *)call->operands[k]) < 0)
            return NULL;
    NodeObject *node = tape_node(call->op->name, call->operand_count, count);
    if (node == NULL)
        return NULL;
    node->op = (OperatorObject *)Py_NewRef((PyObject *)call->op);
    if (w.entry != NULL) {
        node->entry = (op_entry *)w.entry;
        node->entry->refs++;
    }
    for (int k = 0; k < call->operand_count; k++)
        if (ext_is_tensor(call->operands[k]))
            node->edges[k] = tape_edge_to((TensorObject *)call->operands[k]);
    w.node = node;
    int failed = keep_arguments(&w);
    if (failed == 0 && written != NULL)
        failed = tape_written_recorded(written, call->lineage);
    if (failed < 0 || keep_outputs(node, outputs) < 0)
        Py_CLEAR(node);
    return node;
}

static PyObject *
record(const op_call *call, const op_entry *entry, PyObject *const *moved,
       PyObject *result)
{
    walk w = {.call = call, .entry = entry, .moved = moved};
    bool several = PyTuple_Check(result) || PyList_Check(result);
    PyObject **outputs = several ? PySequence_Fast_ITEMS(result) : &result;
    int count = several ? (int)PySequence_Fast_GET_SIZE(result) : 1;
    bool any = false;
    for (int k = 0; k < count; k++)
        any |= tape_can_require(outputs[k]);
    if (!any)
        return result;
    NodeObject *node = operator_node(w, outputs, count, NULL);
    int failed = node == NULL ? -1 : 0;
    if (failed == 0)
        node->several = several;
    for (int k = 0; failed == 0 && k < count; k++)
        if (tape_can_require(outputs[k])) {
            failed = tape_attach((TensorObject *)outputs[k], node, k);
            TensorObject *owner = owner_of((TensorObject *)outputs[k], call);
            if (failed == 0 && owner != NULL &&
                tape_follow(Py_NewRef(outputs[k]), owner) == NULL)
                failed = -1;
            else if (failed == 0 && owner != NULL)
                Py_DECREF(outputs[k]);
        }
    Py_XDECREF((PyObject *)node);
    if (failed < 0)
        Py_CLEAR(result);
    return result;
}

PyObject *
tape_result(const op_call *call, const op_entry *entry, PyObject *const *moved,
            PyObject *result)
{
    return wants(call) ? record(call, entry, moved, result) : unrecorded(call, result);
}

/* --- functions --- */

int
tape_record_function(PyObject *name, PyObject *backward, PyObject *const *inputs,
                     int input_count, PyObject *const *outputs, int output_count)
{
    bool wanted = false;
    for (int k = 0; k < input_count && !tape_off; k++)
        wanted |= tape_requires(inputs[k]);
    if (!wanted)
        return 0;
    for (int k = 0; k < input_count; k++)
        if (ext_is_tensor(inputs[k]) && output_count > 0 && inputs[k] != outputs[0] &&
            tape_check_fresh((TensorObject *)inputs[k]) < 0)
            return -1;
    NodeObject *node = tape_node(name, input_count, output_count);
    if (node == NULL)
        return -1;
    node->backward = Py_NewRef(backward);
    node->several = output_count != 1;
    for (int k = 0; k < input_count; k++)
        if (ext_is_tensor(inputs[k]))
            node->edges[k] = tape_edge_to((TensorObject *)inputs[k]);
    int failed = 0;
    for (int k = 0; failed == 0 && k < output_count; k++) {
        if (tape_can_require(outputs[k]))
            failed = tape_attach((TensorObject *)outputs[k], node, k);
        else if (ext_is_tensor(outputs[k]))
            failed = (node->metas[k] = tape_meta((TensorObject *)outputs[k], k)) == NULL
                         ? -1
                         : 0;
    }
    Py_DECREF(node);
    return failed;
}

/* --- writes --- */

/* RuntimeError where a write would break what backward relies on. */
static int
check_target(TensorObject *target, bool in_place, PyObject *name)
{
    if (!in_place)
        PyErr_Format(PyExc_RuntimeError,
                     "%U(): functions with out=... arguments don't support automatic "
                     "differentiation, but one of the arguments requires grad.",
                     name);
    else if (target->requires_grad && target->node == NULL)
        PyErr_SetString(PyExc_RuntimeError,
                        "a leaf Variable that requires grad is being used in an "
                        "in-place operation.");
    else if (tape_is_unrecorded_view(target))
        PyErr_SetString(PyExc_RuntimeError,
                        "a view that was made under no_grad, or before its tensor "
                        "required a gradient, is being used in an in-place operation.");
    else if (target->leaf_view)
        PyErr_SetString(PyExc_RuntimeError,
                        "a view of a leaf Variable that requires grad is being used in "
                        "an in-place operation.");
    else
        return 0;
    return -1;
}

int
tape_check_write(const op_call *call, TensorObject *target, bool in_place)
{
    if (tape_off || !(tape_requires((PyObject *)target) || wants(call)))
        return 0;
    return check_target(target, in_place, call->op->name);
}

static bool
has_hooks(const NodeObject *node)
{
    bool any = false;
    for (Py_ssize_t k = 0; node->hooks != NULL && k < PyList_GET_SIZE(node->hooks); k++)
        any |= PyUnicode_CompareWithASCIIString(
                   PyTuple_GET_ITEM(PyList_GET_ITEM(node->hooks, k), 1), "retain") != 0;
    return any;
}

bool
tape_is_hooked(TensorObject *view)
{
    TensorObject *owner = view->requires_grad ? tape_owner(view) : NULL;
    PyObject *end = owner == NULL ? NULL : owner->node, *at = view->node;
    bool any = false;
    while (!any && end != NULL && at != NULL && tape_is_node(at) && tape_is_node(end) &&
           ((NodeObject *)at)->sequence > ((NodeObject *)end)->sequence) {
        any = has_hooks((NodeObject *)at);
        at = ((NodeObject *)at)->input_count == 0 ? NULL
                                                  : ((NodeObject *)at)->edges[0].target;
    }
    return any;
}

bool
tape_needs_old_value(const OperatorObject *op, PyObject *const *args, Py_ssize_t nargs)
{
    tape_edge edges[OP_INLINE];
    if (!tape_off && ext_is_tensor(args[0]) && tape_is_hooked((TensorObject *)args[0]))
        return true;
    if (tape_off || op->vjp == NULL || nargs > OP_INLINE)
        return false;
    for (Py_ssize_t k = 0; k < nargs; k++)
        edges[k] = (tape_edge){.target = tape_requires(args[k]) ? args[k] : NULL};
    return tape_vjp_keeps(op->vjp, edges, (int)nargs, 0, NULL);
}

/* Gives a tensor the history of another one, without hooks that the other has as a view. */
static int
take_history(TensorObject *tensor, TensorObject *of)
{
    NodeObject *node = (NodeObject *)Py_XNewRef(of->node);
    int output = of->output;
    bool hooked = tape_is_hooked(of);
    int failed = hooked ? tape_see(of) : 0;
    tensor->node = Py_XNewRef(of->node);
    tensor->output = of->output;
    tensor->requires_grad = of->requires_grad;
    if (hooked && failed == 0)
        failed = tape_set_node(of, node, output);
    Py_XDECREF((PyObject *)node);
    return failed;
}

PyObject *
tape_old_value(TensorObject *tensor)
{
    PyArrayObject *held = ext_local((PyObject *)tensor);
    PyObject *array = held == NULL ? NULL : ext_array_copy(held);
    if (array == NULL || tape_check_fresh(tensor) < 0) {
        Py_XDECREF(array);
        return NULL;
    }
    PyObject *copy = ext_tensor_like(array, (PyObject *)tensor);
    if (copy != NULL && take_history((TensorObject *)copy, tensor) < 0)
        Py_CLEAR(copy);
    return copy;
}

int
tape_record_write(const op_call *call, TensorObject *target)
{
    PyObject *output = (PyObject *)target;
    int failed = 0;
    if (wants(call) && tape_can_require(output)) {
        NodeObject *node = operator_node((walk){.call = call}, &output, 1, target);
        failed = node == NULL ? -1 : tape_attach(target, node, 0);
        Py_XDECREF((PyObject *)node);
        if (failed == 0)
            failed = tape_tell_owner(target);
    } else
        failed = tape_written(target, call->lineage);
    return failed;
}

int
tape_take_over(TensorObject *target, TensorObject *made, bool in_place, PyObject *name)
{
    bool recorded =
        made->requires_grad || (tape_requires((PyObject *)target) && !tape_off);
    if (recorded && check_target(target, in_place, name) < 0)
        return -1;
    uint64_t call =
        ext_is_dtensor((PyObject *)made) ? ext_lineage((DTensorObject *)made) : 0;
    if (!recorded)
        return tape_written(target, call);
    if (tape_written_recorded(target, call) < 0 ||
        tape_set_node(target, (NodeObject *)made->node, made->output) < 0)
        return -1;
    tape_set_fresh(target);
    target->requires_grad = made->requires_grad;
    return tape_tell_owner(target);
}
