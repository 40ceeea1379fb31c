/* Operator: what is called for an operator, from Python or from NumPy. */
#include "ext/dispatch/dispatch.h"

#include <stddef.h>

/* A call with its `out` taken away. */
static PyObject *
call_with_out(OperatorObject *self, PyObject *const *args, Py_ssize_t nargs,
              PyObject *kwnames, Py_ssize_t place)
{
    Py_ssize_t keywords = PyTuple_GET_SIZE(kwnames), n = 0;
    PyObject **rest = PyMem_New(PyObject *, (size_t)(nargs + keywords));
    PyObject *names = PyTuple_New(keywords - 1);
    PyObject *result = NULL;
    if (rest != NULL && names != NULL) {
        for (Py_ssize_t k = 0; k < nargs; k++)
            rest[k] = args[k];
        for (Py_ssize_t k = 0; k < keywords; k++)
            if (k != place) {
                rest[nargs + n] = args[nargs + k];
                PyTuple_SET_ITEM(names, n++, Py_NewRef(PyTuple_GET_ITEM(kwnames, k)));
            }
        PyObject *out = args[nargs + place];
        if (out == Py_None)
            result = PyObject_Vectorcall((PyObject *)self, rest, (size_t)nargs, names);
        else
            result = op_call_out(self, rest, nargs, names, out);
    } else if (!PyErr_Occurred())
        PyErr_NoMemory();
    PyMem_Free(rest);
    Py_XDECREF(names);
    return result;
}

/* A call whose `out` is given by position: it and what follows become keywords. */
static PyObject *
call_with_names(OperatorObject *self, PyObject *const *args, Py_ssize_t nargs,
                PyObject *kwnames)
{
    if (self->otherwise != NULL) /* there are too many */
        return PyObject_Vectorcall(self->otherwise, args, (size_t)nargs, kwnames);
    Py_ssize_t named = nargs - self->out;
    Py_ssize_t count = named + (kwnames == NULL ? 0 : PyTuple_GET_SIZE(kwnames));
    PyObject *code = PyObject_GetAttrString(self->function, "__code__");
    PyObject *known = code == NULL ? NULL : PyObject_GetAttrString(code, "co_varnames");
    PyObject *names = known == NULL ? NULL : PyTuple_New(count), *result = NULL;
    for (Py_ssize_t k = 0; names != NULL && k < count; k++) {
        PyObject *name = k < named ? PyTuple_GET_ITEM(known, self->out + k)
                                   : PyTuple_GET_ITEM(kwnames, k - named);
        PyTuple_SET_ITEM(names, k, Py_NewRef(name));
    }
    if (names != NULL && op_find_keyword(kwnames, "out") >= 0)
        PyErr_Format(PyExc_TypeError, "%U() got multiple values for argument 'out'",
                     self->name);
    else if (names != NULL)
        result = call_with_out(self, args, self->out, names, 0);
    Py_XDECREF(code);
    Py_XDECREF(known);
    Py_XDECREF(names);
    return result;
}

static PyObject *
called(PyObject *object, PyObject *const *args, size_t flags, PyObject *kwnames)
{
    OperatorObject *self = (OperatorObject *)object;
    if (tape_tracing != NULL)
        return tape_traced_call(object, args, flags, kwnames);
    if (op_aside.recorder != NULL)
        return op_call_recorded(object, args, flags, kwnames);
    if (op_aside.casts && self->autocast != NULL)
        return op_call_cast(self, args, flags, kwnames);
    Py_ssize_t nargs = PyVectorcall_NARGS(flags);
    if (kwnames != NULL && !op_in_order_of_names(kwnames))
        return op_call_sorted(self, args, nargs, kwnames);
    if (kwnames != NULL && self->otherwise != NULL)
        return op_call_in_words(self, args, nargs, kwnames);
    if (kwnames != NULL) {
        int places = op_has_places(self, kwnames);
        if (places != 0)
            return places < 0 ? NULL : op_call_placed(self, args, nargs, kwnames);
    }
    Py_ssize_t place = kwnames == NULL ? -1 : op_find_keyword(kwnames, "out");
    if (nargs > self->out && nargs <= self->positional)
        return call_with_names(self, args, nargs, kwnames);
    if (place >= 0)
        return call_with_out(self, args, nargs, kwnames, place);
    return op_call_in_order(self, args, nargs, kwnames);
}

