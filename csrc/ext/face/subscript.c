/* subscript.c: x[i], x[i] = value, and what Python makes of them: len, iter, in. */
#include "ext/face/slots.h"

/* What answers x[i], or x[i] = value, of PyTorch's dialect: its own where it reads the
 * index in another way than NumPy. Borrowed. */
static PyObject *
answer_in_torch(int slot, PyObject *index, bool *differs)
{
    *differs = ext_slot_differs(slot) && ext_index_differs(index);
    return ext_slot_answer(*differs ? ext_slot_in_torch(slot) : slot);
}

/* NULL without an answer, or an index: an exception is set. */
static PyObject *
call_index(PyObject *answer, PyObject *self, PyObject *index)
{
    PyObject *args[] = {NULL, self, index};
    if (answer == NULL || index == NULL)
        return NULL;
    return PyObject_Vectorcall(answer, args + 1, 2 | PY_VECTORCALL_ARGUMENTS_OFFSET,
                               NULL);
}

/* x[i] of PyTorch's dialect where the index may be its own. */
static PyObject *
part_in_torch(PyObject *self, PyObject *index, bool *differs)
{
    PyObject *answer = answer_in_torch(SLOT_getitem, index, differs);
    if (*differs)
        return call_index(answer, self, index);
    PyObject *key = ext_index_in_torch(self, index);
    PyObject *result = call_index(answer, self, key);
    Py_XDECREF(key);
    return result;
}

/* Most of the indices that are plain, at a glance. */
static inline bool
is_slice(PyObject *index)
{
    return PySlice_Check(index) || index == Py_None;
}

static PyObject *
subscript(PyObject *self, PyObject *index)
{
    bool torch = ext_is_torch(self), differs = false;
    PyObject *result = torch && !is_slice(index) && !ext_index_is_plain(self, index)
                           ? part_in_torch(self, index, &differs)
                           : call_index(ext_slot_answer(SLOT_getitem), self, index);
    if (differs || result == NULL) /* it has come here again for each of its steps */
        return result;
    if (torch && ext_is_closed(self))
        ext_open_part(result, self);
    if (op_follow_origin(result, self, index) < 0)
        Py_CLEAR(result);
    else
        op_note_read(self, index, result);
    return result;
}

/* What x[index] shows, to be written to in the place of x, which may not be; NULL without
 * an exception if that may not be either. */
static PyObject *
part_to_write(PyObject *self, PyObject *index)
{
    PyObject *part = subscript(self, index);
    if (part == NULL)
        PyErr_Clear(); /* writing raises it, too */
    else if (!ext_open_part(part, self))
        Py_CLEAR(part);
    return part;
}

static int
assign_subscript(PyObject *self, PyObject *index, PyObject *value)
{
    if (value == NULL)
        return ext_fail(PyExc_ValueError, "cannot delete array elements");
    if (ext_is_torch(self) && index != Py_Ellipsis && ext_is_closed(self)) {
        PyObject *part = part_to_write(self, index);
        int failed = part == NULL ? 0 : assign_subscript(part, Py_Ellipsis, value);
        Py_XDECREF(part);
        if (part != NULL)
            return failed;
    }
    bool differs;
    PyObject *answer = ext_is_torch(self)
                           ? answer_in_torch(SLOT_setitem, index, &differs)
                           : ext_slot_answer(SLOT_setitem);
    PyObject *args[] = {NULL, self, index, value};
    if (answer == NULL || op_refuse_swap(self, index, value) < 0)
        return -1;
    PyObject *result =
        PyObject_Vectorcall(answer, args + 1, 3 | PY_VECTORCALL_ARGUMENTS_OFFSET, NULL);
    Py_XDECREF(result);
    return result == NULL ? -1 : 0;
}

static Py_ssize_t
length(PyObject *object)
{
    int64_t shape[DT_MAX_NDIM];
    if (ext_tensor_shape(shape, (TensorObject *)object) > 0)
        return (Py_ssize_t)shape[0];
    return ext_fail(PyExc_TypeError, "len() of unsized object");
}

static PyObject *
item(PyObject *self, Py_ssize_t index)
{
    PyObject *number = PyLong_FromSsize_t(index);
    PyObject *result = number == NULL ? NULL : subscript(self, number);
    Py_XDECREF(number);
    return result;
}

static int
contains(PyObject *self, PyObject *value)
{
    PyObject *answer = ext_slot_answer(SLOT_contains), *args[] = {NULL, self, value};
    PyObject *found =
        answer == NULL ? NULL
                       : PyObject_Vectorcall(answer, args + 1,
                                             2 | PY_VECTORCALL_ARGUMENTS_OFFSET, NULL);
    int truth = found == NULL ? -1 : PyObject_IsTrue(found);
    Py_XDECREF(found);
    return truth;
}

PyMappingMethods ext_tensor_mapping = {
    .mp_length = length,
    .mp_subscript = subscript,
    .mp_ass_subscript = assign_subscript,
};

PySequenceMethods ext_tensor_sequence = {
    .sq_length = length,
    .sq_item = item,
    .sq_contains = contains,
};

PyObject *
ext_tensor_iter(PyObject *self)
{
    int64_t shape[DT_MAX_NDIM];
    if (ext_tensor_shape(shape, (TensorObject *)self) > 0)
        return PySeqIter_New(self);
    return PyErr_Format(PyExc_TypeError, "iteration over a 0-d array");
}
