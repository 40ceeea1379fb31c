/* merge.c: sorted runs of the lines of an array become one run. */
#include "ext/kernels/kernels.h"

#include "kernels/merge.h"

/* New arrays like those that are merged, the one with places only if there is one. */
typedef struct {
    PyArrayObject *values, *places;
} pair;

static void
clear(pair *p)
{
    Py_CLEAR(p->values);
    Py_CLEAR(p->places);
}

static dt_runs
runs_at(const pair *p, npy_intp line)
{
    dt_runs runs = {NULL, NULL};
    if (p->values != NULL)
        runs.values = PyArray_BYTES(p->values) + line * PyArray_STRIDE(p->values, 0);
    if (p->places != NULL)
        runs.places =
            (int64_t *)PyArray_DATA(p->places) + line * PyArray_DIM(p->values, 1);
    return runs;
}

static int
make_like(pair *out, const pair *in, dt_dtype dtype)
{
    const int64_t shape[2] = {PyArray_DIM(in->values, 0), PyArray_DIM(in->values, 1)};
    out->values = (PyArrayObject *)ext_array(2, shape, dtype);
    if (out->values != NULL && in->places != NULL)
        out->places = (PyArrayObject *)ext_array(2, shape, DT_INT64);
    bool good = out->values != NULL && (in->places == NULL) == (out->places == NULL);
    return good ? 0 : -1;
}

static bool
is_plain(PyObject *object, int ndim)
{
    PyArrayObject *x = (PyArrayObject *)object;
    return PyArray_Check(object) && PyArray_NDIM(x) == ndim && PyArray_ISCARRAY_RO(x);
}

/* Whether these are lines of runs that the kernel knows, with their sizes. */
static bool
are_runs(dt_dtype *dtype, PyObject *values, PyObject *sizes, PyObject *places)
{
    if (!is_plain(values, 2) || !is_plain(sizes, 2) ||
        PyArray_TYPE((PyArrayObject *)sizes) != NPY_INT64 ||
        (places != Py_None &&
         (!is_plain(places, 2) || PyArray_TYPE((PyArrayObject *)places) != NPY_INT64 ||
          !PyArray_SAMESHAPE((PyArrayObject *)places, (PyArrayObject *)values))))
        return false;
    PyArrayObject *x = (PyArrayObject *)values, *s = (PyArrayObject *)sizes;
    if (ext_dtype(dtype, PyArray_DESCR(x), "merged") < 0 || !dt_merge_has(*dtype)) {
        PyErr_Clear();
        return false;
    }
    const int64_t *size = PyArray_DATA(s);
    bool good = PyArray_DIM(s, 0) == PyArray_DIM(x, 0);
    for (npy_intp line = 0; good && line < PyArray_DIM(s, 0); line++) {
        int64_t left = PyArray_DIM(x, 1);
        for (npy_intp k = 0; k < PyArray_DIM(s, 1); k++, size++) {
            good = good && 0 <= *size && *size <= left;
            left -= *size;
        }
        good = good && left == 0;
    }
    return good;
}

/* Merges all lines; the result is in `out`, or in `other`: which one, is returned. */
static const pair *
merge_lines(dt_dtype dtype, const pair *in, PyArrayObject *sizes, const pair *out,
            const pair *other)
{
    const npy_intp count = PyArray_DIM(sizes, 1);
    bool in_other = false;
    for (npy_intp line = 0; line < PyArray_DIM(sizes, 0); line++) {
        const dt_runs x = runs_at(in, line), a = runs_at(out, line),
                      b = runs_at(other, line);
        int64_t *own = (int64_t *)PyArray_DATA(sizes) + line * count;
        in_other = dt_merge(dtype, &x, own, count, &a, &b) == &b;
    }
    return in_other ? other : out;
}

static PyObject *
merged(PyObject *Py_UNUSED(module), PyObject *args)
{
    PyObject *values, *sizes, *places = Py_None;
    dt_dtype dtype;
    if (!PyArg_ParseTuple(args, "OO|O:merged", &values, &sizes, &places))
        return NULL;
    if (!are_runs(&dtype, values, sizes, places)) {
        PyErr_SetString(PyExc_TypeError,
                        "merged: lines in C order, the sizes of their runs, and "
                        "perhaps places");
        return NULL;
    }
    const pair in = {(PyArrayObject *)values,
                     places == Py_None ? NULL : (PyArrayObject *)places};
    pair out = {NULL, NULL}, other = {NULL, NULL};
    PyArrayObject *own = (PyArrayObject *)PyArray_NewCopy((PyArrayObject *)sizes, 0);
    bool good = own != NULL && make_like(&out, &in, dtype) == 0 &&
                (PyArray_DIM(own, 1) <= 2 || make_like(&other, &in, dtype) == 0);
    PyObject *result = NULL;
    if (good) {
        PyThreadState *state = ext_kernel_begin(PyArray_SIZE(in.values));
        const pair *found = merge_lines(dtype, &in, own, &out, &other);
        ext_kernel_end(state);
        result = in.places == NULL
                     ? Py_NewRef((PyObject *)found->values)
                     : Py_BuildValue("(OO)", found->values, found->places);
    }
    clear(&out);
    clear(&other);
    Py_XDECREF(own);
    return result;
}

PyMethodDef ext_merge_methods[] = {
    {"merged", merged, METH_VARARGS,
     "merged(values, sizes, places=None, /)\n--\n\n"
     "Return lines, shape (lines, elements), each of them sorted runs, as one run:\n"
     "run k of line i has sizes[i, k] elements. NaN comes last; of equal elements\n"
     "those of an earlier run come first. With places, an int64 for each, both."},
    {0},
};
