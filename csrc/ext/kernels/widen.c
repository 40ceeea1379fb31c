/* widen.c: functions of float32 for arrays of float16 and bfloat16. */
#include "ext/kernels/kernels.h"

#include "kernels/half_ops.h"
#include "kernels/widen.h"

#include <fenv.h>
#include <stddef.h>
#include <string.h>

typedef struct {
    PyObject_HEAD
    vectorcallfunc vectorcall;
    PyObject *function;
    PyObject *dtypes;     /* of the results: one, or a tuple */
    const dt_half_op *op; /* what computes it of bfloat16 at once, or NULL */
} WideObject;

enum { INLINE_ARGUMENTS = 16 };

/* --- arrays --- */

static bool
is_half(dt_dtype *out, PyArray_Descr *descr)
{
    *out = ext_dtype_is(descr, DT_FLOAT16) ? DT_FLOAT16 : DT_BFLOAT16;
    return *out == DT_FLOAT16 || ext_dtype_is(descr, DT_BFLOAT16);
}

/* Whether elements lie one after another in both arrays, in the same order of dims. */
static bool
is_parallel(PyArrayObject *a, PyArrayObject *b)
{
    npy_intp of_a = PyArray_ITEMSIZE(a), of_b = PyArray_ITEMSIZE(b);
    for (int d = 0; d < PyArray_NDIM(a); d++)
        if (PyArray_DIM(a, d) > 1 &&
            PyArray_STRIDE(a, d) / of_a != PyArray_STRIDE(b, d) / of_b)
            return false;
    return PyArray_ISALIGNED(a) && PyArray_ISALIGNED(b);
}

/* A new array of another dtype, in the order of dims of `x` in memory. */
static PyObject *
converted(PyArrayObject *x, dt_dtype dtype)
{
    PyArray_Descr *descr = ext_descr(dtype);
    if (descr == NULL)
        return NULL;
    PyArrayObject *out =
        (PyArrayObject *)PyArray_NewLikeArray(x, NPY_KEEPORDER, descr, 0);
    if (out == NULL)
        return NULL;
    if (!is_parallel(x, out)) {
        if (PyArray_CopyInto(out, x) < 0)
            Py_CLEAR(out);
        return (PyObject *)out;
    }
    dt_dtype half;
    int64_t count = PyArray_SIZE(x);
    bool widens = is_half(&half, PyArray_DESCR(x));
    PyThreadState *state = ext_kernel_begin(count);
    if (widens)
        dt_widen(half, PyArray_DATA(out), PyArray_DATA(x), count);
    else
        dt_narrow(dtype, PyArray_DATA(out), PyArray_DATA(x), count);
    ext_kernel_end(state);
    return (PyObject *)out;
}

/* An argument: arrays of 16-bit floats in float32, all else as it is. */
static PyObject *
widened(PyObject *argument)
{
    dt_dtype half;
    bool scalar = PyArray_IsScalar(argument, Generic);
    if (!scalar && !PyArray_Check(argument))
        return Py_NewRef(argument);
    PyObject *array = scalar ? PyArray_FromScalar(argument, NULL) : Py_NewRef(argument);
    if (array != NULL && is_half(&half, PyArray_DESCR((PyArrayObject *)array)))
        Py_SETREF(array, converted((PyArrayObject *)array, DT_FLOAT32));
    else if (scalar)
        Py_XSETREF(array, Py_NewRef(argument));
    return array;
}

/* --- results --- */

/* A result of float32 in a dtype of 16 bits, else as it is. Steals it. */
static PyObject *
narrowed(PyObject *result, PyObject *dtype)
{
    dt_dtype half;
    bool single = PyArray_IsScalar(result, Float);
    if (single)
        Py_SETREF(result, PyArray_FromScalar(result, NULL));
    if (result == NULL || !PyArray_Check(result) ||
        !ext_dtype_is(PyArray_DESCR((PyArrayObject *)result), DT_FLOAT32) ||
        !PyArray_DescrCheck(dtype) || !is_half(&half, (PyArray_Descr *)dtype))
        return result;
    PyObject *out = converted((PyArrayObject *)result, half);
    Py_DECREF(result);
    return out;
}

