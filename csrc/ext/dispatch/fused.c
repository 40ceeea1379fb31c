/* fused.c: within dtensor.fused, calls of elementwise ufuncs on large arrays are put off.
 * A call gives its result at once, as an array whose elements are not there yet, and is a
 * step of a program. Whoever asks for elements, of any array, has the whole program run
 * before (ext_catch_up): in the order of the calls, so that they are what they would have
 * been. An operand that somebody could write to without asking, since he has the ndarray,
 * is read at once: the call is not put off.
 *
 * While a program runs the GIL is kept: nobody may see arrays that are half written. */
#include "ext/dispatch/fused.h"

#include "core/memory/memory.h"
#include "core/threads/team.h"

#include <string.h>

enum { SMALL = 16 }; /* an operand so many times smaller than the result is copied */

static _Thread_local char own_thread;
static fused_program *program; /* not empty, or NULL */
static int64_t least_bytes = 1 << 18;
static long long program_count, step_count, unwritten_count;

/* --- the end of a program --- */

static void
program_free(fused_program *p)
{
    for (int k = 0; k < p->count; k++) {
        fused_step *step = &p->steps[k];
        for (int i = 0; i < OP_SHORT; i++)
            Py_XDECREF(step->held[i]);
        Py_DECREF((PyObject *)step->result);
        Py_DECREF((PyObject *)step->op);
        op_entry_release(step->entry);
    }
    Py_XDECREF(p->modes);
    PyMem_Free(p);
}

static void
run(fused_program *p)
{
    fused_run(p);
    p->ran = true;
    program_count++;
    step_count += p->count;
    unwritten_count += p->unwritten;
}

/* Carries out what was put off. An exception is that of a warning which is one. What
 * another thread has put off is computed, too; of its flags that thread tells, and it
 * frees the program. */
static int
finish(void)
{
    fused_program *p = program;
    if (!p->ran)
        run(p);
    if (p->thread != &own_thread)
        return 0;
    program = NULL;
    ext_put_off = NULL;
    PyObject *type, *error, *trace;
    PyErr_Fetch(&type, &error, &trace); /* of who looks at an array meanwhile */
    int failed = fused_tell(p);
    program_free(p);
    if (type != NULL) {
        PyErr_Restore(type, error, trace);
        failed = 0;
    }
    return failed;
}

/* --- operands --- */

static int
step_of(const fused_program *p, const PyObject *array)
{
    int k = p->count - 1;
    while (k >= 0 && (PyObject *)p->steps[k].result != array)
        k--;
    return k;
}

/* Whether an array shows memory that a step is to write. */
static bool
shows_result(const fused_program *p, PyArrayObject *array)
{
    PyObject *base = PyArray_BASE(array);
    while (base != NULL && PyArray_Check(base)) {
        if (step_of(p, base) >= 0)
            return true;
        base = PyArray_BASE((PyArrayObject *)base);
    }
    return false;
}

static Py_ssize_t
times_in(PyObject *const *list, int count, const PyArrayObject *array)
{
    Py_ssize_t times = 0;
    for (int k = 0; k < count; k++)
        times += list[k] == (const PyObject *)array;
    return times;
}

/* Whether nobody but the tensor that an array is of can write to it: its memory is its
 * own, and only that tensor, the program and the call under way (`more` times) have
 * references to it. */
static bool
is_sole(const fused_program *p, PyArrayObject *array, Py_ssize_t more)
{
    for (int k = 0; k <= p->count; k++) /* with the step that is made */
        more += times_in(p->steps[k].held, OP_SHORT, array);
    return ext_has_own_memory(array) && Py_REFCNT((PyObject *)array) == 1 + more;
}

/* Holds a copy of a small operand, which is in C order. NumPy's own copy gives the GIL
 * away, and another thread would find the program as it is. */
