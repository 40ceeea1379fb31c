/* loop.c: NumPy's inner loops, called directly. A ufunc spends most of its time on small
 * arrays before and after its loop. Here the loop is asked for once, by the way that NumPy
 * has for compilers (`_resolve_dtypes_and_context`, `_get_strided_loop`), and called on
 * contiguous arrays of one shape and numbers, as the ufunc would call it. Where it raises a
 * floating-point flag or an exception, the result is given up and the ufunc is called,
 * which says what it says of that: warnings, `errstate`, `seterrcall`. */
#include "ext/dispatch/dispatch.h"

#include <numpy/dtype_api.h>

#include <fenv.h>
#include <math.h>

enum { MOST_ELEMENTS = 8192 };
enum { ERRORS = FE_DIVBYZERO | FE_OVERFLOW | FE_UNDERFLOW | FE_INVALID };

/* As NumPy's documentation gives it, for a capsule of this name. */
static const char NAME[] = "numpy_1.24_ufunc_call_info";

typedef struct {
    PyArrayMethod_StridedLoop *call;
    PyArrayMethod_Context *context;
    NpyAuxData *auxdata;
    npy_bool requires_pyapi;
    npy_bool no_floatingpoint_errors;
} loop_info;

typedef union {
    float f;
    double d;
    npy_int64 i;
} number;

/* --- calling it --- */

/* A number of Python's in a dtype that holds it exactly, or as NumPy rounds it. */
static bool
put_number(number *out, const PyArray_Descr *dtype, PyObject *object)
{
    int type = dtype->type_num;
    if (PyFloat_CheckExact(object)) {
        double value = PyFloat_AS_DOUBLE(object);
        if (type == NPY_DOUBLE)
            out->d = value;
        else
            out->f = (float)value;
        return type == NPY_DOUBLE ||
               (type == NPY_FLOAT && (isfinite(out->f) || !isfinite(value)));
    }
    if (!PyLong_CheckExact(object))
        return false;
    int overflow;
    long long value = PyLong_AsLongLongAndOverflow(object, &overflow);
    long long most = type == NPY_FLOAT ? 1 << 24 : 1LL << 53;
    bool exact = value <= most && value >= -most;
    if (type == NPY_DOUBLE)
        out->d = (double)value;
    else if (type == NPY_FLOAT)
        out->f = (float)value;
    else
        out->i = value;
    return overflow == 0 && (type == NPY_INT64 || exact) &&
           (type == NPY_INT64 || type == NPY_DOUBLE || type == NPY_FLOAT);
}

/* Where an operand begins and how far its elements lie apart; whether it is one that
 * needs neither a cast nor a copy. */
static bool
put_operand(char **data, npy_intp *stride, number *space, const op_result *result,
            PyArray_Descr *dtype, PyObject *object)
{
    *stride = 0;
    if (!PyArray_CheckExact(object)) {
        *data = (char *)space;
        return put_number(space, dtype, object);
    }
    PyArrayObject *array = (PyArrayObject *)object;
    int ndim = PyArray_NDIM(array);
    *data = PyArray_BYTES(array);
    if (PyArray_DESCR(array) != dtype || !PyArray_ISCARRAY_RO(array) ||
        (ndim > 0 && ndim != result->ndim))
        return false;
    for (int d = 0; d < ndim; d++)
        if (PyArray_DIM(array, d) != result->shape[d])
            return false;
    if (ndim > 0)
        *stride = ndim == 1 ? PyArray_STRIDE(array, 0) : PyDataType_ELSIZE(dtype);
    return true;
}

