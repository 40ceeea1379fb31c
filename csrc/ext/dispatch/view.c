/* view.c: views made again. What a method of NumPy's arrays shows of an array depends on
 * the shape and strides of that array alone: where these are as they were, so is what is
 * shown, and the array is made without the method. */
#include "ext/dispatch/dispatch.h"

#include <limits.h>
#include <string.h>

/* Where a write warns; it has no name in NumPy's headers. */
enum { WARNS = INT_MIN };
enum { FLAGS = NPY_ARRAY_WRITEABLE | NPY_ARRAY_ALIGNED | WARNS };

static size_t
bytes(int ndim)
{
    return (size_t)ndim * sizeof(npy_intp);
}

/* Arrays without dims have no place for lengths. */
static void
put(npy_intp *out, const npy_intp *lengths, int ndim)
{
    if (ndim > 0)
        memcpy(out, lengths, bytes(ndim));
}

static bool
same(const npy_intp *a, const npy_intp *b, int ndim)
{
    return ndim == 0 || memcmp(a, b, bytes(ndim)) == 0;
}

/* Whether it is an array as before; its shape is that of the entry's layout. */
static bool
fits(const op_view *view, PyArrayObject *source)
{
    return PyArray_CheckExact(source) && PyArray_DESCR(source) == view->from &&
           PyArray_NDIM(source) == view->from_ndim &&
           (PyArray_FLAGS(source) & FLAGS) == view->from_flags &&
           same(PyArray_STRIDES(source), view->lengths, view->from_ndim);
}

PyObject *
op_view_again(const op_entry *entry, PyObject *const *argv)
{
    const op_view *view = entry->view;
    PyArrayObject *source = (PyArrayObject *)argv[0];
    if (!fits(view, source))
        return NULL;
    /* No other code runs before the array is there. */
    PyObject *result = PyArray_NewFromDescr(
        &PyArray_Type, (PyArray_Descr *)Py_NewRef((PyObject *)view->to), view->ndim,
        view->lengths + view->from_ndim, view->lengths + view->from_ndim + view->ndim,
        PyArray_BYTES(source) + view->offset, view->flags, NULL);
    if (result != NULL && PyArray_SetBaseObject((PyArrayObject *)result,
                                                Py_NewRef((PyObject *)source)) < 0)
        Py_CLEAR(result);
    if (result == NULL)
        PyErr_Clear();
    return result;
}

/* Whether an array shows the memory of another one. */
static bool
shows(PyArrayObject *view, PyArrayObject *source)
{
    PyObject *base = PyArray_BASE(view);
    return view != source && base != NULL &&
           (base == (PyObject *)source || base == PyArray_BASE(source));
}

/* Whether the entry promises such an array. */
static bool
is_promised(const op_entry *entry, PyArrayObject *shown)
{
    const op_result *result = entry->results;
    bool good = entry->solo ||
                (result->ndim == PyArray_NDIM(shown) &&
                 ext_dtype_is(PyArray_DESCR(shown), result->layout->layout->dtype));
    for (int d = 0; good && !entry->solo && d < result->ndim; d++)
        good = PyArray_DIM(shown, d) == result->shape[d];
    return good;
}

/* Room for what is shown; NULL: no memory. */
static op_view *
room(op_entry *entry, int from_ndim, int ndim)
{
    op_view *view = entry->view;
    if (view != NULL && view->from_ndim == from_ndim && view->ndim == ndim)
        return view;
    op_view_free(view);
    entry->view = view =
        PyMem_Calloc(1, sizeof *view + bytes(from_ndim) + 2 * bytes(ndim));
    return view;
}

void
op_view_keep(op_entry *entry, PyObject *const *argv, PyObject *result)
{
    if (!entry->geometric || !PyArray_CheckExact(argv[0]) ||
        !PyArray_CheckExact(result))
        return;
    PyArrayObject *source = (PyArrayObject *)argv[0], *shown = (PyArrayObject *)result;
    bool warns = ((PyArray_FLAGS(source) | PyArray_FLAGS(shown)) & WARNS) != 0;
    if (!shows(shown, source) || !is_promised(entry, shown) || warns)
        return;
    int from_ndim = PyArray_NDIM(source), ndim = PyArray_NDIM(shown);
    op_view *view = room(entry, from_ndim, ndim);
    if (view == NULL)
        return;
    view->from_ndim = from_ndim;
    view->from_flags = PyArray_FLAGS(source) & FLAGS;
    view->ndim = ndim;
    view->flags = PyArray_FLAGS(shown) & FLAGS;
    view->offset = PyArray_BYTES(shown) - PyArray_BYTES(source);
    npy_intp *lengths = view->lengths;
    put(lengths, PyArray_STRIDES(source), from_ndim);
    put(lengths + from_ndim, PyArray_DIMS(shown), ndim);
    put(lengths + from_ndim + ndim, PyArray_STRIDES(shown), ndim);
    Py_XSETREF(view->from, (PyArray_Descr *)Py_NewRef(PyArray_DESCR(source)));
    Py_XSETREF(view->to, (PyArray_Descr *)Py_NewRef(PyArray_DESCR(shown)));
}
