/* reduce.c: reductions that are more than one of NumPy's: means, variances, and extremes
 * with their indices; and an array in parts. Of arrays of any dtype. */
#include "ext/kernels/kernels.h"

#include <string.h>

/* numpy.add.reduce: borrowed. */
static PyObject *
add_reduce(void)
{
    static PyObject *add, *reduce;
    if (reduce == NULL && ext_import(&add, "numpy", "add") != NULL)
        reduce = PyObject_GetAttrString(add, "reduce");
    return reduce;
}

/* mean_of(x, count, /, **options of numpy.add.reduce) */
static PyObject *
mean_of(PyObject *Py_UNUSED(module), PyObject *const *args, Py_ssize_t nargs,
        PyObject *kwnames)
{
    enum { NAMED = 4 };
    PyObject *reduce = add_reduce();
    Py_ssize_t named = kwnames == NULL ? 0 : PyTuple_GET_SIZE(kwnames);
    if (nargs != 2 || named > NAMED)
        return PyErr_Format(PyExc_TypeError, "mean_of takes two arguments by place");
    PyObject *given[1 + NAMED] = {args[0]};
    for (Py_ssize_t k = 0; k < named; k++)
        given[1 + k] = args[2 + k];
    PyObject *total =
        reduce == NULL ? NULL : PyObject_Vectorcall(reduce, given, 1, kwnames);
    PyObject *mean = total == NULL ? NULL : PyNumber_InPlaceTrueDivide(total, args[1]);
    Py_XDECREF(total);
    return mean;
}

/* --- variances --- */

/* A sum along axes, divided: as NumPy computes means and variances. */
static PyObject *
sum_over(PyObject *x, PyObject *axes, PyObject *dtype, bool keeps, PyObject *count)
{
    static PyObject *names;
    if (names == NULL)
        names = Py_BuildValue("(sss)", "axis", "dtype", "keepdims");
    PyObject *reduce = add_reduce();
    PyObject *given[] = {x, axes, dtype, keeps ? Py_True : Py_False};
    PyObject *total = reduce == NULL || names == NULL
                          ? NULL
                          : PyObject_Vectorcall(reduce, given, 1, names);
    PyObject *found = total == NULL ? NULL : PyNumber_InPlaceTrueDivide(total, count);
    Py_XDECREF(total);
    return found;
}

static PyObject *
square_root(PyObject *x)
{
    static PyObject *sqrt;
    return ext_import(&sqrt, "numpy", "sqrt") == NULL ? NULL
                                                      : PyObject_CallOneArg(sqrt, x);
}

/* The pair of a spread and the mean, which has all dims: both of one shape. */
static PyObject *
with_mean(PyObject *found, PyArrayObject *mean, bool keeps)
{
    npy_intp none[DT_MAX_NDIM] = {0};
    PyArray_Dims shape = {none, 0};
    if (PyArray_Check(found))
        shape = (PyArray_Dims){PyArray_DIMS((PyArrayObject *)found),
                               PyArray_NDIM((PyArrayObject *)found)};
    PyObject *other = keeps ? Py_NewRef((PyObject *)mean)
                            : PyArray_Newshape(mean, &shape, NPY_CORDER);
    PyObject *both = other == NULL ? NULL : PyTuple_Pack(2, found, other);
    Py_XDECREF(other);
    return both;
}

