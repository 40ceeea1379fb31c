/* trace.c: a gradient function runs, and its calls are noted: they become a program. */
#include "ext/tape/program.h"

#include <string.h>

enum { PROGRAMS = 4 /* of an entry */ };

_Thread_local bool tape_programs = true;

/* --- noting --- */

/* A function that runs, of which the calls are noted. */
struct tape_trace {
    program *program;
    int room; /* of steps */
    int count;
    PyObject *seen[PROGRAM_VALUES]; /* the values: given ones borrowed, results owned */
    int depth;                      /* of the calls under way */
    bool failed;                    /* there will be no program */
};

_Thread_local struct tape_trace *tape_tracing;

/* How many functions are under way that ranks know by name: what they call is not noted,
 * or the names would be missing when it is played. */
static int
depth_of_calls(void)
{
    return ext_trace.trail == NULL ? 0 : ext_trace.trail->depth;
}

static int
place_of(const struct tape_trace *t, PyObject *value)
{
    for (int k = 0; k < t->count; k++)
        if (t->seen[k] == value)
            return k;
    return -1;
}

/* Whether it is an array, or a tensor, that a function has made of nothing but layouts, for
 * its shape: read-only, one element for all, without lineage. */
static bool
is_hollow(PyObject *object)
{
    bool tensor = ext_is_tensor(object);
    if (ext_is_dtensor(object) && ext_lineage((DTensorObject *)object) != 0)
        return false;
    if (tape_requires(object))
        return false;
    object = tensor ? ((TensorObject *)object)->array : object;
    if (!PyArray_CheckExact(object))
        return false;
    PyArrayObject *array = (PyArrayObject *)object;
    for (int d = 0; d < PyArray_NDIM(array); d++)
        if (PyArray_STRIDE(array, d) != 0)
            return false;
    return !PyArray_ISWRITEABLE(array);
}

static bool
note_arguments(struct tape_trace *t, program_step *s, PyObject *const *args)
{
    for (int k = 0; k < s->count; k++) {
        program_argument *from = &s->arguments[k];
        from->place = ext_is_tensor(args[k]) ? place_of(t, args[k]) : -1;
        if (from->place >= 0)
            continue;
        if (!program_is_constant(args[k]) && !is_hollow(args[k]))
            return false;
        from->constant = op_static_copy(args[k]);
        if (from->constant == NULL)
            return false;
    }
    return true;
}

static bool
note_results(struct tape_trace *t, program_step *s, PyObject *result)
{
    bool several = PyTuple_Check(result) || PyList_Check(result);
    PyObject **items = several ? PySequence_Fast_ITEMS(result) : &result;
    s->result = t->count;
    s->results = several ? (int)PySequence_Fast_GET_SIZE(result) : 0;
    int count = several ? s->results : 1;
    if (count == 0 || t->count + count > PROGRAM_VALUES)
        return false;
    for (int k = 0; k < count; k++) {
        if (!ext_is_tensor(items[k]))
            return false;
        t->seen[t->count++] = Py_NewRef(items[k]);
    }
    return true;
}

static bool
note(struct tape_trace *t, PyObject *callable, PyObject *const *args, Py_ssize_t nargs,
     PyObject *kwnames, PyObject *result)
{
    program *p = t->program;
    if (ext_trace.scope.name != NULL || depth_of_calls() != t->depth)
        return false; /* what is sent would bear another name */
    if (p->count == t->room) {
        int room = 2 * t->room + 4;
        program_step *more = PyMem_Realloc(p->steps, (size_t)room * sizeof *more);
        if (more == NULL)
            return false;
        p->steps = more;
        t->room = room;
    }
    Py_ssize_t named = kwnames == NULL ? 0 : PyTuple_GET_SIZE(kwnames);
    program_step *s = &p->steps[p->count];
    *s = (program_step){.nargs = nargs, .count = (int)(nargs + named)};
    s->arguments = PyMem_Calloc((size_t)s->count + 1, sizeof *s->arguments);
    if (s->arguments == NULL)
        return false;
    s->callable = Py_NewRef(callable);
    s->kwnames = Py_XNewRef(kwnames);
    p->count++;
    for (Py_ssize_t k = 0; k < named; k++)
        if (PyUnicode_CompareWithASCIIString(PyTuple_GET_ITEM(kwnames, k), "out") == 0)
            return false;
    return note_arguments(t, s, args) && note_results(t, s, result);
}

PyObject *
tape_traced_call(PyObject *callable, PyObject *const *args, size_t flags,
                 PyObject *kwnames)
{
    struct tape_trace *trace = tape_tracing;
    bool looked = ext_trace.looked;
    tape_tracing = NULL; /* what is called within is the callable's own affair */
    PyObject *result = PyObject_Vectorcall(callable, args, flags, kwnames);
    tape_tracing = trace;
    ext_trace.looked = looked;
    if (result != NULL && !trace->failed)
        trace->failed =
            !note(trace, callable, args, PyVectorcall_NARGS(flags), kwnames, result);
    if (PyErr_Occurred() && result != NULL) /* no memory for a note */
        PyErr_Clear();
    return result;
}

