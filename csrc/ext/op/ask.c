/* Asking: an operator's function, with Operands for its arrays; and its kernel, with
 * arrays of one element or of no memory. */
#include "ext/op/op.h"

#include <string.h>

/* --- operands as the function sees them --- */

static PyObject *
shape_of(PyArrayObject *array)
{
    int64_t shape[DT_MAX_NDIM];
    return ext_tuple(shape, ext_array_shape(shape, array));
}

PyArrayObject *
op_array(PyObject *object)
{
    return (PyArrayObject *)(ext_is_tensor(object) ? ((TensorObject *)object)->array
                                                   : object);
}

static PyObject *
meta_of(int index, PyObject *object)
{
    op_kind kind = op_kind_of(object);
    PyObject *shape, *dtype, *layout = Py_None;
    if (kind == OP_DTENSOR || kind == OP_LAYOUT) {
        layout =
            kind == OP_LAYOUT ? object : (PyObject *)((DTensorObject *)object)->layout;
        shape = Py_NewRef(((LayoutObject *)layout)->shape);
        dtype = (PyObject *)ext_descr(((LayoutObject *)layout)->layout->dtype);
    } else if (kind == OP_NUMBER) {
        shape = PyTuple_New(0);
        dtype = Py_NewRef(Py_None);
    } else {
        shape = shape_of(op_array(object));
        dtype = Py_NewRef((PyObject *)PyArray_DESCR(op_array(object)));
    }
    PyObject *meta = shape == NULL || dtype == NULL
                         ? NULL
                         : ext_operand(index, shape, dtype, layout);
    if (meta != NULL && kind == OP_NUMBER)
        ((OperandObject *)meta)->number = (PyObject *)Py_TYPE(object);
    Py_XDECREF(shape);
    Py_XDECREF(dtype);
    return meta;
}

static PyObject *
next_meta(const op_maker *m, int *next)
{
    if (*next < m->call->operand_count)
        return Py_NewRef(m->metas[(*next)++]);
    return PyErr_Format(PyExc_RuntimeError, "%U: a list changed while it was read",
                        m->call->op->name);
}

/* The Operand of an object that key.c has read as one, else a constant. */
static PyObject *
put_meta(const op_maker *m, PyObject *object, bool expected, int *next)
{
    op_kind kind = op_kind_of(object);
    bool number = kind == OP_NUMBER || kind == OP_SCALAR;
    if (!op_is_array(kind, m->call) && !(expected && number))
        return op_static_copy(object);
    return next_meta(m, next);
}

/* An argument with Operands in the place of operands, in the order of key.c. */
static PyObject *
put_metas(const op_maker *m, PyObject *argument, bool expected, int *next)
{
    if (!op_holds_arrays(argument, m->call))
        return expected && op_is_numbers(argument)
                   ? next_meta(m, next)
                   : put_meta(m, argument, expected, next);
    Py_ssize_t count = PySequence_Fast_GET_SIZE(argument);
    PyObject *copy = PyList_New(count);
    for (Py_ssize_t k = 0; copy != NULL && k < count; k++)
        ext_put(&copy, k, put_meta(m, PySequence_Fast_ITEMS(argument)[k], true, next));
    return copy;
}

PyObject *
op_keyword(const OperatorObject *op, PyObject *name)
{
    if (!op->dim && PyUnicode_CompareWithASCIIString(name, "dim") == 0)
        return PyUnicode_FromString("axis");
    if (!op->keepdim && PyUnicode_CompareWithASCIIString(name, "keepdim") == 0)
        return PyUnicode_FromString("keepdims");
    return Py_NewRef(name);
}

PyObject *
op_keywords(const op_call *call)
{
    if (call->kwnames == NULL)
        return NULL;
    Py_ssize_t count = PyTuple_GET_SIZE(call->kwnames);
    PyObject *names = PyTuple_New(count);
    for (Py_ssize_t k = 0; names != NULL && k < count; k++)
        ext_put(&names, k, op_keyword(call->op, PyTuple_GET_ITEM(call->kwnames, k)));
    return names;
}

