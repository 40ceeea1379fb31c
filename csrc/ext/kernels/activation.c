/* activation.c: activations and their gradients. */
#include "ext/kernels/kernels.h"

#include "kernels/activation.h"

/* x, then the numbers of the activation. */
static PyObject *
run_forward(const ext_kernel *kernel, const ext_argument *given, bool wide)
{
    PyArrayObject *x = given[0].array, *out = ext_kernel_like(x, wide);
    if (out == NULL)
        return NULL;
    const double p[] = {given[1].number, given[2].number, given[3].number};
    PyThreadState *state = ext_kernel_begin(PyArray_SIZE(x));
    dt_activation_run((dt_activation)kernel->which, wide, PyArray_DATA(out),
                      PyArray_DATA(x), p, PyArray_SIZE(x));
    ext_kernel_end(state);
    return (PyObject *)out;
}

/* The gradient of the result, x (of some the result itself), the numbers. */
static PyObject *
run_backward(const ext_kernel *kernel, const ext_argument *given, bool wide)
{
    PyArrayObject *g = given[0].array, *x = given[1].array;
    if (ext_kernel_check(kernel, g, x) < 0)
        return NULL;
    PyArrayObject *out = ext_kernel_like(x, wide);
    if (out == NULL)
        return NULL;
    const double p[] = {given[2].number, given[3].number, given[4].number};
    PyThreadState *state = ext_kernel_begin(PyArray_SIZE(x));
    dt_activation_backward((dt_activation)kernel->which, wide, PyArray_DATA(out),
                           PyArray_DATA(g), PyArray_DATA(x), p, PyArray_SIZE(x));
    ext_kernel_end(state);
    return (PyObject *)out;
}

/* "x" and `numbers` times "n"; "xx" for the gradient. */
#define TAKES_0 "x"
#define TAKES_1 "xn"
#define TAKES_2 "xnn"
#define TAKES_3 "xnnn"
#define FORWARD(name, numbers)                                                         \
    {#name, TAKES_##numbers, run_forward, DT_ACTIVATION_##name},
#define BACKWARD(name, numbers)                                                        \
    {#name "_backward", "x" TAKES_##numbers, run_backward, DT_ACTIVATION_##name},

const ext_kernel ext_activation_kernels[] = {
    DT_ACTIVATIONS(FORWARD) DT_ACTIVATIONS(BACKWARD){0},
};