static PyObject *
spread_of(PyObject *Py_UNUSED(module), PyObject *args)
{
    PyArrayObject *x;
    PyObject *axes, *dtype, *count, *divisor;
    int keeps, root, both = 0;
    if (!PyArg_ParseTuple(args, "O!O!OOOpp|p:spread_of", &PyArray_Type, &x,
                          &PyTuple_Type, &axes, &dtype, &count, &divisor, &keeps, &root,
                          &both))
        return NULL;
    PyObject *mean = sum_over((PyObject *)x, axes, dtype, true, count);
    PyObject *apart = mean == NULL ? NULL : PyNumber_Subtract((PyObject *)x, mean);
    PyObject *squares = apart == NULL ? NULL : PyNumber_InPlaceMultiply(apart, apart);
    PyObject *found =
        squares == NULL ? NULL : sum_over(squares, axes, dtype, keeps, divisor);
    if (found != NULL && root)
        Py_SETREF(found, square_root(found));
    if (found != NULL && both)
        Py_SETREF(found, with_mean(found, (PyArrayObject *)mean, keeps));
    Py_XDECREF(mean);
    Py_XDECREF(apart);
    Py_XDECREF(squares);
    return found;
}

/* --- parts --- */

/* Elements start to stop of a dim, in the memory of the array. */
static PyObject *
window(PyArrayObject *x, int dim, npy_intp start, npy_intp stop)
{
    npy_intp shape[DT_MAX_NDIM];
    for (int d = 0; d < PyArray_NDIM(x); d++)
        shape[d] = d == dim ? stop - start : PyArray_DIM(x, d);
    PyObject *view = PyArray_NewFromDescr(
        &PyArray_Type, (PyArray_Descr *)Py_NewRef((PyObject *)PyArray_DESCR(x)),
        PyArray_NDIM(x), shape, PyArray_STRIDES(x),
        PyArray_BYTES(x) + start * PyArray_STRIDE(x, dim), PyArray_FLAGS(x), NULL);
    if (view != NULL &&
        PyArray_SetBaseObject((PyArrayObject *)view, Py_NewRef((PyObject *)x)) < 0)
        Py_CLEAR(view);
    if (view != NULL)
        PyArray_UpdateFlags((PyArrayObject *)view, NPY_ARRAY_UPDATE_ALL);
    return view;
}

static PyObject *
parts_of(PyObject *Py_UNUSED(module), PyObject *args)
{
    PyArrayObject *x;
    PyObject *at;
    int dim;
    if (!PyArg_ParseTuple(args, "O!O!i:parts_of", &PyArray_Type, &x, &PyList_Type, &at,
                          &dim))
        return NULL;
    if (dim < 0 || dim >= PyArray_NDIM(x))
        return PyErr_Format(PyExc_ValueError, "parts_of: dim %d", dim);
    Py_ssize_t count = PyList_GET_SIZE(at) + 1;
    PyObject *parts = PyTuple_New(count);
    npy_intp start = 0, length = PyArray_DIM(x, dim);
    for (Py_ssize_t k = 0; parts != NULL && k < count; k++) {
        npy_intp stop =
            k + 1 < count ? PyLong_AsSsize_t(PyList_GET_ITEM(at, k)) : length;
        if (PyErr_Occurred() == NULL && (stop < start || stop > length))
            PyErr_Format(PyExc_ValueError, "parts_of: %zd after %zd", stop, start);
        ext_put(&parts, k,
                PyErr_Occurred() != NULL ? NULL : window(x, dim, start, stop));
        start = stop;
    }
    return parts;
}

/* --- extremes and their indices --- */

/* The elements of `x` at indices along a dim, in an array of the shape of these. */
static PyObject *
elements_at(PyArrayObject *x, PyArrayObject *indices, int dim)
{
    PyArrayObject *out = (PyArrayObject *)PyArray_NewLikeArray(
        indices, NPY_CORDER, (PyArray_Descr *)Py_NewRef((PyObject *)PyArray_DESCR(x)),
        0);
    if (out == NULL)
        return NULL;
    const npy_intp *at = PyArray_DATA(indices);
    const npy_intp count = PyArray_SIZE(indices), size = PyArray_ITEMSIZE(x);
    npy_intp place[DT_MAX_NDIM] = {0};
    const char *from = PyArray_BYTES(x);
    char *to = PyArray_BYTES(out);
    PyThreadState *state = ext_kernel_begin(count);
    for (npy_intp k = 0; k < count; k++) {
        memcpy(to + k * size, from + at[k] * PyArray_STRIDE(x, dim), (size_t)size);
        for (int d = PyArray_NDIM(x) - 1; d >= 0; d--) {
            if (d == dim)
                continue;
            from += PyArray_STRIDE(x, d);
            if (++place[d] < PyArray_DIM(x, d))
                break;
            from -= place[d] * PyArray_STRIDE(x, d);
            place[d] = 0;
        }
    }
    ext_kernel_end(state);
    return (PyObject *)out;
}