/* Several results, in a tuple or a named one. Steals them. */
static PyObject *
all_narrowed(PyObject *results, PyObject *dtypes)
{
    Py_ssize_t count = PyTuple_GET_SIZE(results);
    bool several = PyTuple_Check(dtypes);
    PyObject *out = PyTuple_New(count);
    if (several && PyTuple_GET_SIZE(dtypes) < count) {
        PyErr_SetString(PyExc_SystemError, "in_float32: more results than dtypes");
        Py_CLEAR(out);
    }
    for (Py_ssize_t k = 0; out != NULL && k < count; k++) {
        PyObject *dtype = several ? PyTuple_GET_ITEM(dtypes, k) : dtypes;
        ext_put(&out, k, narrowed(Py_NewRef(PyTuple_GET_ITEM(results, k)), dtype));
    }
    if (out != NULL && !PyTuple_CheckExact(results))
        Py_SETREF(out, PyObject_CallObject((PyObject *)Py_TYPE(results), out));
    Py_DECREF(results);
    return out;
}

/* --- casts --- */

/* Whether NumPy would have something to say of rounding these numbers to 16 bits, or may
 * write another NaN: where one gets infinite, or too small with `errstate` on it. bfloat16
 * is silent of what is small. -1 with an exception. */
static int
must_tell(PyArrayObject *out, PyArrayObject *x, dt_dtype half)
{
    static PyObject *geterr;
    dt_narrowed found =
        dt_narrow_look(half, PyArray_DATA(out), PyArray_DATA(x), PyArray_SIZE(x));
    if (found.special || !found.tiny || half == DT_BFLOAT16)
        return found.special;
    PyObject *modes = ext_import(&geterr, "numpy", "geterr") == NULL
                          ? NULL
                          : PyObject_CallNoArgs(geterr);
    PyObject *mode = modes == NULL ? NULL : PyDict_GetItemString(modes, "under");
    int told =
        mode == NULL ? -1 : PyUnicode_CompareWithASCIIString(mode, "ignore") != 0;
    Py_XDECREF(modes);
    return told;
}

static PyObject *
cast(PyObject *Py_UNUSED(module), PyObject *args)
{
    PyObject *object;
    PyArray_Descr *descr;
    if (!PyArg_ParseTuple(args, "OO!:cast", &object, &PyArrayDescr_Type, &descr))
        return NULL;
    PyArrayObject *x = (PyArrayObject *)object;
    dt_dtype half;
    bool known = PyArray_CheckExact(object);
    if (known && ext_dtype_is(descr, DT_FLOAT32) && is_half(&half, PyArray_DESCR(x)))
        return converted(x, DT_FLOAT32);
    if (known && ext_dtype_is(PyArray_DESCR(x), DT_FLOAT32) && is_half(&half, descr)) {
        PyArrayObject *out = (PyArrayObject *)converted(x, half);
        int told = out == NULL ? -1 : is_parallel(x, out) ? must_tell(out, x, half) : 0;
        if (told <= 0) {
            if (told < 0)
                Py_CLEAR(out);
            return (PyObject *)out;
        }
        Py_DECREF(out);
    }
    return PyObject_CallMethod(object, "astype", "O", descr);
}

/* --- the call --- */

/* The function of our own for one of NumPy's, which rounds to this dtype; or NULL. */
static const dt_half_op *
op_of(PyObject *function, PyObject *dtype)
{
    if (strcmp(Py_TYPE(function)->tp_name, "numpy.ufunc") != 0 ||
        !PyArray_DescrCheck(dtype) ||
        !ext_dtype_is((PyArray_Descr *)dtype, DT_BFLOAT16))
        return NULL;
    PyObject *name = PyObject_GetAttrString(function, "__name__");
    const char *text = name == NULL ? NULL : PyUnicode_AsUTF8(name);
    const dt_half_op *op = text == NULL ? NULL : dt_half_op_of(text);
    Py_XDECREF(name);
    PyErr_Clear();
    return op != NULL && dt_half_op_has(op, DT_BFLOAT16) ? op : NULL;
}

/* Computes arrays of one shape, which lie alike and without gaps. NULL, without an
 * exception, where they do not, and where NumPy has something to say of the numbers. */
