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

/* Whether this NumPy adds up in that order along one dim of an array whose sums have other
 * bits in another order. */
static bool
adds_up_so(PyArrayObject *array, PyArrayObject *out, int axis)
{
    static PyObject *add;
    sums s = {.along = axis == 1};
    s.rows = PyArray_DIM(array, 0);
    s.length = PyArray_DIM(array, 1);
    PyObject *theirs = ext_import(&add, "numpy", "add") == NULL
                           ? NULL
                           : PyObject_CallMethod(add, "reduce", "Oi", array, axis);
    bool same = theirs != NULL && PyArray_CheckExact(theirs) &&
                add_up(&s, array, out) == 0 &&
                PyArray_NBYTES((PyArrayObject *)theirs) ==
                    PyArray_DIM(array, 1 - axis) * PyArray_ITEMSIZE(array) &&
                memcmp(PyArray_DATA((PyArrayObject *)theirs), PyArray_DATA(out),
                       (size_t)PyArray_NBYTES((PyArrayObject *)theirs)) == 0;
    Py_XDECREF(theirs);
    return same;
}

/* Asked once. */
static bool
is_as_numpy(void)
{
    enum { ROWS = 17, LENGTH = 300 };
    static bool asked, answer;
    npy_intp shape[] = {ROWS, LENGTH};
    if (asked)
        return answer;
    asked = true;
    PyArrayObject *array = (PyArrayObject *)PyArray_SimpleNew(2, shape, NPY_FLOAT);
    PyArrayObject *out = (PyArrayObject *)PyArray_SimpleNew(1, shape + 1, NPY_FLOAT);
    if (array != NULL && out != NULL) {
        float *elements = PyArray_DATA(array);
        for (int k = 0; k < ROWS * LENGTH; k++)
            elements[k] = 1 / (1 + (float)k);
        answer = adds_up_so(array, out, 0) && adds_up_so(array, out, 1);
    }
    Py_XDECREF((PyObject *)array);
    Py_XDECREF((PyObject *)out);
    PyErr_Clear();
    return answer;
}

void
op_sum_keep(op_entry *entry, PyObject *const *argv)
{
    sums s;
    if (entry->summed || entry->ufunc || entry->runs > OP_LOOP_ATTEMPTS ||
        !op_is_sum(entry) || entry->runs++ == 0) /* it may be the only call */
        return;
    entry->summed = PyArray_CheckExact(argv[0]) &&
                    lay_out(&s, entry, (PyArrayObject *)argv[0]) && is_as_numpy();
}
