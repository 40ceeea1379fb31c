/* Writing into what an index gave where the elements had to move: a copy, which is
 * read-only, and if it knows where it came from is written back. */
#include "ext/dispatch/dispatch.h"

static PyObject *
origin_name(void)
{
    static PyObject *name;
    if (name == NULL)
        name = PyUnicode_InternFromString("_origin");
    return name;
}

enum { OWNER, INDEX, IS_VIEW, ORIGIN_SIZE };

/* Where a copy, or a view of one, came from, borrowed; NULL without that: the owner; the
 * index, or the name of an attribute; and whether it shows the owner's memory, which is
 * then a copy itself. */
static PyObject *
origin_of(TensorObject *tensor)
{
    if (tensor->dict == NULL || origin_name() == NULL)
        return NULL;
    PyObject *origin = PyDict_GetItemWithError(tensor->dict, origin_name());
    bool good = origin != NULL && PyTuple_CheckExact(origin) &&
                PyTuple_GET_SIZE(origin) == ORIGIN_SIZE;
    return good ? origin : NULL;
}

int
op_begin_write(PyObject *tensor, const char *what)
{
    PyArrayObject *array = ext_local(tensor);
    if (array == NULL)
        return -1;
    if (PyArray_ISWRITEABLE(array))
        return 0;
    if (origin_of((TensorObject *)tensor) == NULL)
        return ext_fail(PyExc_ValueError,
                        "%s: output array is read-only: it came from a read-only "
                        "array, or shows elements of another tensor that had to move; "
                        "write with x[index] = value, or into y.copy()",
                        what);
    PyArray_ENABLEFLAGS(array, NPY_ARRAY_WRITEABLE);
    return 1;
}

int
op_end_write(PyObject *tensor, bool written)
{
    PyObject *origin = origin_of((TensorObject *)tensor);
    PyArrayObject *array = (PyArrayObject *)((TensorObject *)tensor)->array;
    PyArray_CLEARFLAGS(array, NPY_ARRAY_WRITEABLE);
    if (!written || origin == NULL)
        return 0;
    Py_INCREF(origin);
    PyObject *owner = PyTuple_GET_ITEM(origin, OWNER);
    PyObject *index = PyTuple_GET_ITEM(origin, INDEX);
    int failed = PyUnicode_Check(index) ? PyObject_SetAttr(owner, index, tensor)
                                        : PyObject_SetItem(owner, index, tensor);
    Py_DECREF(origin);
    return failed;
}

static int
keep_origin(PyObject *tensor, PyObject *owner, PyObject *index, bool is_view)
{
    PyObject *origin =
        PyTuple_Pack(ORIGIN_SIZE, owner, index, is_view ? Py_True : Py_False);
    int failed = origin == NULL ? -1 : PyObject_SetAttr(tensor, origin_name(), origin);
    Py_XDECREF(origin);
    return failed;
}

int
op_follow_origin(PyObject *result, PyObject *tensor, PyObject *index)
{
    TensorObject *from = (TensorObject *)tensor, *to = (TensorObject *)result;
    if (PyArray_ISWRITEABLE((PyArrayObject *)from->array) || origin_of(from) == NULL ||
        !ext_is_tensor(result) || PyArray_ISWRITEABLE((PyArrayObject *)to->array) ||
        origin_of(to) != NULL)
        return 0;
    return keep_origin(result, tensor, index, true);
}

/* Whether the statement under way is `x[i] = y` in Python, not a call of compiled code
 * that assigns; -1 with an exception. */
