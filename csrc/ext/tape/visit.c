/* visit.c: what happens at one stop of a backward: hooks, the gradients of its inputs, and
 * where they go.
 *
 * Between nodes of a cluster the gradients of leaves wait: they are computed while
 * something is sent, which as a rule is what the layers before need. */
#include "ext/tape/route.h"

#include <string.h>

/* --- where gradients go --- */

int
visit_arrive(stop *s, int output, PyObject *grad)
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
            visit_arrive(route_find(j, edge.target), edge.output, Py_NewRef(grad)) < 0)
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

/* --- what a node computes --- */

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

/* Which inputs of a node get their gradients: all, those that a node has made, leaves. */
typedef enum { ALL, INNER, LEAVES } part;

/* The gradients of a part of a node's inputs, as far as others wait for them. */
static PyObject *
compute(const journey *j, NodeObject *node, PyObject *const *grads, part which)
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
        sent[e] = next != NULL && (next->needed || next->wanted) &&
                  (which == ALL || tape_is_node(target) == (which == INNER));
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

/* Computes the gradients of a part of a node's inputs and sends them on. But for the
 * `INNER` ones these are the last. */
static int
carry(journey *j, stop *s, part which)
{
    NodeObject *node = (NodeObject *)s->target;
    PyObject *results = NULL;
    if (s->needed && has_grads(s)) {
        results = compute(j, node, s->grads, which);
        int count = node->output_count;
        if (results != NULL &&
            gradients_made_of(j, s->grads, count, node->name, results) < 0)
            Py_CLEAR(results);
        if (node->hooks != NULL)
            results = hooks_after(node, s->grads, results);
        if (results == NULL)
            return -1;
    }
    if (which != INNER)
        drop_grads(s);
    if (which != INNER && !j->options->keep_graph && s->needed)
        tape_node_used(node);
    int failed = send_on(j, node, results);
    Py_XDECREF(results);
    if (failed == 0 && which != INNER)
        failed = finish_leaves(j, node);
    return failed;
}

/* --- what waits --- */

/* Whether the gradients of leaves that a node has can wait, and something goes on without
 * them. A leaf that several nodes have adds theirs up in one order: that of its last one
 * waits, and only where nobody is told of it. What hooks give back they give once. */
static bool
may_wait(const journey *j, const NodeObject *node)
{
    bool inner = false, leaves = false;
    if (!j->overlaps || node->hooks != NULL || node->op == NULL ||
        node->op->vjp == NULL || !tape_vjp_parts(node->op->vjp) ||
        tape_node_packed(node))
        return false;
    for (int e = 0; e < node->input_count; e++) {
        PyObject *target = node->edges[e].target;
        if (target == NULL)
            continue;
        bool leaf = !tape_is_node(target);
        if (leaf && (route_find(j, target)->uses > 1 ||
                     ((TensorObject *)target)->hooks != NULL))
            return false;
        leaves |= leaf;
        inner |= !leaf;
    }
    return inner && leaves;
}

/* Computes what has waited longest. */
static int
end_wait(journey *j)
{
    stop *s = &j->stops[j->later[0]];
    j->later_count--;
    memmove(j->later, j->later + 1, (size_t)j->later_count * sizeof *j->later);
    return carry(j, s, LEAVES);
}

/* Within a move, whose call it is nothing of. */
static int
end_waits(void *of)
{
    journey *j = of;
    ext_tracing before = ext_trace;
    struct tape_trace *tracing = tape_tracing;
    int failed = 0;
    ext_meanwhile.compute = NULL;
    tape_tracing = NULL;
    ext_trace.scope = (ext_scope){.lineage = 0};
    ext_trace.differs = j->differs;
    while (j->later_count > 0 && failed == 0)
        failed = end_wait(j);
    ext_trace.scope = before.scope;
    ext_trace.differs = before.differs;
    ext_trace.looked = before.looked;
    tape_tracing = tracing;
    return failed;
}

static int
wait_for_a_move(journey *j, const stop *s)
{
    if (j->later_count == ROUTE_LATER && end_wait(j) < 0)
        return -1;
    j->later[j->later_count++] = (int)(s - j->stops);
    ext_meanwhile = (ext_work){.compute = end_waits, .of = j};
    return 0;
}

/* --- the visit --- */

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
    if (s->needed && node->hooks != NULL && has_grads(s) &&
        hooks_before(node, s->grads) < 0)
        return -1;
    if (!s->needed || !has_grads(s) || !may_wait(j, node))
        return carry(j, s, ALL);
    return carry(j, s, INNER) < 0 ? -1 : wait_for_a_move(j, s);
}

int
visit_waiting(journey *j)
{
    return j->later_count > 0 ? end_waits(j) : 0;
}

int
visit(journey *j, stop *s)
{
    if (tape_is_node(s->target))
        return visit_node(j, s);
    int failed =
        s->grads == NULL ? 0 : leave_at_leaf(j, s); /* backward of a leaf itself */
    drop_grads(s);
    return failed;
}
