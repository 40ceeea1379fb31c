/* index.c: how PyTorch's dialect reads the index of x[i], where NumPy reads another one. */
#include "ext/face/face.h"

#include <stdlib.h>

/* --- what both read alike --- */

static inline bool
is_plain_item(PyObject *item)
{
    return PySlice_Check(item) || item == Py_None || item == Py_Ellipsis;
}

/* Whether so many integers pick one element. */
static bool
pick_element(Py_ssize_t integers, PyObject *tensor)
{
    int64_t shape[DT_MAX_NDIM];
    return integers == ext_tensor_shape(shape, (TensorObject *)tensor);
}

bool
ext_index_is_plain(PyObject *self, PyObject *index)
{
    if (!PyTuple_CheckExact(index))
        return is_plain_item(index) ||
               (PyLong_CheckExact(index) && !pick_element(1, self));
    Py_ssize_t count = PyTuple_GET_SIZE(index), integers = 0;
    for (Py_ssize_t k = 0; k < count; k++) {
        PyObject *item = PyTuple_GET_ITEM(index, k);
        if (PyLong_CheckExact(item))
            integers++;
        else if (!is_plain_item(item))
            return false;
    }
    return integers < count || !pick_element(count, self);
}

/* --- integers --- */

/* An item of PyTorch's index that is an integer, also in an array without dims: a new
 * reference to what NumPy takes for one; to the item itself where it is none. */
static PyObject *
item_of_index(PyObject *object, bool *integer)
{
    *integer = PyLong_CheckExact(object) || PyArray_IsScalar(object, Integer);
    PyArrayObject *array = NULL;
    if (ext_is_tensor(object))
        array = (PyArrayObject *)((TensorObject *)object)->array;
    else if (PyArray_Check(object))
        array = (PyArrayObject *)object;
    if (array == NULL || PyArray_NDIM(array) > 0 || !PyArray_ISINTEGER(array) ||
        (ext_is_dtensor(object) && ((DTensorObject *)object)->layout->layout->ndim > 0))
        return Py_NewRef(object);
    *integer = true;
    return PyNumber_Index(object);
}

/* The same index, with "..." behind the integers of an element: of PyTorch's tensors it
 * is a view, too. */
PyObject *
ext_index_in_torch(PyObject *self, PyObject *index)
{
    bool several = PyTuple_CheckExact(index), all = true, integer;
    Py_ssize_t count = several ? PyTuple_GET_SIZE(index) : 1;
    int64_t shape[DT_MAX_NDIM];
    PyObject *items = PyTuple_New(count + 1);
    for (Py_ssize_t k = 0; k < count && items != NULL; k++) {
        PyObject *item =
            item_of_index(several ? PyTuple_GET_ITEM(index, k) : index, &integer);
        all = all && integer;
        if (item == NULL)
            Py_CLEAR(items);
        else
            PyTuple_SET_ITEM(items, k, item);
    }
    if (items == NULL)
        return NULL;
    if (all && count == ext_tensor_shape(shape, (TensorObject *)self)) {
        PyTuple_SET_ITEM(items, count, Py_NewRef(Py_Ellipsis));
        return items;
    }
    PyObject *result = several ? PyTuple_GetSlice(items, 0, count)
                               : Py_NewRef(PyTuple_GET_ITEM(items, 0));
    Py_DECREF(items);
    return result;
}

/* --- what only PyTorch reads so --- */

/* What an item is to PyTorch. */
typedef enum {
    ITEM_BESIDE, /* a slice, None: it separates arrays */
    ITEM_DOTS,   /* "...", which may stand for no dims */
    ITEM_INTEGER,
    ITEM_ARRAY,
    ITEM_BYTES, /* an array of uint8: a mask */
} item_kind;

