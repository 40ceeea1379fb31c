/* product.c: products of matrices of bfloat16, and of stacks of them; of others NumPy's. */
#include "ext/kernels/kernels.h"

#include "core/memory/memory.h"
#include "core/threads/team.h"
#include "kernels/product.h"

#include <string.h>

/* The bytes that are copied in the time of so many multiplications. */
enum { MULTIPLICATIONS_A_BYTE = 32 };

/* A stack of matrices: the leading dims of the result, with strides of 0 where there is
 * one for all. */
typedef struct {
    PyArrayObject *array;
    npy_intp strides[NPY_MAXDIMS];
    dt_factor first;
} stack;

typedef struct {
    dt_product one; /* of the first matrices */
    stack a, b, bias;
    int ndim; /* of leading dims */
    int64_t shape[NPY_MAXDIMS];
    int64_t count, pieces; /* of products; of each, that threads share */
    bool by_rows;          /* pieces are rows, else columns */
    int64_t size;          /* of an element of the result */
    char *scratch;
    int64_t room; /* of a thread's scratch */
} job;

static dt_factor
factor_of(PyArrayObject *x)
{
    int last = PyArray_NDIM(x) - 1;
    return (dt_factor){PyArray_DATA(x), PyArray_STRIDE(x, last - 1) / 2,
                       PyArray_STRIDE(x, last) / 2};
}

/* The array itself, or a copy, whose matrices can be taken as they are. */
static PyArrayObject *
readable(PyObject *object)
{
    PyArrayObject *x = (PyArrayObject *)object;
    int last = PyArray_NDIM(x) - 1;
    if (PyArray_ISALIGNED(x) &&
        dt_product_takes(factor_of(x), PyArray_DIM(x, last - 1), PyArray_DIM(x, last)))
        return (PyArrayObject *)Py_NewRef(object);
    return (PyArrayObject *)PyArray_NewCopy(x, NPY_CORDER);
}

/* Whether the rows of all matrices of a stack lie one behind another, as of one. */
static bool
is_one(PyArrayObject *x)
{
    for (int d = PyArray_NDIM(x) - 3; d >= 0; d--)
        if (PyArray_STRIDE(x, d) != PyArray_DIM(x, d + 1) * PyArray_STRIDE(x, d + 1))
            return false;
    return true;
}

static void
stack_of(stack *out, const job *j, PyArrayObject *x)
{
    int more = j->ndim - (PyArray_NDIM(x) - 2);
    out->array = x;
    out->first = factor_of(x);
    for (int d = 0; d < j->ndim; d++)
        out->strides[d] = d < more || PyArray_DIM(x, d - more) == 1
                              ? 0
                              : PyArray_STRIDE(x, d - more) / 2;
}

static dt_factor
matrix_at(const stack *s, const npy_intp *place, int ndim)
{
    dt_factor x = s->first;
    for (int d = 0; d < ndim; d++)
        x.data += place[d] * s->strides[d];
    return x;
}

/* A piece of a product: whole panels of 32 rows or columns. */
static void
run_piece(const job *j, int64_t index)
{
    npy_intp place[NPY_MAXDIMS];
    int64_t which = index / j->pieces, piece = index % j->pieces, rest = which;
    dt_product p = j->one;
    for (int d = j->ndim - 1; d >= 0; rest /= j->shape[d--])
        place[d] = rest % j->shape[d];
    p.a = matrix_at(&j->a, place, j->ndim);
    p.b = matrix_at(&j->b, place, j->ndim);
    char *out = (char *)p.out + which * p.m * p.n * j->size;
    if (j->bias.array != NULL)
        p.bias = matrix_at(&j->bias, place, j->ndim);
    int64_t *length = j->by_rows ? &p.m : &p.n, panels = (*length + 31) / 32;
    int64_t begin = panels * piece / j->pieces * 32;
    int64_t end = panels * (piece + 1) / j->pieces * 32;
    if (j->by_rows)
        p.a.data += begin * p.a.row;
    else
        p.b.data += begin * p.b.column;
    if (p.bias.data != NULL)
        p.bias.data += begin * (j->by_rows ? p.bias.row : p.bias.column);
    p.out = out + begin * (j->by_rows ? p.out_row : 1) * j->size;
    *length = (end < *length ? end : *length) - begin;
    if (*length > 0)
        dt_product_run(&p, j->scratch + dt_team_place() * j->room);
}