/* An array of indices as it is, or with the dim that it lacks. Steals it. */
static PyArrayObject *
with_dim(PyObject *found, PyArrayObject *x, int dim, bool keeps)
{
    PyArrayObject *indices = NULL;
    if (found != NULL)
        indices = (PyArrayObject *)PyArray_FromAny(
            found, PyArray_DescrFromType(NPY_INTP), 0, 0, NPY_ARRAY_CARRAY, NULL);
    Py_XDECREF(found);
    if (indices == NULL || !keeps)
        return indices;
    npy_intp lengths[DT_MAX_NDIM];
    for (int d = 0; d < PyArray_NDIM(x); d++)
        lengths[d] = d == dim ? 1 : PyArray_DIM(x, d);
    PyArray_Dims shape = {lengths, PyArray_NDIM(x)};
    PyObject *kept = PyArray_Newshape(indices, &shape, NPY_CORDER);
    Py_DECREF(indices);
    return (PyArrayObject *)kept;
}

static PyObject *
extreme_of(PyObject *Py_UNUSED(module), PyObject *args)
{
    PyArrayObject *x;
    int dim, keeps, least;
    PyTypeObject *type;
    if (!PyArg_ParseTuple(args, "O!ippO!:extreme_of", &PyArray_Type, &x, &dim, &keeps,
                          &least, &PyType_Type, &type))
        return NULL;
    if (dim < 0 || dim >= PyArray_NDIM(x) || !PyType_IsSubtype(type, &PyTuple_Type))
        return PyErr_Format(PyExc_TypeError, "extreme_of: dim %d, type %R", dim, type);
    PyObject *found =
        least ? PyArray_ArgMin(x, dim, NULL) : PyArray_ArgMax(x, dim, NULL);
    PyArrayObject *indices = with_dim(found, x, dim, keeps);
    PyObject *values = indices == NULL ? NULL : elements_at(x, indices, dim);
    PyObject *pair = values == NULL ? NULL : Py_BuildValue("((OO))", values, indices);
    PyObject *result = pair == NULL ? NULL : PyTuple_Type.tp_new(type, pair, NULL);
    Py_XDECREF(pair);
    Py_XDECREF(values);
    Py_XDECREF(indices);
    return result;
}

PyMethodDef ext_reduce_methods[] = {
    {"mean_of", EXT_FAST(mean_of),
     "mean_of(x, count, /, **options)\n--\n\n"
     "Return numpy.add.reduce(x, **options) divided by a number: the mean of what\n"
     "`x` is a part of."},
    {"spread_of", spread_of, METH_VARARGS,
     "spread_of(x, axes, dtype, count, divisor, keepdims, root, both=False, /)\n--\n\n"
     "Return the squares of the distances from the mean of `count` elements, added "
     "and\n"
     "divided: a variance, or its root; `both`: and the mean. dtype: to add in, or\n"
     "None."},
    {"parts_of", parts_of, METH_VARARGS,
     "parts_of(x, at, dim, /)\n--\n\n"
     "Return a tuple of views: the array, split along a dim before the indices of a\n"
     "list, which do not fall."},
    {"extreme_of", extreme_of, METH_VARARGS,
     "extreme_of(x, dim, keepdims, least, type, /)\n--\n\n"
     "Return the greatest, or least, elements along a dim and their indices, in a\n"
     "named tuple of this type."},
    {0},
};
