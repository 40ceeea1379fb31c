/* loop_shared.c: NumPy's inner loops on large arrays, shared by the threads of the
 * team. */
#include "ext/dispatch/loop.h"

#include "core/threads/team.h"

#include <stdatomic.h>

typedef struct {
    op_loop_call call;
    atomic_int flags; /* those that were raised */
    atomic_bool failed;
} shared;

/* The shape of a result that is so large that threads share its loop, or of any whose loop
 * is ours; 0: it is not. */
static int
shared_shape(npy_intp *shape, const op_entry *entry, PyObject *const *argv)
{
    int count = (int)entry->positional;
    int64_t bytes;
    if (count > OP_SHORT)
        return 0;
    bool ours = op_loop_is_half(argv, count);
    if (dt_team_size() == 1 && !ours)
        return 0;
    int ndim = op_loop_shape(shape, &bytes, argv, count);
    return ndim < 0 || !(ours || dt_team_shares(bytes)) ? 0 : ndim;
}

bool
op_loop_is_shared(const op_entry *entry, PyObject *const *argv)
{
    npy_intp shape[NPY_MAXDIMS];
    return shared_shape(shape, entry, argv) > 0;
}

/* --- the loop --- */

static void
loop_part(void *work, int64_t begin, int64_t end)
{
    shared *s = work;
    const op_loop_call *c = &s->call;
    bool by_rows = c->rows > 1;
    int64_t calls = by_rows ? end - begin : 1;
    npy_intp length = by_rows ? c->length : (npy_intp)(end - begin);
    char *data[OP_SHORT + 1];
    int failed = 0;
    bool flags = !c->loop->no_floatingpoint_errors;
    if (flags)
        feclearexcept(LOOP_ERRORS);
    for (int64_t call = 0; call < calls && failed == 0; call++) {
        for (int k = 0; k <= c->count; k++)
            data[k] = by_rows ? op_loop_row(c, k, (npy_intp)(begin + call))
                              : c->data[k] + begin * c->inner[k];
        failed = op_loop_run(c, data, length);
    }
    if (failed < 0)
        atomic_store(&s->failed, true);
    if (flags)
        atomic_fetch_or(&s->flags, fetestexcept(LOOP_ERRORS));
}

static void
run(shared *s)
{
    const op_loop_call *c = &s->call;
    int64_t size = 0;
    for (int k = 0; k <= c->count; k++)
        size += PyDataType_ELSIZE(c->loop->context->descriptors[k]);
    PyThreadState *state = PyEval_SaveThread();
    if (c->rows > 1)
        dt_team_run(c->rows, c->length * size, loop_part, s);
    else
        dt_team_run(c->length, size, loop_part, s);
    PyEval_RestoreThread(state);
}

/* Whether a loop may write to `out` as it reads: an operand that has memory of it has
 * each element where the result will be. */
static bool
may_write(const op_loop_call *c, PyObject *const *argv, PyArrayObject *out,
          npy_intp size)
{
    const char *begin = PyArray_BYTES(out), *end = begin + size;
    for (int k = 0; k < c->count; k++) {
        PyArrayObject *array = (PyArrayObject *)argv[k];
        /* Loops may look at what touches as at what overlaps. */
        if (!PyArray_CheckExact(argv[k]) || PyArray_BYTES(array) > end ||
            PyArray_BYTES(array) + PyArray_NBYTES(array) < begin)
            continue;
        if (PyArray_BYTES(array) != begin || c->inner[k] != c->inner[c->count] ||
            c->outer[k] != c->outer[c->count] || c->apart[k] != c->apart[c->count])
            return false;
    }
    return true;
}

/* `out`, or a new array, for the result; NULL, without an exception: the ufunc is to
 * make it, or cast to it. */
static PyArrayObject *
result_array(const op_loop_call *c, PyObject *const *argv, PyObject *out, int ndim,
             const npy_intp *shape)
{
    PyArray_Descr *dtype = c->loop->context->descriptors[c->count];
    PyArrayObject *array = (PyArrayObject *)out;
    if (out == NULL) {
        array = (PyArrayObject *)PyArray_SimpleNew(ndim, shape, dtype->type_num);
        PyErr_Clear();
        return array;
    }
    if (!PyArray_CheckExact(out) || PyArray_TYPE(array) != dtype->type_num ||
        !PyArray_ISCARRAY(array) || PyArray_NDIM(array) != ndim ||
        !PyArray_CompareLists(PyArray_DIMS(array), shape, ndim) ||
        !may_write(c, argv, array, PyArray_NBYTES(array)))
        return NULL;
    return (PyArrayObject *)Py_NewRef(out);
}

bool
op_loop_shared(PyObject **result, const op_entry *entry, PyObject *const *argv,
               PyObject *out)
{
    shared s = {0};
    op_loop_call *c = &s.call;
    npy_intp shape[NPY_MAXDIMS];
    int ndim = shared_shape(shape, entry, argv);
    if (ndim == 0 || !op_loop_lay(c, shape, ndim, entry, argv))
        return false;
    PyArrayObject *made = result_array(c, argv, out, ndim, shape);
    if (made == NULL)
        return false;
    c->data[c->count] = PyArray_BYTES(made);
    run(&s);
    int flags = atomic_load(&s.flags);
    bool good = !atomic_load(&s.failed);
    if (good && flags != 0 && op_loop_tell(entry, flags) < 0)
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