static PyObject *
operator_call(PyObject *object, PyObject *const *args, size_t flags, PyObject *kwnames)
{
    PyObject *result = called(object, args, flags, kwnames);
    if (result == NULL && op_counted != NULL)
        result = op_call_counted(object, args, PyVectorcall_NARGS(flags), kwnames);
    if (result == NULL)
        op_error_in_torch(((OperatorObject *)object)->name, args,
                          PyVectorcall_NARGS(flags), kwnames);
    return result;
}

static PyObject *
operator_abstract(PyObject *self, PyObject *const *args, Py_ssize_t nargs,
                  PyObject *kwnames)
{
    op_call call;
    PyObject *results = NULL;
    op_entry *entry = NULL;
    if (op_call_read(&call, (OperatorObject *)self, args, nargs, kwnames, NULL, true) ==
        0)
        entry = op_entry_of(&call);
    if (entry != NULL && entry->composite != NULL)
        PyErr_Format(PyExc_NotImplementedError,
                     "%U is composed of several operators for these arguments",
                     call.op->name);
    else if (entry != NULL && entry->solo)
        PyErr_SetString(PyExc_TypeError, "abstract needs at least one Layout");
    else if (entry != NULL)
        results = op_layouts(entry, OP_RESULTS);
    PyObject *operands = results == NULL ? NULL : op_layouts(entry, OP_TARGETS);
    PyObject *answer = operands == NULL
                           ? NULL
                           : Py_BuildValue("(OOd)", results, operands, entry->seconds);
    Py_XDECREF(results);
    Py_XDECREF(operands);
    op_entry_release(entry);
    op_call_clear(&call);
    return answer;
}

/* For all calls from now on. */
static PyObject *
operator_replace_rule(PyObject *object, PyObject *replacement)
{
    OperatorObject *self = (OperatorObject *)object;
    Py_XSETREF(self->replacement,
               replacement == Py_None ? NULL : Py_NewRef(replacement));
    op_cache_forget(self);
    Py_RETURN_NONE;
}

/* --- the gradient --- */

static PyObject *
set_vjp(PyObject *object, PyObject *functions, bool all)
{
    OperatorObject *self = (OperatorObject *)object;
    struct tape_vjp *vjp = tape_vjp_new(functions, all);
    if (vjp == NULL)
        return NULL;
    tape_vjp_free(self->vjp);
    self->vjp = vjp;
    return Py_NewRef(object);
}

static PyObject *
operator_vjp(PyObject *self, PyObject *functions)
{
    return set_vjp(self, functions, false);
}

static PyObject *
operator_vjp_all(PyObject *self, PyObject *function)
{
    PyObject *functions = PyTuple_Pack(1, function);
    PyObject *answer = functions == NULL ? NULL : set_vjp(self, functions, true);
    Py_XDECREF(functions);
    return answer;
}

/* --- the type --- */

/* The names and defaults of parameters by place, of which the last one may be for all
 * further ones. From `out` on, arguments by position are for the other function. */
static int
read_words(OperatorObject *self, Py_ssize_t count, int out, PyObject *defaults)
{
    enum { HAS_REST = 4 }; /* inspect.CO_VARARGS */
    PyObject *code = PyObject_GetAttrString(self->function, "__code__");
    PyObject *names = code == NULL ? NULL : PyObject_GetAttrString(code, "co_varnames");
    PyObject *flags = code == NULL ? NULL : PyObject_GetAttrString(code, "co_flags");
    self->words = names == NULL ? NULL : PyTuple_GetSlice(names, 0, count);
    self->defaults = PyTuple_Check(defaults) ? Py_NewRef(defaults) : PyTuple_New(0);
    if (self->words != NULL && flags != NULL) {
        bool rest = (PyLong_AsLong(flags) & HAS_REST) != 0;
        self->out = rest ? PY_SSIZE_T_MAX : out >= 0 ? out : count;
        self->positional = PY_SSIZE_T_MAX;
    }
    Py_XDECREF(code);
    Py_XDECREF(names);
    Py_XDECREF(flags);
    return PyErr_Occurred() ? -1 : 0;
}

