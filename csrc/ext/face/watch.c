/* watch.c: what dtensor.debug asks of operators and moves. */
#include "ext/face/face.h"

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
