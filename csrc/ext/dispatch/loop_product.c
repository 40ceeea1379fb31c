/* loop_product.c: products of two small matrices by the inner loop of NumPy's `matmul`, as
 * loop.c has those of other ufuncs: the ufunc takes several times as long around it. Its
 * loop takes matrices of any strides, and the BLAS that it calls gives the same bits. */
#include "ext/dispatch/loop.h"

enum { MOST_TERMS = 1 << 15 /* products of elements: some microseconds */ };

/* Whether an array is a matrix that needs neither a cast nor a copy. */
static bool
is_matrix(PyObject *object, const PyArray_Descr *dtype)
{
    PyArrayObject *array = (PyArrayObject *)object;
    return PyArray_CheckExact(object) && PyArray_NDIM(array) == 2 &&
           PyArray_TYPE(array) == dtype->type_num && PyArray_ISBEHAVED_RO(array);
}

static bool
is_small(PyObject *const *argv)
{
    const npy_intp *a = PyArray_DIMS((PyArrayObject *)argv[0]);
    const npy_intp *b = PyArray_DIMS((PyArrayObject *)argv[1]);
    return a[1] == b[0] && 0 < a[0] && 0 < a[1] && 0 < b[1] && a[0] <= MOST_TERMS &&
           a[1] <= MOST_TERMS && b[1] <= MOST_TERMS && a[0] * a[1] <= MOST_TERMS / b[1];
}

/* Its loop adds up to three dims: their lengths, and where elements lie. */
static int
run(const op_loop *loop, PyArrayObject *a, PyArrayObject *b, PyArrayObject *out)
{
    char *data[] = {PyArray_BYTES(a), PyArray_BYTES(b), PyArray_BYTES(out)};
    npy_intp lengths[] = {1, PyArray_DIM(a, 0), PyArray_DIM(a, 1), PyArray_DIM(b, 1)};
    npy_intp strides[] = {0,
                          0,
                          0,
                          PyArray_STRIDE(a, 0),
                          PyArray_STRIDE(a, 1),
                          PyArray_STRIDE(b, 0),
                          PyArray_STRIDE(b, 1),
                          PyArray_STRIDE(out, 0),
                          PyArray_STRIDE(out, 1)};
    return op_loop_once(loop, data, lengths, strides);
}

PyObject *
op_product_again(const op_entry *entry, PyObject *const *argv)
{
    const op_loop *loop = entry->product;
    PyArray_Descr *const *dtypes = loop->context->descriptors;
    if (!is_matrix(argv[0], dtypes[0]) || !is_matrix(argv[1], dtypes[1]) ||
        !is_small(argv))
        return NULL;
    PyArrayObject *a = (PyArrayObject *)argv[0], *b = (PyArrayObject *)argv[1];
    npy_intp shape[] = {PyArray_DIM(a, 0), PyArray_DIM(b, 1)};
    PyObject *made = op_loop_result(entry, 2, shape, dtypes[2]->type_num);
    if (made != NULL && run(loop, a, b, (PyArrayObject *)made) < 0)
        Py_CLEAR(made);
    return made;
}