static int
python_assigns(void)
{
    static long store = -1;
    if (store < 0) {
        static PyObject *codes;
        if (ext_import(&codes, "opcode", "opmap") == NULL)
            return -1;
        PyObject *number = PyDict_GetItemString(codes, "STORE_SUBSCR");
        store = number == NULL ? -1 : PyLong_AsLong(number);
        if (store < 0)
            return PyErr_Occurred() ? -1 : 1; /* an interpreter without that */
    }
    PyFrameObject *frame = PyEval_GetFrame();
    int place = frame == NULL ? -1 : PyFrame_GetLasti(frame);
    if (place < 0)
        return 0;
    PyCodeObject *code = PyFrame_GetCode(frame);
    PyObject *bytes = PyObject_GetAttrString((PyObject *)code, "co_code");
    Py_DECREF(code);
    if (bytes == NULL)
        return -1;
    int found = place < PyBytes_GET_SIZE(bytes) &&
                (unsigned char)PyBytes_AS_STRING(bytes)[place] == store;
    Py_DECREF(bytes);
    return found;
}

/* The last two rows that were read one by one, the later one last: addresses that are
 * compared only. */
typedef struct {
    PyObject *tensor, *row;
    Py_ssize_t index;
} row_read;

static _Thread_local row_read reads[2];

void
op_note_read(PyObject *tensor, PyObject *index, PyObject *row)
{
    if (!PyLong_CheckExact(index))
        return;
    reads[0] = reads[1];
    reads[1] = (row_read){tensor, row, PyLong_AsSsize_t(index)};
    PyErr_Clear(); /* no row has a number that large */
}

/* Whether both show one memory. A row that had to move is a copy, on every rank. */
static bool
is_part_of(TensorObject *row, TensorObject *tensor)
{
    PyObject *origin = origin_of(row);
    if (origin != NULL)
        return PyTuple_GET_ITEM(origin, IS_VIEW) == Py_True;
    PyObject *base = PyArray_BASE((PyArrayObject *)tensor->array);
    PyObject *of = PyArray_BASE((PyArrayObject *)row->array);
    return of != NULL && (of == tensor->array || of == base);
}

/* NumPy's shuffle of what is no ndarray does x[i], x[j] = x[j], x[i]. Where the rows
 * are views this writes one of them twice and loses the other. */
int
op_refuse_swap(PyObject *tensor, PyObject *index, PyObject *value)
{
    const row_read *source = &reads[0], *target = &reads[1];
    if (!PyLong_CheckExact(index) || source->row != value || source->tensor != tensor ||
        target->tensor != tensor || value == target->row || !ext_is_tensor(value))
        return 0;
    Py_ssize_t place = PyLong_AsSsize_t(index);
    PyErr_Clear();
    if (place != target->index || place == source->index ||
        !is_part_of((TensorObject *)value, (TensorObject *)tensor))
        return 0;
    int python = python_assigns();
    if (python == 0)
        PyErr_SetString(
            PyExc_TypeError,
            "shuffle, or other compiled code, swaps x[i] and x[j]: both are views, so "
            "that elements would be lost; take x = x[rng.permutation(len(x))], with "
            "the same rng on all ranks, or assign x[j].copy()");
    return python > 0 ? 0 : -1;
}

static PyObject *
set_origin(PyObject *Py_UNUSED(module), PyObject *args)
{
    PyObject *tensor, *owner = NULL, *index = NULL;
    if (!PyArg_ParseTuple(args, "O!|OO:set_origin", &ext_tensor_type, &tensor, &owner,
                          &index))
        return NULL;
    if (owner != NULL && owner != Py_None && !ext_is_tensor(owner))
        return PyErr_Format(PyExc_TypeError, "the owner is a Tensor");
    PyArray_CLEARFLAGS((PyArrayObject *)((TensorObject *)tensor)->array,
                       NPY_ARRAY_WRITEABLE);
    if (index != NULL && owner != Py_None &&
        keep_origin(tensor, owner, index, false) < 0)
        return NULL;
    Py_RETURN_NONE;
}

static PyObject *
begin_write(PyObject *Py_UNUSED(module), PyObject *tensor)
{
    if (!ext_is_tensor(tensor))
        return PyErr_Format(PyExc_TypeError, "begin_write takes a Tensor");
    ext_told = false;
    int due = op_begin_write(tensor, "setitem");
    return due < 0 ? NULL : PyBool_FromLong(due);
}

