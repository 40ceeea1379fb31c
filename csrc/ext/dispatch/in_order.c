/* in_order.c: the order of new arrays in memory, in PyTorch's dialect. Programs write
 * through views of results: `x.softmax(0).view(-1)[0] = 0`. An array that is not in C order
 * has no such view, only a copy. PyTorch makes results in C order, but for elementwise
 * functions: these keep the order that the dims of their operands have. NumPy's functions
 * keep it more often. What they have made otherwise is copied here; kernels that are called
 * much make the right order themselves, and cost a look at a flag. */
#include "ext/dispatch/dispatch.h"

#include <stdlib.h>

/* The call. */
typedef struct {
    const op_entry *entry;
    const op_call *call;
    PyObject *const *moved;
} known;

/* What the kernel got for operand k, or NULL where that is no array. Borrowed. */
static PyArrayObject *
array_of(const known *of, int k)
{
    PyObject *value = of->moved != NULL && of->moved[k] != NULL
                          ? of->moved[k]
                          : op_held_value(of->entry, of->call, k);
    return value != NULL && PyArray_Check(value) ? (PyArrayObject *)value : NULL;
}

/* --- views --- */

/* The addresses between which the elements of an array lie. */
static void
bounds(const char **begin, const char **end, PyArrayObject *array)
{
    *begin = *end = PyArray_BYTES(array);
    for (int d = 0; d < PyArray_NDIM(array); d++) {
        npy_intp reach = (PyArray_DIM(array, d) - 1) * PyArray_STRIDE(array, d);
        if (reach < 0)
            *begin += reach;
        else
            *end += reach;
    }
    *end += PyArray_ITEMSIZE(array);
}

/* Whether an array shows memory of an operand. */
static bool
is_view(PyArrayObject *array, const known *of)
{
    const char *begin, *end, *from, *to;
    bounds(&begin, &end, array);
    for (int k = 0; k < of->call->operand_count; k++) {
        PyArrayObject *operand = array_of(of, k);
        if (operand == NULL)
            continue;
        bounds(&from, &to, operand);
        if ((begin < to && from < end) || ext_owner(array) == ext_owner(operand))
            return true;
    }
    return false;
}

/* --- orders --- */

/* How far elements lie apart along a dim of a result; 0 where an operand is broadcast. */
static npy_intp
distance(PyArrayObject *array, int dim, int ndim)
{
    int own = dim - (ndim - PyArray_NDIM(array));
    return own < 0 || PyArray_DIM(array, own) == 1 ? 0
                                                   : labs(PyArray_STRIDE(array, own));
}

/* Whether dim b of an elementwise result lies outside of dim a, which comes before it: as
 * in the first operand that tells. */
static bool
is_swapped(const known *of, int a, int b, int ndim)
{
    for (int k = 0; k < of->call->operand_count; k++) {
        PyArrayObject *operand = array_of(of, k);
        if (operand == NULL)
            continue;
        npy_intp of_a = distance(operand, a, ndim), of_b = distance(operand, b, ndim);
        if (of_a != 0 && of_b != 0 && of_a != of_b)
            return of_a < of_b;
    }
    return false;
}

/* Whether an elementwise result has the order that PyTorch gives it. */
static bool
is_kept(PyArrayObject *array, const known *of)
{
    int ndim = PyArray_NDIM(array);
    for (int b = 1; b < ndim; b++)
        for (int a = 0; a < b; a++) {
            npy_intp of_a = distance(array, a, ndim), of_b = distance(array, b, ndim);
            bool told = PyArray_DIM(array, a) > 1 && PyArray_DIM(array, b) > 1;
            if (told &&
                (of_a == 0 || of_b == 0 || (of_a < of_b) != is_swapped(of, a, b, ndim)))
                return false;
        }
    return true;
}

/* --- results --- */

/* Makes the strides of dims with one slice, or none, those of longer ones. */
static void
put_in_rows(PyArrayObject *array)
{
    npy_intp step = PyArray_ITEMSIZE(array);
    for (int d = PyArray_NDIM(array) - 1; d >= 0; d--) {
        PyArray_STRIDES(array)[d] = step;
        step *= PyArray_DIM(array, d) > 1 ? PyArray_DIM(array, d) : 1;
    }
}

PyObject *
op_in_order(const op_entry *entry, const op_call *call, PyObject *const *moved,
            PyObject *result)
{
    const known of = {entry, call, moved};
    PyArrayObject *array = (PyArrayObject *)result;
    if (is_view(array, &of))
        return result;
    if (PyArray_IS_C_CONTIGUOUS(array)) {
        put_in_rows(array);
        return result;
    }
    if (entry->elementwise && is_kept(array, &of))
        return result;
    PyObject *copy = ext_array_copy(array);
    Py_DECREF(result);
    return copy;
}
