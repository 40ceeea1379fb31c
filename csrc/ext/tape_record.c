/* Recording: a call becomes a node. */
#include "ext/tape.h"

#include <string.h>

_Thread_local bool tape_off;

bool
tape_wants(const op_call *call)
{
    for (int k = 0; k < call->operand_count && !tape_off; k++)
        if (tape_requires(call->operands[k]))
            return true;
    return false;
}

/* Whether a result can have a gradient. */
static bool
is_differentiable(PyObject *result)
{
    if (!ext_is_tensor(result))
        return false;
    PyArray_Descr *descr =
        PyArray_DESCR((PyArrayObject *)((TensorObject *)result)->array);
    return PyDataType_ISFLOAT(descr) || PyDataType_ISCOMPLEX(descr);
}

/* --- what is kept --- */

/* Walks through the arguments of a call in the order of op_key.c. */
typedef struct {
    const op_call *call;
    NodeObject *node;
    int operand; /* the next one */
} walk;

static PyObject *
kept_operand(walk *w, bool keeps)
{
    int k = w->operand++;
    PyObject *operand = w->call->operands[k];
    if (ext_is_tensor(operand))
        return keeps ? tape_save((TensorObject *)operand, -1)
                     : tape_meta((TensorObject *)operand, k);
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
        if (item == NULL)
            Py_CLEAR(kept);
        else if (is_list)
            PyList_SET_ITEM(kept, k, item);
        else
            PyTuple_SET_ITEM(kept, k, item);
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
keep_arguments(NodeObject *node, const op_call *call)
{
    walk w = {.call = call, .node = node};
    const struct tape_vjp *vjp = call->op->vjp;
    Py_ssize_t keywords = call->kwnames == NULL ? 0 : PyTuple_GET_SIZE(call->kwnames);
    node->nargs = call->nargs;
    node->count = call->nargs + keywords;
    node->kwnames = keywords == 0 ? NULL : Py_NewRef(call->kwnames);
    node->args = PyMem_Calloc((size_t)node->count + 1, sizeof *node->args);
    if (node->args == NULL) {
        PyErr_NoMemory();
        return -1;
    }
    for (Py_ssize_t k = 0; k < node->count; k++) {
        bool named = k >= call->nargs;
        PyObject *keyword =
            named ? PyTuple_GET_ITEM(call->kwnames, k - call->nargs) : NULL;
        bool keeps = tape_vjp_keeps(vjp, node->edges, node->input_count, k, keyword);
        node->args[k] =
            kept_argument(&w, call->args[k], !named && k < call->op->operands, keeps);
        if (node->args[k] == NULL)
            return -1;
    }
    return 0;
}

static int
keep_outputs(NodeObject *node, PyObject *const *outputs)
{
    bool keeps = tape_vjp_keeps_out(node->op->vjp, node->edges, node->input_count);
    node->outs = PyMem_Calloc((size_t)node->output_count + 1, sizeof *node->outs);
    if (node->outs == NULL) {
        PyErr_NoMemory();
        return -1;
    }
    for (int k = 0; k < node->output_count; k++) {
        TensorObject *output = (TensorObject *)outputs[k];
        node->metas[k] = tape_meta(output, k);
        node->outs[k] = keeps ? tape_save(output, k) : Py_XNewRef(node->metas[k]);
        if (node->metas[k] == NULL || node->outs[k] == NULL)
            return -1;
    }
    return 0;
}

/* --- operators --- */

/* Notes which operand's memory a result shows, if any. */
static int
follow_memory(TensorObject *result, const op_call *call)
{
    PyObject *base = PyArray_BASE((PyArrayObject *)result->array);
    for (int k = 0; k < call->operand_count; k++) {
        PyObject *operand = call->operands[k];
        if (!ext_is_tensor(operand))
            continue;
        PyObject *array = ((TensorObject *)operand)->array;
        bool same = array == result->array ||
                    (base != NULL &&
                     (base == array || base == PyArray_BASE((PyArrayObject *)array)));
        if (!same)
            continue;
        result->view = true;
        return tape_share_version(result, (TensorObject *)operand);
    }
    return 0;
}

/* `written`: the operand that the call has written into, or NULL: what it was before is
 * gone, what it is now is kept. */
static NodeObject *
operator_node(const op_call *call, PyObject *const *outputs, int count,
              TensorObject *written)
{
    NodeObject *node = tape_node(call->op->name, call->operand_count, count);
    if (node == NULL)
        return NULL;
    node->op = (OperatorObject *)Py_NewRef((PyObject *)call->op);
    for (int k = 0; k < call->operand_count; k++)
        if (ext_is_tensor(call->operands[k]))
            node->edges[k] = tape_edge_to((TensorObject *)call->operands[k]);
    int failed = keep_arguments(node, call);
    if (written != NULL)
        tape_written(written);
    if (failed < 0 || keep_outputs(node, outputs) < 0)
        Py_CLEAR(node);
    return node;
}

PyObject *
tape_record(const op_call *call, PyObject *result)
{
    bool several = PyTuple_Check(result) || PyList_Check(result);
    PyObject **outputs = several ? PySequence_Fast_ITEMS(result) : &result;
    int count = several ? (int)PySequence_Fast_GET_SIZE(result) : 1;
    bool any = false;
    for (int k = 0; k < count; k++)
        any |= is_differentiable(outputs[k]);
    if (!any)
        return result;
    NodeObject *node = operator_node(call, outputs, count, NULL);
    int failed = node == NULL ? -1 : 0;
    if (failed == 0)
        node->several = several;
    for (int k = 0; failed == 0 && k < count; k++)
        if (is_differentiable(outputs[k])) {
            failed = tape_attach((TensorObject *)outputs[k], node, k);
            if (failed == 0)
                failed = follow_memory((TensorObject *)outputs[k], call);
        }
    Py_XDECREF((PyObject *)node);
    if (failed < 0)
        Py_CLEAR(result);
    return result;
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
        if (is_differentiable(outputs[k]))
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
check_target(const TensorObject *target, bool in_place, PyObject *name)
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
    else if (target->view)
        PyErr_Format(PyExc_RuntimeError,
                     "%U: a view of a tensor that requires grad is being used in an "
                     "in-place operation; write x[index] = value, or into x.copy()",
                     name);
    else
        return 0;
    return -1;
}

int
tape_check_write(const op_call *call, TensorObject *target, bool in_place)
{
    if (tape_off || !(target->requires_grad || tape_wants(call)))
        return 0;
    return check_target(target, in_place, call->op->name);
}

int
tape_record_write(const op_call *call, TensorObject *target)
{
    PyObject *output = (PyObject *)target;
    int failed = 0;
    if (tape_wants(call)) {
        NodeObject *node = operator_node(call, &output, 1, target);
        failed = node == NULL ? -1 : tape_attach(target, node, 0);
        Py_XDECREF((PyObject *)node);
    } else
        tape_written(target);
    return failed;
}

int
tape_take_over(TensorObject *target, TensorObject *made, bool in_place, PyObject *name)
{
    bool recorded = made->requires_grad || (target->requires_grad && !tape_off);
    if (recorded && check_target(target, in_place, name) < 0)
        return -1;
    tape_written(target);
    if (!recorded)
        return 0;
    Py_XSETREF(target->node, Py_XNewRef(made->node));
    target->output = made->output;
    target->requires_grad = made->requires_grad;
    return 0;
}

/* --- the module's functions --- */

static PyObject *
is_grad_enabled(PyObject *Py_UNUSED(module), PyObject *Py_UNUSED(none))
{
    return PyBool_FromLong(!tape_off);
}

static PyObject *
set_grad_enabled(PyObject *Py_UNUSED(module), PyObject *wanted)
{
    int truth = PyObject_IsTrue(wanted);
    if (truth < 0)
        return NULL;
    bool before = !tape_off;
    tape_off = truth == 0;
    return PyBool_FromLong(before);
}

static PyObject *
record_function(PyObject *Py_UNUSED(module), PyObject *args)
{
    PyObject *name, *backward, *inputs, *outputs;
    if (!PyArg_ParseTuple(args, "UOO!O!:record_function", &name, &backward,
                          &PyTuple_Type, &inputs, &PyTuple_Type, &outputs) ||
        tape_record_function(name, backward, PySequence_Fast_ITEMS(inputs),
                             (int)PyTuple_GET_SIZE(inputs),
                             PySequence_Fast_ITEMS(outputs),
                             (int)PyTuple_GET_SIZE(outputs)) < 0)
        return NULL;
    Py_RETURN_NONE;
}

/* As tape_record_function, of a function that has written into `target`, its first
 * input. */
static PyObject *
record_write(PyObject *Py_UNUSED(module), PyObject *args)
{
    PyObject *name, *backward, *inputs;
    if (!PyArg_ParseTuple(args, "UOO!:record_write", &name, &backward, &PyTuple_Type,
                          &inputs))
        return NULL;
    if (PyTuple_GET_SIZE(inputs) == 0 || !ext_is_tensor(PyTuple_GET_ITEM(inputs, 0)))
        return PyErr_Format(PyExc_TypeError,
                            "record_write: the first input must be a Tensor");
    PyObject *target = PyTuple_GET_ITEM(inputs, 0);
    if (tape_record_function(name, backward, PySequence_Fast_ITEMS(inputs),
                             (int)PyTuple_GET_SIZE(inputs), &target, 1) < 0)
        return NULL;
    tape_written((TensorObject *)target);
    Py_RETURN_NONE;
}

static PyObject *
check_write(PyObject *Py_UNUSED(module), PyObject *args)
{
    PyObject *target, *values;
    PyObject *name;
    if (!PyArg_ParseTuple(args, "UO!O!:check_write", &name, &ext_tensor_type, &target,
                          &PyTuple_Type, &values))
        return NULL;
    OperatorObject op = {.name = name};
    op_call call = {.op = &op,
                    .operands = PySequence_Fast_ITEMS(values),
                    .operand_count = (int)PyTuple_GET_SIZE(values)};
    if (tape_check_write(&call, (TensorObject *)target, true) < 0)
        return NULL;
    Py_RETURN_NONE;
}

static PyObject *
hooks_of(PyObject *Py_UNUSED(module), PyObject *tensor)
{
    if (!ext_is_tensor(tensor))
        return PyErr_Format(PyExc_TypeError, "hooks_of takes a Tensor, not %s",
                            Py_TYPE(tensor)->tp_name);
    TensorObject *self = (TensorObject *)tensor;
    bool made = self->node != NULL && tape_is_node(self->node);
    PyObject **hooks = made ? &((NodeObject *)self->node)->hooks : &self->hooks;
    if (*hooks == NULL)
        *hooks = PyList_New(0);
    return Py_XNewRef(*hooks);
}

static PyObject *
save(PyObject *Py_UNUSED(module), PyObject *tensor)
{
    if (!ext_is_tensor(tensor))
        return PyErr_Format(PyExc_TypeError, "save takes a Tensor, not %s",
                            Py_TYPE(tensor)->tp_name);
    return tape_save((TensorObject *)tensor, -1);
}

static PyObject *
operand_of(PyObject *Py_UNUSED(module), PyObject *tensor)
{
    if (!ext_is_tensor(tensor))
        return PyErr_Format(PyExc_TypeError, "operand_of takes a Tensor, not %s",
                            Py_TYPE(tensor)->tp_name);
    return tape_meta((TensorObject *)tensor, 0);
}

static PyObject *
forget_history(PyObject *Py_UNUSED(module), PyObject *tensor)
{
    if (!ext_is_tensor(tensor))
        return PyErr_Format(PyExc_TypeError, "forget_history takes a Tensor, not %s",
                            Py_TYPE(tensor)->tp_name);
    TensorObject *self = (TensorObject *)tensor;
    Py_CLEAR(self->node);
    self->output = 0;
    self->requires_grad = self->view = false;
    return Py_NewRef(tensor);
}

static PyObject *
written(PyObject *Py_UNUSED(module), PyObject *tensor)
{
    if (!ext_is_tensor(tensor))
        return PyErr_Format(PyExc_TypeError, "written takes a Tensor, not %s",
                            Py_TYPE(tensor)->tp_name);
    tape_written((TensorObject *)tensor);
    Py_RETURN_NONE;
}

PyMethodDef ext_tape_methods[] = {
    {"is_grad_enabled", is_grad_enabled, METH_NOARGS,
     "is_grad_enabled()\n--\n\nReturn whether operators are recorded in this thread."},
    {"set_recording", set_grad_enabled, METH_O,
     "set_recording(wanted, /)\n--\n\nRecord operators or not; return what was."},
    {"record_function", record_function, METH_VARARGS,
     "record_function(name, backward, inputs, outputs, /)\n--\n\n"
     "Make outputs what backward(*gradients of the outputs) goes back through: it "
     "gives\n"
     "a gradient or None for each input, in a tuple, or the only one."},
    {"record_write", record_write, METH_VARARGS,
     "record_write(name, backward, inputs, /)\n--\n\n"
     "The same, of a function that has written into its first input: that is its\n"
     "output."},
    {"check_write", check_write, METH_VARARGS,
     "check_write(name, target, values, /)\n--\n\n"
     "RuntimeError if values must not be written into a tensor, for its gradient."},
    {"save", save, METH_O,
     "save(tensor, /)\n--\n\nReturn what keeps a tensor until backward."},
    {"operand_of", operand_of, METH_O,
     "operand_of(tensor, /)\n--\n\nReturn shape, dtype and layout as an Operand."},
    {"forget_history", forget_history, METH_O,
     "forget_history(tensor, /)\n--\n\n"
     "Make a tensor a leaf without gradient; return it."},
    {"written", written, METH_O,
     "written(tensor, /)\n--\n\n"
     "Note a write into a tensor, so that backward finds it if it needs what was "
     "there."},
    {"hooks_of", hooks_of, METH_O,
     "hooks_of(tensor, /)\n--\n\n"
     "Return the list of (output, kind, function) that backward calls for a tensor."},
    {0},
};
