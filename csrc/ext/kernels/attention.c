/* attention.c: attention over all heads of arrays. */
#include "ext/kernels/kernels.h"

#include "core/memory/memory.h"
#include "core/threads/team.h"
#include "kernels/attention.h"

#include <string.h>

/* Arrays of shape (..., rows, columns), which are taken head by head. The leading dims
 * are those of q; another array may lack the first ones, and where it is shorter each
 * of its heads serves several of q: all of them, or a group. */

/* The matrix of an array for a head of q. */
static dt_matrix
matrix_of(PyArrayObject *array, PyArrayObject *q, const npy_intp *head)
{
    if (array == NULL)
        return (dt_matrix){0};
    int ndim = PyArray_NDIM(array), more = PyArray_NDIM(q) - ndim;
    const npy_intp *shape = PyArray_DIMS(array), *strides = PyArray_STRIDES(array);
    npy_intp size = PyArray_ITEMSIZE(array);
    char *data = PyArray_BYTES(array);
    for (int d = 0; d < ndim - 2; d++)
        data += head[d + more] * shape[d] / PyArray_DIM(q, d + more) * strides[d];
    int row = ndim - 2, column = ndim - 1;
    return (dt_matrix){.data = data, /* one row or column of a mask is for all */
                       .row = shape[row] == 1 ? 0 : strides[row] / size,
                       .column = shape[column] == 1 ? 0 : strides[column] / size};
}

/* The coordinates of head number `index`. */
static void
place_head(npy_intp *head, PyArrayObject *q, int64_t index)
{
    for (int d = PyArray_NDIM(q) - 3; d >= 0; d--) {
        head[d] = index % PyArray_DIM(q, d);
        index /= PyArray_DIM(q, d);
    }
}

/* A new array whose dims, but for the last, lie in memory in the order of those of
 * `model`: what was transposed comes back without a copy. */
static PyArrayObject *
array_like(PyArrayObject *model, npy_intp columns, bool wide)
{
    int ndim = PyArray_NDIM(model);
    npy_intp order[NPY_MAXDIMS], place[NPY_MAXDIMS], shape[NPY_MAXDIMS];
    for (int d = 0; d < ndim; d++) {
        int k = d;
        for (; k > 0 && d < ndim - 1; k--) {
            if (PyArray_STRIDE(model, (int)order[k - 1]) >= PyArray_STRIDE(model, d))
                break;
            order[k] = order[k - 1];
        }
        order[k] = d;
    }
    for (int d = 0; d < ndim; d++) {
        place[order[d]] = d;
        shape[d] = order[d] == ndim - 1 ? columns : PyArray_DIM(model, (int)order[d]);
    }
    PyArrayObject *array = ext_kernel_array(ndim, shape, wide);
    PyArray_Dims back = {place, ndim};
    PyObject *view = array == NULL ? NULL : PyArray_Transpose(array, &back);
    Py_XDECREF(array);
    return (PyArrayObject *)view;
}

static PyArrayObject *
zeros_like(PyArrayObject *model, bool wide)
{
    int ndim = PyArray_NDIM(model);
    PyArrayObject *array = array_like(model, PyArray_DIM(model, ndim - 1), wide);
    if (array != NULL)
        memset(PyArray_DATA(array), 0, (size_t)PyArray_NBYTES(array));
    return array;
}

/* Whether an array has such rows and columns (`spread`: or one for all), and leading
 * dims that divide those of q. */
static bool
goes_with(PyArrayObject *array, PyArrayObject *q, npy_intp rows, npy_intp columns,
          bool spread)
{
    int ndim = PyArray_NDIM(array), more = PyArray_NDIM(q) - ndim;
    if (ndim < 2 || more < 0)
        return false;
    npy_intp n = PyArray_DIM(array, ndim - 2), m = PyArray_DIM(array, ndim - 1);
    bool fits =
        (n == rows || (spread && n == 1)) && (m == columns || (spread && m == 1));
    for (int d = 0; fits && d < ndim - 2; d++) {
        npy_intp length = PyArray_DIM(array, d), whole = PyArray_DIM(q, d + more);
        fits = length == whole || (length > 0 && whole % length == 0);
    }
    return fits;
}

/* --- the arguments --- */

typedef struct {
    PyArrayObject *q, *k, *v, *mask, *out, *logsumexp, *grad, *grad_sum;
    PyArrayObject *dq, *dk, *dv, *dmask;
} arrays;

