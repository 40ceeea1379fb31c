/* norm.c: layer_norm, rms_norm and group_norm. */
#include "ext/kernels/kernels.h"

#include "kernels/norm.h"

enum { LAYER_NORM, RMS_NORM, GROUP_NORM };

/* The shape of weight and bias. */
typedef struct {
    int ndim;
    npy_intp shape[DT_MAX_NDIM];
} affine;

/* What is normed: the last `dims` dims together, or (GROUP_NORM) dim 1 in groups of
 * `dims` channels, and all dims after it. */
static dt_norm
norm_of(affine *of, PyArrayObject *x, PyArrayObject *weight, PyArrayObject *bias,
        int which, double eps, int64_t dims)
{
    int ndim = PyArray_NDIM(x);
    const npy_intp *shape = PyArray_DIMS(x);
    dt_norm norm = {.channels = 1, .inner = 1, .groups = 1, .eps = eps};
    norm.centred = which != RMS_NORM;
    norm.x = PyArray_DATA(x);
    norm.weight = weight == NULL ? NULL : PyArray_DATA(weight);
    norm.bias = bias == NULL ? NULL : PyArray_DATA(bias);
    of->ndim = which == GROUP_NORM ? 1 : (int)dims;
    int first = which == GROUP_NORM ? 1 : ndim - (int)dims;
    for (int k = 0; k < of->ndim; k++) {
        of->shape[k] = shape[first + k];
        norm.channels *= shape[first + k];
    }
    for (int d = first + of->ndim; d < ndim; d++)
        norm.inner *= shape[d];
    if (which == GROUP_NORM) {
        norm.groups = norm.channels / dims;
        norm.channels = dims;
    }
    int64_t length = norm.channels * norm.inner;
    norm.rows = length == 0 ? 0 : PyArray_SIZE(x) / length;
    return norm;
}

/* Whether weight and bias have as many numbers as they are read. */
static int
check_affine(const ext_kernel *kernel, const dt_norm *norm, PyArrayObject *array)
{
    if (array == NULL || PyArray_SIZE(array) == norm->groups * norm->channels)
        return 0;
    return ext_fail(PyExc_ValueError, "%s: weight or bias has another shape",
                    kernel->name);
}

static PyObject *
run(const ext_kernel *kernel, PyArrayObject *x, PyArrayObject *weight,
    PyArrayObject *bias, double eps, int64_t dims, bool wide)
{
    affine of;
    dt_norm norm = norm_of(&of, x, weight, bias, kernel->which, eps, dims);
    if (check_affine(kernel, &norm, weight) < 0 ||
        check_affine(kernel, &norm, bias) < 0)
        return NULL;
    PyArrayObject *out = ext_kernel_like(x, wide);
    if (out == NULL)
        return NULL;
    PyThreadState *state = ext_kernel_begin(PyArray_SIZE(x));
    dt_norm_run(wide, PyArray_DATA(out), &norm);
    ext_kernel_end(state);
    return (PyObject *)out;
}

/* x, weight, bias, eps, dims */
static PyObject *
run_affine(const ext_kernel *kernel, const ext_argument *given, bool wide)
{
    return run(kernel, given[0].array, given[1].array, given[2].array, given[3].number,
               given[4].integer, wide);
}

/* x, weight, eps, dims */
static PyObject *
run_scaled(const ext_kernel *kernel, const ext_argument *given, bool wide)
{
    return run(kernel, given[0].array, given[1].array, NULL, given[2].number,
               given[3].integer, wide);
}

/* Those of three arrays that are there: one, or a tuple. Steals them. */
static PyObject *
results(PyArrayObject *const *arrays)
{
    int count = 0, last = 0;
    for (int k = 0; k < 3; k++)
        if (arrays[k] != NULL) {
            count++;
            last = k;
        }
    if (count == 1)
        return (PyObject *)arrays[last];
    PyObject *tuple = PyTuple_New(count);
    for (int k = 0, at = 0; k < 3; k++)
        if (arrays[k] != NULL && tuple != NULL)
            PyTuple_SET_ITEM(tuple, at++, (PyObject *)arrays[k]);
        else
            Py_XDECREF(arrays[k]);
    return tuple;
}

/* grad, x, weight, eps, dims, and whether the gradients of x, weight and bias are
 * wanted: bits 0, 1, 2 */
static PyObject *
run_backward(const ext_kernel *kernel, const ext_argument *given, bool wide)
{
    PyArrayObject *g = given[0].array, *x = given[1].array, *weight = given[2].array;
    int64_t wanted = given[5].integer;
    affine of;
    dt_norm norm =
        norm_of(&of, x, weight, NULL, kernel->which, given[3].number, given[4].integer);
    if (ext_kernel_check(kernel, g, x) < 0 || check_affine(kernel, &norm, weight) < 0)
        return NULL;
    npy_intp room = (wanted & 6) == 0 ? 0 : (npy_intp)dt_norm_scratch(&norm);
    PyArrayObject *d[3] = {NULL}, *scratch = NULL;
    void *to[3] = {NULL};
    bool made = room == 0 || (scratch = ext_kernel_array(1, &room, wide)) != NULL;
    for (int k = 0; k < 3 && made; k++) {
        if ((wanted >> k & 1) == 0)
            continue;
        d[k] = k == 0 ? ext_kernel_like(x, wide)
                      : ext_kernel_array(of.ndim, of.shape, wide);
        made = d[k] != NULL;
        to[k] = made ? PyArray_DATA(d[k]) : NULL;
    }
    if (made) {
        PyThreadState *state = ext_kernel_begin(PyArray_SIZE(x));
        dt_norm_backward(wide, to[0], to[1], to[2],
                         scratch == NULL ? NULL : PyArray_DATA(scratch),
                         PyArray_DATA(g), &norm);
        ext_kernel_end(state);
    }
    Py_XDECREF(scratch);
    for (int k = 0; k < 3 && !made; k++)
        Py_XDECREF(d[k]);
    return made ? results(d) : NULL;
}

const ext_kernel ext_norm_kernels[] = {
    {"layer_norm", "xoonk", run_affine, LAYER_NORM},
    {"rms_norm", "xonk", run_scaled, RMS_NORM},
    {"group_norm", "xoonk", run_affine, GROUP_NORM},
    {"layer_norm_backward", "xxonkk", run_backward, LAYER_NORM},
    {"rms_norm_backward", "xxonkk", run_backward, RMS_NORM},
    {"group_norm_backward", "xxonkk", run_backward, GROUP_NORM},
    {0},
};