bool
op_says(const OperatorObject *op, const char *name)
{
    return op->dict != NULL && PyDict_GetItemString(op->dict, name) == Py_True;
}

static int
make_metas(const op_maker *m)
{
    for (int k = 0; k < m->call->operand_count; k++) {
        m->metas[k] = meta_of(k, m->call->operands[k]);
        if (m->metas[k] == NULL)
            return -1;
        OperandObject *meta = (OperandObject *)m->metas[k];
        bool last = k == m->call->operand_count - 1;
        int told = last ? op_told(m->call->op, m->call->operands[k]) : 0;
        meta->zero = last && m->call->by_zero;
        meta->value = told == 0 ? NULL : PyTuple_GET_ITEM(m->call->op->told, told - 1);
    }
    return 0;
}

/* The call's arguments with Operands for its arrays, as the function takes them. */
static int
make_arguments(const op_maker *m, PyObject **args, PyObject **kwargs)
{
    const op_call *call = m->call;
    Py_ssize_t keywords = call->kwnames == NULL ? 0 : PyTuple_GET_SIZE(call->kwnames);
    *args = PyTuple_New(call->nargs);
    *kwargs = PyDict_New();
    bool good = *args != NULL && *kwargs != NULL;
    int next = 0;
    for (Py_ssize_t k = 0; good && k < call->nargs + keywords; k++) {
        PyObject *value = put_metas(m, call->args[k], op_is_expected(call, k), &next);
        good = value != NULL;
        if (good && k < call->nargs)
            PyTuple_SET_ITEM(*args, k, value);
        else if (good) {
            PyObject *name =
                op_keyword(call->op, PyTuple_GET_ITEM(call->kwnames, k - call->nargs));
            good = name != NULL && PyDict_SetItem(*kwargs, name, value) == 0;
            Py_XDECREF(name);
            Py_DECREF(value);
        }
    }
    if (good && call->out != NULL && op_says(call->op, "casts_out")) {
        PyObject *dtype = (PyObject *)ext_descr(call->out->layout->dtype);
        good = dtype != NULL && PyDict_SetItemString(*kwargs, "out", dtype) == 0;
        Py_XDECREF(dtype);
    }
    return good ? 0 : -1;
}

/* --- the kernel's arguments --- */

/* One argument with `stand` deciding what stands for an operand. */
typedef PyObject *(*stand_in)(const op_maker *m, OperandObject *meta);

static PyObject *
substitute(const op_maker *m, PyObject *argument, stand_in stand)
{
    if (Py_TYPE(argument) == &ext_operand_type)
        /* Not that of an answer that was kept. */
        return stand(m, (OperandObject *)m->metas[((OperandObject *)argument)->index]);
    bool list = PyList_CheckExact(argument), tuple = PyTuple_CheckExact(argument);
    if (!list && !tuple)
        return Py_NewRef(argument);
    Py_ssize_t count = PySequence_Fast_GET_SIZE(argument);
    PyObject *copy = list ? PyList_New(count) : PyTuple_New(count);
    for (Py_ssize_t k = 0; copy != NULL && k < count; k++)
        ext_put(&copy, k, substitute(m, PySequence_Fast_ITEMS(argument)[k], stand));
    return copy;
}

/* An array of one element, of as many dimensions. */
static PyObject *
one_of(const op_maker *m, OperandObject *meta)
{
    if (meta->dtype == Py_None)
        return Py_NewRef(m->call->operands[meta->index]);
    npy_intp ones[DT_MAX_NDIM];
    int ndim = (int)PyTuple_GET_SIZE(meta->shape);
    for (int d = 0; d < ndim; d++)
        ones[d] = 1;
    PyObject *array =
        PyArray_NewFromDescr(&PyArray_Type, (PyArray_Descr *)Py_NewRef(meta->dtype),
                             ndim, ones, NULL, NULL, 0, NULL);
    PyObject *one = array == NULL ? NULL : PyLong_FromLong(1);
    if (one == NULL || PyArray_FillWithScalar((PyArrayObject *)array, one) < 0)
        Py_CLEAR(array);
    Py_XDECREF(one);
    return array;
}