/* An `out` without a default is an operand: the result of another operator. */
static int
read_parameters(OperatorObject *self)
{
    int dim, keepdim, out;
    Py_ssize_t count = 0;
    if (op_find_parameter(&dim, &count, self->function, "dim") < 0 ||
        op_find_parameter(&keepdim, &count, self->function, "keepdim") < 0 ||
        op_find_parameter(&out, &count, self->function, "out") < 0)
        return -1;
    PyObject *defaults = PyObject_GetAttrString(self->function, "__defaults__");
    if (defaults == NULL)
        return -1;
    Py_ssize_t given = PyTuple_Check(defaults) ? PyTuple_GET_SIZE(defaults) : 0;
    self->dim = dim >= 0;
    self->keepdim = keepdim >= 0;
    self->positional = count;
    self->out = out >= count - given && out < count ? out : PY_SSIZE_T_MAX;
    int failed = self->otherwise == NULL ? 0 : read_words(self, count, out, defaults);
    Py_DECREF(defaults);
    return failed;
}

/* What is that of its base, but for its function. */
static int
follow_base(OperatorObject *self, PyObject *base)
{
    if (base == Py_None)
        return 0;
    if (Py_TYPE(base) != &ext_operator_type)
        return ext_fail(PyExc_TypeError, "the base of an operator is one, not %R",
                        base);
    const OperatorObject *of = (OperatorObject *)base;
    self->base = Py_NewRef(base);
    self->view = of->view;
    self->copies = of->copies;
    self->divides = of->divides;
    self->vjp = of->vjp == NULL ? NULL : tape_vjp_copy(of->vjp);
    return of->vjp != NULL && self->vjp == NULL ? -1 : 0;
}

static PyObject *
operator_new(PyTypeObject *type, PyObject *args, PyObject *kwargs)
{
    static char *names[] = {"function",  "name", "operands", "agrees",
                            "otherwise", "base", "told",     NULL};
    PyObject *function, *name;
    PyObject *agrees = Py_None, *otherwise = Py_None, *base = Py_None, *told = NULL;
    int operands = 1;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "OU|iOOOO!:Operator", names,
                                     &function, &name, &operands, &agrees, &otherwise,
                                     &base, &PyTuple_Type, &told))
        return NULL;
    OperatorObject *self = (OperatorObject *)type->tp_alloc(type, 0);
    if (self == NULL)
        return NULL;
    self->vectorcall = operator_call;
    self->function = Py_NewRef(function);
    self->name = Py_NewRef(name);
    self->text = PyUnicode_AsUTF8(name);
    self->local = self->text == NULL ? 0 : ext_local_name(self->text);
    self->operands = operands;
    self->agrees = agrees == Py_None ? NULL : Py_NewRef(agrees);
    self->otherwise = otherwise == Py_None ? NULL : Py_NewRef(otherwise);
    self->told = told == NULL || PyTuple_GET_SIZE(told) == 0 ? NULL : Py_NewRef(told);
    self->doc =
        PyObject_GetAttrString(otherwise == Py_None ? function : otherwise, "__doc__");
    if (self->text == NULL || self->doc == NULL || read_parameters(self) < 0 ||
        follow_base(self, base) < 0)
        Py_CLEAR(self);
    return (PyObject *)self;
}

static void
operator_dealloc(PyObject *object)
{
    OperatorObject *self = (OperatorObject *)object;
    if (self->weakrefs != NULL)
        PyObject_ClearWeakRefs(object);
    Py_XDECREF(self->function);
    Py_XDECREF(self->name);
    Py_XDECREF(self->doc);
    Py_XDECREF(self->dict);
    Py_XDECREF(self->replacement);
    Py_XDECREF(self->agrees);
    Py_XDECREF(self->autocast);
    Py_XDECREF(self->otherwise);
    Py_XDECREF(self->words);
    Py_XDECREF(self->defaults);
    Py_XDECREF(self->base);
    Py_XDECREF(self->told);
    op_answers_free(self);
    tape_vjp_free(self->vjp);
    Py_TYPE(object)->tp_free(object);
}

static PyObject *
operator_bind(PyObject *self, PyObject *object, PyObject *Py_UNUSED(type))
{
    return object == NULL ? Py_NewRef(self) : PyMethod_New(self, object);
}

static PyObject *signature_of; /* called for `__signature__`; NULL: nobody has said */