/* Finds the places of the answers, and where each value is needed for the last time. */
static bool
finish(struct tape_trace *t, PyObject *results)
{
    program *p = t->program;
    bool needed[PROGRAM_VALUES] = {false};
    for (int k = 0; k < p->inputs; k++) {
        PyObject *grad = PyTuple_GET_ITEM(results, k);
        p->answers[k] = grad == Py_None ? -1 : place_of(t, grad);
        if (grad != Py_None && p->answers[k] < 0)
            return false;
        if (p->answers[k] >= 0)
            needed[p->answers[k]] = true;
    }
    for (int k = p->count - 1; k >= 0; k--)
        for (int i = p->steps[k].count - 1; i >= 0; i--) {
            program_argument *from = &p->steps[k].arguments[i];
            if (from->place < 0)
                continue;
            from->last = from->place >= p->given && !needed[from->place];
            needed[from->place] = true;
        }
    return true;
}

static PyObject *
plain(NodeObject *node, PyObject **argv, const bool *sent)
{
    return tape_fit_all(node, tape_vjp_call(node, argv, sent), sent);
}

/* Runs the function and notes its calls into a program. */
static PyObject *
trace(program *p, NodeObject *node, PyObject **argv, PyObject *const *given,
      const bool *sent)
{
    struct tape_trace t = {.program = p, .count = p->given, .depth = depth_of_calls()};
    struct tape_trace *before = tape_tracing;
    memcpy(t.seen, given, (size_t)p->given * sizeof *given);
    bool looked = ext_trace.looked;
    tape_tracing = &t;
    ext_trace.looked = false;
    PyObject *results = plain(node, argv, sent);
    tape_tracing = before;
    p->refused =
        t.failed || ext_trace.looked || results == NULL || !finish(&t, results);
    ext_trace.looked = looked; /* of a function that this is within */
    if (p->refused)
        program_forget_steps(p);
    for (int k = p->given; k < t.count; k++)
        Py_DECREF(t.seen[k]);
    return results;
}

/* --- which way --- */

/* The programs of the entry of a node. NULL: it has none, and this was the first time. */
static ProgramsObject *
programs_of(NodeObject *node)
{
    op_entry *entry = node->entry;
    if (entry == NULL || !tape_programs || !tape_off ||
        !tape_vjp_is_ours(node->op->vjp) || ext_trace.scope.name != NULL)
        return NULL;
    if (entry->gradient == NULL) {
        ProgramsObject *made = PyObject_New(ProgramsObject, &ext_programs_type);
        if (made == NULL)
            PyErr_Clear();
        else
            made->first = NULL;
        entry->gradient = (PyObject *)made;
        return NULL;
    }
    return (ProgramsObject *)entry->gradient;
}

/* What is noted must be told apart: of an argument that is there twice the second becomes
 * an object of its own. False: that cannot be. */
static bool
part_twins(const NodeObject *node, PyObject **argv, PyObject *const *values, int count)
{
    int first = 2 * node->output_count;
    for (int k = 1; k < count; k++)
        for (int i = 0; i < k; i++) {
            if (values[i] != values[k] || !ext_is_tensor(values[k]))
                continue;
            PyObject *alias = k < first ? NULL : tape_alias((TensorObject *)values[k]);
            if (alias == NULL)
                return false;
            Py_SETREF(argv[3 + k - first], alias);
            break;
        }
    return true;
}

static PyObject *
carry_out(ProgramsObject *programs, NodeObject *node, PyObject **argv, const bool *sent)
{
    PyObject *values[PROGRAM_VALUES];
    int count = program_values(values, node, argv), programs_count = 0;
    program *p = count == 0 ? NULL : programs->first;
    for (; p != NULL && !program_fits(p, node, values, count, sent); p = p->next)
        programs_count++;
    if (p != NULL)
        return p->refused ? plain(node, argv, sent) : program_play(p, values);
    if (count > 0 && programs_count < PROGRAMS &&
        part_twins(node, argv, values, count)) {
        program_values(values, node, argv);
        p = program_begin(node, values, count, sent);
    }
    if (p == NULL)
        return PyErr_Occurred() ? NULL : plain(node, argv, sent);
    PyObject *results = trace(p, node, argv, values, sent);
    p->next = programs->first;
    programs->first = p;
    return results;
}

PyObject *
tape_node_backward(NodeObject *node, PyObject *const *grads, const bool *sent)
{
    PyObject *space[OP_INLINE], **argv = space;
    if (node->count + 3 > OP_INLINE)
        argv = PyMem_New(PyObject *, (size_t)node->count + 3);
    if (argv == NULL)
        return PyErr_NoMemory();
    PyObject *result = NULL;
    if (tape_vjp_arguments(argv, node, grads) == 0) {
        ProgramsObject *programs = programs_of(node);
        Py_XINCREF(
            (PyObject *)programs); /* a hook may have the node forget its entry */
        result = programs == NULL ? plain(node, argv, sent)
                                  : carry_out(programs, node, argv, sent);
        Py_XDECREF((PyObject *)programs);
        for (Py_ssize_t k = 0; k < node->count + 3; k++)
            Py_XDECREF(argv[k]);
    }
    if (argv != space)
        PyMem_Free(argv);
    return result;
}