static int
copy_small(fused_step *step, int k, PyArrayObject *array)
{
    PyObject *copy = PyArray_SimpleNew(PyArray_NDIM(array), PyArray_DIMS(array),
                                       PyArray_TYPE(array));
    if (copy == NULL) {
        PyErr_Clear();
        return -1;
    }
    step->held[k] = copy;
    step->call.data[k] = PyArray_BYTES((PyArrayObject *)copy);
    memcpy(step->call.data[k], PyArray_BYTES(array), (size_t)PyArray_NBYTES(array));
    return 0;
}

typedef enum { PUT_OFF, NEW_PROGRAM, AT_ONCE } verdict; /* on a call */

/* `owned`: which of the arrays are those of tensors, or new. */
static verdict
find_operands(const fused_program *p, fused_step *step, PyObject *const *argv,
              const bool *owned)
{
    const op_loop_call *c = &step->call;
    npy_intp size = c->rows * c->length;
    npy_intp bytes = size * PyDataType_ELSIZE(c->loop->context->descriptors[c->count]);
    for (int k = 0; k < c->count; k++) {
        PyArrayObject *array = (PyArrayObject *)argv[k];
        if (!PyArray_CheckExact(argv[k]))
            continue;
        step->from[k] = step_of(p, argv[k]);
        if (step->from[k] >= 0 && PyArray_SIZE(array) == size)
            continue;
        if (step->from[k] >= 0 || shows_result(p, array))
            return NEW_PROGRAM;
        if (owned[k] && is_sole(p, array, times_in(argv, c->count, array)))
            step->held[k] = Py_NewRef(argv[k]);
        else if (PyArray_NBYTES(array) > bytes / SMALL ||
                 copy_small(step, k, array) < 0)
            return AT_ONCE;
    }
    return PUT_OFF;
}

/* Whether the step has as many elements as those before. */
static bool
fits(fused_program *p, const op_loop_call *c)
{
    if (p->count == 0)
        p->length = c->rows * c->length;
    return c->rows * c->length == p->length;
}

/* --- a call --- */

/* numpy.geterr(), if none of its modes may raise or calls a function; NULL, without an
 * exception: a call is not put off. *flags: some are not "ignore". */
static PyObject *
modes_now(bool *flags)
{
    static PyObject *geterr;
    PyObject *modes = ext_import(&geterr, "numpy", "geterr") == NULL
                          ? NULL
                          : PyObject_CallNoArgs(geterr);
    PyObject *name, *mode;
    Py_ssize_t place = 0;
    *flags = false;
    while (modes != NULL && PyDict_Next(modes, &place, &name, &mode)) {
        bool ignored = PyUnicode_CompareWithASCIIString(mode, "ignore") == 0;
        bool warned = PyUnicode_CompareWithASCIIString(mode, "warn") == 0;
        *flags |= !ignored;
        if (!ignored && !warned)
            Py_CLEAR(modes);
    }
    return modes;
}

static bool
takes_step(const fused_program *p, PyObject *modes)
{
    return !p->ran && p->count < FUSED_MOST &&
           PyObject_RichCompareBool(modes, p->modes, Py_EQ) == 1;
}

/* A program of this thread that takes a step under these modes; steals them. NULL without
 * an exception: there is none, or no memory; with one: that of a program before. From here
 * until the step is one of the program no code of others runs, and the GIL is not given
 * away. */
static fused_program *
program_under(PyObject *modes, bool flags)
{
    fused_program *p = NULL;
    int failed = 0;
    while (failed == 0 && program != NULL && program->thread == &own_thread &&
           !takes_step(program, modes))
        failed = finish(); /* which may run code that begins another one */
    bool ours = program != NULL && program->thread == &own_thread;
    if (failed == 0 && program == NULL)
        p = PyMem_Calloc(1, sizeof *p);
    if (p == NULL) {
        Py_DECREF(modes);
        return failed == 0 && ours ? program : NULL;
    }
    p->modes = modes;
    p->flags = flags;
    p->thread = &own_thread;
    return p;
}