/* `__signature__` is made when it is asked for; `inspect` looks for it. */
static PyObject *
operator_getattr(PyObject *self, PyObject *name)
{
    PyObject *found = PyObject_GenericGetAttr(self, name);
    if (found == NULL && signature_of != NULL &&
        PyErr_ExceptionMatches(PyExc_AttributeError) &&
        PyUnicode_CompareWithASCIIString(name, "__signature__") == 0) {
        PyErr_Clear();
        found = PyObject_CallOneArg(signature_of, self);
    }
    return found;
}

static PyObject *
operator_repr(PyObject *self)
{
    return PyUnicode_FromFormat("<operator %U>", ((OperatorObject *)self)->name);
}

static PyMemberDef operator_members[] = {
    {"__name__", T_OBJECT, offsetof(OperatorObject, name), READONLY, NULL},
    {"__qualname__", T_OBJECT, offsetof(OperatorObject, name), READONLY, NULL},
    {"__wrapped__", T_OBJECT, offsetof(OperatorObject, function), READONLY, NULL},
    {"__doc__", T_OBJECT, offsetof(OperatorObject, doc), READONLY, NULL},
    {"operands", T_INT, offsetof(OperatorObject, operands), READONLY,
     "How many leading parameters are arrays even if they are numbers."},
    {"autocast", T_OBJECT, offsetof(OperatorObject, autocast), 0,
     "What is called in its place, with the operator and its arguments, while\n"
     "`is_autocast`; or None."},
    {"otherwise", T_OBJECT, offsetof(OperatorObject, otherwise), READONLY,
     "A function that is called where its own gives None, or lacks a parameter; or\n"
     "None."},
    {"base", T_OBJECT, offsetof(OperatorObject, base), READONLY,
     "The operator of which it has gradient and attributes, and whose replaced rule\n"
     "it heeds; or None."},
    {"told", T_OBJECT, offsetof(OperatorObject, told), READONLY,
     "Numbers that its function is told by value, as `Operand.value` of the last\n"
     "operand; or None."},
    {"view", T_BOOL, offsetof(OperatorObject, view), 0,
     "Whether results share the memory of its only operand, as a rule: for counting\n"
     "the memory of tensors without data."},
    {"bare", T_BOOL, offsetof(OperatorObject, bare), 0,
     "Whether NumPy's scalars count as Python's numbers, as in PyTorch."},
    {"copies", T_BOOL, offsetof(OperatorObject, copies), 0,
     "Whether a result is a view only if nothing has to move, as its users know; that\n"
     "of other operators is read-only if it shows elements that had to move."},
    {"divides", T_BOOL, offsetof(OperatorObject, divides), 0,
     "Whether addends may be divided by its last operand: its function is told if "
     "that\n"
     "is 0, by `Operand.zero`."},
    {0},
};

static PyMethodDef operator_methods[] = {
    {"abstract", EXT_FAST(operator_abstract),
     "abstract($self, /, *args, **kwargs)\n--\n\n"
     "Return (layouts of the results, layouts that the operands are moved to, seconds\n"
     "that this takes), for Layouts in the place of DTensors: nothing is computed."},
    {"replace_rule", operator_replace_rule, METH_O,
     "replace_rule($self, replacement, /)\n--\n\n"
     "Take the rule from replacement(rule, *args, **kwargs); None: its own again."},
    {"vjp", operator_vjp, METH_VARARGS,
     "vjp($self, /, *functions)\n--\n\n"
     "Set the gradient: function k gets (grad, out, *args, **kwargs) and gives the\n"
     "gradient of operand k. A parameter with an underscore first is not kept: it "
     "comes\n"
     "as an Operand. None: no gradient. Return the operator."},
    {"vjp_all", operator_vjp_all, METH_O,
     "vjp_all($self, function, /)\n--\n\n"
     "Set the gradient: function(needs, grad, out, *args, **kwargs) gives a tuple "
     "with\n"
     "the gradient of each operand, or None. Return the operator."},
    {0},
};

