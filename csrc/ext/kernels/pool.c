/* pool.c: the largest elements of windows, and where they are. */
#include "ext/kernels/kernels.h"

#include "kernels/pool.h"

#include <string.h>

enum { LEAD = 2, FIELDS = sizeof(dt_windows) / sizeof(int64_t) };

/* Windows over the dims after samples and channels; along one dim they are as those
 * over two, the first of which has one element. */
static int
read_windows(dt_windows out[2], PyArrayObject *x, PyArrayObject *given)
{
    int dims = PyArray_NDIM(x) - LEAD;
    bool fits = (dims == 1 || dims == 2) && PyArray_NDIM(given) == 2 &&
                PyArray_DIM(given, 0) == dims && PyArray_DIM(given, 1) == FIELDS;
    out[0] = (dt_windows){
        .length = 1, .places = 1, .size = 1, .stride = 1, .padding = 0, .dilation = 1};
    if (fits)
        memcpy(&out[2 - dims], PyArray_DATA(given), (size_t)PyArray_NBYTES(given));
    for (int d = 0; d < dims && fits; d++) {
        const dt_windows *w = &out[2 - dims + d];
        fits = w->length == PyArray_DIM(x, LEAD + d) && w->places >= 0 && w->size > 0 &&
               w->stride > 0 && w->dilation > 0;
    }
    if (!fits)
        PyErr_SetString(PyExc_ValueError, "max_pool: windows of another array");
    return fits ? 0 : -1;
}

/* max_pool(x, windows): the values and their numbers. */
static PyObject *
largest(const ext_kernel *Py_UNUSED(kernel), const ext_argument *given, bool wide)
{
    PyArrayObject *x = given[0].array;
    dt_windows windows[2];
    if (read_windows(windows, x, given[1].array) < 0)
        return NULL;
    int ndim = PyArray_NDIM(x);
    npy_intp shape[LEAD + 2];
    memcpy(shape, PyArray_DIMS(x), LEAD * sizeof *shape);
    for (int d = LEAD; d < ndim; d++)
        shape[d] = windows[d - ndim + 2].places;
    PyObject *values = (PyObject *)ext_kernel_array(ndim, shape, wide);
    PyObject *index = PyArray_SimpleNew(ndim, shape, NPY_INT64);
    if (values != NULL && index != NULL) {
        PyThreadState *state = ext_kernel_begin(PyArray_SIZE(x));
        dt_pool_max(wide, PyArray_DATA((PyArrayObject *)values),
                    PyArray_DATA((PyArrayObject *)index), PyArray_DATA(x),
                    shape[0] * shape[1], windows);
        ext_kernel_end(state);
    }
    PyObject *both =
        values == NULL || index == NULL ? NULL : PyTuple_Pack(2, values, index);
    Py_XDECREF(values);
    Py_XDECREF(index);
    return both;
}

const ext_kernel ext_pool_kernels[] = {
    {"max_pool", "xi", largest, 0},
    {0},
};