/* The step becomes one of the program, with an array for its result: a new reference.
 * Without one, nothing happens. */
static PyObject *
enter(fused_program *p, fused_step *step, op_entry *entry, const op_call *call,
      PyObject *made)
{
    if (made == NULL) {
        PyErr_Clear(); /* NumPy says so */
        return NULL;
    }
    step->result = (PyArrayObject *)Py_NewRef(made);
    step->entry = entry;
    entry->refs++;
    step->op = (OperatorObject *)Py_NewRef((PyObject *)call->op);
    step->lineage = call->lineage;
    step->last = p->count;
    for (int k = 0; k < OP_SHORT; k++)
        if (step->from[k] >= 0)
            p->steps[step->from[k]].last = p->count;
    p->count++;
    p->sums += fused_is_sum(step);
    program = p;
    ext_put_off = finish;
    return made;
}

/* A new array for the result of the step, which is then one of the program. */
static PyObject *
add_step(fused_program *p, fused_step *step, op_entry *entry, const op_call *call,
         const npy_intp *shape, int ndim)
{
    op_loop_call *c = &step->call;
    bool before = ext_computing;
    ext_computing = true;
    PyObject *made = PyArray_SimpleNew(
        ndim, shape, c->loop->context->descriptors[c->count]->type_num);
    ext_computing = before;
    if (made != NULL)
        c->data[c->count] = PyArray_BYTES((PyArrayObject *)made);
    return enter(p, step, entry, call, made);
}

static fused_step *
new_step(fused_program *p)
{
    fused_step *step = &p->steps[p->count];
    memset(step, 0, sizeof *step);
    for (int k = 0; k < OP_SHORT; k++)
        step->from[k] = -1;
    return step;
}

/* The result of a call that has become a step; NULL with an exception, or with *again:
 * once more, with a new program. */
static PyObject *
try_step(bool *again, op_entry *entry, const op_call *call, PyObject *const *argv,
         const bool *owned, const npy_intp *shape, int ndim)
{
    bool flags;
    PyObject *modes = modes_now(&flags), *made = NULL;
    fused_program *p = modes == NULL ? NULL : program_under(modes, flags);
    if (p == NULL)
        return NULL;
    fused_step *step = new_step(p);
    verdict what = !op_loop_lay(&step->call, shape, ndim, entry, argv) ? AT_ONCE
                   : fits(p, &step->call) ? find_operands(p, step, argv, owned)
                                          : NEW_PROGRAM;
    if (what == PUT_OFF)
        made = add_step(p, step, entry, call, shape, ndim);
    for (int k = 0; made == NULL && k < OP_SHORT; k++)
        Py_CLEAR(step->held[k]);
    if (what == NEW_PROGRAM) /* so there is one */
        *again = finish() == 0;
    else if (p->count == 0)
        program_free(p);
    return made;
}

static PyObject *
put_off(op_entry *entry, const op_call *call, PyObject *const *argv, const bool *owned)
{
    npy_intp shape[NPY_MAXDIMS];
    int64_t bytes;
    int ndim = op_loop_shape(shape, &bytes, argv, (int)entry->positional);
    bool again = ndim > 0 && bytes >= least_bytes &&
                 PyArray_MultiplyList(shape, ndim) > 1 &&
                 !op_loop_may_raise(entry, entry->loop);
    PyObject *made = NULL;
    if (again && ext_handler_install() < 0)
        return NULL;
    while (again) {
        again = false;
        made = try_step(&again, entry, call, argv, owned, shape, ndim);
    }
    return made;
}

/* The result of a sum of what a step gives; NULL without an exception: it is to be made at
 * once. */