static void
run_pieces(void *work, int64_t begin, int64_t end)
{
    for (int64_t index = begin; index < end; index++)
        run_piece(work, index);
}

static int
run(job *j)
{
    const dt_product *p = &j->one;
    int64_t numbers = p->m * p->n * p->k / MULTIPLICATIONS_A_BYTE * j->count;
    int threads = dt_team_shares(numbers) ? dt_team_size() : 1;
    j->pieces = j->count >= threads ? 1 : threads;
    j->by_rows = p->m >= p->n;
    j->room = (int64_t)(dt_product_scratch(p) + 63) / 64 * 64;
    j->scratch = dt_memory_take_buffer((size_t)(threads * j->room));
    if (j->scratch == NULL)
        return ext_no_memory();
    PyThreadState *state = ext_kernel_begin(numbers);
    int64_t pieces = j->count * j->pieces;
    if (threads > 1)
        dt_team_run_by(threads, pieces, numbers / pieces, run_pieces, j);
    else
        run_pieces(j, 0, pieces);
    ext_kernel_end(state);
    dt_memory_give(j->scratch);
    return 0;
}

/* --- the call --- */

static bool
is_stack(PyObject *x, int least)
{
    return PyArray_Check(x) && PyArray_NDIM((PyArrayObject *)x) >= least &&
           ext_dtype_is(PyArray_DESCR((PyArrayObject *)x), DT_BFLOAT16);
}

/* Broadcasts the leading dims of an array to those of the result. */
static bool
spread(job *j, PyArrayObject *x)
{
    int more = j->ndim - (PyArray_NDIM(x) - 2);
    for (int d = more < 0 ? 0 : more; d < j->ndim; d++) {
        npy_intp length = PyArray_DIM(x, d - more);
        if (length != j->shape[d] && length != 1 && j->shape[d] != 1)
            return false;
        j->shape[d] = j->shape[d] == 1 ? length : j->shape[d];
    }
    return more >= 0;
}

static int64_t
count_of(const job *j)
{
    int64_t count = 1;
    for (int d = 0; d < j->ndim; d++)
        count *= j->shape[d];
    return count;
}

/* The shape of the result. ValueError. */
static int
find_shape(job *j, PyArrayObject *a, PyArrayObject *b, PyArrayObject *bias)
{
    int of_a = PyArray_NDIM(a) - 2, of_b = PyArray_NDIM(b) - 2;
    dt_product *p = &j->one;
    j->ndim = of_a > of_b ? of_a : of_b;
    for (int d = 0; d < j->ndim; d++)
        j->shape[d] = 1;
    j->shape[j->ndim] = p->m = PyArray_DIM(a, of_a);
    j->shape[j->ndim + 1] = p->n = PyArray_DIM(b, of_b + 1);
    p->k = PyArray_DIM(b, of_b);
    bool fits = PyArray_DIM(a, of_a + 1) == p->k && spread(j, a) && spread(j, b);
    j->count = count_of(j);
    if (fits && bias != NULL) { /* it spreads nothing itself */
        int last = PyArray_NDIM(bias) - 1;
        npy_intp rows = PyArray_DIM(bias, last - 1), columns = PyArray_DIM(bias, last);
        fits = spread(j, bias) && count_of(j) == j->count &&
               (rows == 1 || rows == p->m) && (columns == 1 || columns == p->n);
    }
    return fits ? 0 : ext_fail(PyExc_ValueError, "product: incompatible shapes");
}

/* A bias has one number for all rows, or columns, where it has one. */
static void
spread_bias(job *j, PyArrayObject *bias)
{
    int last = PyArray_NDIM(bias) - 1;
    stack_of(&j->bias, j, bias);
    if (PyArray_DIM(bias, last - 1) == 1)
        j->bias.first.row = 0;
    if (PyArray_DIM(bias, last) == 1)
        j->bias.first.column = 0;
}

