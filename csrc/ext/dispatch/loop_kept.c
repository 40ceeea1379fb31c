/* loop_kept.c: an entry's inner loop, asked for once, by the way that NumPy has for
 * compilers (`_resolve_dtypes_and_context`, `_get_strided_loop`). */
#include "ext/dispatch/loop.h"

enum { MOST_ELEMENTS = 8192 }; /* of a small result */

/* Whether the result is so small that the ufunc takes longer than its loop, or so large
 * that threads share the loop. */
static bool
is_worthwhile(const op_entry *entry, PyObject *const *argv)
{
    if (entry->solo || entry->large)
        return op_loop_is_shared(entry, argv);
    int64_t count = 1;
    for (int d = 0; d < entry->results[0].ndim; d++)
        count *= entry->results[0].shape[d];
    return entry->results[0].ndim > 0 && count > 0 &&
           (count <= MOST_ELEMENTS || op_loop_is_half(argv, (int)entry->positional));
}

/* A ufunc of NumPy's own, which `numpy` may not show (`clip`), that has no other arguments
 * than operands. */
static bool
is_elementwise(const op_entry *entry)
{
    static PyObject *own;
    if (!entry->ufunc || entry->kwnames != NULL || entry->result_count != 1 ||
        entry->positional > OP_SHORT || entry->slot_count != entry->positional)
        return false;
    for (int k = 0; k < entry->slot_count; k++)
        if (entry->slots[k].kind != SLOT_OPERAND)
            return false;
    if (own == NULL)
        own = PyImport_ImportModule("numpy._core.umath");
    PyObject *name = PyObject_GetAttrString(entry->kernel, "__name__");
    PyObject *known = own == NULL || name == NULL ? NULL : PyObject_GetAttr(own, name);
    PyErr_Clear(); /* it is another library's */
    PyObject *core = PyObject_GetAttrString(entry->kernel, "signature");
    bool good = known == entry->kernel && core == Py_None;
    Py_XDECREF(name);
    Py_XDECREF(known);
    Py_XDECREF(core);
    return good;
}

/* (dtype or type of each operand, None), as the ufunc is asked; NULL: not all of them are
 * NumPy's numbers, or there is no memory. */
static PyObject *
dtypes_of(const op_entry *entry, PyObject *const *argv)
{
    PyObject *dtypes = PyTuple_New(entry->positional + 1);
    for (Py_ssize_t k = 0; dtypes != NULL && k < entry->positional; k++) {
        PyObject *value = argv[k], *type = NULL;
        if (PyFloat_CheckExact(value) || PyLong_CheckExact(value))
            type = (PyObject *)Py_TYPE(value);
        else if (PyArray_CheckExact(value) &&
                 (PyArray_ISNUMBER((PyArrayObject *)value) ||
                  PyArray_ISBOOL((PyArrayObject *)value)))
            type = (PyObject *)PyArray_DESCR((PyArrayObject *)value);
        ext_put(&dtypes, k, Py_XNewRef(type));
    }
    if (dtypes != NULL)
        PyTuple_SET_ITEM(dtypes, entry->positional, Py_NewRef(Py_None));
    return dtypes;
}

/* The capsule with a ufunc's loop for these dtypes, or NULL. */
static PyObject *
ask(PyObject *ufunc, PyObject *dtypes)
{
    PyObject *answer =
        PyObject_CallMethod(ufunc, "_resolve_dtypes_and_context", "(O)", dtypes);
    PyObject *capsule =
        answer != NULL && PyTuple_Check(answer) && PyTuple_GET_SIZE(answer) == 2
            ? Py_NewRef(PyTuple_GET_ITEM(answer, 1))
            : NULL;
    PyObject *done =
        capsule == NULL || !PyCapsule_IsValid(capsule, LOOP_CAPSULE)
            ? NULL
            : PyObject_CallMethod(ufunc, "_get_strided_loop", "(O)", capsule);
    if (done == NULL)
        Py_CLEAR(capsule);
    Py_XDECREF(done);
    Py_XDECREF(answer);
    return capsule;
}