static PyObject *
put_off_sum(op_entry *entry, const op_call *call, PyObject *array)
{
    bool flags;
    op_sum sum;
    if (step_of(program, array) < 0)
        return NULL;
    PyObject *modes = modes_now(&flags);
    fused_program *p = program; /* after code of others */
    int from =
        modes == NULL || p == NULL || p->thread != &own_thread || !takes_step(p, modes)
            ? -1
            : step_of(p, array);
    Py_XDECREF(modes);
    if (from < 0 || PyArray_SIZE((PyArrayObject *)array) != p->length ||
        !op_sum_of(&sum, entry, (PyArrayObject *)array))
        return NULL;
    fused_step *step = new_step(p);
    step->sum = sum;
    step->from[0] = from;
    return enter(p, step, entry, call, (PyObject *)op_sum_array(&sum));
}

static PyObject *
value_of(const op_entry *entry, const op_call *call, PyObject *const *moved, int slot)
{
    int k = entry->slots[slot].index;
    if (entry->slots[slot].kind != SLOT_OPERAND)
        return NULL;
    return moved != NULL && moved[k] != NULL ? moved[k] : op_held_value(entry, call, k);
}

PyObject *
op_fuse(op_entry *entry, const op_call *call, PyObject *const *moved)
{
    PyObject *argv[OP_SHORT] = {NULL}, *made = NULL;
    bool owned[OP_SHORT] = {false};
    int count = (int)entry->positional, held = 0;
    if (op_shortcuts && program != NULL && !entry->ufunc && entry->arguments > 0 &&
        (argv[0] = value_of(entry, call, moved, 0)) != NULL &&
        PyArray_CheckExact(argv[0]))
        return put_off_sum(entry, call, argv[0]);
    if (!op_shortcuts || !entry->ufunc || count > OP_SHORT || entry->kwnames != NULL ||
        entry->slot_count != count || (call->op->agrees != NULL && !entry->solo))
        return NULL;
    while (held < count && (argv[held] = value_of(entry, call, moved, held)) != NULL) {
        int k = entry->slots[held].index;
        bool is_moved = moved != NULL && moved[k] != NULL;
        owned[held] = is_moved || (entry->operands[k].stand_in == NULL &&
                                   ext_is_tensor(call->operands[k]));
        Py_INCREF(argv[held++]);
    }
    if (held == count && entry->loop == NULL && entry->runs <= OP_LOOP_ATTEMPTS)
        op_loop_find(entry, argv);
    if (held == count && entry->loop != NULL)
        made = put_off(entry, call, argv, owned);
    while (held > 0)
        Py_DECREF(argv[--held]);
    return made;
}

/* --- Python --- */

static PyObject *
set_fusing(PyObject *Py_UNUSED(module), PyObject *wanted)
{
    PyObject *before = ext_switch(&op_aside.fuses, wanted);
    if (before != NULL && !op_aside.fuses && ext_catch_up() < 0)
        Py_CLEAR(before);
    return before;
}

static PyObject *
set_fused_bytes(PyObject *Py_UNUSED(module), PyObject *least)
{
    long long bytes = PyLong_AsLongLong(least), before = least_bytes;
    if (bytes == -1 && PyErr_Occurred())
        return NULL;
    least_bytes = bytes;
    return PyLong_FromLongLong(before);
}

static PyObject *
fused_counts(PyObject *Py_UNUSED(module), PyObject *Py_UNUSED(none))
{
    return Py_BuildValue("(LLL)", program_count, step_count, unwritten_count);
}

PyMethodDef op_fused_methods[] = {
    {"set_fusing", set_fusing, METH_O,
     "set_fusing(wanted, /)\n--\n\n"
     "Put off elementwise calls of this thread, or do so no more; return what was."},
    {"set_fused_bytes", set_fused_bytes, METH_O,
     "set_fused_bytes(least, /)\n--\n\n"
     "Put off calls whose results have so many bytes; return what was."},
    {"fused_counts", fused_counts, METH_NOARGS,
     "fused_counts()\n--\n\n"
     "Return how many programs have run, their steps, and results never written."},
    {0},
};
