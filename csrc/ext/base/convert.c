/* convert.c: dtypes, shapes and placements from Python objects, and back. */
#include "ext/base/base.h"

#include <string.h>

/* dt_dtype + 1 by NumPy's type number; 0: not one of ours. */
static const unsigned char DTYPE_OF[NPY_NTYPES_LEGACY] = {
    [NPY_BOOL] = DT_BOOL + 1,
    [NPY_BYTE] = DT_INT8 + 1,
    [NPY_SHORT] = DT_INT16 + 1,
    [NPY_INT] = DT_INT32 + 1,
    [NPY_LONG] = (sizeof(long) == 8 ? DT_INT64 : DT_INT32) + 1,
    [NPY_LONGLONG] = DT_INT64 + 1,
    [NPY_UBYTE] = DT_UINT8 + 1,
    [NPY_USHORT] = DT_UINT16 + 1,
    [NPY_UINT] = DT_UINT32 + 1,
    [NPY_ULONG] = (sizeof(long) == 8 ? DT_UINT64 : DT_UINT32) + 1,
    [NPY_ULONGLONG] = DT_UINT64 + 1,
    [NPY_HALF] = DT_FLOAT16 + 1,
    [NPY_FLOAT] = DT_FLOAT32 + 1,
    [NPY_DOUBLE] = DT_FLOAT64 + 1,
    [NPY_LONGDOUBLE] = DT_LONGDOUBLE + 1,
    [NPY_CFLOAT] = DT_COMPLEX64 + 1,
    [NPY_CDOUBLE] = DT_COMPLEX128 + 1,
    [NPY_CLONGDOUBLE] = DT_CLONGDOUBLE + 1,
};

/* NumPy's type number by dt_dtype; bfloat16 has none of its own. */
static const int NUMBER_OF[DT_DTYPE_COUNT] = {
    [DT_BOOL] = NPY_BOOL,
    [DT_INT8] = NPY_INT8,
    [DT_INT16] = NPY_INT16,
    [DT_INT32] = NPY_INT32,
    [DT_INT64] = NPY_INT64,
    [DT_UINT8] = NPY_UINT8,
    [DT_UINT16] = NPY_UINT16,
    [DT_UINT32] = NPY_UINT32,
    [DT_UINT64] = NPY_UINT64,
    [DT_FLOAT16] = NPY_FLOAT16,
    [DT_BFLOAT16] = NPY_NOTYPE,
    [DT_FLOAT32] = NPY_FLOAT32,
    [DT_FLOAT64] = NPY_FLOAT64,
    [DT_LONGDOUBLE] = NPY_LONGDOUBLE,
    [DT_COMPLEX64] = NPY_COMPLEX64,
    [DT_COMPLEX128] = NPY_COMPLEX128,
    [DT_CLONGDOUBLE] = NPY_CLONGDOUBLE,
};

/* What to call instead, by dtype.kind. */
static const char *
advice(const PyArray_Descr *descr)
{
    if (!PyArray_ISNBO(descr->byteorder))
        return "is not in this machine's byte order; pass "
               "x.astype(x.dtype.newbyteorder('='))";
    switch (descr->kind) {
    case 'O':
        return "holds Python objects, not numbers; pass x.astype(np.float64)";
    case 'M':
    case 'm':
        return "holds times; pass x.view(np.int64), and view the result as times again";
    case 'S':
    case 'U':
    case 'T':
        return "holds text; pass numbers, such as x.astype(np.float64)";
    case 'V':
        if (PyDataType_HASFIELDS(descr))
            return "is structured; pass its fields one by one, such as x['name']";
        break; /* of ml_dtypes, say */
    }
    return "is not supported; pass x.astype(np.float32)";
}

/* ml_dtypes' type, or that of another library by this name: they have the same bits. */
static bool
is_bfloat16(const PyArray_Descr *descr)
{
    const char *name = descr->typeobj->tp_name;
    const char *dot = strrchr(name, '.');
    return strcmp(dot != NULL ? dot + 1 : name, "bfloat16") == 0 &&
           PyDataType_ELSIZE(descr) == 2;
}

int
ext_dtype(dt_dtype *out, PyArray_Descr *descr, const char *what)
{
    int number = descr->type_num;
    int known = number >= 0 && number < NPY_NTYPES_LEGACY ? DTYPE_OF[number] : 0;
    if (known != 0 && PyArray_ISNBO(descr->byteorder))
        *out = (dt_dtype)(known - 1);
    else if (number >= NPY_USERDEF && is_bfloat16(descr))
        *out = DT_BFLOAT16;
    else {
        PyErr_Format(PyExc_TypeError, "%s: dtype %S %s", what, descr, advice(descr));
        return -1;
    }
    return 0;
}

