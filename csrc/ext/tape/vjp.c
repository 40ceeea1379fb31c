/* The gradients of operators: what they need, and how they are called. */
#include "ext/tape/tape.h"

#include <string.h>

/* A gradient's function. */
typedef struct {
    PyObject *function; /* NULL: the operand has no gradient */
    PyObject *names; /* of its parameters, a tuple: grad, out, those of the operator */
    int first;       /* of the operator's */
    int by_place, count;
    bool rest;  /* it has a parameter for all further places: names[count] */
    bool named; /* and one for all further names */
} gradient;

struct tape_vjp {
    bool all;        /* one function for all operands, which gets `needs` first */
    bool ours;       /* the functions are the library's */
    uint64_t number; /* no other one has had it */
    int count;
    gradient gradients[];
};

/* --- which arguments it needs --- */

static long
code_number(PyObject *code, const char *name)
{
    PyObject *number = PyObject_GetAttrString(code, name);
    long value = number == NULL ? -1 : PyLong_AsLong(number);
    Py_XDECREF(number);
    return value;
}

static int
read_function(gradient *g, PyObject *function, bool all)
{
    enum { HAS_REST = 4, HAS_NAMED = 8 }; /* inspect.CO_VARARGS, CO_VARKEYWORDS */
    if (!PyFunction_Check(function))
        return ext_fail(PyExc_TypeError,
                        "the gradient of an operator is a function%s, not %R",
                        all ? "" : " for each operand, or None", function);
    PyObject *code = PyFunction_GetCode(function);
    g->first = all ? 3 : 2;
    g->by_place = (int)code_number(code, "co_argcount");
    g->count = g->by_place + (int)code_number(code, "co_kwonlyargcount");
    g->rest = (code_number(code, "co_flags") & HAS_REST) != 0;
    g->named = (code_number(code, "co_flags") & HAS_NAMED) != 0;
    g->names = PyObject_GetAttrString(code, "co_varnames");
    if (g->names == NULL || PyErr_Occurred())
        return -1;
    if (g->by_place < g->first)
        return ext_fail(PyExc_TypeError, "the gradient %R must take (%sgrad, out, ...)",
                        function, all ? "needs, " : "");
    g->function = Py_NewRef(function);
    return 0;
}

/* Whether a function is one of the operators': what it gives depends on its arguments
 * alone. */
static bool
is_ours(PyObject *function)
{
    PyObject *module = PyFunction_GetModule(function);
    const char *name =
        module == NULL || !PyUnicode_Check(module) ? NULL : PyUnicode_AsUTF8(module);
    return name != NULL && (strncmp(name, "dtensor.ops.", 12) == 0 ||
                            strncmp(name, "dtensor.torch.", 14) == 0);
}

struct tape_vjp *
tape_vjp_new(PyObject *functions, bool all)
{
    Py_ssize_t count = PyTuple_GET_SIZE(functions);
    struct tape_vjp *vjp =
        PyMem_Calloc(1, sizeof *vjp + (size_t)count * sizeof *vjp->gradients);
    if (vjp == NULL)
        return (struct tape_vjp *)PyErr_NoMemory();
    static uint64_t numbers;
    vjp->all = all;
    vjp->ours = true;
    vjp->number = ++numbers;
    vjp->count = (int)count;
    for (Py_ssize_t k = 0; k < count; k++) {
        PyObject *function = PyTuple_GET_ITEM(functions, k);
        if ((function != Py_None || all) &&
            read_function(&vjp->gradients[k], function, all) < 0) {
            tape_vjp_free(vjp);
            return NULL;
        }
        vjp->ours &= function == Py_None || is_ours(function);
    }
    return vjp;
}

struct tape_vjp *
tape_vjp_copy(const struct tape_vjp *vjp)
{
    PyObject *functions = PyTuple_New(vjp->count);
    for (int k = 0; functions != NULL && k < vjp->count; k++) {
        PyObject *function = vjp->gradients[k].function;
        PyTuple_SET_ITEM(functions, k, Py_NewRef(function ? function : Py_None));
    }
    struct tape_vjp *copy =
        functions == NULL ? NULL : tape_vjp_new(functions, vjp->all);
    Py_XDECREF(functions);
    return copy;
}

bool
tape_vjp_is_ours(const struct tape_vjp *vjp)
{
    return vjp->ours;
}

uint64_t
tape_vjp_number(const struct tape_vjp *vjp)
{
    return vjp->number;
}

void
tape_vjp_free(struct tape_vjp *vjp)
{
    for (int k = 0; vjp != NULL && k < vjp->count; k++) {
        Py_XDECREF(vjp->gradients[k].function);
        Py_XDECREF(vjp->gradients[k].names);
    }
    PyMem_Free(vjp);
}

