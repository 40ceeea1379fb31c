/* Watching operators, moves and collectives. */
#include "ext/watch.h"

PyObject *watch_on_operator, *watch_on_move;
_Thread_local const op_call *watch_inside;
static _Thread_local PyObject *teller;

/* --- operators --- */

enum { SOURCE, TARGET, RESULT };

/* The layouts of operands, or of results, as a tuple. */
static PyObject *
layouts_of(const op_entry *entry, int which)
{
    int count = which == RESULT ? entry->result_count : entry->operand_count;
    PyObject *tuple = PyTuple_New(count);
    for (int k = 0; tuple != NULL && k < count; k++) {
        LayoutObject *layout;
        if (which == RESULT)
            layout = entry->results[k].layout;
        else {
            const op_operand *operand = &entry->operands[k];
            layout =
                which == TARGET && operand->to != NULL ? operand->to : operand->from;
        }
        PyTuple_SET_ITEM(tuple, k, Py_NewRef((PyObject *)layout));
    }
    return tuple;
}

static PyObject *
arguments_of(const op_call *call, PyObject **kwargs)
{
    Py_ssize_t keywords = call->kwnames == NULL ? 0 : PyTuple_GET_SIZE(call->kwnames);
    PyObject *args = PyTuple_New(call->nargs);
    *kwargs = PyDict_New();
    for (Py_ssize_t k = 0; args != NULL && k < call->nargs; k++)
        PyTuple_SET_ITEM(args, k, Py_NewRef(call->args[k]));
    for (Py_ssize_t k = 0; *kwargs != NULL && k < keywords; k++)
        if (PyDict_SetItem(*kwargs, PyTuple_GET_ITEM(call->kwnames, k),
                           call->args[call->nargs + k]) < 0)
            Py_CLEAR(*kwargs);
    return args;
}

/* What the watcher gives back: called after the operator, unless it is None. A watcher
 * that raises changes nothing: this rank would be the only one that fails. */
static PyObject *
tell_operator(const op_entry *entry, const op_call *call)
{
    PyObject *kwargs, *args = arguments_of(call, &kwargs);
    PyObject *sources = layouts_of(entry, SOURCE), *targets = layouts_of(entry, TARGET);
    PyObject *results = layouts_of(entry, RESULT);
    PyObject *hook = Py_NewRef(watch_on_operator), *answer = NULL;
    if (args != NULL && kwargs != NULL && sources != NULL && targets != NULL &&
        results != NULL)
        answer = PyObject_CallFunction(hook, "OOOOOOdO", call->op, args, kwargs,
                                       sources, targets, results, entry->seconds,
                                       call->layout == NULL ? Py_False : Py_True);
    if (answer == NULL)
        PyErr_WriteUnraisable(hook);
    Py_DECREF(hook);
    Py_XDECREF(args);
    Py_XDECREF(kwargs);
    Py_XDECREF(sources);
    Py_XDECREF(targets);
    Py_XDECREF(results);
    return answer;
}

PyObject *
watch_run(const op_entry *entry, const op_call *call, PyObject *out)
{
    const op_call *outer = watch_inside;
    PyObject *after = entry->composite != NULL ? NULL : tell_operator(entry, call);
    watch_inside = call;
    PyObject *result = op_run(entry, call, out);
    watch_inside = outer;
    if (after != NULL && after != Py_None) {
        PyObject *type, *error, *trace;
        PyErr_Fetch(&type, &error, &trace);
        PyObject *answer = PyObject_CallNoArgs(after);
        if (answer == NULL)
            PyErr_WriteUnraisable(after);
        Py_XDECREF(answer);
        PyErr_Restore(type, error, trace);
    }
    Py_XDECREF(after);
    return result;
}

/* --- moves --- */

/* A layout as Python knows it, or one of the mesh of another that it knows; else its
 * text: it may be of a mesh without an object. */
static PyObject *
as_object(const dt_layout *layout, const dt_layout *other)
{
    char text[1024];
    const LayoutObject *known = other->owner;
    if (layout->owner != NULL)
        return Py_NewRef((PyObject *)layout->owner);
    if (known != NULL && layout->mesh == other->mesh) {
        dt_layout_retain(layout);
        return (PyObject *)ext_layout(layout, known->mesh);
    }
    dt_layout_print(text, sizeof text, layout);
    return PyUnicode_FromString(text);
}

void
watch_move(const ext_item *items, int count, const char *what)
{
    Py_CLEAR(teller);
    PyObject *sources = PyTuple_New(count), *targets = PyTuple_New(count);
    for (int k = 0; k < count && sources != NULL && targets != NULL; k++) {
        PyObject *from = as_object(items[k].from, items[k].to);
        PyObject *to = from == NULL ? NULL : as_object(items[k].to, items[k].from);
        if (from != NULL)
            PyTuple_SET_ITEM(sources, k, from);
        if (to != NULL)
            PyTuple_SET_ITEM(targets, k, to);
        else
            Py_CLEAR(sources);
    }
    PyObject *hook = Py_NewRef(watch_on_move), *answer = NULL;
    if (sources != NULL && targets != NULL)
        answer = PyObject_CallFunction(hook, "sOO", what, sources, targets);
    if (answer == NULL)
        PyErr_WriteUnraisable(hook);
    Py_DECREF(hook);
    Py_XDECREF(sources);
    Py_XDECREF(targets);
    if (answer == Py_None)
        Py_CLEAR(answer);
    teller = answer;
}

PyObject *
watch_take_teller(void)
{
    PyObject *taken = teller;
    teller = NULL;
    return taken;
}

