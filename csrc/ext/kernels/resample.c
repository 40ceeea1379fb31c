/* resample.c: weighted sums of elements along a dim. */
#include "ext/kernels/kernels.h"

#include "kernels/resample.h"

enum { OUT, BACK };

/* Which rows, and their weights: both (taps, size), the rows of an array of a length. */
static int
read_taps(dt_resample *of, PyArrayObject *index, PyArrayObject *weights)
{
    if (PyArray_NDIM(index) != 2 || !PyArray_SAMESHAPE(index, weights))
        return -1;
    of->taps = PyArray_DIM(index, 0);
    of->size = PyArray_DIM(index, 1);
    of->index = PyArray_DATA(index);
    of->weights = PyArray_DATA(weights);
    for (int64_t k = 0; k < of->taps * of->size; k++)
        if (of->index[k] < 0 || of->index[k] >= of->length)
            return -1;
    return of->taps > 0 ? 0 : -1;
}

/* resample(x, index, weights, dim), resample_back(out, index, weights, dim, length) */
static PyObject *
run(const ext_kernel *kernel, const ext_argument *given, bool wide)
{
    PyArrayObject *from = given[0].array;
    const bool back = kernel->which == BACK;
    const int ndim = PyArray_NDIM(from);
    const int64_t dim = given[3].integer;
    dt_resample of = {.outer = 1, .inner = 1};
    npy_intp shape[NPY_MAXDIMS];
    bool fits = dim >= 0 && dim < ndim;
    for (int d = 0; d < ndim && fits; d++) {
        shape[d] = PyArray_DIM(from, d);
        of.outer *= d < dim ? shape[d] : 1;
        of.inner *= d > dim ? shape[d] : 1;
    }
    if (fits) {
        of.length = back ? given[4].integer : shape[dim];
        fits = of.length >= 0 && read_taps(&of, given[1].array, given[2].array) == 0 &&
               (!back || of.size == shape[dim]);
    }
    if (!fits)
        return PyErr_Format(PyExc_ValueError, "%s: rows of another array",
                            kernel->name);
    shape[dim] = back ? of.length : of.size;
    PyArrayObject *to = ext_kernel_array(ndim, shape, wide);
    if (to == NULL)
        return NULL;
    PyThreadState *state = ext_kernel_begin(PyArray_SIZE(to) * of.taps);
    (back ? dt_resample_back : dt_resample_out)(wide, PyArray_DATA(to),
                                                PyArray_DATA(from), &of);
    ext_kernel_end(state);
    return (PyObject *)to;
}

const ext_kernel ext_resample_kernels[] = {
    {"resample", "xixk", run, OUT},
    {"resample_back", "xixkk", run, BACK},
    {0},
};
