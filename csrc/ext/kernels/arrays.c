/* arrays.c: what kernels give and check, and when they let go of the GIL. */
#include "ext/kernels/kernels.h"

enum { GIL_ELEMENTS = 4096 }; /* some microseconds of work */

PyArrayObject *
ext_kernel_array(int ndim, const npy_intp *shape, bool wide)
{
    int64_t lengths[DT_MAX_NDIM];
    for (int d = 0; d < ndim; d++)
        lengths[d] = shape[d];
    return (PyArrayObject *)ext_array(ndim, lengths, wide ? DT_FLOAT64 : DT_FLOAT32);
}

PyArrayObject *
ext_kernel_like(PyArrayObject *array, bool wide)
{
    return ext_kernel_array(PyArray_NDIM(array), PyArray_DIMS(array), wide);
}

PyThreadState *
ext_kernel_begin(int64_t elements)
{
    return elements >= GIL_ELEMENTS ? PyEval_SaveThread() : NULL;
}

void
ext_kernel_end(PyThreadState *state)
{
    if (state != NULL)
        PyEval_RestoreThread(state);
}

int
ext_kernel_check(const ext_kernel *kernel, PyArrayObject *a, PyArrayObject *b)
{
    if (PyArray_SAMESHAPE(a, b))
        return 0;
    return ext_fail(PyExc_ValueError, "%s takes arrays of one shape", kernel->name);
}