PyTypeObject ext_operator_type = {
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = "dtensor._C.Operator",
    .tp_basicsize = sizeof(OperatorObject),
    .tp_flags =
        Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_VECTORCALL | Py_TPFLAGS_METHOD_DESCRIPTOR,
    .tp_new = operator_new,
    .tp_dealloc = operator_dealloc,
    .tp_repr = operator_repr,
    .tp_getattro = operator_getattr,
    .tp_call = PyVectorcall_Call,
    .tp_descr_get = operator_bind,
    .tp_vectorcall_offset = offsetof(OperatorObject, vectorcall),
    .tp_dictoffset = offsetof(OperatorObject, dict),
    .tp_weaklistoffset = offsetof(OperatorObject, weakrefs),
    .tp_members = operator_members,
    .tp_methods = operator_methods,
};

/* --- the module's functions --- */

static PyObject *
op_info(PyObject *Py_UNUSED(module), PyObject *Py_UNUSED(none))
{
    return op_cache_info();
}

static PyObject *
set_implicit_hook(PyObject *Py_UNUSED(module), PyObject *args)
{
    PyObject *hook;
    long long bytes;
    if (!PyArg_ParseTuple(args, "OL:set_implicit_hook", &hook, &bytes))
        return NULL;
    ext_implicit_bytes = bytes;
    Py_XSETREF(ext_implicit_hook, hook == Py_None ? NULL : Py_NewRef(hook));
    Py_RETURN_NONE;
}

static PyObject *
set_signature(PyObject *Py_UNUSED(module), PyObject *function)
{
    Py_XSETREF(signature_of, Py_NewRef(function));
    Py_RETURN_NONE;
}

static PyObject *
set_implicit_replication(PyObject *Py_UNUSED(module), PyObject *wanted)
{
    return ext_switch(&ext_implicit_replication, wanted);
}

static PyObject *
set_shortcuts(PyObject *Py_UNUSED(module), PyObject *wanted)
{
    return ext_switch(&op_shortcuts, wanted);
}

static PyObject *
shortcut_count(PyObject *Py_UNUSED(module), PyObject *Py_UNUSED(none))
{
    return PyLong_FromLongLong(op_shortcut_count);
}

static PyObject *
is_observed(PyObject *Py_UNUSED(module), PyObject *Py_UNUSED(none))
{
    return PyBool_FromLong(op_aside.recorder != NULL || op_aside.casts ||
                           watch_on_operator != NULL);
}

static PyObject *
is_implicit_replication(PyObject *Py_UNUSED(module), PyObject *Py_UNUSED(none))
{
    return PyBool_FromLong(ext_implicit_replication);
}

PyMethodDef ext_op_methods[] = {
    {"operator_cache_info", op_info, METH_NOARGS,
     "operator_cache_info()\n--\n\n"
     "Return how many calls of operators were known (hits) or new (misses), how many\n"
     "entries there are and at most."},
    {"set_implicit_hook", set_implicit_hook, METH_VARARGS,
     "set_implicit_hook(hook, bytes, /)\n--\n\n"
     "Call hook(name, from_layouts, to_layouts) before operands are sent, if one of "
     "them\n"
     "becomes whole and has so many bytes; 0: before all that are sent."},
    {"set_recorder", op_set_recorder, METH_O,
     "set_recorder(recorder, /)\n--\n\n"
     "Call recorder(operator, args, kwargs, result) after each operator that this\n"
     "thread calls, but not for those within; None: no more."},
    {"set_signature", set_signature, METH_O,
     "set_signature(function, /)\n--\n\n"
     "Let function(operator) make the signature that `inspect` sees."},
    {"set_implicit_replication", set_implicit_replication, METH_O,
     "set_implicit_replication(wanted, /)\n--\n\n"
     "Whether a Tensor beside a DTensor counts as replicated; return what was."},
    {"set_shortcuts", set_shortcuts, METH_O,
     "set_shortcuts(wanted, /)\n--\n\n"
     "Whether views and elementwise results are made without calling NumPy's "
     "function,\n"
     "where they have been made before; for all threads. Return what was."},
    {"shortcut_count", shortcut_count, METH_NOARGS,
     "shortcut_count()\n--\n\nReturn how many results were made so."},
    {"is_observed", is_observed, METH_NOARGS,
     "is_observed()\n--\n\n"
     "Return whether somebody is told of each operator that is called."},
    {"is_implicit_replication", is_implicit_replication, METH_NOARGS,
     "is_implicit_replication()\n--\n\n"
     "Return whether a Tensor beside a DTensor counts as replicated in this thread."},
    {0},
};
