/* shape.c: arrays with padding, windows of arrays, where elements are not 0, whether two
 * are equal; norms of vectors. */
#include "ext/kernels/kernels.h"

#include <string.h>

static PyArrayObject *
in_order(PyObject *object)
{
    return (PyArrayObject *)PyArray_FromAny(
        object, NULL, 0, 0, NPY_ARRAY_CARRAY_RO | NPY_ARRAY_NOTSWAPPED, NULL);
}

static PyArrayObject *
new_array(int ndim, const int64_t *shape, PyArrayObject *like)
{
    dt_dtype dtype;
    return ext_dtype(&dtype, PyArray_DESCR(like), "a shape") < 0
               ? NULL
               : (PyArrayObject *)ext_array(ndim, shape, dtype);
}

/* A view of an array's memory from a place on. */
static PyObject *
view_of(PyArrayObject *x, char *begin, int ndim, const npy_intp *shape,
        const npy_intp *strides)
{
    PyObject *view = PyArray_NewFromDescr(
        &PyArray_Type, (PyArray_Descr *)Py_NewRef((PyObject *)PyArray_DESCR(x)), ndim,
        shape, strides, begin, PyArray_FLAGS(x) & NPY_ARRAY_WRITEABLE, NULL);
    if (view != NULL &&
        PyArray_SetBaseObject((PyArrayObject *)view, Py_NewRef((PyObject *)x)) < 0)
        Py_CLEAR(view);
    if (view != NULL)
        PyArray_UpdateFlags((PyArrayObject *)view,
                            NPY_ARRAY_UPDATE_ALL & ~NPY_ARRAY_WRITEABLE);
    return view;
}

/* --- padding --- */

/* Where what is padded comes from, by the letters of NumPy's modes. */
typedef enum { CONSTANT = 'c', EDGE = 'e', REFLECT = 'r', WRAP = 'w' } pad_mode;

/* The source of an element that is `at` places from the first one. */
static int64_t
source_of(pad_mode mode, int64_t at, int64_t n)
{
    switch (mode) {
    case EDGE:
        return at < 0 ? 0 : n - 1;
    case REFLECT:
        return at < 0 ? -at : 2 * (n - 1) - at;
    case WRAP:
        return at < 0 ? at + n : at - n;
    case CONSTANT:
        break;
    }
    return 0;
}

static bool
reaches(pad_mode mode, int64_t width, int64_t n)
{
    return mode == CONSTANT || width == 0 ||
           (mode == EDGE ? n > 0 : width <= (mode == WRAP ? n : n - 1));
}

/* Fills in what lies before and after a dim, for all that is there of those before it;
 * what is not yet in those after it is filled in with them. */
static void
fill_dim(PyArrayObject *out, int dim, int64_t before, int64_t n, pad_mode mode)
{
    int64_t outer = 1, bytes = PyArray_ITEMSIZE(out), length = PyArray_DIM(out, dim);
    for (int d = 0; d < PyArray_NDIM(out); d++)
        if (d != dim)
            *(d < dim ? &outer : &bytes) *= PyArray_DIM(out, d);
    char *to = PyArray_BYTES(out);
    for (int64_t o = 0; o < outer; o++, to += length * bytes)
        for (int64_t p = 0; p < length; p++) {
            if (p == before)
                p += n;
            if (p < length)
                memcpy(to + p * bytes,
                       to + (before + source_of(mode, p - before, n)) * bytes,
                       (size_t)bytes);
        }
}