static item_kind
kind_of_item(PyObject *item)
{
    if (PyLong_Check(item) && !PyBool_Check(item))
        return ITEM_INTEGER;
    if (PySlice_Check(item) || item == Py_None)
        return ITEM_BESIDE;
    if (item == Py_Ellipsis)
        return ITEM_DOTS;
    PyArrayObject *array = NULL;
    if (ext_is_tensor(item))
        array = (PyArrayObject *)((TensorObject *)item)->array;
    else if (PyArray_Check(item))
        array = (PyArrayObject *)item;
    if (array == NULL)
        return PyArray_IsScalar(item, Integer) ? ITEM_INTEGER : ITEM_ARRAY;
    if (PyArray_TYPE(array) == NPY_UINT8)
        return ITEM_BYTES;
    int ndim = ext_is_dtensor(item) ? ((DTensorObject *)item)->layout->layout->ndim
                                    : PyArray_NDIM(array);
    return ndim == 0 && PyArray_ISINTEGER(array) ? ITEM_INTEGER : ITEM_ARRAY;
}

/* Whether a sequence that is no tuple counts as one: if it holds more than integers. */
static bool
is_like_tuple(PyObject *index)
{
    Py_ssize_t count = PySequence_Check(index) ? PySequence_Size(index) : 0;
    bool found = false;
    for (Py_ssize_t k = 0; k < count && count < 32 && !found; k++) {
        PyObject *item = PySequence_GetItem(index, k);
        found = item != NULL &&
                (item == Py_None || item == Py_Ellipsis || PySlice_Check(item) ||
                 ext_is_tensor(item) || PySequence_Check(item));
        count = item == NULL ? 0 : count;
        Py_XDECREF(item);
    }
    PyErr_Clear();
    return found;
}

bool
ext_index_differs(PyObject *index)
{
    if (!PyTuple_Check(index)) {
        item_kind kind = kind_of_item(index);
        bool array = ext_is_tensor(index) || PyArray_Check(index);
        return kind == ITEM_BYTES ||
               (kind == ITEM_ARRAY && !array && is_like_tuple(index));
    }
    Py_ssize_t first = -1, last = -1, picks = 0;
    bool seen[ITEM_BYTES + 1] = {false};
    for (Py_ssize_t k = 0; k < PyTuple_GET_SIZE(index); k++) {
        item_kind kind = kind_of_item(PyTuple_GET_ITEM(index, k));
        seen[kind] = true;
        if (kind == ITEM_BESIDE || kind == ITEM_DOTS)
            continue;
        first = picks == 0 ? k : first;
        last = k;
        picks++;
    }
    bool apart = last - first >= picks;
    return seen[ITEM_BYTES] ||
           (seen[ITEM_ARRAY] && apart && (seen[ITEM_INTEGER] || seen[ITEM_DOTS]));
}

/* --- parts of views that show elements more than once --- */

/* Whether no element is shown twice, as far as the strides tell. */
static bool
is_apart(PyArrayObject *array)
{
    bool done[NPY_MAXDIMS] = {false};
    npy_intp span = PyArray_ITEMSIZE(array); /* of the dims that are done */
    for (int k = 0; k < PyArray_NDIM(array); k++) {
        int next = -1;
        for (int d = 0; d < PyArray_NDIM(array); d++)
            if (!done[d] && (next < 0 || labs(PyArray_STRIDE(array, d)) <
                                             labs(PyArray_STRIDE(array, next))))
                next = d;
        done[next] = true;
        npy_intp stride = labs(PyArray_STRIDE(array, next));
        if (PyArray_DIM(array, next) > 1 && stride < span)
            return false;
        if (PyArray_DIM(array, next) > 1)
            span += stride * (PyArray_DIM(array, next) - 1);
    }
    return true;
}

/* The array of a Tensor of this rank; NULL for anything else. */
static PyArrayObject *
array_of(PyObject *object)
{
    bool plain = ext_is_tensor(object) && !ext_is_dtensor(object);
    PyArrayObject *array =
        plain ? (PyArrayObject *)((TensorObject *)object)->array : NULL;
    return array != NULL && ext_has_data(array) ? array : NULL;
}

bool
ext_shows_twice(PyObject *tensor)
{
    PyArrayObject *array = array_of(tensor);
    return array != NULL && !is_apart(array) && PyArray_ISWRITEABLE(ext_owner(array));
}

bool
ext_open_part(PyObject *part, PyObject *whole)
{
    PyArrayObject *to = array_of(part);
    if (to == NULL || ext_owner(to) != ext_owner(array_of(whole)) || !is_apart(to))
        return false;
    PyArray_ENABLEFLAGS(to, NPY_ARRAY_WRITEABLE);
    return true;
}
