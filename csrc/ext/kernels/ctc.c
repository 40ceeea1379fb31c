/* ctc.c: connectionist temporal classification. */
#include "ext/kernels/kernels.h"

#include "kernels/ctc.h"

/* log_probs, targets, lengths of inputs and of targets, blank. Their values have been
 * looked at: kernels read at what they say. */
static int
ctc_of(dt_ctc *of, const ext_kernel *kernel, const ext_argument *given, bool wide)
{
    PyArrayObject *probs = given[0].array, *targets = given[1].array;
    if (PyArray_NDIM(probs) != 3 || PyArray_NDIM(targets) != 2)
        return ext_fail(PyExc_ValueError, "%s: probabilities have 3 dims, targets 2",
                        kernel->name);
    *of = (dt_ctc){.wide = wide,
                   .times = PyArray_DIM(probs, 0),
                   .samples = PyArray_DIM(probs, 1),
                   .classes = PyArray_DIM(probs, 2),
                   .log_probs = PyArray_DATA(probs),
                   .most = PyArray_DIM(targets, 1),
                   .targets = PyArray_DATA(targets),
                   .input_lengths = PyArray_DATA(given[2].array),
                   .target_lengths = PyArray_DATA(given[3].array),
                   .blank = given[4].integer};
    if (PyArray_DIM(targets, 0) != of->samples ||
        PyArray_SIZE(given[2].array) != of->samples ||
        PyArray_SIZE(given[3].array) != of->samples)
        return ext_fail(PyExc_ValueError, "%s: there are %zd samples", kernel->name,
                        (Py_ssize_t)of->samples);
    return 0;
}

static PyArrayObject *
scratch_of(const dt_ctc *of, bool gradient)
{
    npy_intp count = (npy_intp)dt_ctc_scratch(of, gradient);
    return ext_kernel_array(1, &count, true);
}

static PyObject *
run_losses(const ext_kernel *kernel, const ext_argument *given, bool wide)
{
    dt_ctc of;
    if (ctc_of(&of, kernel, given, wide) < 0)
        return NULL;
    npy_intp count = (npy_intp)of.samples;
    PyArrayObject *scratch = scratch_of(&of, false), *out = NULL;
    if (scratch != NULL && (out = ext_kernel_array(1, &count, wide)) != NULL) {
        PyThreadState *state = ext_kernel_begin(PyArray_SIZE(given[0].array));
        dt_ctc_losses(&of, PyArray_DATA(out), PyArray_DATA(scratch));
        ext_kernel_end(state);
    }
    Py_XDECREF(scratch);
    return (PyObject *)out;
}

/* The gradient of the losses, what those take, and whether infinite ones have none. */
static PyObject *
run_gradient(const ext_kernel *kernel, const ext_argument *given, bool wide)
{
    dt_ctc of;
    if (ctc_of(&of, kernel, given + 1, wide) < 0)
        return NULL;
    if (PyArray_SIZE(given[0].array) != of.samples)
        return PyErr_Format(PyExc_ValueError, "%s: there are %zd samples", kernel->name,
                            (Py_ssize_t)of.samples);
    PyArrayObject *scratch = scratch_of(&of, true), *out = NULL;
    if (scratch != NULL && (out = ext_kernel_like(given[1].array, wide)) != NULL) {
        PyThreadState *state = ext_kernel_begin(PyArray_SIZE(out));
        dt_ctc_gradient(&of, PyArray_DATA(out), PyArray_DATA(given[0].array),
                        given[6].integer != 0, PyArray_DATA(scratch));
        ext_kernel_end(state);
    }
    Py_XDECREF(scratch);
    return (PyObject *)out;
}

const ext_kernel ext_ctc_kernels[] = {
    {"ctc_loss", "xiiik", run_losses, 0},
    {"ctc_loss_backward", "xxiiikk", run_gradient, 0},
    {0},
};
