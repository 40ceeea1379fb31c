/* Backward: gradients go from the youngest node to the oldest.
 *
 * A node is always younger than what it was made of, so that in the order of their
 * numbers every node comes after all that use its outputs; a leaf gets its gradient as
 * soon as the last of these is done, which lets hooks send it meanwhile. What a run
 * knows of a node is its own, not the node's: hooks may start runs of their own. */
#include "ext/tape/route.h"

#include <string.h>

static _Thread_local journey *current;

/* --- one stop --- */

/* Adds to the gradient of an output; steals it. */
static int
arrive(stop *s, int output, PyObject *grad)
{
    if (s->grads == NULL)
        s->grads = PyMem_Calloc((size_t)s->output_count + 1, sizeof *s->grads);
    if (s->grads == NULL) {
        Py_DECREF(grad);
        return ext_no_memory();
    }
    PyObject *have = s->grads[output];
    s->grads[output] = have == NULL ? grad : tape_add(have, grad, tape_off);
    return s->grads[output] == NULL ? -1 : 0;
}

/* Hands the gradients of a stop to the inputs that want them. */
static int
capture(journey *j, const stop *s)
{
    for (int i = 0; s->wanted && s->grads != NULL && i < j->input_count; i++) {
        TensorObject *input = (TensorObject *)j->inputs[i];
        tape_edge edge = route_edge_of(input);
        bool here = edge.target == s->target;
        for (int e = 0; e < i && j->options->accumulate; e++)
            here = here && j->inputs[e] != j->inputs[i];
        if (!here || s->grads[edge.output] == NULL)
            continue;
        bool retained =
            tape_is_node(s->target) &&
            hooks_have(((NodeObject *)s->target)->hooks, edge.output, "retain");
        if (j->options->accumulate && retained)
            continue; /* it has its gradient */
        if (j->options->accumulate) {
            if (input->requires_grad &&
                tape_accumulate(input, Py_NewRef(s->grads[edge.output])) < 0)
                return -1;
        } else {
            PyObject *grad = tape_in_order(s->grads[edge.output], input);
            if (grad == NULL)
                return -1;
            Py_XSETREF(j->found[i], grad);
        }
    }
    return 0;
}

/* A leaf that was frozen since forward, or by a hook of its own, keeps its `grad` as it
 * is; its hooks are called, as PyTorch does. */
static int
leave_at_leaf(journey *j, stop *s)
{
    TensorObject *leaf = (TensorObject *)s->target;
    if (s->grads == NULL || s->grads[0] == NULL)
        return 0;
    s->grads[0] = hooks_call(leaf->hooks, 0, "grad", s->grads[0]);
    if (s->grads[0] == NULL)
        return -1;
    if (!leaf->requires_grad && j->inputs == NULL)
        return hooks_done(leaf);
    if (leaf_may_wait(j, leaf, s->grads[0])) {
        PyObject *grad = s->grads[0];
        s->grads[0] = NULL;
        return leaf_wait(j, leaf, grad);
    }
    if (j->inputs != NULL) {
        if (capture(j, s) < 0)
            return -1;
        if (!j->options->accumulate || !s->wanted)
            return 0;
    } else {
        PyObject *grad = s->grads[0];
        s->grads[0] = NULL;
        if (tape_accumulate(leaf, grad) < 0)
            return -1;
    }
    return hooks_done(leaf);
}

/* Sends the gradients of a node's inputs on, a tuple, or NULL: there are none. */
static int
send_on(journey *j, NodeObject *node, PyObject *results)
{
    for (int e = 0; results != NULL && e < node->input_count; e++) {
        PyObject *grad = PyTuple_GET_ITEM(results, e);
        tape_edge edge = node->edges[e];
        if (grad != Py_None &&
            arrive(route_find(j, edge.target), edge.output, Py_NewRef(grad)) < 0)
            return -1;
    }
    return 0;
}

/* A gradient that is no longer needed is given back before the next one is made. */
static void
drop_grads(stop *s)
{
    for (int k = 0; s->grads != NULL && k < s->output_count; k++)
        Py_CLEAR(s->grads[k]);
    PyMem_Free(s->grads);
    s->grads = NULL;
}

/* The leaves whose last gradient a node has sent, or was to send. */
static int
finish_leaves(journey *j, NodeObject *node)
{
    for (int e = 0; e < node->input_count; e++) {
        if (node->edges[e].target == NULL)
            continue;
        stop *next = route_find(j, node->edges[e].target);
        if (--next->uses > 0 || tape_is_node(next->target))
            continue;
        int failed = leave_at_leaf(j, next);
        drop_grads(next);
        if (failed < 0)
            return -1;
    }
    return 0;
}

