/* depthwise.c: convolutions whose filters look at one channel each. */
#include "ext/kernels/kernels.h"

#include "core/memory/memory.h"
#include "core/threads/team.h"
#include "kernels/depthwise.h"

#include <stddef.h>

enum { LEAD = 2, ARRAYS = 3 };

/* The arrays of a convolution, in the order of their kinds; the one to be made is NULL. */
typedef struct {
    PyArrayObject *out, *x, *weight, *bias, *table;
    int64_t channels;
} arrays;

/* What the last dims of each array are as long as. */
static const size_t LENGTHS[ARRAYS] = {
    [DT_DEPTHWISE_OUT] = offsetof(dt_kernel_dim, places),
    [DT_DEPTHWISE_X] = offsetof(dt_kernel_dim, length),
    [DT_DEPTHWISE_WEIGHT] = offsetof(dt_kernel_dim, size),
};

static void
shape_of(npy_intp *shape, int ndim, dt_depthwise_kind kind, const dt_depthwise *of)
{
    shape[0] = kind == DT_DEPTHWISE_WEIGHT ? of->channels * of->each : of->samples;
    shape[1] = kind == DT_DEPTHWISE_OUT ? of->channels * of->each
               : kind == DT_DEPTHWISE_X ? of->channels
                                        : 1;
    for (int d = LEAD; d < ndim; d++) {
        const dt_kernel_dim *dim = &of->dims[DT_COLUMNS_DIMS - ndim + d];
        shape[d] = *(const int64_t *)(const void *)((const char *)dim + LENGTHS[kind]);
    }
}

/* Whether there is nothing to add up; or steps that the loops do not know. */
static bool
is_empty(const dt_depthwise *of)
{
    bool empty = of->samples == 0 || of->channels == 0 || of->each == 0;
    for (int d = 0; d < DT_COLUMNS_DIMS; d++) {
        const dt_kernel_dim *dim = &of->dims[d];
        empty |= dim->low < 0 || dim->length == 0 || dim->size == 0 || dim->places == 0;
    }
    return empty;
}

static int
run(dt_depthwise_kind kind, const dt_depthwise *of, bool wide)
{
    int64_t room = is_empty(of) ? -1 : dt_depthwise_scratch(kind, wide, of);
    if (room < 0)
        return ext_fail(PyExc_ValueError, "a convolution of other dims");
    int64_t pieces = dt_depthwise_pieces(kind, of);
    int64_t numbers = of->samples * of->channels;
    for (int d = 0; d < DT_COLUMNS_DIMS; d++)
        numbers *= of->dims[d].places * of->dims[d].size;
    int threads = dt_team_shares(numbers) ? dt_team_size() : 1;
    if (threads > pieces)
        threads = (int)pieces;
    void *scratch = dt_memory_take((size_t)(threads * room));
    if (scratch == NULL)
        return ext_no_memory();
    PyThreadState *state = ext_kernel_begin(numbers);
    dt_depthwise_run(kind, wide, of, threads, scratch);
    ext_kernel_end(state);
    dt_memory_give(scratch);
    return 0;
}

static void *
data_of(PyArrayObject *array)
{
    return array == NULL ? NULL : PyArray_DATA(array);
}

/* Makes the array that is not there. */
static PyObject *
make(const ext_kernel *kernel, const arrays *given, bool wide)
{
    PyArrayObject *all[ARRAYS] = {given->out, given->x, given->weight};
    const dt_depthwise_kind kind = (dt_depthwise_kind)kernel->which;
    PyArrayObject *batch = given->x == NULL ? given->out : given->x;
    const int ndim = PyArray_NDIM(batch);
    dt_depthwise of = {.channels = given->channels};
    if (ext_kernel_dims(of.dims, ndim - LEAD, given->table) < 0)
        return NULL;
    bool fits = (given->out == NULL || PyArray_NDIM(given->out) == ndim) &&
                (given->weight == NULL || PyArray_NDIM(given->weight) == ndim);
    if (fits) {
        of.samples = PyArray_DIM(batch, 0);
        if (given->x != NULL)
            of.channels = PyArray_DIM(given->x, 1);
        int64_t filters = given->weight == NULL ? PyArray_DIM(given->out, 1)
                                                : PyArray_DIM(given->weight, 0);
        of.each = of.channels > 0 ? filters / of.channels : 0;
        fits = of.each * of.channels == filters &&
               (given->bias == NULL || PyArray_SIZE(given->bias) == filters);
    }
    npy_intp shape[LEAD + DT_COLUMNS_DIMS];
    for (int k = 0; k < ARRAYS && fits; k++) {
        shape_of(shape, ndim, (dt_depthwise_kind)k, &of);
        fits =
            all[k] == NULL || PyArray_CompareLists(shape, PyArray_DIMS(all[k]), ndim);
    }
    if (!fits)
        return PyErr_Format(PyExc_ValueError, "%s: arrays of other shapes",
                            kernel->name);
    shape_of(shape, ndim, kind, &of);
    PyArrayObject *array = all[kind] = ext_kernel_array(ndim, shape, wide);
    of.out = data_of(all[DT_DEPTHWISE_OUT]);
    of.x = data_of(all[DT_DEPTHWISE_X]);
    of.weight = data_of(all[DT_DEPTHWISE_WEIGHT]);
    of.bias = data_of(given->bias);
    if (array != NULL && run(kind, &of, wide) < 0)
        Py_CLEAR(array);
    return (PyObject *)array;
}

/* depthwise(x, weight, bias, dims) */
static PyObject *
make_out(const ext_kernel *kernel, const ext_argument *given, bool wide)
{
    const arrays all = {.x = given[0].array,
                        .weight = given[1].array,
                        .bias = given[2].array,
                        .table = given[3].array};
    return make(kernel, &all, wide);
}

/* depthwise_input(grad, weight, dims, channels) */
static PyObject *
make_x(const ext_kernel *kernel, const ext_argument *given, bool wide)
{
    const arrays all = {.out = given[0].array,
                        .weight = given[1].array,
                        .table = given[2].array,
                        .channels = given[3].integer};
    return make(kernel, &all, wide);
}

/* depthwise_weight(grad, x, dims) */
static PyObject *
make_weight(const ext_kernel *kernel, const ext_argument *given, bool wide)
{
    const arrays all = {
        .out = given[0].array, .x = given[1].array, .table = given[2].array};
    return make(kernel, &all, wide);
}

const ext_kernel ext_depthwise_kernels[] = {
    {"depthwise", "xxoi", make_out, DT_DEPTHWISE_OUT},
    {"depthwise_input", "xxik", make_x, DT_DEPTHWISE_X},
    {"depthwise_weight", "xxi", make_weight, DT_DEPTHWISE_WEIGHT},
    {0},
};
