/* sum.c: sums of all elements, by threads that share them or within a fused program. */
#include "ext/dispatch/sum.h"

#include "core/memory/memory.h"
#include "core/threads/team.h"

#include <stdatomic.h>
#include <string.h>

enum {
    LEAF_BYTES = 1 << 14,
    PAIRS = 128, /* elements that NumPy adds up without halving them */
    EIGHTS = 8   /* the first half is a multiple */
};

/* --- which calls are sums --- */

enum { NOT_LOOKED_AT, NO_SUM, SUM, MEAN };

/* numpy.add.reduce(x, axis=, keepdims=), or _C.mean_of(x, count, axis=, keepdims=) */
static char
kind_of(const op_entry *entry)
{
    static PyObject *add, *names;
    if (names == NULL)
        names = Py_BuildValue("(ss)", "axis", "keepdims");
    bool good = names != NULL && ext_import(&add, "numpy", "add") != NULL &&
                PyCFunction_CheckExact(entry->kernel) && entry->result_count == 1 &&
                entry->kwnames != NULL && entry->slot_count == entry->arguments &&
                entry->slots[0].kind == SLOT_OPERAND &&
                PyObject_RichCompareBool(entry->kwnames, names, Py_EQ) == 1;
    PyErr_Clear();
    for (int k = 1; good && k < entry->slot_count; k++)
        good = entry->slots[k].kind == SLOT_CONSTANT;
    if (!good)
        return NO_SUM;
    const char *name = ((PyCFunctionObject *)entry->kernel)->m_ml->ml_name;
    if (PyCFunction_GET_SELF(entry->kernel) == add)
        return strcmp(name, "reduce") == 0 && entry->positional == 1 ? SUM : NO_SUM;
    return strcmp(name, "mean_of") == 0 && entry->positional == 2 &&
                   PyLong_CheckExact(entry->slots[1].value)
               ? MEAN
               : NO_SUM;
}

bool
op_is_sum(op_entry *entry)
{
    if (entry->sums == NOT_LOOKED_AT)
        entry->sums = kind_of(entry);
    return entry->sums == SUM;
}

PyUFuncGenericFunction
op_sum_loop(void **data, int type)
{
    static PyObject *add;
    if (ext_import(&add, "numpy", "add") == NULL ||
        !PyObject_TypeCheck(add, &PyUFunc_Type)) {
        PyErr_Clear();
        return NULL;
    }
    const PyUFuncObject *ufunc = (PyUFuncObject *)add;
    for (int k = 0; k < ufunc->ntypes; k++) {
        const char *types = ufunc->types + k * ufunc->nargs;
        if (types[0] == type && types[1] == type && types[2] == type) {
            *data = ufunc->data == NULL ? NULL : (void *)ufunc->data[k];
            return ufunc->functions[k];
        }
    }
    return NULL;
}

bool
op_sum_of(op_sum *sum, op_entry *entry, PyArrayObject *array)
{
    if (entry->sums == NOT_LOOKED_AT)
        entry->sums = kind_of(entry);
    int type = PyArray_TYPE(array), ndim = PyArray_NDIM(array);
    if (entry->sums == NO_SUM || !PyArray_ISCARRAY_RO(array) || ndim == 0 ||
        (type != NPY_FLOAT && type != NPY_DOUBLE))
        return false;
    PyObject *axes = entry->slots[entry->positional].value;
    if (!PyTuple_CheckExact(axes) || PyTuple_GET_SIZE(axes) != ndim)
        return false;
    *sum = (op_sum){.type = type, .divisor = 1};
    sum->ndim = entry->slots[entry->positional + 1].value == Py_True ? ndim : 0;
    if (entry->sums == MEAN)
        sum->divisor = PyLong_AsDouble(entry->slots[1].value);
    sum->add = op_sum_loop(&sum->data, type);
    return sum->add != NULL;
}

/* --- the tree --- */

static npy_intp
half_of(npy_intp count)
{
    npy_intp half = count / 2;
    return half - half % EIGHTS;
}

static bool
is_leaf(npy_intp count, npy_intp most)
{
    return count <= (most < PAIRS ? PAIRS : most);
}

npy_intp
op_sum_leaves(npy_intp count, npy_intp most)
{
    if (is_leaf(count, most))
        return 1;
    npy_intp half = half_of(count);
    return op_sum_leaves(half, most) + op_sum_leaves(count - half, most);
}

/* Notes where the leaves begin; returns the place behind them. */
static npy_intp *
cut(npy_intp *begins, npy_intp first, npy_intp count, npy_intp most)
{
    if (is_leaf(count, most)) {
        *begins = first;
        return begins + 1;
    }
    npy_intp half = half_of(count);
    begins = cut(begins, first, half, most);
    return cut(begins, first + half, count - half, most);
}