/* An array that takes no memory. */
static PyObject *
hollow(PyArray_Descr *descr, PyObject *shape, int flags)
{
    static char element[64]; /* as long as the largest one */
    npy_intp lengths[DT_MAX_NDIM], strides[DT_MAX_NDIM];
    int ndim = (int)PyTuple_GET_SIZE(shape);
    for (int d = 0; d < ndim; d++) {
        lengths[d] = (npy_intp)PyLong_AsLongLong(PyTuple_GET_ITEM(shape, d));
        strides[d] = 0;
    }
    return PyArray_NewFromDescr(&PyArray_Type, descr, ndim, lengths, strides, element,
                                flags, NULL);
}

/* An array of the whole shape. */
static PyObject *
whole_of(const op_maker *m, OperandObject *meta)
{
    if (meta->dtype == Py_None)
        return Py_NewRef(m->call->operands[meta->index]);
    return hollow((PyArray_Descr *)Py_NewRef(meta->dtype), meta->shape, 0);
}

/* Calls without NumPy's floating-point warnings: they would not be the user's. */
static PyObject *
call_quietly(PyObject *kernel, PyObject *args, PyObject *kwargs)
{
    static PyObject *errstate;
    if (ext_import(&errstate, "numpy", "errstate") == NULL)
        return NULL;
    PyObject *none = PyTuple_New(0), *options = Py_BuildValue("{s:s}", "all", "ignore");
    PyObject *quiet =
        none == NULL || options == NULL ? NULL : PyObject_Call(errstate, none, options);
    PyObject *entered =
        quiet == NULL ? NULL : PyObject_CallMethod(quiet, "__enter__", NULL);
    PyObject *result = NULL;
    if (entered != NULL) {
        PyObject *type, *error, *trace;
        result = PyObject_Call(kernel, args, kwargs);
        PyErr_Fetch(&type, &error, &trace);
        Py_XDECREF(
            PyObject_CallMethod(quiet, "__exit__", "OOO", Py_None, Py_None, Py_None));
        PyErr_Restore(type, error, trace);
    }
    Py_XDECREF(none);
    Py_XDECREF(options);
    Py_XDECREF(quiet);
    Py_XDECREF(entered);
    return result;
}

/* Something of the shape of `out`, which NumPy refuses before it writes. */
static int
add_out(PyObject *kwargs, LayoutObject *layout)
{
    PyArray_Descr *descr = ext_descr(layout->layout->dtype);
    PyObject *out =
        descr == NULL ? NULL : hollow(descr, layout->shape, NPY_ARRAY_WRITEABLE);
    int failed = out == NULL ? -1 : PyDict_SetItemString(kwargs, "out", out);
    Py_XDECREF(out);
    return failed;
}

PyObject *
op_try_kernel(const op_maker *m, bool whole)
{
    stand_in stand = whole ? whole_of : one_of;
    PyObject *args = substitute(m, m->kernel->args, stand);
    PyObject *kwargs = PyDict_New(), *given = m->kernel->kwargs;
    PyObject *key, *value;
    Py_ssize_t place = 0;
    bool good = args != NULL && kwargs != NULL;
    while (good && given != NULL && PyDict_Next(given, &place, &key, &value)) {
        PyObject *stood = substitute(m, value, stand);
        good = stood != NULL && PyDict_SetItem(kwargs, key, stood) == 0;
        /* A ufunc warns of `where` without `out`; when it is really called it will. */
        if (good && PyUnicode_CompareWithASCIIString(key, "where") == 0 &&
            op_is_ufunc(m->kernel->kernel))
            good = PyDict_SetItemString(kwargs, "out", Py_None) == 0;
        Py_XDECREF(stood);
    }
    if (good && whole && op_is_ufunc(m->kernel->kernel) && m->call->out != NULL)
        good = add_out(kwargs, m->call->out) == 0;
    PyObject *result = good ? call_quietly(m->kernel->kernel, args, kwargs) : NULL;
    Py_XDECREF(args);
    Py_XDECREF(kwargs);
    return result;
}

