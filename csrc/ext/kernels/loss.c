/* loss.c: losses, of numbers and of classes. */
#include "ext/kernels/kernels.h"

#include "kernels/cross_entropy.h"
#include "kernels/loss.h"

static PyObject *
scalar(double value, bool wide)
{
    PyArrayObject *out = ext_kernel_array(0, NULL, wide);
    if (out == NULL)
        return NULL;
    if (wide)
        *(double *)PyArray_DATA(out) = value;
    else
        *(float *)PyArray_DATA(out) = (float)value;
    return (PyObject *)out;
}

/* A number of an array that has one; 1 without. */
static double
number_of(PyArrayObject *array, bool wide)
{
    if (array == NULL)
        return 1;
    return wide ? *(double *)PyArray_DATA(array)
                : (double)*(float *)PyArray_DATA(array);
}

/* --- numbers and targets --- */

/* x, target, p */
static PyObject *
run_loss(const ext_kernel *kernel, const ext_argument *given, bool wide)
{
    PyArrayObject *x = given[0].array, *t = given[1].array;
    if (ext_kernel_check(kernel, x, t) < 0)
        return NULL;
    PyArrayObject *out = ext_kernel_like(x, wide);
    if (out == NULL)
        return NULL;
    PyThreadState *state = ext_kernel_begin(PyArray_SIZE(x));
    dt_loss_run((dt_loss)kernel->which, wide, PyArray_DATA(out), PyArray_DATA(x),
                PyArray_DATA(t), given[2].number, PyArray_SIZE(x));
    ext_kernel_end(state);
    return (PyObject *)out;
}

/* x, target, p, what the sum is multiplied with */
static PyObject *
run_sum(const ext_kernel *kernel, const ext_argument *given, bool wide)
{
    PyArrayObject *x = given[0].array, *t = given[1].array;
    if (ext_kernel_check(kernel, x, t) < 0)
        return NULL;
    PyThreadState *state = ext_kernel_begin(PyArray_SIZE(x));
    double sum = dt_loss_sum((dt_loss)kernel->which, wide, PyArray_DATA(x),
                             PyArray_DATA(t), given[2].number, PyArray_SIZE(x));
    ext_kernel_end(state);
    return scalar(sum * given[3].number, wide);
}

/* grad (one number, or as many as x has), x, target, p, a factor */
static PyObject *
run_backward(const ext_kernel *kernel, const ext_argument *given, bool wide)
{
    PyArrayObject *g = given[0].array, *x = given[1].array, *t = given[2].array;
    bool single = PyArray_NDIM(g) == 0;
    if (ext_kernel_check(kernel, x, t) < 0 ||
        (!single && ext_kernel_check(kernel, x, g) < 0))
        return NULL;
    PyArrayObject *out = ext_kernel_like(x, wide);
    if (out == NULL)
        return NULL;
    PyThreadState *state = ext_kernel_begin(PyArray_SIZE(x));
    dt_loss_backward((dt_loss)kernel->which, wide, PyArray_DATA(out), PyArray_DATA(g),
                     single, given[4].number, PyArray_DATA(x), PyArray_DATA(t),
                     given[3].number, PyArray_SIZE(x));
    ext_kernel_end(state);
    return (PyObject *)out;
}

/* --- classes --- */

/* The arguments from `at` on: x, target, weight, lse, the first class here, the classes
 * of all ranks, the class that does not count, smoothing, the dim of classes. */
static int
classes_of(dt_classes *out, const ext_kernel *kernel, const ext_argument *at)
{
    PyArrayObject *x = at[0].array, *target = at[1].array, *weight = at[2].array;
    PyArrayObject *lse = at[3].array;
    int dim = (int)at[8].integer, ndim = PyArray_NDIM(x);
    npy_intp *shape = PyArray_DIMS(x);
    *out = (dt_classes){
        .outer = PyArray_MultiplyList(shape, dim),
        .classes = shape[dim],
        .inner = PyArray_MultiplyList(shape + dim + 1, ndim - dim - 1),
        .first = at[4].integer,
        .all = at[5].integer,
        .ignore = at[6].integer,
        .smoothing = at[7].number,
        .x = PyArray_DATA(x),
        .lse = lse == NULL ? NULL : PyArray_DATA(lse),
        .weight = weight == NULL ? NULL : PyArray_DATA(weight),
        .target = PyArray_DATA(target),
    };
    int64_t rows = out->outer * out->inner;
    if (PyArray_SIZE(target) == rows && (lse == NULL || PyArray_SIZE(lse) == rows) &&
        (weight == NULL || PyArray_SIZE(weight) == out->all))
        return 0;
    return ext_fail(PyExc_ValueError, "%s: shapes do not fit", kernel->name);
}