static PyObject *
padded(PyObject *Py_UNUSED(module), PyObject *args)
{
    PyArrayObject *x;
    PyObject *given, *value;
    int mode;
    int64_t widths[2 * DT_MAX_NDIM], shape[DT_MAX_NDIM];
    if (!PyArg_ParseTuple(args, "O!O!CO:padded", &PyArray_Type, &x, &PyTuple_Type,
                          &given, &mode, &value))
        return NULL;
    int ndim = PyArray_NDIM(x);
    if (PyTuple_GET_SIZE(given) != 2 * ndim)
        return PyErr_Format(PyExc_ValueError, "padded: widths of another array");
    int64_t offset = 0;
    for (int k = 0; k < 2 * ndim; k++) {
        int64_t n = PyArray_DIM(x, k / 2);
        widths[k] = PyLong_AsLongLong(PyTuple_GET_ITEM(given, k));
        if (widths[k] < 0 || !reaches((pad_mode)mode, widths[k], n))
            return PyErr_Occurred() ? NULL
                                    : PyErr_Format(PyExc_ValueError, "padded: width %d",
                                                   (int)widths[k]);
        if (k % 2 == 1)
            shape[k / 2] = widths[k - 1] + n + widths[k];
    }
    PyArrayObject *out = new_array(ndim, shape, x);
    bool good =
        out != NULL && (mode != CONSTANT || PyArray_FillWithScalar(out, value) == 0);
    for (int d = 0; d < ndim && good; d++)
        offset += widths[2 * d] * PyArray_STRIDE(out, d);
    PyObject *inner = good ? view_of(out, PyArray_BYTES(out) + offset, ndim,
                                     PyArray_DIMS(x), PyArray_STRIDES(out))
                           : NULL;
    good = inner != NULL && PyArray_CopyInto((PyArrayObject *)inner, x) == 0;
    for (int d = 0; d < ndim && good && mode != CONSTANT; d++)
        fill_dim(out, d, widths[2 * d], PyArray_DIM(x, d), (pad_mode)mode);
    Py_XDECREF(inner);
    if (!good)
        Py_CLEAR(out);
    return (PyObject *)out;
}

/* --- windows --- */

static PyObject *
windows_of(PyObject *Py_UNUSED(module), PyObject *args)
{
    PyArrayObject *x;
    int dim;
    Py_ssize_t size, step;
    npy_intp shape[DT_MAX_NDIM + 1], strides[DT_MAX_NDIM + 1];
    if (!PyArg_ParseTuple(args, "O!inn:windows_of", &PyArray_Type, &x, &dim, &size,
                          &step))
        return NULL;
    int ndim = PyArray_NDIM(x);
    if (dim < 0 || dim >= ndim || ndim >= DT_MAX_NDIM || size < 0 || step < 1 ||
        size > PyArray_DIM(x, dim))
        return PyErr_Format(PyExc_ValueError, "windows_of: size %zd, step %zd", size,
                            step);
    memcpy(shape, PyArray_DIMS(x), (size_t)ndim * sizeof *shape);
    memcpy(strides, PyArray_STRIDES(x), (size_t)ndim * sizeof *strides);
    shape[ndim] = size;
    strides[ndim] = strides[dim];
    shape[dim] = (shape[dim] - size) / step + 1;
    strides[dim] *= step;
    PyObject *view = view_of(x, PyArray_BYTES(x), ndim + 1, shape, strides);
    if (view != NULL && step < size) /* what is written is in several windows */
        PyArray_CLEARFLAGS((PyArrayObject *)view, NPY_ARRAY_WRITEABLE);
    return view;
}

/* --- where elements are not 0 --- */

/* The array of a Tensor of this rank; borrowed. */
static PyArrayObject *
array_of(PyObject *object)
{
    if (!ext_is_tensor(object) || ext_is_dtensor(object))
        return (PyArrayObject *)PyErr_Format(PyExc_TypeError,
                                             "%R is no Tensor of this rank", object);
    PyArrayObject *array = (PyArrayObject *)((TensorObject *)object)->array;
    return ext_refuse_without_data(array) < 0 ? NULL : array;
}

/* Calls with the number of each element that is true in its turn. */
static void
write_places(int64_t *rows, const npy_bool *mask, PyArrayObject *x)
{
    int ndim = PyArray_NDIM(x), last = ndim - 1;
    npy_intp place[DT_MAX_NDIM] = {0}, lines = 1;
    for (int d = 0; d < last; d++)
        lines *= PyArray_DIM(x, d);
    for (npy_intp line = 0; line < lines; line++) {
        for (npy_intp k = 0; k < PyArray_DIM(x, last); k++)
            if (*mask++) {
                for (int d = 0; d < last; d++)
                    rows[d] = place[d];
                rows[last] = k;
                rows += ndim;
            }
        for (int d = last - 1; d >= 0 && ++place[d] == PyArray_DIM(x, d); d--)
            place[d] = 0;
    }
}