/* A parameter with an underscore first gets no data. */
static bool
is_kept(const gradient *g, int place)
{
    return PyUnicode_READ_CHAR(PyTuple_GET_ITEM(g->names, place), 0) != '_';
}

static bool
keeps_place(const gradient *g, Py_ssize_t place)
{
    if (place + g->first < g->by_place)
        return is_kept(g, (int)place + g->first);
    return !g->rest || is_kept(g, g->count);
}

/* The parameter that a keyword is for: its own, or the one with an underscore before
 * it. -1: none. */
static int
parameter_of(const gradient *g, PyObject *keyword)
{
    const char *wanted = PyUnicode_AsUTF8(keyword);
    for (int k = g->first; wanted != NULL && k < g->count; k++) {
        const char *name = PyUnicode_AsUTF8(PyTuple_GET_ITEM(g->names, k));
        if (name != NULL && strcmp(name + (name[0] == '_'), wanted) == 0)
            return k;
    }
    return -1;
}

static bool
keeps_keyword(const gradient *g, PyObject *keyword)
{
    int place = parameter_of(g, keyword);
    return place < 0 || is_kept(g, place);
}

/* The gradient's function for operand k, NULL if it has none. */
static const gradient *
gradient_of(const struct tape_vjp *vjp, int k)
{
    int place = vjp->all ? 0 : k;
    if (place >= vjp->count || vjp->gradients[place].function == NULL)
        return NULL;
    return &vjp->gradients[place];
}

bool
tape_vjp_keeps(const struct tape_vjp *vjp, const tape_edge *edges, int count,
               Py_ssize_t place, PyObject *keyword)
{
    for (int k = 0; vjp != NULL && k < count; k++) {
        const gradient *g = edges[k].target == NULL ? NULL : gradient_of(vjp, k);
        if (g != NULL &&
            (keyword == NULL ? keeps_place(g, place) : keeps_keyword(g, keyword)))
            return true;
    }
    return false;
}

bool
tape_vjp_keeps_out(const struct tape_vjp *vjp, const tape_edge *edges, int count)
{
    for (int k = 0; vjp != NULL && k < count; k++) {
        const gradient *g = edges[k].target == NULL ? NULL : gradient_of(vjp, k);
        if (g != NULL && is_kept(g, g->first - 1))
            return true;
    }
    return false;
}

/* --- the call --- */

static PyObject *unpacked_list(PyObject *list, NodeObject *node);

/* What stands for an argument that a node keeps. New reference. */
static PyObject *
unpacked(PyObject *argument, NodeObject *node)
{
    bool list = PyList_CheckExact(argument) || PyTuple_CheckExact(argument);
    if (Py_TYPE(argument) != &ext_saved_type && !list)
        return Py_NewRef(argument);
    Py_INCREF(argument); /* hooks may have the node give it back */
    PyObject *value = list ? unpacked_list(argument, node)
                           : tape_unpack((SavedObject *)argument, node);
    Py_DECREF(argument);
    return value;
}

static PyObject *
unpacked_list(PyObject *list, NodeObject *node)
{
    Py_ssize_t count = PySequence_Fast_GET_SIZE(list);
    bool is_list = PyList_CheckExact(list), any = false;
    for (Py_ssize_t k = 0; k < count; k++)
        any |= Py_TYPE(PySequence_Fast_ITEMS(list)[k]) == &ext_saved_type;
    if (!any)
        return Py_NewRef(list);
    PyObject *made = is_list ? PyList_New(count) : PyTuple_New(count);
    for (Py_ssize_t k = 0; made != NULL && k < count; k++)
        ext_put(&made, k, unpacked(PySequence_Fast_ITEMS(list)[k], node));
    return made;
}

/* One for each output, or the only one. New reference. */
static PyObject *
outputs_of(NodeObject *node, PyObject *(*item)(NodeObject *, int, const void *),
           const void *data)
{
    if (!node->several)
        return item(node, 0, data);
    PyObject *tuple = PyTuple_New(node->output_count);
    for (int k = 0; tuple != NULL && k < node->output_count; k++)
        ext_put(&tuple, k, item(node, k, data));
    return tuple;
}

static PyObject *
out_item(NodeObject *node, int k, const void *Py_UNUSED(data))
{
    if (node->done)
        return tape_raise_done();
    return unpacked(node->outs[k], node);
}

