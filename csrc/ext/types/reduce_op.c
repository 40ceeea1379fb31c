/* reduce_op.c: REDUCE_OPS, the table of core/facts/reduce_op.h as Python reads it. */
#include "ext/types/types.h"

static PyStructSequence_Field fields[] = {
    {"name", "As in Partial(name)."},
    {"torch", "The name of torch's ReduceOp, in lower case."},
    {"ufunc", "NumPy's ufunc that reduces addends like this, or None."},
    {"kinds", "Kinds of dtype that have it."},
    {"linear", "Whether it passes through linear functions."},
    {"idempotent", "Whether addends may all be the value."},
    {"identity", "'nothing', 'one', 'lowest' or 'highest': what changes no value."},
    {NULL, NULL},
};

static PyStructSequence_Desc description = {
    .name = "dtensor._C.ReduceOp",
    .doc = "A reduction that a Partial may be pending by.",
    .fields = fields,
    .n_in_sequence = sizeof fields / sizeof *fields - 1,
};

static const char *
identity_name(dt_reduce_identity_kind identity)
{
    switch (identity) {
    case DT_IDENTITY_NOTHING:
        return "nothing";
    case DT_IDENTITY_ONE:
        return "one";
    case DT_IDENTITY_LOWEST:
        return "lowest";
    case DT_IDENTITY_HIGHEST:
        return "highest";
    case DT_IDENTITY_COUNT:
        break;
    }
    return "";
}

static PyObject *
make_row(PyTypeObject *type, dt_reduce_op op)
{
    const dt_reduce_op_row *it = dt_reduce_op_get(op);
    PyObject *values = Py_BuildValue(
        "(ssssNNs)", it->name, it->torch, it->ufunc, it->kinds,
        PyBool_FromLong(dt_reduce_op_linear(op)),
        PyBool_FromLong(dt_reduce_op_idempotent(op)), identity_name(it->identity));
    PyObject *row = values == NULL ? NULL : PyStructSequence_New(type);
    for (Py_ssize_t k = 0; row != NULL && k < PyTuple_GET_SIZE(values); k++)
        PyStructSequence_SetItem(row, k, Py_NewRef(PyTuple_GET_ITEM(values, k)));
    Py_XDECREF(values);
    return row;
}

int
ext_add_reduce_ops(PyObject *module)
{
    PyTypeObject *type = PyStructSequence_NewType(&description);
    PyObject *rows = type == NULL ? NULL : PyTuple_New(DT_REDUCE_OP_COUNT);
    for (int op = 0; rows != NULL && op < DT_REDUCE_OP_COUNT; op++)
        ext_put(&rows, op, make_row(type, (dt_reduce_op)op));
    int failed = rows == NULL || PyModule_AddType(module, type) < 0 ||
                 PyModule_AddObjectRef(module, "REDUCE_OPS", rows) < 0;
    Py_XDECREF(rows);
    Py_XDECREF((PyObject *)type);
    return failed ? -1 : 0;
}
