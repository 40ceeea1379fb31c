/* loop_shared.c: NumPy's inner loops on large arrays, shared by the threads of the team.
 * Each calls the loop on elements that follow each other, or on rows of them, as the
 * ufunc would. */
#include "ext/dispatch/loop.h"

#include "core/threads/team.h"

#include <numpy/ufuncobject.h>

#include <stdatomic.h>
#include <string.h>

enum { LEAST_ROW = 512 }; /* bytes: a loop over less takes no longer than its call */

/* Operands, and the result after them: where they begin, and how far apart their elements
 * in a row are, and their rows. */
typedef struct {
    const op_loop *loop;
    int count; /* of operands */
    char *data[OP_SHORT + 1];
    npy_intp inner[OP_SHORT + 1], outer[OP_SHORT + 1];
    npy_intp length, rows;
    op_loop_number numbers[OP_SHORT];
    atomic_int flags; /* those that were raised */
    atomic_bool failed;
} shared;

/* --- the arrays --- */

/* The shape that all arrays are broadcast to; -1: they cannot be. */
static int
common_shape(npy_intp *shape, PyObject *const *argv, int count)
{
    int ndim = 0;
    for (int k = 0; k < count; k++)
        if (PyArray_CheckExact(argv[k]) &&
            PyArray_NDIM((PyArrayObject *)argv[k]) > ndim)
            ndim = PyArray_NDIM((PyArrayObject *)argv[k]);
    for (int d = 0; d < ndim; d++)
        shape[d] = 1;
    for (int k = 0; k < count; k++) {
        if (!PyArray_CheckExact(argv[k]))
            continue;
        PyArrayObject *array = (PyArrayObject *)argv[k];
        npy_intp *end = shape + ndim - PyArray_NDIM(array);
        for (int d = 0; d < PyArray_NDIM(array); d++) {
            npy_intp length = PyArray_DIM(array, d);
            if (length != 1 && end[d] != 1 && end[d] != length)
                return -1;
            end[d] = length == 1 ? end[d] : length;
        }
    }
    return ndim;
}

/* The shape of a result that is so large that threads share its loop; 0: it is not. */
static int
shared_shape(npy_intp *shape, const op_entry *entry, PyObject *const *argv)
{
    int count = (int)entry->positional, least = 0;
    if (dt_team_size() == 1 || count > OP_SHORT)
        return 0;
    for (int k = 0; k < count; k++) { /* the result's are not known, and seldom fewer */
        int size = PyArray_CheckExact(argv[k])
                       ? (int)PyArray_ITEMSIZE((PyArrayObject *)argv[k])
                       : 0;
        least = size > 0 && (least == 0 || size < least) ? size : least;
    }
    int ndim = common_shape(shape, argv, count);
    if (ndim < 0 || !dt_team_shares(PyArray_MultiplyList(shape, ndim) * least))
        return 0;
    return ndim;
}

bool
op_loop_is_shared(const op_entry *entry, PyObject *const *argv)
{
    npy_intp shape[NPY_MAXDIMS];
    return shared_shape(shape, entry, argv) > 0;
}

/* The strides of an array in C order along the dims that it is broadcast to. */
static void
strides_of(npy_intp *strides, PyArrayObject *array, int ndim)
{
    int more = ndim - PyArray_NDIM(array);
    for (int d = 0; d < ndim; d++)
        strides[d] = d < more || PyArray_DIM(array, d - more) == 1
                         ? 0
                         : PyArray_STRIDE(array, d - more);
}

/* Makes rows of the dims: as many of the last ones as lie one after the other in every
 * array; the others must do so, too. */