void
op_sum_cut(npy_intp *begins, npy_intp count, npy_intp most)
{
    *cut(begins, 0, count, most) = count;
}

void
op_sum_leaf(const op_sum *sum, char *total, const char *elements, npy_intp count)
{
    npy_intp size = sum->type == NPY_DOUBLE ? 8 : 4, steps[3] = {0, size, 0};
    char *args[3] = {total, (char *)(uintptr_t)elements, total};
    memset(total, 0, (size_t)size);
    sum->add(args, &count, steps, sum->data);
}

#define UP(TYPE)                                                                       \
    static TYPE up_##TYPE(const char **totals, npy_intp step, npy_intp count,          \
                          npy_intp most)                                               \
    {                                                                                  \
        if (is_leaf(count, most)) {                                                    \
            TYPE total;                                                                \
            memcpy(&total, *totals, sizeof total);                                     \
            *totals += step;                                                           \
            return total;                                                              \
        }                                                                              \
        npy_intp half = half_of(count);                                                \
        TYPE left = up_##TYPE(totals, step, half, most);                               \
        return left + up_##TYPE(totals, step, count - half, most);                     \
    }

UP(float)
UP(double)

PyArrayObject *
op_sum_array(const op_sum *sum)
{
    npy_intp shape[NPY_MAXDIMS];
    for (int d = 0; d < sum->ndim; d++)
        shape[d] = 1;
    return (PyArrayObject *)PyArray_SimpleNew(sum->ndim, shape, sum->type);
}

void
op_sum_finish(const op_sum *sum, char *result, const char *totals, npy_intp step,
              npy_intp count, npy_intp most)
{
    if (sum->type == NPY_DOUBLE) {
        double total = up_double(&totals, step, count, most) / sum->divisor;
        memcpy(result, &total, sizeof total);
    } else {
        float total = up_float(&totals, step, count, most) / (float)sum->divisor;
        memcpy(result, &total, sizeof total);
    }
}

int
op_sum_tell(int flags)
{
    return PyUFunc_GiveFloatingpointErrors("reduce", op_loop_errors(flags));
}

/* --- threads --- */

typedef struct {
    op_sum sum;
    const char *elements;
    npy_intp size, *begins;
    char *totals;
    atomic_int flags;
} shared;

static void
add_leaves(void *work, int64_t begin, int64_t end)
{
    shared *s = work;
    feclearexcept(LOOP_ERRORS);
    for (int64_t k = begin; k < end; k++)
        op_sum_leaf(&s->sum, s->totals + k * s->size,
                    s->elements + s->begins[k] * s->size,
                    s->begins[k + 1] - s->begins[k]);
    atomic_fetch_or(&s->flags, fetestexcept(LOOP_ERRORS));
}

bool
op_sum_shared(PyObject **result, op_entry *entry, PyObject *const *argv)
{
    PyArrayObject *array = (PyArrayObject *)argv[0];
    shared s = {0};
    if (dt_team_size() == 1 || entry->positional == 0 || !PyArray_CheckExact(argv[0]) ||
        !dt_team_shares(PyArray_NBYTES(array)) || !op_sum_of(&s.sum, entry, array))
        return false;
    npy_intp count = PyArray_SIZE(array);
    s.size = PyArray_ITEMSIZE(array);
    npy_intp most = LEAF_BYTES / s.size, leaves = op_sum_leaves(count, most);
    char *room =
        dt_memory_take((size_t)(leaves + 1) * (sizeof *s.begins + (size_t)s.size));
    PyArrayObject *made = room == NULL ? NULL : op_sum_array(&s.sum);
    if (made != NULL) {
        s.elements = PyArray_BYTES(array);
        s.begins = (npy_intp *)(void *)room;
        s.totals = room + (size_t)(leaves + 1) * sizeof *s.begins;
        op_sum_cut(s.begins, count, most);
        PyThreadState *state = PyEval_SaveThread();
        dt_team_run(leaves, LEAF_BYTES, add_leaves, &s);
        feclearexcept(LOOP_ERRORS);
        op_sum_finish(&s.sum, PyArray_BYTES(made), s.totals, s.size, count, most);
        atomic_fetch_or(&s.flags, fetestexcept(LOOP_ERRORS));
        PyEval_RestoreThread(state);
    }
    if (room != NULL)
        dt_memory_give(room);
    PyErr_Clear(); /* no memory: NumPy says so */
    int flags = atomic_load(&s.flags);
    if (made == NULL)
        return false;
    op_shortcut_count++;
    if (flags != 0 && op_sum_tell(flags) < 0)
        Py_CLEAR(made);
    *result = (PyObject *)made;
    return true;
}
