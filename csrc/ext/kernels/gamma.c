/* gamma.c: the gamma function's logarithm, and its derivatives. */
#include "ext/kernels/kernels.h"

#include "kernels/gamma.h"

enum { LGAMMA, POLYGAMMA };

/* x; of polygamma n, too */
static PyObject *
run(const ext_kernel *kernel, const ext_argument *given, bool wide)
{
    PyArrayObject *x = given[0].array;
    int64_t n = given[1].integer, count = PyArray_SIZE(x);
    if (n < 0 || n > DT_POLYGAMMA_MAX)
        return PyErr_Format(PyExc_ValueError, "%s: n is %lld, not 0 to %d",
                            kernel->name, (long long)n, DT_POLYGAMMA_MAX);
    PyArrayObject *out = ext_kernel_like(x, wide);
    if (out == NULL)
        return NULL;
    PyThreadState *state = ext_kernel_begin(count);
    if (kernel->which == LGAMMA)
        dt_lgamma(wide, PyArray_DATA(out), PyArray_DATA(x), count);
    else
        dt_polygamma((int)n, wide, PyArray_DATA(out), PyArray_DATA(x), count);
    ext_kernel_end(state);
    return (PyObject *)out;
}

const ext_kernel ext_gamma_kernels[] = {
    {"lgamma", "x", run, LGAMMA},
    {"polygamma", "xk", run, POLYGAMMA},
    {0},
};