/* The first target that is wrong is an IndexError. */
static int
check_targets(const dt_classes *c)
{
    int64_t wrong = dt_classes_wrong(c);
    if (wrong == 0)
        return 0;
    return ext_fail(PyExc_IndexError, "Target %lld is out of bounds.",
                    (long long)wrong);
}

/* As classes_of; then what the sum is divided by, or None. */
static PyObject *
run_classes_sum(const ext_kernel *kernel, const ext_argument *given, bool wide)
{
    dt_classes c;
    if (classes_of(&c, kernel, given) < 0 || check_targets(&c) < 0)
        return NULL;
    PyThreadState *state = ext_kernel_begin(c.outer * c.inner);
    double sum = dt_classes_sum(wide, &c);
    ext_kernel_end(state);
    return scalar(sum / number_of(given[9].array, wide), wide);
}

/* As classes_of. */
static PyObject *
run_classes(const ext_kernel *kernel, const ext_argument *given, bool wide)
{
    dt_classes c;
    if (classes_of(&c, kernel, given) < 0 || check_targets(&c) < 0)
        return NULL;
    PyArrayObject *target = given[1].array;
    PyArrayObject *out = ext_kernel_like(target, wide);
    if (out == NULL)
        return NULL;
    PyThreadState *state = ext_kernel_begin(c.outer * c.inner);
    dt_classes_run(wide, PyArray_DATA(out), &c);
    ext_kernel_end(state);
    return (PyObject *)out;
}

/* The dtype (of an array that is not looked at), target, weight, the classes, the class
 * that does not count. */
static PyObject *
run_classes_total(const ext_kernel *Py_UNUSED(kernel), const ext_argument *given,
                  bool wide)
{
    PyArrayObject *target = given[1].array, *weight = given[2].array;
    dt_classes c = {.outer = PyArray_SIZE(target),
                    .inner = 1,
                    .all = given[3].integer,
                    .ignore = given[4].integer,
                    .weight = weight == NULL ? NULL : PyArray_DATA(weight),
                    .target = PyArray_DATA(target)};
    return scalar(dt_classes_total(wide, &c), wide);
}

/* grad (one number, or one of each row), then as classes_of, and what the sum was
 * divided by, or None. */
static PyObject *
run_classes_backward(const ext_kernel *kernel, const ext_argument *given, bool wide)
{
    dt_classes c;
    PyArrayObject *g = given[0].array;
    if (classes_of(&c, kernel, given + 1) < 0)
        return NULL;
    npy_intp rows[] = {2, (npy_intp)(c.outer * c.inner)};
    bool single = PyArray_NDIM(g) == 0 && given[11].integer != 0;
    if (PyArray_SIZE(g) != (single ? 1 : rows[1]))
        return PyErr_Format(PyExc_ValueError, "%s: shapes do not fit", kernel->name);
    PyArrayObject *scratch = ext_kernel_array(2, rows, wide), *out = NULL;
    if (scratch != NULL)
        out = ext_kernel_like(given[1].array, wide);
    if (out != NULL) {
        PyThreadState *state = ext_kernel_begin(PyArray_SIZE(out));
        dt_classes_backward(wide, PyArray_DATA(out), PyArray_DATA(scratch),
                            PyArray_DATA(g), single,
                            1 / number_of(given[10].array, wide), &c);
        ext_kernel_end(state);
    }
    Py_XDECREF(scratch);
    return (PyObject *)out;
}

#define RUN(name, numbers) {#name "_loss", "xxn", run_loss, DT_LOSS_##name},
#define SUM(name, numbers) {#name "_loss_sum", "xxnn", run_sum, DT_LOSS_##name},
#define BACKWARD(name, numbers)                                                        \
    {#name "_loss_backward", "xxxnn", run_backward, DT_LOSS_##name},

const ext_kernel ext_loss_kernels[] = {
    DT_LOSSES(RUN) DT_LOSSES(SUM)
        DT_LOSSES(BACKWARD){"classes_loss", "xiookkknk", run_classes, 0},
    {"classes_loss_sum", "xiookkknko", run_classes_sum, 0},
    {"classes_total", "xiokk", run_classes_total, 0},
    {"classes_loss_backward", "xxiookkknkok", run_classes_backward, 0},
    {0},
};