/* --- the answer --- */

_Thread_local PyObject *op_counted;

/* Such arrays as NumPy takes for a number, or for a list of lengths or axes. */
static void
note_counted(const op_maker *m, bool all)
{
    enum { MOST = 64 }; /* dims of an array */
    for (int k = 0; k < m->call->operand_count; k++) {
        PyObject *object = m->call->operands[k];
        const OperandObject *meta = (OperandObject *)m->metas[k];
        if (!PyArray_Check(object) || !PyArray_ISINTEGER((PyArrayObject *)object) ||
            PyArray_SIZE((PyArrayObject *)object) > MOST)
            continue;
        bool number = PyArray_NDIM((PyArrayObject *)object) == 0 && meta->counted;
        if (number || meta->listed || (all && k > 0))
            Py_XSETREF(op_counted, Py_NewRef(object));
    }
}

static int
take_answer(op_maker *m, PyObject *answer, PyObject **dtypes)
{
    Py_ssize_t count = PyTuple_CheckExact(answer) ? PyTuple_GET_SIZE(answer) : 0;
    if (count < 2 || count > 3 ||
        Py_TYPE(PyTuple_GET_ITEM(answer, 0)) != &ext_rule_type ||
        Py_TYPE(PyTuple_GET_ITEM(answer, 1)) != &ext_call_type)
        return ext_fail(PyExc_TypeError,
                        "the function of operator %U gives back a Rule, a Call and "
                        "perhaps dtypes, not %R",
                        m->call->op->name, answer);
    m->rule = (RuleObject *)Py_NewRef(PyTuple_GET_ITEM(answer, 0));
    m->kernel = (CallObject *)Py_NewRef(PyTuple_GET_ITEM(answer, 1));
    *dtypes = count == 3 ? PyTuple_GET_ITEM(answer, 2) : Py_None;
    m->gave_dtypes = *dtypes != Py_None;
    int wanted = dt_rule_operands(m->rule->rule);
    if (wanted == m->call->operand_count)
        return 0;
    if (wanted < m->call->operand_count) {
        note_counted(m, true);
        return ext_fail(PyExc_TypeError,
                        "%U: %d arguments are arrays or tensors, where %d can be; give "
                        "numbers for the others, as of x.item() or x.tolist()",
                        m->call->op->name, m->call->operand_count, wanted);
    }
    return ext_fail(PyExc_SystemError,
                    "the rule %U of operator %U has %d operands, but the call %d",
                    m->rule->text, m->call->op->name, wanted, m->call->operand_count);
}

/* Puts the user's own rule in the place of the operator's. */
static int
replace_rule(op_maker *m, PyObject *args, PyObject *kwargs)
{
    Py_ssize_t count = PyTuple_GET_SIZE(args);
    PyObject *more = PyTuple_New(count + 1);
    if (more == NULL)
        return -1;
    PyTuple_SET_ITEM(more, 0, Py_NewRef((PyObject *)m->rule));
    for (Py_ssize_t k = 0; k < count; k++)
        PyTuple_SET_ITEM(more, k + 1, Py_NewRef(PyTuple_GET_ITEM(args, k)));
    PyObject *rule = PyObject_Call(op_replacement(m->call->op), more, kwargs);
    Py_DECREF(more);
    if (rule != NULL && Py_TYPE(rule) != &ext_rule_type) {
        PyErr_Format(PyExc_TypeError, "operator %U: %R is no Rule", m->call->op->name,
                     rule);
        Py_CLEAR(rule);
    }
    if (rule == NULL)
        return -1;
    Py_SETREF(m->rule, (RuleObject *)rule);
    return 0;
}

/* Whether the answer is (operator, how many arguments it gets). */
static bool
is_passed_on(const op_maker *m, PyObject *answer)
{
    return PyTuple_CheckExact(answer) && PyTuple_GET_SIZE(answer) == 2 &&
           Py_TYPE(PyTuple_GET_ITEM(answer, 0)) == Py_TYPE(m->call->op) &&
           PyLong_CheckExact(PyTuple_GET_ITEM(answer, 1));
}

