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

/* --- turned, shifted, cut off --- */

static PyObject *
flipped(PyObject *Py_UNUSED(module), PyObject *args)
{
    PyArrayObject *x;
    PyObject *axes;
    npy_intp strides[DT_MAX_NDIM];
    int64_t shape[DT_MAX_NDIM];
    if (!PyArg_ParseTuple(args, "O!O!:flipped", &PyArray_Type, &x, &PyTuple_Type,
                          &axes))
        return NULL;
    int ndim = ext_array_shape(shape, x);
    char *begin = PyArray_BYTES(x);
    for (int d = 0; d < ndim; d++)
        strides[d] = PyArray_STRIDE(x, d);
    for (Py_ssize_t k = 0; k < PyTuple_GET_SIZE(axes); k++) {
        long d = PyLong_AsLong(PyTuple_GET_ITEM(axes, k));
        if (d < 0 || d >= ndim || PyErr_Occurred())
            return PyErr_Format(PyExc_ValueError, "flipped: dim %ld", d);
        if (PyArray_SIZE(x) > 0)
            begin += (shape[d] - 1) * PyArray_STRIDE(x, (int)d);
        strides[d] = -PyArray_STRIDE(x, (int)d);
    }
    PyObject *view = view_of(x, begin, ndim, PyArray_DIMS(x), strides);
    PyArrayObject *out = view == NULL ? NULL : new_array(ndim, shape, x);
    if (out != NULL && PyArray_CopyInto(out, (PyArrayObject *)view) < 0)
        Py_CLEAR(out);
    Py_XDECREF(view);
    return (PyObject *)out;
}

static PyObject *
rolled(PyObject *Py_UNUSED(module), PyObject *args)
{
    PyObject *object;
    Py_ssize_t shift;
    int dim;
    int64_t shape[DT_MAX_NDIM], outer = 1;
    if (!PyArg_ParseTuple(args, "Oni:rolled", &object, &shift, &dim))
        return NULL;
    PyArrayObject *x = in_order(object), *out = NULL;
    int ndim = x == NULL ? 0 : ext_array_shape(shape, x);
    if (x != NULL && (dim < 0 || dim >= ndim || shift < 0 || shift > shape[dim]))
        PyErr_Format(PyExc_ValueError, "rolled: %zd along dim %d", shift, dim);
    else if (x != NULL)
        out = new_array(ndim, shape, x);
    size_t bytes = out == NULL ? 0 : (size_t)PyArray_ITEMSIZE(x);
    for (int d = 0; d < ndim; d++)
        if (d > dim)
            bytes *= (size_t)shape[d];
        else if (d < dim)
            outer *= shape[d];
    const size_t whole = bytes * (size_t)(out == NULL ? 0 : shape[dim]);
    const size_t first = bytes * (size_t)shift;
    for (int64_t o = 0; out != NULL && o < outer; o++) {
        char *to = PyArray_BYTES(out) + (size_t)o * whole;
        const char *from = PyArray_BYTES(x) + (size_t)o * whole;
        memcpy(to + first, from, whole - first);
        memcpy(to, from + whole - first, first);
    }
    Py_XDECREF(x);
    return (PyObject *)out;
}

/* One row of a triangle: columns from `bound` on, or up to there. */
static void
cut_row(char *to, const char *from, const int64_t *columns, npy_intp count, size_t size,
        int64_t bound, bool upper)
{
    bool rising = count > 0 && columns[count - 1] - columns[0] == count - 1;
    memset(to, 0, (size_t)count * size);
    if (rising) { /* one after the other, as parts of a dim are */
        int64_t cut = bound - columns[0] + (upper ? 0 : 1);
        cut = cut < 0 ? 0 : cut > count ? count : cut;
        size_t first = (size_t)cut * size, all = (size_t)count * size;
        if (upper)
            memcpy(to + first, from + first, all - first);
        else
            memcpy(to, from, first);
        return;
    }
    for (npy_intp j = 0; j < count; j++)
        if (upper ? columns[j] >= bound : columns[j] <= bound)
            memcpy(to + (size_t)j * size, from + (size_t)j * size, size);
}

static PyObject *
triangle(PyObject *Py_UNUSED(module), PyObject *args)
{
    PyObject *object, *given[2];
    Py_ssize_t k;
    int upper;
    int64_t shape[DT_MAX_NDIM];
    if (!PyArg_ParseTuple(args, "OOOnp:triangle", &object, &given[0], &given[1], &k,
                          &upper))
        return NULL;
    PyArrayObject *x = in_order(object), *out = NULL, *at[2] = {NULL};
    for (int d = 0; d < 2; d++)
        at[d] =
            (PyArrayObject *)PyArray_FromAny(given[d], PyArray_DescrFromType(NPY_INT64),
                                             1, 1, NPY_ARRAY_CARRAY_RO, NULL);
    bool good = x != NULL && at[0] != NULL && at[1] != NULL;
    int ndim = good ? ext_array_shape(shape, x) : 0;
    if (good && (ndim < 2 || PyArray_SIZE(at[0]) != shape[ndim - 2] ||
                 PyArray_SIZE(at[1]) != shape[ndim - 1]))
        PyErr_SetString(PyExc_ValueError, "triangle: the rows do not match the array");
    else if (good)
        out = new_array(ndim, shape, x);
    npy_intp columns = out == NULL ? 0 : shape[ndim - 1];
    npy_intp rows = columns == 0 ? 0 : PyArray_SIZE(x) / columns;
    size_t size = out == NULL ? 0 : (size_t)PyArray_ITEMSIZE(x);
    for (npy_intp i = 0; i < rows; i++) {
        int64_t row = ((const int64_t *)PyArray_DATA(at[0]))[i % shape[ndim - 2]];
        size_t offset = (size_t)(i * columns) * size;
        cut_row(PyArray_BYTES(out) + offset, PyArray_BYTES(x) + offset,
                PyArray_DATA(at[1]), columns, size, row + k, upper != 0);
    }
    Py_XDECREF(x);
    Py_XDECREF(at[0]);
    Py_XDECREF(at[1]);
    return (PyObject *)out;
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
    return ext_refuse_without_data(array) < 0 || ext_catch_up() < 0 ? NULL : array;
}

/* Writes the index of each element that is true: a row for each. */
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
        ext_put(&made, k, ext_tensor((PyObject *)in_order(PyTuple_GET_ITEM(found, k))));
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
    {"flipped", flipped, METH_VARARGS,
     "flipped(x, axes, /)\n--\n\n"
     "Return a copy with the order along some dims reversed."},
    {"rolled", rolled, METH_VARARGS,
     "rolled(x, shift, dim, /)\n--\n\n"
     "Return a copy whose elements are `shift` places further along a dim; what is\n"
     "beyond its end comes first."},
    {"triangle", triangle, METH_VARARGS,
     "triangle(x, rows, columns, k, upper, /)\n--\n\n"
     "Return a copy with zeros but for elements in columns from row + k on, or up to\n"
     "there; `rows` and `columns` number those of the last two dims."},
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
