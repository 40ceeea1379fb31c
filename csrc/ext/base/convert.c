/* convert.c: dtypes and shapes from Python objects, and back. */
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

/* NumPy's type number by dt_dtype; those of ml_dtypes have none of their own. */
static const int NUMBER_OF[] = {
#define NUMBER_NUMPY(name) NPY_##name
#define NUMBER_ML_DTYPES(name) NPY_NOTYPE
#define NUMBER(name, text, kind, size, home) [DT_##name] = NUMBER_##home(name),
    DT_DTYPES(NUMBER)
#undef NUMBER
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
        return "holds Python objects, not numbers; pass x.astype(np.float64), or "
               "instead of None an empty array such as np.empty((0, 8))";
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

/* The dtype of ml_dtypes by its name, or that of another library: they have the same
 * bits. */
static bool
find_named(dt_dtype *out, const char *name)
{
    for (int k = 0; k < DT_DTYPE_COUNT; k++)
        if (NUMBER_OF[k] == NPY_NOTYPE &&
            strcmp(name, dt_dtype_name((dt_dtype)k)) == 0) {
            *out = (dt_dtype)k;
            return true;
        }
    return false;
}

static bool
is_named(dt_dtype *out, const PyArray_Descr *descr)
{
    const char *name = descr->typeobj->tp_name;
    const char *dot = strrchr(name, '.');
    return find_named(out, dot != NULL ? dot + 1 : name) &&
           PyDataType_ELSIZE(descr) == (npy_intp)dt_dtype_size(*out);
}

int
ext_dtype(dt_dtype *out, PyArray_Descr *descr, const char *what)
{
    int number = descr->type_num;
    int known = number >= 0 && number < NPY_NTYPES_LEGACY ? DTYPE_OF[number] : 0;
    if (known != 0 && PyArray_ISNBO(descr->byteorder))
        *out = (dt_dtype)(known - 1);
    else if (number < NPY_USERDEF || !is_named(out, descr))
        return ext_fail(PyExc_TypeError, "%s: dtype %S %s", what, descr, advice(descr));
    return 0;
}

bool
ext_dtype_is(PyArray_Descr *descr, dt_dtype dtype)
{
    int number = descr->type_num;
    if (number >= 0 && number < NPY_NTYPES_LEGACY)
        return DTYPE_OF[number] == (int)dtype + 1 && PyArray_ISNBO(descr->byteorder);
    dt_dtype named;
    return is_named(&named, descr) && named == dtype;
}

static PyArray_Descr *
named_descr(dt_dtype dtype)
{
    static PyArray_Descr *kept[DT_DTYPE_COUNT];
    if (kept[dtype] == NULL) {
        const char *name = dt_dtype_name(dtype);
        PyObject *module = PyImport_ImportModule("ml_dtypes");
        if (module == NULL) {
            if (PyErr_ExceptionMatches(PyExc_ImportError))
                PyErr_Format(PyExc_ImportError,
                             "dtype %s needs the package ml_dtypes: "
                             "pip install dtensor-mpi[ml_dtypes]",
                             name);
            return NULL;
        }
        PyObject *scalar = PyObject_GetAttrString(module, name);
        Py_DECREF(module);
        if (scalar == NULL)
            return NULL;
        PyArray_DescrConverter(scalar, &kept[dtype]);
        Py_DECREF(scalar);
    }
    return (PyArray_Descr *)Py_XNewRef((PyObject *)kept[dtype]);
}

PyArray_Descr *
ext_descr(dt_dtype dtype)
{
    if (NUMBER_OF[dtype] == NPY_NOTYPE)
        return named_descr(dtype);
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
    dt_dtype named;
    const char *name = PyUnicode_Check(object) ? PyUnicode_AsUTF8(object) : NULL;
    PyErr_Clear();
    if (name != NULL && find_named(&named, name))
        descr = named_descr(named); /* NumPy knows it only once ml_dtypes is imported */
    else
        PyArray_DescrConverter(object, &descr);
    if (descr == NULL)
        return -1;
    int status = ext_dtype(out, descr, what);
    Py_DECREF(descr);
    return status;
}

int
ext_dtype_of(dt_dtype *out, PyObject *object, const char *what)
{
    PyObject *array = PyArray_FromAny(object, NULL, 0, 0, 0, NULL);
    if (array == NULL)
        return -1;
    int failed = ext_dtype(out, PyArray_DESCR((PyArrayObject *)array), what);
    Py_DECREF(array);
    return failed;
}

/* One length; false with TypeError, or with ValueError as NumPy has it. */
static bool
read_length(int64_t *out, PyObject *object, const char *what)
{
    if (!PyIndex_Check(object)) {
        PyErr_Format(PyExc_TypeError, "%s: a length must be an integer, not %R", what,
                     object);
        return false;
    }
    *out = PyLong_AsLongLong(object);
    if (*out != -1 || !PyErr_Occurred())
        return true;
    if (PyErr_ExceptionMatches(PyExc_OverflowError))
        PyErr_Format(PyExc_ValueError, "%s: maximum allowed dimension exceeded by %R",
                     what, object);
    return false;
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
    if (PyUnicode_Check(object) || !PySequence_Check(object))
        return ext_fail(PyExc_TypeError,
                        "%s: expected an integer or a sequence of integers, not %R",
                        what, object);
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

int
ext_array_shape(int64_t out[DT_MAX_NDIM], PyArrayObject *array)
{
    for (int d = 0; d < PyArray_NDIM(array); d++)
        out[d] = PyArray_DIM(array, d);
    return PyArray_NDIM(array);
}

PyObject *
ext_tuple(const int64_t *values, int count)
{
    PyObject *tuple = PyTuple_New(count);
    for (int k = 0; tuple != NULL && k < count; k++)
        ext_put(&tuple, k, PyLong_FromLongLong(values[k]));
    return tuple;
}

PyObject *
ext_tuple_of(PyObject *const *items, Py_ssize_t count)
{
    PyObject *tuple = PyTuple_New(count);
    for (Py_ssize_t k = 0; tuple != NULL && k < count; k++)
        PyTuple_SET_ITEM(tuple, k, Py_NewRef(items[k] == NULL ? Py_None : items[k]));
    return tuple;
}

void
ext_append(PyObject **list, PyObject *item)
{
    if (item == NULL || PyList_Append(*list, item) < 0)
        Py_CLEAR(*list);
    Py_XDECREF(item);
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