/* "dot: argument 2 is None" or "... is of type str, and no array". */
static void
say_no_array(PyObject *function, Py_ssize_t place, PyObject *object)
{
    PyObject *name = PyObject_GetAttrString(function, "__name__");
    PyErr_Clear();
    if (object == Py_None)
        PyErr_Format(PyExc_TypeError, "%S: argument %zd is None, and no array",
                     name != NULL ? name : function, place);
    else
        PyErr_Format(PyExc_TypeError, "%S: argument %zd is of type %s, and no array",
                     name != NULL ? name : function, place, Py_TYPE(object)->tp_name);
    Py_XDECREF(name);
}

void
op_error_of_no_array(PyObject *function, PyObject *args)
{
    if (!PyErr_ExceptionMatches(PyExc_AttributeError))
        return;
    PyObject *type, *error, *traceback;
    PyErr_Fetch(&type, &error, &traceback);
    PyErr_NormalizeException(&type, &error, &traceback);
    PyObject *object = PyObject_GetAttrString(error, "obj");
    PyErr_Clear();
    Py_ssize_t count = object == NULL ? 0 : PyTuple_GET_SIZE(args), place = 0;
    while (place < count && PyTuple_GET_ITEM(args, place) != object)
        place++;
    bool ours = place < count &&
                (ext_is_tensor(object) || Py_TYPE(object) == &ext_operand_type);
    if (place == count || ours)
        PyErr_Restore(type, error, traceback);
    else {
        say_no_array(function, place + 1, object);
        Py_DECREF(type);
        Py_XDECREF(error);
        Py_XDECREF(traceback);
    }
    Py_XDECREF(object);
}

/* Calls the function. What has other words for the arguments does not know the rules of
 * users. */
static PyObject *
call_function(const OperatorObject *op, PyObject *args, PyObject *kwargs)
{
    if (op->otherwise != NULL && op_replacement(op) != NULL)
        return Py_NewRef(op->otherwise);
    PyObject *answer = PyObject_Call(op->function, args, kwargs);
    if (answer == NULL)
        op_error_of_no_array((PyObject *)op, args);
    if (answer == Py_None && op->otherwise != NULL)
        Py_SETREF(answer, Py_NewRef(op->otherwise));
    return answer;
}

int
op_ask(op_maker *m, PyObject **answer, PyObject **dtypes)
{
    PyObject *args = NULL, *kwargs = NULL;
    *answer = NULL;
    if (make_metas(m) < 0)
        return -1;
    *answer = *dtypes = op_answer_find(m);
    if (*answer != NULL)
        return 0;
    int failed = make_arguments(m, &args, &kwargs);
    if (failed == 0) {
        *answer = call_function(m->call->op, args, kwargs);
        failed = *answer == NULL ? -1 : 0;
        if (failed < 0)
            note_counted(m, false);
    }
    if (failed == 0 && Py_TYPE(*answer) == &ext_operand_type) {
        m->entry->passes = -1;
        failed = *answer == m->metas[0]
                     ? 0
                     : ext_fail(PyExc_SystemError, "%U gives an operand, but the first",
                                m->call->op->name);
    } else if (failed == 0 && is_passed_on(m, *answer)) {
        Py_ssize_t count = PyLong_AsSsize_t(PyTuple_GET_ITEM(*answer, 1));
        bool fits = count > 0 && count <= m->call->nargs && m->call->kwnames == NULL;
        Py_SETREF(*answer, Py_NewRef(PyTuple_GET_ITEM(*answer, 0)));
        m->entry->passes = count;
        failed = fits ? 0
                      : ext_fail(PyExc_SystemError, "%U passes on %zd arguments",
                                 m->call->op->name, count);
    } else if (failed == 0 && !PyCallable_Check(*answer))
        failed = take_answer(m, *answer, dtypes);
    if (failed == 0 && m->rule != NULL && op_replacement(m->call->op) != NULL)
        failed = replace_rule(m, args, kwargs);
    Py_XDECREF(args);
    Py_XDECREF(kwargs);
    return failed;
}