static PyObject *
call_function(NodeObject *node, PyObject *const *grads)
{
    PyObject *args = ext_tuple_of(grads, node->output_count);
    PyObject *backward = Py_NewRef(node->backward); /* which a hook may give back */
    PyObject *results = args == NULL ? NULL : PyObject_CallObject(backward, args);
    Py_DECREF(backward);
    Py_XDECREF(args);
    return results;
}

/* The gradients of a node's inputs that others wait for. */
static PyObject *
compute(const journey *j, NodeObject *node, PyObject *const *grads)
{
    bool space[OP_INLINE], *sent = space;
    if (node->done)
        return tape_raise_done();
    if (node->input_count > OP_INLINE)
        sent = PyMem_New(bool, (size_t)node->input_count);
    if (sent == NULL)
        return PyErr_NoMemory();
    for (int e = 0; e < node->input_count; e++) {
        PyObject *target = node->edges[e].target;
        const stop *next = target == NULL ? NULL : route_find(j, target);
        sent[e] = next != NULL && (next->needed || next->wanted);
    }
    bool differs = ext_trace.differs;
    ext_trace.differs = differs || node->differs;
    PyObject *results = node->op != NULL
                            ? tape_node_backward(node, grads, sent)
                            : tape_fit_all(node, call_function(node, grads), sent);
    ext_trace.differs = differs;
    if (sent != space)
        PyMem_Free(sent);
    return results;
}

static bool
has_grads(const stop *s)
{
    bool any = false;
    for (int k = 0; s->grads != NULL && k < s->output_count && !any; k++)
        any = s->grads[k] != NULL;
    return any;
}

static int
visit_node(journey *j, stop *s)
{
    NodeObject *node = (NodeObject *)s->target;
    for (int k = 0; s->grads != NULL && k < s->output_count; k++)
        if (s->grads[k] != NULL) {
            s->grads[k] = hooks_call(node->hooks, k, "grad", s->grads[k]);
            if (s->grads[k] != NULL)
                s->grads[k] = hooks_call(node->hooks, k, "retain", s->grads[k]);
            if (s->grads[k] == NULL)
                return -1;
        }
    if (capture(j, s) < 0)
        return -1;
    PyObject *results = NULL;
    if (s->needed && node->hooks != NULL && has_grads(s) &&
        hooks_before(node, s->grads) < 0)
        return -1;
    if (s->needed && has_grads(s)) {
        results = compute(j, node, s->grads);
        int count = node->output_count;
        if (results != NULL &&
            gradients_made_of(j, s->grads, count, node->name, results) < 0)
            Py_CLEAR(results);
        if (node->hooks != NULL)
            results = hooks_after(node, s->grads, results);
        if (results == NULL)
            return -1;
    }
    drop_grads(s);
    if (!j->options->keep_graph && s->needed)
        tape_node_used(node);
    int failed = send_on(j, node, results);
    Py_XDECREF(results);
    return failed < 0 ? -1 : finish_leaves(j, node);
}

/* --- the run --- */

/* Puts the gradients of the outputs that backward starts from where they belong. */
static int
begin(journey *j, PyObject *tensors, PyObject *grads)
{
    for (Py_ssize_t k = 0; k < PyTuple_GET_SIZE(tensors); k++) {
        TensorObject *tensor = (TensorObject *)PyTuple_GET_ITEM(tensors, k);
        PyObject *grad = grads == Py_None ? Py_None : PyTuple_GET_ITEM(grads, k);
        if (tape_check_fresh(tensor) < 0)
            return -1;
        tape_edge edge = tape_edge_to(tensor);
        if (edge.target == NULL)
            return ext_fail(PyExc_RuntimeError,
                            "element %zd of tensors does not require grad and does not "
                            "have a grad_fn",
                            k);
        int place = route_add(j, edge.target);
        grad = grad == Py_None ? tape_ones((PyObject *)tensor) : Py_NewRef(grad);
        int failed = grad == NULL || place < 0
                         ? -1
                         : arrive(&j->stops[place], edge.output, grad);
        Py_DECREF(edge.target);
        if (failed < 0)
            return -1;
    }
    return 0;
}

static int
go(journey *j, PyObject *tensors, PyObject *grads)
{
    if (begin(j, tensors, grads) < 0 || route_explore(j) < 0)
        return -1;
    route_mark_needed(j);
    for (int k = 0; k < j->count; k++) {
        stop *s = &j->stops[k];
        int failed = 0;
        if (tape_is_node(s->target))
            failed = visit_node(j, s);
        else if (s->grads != NULL) /* backward of a leaf itself */
            failed = leave_at_leaf(j, s);
        drop_grads(s);
        if (failed < 0)
            return -1;
    }
    return leaves_settle(j);
}

