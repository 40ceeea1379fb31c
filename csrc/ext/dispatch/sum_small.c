/* sum_small.c: sums of small arrays along their first or last dims, by NumPy's loop that
 * adds, as loop.c has those of other ufuncs. NumPy begins with 0. Along the last dims it
 * gives its loop the elements of a row, which are added up in pairs; along the first ones
 * a whole row, which is added to the sums of those before. */
#include "ext/dispatch/sum.h"

#include <string.h>

enum { MOST_ELEMENTS = 4096 /* NumPy cuts what is longer than its buffer */ };

typedef struct {
    bool along; /* the elements of each row are added up; else the rows */
    npy_intp rows, length;
    int ndim;                    /* of the result */
    npy_intp shape[NPY_MAXDIMS]; /* of that */
} sums;

/* Whether a tuple has `count` numbers from `first` on. */
static bool
are_from(PyObject *axes, long first)
{
    for (Py_ssize_t k = 0; k < PyTuple_GET_SIZE(axes); k++) {
        PyObject *axis = PyTuple_GET_ITEM(axes, k);
        if (!PyLong_CheckExact(axis) || PyLong_AsLong(axis) != first + k)
            return false;
    }
    return true;
}

static bool
lay_out(sums *s, const op_entry *entry, PyArrayObject *array)
{
    int ndim = PyArray_NDIM(array), type = PyArray_TYPE(array);
    PyObject *axes = entry->slots[1].value;
    bool keep = entry->slots[2].value == Py_True;
    if (!PyArray_ISCARRAY_RO(array) || (type != NPY_FLOAT && type != NPY_DOUBLE) ||
        PyArray_SIZE(array) == 0 || PyArray_SIZE(array) > MOST_ELEMENTS ||
        !PyTuple_CheckExact(axes) || (!keep && entry->slots[2].value != Py_False))
        return false;
    int count = (int)PyTuple_GET_SIZE(axes);
    if (count == 0 || count > ndim)
        return false;
    s->along = are_from(axes, ndim - count);
    if (!s->along && !are_from(axes, 0))
        return false;
    int first = s->along ? ndim - count : 0;
    npy_intp added = 1;
    s->ndim = 0;
    for (int d = 0; d < ndim; d++) {
        bool kept = d < first || d >= first + count;
        added *= kept ? 1 : PyArray_DIM(array, d);
        if (kept || keep)
            s->shape[s->ndim++] = kept ? PyArray_DIM(array, d) : 1;
    }
    npy_intp others = PyArray_SIZE(array) / added;
    s->along |= others == 1; /* dims of one element are none to NumPy's iterator */
    s->rows = s->along ? others : added;
    s->length = s->along ? added : others;
    return true;
}

/* -1: a floating-point flag was raised. */
static int
add_up(const sums *s, PyArrayObject *array, PyArrayObject *out)
{
    void *data;
    PyUFuncGenericFunction add = op_sum_loop(&data, PyArray_TYPE(array));
    npy_intp size = PyArray_ITEMSIZE(array), step = s->along ? 0 : size;
    npy_intp steps[] = {step, size, step}, length = s->length;
    char *from = PyArray_BYTES(array), *to = PyArray_BYTES(out);
    if (add == NULL)
        return -1;
    memset(to, 0, (size_t)PyArray_NBYTES(out));
    feclearexcept(LOOP_ERRORS);
    for (npy_intp row = 0; row < s->rows; row++) {
        char *total = to + (s->along ? row * size : 0);
        char *args[] = {total, from + row * length * size, total};
        add(args, &length, steps, data);
    }
    return fetestexcept(LOOP_ERRORS) == 0 ? 0 : -1;
}

PyObject *
op_sum_again(const op_entry *entry, PyObject *const *argv)
{
    PyArrayObject *array = (PyArrayObject *)argv[0];
    sums s;
    if (!PyArray_CheckExact(argv[0]) || !lay_out(&s, entry, array))
        return NULL;
    PyObject *made = op_loop_result(entry, s.ndim, s.shape, PyArray_TYPE(array));
    if (made != NULL && add_up(&s, array, (PyArrayObject *)made) < 0)
        Py_CLEAR(made);
    return made;
}

/* Whether two results have the same bits: another NumPy may add up in another order. */
static bool
is_same(PyObject *made, PyObject *result)
{
    PyArrayObject *a = (PyArrayObject *)made;
    PyArrayObject *b = (PyArrayObject *)PyArray_FROM_O(result);
    bool same =
        b != NULL && PyArray_TYPE(a) == PyArray_TYPE(b) &&
        PyArray_NDIM(a) == PyArray_NDIM(b) &&
        PyArray_CompareLists(PyArray_DIMS(a), PyArray_DIMS(b), PyArray_NDIM(a)) &&
        PyArray_IS_C_CONTIGUOUS(b) &&
        memcmp(PyArray_DATA(a), PyArray_DATA(b), (size_t)PyArray_NBYTES(a)) == 0;
    Py_XDECREF((PyObject *)b);
    PyErr_Clear();
    return same;
}

void
op_sum_keep(op_entry *entry, PyObject *const *argv, PyObject *result)
{
    if (entry->summed || entry->ufunc || entry->runs > OP_LOOP_ATTEMPTS ||
        !op_is_sum(entry) || entry->runs++ == 0) /* it may be the only one */
        return;
    PyObject *made = op_sum_again(entry, argv);
    entry->summed = made != NULL && is_same(made, result);
    if (made != NULL && !entry->summed)
        entry->runs = OP_LOOP_ATTEMPTS + 1;
    Py_XDECREF(made);
}