static PyObject *
at_once(const WideObject *wide, PyObject *const *args, Py_ssize_t count)
{
    enum { FLAGS = FE_DIVBYZERO | FE_OVERFLOW | FE_UNDERFLOW | FE_INVALID };
    static const int STEPS[DT_HALF_OPERANDS] = {1, 1, 1};
    const uint16_t *x[DT_HALF_OPERANDS];
    if (wide->op == NULL || count != dt_half_op_operands(wide->op))
        return NULL;
    for (Py_ssize_t k = 0; k < count; k++)
        if (!PyArray_CheckExact(args[k]) ||
            !ext_dtype_is(PyArray_DESCR((PyArrayObject *)args[k]), DT_BFLOAT16) ||
            !PyArray_SAMESHAPE((PyArrayObject *)args[k], (PyArrayObject *)args[0]))
            return NULL;
    PyArrayObject *out = (PyArrayObject *)PyArray_NewLikeArray((PyArrayObject *)args[0],
                                                               NPY_KEEPORDER, NULL, 0);
    bool good = out != NULL && PyArray_NDIM(out) > 0;
    for (Py_ssize_t k = 0; k < count && good; k++) {
        good = is_parallel((PyArrayObject *)args[k], out);
        x[k] = PyArray_DATA((PyArrayObject *)args[k]);
    }
    if (good) {
        int64_t size = PyArray_SIZE(out);
        PyThreadState *state = ext_kernel_begin(size);
        feclearexcept(FLAGS);
        dt_half_op_run(wide->op, DT_BFLOAT16, PyArray_DATA(out), x, STEPS, size);
        good = fetestexcept(FLAGS) == 0;
        ext_kernel_end(state);
    }
    if (!good)
        Py_CLEAR(out);
    PyErr_Clear(); /* without memory NumPy raises it again */
    return (PyObject *)out;
}

static PyObject *
wide_call(PyObject *self, PyObject *const *args, size_t flags, PyObject *kwnames)
{
    const WideObject *wide = (const WideObject *)self;
    Py_ssize_t places = PyVectorcall_NARGS(flags), read = 0;
    Py_ssize_t count = places + (kwnames == NULL ? 0 : PyTuple_GET_SIZE(kwnames));
    PyObject *space[INLINE_ARGUMENTS + 1] = {NULL}, **given = space;
    PyObject *found = kwnames == NULL ? at_once(wide, args, count) : NULL;
    if (found != NULL)
        return found;
    if (count > INLINE_ARGUMENTS)
        given = PyMem_New(PyObject *, (size_t)count + 1);
    if (given == NULL)
        return PyErr_NoMemory();
    while (read < count && (given[read + 1] = widened(args[read])) != NULL)
        read++;
    PyObject *result = NULL;
    if (read == count)
        result = PyObject_Vectorcall(wide->function, given + 1,
                                     (size_t)places | PY_VECTORCALL_ARGUMENTS_OFFSET,
                                     kwnames);
    for (Py_ssize_t k = 0; k < read; k++)
        Py_DECREF(given[k + 1]);
    if (given != space)
        PyMem_Free(given);
    if (result == NULL)
        return NULL;
    return PyTuple_Check(result) ? all_narrowed(result, wide->dtypes)
                                 : narrowed(result, wide->dtypes);
}

/* --- the type --- */

static void
wide_free(PyObject *self)
{
    Py_DECREF(((WideObject *)self)->function);
    Py_DECREF(((WideObject *)self)->dtypes);
    PyObject_Free(self);
}

static PyObject *
wide_repr(PyObject *self)
{
    return PyUnicode_FromFormat("<%R in float32>", ((WideObject *)self)->function);
}

PyTypeObject ext_wide_type = {
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = "dtensor._C.Wide",
    .tp_basicsize = sizeof(WideObject),
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_VECTORCALL |
                Py_TPFLAGS_DISALLOW_INSTANTIATION,
    .tp_dealloc = wide_free,
    .tp_repr = wide_repr,
    .tp_call = PyVectorcall_Call,
    .tp_vectorcall_offset = offsetof(WideObject, vectorcall),
};

static PyObject *
in_float32(PyObject *Py_UNUSED(module), PyObject *args)
{
    PyObject *function, *dtypes;
    if (!PyArg_ParseTuple(args, "OO:in_float32", &function, &dtypes))
        return NULL;
    WideObject *self = PyObject_New(WideObject, &ext_wide_type);
    if (self == NULL)
        return NULL;
    self->vectorcall = wide_call;
    self->function = Py_NewRef(function);
    self->dtypes = Py_NewRef(dtypes);
    self->op = op_of(function, dtypes);
    return (PyObject *)self;
}

PyMethodDef ext_wide_methods[] = {
    {"cast", cast, METH_VARARGS,
     "cast(x, dtype, /)\n--\n\n"
     "Return ``x.astype(dtype)``, faster between float32 and floats of 16 bits."},
    {"in_float32", in_float32, METH_VARARGS,
     "in_float32(function, dtypes, /)\n--\n\n"
     "Return a function that calls another one with its arrays of float16 and "
     "bfloat16\n"
     "as float32, and rounds results of float32 to a dtype, or each to its own of a "
     "tuple."},
    {0},
};