static bool
is_row_of(PyArrayObject *sums, PyArrayObject *q)
{
    int ndim = PyArray_NDIM(q) - 1;
    return sums == NULL ||
           (PyArray_NDIM(sums) == ndim &&
            PyArray_CompareLists(PyArray_DIMS(sums), PyArray_DIMS(q), ndim));
}

/* A rule that is wrong must not end in other memory: -1 with an exception. */
static int
check(const arrays *x, bool gradient)
{
    bool fits =
        PyArray_NDIM(x->q) >= 2 && PyArray_NDIM(x->k) >= 2 && PyArray_NDIM(x->v) >= 2;
    if (fits) {
        int last = PyArray_NDIM(x->q) - 1;
        npy_intp queries = PyArray_DIM(x->q, last - 1), width = PyArray_DIM(x->q, last);
        npy_intp keys = PyArray_DIM(x->k, PyArray_NDIM(x->k) - 2);
        npy_intp depth = PyArray_DIM(x->v, PyArray_NDIM(x->v) - 1);
        fits = goes_with(x->k, x->q, keys, width, false) &&
               goes_with(x->v, x->q, keys, depth, false) &&
               (x->mask == NULL || goes_with(x->mask, x->q, queries, keys, true)) &&
               (!gradient ||
                (goes_with(x->out, x->q, queries, depth, false) &&
                 goes_with(x->grad, x->q, queries, depth, false) &&
                 is_row_of(x->logsumexp, x->q) && is_row_of(x->grad_sum, x->q)));
    }
    if (!fits)
        PyErr_SetString(PyExc_ValueError, "attention: incompatible shapes");
    return fits ? 0 : -1;
}

static dt_attention
attention_of(const arrays *x, bool wide, bool causal, double scale)
{
    int last = PyArray_NDIM(x->q) - 1;
    return (dt_attention){
        .dtype = wide ? DT_FLOAT64 : DT_FLOAT32,
        .queries = PyArray_DIM(x->q, last - 1),
        .keys = PyArray_DIM(x->k, PyArray_NDIM(x->k) - 2),
        .width = PyArray_DIM(x->q, last),
        .depth = PyArray_DIM(x->v, PyArray_NDIM(x->v) - 1),
        .scale = scale,
        .causal = causal,
        .flags = x->mask != NULL && PyArray_TYPE(x->mask) == NPY_BOOL,
    };
}

static void *
row_of(PyArrayObject *array, int64_t index, const dt_attention *a)
{
    int64_t size = (int64_t)dt_dtype_size(a->dtype);
    return array == NULL ? NULL : PyArray_BYTES(array) + index * a->queries * size;
}

typedef struct {
    const arrays *x;
    const dt_attention *common; /* of all heads */
    bool gradient;
    char *scratch;
    int64_t room;  /* of a thread's scratch */
    int64_t heads; /* that one thread does: they write to the same memory */
} job;

static void
run_head(const job *j, int64_t index)
{
    const arrays *x = j->x;
    npy_intp head[NPY_MAXDIMS] = {0};
    dt_attention a = *j->common;
    place_head(head, x->q, index);
    a.q = matrix_of(x->q, x->q, head);
    a.k = matrix_of(x->k, x->q, head);
    a.v = matrix_of(x->v, x->q, head);
    a.mask = matrix_of(x->mask, x->q, head);
    a.out = matrix_of(x->out, x->q, head);
    a.grad = matrix_of(x->grad, x->q, head);
    a.dq = matrix_of(x->dq, x->q, head);
    a.dk = matrix_of(x->dk, x->q, head);
    a.dv = matrix_of(x->dv, x->q, head);
    a.dmask = matrix_of(x->dmask, x->q, head);
    a.logsumexp = row_of(x->logsumexp, index, &a);
    a.grad_sum = row_of(x->grad_sum, index, &a);
    void *scratch = j->scratch + dt_team_place() * j->room;
    (j->gradient ? dt_attention_backward : dt_attention_forward)(&a, scratch);
}

static void
run_part(void *work, int64_t begin, int64_t end)
{
    const job *j = work;
    for (int64_t index = begin * j->heads; index < end * j->heads; index++)
        run_head(j, index);
}