PyObject *
op_loop_again(const op_entry *entry, PyObject *const *argv)
{
    const loop_info *loop = entry->loop;
    PyArray_Descr *const *dtypes = loop->context->descriptors;
    const op_result *result = entry->results;
    char *data[OP_SHORT + 1];
    npy_intp strides[OP_SHORT + 1];
    number numbers[OP_SHORT];
    int count = (int)entry->positional;
    for (int k = 0; k < count; k++)
        if (!put_operand(&data[k], &strides[k], &numbers[k], result, dtypes[k],
                         argv[k]))
            return NULL;
    PyArray_Descr *dtype = dtypes[count];
    PyObject *made = PyArray_NewFromDescr(
        &PyArray_Type, (PyArray_Descr *)Py_NewRef((PyObject *)dtype), result->ndim,
        (const npy_intp *)result->shape, NULL, NULL, 0, NULL);
    if (made == NULL) {
        PyErr_Clear();
        return NULL;
    }
    data[count] = PyArray_BYTES((PyArrayObject *)made);
    strides[count] = PyDataType_ELSIZE(dtype);
    npy_intp length = PyArray_SIZE((PyArrayObject *)made);
    if (!loop->no_floatingpoint_errors)
        feclearexcept(ERRORS);
    int failed = loop->call(loop->context, data, &length, strides, loop->auxdata);
    if (PyErr_Occurred() != NULL) {
        PyErr_Clear();
        failed = -1;
    }
    if (!loop->no_floatingpoint_errors && fetestexcept(ERRORS) != 0)
        failed = -1;
    if (failed < 0)
        Py_CLEAR(made);
    return made;
}

/* --- asking for it --- */

/* A small result of a ufunc of NumPy's own that has no other arguments than operands. */
static bool
is_elementwise(const op_entry *entry)
{
    static PyObject *numpy;
    if (!entry->ufunc || entry->kwnames != NULL || entry->result_count != 1 ||
        entry->solo || entry->large || entry->results[0].ndim == 0 ||
        entry->positional > OP_SHORT || entry->slot_count != entry->positional)
        return false;
    for (int k = 0; k < entry->slot_count; k++)
        if (entry->slots[k].kind != SLOT_OPERAND)
            return false;
    int64_t count = 1;
    for (int d = 0; d < entry->results[0].ndim; d++)
        count *= entry->results[0].shape[d];
    if (count == 0 || count > MOST_ELEMENTS)
        return false;
    if (numpy == NULL)
        numpy = PyImport_ImportModule("numpy");
    PyObject *name = PyObject_GetAttrString(entry->kernel, "__name__");
    PyObject *known =
        numpy == NULL || name == NULL ? NULL : PyObject_GetAttr(numpy, name);
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
        capsule == NULL || !PyCapsule_IsValid(capsule, NAME)
            ? NULL
            : PyObject_CallMethod(ufunc, "_get_strided_loop", "(O)", capsule);
    if (done == NULL)
        Py_CLEAR(capsule);
    Py_XDECREF(done);
    Py_XDECREF(answer);
    return capsule;
}

/* Whether it takes arrays as they are and gives what the entry promises. */
static bool
suits(const loop_info *loop, const op_entry *entry, PyObject *const *argv)
{
    if (loop->call == NULL || loop->requires_pyapi)
        return false;
    PyArray_Descr *const *dtypes = loop->context->descriptors;
    for (Py_ssize_t k = 0; k < entry->positional; k++)
        if (PyArray_CheckExact(argv[k]) &&
            PyArray_DESCR((PyArrayObject *)argv[k]) != dtypes[k])
            return false;
    return ext_dtype_is(dtypes[entry->positional],
                        entry->results[0].layout->layout->dtype);
}

void
op_loop_keep(op_entry *entry, PyObject *const *argv)
{
    if (entry->runs > 1 || entry->runs++ == 0) /* a call that comes again */
        return;
    PyObject *dtypes = is_elementwise(entry) ? dtypes_of(entry, argv) : NULL;
    PyObject *capsule = dtypes == NULL ? NULL : ask(entry->kernel, dtypes);
    if (capsule != NULL && suits(PyCapsule_GetPointer(capsule, NAME), entry, argv)) {
        entry->loop_owner = Py_NewRef(capsule);
        entry->loop = PyCapsule_GetPointer(capsule, NAME);
    }
    Py_XDECREF(capsule);
    Py_XDECREF(dtypes);
    PyErr_Clear(); /* then the ufunc is called, now and later */
}