/* Calls what hooks have left to be called at the end, and what those leave. */
static int
call_back(journey *j)
{
    for (Py_ssize_t k = 0; j->callbacks != NULL && k < PyList_GET_SIZE(j->callbacks);
         k++) {
        PyObject *answer = PyObject_CallNoArgs(PyList_GET_ITEM(j->callbacks, k));
        if (answer == NULL)
            return -1;
        Py_DECREF(answer);
    }
    return 0;
}

static PyObject *
answer_of(journey *j)
{
    if (j->options->accumulate)
        Py_RETURN_NONE;
    for (int i = 0; !j->options->allow_unused && i < j->input_count; i++)
        if (j->found[i] == NULL)
            return PyErr_Format(
                PyExc_RuntimeError,
                "One of the differentiated Tensors appears to not have "
                "been used in the graph. Set allow_unused=True if this is "
                "the desired behavior.");
    return ext_tuple_of(j->found, j->input_count);
}

/* New tuple of the gradients of `inputs`, or None. */
static PyObject *
backward(PyObject *tensors, PyObject *grads, const tape_options *options)
{
    journey j = {.options = options, .outer = current, .tensors = tensors};
    PyObject *result = NULL;
    bool before = tape_off;
    if (options->inputs != NULL) {
        j.input_count = (int)PyTuple_GET_SIZE(options->inputs);
        j.inputs = PySequence_Fast_ITEMS(options->inputs);
        j.found = PyMem_Calloc((size_t)j.input_count + 1, sizeof *j.found);
    }
    current = &j;
    ext_trace.looked = true; /* a run within a function is not to be noted */
    tape_off = !options->create_graph;
    ext_local_call local = ext_local_begin("backward");
    if (options->inputs != NULL && j.found == NULL)
        PyErr_NoMemory();
    else if (go(&j, tensors, grads) == 0 && call_back(&j) == 0)
        result = answer_of(&j);
    ext_local_end(&local, result != NULL);
    tape_off = before;
    current = j.outer;
    route_clear(&j);
    return result;
}

/* RuntimeError where ones would be no gradient of a tensor. */
static int
check_scalars(PyObject *tensors, PyObject *grads)
{
    for (Py_ssize_t k = 0; k < PyTuple_GET_SIZE(tensors); k++) {
        TensorObject *tensor = (TensorObject *)PyTuple_GET_ITEM(tensors, k);
        bool ones = grads == Py_None || PyTuple_GET_ITEM(grads, k) == Py_None;
        if (ones && tape_requires((PyObject *)tensor) && ext_tensor_count(tensor) != 1)
            return ext_fail(PyExc_RuntimeError,
                            "grad can be implicitly created only for scalar outputs");
    }
    return 0;
}

/* run_backward(tensors, grads, retain_graph, create_graph, inputs or None,
 * accumulate, allow_unused) */
static PyObject *
run_backward(PyObject *Py_UNUSED(module), PyObject *args)
{
    PyObject *tensors, *grads, *inputs;
    int keep, create, accumulate, unused;
    if (!PyArg_ParseTuple(args, "O!OppOpp:run_backward", &PyTuple_Type, &tensors,
                          &grads, &keep, &create, &inputs, &accumulate, &unused) ||
        check_scalars(tensors, grads) < 0)
        return NULL;
    tape_options options = {.keep_graph = keep != 0,
                            .create_graph = create != 0,
                            .accumulate = accumulate != 0,
                            .allow_unused = unused != 0,
                            .inputs = inputs == Py_None ? NULL : inputs};
    return backward(tensors, grads, &options);
}

static PyObject *
backward_depth(PyObject *Py_UNUSED(module), PyObject *Py_UNUSED(none))
{
    long depth = 0;
    for (const journey *j = current; j != NULL; j = j->outer)
        depth++;
    return PyLong_FromLong(depth);
}

static PyObject *
queue_callback(PyObject *Py_UNUSED(module), PyObject *function)
{
    if (current == NULL)
        return PyErr_Format(PyExc_RuntimeError,
                            "Final callbacks can only be installed during backward "
                            "pass.");
    if (current->callbacks == NULL)
        current->callbacks = PyList_New(0);
    if (current->callbacks == NULL || PyList_Append(current->callbacks, function) < 0)
        return NULL;
    Py_RETURN_NONE;
}

PyMethodDef ext_engine_methods[] = {
    {"backward_depth", backward_depth, METH_NOARGS,
     "backward_depth()\n--\n\n"
     "Return how many backwards of this thread are under way, one within another."},
    {"queue_callback", queue_callback, METH_O,
     "queue_callback(function, /)\n--\n\n"
     "Call a function without arguments at the end of the backward that is running."},
    {"run_backward", run_backward, METH_VARARGS,
     "run_backward(tensors, grads, retain_graph, create_graph, inputs, accumulate, "
     "allow_unused, /)\n--\n\n"
     "Go back from tensors with their gradients (None, for one or for all: ones): see\n"
     "autograd.backward."},
    {0},
};