static PyArrayObject *
multiply(PyArrayObject *a, PyArrayObject *b, PyArrayObject *bias, bool wide)
{
    job j = {.scratch = NULL, .size = wide ? 4 : 2};
    if (find_shape(&j, a, b, bias) < 0)
        return NULL;
    PyArrayObject *out = (PyArrayObject *)ext_array(j.ndim + 2, j.shape,
                                                    wide ? DT_FLOAT32 : DT_BFLOAT16);
    if (out == NULL || PyArray_SIZE(out) == 0)
        return out;
    if (PyArray_NDIM(b) == 2 && is_one(a) &&
        (bias == NULL || (PyArray_NDIM(bias) == 2 && PyArray_DIM(bias, 0) == 1))) {
        j.one.m *= j.count;
        j.count = 1;
        j.ndim = 0;
    }
    j.one.out = PyArray_DATA(out);
    j.one.out_row = j.one.n;
    j.one.wide = wide;
    stack_of(&j.a, &j, a);
    stack_of(&j.b, &j, b);
    if (bias != NULL)
        spread_bias(&j, bias);
    if (run(&j) < 0)
        Py_CLEAR(out);
    return out;
}

/* A bias of at least two dims. */
static PyArrayObject *
bias_of(PyObject *object)
{
    PyArrayObject *x = (PyArrayObject *)PyArray_FromArray((PyArrayObject *)object, NULL,
                                                          NPY_ARRAY_ALIGNED);
    if (x == NULL || PyArray_NDIM(x) > 1)
        return x;
    npy_intp shape[] = {1, PyArray_DIM(x, 0)};
    PyArray_Dims dims = {shape, 2};
    PyArrayObject *row = (PyArrayObject *)PyArray_Newshape(x, &dims, NPY_CORDER);
    Py_DECREF(x);
    return row;
}

/* NumPy's product, of all other arrays. */
static PyObject *
plain_product(PyObject *const *args, PyObject *bias)
{
    static PyObject *matmul;
    if (ext_import(&matmul, "numpy", "matmul") == NULL)
        return NULL;
    PyObject *out = PyObject_Vectorcall(matmul, args, 2, NULL);
    if (out != NULL && bias != Py_None)
        Py_SETREF(out, PyNumber_InPlaceAdd(out, bias));
    return out;
}

static PyObject *
product(PyObject *Py_UNUSED(module), PyObject *const *args, Py_ssize_t count)
{
    PyObject *last = count > 2 ? args[2] : Py_None;
    if (count < 2 || count > 4)
        return PyErr_Format(PyExc_TypeError, "product takes two arrays and a bias");
    if (dt_product_used() == DT_PRODUCT_NONE || !is_stack(args[0], 2) ||
        !is_stack(args[1], 2) || (last != Py_None && !is_stack(last, 1)))
        return plain_product(args, last);
    PyArrayObject *a = readable(args[0]), *b = readable(args[1]), *out = NULL;
    PyArrayObject *bias = last == Py_None ? NULL : bias_of(last);
    if (a != NULL && b != NULL && (last == Py_None || bias != NULL))
        out = multiply(a, b, bias, count == 4 && args[3] == Py_True);
    Py_XDECREF(a);
    Py_XDECREF(b);
    Py_XDECREF(bias);
    return (PyObject *)out;
}

static PyObject *
has_product(PyObject *Py_UNUSED(module), PyObject *Py_UNUSED(nothing))
{
    return PyBool_FromLong(dt_product_used() != DT_PRODUCT_NONE);
}

PyMethodDef ext_product_methods[] = {
    {"product", (PyCFunction)(void (*)(void))product, METH_FASTCALL,
     "product(a, b, bias=None, wide=False, /)\n--\n\n"
     "Return ``a @ b + bias``: of bfloat16 by the processor's own dot products, which "
     "add\n"
     "up in float32, rounded once or, if `wide`, left so; else as NumPy does."},
    {"has_product", has_product, METH_NOARGS,
     "has_product()\n--\n\n"
     "Return whether this processor multiplies bfloat16 faster than float32."},
    {0},
};