static bool
make_rows(shared *s, const npy_intp *shape, npy_intp strides[][NPY_MAXDIMS], int ndim)
{
    int groups = 0;
    npy_intp lengths[] = {1, 1}, *steps[] = {s->inner, s->outer};
    memset(s->inner, 0, sizeof s->inner);
    memset(s->outer, 0, sizeof s->outer);
    for (int d = ndim - 1; d >= 0; d--) {
        if (shape[d] == 1)
            continue;
        bool follows = groups > 0;
        for (int k = 0; k <= s->count && follows; k++)
            follows = strides[k][d] == steps[groups - 1][k] * lengths[groups - 1];
        if (!follows) {
            if (groups == 2)
                return false;
            for (int k = 0; k <= s->count; k++)
                steps[groups][k] = strides[k][d];
            groups++;
        }
        lengths[groups - 1] *= shape[d];
    }
    s->length = lengths[0];
    s->rows = lengths[1];
    return s->rows == 1 || s->length * s->inner[s->count] >= LEAST_ROW;
}

/* Reads the operands; false: some must be cast or copied first, or lie in pieces. */
static bool
read_operands(shared *s, npy_intp strides[][NPY_MAXDIMS], PyObject *const *argv,
              int ndim)
{
    PyArray_Descr *const *dtypes = s->loop->context->descriptors;
    for (int k = 0; k < s->count; k++) {
        PyArrayObject *array = (PyArrayObject *)argv[k];
        s->data[k] = (char *)&s->numbers[k];
        memset(strides[k], 0, sizeof strides[k]);
        if (!PyArray_CheckExact(argv[k])) {
            if (!op_loop_number_put(&s->numbers[k], dtypes[k], argv[k]))
                return false;
        } else if (PyArray_TYPE(array) == dtypes[k]->type_num &&
                   PyArray_ISCARRAY_RO(array)) {
            s->data[k] = PyArray_BYTES(array);
            strides_of(strides[k], array, ndim);
        } else
            return false;
    }
    return true;
}

/* --- the loop --- */

static void
loop_part(void *work, int64_t begin, int64_t end)
{
    shared *s = work;
    bool by_rows = s->rows > 1;
    int64_t calls = by_rows ? end - begin : 1;
    npy_intp length = by_rows ? s->length : (npy_intp)(end - begin);
    char *data[OP_SHORT + 1];
    int failed = 0;
    bool flags = !s->loop->no_floatingpoint_errors;
    if (flags)
        feclearexcept(LOOP_ERRORS);
    for (int64_t call = 0; call < calls && failed == 0; call++) {
        for (int k = 0; k <= s->count; k++)
            data[k] = s->data[k] +
                      (by_rows ? (begin + call) * s->outer[k] : begin * s->inner[k]);
        failed =
            s->loop->call(s->loop->context, data, &length, s->inner, s->loop->auxdata);
    }
    if (failed < 0)
        atomic_store(&s->failed, true);
    if (flags)
        atomic_fetch_or(&s->flags, fetestexcept(LOOP_ERRORS));
}

/* Raises or warns as `errstate` has it; -1 with an exception. */
static int
tell(const op_entry *entry, int flags)
{
    int told = 0;
    told |= flags & FE_DIVBYZERO ? NPY_FPE_DIVIDEBYZERO : 0;
    told |= flags & FE_OVERFLOW ? NPY_FPE_OVERFLOW : 0;
    told |= flags & FE_UNDERFLOW ? NPY_FPE_UNDERFLOW : 0;
    told |= flags & FE_INVALID ? NPY_FPE_INVALID : 0;
    PyObject *name = PyObject_GetAttrString(entry->kernel, "__name__");
    const char *text = name == NULL ? NULL : PyUnicode_AsUTF8(name);
    int failed = text == NULL ? -1 : PyUFunc_GiveFloatingpointErrors(text, told);
    Py_XDECREF(name);
    return failed;
}

static void
run(shared *s)
{
    int64_t size = 0;
    for (int k = 0; k <= s->count; k++)
        size += PyDataType_ELSIZE(s->loop->context->descriptors[k]);
    PyThreadState *state = PyEval_SaveThread();
    if (s->rows > 1)
        dt_team_run(s->rows, s->length * size, loop_part, s);
    else
        dt_team_run(s->length, size, loop_part, s);
    PyEval_RestoreThread(state);
}