static PyObject *
grad_item(NodeObject *node, int k, const void *data)
{
    PyObject *grad = ((PyObject *const *)data)[k];
    return grad == NULL ? tape_zeros(node->metas[k]) : Py_NewRef(grad);
}

static PyObject *
needs_of(const NodeObject *node, const bool *sent)
{
    PyObject *needs = PyTuple_New(node->input_count);
    for (int k = 0; needs != NULL && k < node->input_count; k++)
        PyTuple_SET_ITEM(needs, k, PyBool_FromLong(sent[k]));
    return needs;
}

/* The names of a node's keywords as a function has them. New reference. */
static PyObject *
keywords_for(const gradient *g, const NodeObject *node)
{
    PyObject *kwnames = node->kwnames;
    Py_ssize_t count = PyTuple_GET_SIZE(kwnames);
    for (Py_ssize_t k = 0; k < count && !g->named; k++)
        if (parameter_of(g, PyTuple_GET_ITEM(kwnames, k)) < 0)
            return PyErr_Format(PyExc_NotImplementedError,
                                "derivative for %U with %U= is not implemented",
                                node->name, PyTuple_GET_ITEM(kwnames, k));
    PyObject *names = PyTuple_New(count);
    for (Py_ssize_t k = 0; names != NULL && k < count; k++) {
        int place = parameter_of(g, PyTuple_GET_ITEM(kwnames, k));
        PyObject *name = place < 0 ? PyTuple_GET_ITEM(kwnames, k)
                                   : PyTuple_GET_ITEM(g->names, place);
        PyTuple_SET_ITEM(names, k, Py_NewRef(name));
    }
    return names;
}

/* Calls one function; argv[3...] are the operator's arguments. */
static PyObject *
call_gradient(const gradient *g, NodeObject *node, PyObject **argv)
{
    PyObject *names = node->kwnames == NULL ? NULL : keywords_for(g, node);
    if (node->kwnames != NULL && names == NULL)
        return NULL;
    PyObject *result = PyObject_Vectorcall(g->function, argv + 3 - g->first,
                                           (size_t)(node->nargs + g->first), names);
    Py_XDECREF(names);
    return result;
}

static PyObject *
call_all(const gradient *g, NodeObject *node, PyObject **argv, const bool *sent)
{
    argv[0] = needs_of(node, sent);
    PyObject *result = argv[0] == NULL ? NULL : call_gradient(g, node, argv);
    if (result == NULL ||
        (PyTuple_CheckExact(result) && PyTuple_GET_SIZE(result) == node->input_count))
        return result;
    PyErr_Format(PyExc_SystemError,
                 "the gradient of %U must be a tuple of %d, one for each operand",
                 node->name, node->input_count);
    Py_DECREF(result);
    return NULL;
}

static PyObject *
call_each(const struct tape_vjp *vjp, NodeObject *node, PyObject **argv,
          const bool *sent)
{
    PyObject *result = PyTuple_New(node->input_count);
    for (int k = 0; result != NULL && k < node->input_count; k++) {
        const gradient *g = sent[k] ? gradient_of(vjp, k) : NULL;
        if (sent[k] && k >= vjp->count) {
            PyErr_Format(PyExc_NotImplementedError,
                         "derivative for operand %d of %U is not implemented", k,
                         node->name);
            Py_CLEAR(result);
            break;
        }
        ext_put(&result, k,
                g == NULL ? Py_NewRef(Py_None) : call_gradient(g, node, argv));
    }
    return result;
}

int
tape_vjp_arguments(PyObject **argv, NodeObject *node, PyObject *const *grads)
{
    if (node->op->vjp == NULL)
        return ext_fail(PyExc_NotImplementedError,
                        "derivative for %U is not implemented", node->name);
    Py_ssize_t count = 1;
    argv[0] = NULL;
    argv[count] = outputs_of(node, grad_item, grads);
    if (argv[count++] != NULL)
        argv[count] = outputs_of(node, out_item, NULL);
    else
        argv[count] = NULL;
    for (Py_ssize_t k = 0; argv[count] != NULL && k < node->count; k++) {
        if (!node->done) /* an unpack hook may have gone back through the node */
            argv[++count] = unpacked(node->args[k], node);
        else
            argv[++count] = tape_raise_done();
    }
    if (argv[count] != NULL)
        return 0;
    while (count > 1)
        Py_XDECREF(argv[--count]);
    return -1;
}

PyObject *
tape_vjp_call(NodeObject *node, PyObject **argv, const bool *sent)
{
    const struct tape_vjp *vjp = node->op->vjp;
    return vjp->all ? call_all(&vjp->gradients[0], node, argv, sent)
                    : call_each(vjp, node, argv, sent);
}