static int64_t
gcd(int64_t a, int64_t b)
{
    while (b != 0) {
        int64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

/* How many heads in a row may write to the same gradient: dims of q after the first one
 * along which an array that is added to is shorter, and what it is shorter by. */
static int64_t
heads_together(const arrays *x)
{
    PyArrayObject *const written[] = {x->dk, x->dv, x->dmask};
    PyArrayObject *q = x->q;
    int64_t together = 1;
    bool shared = false;
    for (int d = 0; d < PyArray_NDIM(q) - 2; d++) {
        int64_t own = PyArray_DIM(q, d), units = own;
        for (int k = 0; k < 3 && !shared; k++) {
            int more =
                written[k] == NULL ? 0 : PyArray_NDIM(q) - PyArray_NDIM(written[k]);
            if (written[k] != NULL)
                units = gcd(units, d < more ? 1 : PyArray_DIM(written[k], d - more));
        }
        together *= shared ? own : own / units;
        shared |= units < own;
    }
    return together;
}

/* Calls a kernel for each head. */
static int
run_heads(const arrays *x, const dt_attention *a, bool gradient)
{
    int64_t numbers = PyArray_SIZE(x->q) * (a->keys + 1), count = 0;
    if (PyArray_SIZE(x->logsumexp) > 0)
        count = PyArray_SIZE(x->logsumexp) / a->queries;
    job j = {.x = x, .common = a, .gradient = gradient};
    j.heads = gradient && count > 0 ? heads_together(x) : 1;
    j.room = (int64_t)dt_attention_scratch(a, gradient);
    int threads = dt_team_shares(numbers) ? dt_team_size() : 1;
    if (threads > count / j.heads)
        threads = count > j.heads ? (int)(count / j.heads) : 1;
    j.scratch = dt_memory_take((size_t)(threads * j.room));
    if (j.scratch == NULL)
        return ext_no_memory();
    PyThreadState *state = ext_kernel_begin(numbers);
    if (threads > 1)
        dt_team_run_by(threads, count / j.heads, numbers / count * j.heads, run_part,
                       &j);
    else
        run_part(&j, 0, count / j.heads);
    ext_kernel_end(state);
    dt_memory_give(j.scratch);
    return 0;
}

/* attention(q, k, v, mask, causal, scale) -> out, logsumexp */
static PyObject *
forward(const ext_kernel *Py_UNUSED(kernel), const ext_argument *given, bool wide)
{
    arrays x = {.q = given[0].array,
                .k = given[1].array,
                .v = given[2].array,
                .mask = given[3].array};
    if (check(&x, false) < 0)
        return NULL;
    dt_attention a = attention_of(&x, wide, given[4].integer != 0, given[5].number);
    x.out = array_like(x.q, a.depth, wide);
    x.logsumexp = ext_kernel_array(PyArray_NDIM(x.q) - 1, PyArray_DIMS(x.q), wide);
    if (x.out == NULL || x.logsumexp == NULL || run_heads(&x, &a, false) < 0) {
        Py_XDECREF(x.out);
        Py_XDECREF(x.logsumexp);
        return NULL;
    }
    return Py_BuildValue("(NN)", x.out, x.logsumexp);
}

/* attention_backward(grad, grad_sum, q, k, v, mask, out, logsumexp, causal, scale,
 * mask_too) -> dq, dk, dv[, dmask] */
static PyObject *
backward(const ext_kernel *Py_UNUSED(kernel), const ext_argument *given, bool wide)
{
    arrays x = {.grad = given[0].array,
                .grad_sum = given[1].array,
                .q = given[2].array,
                .k = given[3].array,
                .v = given[4].array,
                .mask = given[5].array,
                .out = given[6].array,
                .logsumexp = given[7].array};
    if (check(&x, true) < 0)
        return NULL;
    dt_attention a = attention_of(&x, wide, given[8].integer != 0, given[9].number);
    bool mask_too = given[10].integer != 0 && x.mask != NULL;
    x.dq = array_like(x.q, a.width, wide);
    x.dk = zeros_like(x.k, wide);
    x.dv = zeros_like(x.v, wide);
    x.dmask = mask_too ? zeros_like(x.mask, wide) : NULL;
    bool made =
        x.dq != NULL && x.dk != NULL && x.dv != NULL && (!mask_too || x.dmask != NULL);
    if (!made || run_heads(&x, &a, true) < 0) {
        Py_XDECREF(x.dq);
        Py_XDECREF(x.dk);
        Py_XDECREF(x.dv);
        Py_XDECREF(x.dmask);
        return NULL;
    }
    return mask_too ? Py_BuildValue("(NNNN)", x.dq, x.dk, x.dv, x.dmask)
                    : Py_BuildValue("(NNN)", x.dq, x.dk, x.dv);
}

const ext_kernel ext_attention_kernels[] = {
    {"attention", "sssmkn", forward, 0},
    {"attention_backward", "sosssmsxknk", backward, 0},
    {0},
};