static PyObject *
end_write(PyObject *Py_UNUSED(module), PyObject *args)
{
    PyObject *tensor;
    int written;
    if (!PyArg_ParseTuple(args, "O!p:end_write", &ext_tensor_type, &tensor, &written) ||
        op_end_write(tensor, written != 0) < 0)
        return NULL;
    Py_RETURN_NONE;
}

/* --- all elements of a Tensor --- */

/* Whether it is one of this rank alone, in memory that may be written to. */
static bool
is_plain(PyObject *object)
{
    if (!ext_is_tensor(object) || ext_is_dtensor(object))
        return false;
    PyArrayObject *array = (PyArrayObject *)((TensorObject *)object)->array;
    return ext_has_data(array) && PyArray_ISWRITEABLE(array);
}

/* Whether the elements of a value go where those of a Tensor are, each as it is. */
static bool
is_alike(PyObject *tensor, PyObject *value)
{
    PyArrayObject *to = (PyArrayObject *)((TensorObject *)tensor)->array;
    if (!is_plain(value)) /* a number in a wide float is what it is in any */
        return (PyFloat_CheckExact(value) || PyLong_CheckExact(value)) &&
               PyArray_ISFLOAT(to) && PyArray_ITEMSIZE(to) > 2;
    PyArrayObject *from = (PyArrayObject *)((TensorObject *)value)->array;
    return PyArray_SAMESHAPE(to, from) && PyArray_TYPE(to) == PyArray_TYPE(from) &&
           PyArray_ISNOTSWAPPED(to) && PyArray_ISNOTSWAPPED(from);
}

static bool
is_recorded(PyObject *object)
{
    return !tape_off && tape_requires(object);
}

static PyObject *
overwrite(PyObject *Py_UNUSED(module), PyObject *const *args, Py_ssize_t nargs,
          PyObject *kwnames)
{
    if (nargs != 3 || kwnames != NULL || !PyUnicode_Check(args[2]))
        return PyErr_Format(PyExc_TypeError, "overwrite(tensor, value, name)");
    PyObject *tensor = args[0], *value = args[1];
    const char *name = PyUnicode_AsUTF8(args[2]);
    if (tape_tracing != NULL || !is_plain(tensor) || is_recorded(tensor) ||
        is_recorded(value) || !is_alike(tensor, value))
        Py_RETURN_FALSE;
    if (ext_catch_up() < 0)
        return NULL;
    PyArrayObject *to = (PyArrayObject *)((TensorObject *)tensor)->array;
    int failed =
        name == NULL ? -1
        : is_plain(value)
            ? PyArray_CopyInto(to, (PyArrayObject *)((TensorObject *)value)->array)
            : PyArray_FillWithScalar(to, value);
    if (failed < 0 || tape_written((TensorObject *)tensor, 0) < 0)
        return NULL;
    ext_local_done(ext_local_name(name));
    Py_RETURN_TRUE;
}

PyMethodDef ext_write_methods[] = {
    {"overwrite", EXT_FAST(overwrite),
     "overwrite(tensor, value, name, /)\n--\n\n"
     "Set all elements of a Tensor of this rank to those of another one of its shape\n"
     "and dtype, or to a number, where nothing is recorded. Return whether that is\n"
     "so; else nothing is done. `name`: of the method."},
    {"set_origin", set_origin, METH_VARARGS,
     "set_origin(tensor, owner=None, index=None, /)\n--\n\n"
     "Make a tensor a copy of owner[index] that is written back when it is written\n"
     "to; without an owner it is read-only."},
    {"begin_write", begin_write, METH_O,
     "begin_write(tensor, /)\n--\n\n"
     "Allow to write into a copy that knows its origin; return whether `end_write` is\n"
     "due. ValueError for what is read-only."},
    {"end_write", end_write, METH_VARARGS,
     "end_write(tensor, written, /)\n--\n\n"
     "Forbid it again, and write the copy back where it came from."},
    {0},
};
