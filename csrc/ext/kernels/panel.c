/* panel.c: a few lines of a matrix, factored or divided where they are. */
#include "ext/kernels/kernels.h"

#include "kernels/panel.h"

/* Reads lines that may be written, of float32 or float64: a run of memory each. */
static int
read_lines(dt_panel *out, bool *wide, PyArrayObject *x)
{
    int type = PyArray_TYPE(x);
    npy_intp size = PyArray_ITEMSIZE(x);
    bool good = (type == NPY_FLOAT || type == NPY_DOUBLE) && PyArray_NDIM(x) == 2 &&
                PyArray_ISBEHAVED(x);
    if (good && PyArray_SIZE(x) > 0)
        good = (PyArray_STRIDE(x, 1) == size || PyArray_DIM(x, 1) == 1) &&
               PyArray_STRIDE(x, 0) % size == 0;
    if (!good)
        return ext_fail(PyExc_TypeError, "lines of float32 or float64, not %R", x);
    *wide = type == NPY_DOUBLE;
    *out = (dt_panel){.data = PyArray_DATA(x),
                      .count = PyArray_DIM(x, 0),
                      .length = PyArray_DIM(x, 1),
                      .step = PyArray_STRIDE(x, 0) / size};
    return 0;
}

static PyObject *
eliminate(PyObject *Py_UNUSED(module), PyObject *lines)
{
    dt_panel columns;
    bool wide;
    if (!PyArray_Check(lines))
        return PyErr_Format(PyExc_TypeError, "eliminate takes an array, not %R", lines);
    if (read_lines(&columns, &wide, (PyArrayObject *)lines) < 0)
        return NULL;
    if (columns.count > columns.length)
        return PyErr_Format(PyExc_ValueError, "eliminate: %lld columns of %lld rows",
                            (long long)columns.count, (long long)columns.length);
    npy_intp count = columns.count;
    PyObject *pivots = PyArray_SimpleNew(1, &count, NPY_INT64);
    if (pivots == NULL)
        return NULL;
    PyThreadState *state = ext_kernel_begin(columns.count * columns.length);
    dt_panel_eliminate(wide, PyArray_DATA((PyArrayObject *)pivots), &columns);
    ext_kernel_end(state);
    return pivots;
}

static PyObject *
divide(PyObject *Py_UNUSED(module), PyObject *args)
{
    PyArrayObject *given, *right;
    dt_panel rows;
    bool wide;
    if (!PyArg_ParseTuple(args, "O!O!:divide_rows", &PyArray_Type, &given,
                          &PyArray_Type, &right) ||
        read_lines(&rows, &wide, right) < 0)
        return NULL;
    if (PyArray_NDIM(given) != 2 || PyArray_DIM(given, 0) != rows.count ||
        PyArray_DIM(given, 1) != rows.count)
        return PyErr_Format(PyExc_ValueError, "divide_rows: %lld rows by %R",
                            (long long)rows.count, given);
    PyArrayObject *lower = (PyArrayObject *)PyArray_FromArray(
        given, PyArray_DescrFromType(wide ? NPY_DOUBLE : NPY_FLOAT),
        NPY_ARRAY_CARRAY_RO);
    if (lower == NULL)
        return NULL;
    PyThreadState *state = ext_kernel_begin(rows.count * rows.length);
    dt_panel_divide(wide, PyArray_DATA(lower), &rows);
    ext_kernel_end(state);
    Py_DECREF(lower);
    Py_RETURN_NONE;
}

PyMethodDef ext_panel_methods[] = {
    {"eliminate", eliminate, METH_O,
     "eliminate(lines, /)\n--\n\n"
     "Factor columns of float32 or float64, which are the rows of an array, in place,\n"
     "with partial pivoting; return which row each row was exchanged with."},
    {"divide_rows", divide, METH_VARARGS,
     "divide_rows(lower, rows, /)\n--\n\n"
     "Divide rows of float32 or float64 by a lower triangle, in place."},
    {0},
};