bool
ext_dtype_is(PyArray_Descr *descr, dt_dtype dtype)
{
    int number = descr->type_num;
    if (number >= 0 && number < NPY_NTYPES_LEGACY)
        return DTYPE_OF[number] == (int)dtype + 1 && PyArray_ISNBO(descr->byteorder);
    return dtype == DT_BFLOAT16 && is_bfloat16(descr);
}

static PyArray_Descr *
bfloat16_descr(void)
{
    static PyArray_Descr *kept;
    if (kept == NULL) {
        PyObject *module = PyImport_ImportModule("ml_dtypes");
        if (module == NULL) {
            if (PyErr_ExceptionMatches(PyExc_ImportError))
                PyErr_SetString(PyExc_ImportError,
                                "dtype bfloat16 needs the package ml_dtypes: "
                                "pip install dtensor-mpi[ml_dtypes]");
            return NULL;
        }
        PyObject *scalar = PyObject_GetAttrString(module, "bfloat16");
        Py_DECREF(module);
        if (scalar == NULL)
            return NULL;
        PyArray_DescrConverter(scalar, &kept);
        Py_DECREF(scalar);
    }
    return (PyArray_Descr *)Py_XNewRef((PyObject *)kept);
}

PyArray_Descr *
ext_descr(dt_dtype dtype)
{
    if (dtype == DT_BFLOAT16)
        return bfloat16_descr();
    return PyArray_DescrFromType(NUMBER_OF[dtype]);
}

int
ext_dtype_like(dt_dtype *out, PyObject *object, dt_dtype fallback, const char *what)
{
    if (object == NULL || object == Py_None) {
        *out = fallback;
        return 0;
    }
    PyArray_Descr *descr = NULL;
    if (PyUnicode_Check(object) &&
        PyUnicode_CompareWithASCIIString(object, "bfloat16") == 0)
        descr = bfloat16_descr(); /* NumPy knows the name only once it is imported */
    else
        PyArray_DescrConverter(object, &descr);
    if (descr == NULL)
        return -1;
    int status = ext_dtype(out, descr, what);
    Py_DECREF(descr);
    return status;
}

/* One length; false with TypeError or OverflowError. */
static bool
read_length(int64_t *out, PyObject *object, const char *what)
{
    if (!PyIndex_Check(object)) {
        PyErr_Format(PyExc_TypeError, "%s: a length must be an integer, not %R", what,
                     object);
        return false;
    }
    *out = PyLong_AsLongLong(object);
    return *out != -1 || !PyErr_Occurred();
}

/* True if `object` is read as one integer: an int, a NumPy integer, a 0-d array. */
static bool
is_integer(PyObject *object)
{
    if (PyArray_Check(object))
        return PyArray_NDIM((PyArrayObject *)object) == 0;
    return PyIndex_Check(object);
}

int
ext_shape(int64_t out[DT_MAX_NDIM], PyObject *object, const char *what)
{
    if (is_integer(object))
        return read_length(out, object, what) ? 1 : -1;
    if (PyUnicode_Check(object) || !PySequence_Check(object)) {
        PyErr_Format(PyExc_TypeError,
                     "%s: expected an integer or a sequence of integers, not %R", what,
                     object);
        return -1;
    }
    PyObject *items = PySequence_Fast(object, "expected a sequence of integers");
    if (items == NULL)
        return -1;
    Py_ssize_t count = PySequence_Fast_GET_SIZE(items);
    if (count > DT_MAX_NDIM)
        PyErr_Format(PyExc_ValueError, "%s: %zd dimensions are more than NumPy's %d",
                     what, count, DT_MAX_NDIM);
    bool good = count <= DT_MAX_NDIM;
    for (Py_ssize_t k = 0; good && k < count; k++)
        good = read_length(&out[k], PySequence_Fast_GET_ITEM(items, k), what);
    Py_DECREF(items);
    return good ? (int)count : -1;
}

PyObject *
ext_tuple(const int64_t *values, int count)
{
    PyObject *tuple = PyTuple_New(count);
    for (int k = 0; tuple != NULL && k < count; k++) {
        PyObject *value = PyLong_FromLongLong(values[k]);
        if (value == NULL)
            Py_CLEAR(tuple);
        else
            PyTuple_SET_ITEM(tuple, k, value);
    }
    return tuple;
}

PyObject *
ext_import(PyObject **kept, const char *module, const char *name)
{
    if (*kept == NULL) {
        PyObject *imported = PyImport_ImportModule(module);
        *kept = imported == NULL ? NULL : PyObject_GetAttrString(imported, name);
        Py_XDECREF(imported);
    }
    return *kept;
}
