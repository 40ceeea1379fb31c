/* channels.c: sums for each channel of an array, and numbers scaled by channels. */
#include "ext/kernels/kernels.h"

#include "kernels/channels.h"

/* An array of samples, channels and places; mean and other vectors that are there have
 * a number for each channel. */
static int
channels_of(dt_channels *of, const ext_kernel *kernel, PyArrayObject *x,
            PyArrayObject *mean, PyArrayObject *const *others, int count)
{
    if (PyArray_NDIM(x) < 2)
        return ext_fail(PyExc_ValueError, "%s: there are no channels", kernel->name);
    of->samples = PyArray_DIM(x, 0);
    of->channels = PyArray_DIM(x, 1);
    of->inner = 1;
    for (int d = 2; d < PyArray_NDIM(x); d++)
        of->inner *= PyArray_DIM(x, d);
    of->x = PyArray_DATA(x);
    of->mean = mean == NULL ? NULL : PyArray_DATA(mean);
    for (int k = -1; k < count; k++) {
        PyArrayObject *vector = k < 0 ? mean : others[k];
        if (vector != NULL && PyArray_SIZE(vector) != of->channels)
            return ext_fail(PyExc_ValueError,
                            "%s: a vector has %zd numbers for %zd "
                            "channels",
                            kernel->name, PyArray_SIZE(vector),
                            (Py_ssize_t)of->channels);
    }
    return 0;
}

static PyArrayObject *
vector_of(const dt_channels *of, bool wide)
{
    npy_intp count = (npy_intp)of->channels;
    return ext_kernel_array(1, &count, wide);
}

/* x, mean */
static PyObject *
run_squares(const ext_kernel *kernel, const ext_argument *given, bool wide)
{
    dt_channels of;
    if (channels_of(&of, kernel, given[0].array, given[1].array, NULL, 0) < 0)
        return NULL;
    PyArrayObject *squares = vector_of(&of, wide);
    if (squares == NULL)
        return NULL;
    PyThreadState *state = ext_kernel_begin(PyArray_SIZE(given[0].array));
    dt_channel_squares(wide, PyArray_DATA(squares), &of);
    ext_kernel_end(state);
    return (PyObject *)squares;
}

/* g, x, mean */
static PyObject *
run_sums(const ext_kernel *kernel, const ext_argument *given, bool wide)
{
    PyArrayObject *g = given[0].array, *x = given[1].array;
    dt_channels of;
    if (ext_kernel_check(kernel, g, x) < 0 ||
        channels_of(&of, kernel, x, given[2].array, NULL, 0) < 0)
        return NULL;
    PyArrayObject *sums = vector_of(&of, wide);
    PyArrayObject *products = sums == NULL ? NULL : vector_of(&of, wide);
    if (products == NULL) {
        Py_XDECREF(sums);
        return NULL;
    }
    PyThreadState *state = ext_kernel_begin(PyArray_SIZE(x));
    dt_channel_sums(wide, PyArray_DATA(sums), PyArray_DATA(products), PyArray_DATA(g),
                    &of);
    ext_kernel_end(state);
    return Py_BuildValue("(NN)", sums, products);
}

static const void *
data_of(PyArrayObject *array)
{
    return array == NULL ? NULL : PyArray_DATA(array);
}

/* x, mean, scale, shift, g, factor */
static PyObject *
run_mix(const ext_kernel *kernel, const ext_argument *given, bool wide)
{
    PyArrayObject *x = given[0].array, *scale = given[2].array, *shift = given[3].array;
    PyArrayObject *g = given[4].array, *factor = given[5].array;
    PyArrayObject *vectors[] = {scale, shift, factor};
    dt_channels of;
    if (channels_of(&of, kernel, x, given[1].array, vectors, 3) < 0 ||
        (g != NULL && ext_kernel_check(kernel, g, x) < 0))
        return NULL;
    if ((g == NULL) != (factor == NULL))
        return PyErr_Format(PyExc_ValueError, "%s: g and its factor go together",
                            kernel->name);
    PyArrayObject *out = ext_kernel_like(x, wide);
    if (out == NULL)
        return NULL;
    PyThreadState *state = ext_kernel_begin(PyArray_SIZE(x));
    dt_channel_mix(wide, PyArray_DATA(out), PyArray_DATA(scale), data_of(shift),
                   data_of(g), data_of(factor), &of);
    ext_kernel_end(state);
    return (PyObject *)out;
}

/* x, slope; g, x, slope for the gradient of x */
static PyObject *
run_rectify(const ext_kernel *kernel, const ext_argument *given, bool wide)
{
    bool back = kernel->takes[2] != '\0';
    PyArrayObject *x = given[back].array, *slope = given[back + 1].array;
    PyArrayObject *g = back ? given[0].array : NULL;
    dt_channels of;
    if (channels_of(&of, kernel, x, NULL, &slope, 1) < 0 ||
        (back && ext_kernel_check(kernel, g, x) < 0))
        return NULL;
    PyArrayObject *out = ext_kernel_like(x, wide);
    if (out == NULL)
        return NULL;
    PyThreadState *state = ext_kernel_begin(PyArray_SIZE(x));
    dt_channel_rectify(wide, PyArray_DATA(out), PyArray_DATA(slope), data_of(g), &of);
    ext_kernel_end(state);
    return (PyObject *)out;
}

/* g, x */
static PyObject *
run_rectified(const ext_kernel *kernel, const ext_argument *given, bool wide)
{
    PyArrayObject *g = given[0].array, *x = given[1].array;
    dt_channels of;
    if (ext_kernel_check(kernel, g, x) < 0 ||
        channels_of(&of, kernel, x, NULL, NULL, 0) < 0)
        return NULL;
    PyArrayObject *sums = vector_of(&of, wide);
    if (sums == NULL)
        return NULL;
    PyThreadState *state = ext_kernel_begin(PyArray_SIZE(x));
    dt_channel_rectified(wide, PyArray_DATA(sums), PyArray_DATA(g), &of);
    ext_kernel_end(state);
    return (PyObject *)sums;
}

const ext_kernel ext_channel_kernels[] = {
    {"channel_squares", "xx", run_squares, 0},
    {"channel_sums", "xxx", run_sums, 0},
    {"channel_mix", "xxxooo", run_mix, 0},
    {"prelu", "xx", run_rectify, 0},
    {"prelu_backward", "xxx", run_rectify, 0},
    {"prelu_sums", "xx", run_rectified, 0},
    {0},
};