/* [(rank, bytes), ...] of the ranks that something was sent to; they are set to 0. */
static PyObject *
peers_of(int64_t *sent, int size)
{
    PyObject *list = PyList_New(0);
    for (int rank = 0; rank < size && list != NULL; rank++) {
        if (sent[rank] == 0)
            continue;
        PyObject *pair = Py_BuildValue("(iL)", rank, (long long)sent[rank]);
        if (pair == NULL || PyList_Append(list, pair) < 0)
            Py_CLEAR(list);
        Py_XDECREF(pair);
        sent[rank] = 0;
    }
    return list;
}

/* Adds (name, begin, end, bytes, messages, peers) to a list, and steals `peers`. On
 * failure the list is cleared. */
static void
add_deed(PyObject **list, const dt_event *deed, PyObject *peers)
{
    PyObject *item = peers == NULL
                         ? NULL
                         : Py_BuildValue("(sddLLN)", dt_step_name(deed->kind),
                                         deed->begin, deed->end, (long long)deed->bytes,
                                         (long long)deed->messages, peers);
    if (item == NULL || PyList_Append(*list, item) < 0)
        Py_CLEAR(*list);
    Py_XDECREF(item);
}

static PyObject *
deeds_of(const dt_run *run, int size)
{
    int64_t *sent = PyMem_Calloc((size_t)size, sizeof *sent);
    PyObject *list = sent == NULL ? PyErr_NoMemory() : PyList_New(0);
    dt_event deed;
    for (int at = 0; list != NULL && (at = dt_run_event(&deed, sent, run, at)) > 0;)
        add_deed(&list, &deed, peers_of(sent, size));
    PyMem_Free(sent);
    return list;
}

/* Steals both. */
static void
tell(PyObject *given, PyObject *deeds)
{
    PyObject *answer = deeds == NULL ? NULL : PyObject_CallOneArg(given, deeds);
    if (answer == NULL)
        PyErr_WriteUnraisable(given);
    Py_XDECREF(answer);
    Py_XDECREF(deeds);
    Py_DECREF(given);
}

void
watch_tell(PyObject *given, const dt_run *run, const dt_world *world)
{
    PyObject *type, *error, *trace;
    PyErr_Fetch(&type, &error, &trace);
    tell(given, deeds_of(run, world->transport->size));
    PyErr_Restore(type, error, trace);
}

void
watch_tell_counted(PyObject *given, const dt_event *deeds, int count)
{
    PyObject *list = PyList_New(0);
    for (int k = 0; k < count && list != NULL; k++)
        add_deed(&list, &deeds[k], PyList_New(0));
    tell(given, list);
}

/* --- the module's functions --- */

const char watch_doc[] =
    "_watch(on_operator, on_move, /)\n--\n\n"
    "Set who is told of operators and moves, None: nobody.\n\n"
    "Parameters\n----------\n"
    "on_operator : callable or None\n"
    "    ``on_operator(operator, args, kwargs, sources, targets, results, seconds,\n"
    "    distributed)`` is called before an operator runs, with the layouts of\n"
    "    operands, what they are moved to, and of results. What it returns is called\n"
    "    after it, unless that is None.\n"
    "on_move : callable or None\n"
    "    ``on_move(what, sources, targets)`` is called before arrays move, with "
    "layouts\n"
    "    or their texts. What it returns, unless that is None, is called when what\n"
    "    sends anything has ended, with a list of\n"
    "    (name, begin, end, bytes, messages, [(rank, bytes), ...]).\n";

PyObject *
watch_set(PyObject *Py_UNUSED(module), PyObject *args)
{
    PyObject *on_operator, *on_move;
    if (!PyArg_ParseTuple(args, "OO:_watch", &on_operator, &on_move))
        return NULL;
    Py_XSETREF(watch_on_operator,
               on_operator == Py_None ? NULL : Py_NewRef(on_operator));
    Py_XSETREF(watch_on_move, on_move == Py_None ? NULL : Py_NewRef(on_move));
    Py_RETURN_NONE;
}

/* Takes a call apart as an abstract one, where layouts may stand for DTensors. */
PyObject *
watch_rule(PyObject *Py_UNUSED(module), PyObject *const *args, Py_ssize_t nargs,
           PyObject *kwnames)
{
    if (nargs < 1 || Py_TYPE(args[0]) != &ext_operator_type)
        return PyErr_Format(PyExc_TypeError, "_rule: expected an Operator");
    op_call call;
    op_maker m = {.call = &call};
    PyObject *answer = NULL, *dtypes, *rule = NULL;
    if (op_call_read(&call, (OperatorObject *)args[0], args + 1, nargs - 1, kwnames,
                     NULL, true) == 0) {
        m.metas = PyMem_Calloc((size_t)call.operand_count + 1, sizeof *m.metas);
        if (m.metas == NULL)
            PyErr_NoMemory();
        else if (op_ask(&m, &answer, &dtypes) == 0)
            rule = Py_NewRef(m.rule == NULL ? Py_None : (PyObject *)m.rule);
    }
    for (int k = 0; m.metas != NULL && k < call.operand_count; k++)
        Py_XDECREF(m.metas[k]);
    PyMem_Free(m.metas);
    Py_XDECREF(answer);
    Py_XDECREF(m.rule);
    Py_XDECREF(m.kernel);
    op_call_clear(&call);
    return rule;
}

const char watch_rule_doc[] =
    "_rule(operator, /, *args, **kwargs)\n--\n\n"
    "Return the Rule of a call with tensors or Layouts, or None of a composite.\n\n"
    "Raises\n------\n"
    "TypeError\n    If the first argument is no Operator, and what the call raises.\n";