static PyObject *
places_of(PyObject *Py_UNUSED(module), PyObject *tensor)
{
    PyArrayObject *x = array_of(tensor);
    if (x == NULL)
        return NULL;
    PyArrayObject *mask = (PyArrayObject *)PyArray_FromAny(
        (PyObject *)x, PyArray_DescrFromType(NPY_BOOL), 0, 0,
        NPY_ARRAY_CARRAY_RO | NPY_ARRAY_FORCECAST, NULL);
    if (mask == NULL)
        return NULL;
    int64_t shape[] = {PyArray_CountNonzero(mask), PyArray_NDIM(x)};
    PyObject *rows = ext_array(2, shape, DT_INT64);
    if (rows != NULL && shape[0] > 0 && shape[1] > 0) {
        PyThreadState *state = ext_kernel_begin(PyArray_SIZE(x));
        write_places(PyArray_DATA((PyArrayObject *)rows), PyArray_DATA(mask), x);
        ext_kernel_end(state);
    }
    Py_DECREF(mask);
    return rows == NULL ? NULL : ext_tensor(rows);
}

static PyObject *
places_apart(PyObject *Py_UNUSED(module), PyObject *tensor)
{
    PyArrayObject *x = array_of(tensor);
    PyObject *found = x == NULL ? NULL : PyArray_Nonzero(x);
    Py_ssize_t count = found == NULL ? 0 : PyTuple_GET_SIZE(found);
    PyObject *made = found == NULL ? NULL : PyTuple_New(count);
    for (Py_ssize_t k = 0; made != NULL && k < count; k++)
        ext_put(&made, k, ext_tensor(Py_NewRef(PyTuple_GET_ITEM(found, k))));
    Py_XDECREF(found);
    return made;
}

/* --- whether two are equal --- */

#define SAME(name, type)                                                               \
    static bool name(const type *a, const type *b, npy_intp count)                     \
    {                                                                                  \
        enum { AT_ONCE = 256 };                                                        \
        bool same = true;                                                              \
        for (npy_intp k = 0; k < count && same; k += AT_ONCE) {                        \
            int differ = 0;                                                            \
            for (npy_intp j = k; j < count && j < k + AT_ONCE; j++)                    \
                differ |= !(a[j] == b[j]);                                             \
            same = differ == 0;                                                        \
        }                                                                              \
        return same;                                                                   \
    }

SAME(same_float32, float)
SAME(same_float64, double)

/* Of floats, integers or booleans of one dtype. */
static bool
is_same(PyArrayObject *a, PyArrayObject *b)
{
    const void *x = PyArray_DATA(a), *y = PyArray_DATA(b);
    if (PyArray_TYPE(a) == NPY_FLOAT)
        return same_float32(x, y, PyArray_SIZE(a));
    if (PyArray_TYPE(a) == NPY_DOUBLE)
        return same_float64(x, y, PyArray_SIZE(a));
    return memcmp(x, y, (size_t)PyArray_NBYTES(a)) == 0;
}

static PyObject *
same_elements(PyObject *Py_UNUSED(module), PyObject *const *args, Py_ssize_t nargs,
              PyObject *kwnames)
{
    if (nargs != 2 || kwnames != NULL)
        return PyErr_Format(PyExc_TypeError, "same_elements takes two tensors");
    PyArrayObject *x = array_of(args[0]), *y = x == NULL ? NULL : array_of(args[1]);
    if (y == NULL)
        return NULL;
    if (!PyArray_SAMESHAPE(x, y))
        Py_RETURN_FALSE;
    PyArrayObject *a = in_order((PyObject *)x), *b = in_order((PyObject *)y);
    bool same = a != NULL && b != NULL && is_same(a, b);
    Py_XDECREF(a);
    Py_XDECREF(b);
    return PyErr_Occurred() ? NULL : PyBool_FromLong(same);
}

PyMethodDef ext_shape_methods[] = {
    {"padded", padded, METH_VARARGS,
     "padded(x, widths, mode, value, /)\n--\n\n"
     "Return an array with so many elements before and after each dim, by the first\n"
     "letter of NumPy's mode: a number, or copies of elements (edge, reflect, wrap), "
     "of\n"
     "which there must be enough."},
    {"windows_of", windows_of, METH_VARARGS,
     "windows_of(x, dim, size, step, /)\n--\n\n"
     "Return a view of windows along a dim, as a new last dim; read-only if they\n"
     "overlap."},
    {"places_of", places_of, METH_O,
     "places_of(tensor, /)\n--\n\n"
     "Return the indices of a Tensor's elements that are not 0, one row for each."},
    {"places_apart", places_apart, METH_O,
     "places_apart(tensor, /)\n--\n\n"
     "Return the same as a tuple, one Tensor for each dim."},
    {"same_elements", EXT_FAST(same_elements),
     "same_elements(a, b, /)\n--\n\n"
     "Return whether two Tensors of one dtype, real or boolean, have the same shape\n"
     "and elements."},
    {0},
};