bool
op_loop_may_raise(const op_entry *entry, const op_loop *loop)
{
    const PyArray_Descr *result = loop->context->descriptors[entry->positional];
    return PyTypeNum_ISINTEGER(result->type_num) && op_loop_is_of(entry, "power");
}

/* Whether it takes arrays as they are and gives what the entry promises. */
static bool
suits(const op_loop *loop, const op_entry *entry, PyObject *const *argv)
{
    if (loop->call == NULL || loop->requires_pyapi)
        return false;
    if ((entry->solo || entry->large) && op_loop_may_raise(entry, loop))
        return false;
    PyArray_Descr *const *dtypes = loop->context->descriptors;
    for (Py_ssize_t k = 0; k < entry->positional; k++)
        if (PyArray_CheckExact(argv[k]) &&
            PyArray_TYPE((PyArrayObject *)argv[k]) != dtypes[k]->type_num)
            return false;
    return entry->solo || ext_dtype_is(dtypes[entry->positional],
                                       entry->results[0].layout->layout->dtype);
}

/* The capsule with a loop that suits a call, or NULL; *known: the dtypes of the call are
 * such that the answer is the same for all calls of the entry. */
static PyObject *
find(bool *known, const op_entry *entry, PyObject *const *argv)
{
    PyObject *dtypes = dtypes_of(entry, argv);
    PyObject *capsule = dtypes == NULL ? NULL : ask(entry->kernel, dtypes);
    *known = dtypes != NULL;
    if (capsule != NULL &&
        !suits(PyCapsule_GetPointer(capsule, LOOP_CAPSULE), entry, argv))
        Py_CLEAR(capsule);
    Py_XDECREF(dtypes);
    PyErr_Clear(); /* then the ufunc is called */
    return capsule;
}

void
op_loop_find(op_entry *entry, PyObject *const *argv)
{
    bool known = true;
    PyObject *capsule = is_elementwise(entry) ? find(&known, entry, argv) : NULL;
    if (known) /* else another call may have other numbers */
        entry->runs = OP_LOOP_ATTEMPTS + 1;
    if (capsule == NULL)
        return;
    const op_loop *loop = PyCapsule_GetPointer(capsule, LOOP_CAPSULE);
    PyObject *owner = op_loop_of_halves(&loop, loop, capsule, entry, argv);
    entry->loop_owner = owner == NULL ? Py_NewRef(capsule) : owner;
    entry->loop = loop;
    Py_DECREF(capsule);
    PyErr_Clear();
}

void
op_loop_keep(op_entry *entry, PyObject *const *argv)
{
    if (entry->runs <= OP_LOOP_ATTEMPTS && entry->ufunc && is_worthwhile(entry, argv) &&
        entry->runs++ > 0) /* a call that comes again */
        op_loop_find(entry, argv);
}

/* --- matmul --- */

bool
op_is_product(const op_entry *entry)
{
    static PyObject *matmul;
    if (ext_import(&matmul, "numpy", "matmul") == NULL)
        PyErr_Clear();
    return entry->ufunc && entry->kernel == matmul && entry->kwnames == NULL &&
           entry->slot_count == 2 && entry->positional == 2 &&
           entry->slots[0].kind == SLOT_OPERAND && entry->slots[1].kind == SLOT_OPERAND;
}

void
op_product_keep(op_entry *entry, PyObject *const *argv)
{
    bool known, matrices = PyArray_CheckExact(argv[0]) && PyArray_CheckExact(argv[1]) &&
                           PyArray_NDIM((PyArrayObject *)argv[0]) == 2 &&
                           PyArray_NDIM((PyArrayObject *)argv[1]) == 2;
    if (entry->runs > OP_LOOP_ATTEMPTS || !matrices || entry->runs++ == 0)
        return; /* it may be the only call */
    entry->runs = OP_LOOP_ATTEMPTS + 1;
    entry->loop_owner = find(&known, entry, argv);
    if (entry->loop_owner != NULL)
        entry->product = PyCapsule_GetPointer(entry->loop_owner, LOOP_CAPSULE);
}