/* Whether a loop may write to `out` as it reads: an operand that has memory of it has
 * each element where the result will be. */
static bool
may_write(const shared *s, PyObject *const *argv, PyArrayObject *out, npy_intp size)
{
    const char *begin = PyArray_BYTES(out), *end = begin + size;
    for (int k = 0; k < s->count; k++) {
        PyArrayObject *array = (PyArrayObject *)argv[k];
        /* Loops may look at what touches as at what overlaps. */
        if (!PyArray_CheckExact(argv[k]) || PyArray_BYTES(array) > end ||
            PyArray_BYTES(array) + PyArray_NBYTES(array) < begin)
            continue;
        if (PyArray_BYTES(array) != begin || s->inner[k] != s->inner[s->count] ||
            s->outer[k] != s->outer[s->count])
            return false;
    }
    return true;
}

/* `out`, or a new array, for the result; NULL, without an exception: the ufunc is to
 * make it, or cast to it. */
static PyArrayObject *
result_array(const shared *s, PyObject *const *argv, PyObject *out, int ndim,
             const npy_intp *shape)
{
    PyArray_Descr *dtype = s->loop->context->descriptors[s->count];
    PyArrayObject *array = (PyArrayObject *)out;
    if (out == NULL) {
        array = (PyArrayObject *)PyArray_SimpleNew(ndim, shape, dtype->type_num);
        PyErr_Clear();
        return array;
    }
    if (!PyArray_CheckExact(out) || PyArray_TYPE(array) != dtype->type_num ||
        !PyArray_ISCARRAY(array) || PyArray_NDIM(array) != ndim ||
        !PyArray_CompareLists(PyArray_DIMS(array), shape, ndim) ||
        !may_write(s, argv, array, PyArray_NBYTES(array)))
        return NULL;
    return (PyArrayObject *)Py_NewRef(out);
}

/* A loop of powers computes otherwise where the exponent is one number. NumPy calls it so
 * for rows that are longer than its buffers, and with copies of the number for others. */
static bool
is_power_of_rows(const op_entry *entry, const shared *s)
{
    return s->rows > 1 && s->count == 2 && s->inner[1] == 0 &&
           op_loop_is_of(entry, "power");
}

bool
op_loop_shared(PyObject **result, const op_entry *entry, PyObject *const *argv,
               PyObject *out)
{
    shared s = {.loop = entry->loop, .count = (int)entry->positional};
    npy_intp shape[NPY_MAXDIMS], strides[OP_SHORT + 1][NPY_MAXDIMS];
    int ndim = shared_shape(shape, entry, argv);
    if (ndim == 0)
        return false;
    npy_intp step = PyDataType_ELSIZE(s.loop->context->descriptors[s.count]);
    for (int d = ndim - 1; d >= 0; step *= shape[d--])
        strides[s.count][d] = step;
    if (!read_operands(&s, strides, argv, ndim) ||
        !make_rows(&s, shape, strides, ndim) || is_power_of_rows(entry, &s))
        return false;
    PyArrayObject *made = result_array(&s, argv, out, ndim, shape);
    if (made == NULL)
        return false;
    s.data[s.count] = PyArray_BYTES(made);
    run(&s);
    int flags = atomic_load(&s.flags);
    bool good = !atomic_load(&s.failed);
    if (good && flags != 0 && tell(entry, flags) < 0)
        Py_CLEAR(made);
    op_shortcut_count += good;
    *result = (PyObject *)made;
    if (!good && out != NULL) /* which may be an operand that is lost now */
        PyErr_Format(PyExc_SystemError, "%S: a loop that threads share has failed",
                     entry->kernel);
    if (!good) /* without `out` it says why when the ufunc is called */
        Py_CLEAR(*result);
    return good || out != NULL;
}
