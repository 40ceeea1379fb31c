/* Backward: gradients go from the youngest node to the oldest.
 *
 * A node is always younger than what it was made of, so that in the order of their
 * numbers every node comes after all that use its outputs; a leaf gets its gradient as
 * soon as the last of these is done, which lets hooks send it meanwhile. What a run
 * knows of a node is its own, not the node's: hooks may start runs of their own. */
#include "ext/tape/route.h"

static _Thread_local journey *current;

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
                         : visit_arrive(&j->stops[place], edge.output, grad);
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
    for (int k = 0; k < j->count; k++)
        if (visit(j, &j->stops[k]) < 0)
            return -1;
    return visit_waiting(j) < 0 ? -1 : leaves_settle(j);
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
    j.differs = ext_trace.differs;
    PyObject *result = NULL;
    bool before = tape_off;
    ext_work meanwhile = ext_meanwhile; /* of the run that this one is within */
    const WorldObject *world = ext_world_open();
    j.overlaps = world != NULL && world->overlaps && options->inputs == NULL &&
                 !options->create_graph;
    ext_meanwhile.compute = NULL;
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
    ext_meanwhile = meanwhile;
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

static PyObject *
finish_waiting(PyObject *Py_UNUSED(module), PyObject *Py_UNUSED(none))
{
    if (current != NULL && visit_waiting(current) < 0)
        return NULL;
    Py_RETURN_NONE;
}

PyMethodDef ext_engine_methods[] = {
    {"backward_depth", backward_depth, METH_NOARGS,
     "backward_depth()\n--\n\n"
     "Return how many backwards of this thread are under way, one within another."},
    {"finish_waiting", finish_waiting, METH_NOARGS,
     "finish_waiting()\n--\n\n"
     "Compute the gradients of leaves that wait in the backward that is running."},
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
