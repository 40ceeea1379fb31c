/* A call taken apart: operands, constants, and the words that are its key. */
#include "ext/move/move.h"
#include "ext/op/op.h"

#include <string.h>

/* The low bits of a word say what it is; the rest is a pointer, a type or a count. */
enum { TAG_BITS = 4 };
/* 8: the first word. */
enum { TAG_LIST = 9, TAG_TUPLE, TAG_OUT, TAG_LENGTH, TAG_ZERO, TAG_TOLD };

op_kind
op_kind_of(PyObject *object)
{
    PyTypeObject *type = Py_TYPE(object);
    if (ext_type_within(type, TYPE_TENSOR, TYPE_DTENSOR))
        return ext_is_dtensor(object) ? OP_DTENSOR : OP_TENSOR;
    if (type == &PyFloat_Type || type == &PyLong_Type || type == &PyBool_Type ||
        type == &PyComplex_Type)
        return OP_NUMBER;
    if (type == &PyUnicode_Type || type == &PyTuple_Type || type == &PySlice_Type ||
        object == Py_None)
        return OP_CONSTANT;
    if (PyArray_CheckExact(object))
        return OP_ARRAY;
    if (PyObject_TypeCheck(object, &ext_tensor_type))
        return ext_is_dtensor(object) ? OP_DTENSOR : OP_TENSOR;
    if (PyArray_Check(object))
        return OP_ARRAY;
    if (PyArray_IsScalar(object, Generic) || PyLong_Check(object) ||
        PyFloat_Check(object) || PyComplex_Check(object))
        return OP_SCALAR;
    return type == &ext_layout_type ? OP_LAYOUT : OP_CONSTANT;
}

/* --- room --- */

/* Doubles a list that began in the call itself. */
static void *
grow(void *list, void *space, int count, int *room, size_t size)
{
    void *more = PyMem_Malloc((size_t)*room * 2 * size);
    if (more == NULL)
        return (void *)PyErr_NoMemory();
    memcpy(more, list, (size_t)count * size);
    if (list != space)
        PyMem_Free(list);
    *room *= 2;
    return more;
}

#define PUSH(call, what, value)                                                        \
    do {                                                                               \
        if ((call)->what##_count == (call)->what##_room) {                             \
            void *more_ =                                                              \
                grow((call)->what##s, (call)->what##_space, (call)->what##_count,      \
                     &(call)->what##_room, sizeof *(call)->what##s);                   \
            if (more_ == NULL)                                                         \
                return -1;                                                             \
            (call)->what##s = more_;                                                   \
        }                                                                              \
        (call)->what##s[(call)->what##_count++] = (value);                             \
    } while (0)

static int
push_word(op_call *call, uintptr_t word, unsigned tag)
{
    PUSH(call, word, word | tag);
    return 0;
}

static int
keep(op_call *call, PyObject *object)
{
    if (call->owned == NULL)
        call->owned = PyList_New(0);
    return call->owned == NULL ? -1 : PyList_Append(call->owned, object);
}

/* --- constants --- */

static uintptr_t static_hash(op_call *call, PyObject *object);

static uintptr_t
sequence_hash(op_call *call, PyObject *object)
{
    Py_ssize_t count = PySequence_Fast_GET_SIZE(object);
    PyObject **items = PySequence_Fast_ITEMS(object);
    uintptr_t hash = (uintptr_t)Py_TYPE(object) + (uintptr_t)count;
    if (Py_EnterRecursiveCall(" in a list of arguments")) {
        PyErr_Clear();
        call->cacheable = false;
        return 0;
    }
    for (Py_ssize_t k = 0; k < count && call->cacheable; k++)
        hash = hash * 1000003u ^ static_hash(call, items[k]);
    Py_LeaveRecursiveCall();
    return hash;
}

/* A number for what static_equal says is equal. What has none makes the call one that
 * no entry is kept for. */
static uintptr_t
static_hash(op_call *call, PyObject *object)
{
    if (object == Py_None || PyBool_Check(object) || PyType_Check(object))
        return (uintptr_t)object;
    if (PyLong_CheckExact(object))
        return (uintptr_t)PyLong_Type.tp_hash(object);
    if (PyTuple_CheckExact(object) || PyList_CheckExact(object))
        return sequence_hash(call, object);
    if (PySlice_Check(object)) {
        PySliceObject *slice = (PySliceObject *)object;
        return (static_hash(call, slice->start) * 31u +
                static_hash(call, slice->stop)) *
                   31u +
               static_hash(call, slice->step) + 7u;
    }
    /* An entry would keep the data of a tensor. */
    Py_hash_t hash = ext_is_tensor(object) ? -1 : PyObject_Hash(object);
    if (hash == -1) {
        PyErr_Clear();
        call->cacheable = false;
    }
    return (uintptr_t)hash;
}

static int
push_static(op_call *call, PyObject *object)
{
    PUSH(call, static, object);
    return push_word(call, static_hash(call, object) << TAG_BITS, OP_CONSTANT);
}

/* --- operands --- */

static int
push_array(op_call *call, PyArrayObject *array, op_kind kind)
{
    int ndim = PyArray_NDIM(array);
    uintptr_t word = (uintptr_t)(unsigned)PyArray_TYPE(array) << 16 |
                     (uintptr_t)PyArray_ISBYTESWAPPED(array) << 15 |
                     (uintptr_t)(unsigned)ndim << TAG_BITS;
    if (push_word(call, word, kind) < 0)
        return -1;
    for (int d = 0; d < ndim; d++)
        if (push_word(call, (uintptr_t)PyArray_DIM(array, d) << TAG_BITS, TAG_LENGTH) <
            0)
            return -1;
    return 0;
}

static int
push_layout(op_call *call, LayoutObject *layout)
{
    if (call->layout == NULL)
        call->layout = layout;
    return push_word(call, (uintptr_t)layout, OP_DTENSOR);
}

/* Puts an array of the call's own into the place of the last operand; steals it. */
static int
push_own(op_call *call, PyObject *array)
{
    if (array == NULL || keep(call, array) < 0) {
        Py_XDECREF(array);
        return -1;
    }
    Py_DECREF(array);
    call->operands[call->operand_count - 1] = array;
    return push_array(call, (PyArrayObject *)array, OP_ARRAY);
}

/* A matrix has rules of its own: it counts as the array that it is. */
static int
push_subclass(op_call *call, PyObject *object)
{
    if (ext_refuse_masked(object, call->op->text) < 0)
        return -1;
    return push_own(call, PyArray_View((PyArrayObject *)object, NULL, &PyArray_Type));
}

PyObject *
op_bare_number(PyObject *object)
{
    PyObject *number = PyArray_IsScalar(object, Generic)
                           ? PyObject_CallMethod(object, "item", NULL)
                           : Py_NewRef(object);
    if (number == NULL || op_kind_of(number) == OP_NUMBER)
        return number;
    Py_DECREF(number);
    return Py_NewRef(object); /* a long double has no other form */
}

/* A scalar of NumPy's, or of a subclass of Python's numbers, which NumPy takes for one:
 * only its dtype matters, as for an array of no dimensions. */
static int
push_scalar(op_call *call, PyObject *object)
{
    if (call->op->bare) {
        PyObject *number = op_bare_number(object);
        int failed = number == NULL ? -1 : keep(call, number);
        Py_XDECREF(number); /* the call has it */
        if (failed < 0)
            return -1;
        call->operands[call->operand_count - 1] = number;
        if (number != object)
            return push_word(call, (uintptr_t)Py_TYPE(number), OP_NUMBER);
    }
    return push_own(call, PyArray_IsScalar(object, Generic)
                              ? PyArray_FromScalar(object, NULL)
                              : PyArray_FromAny(object, NULL, 0, 0, 0, NULL));
}

static int
push_operand(op_call *call, PyObject *object, op_kind kind)
{
    PUSH(call, operand, object);
    switch (kind) {
    case OP_DTENSOR:
        call->torch |= ext_is_torch(object);
        return push_layout(call, ((DTensorObject *)object)->layout);
    case OP_LAYOUT:
        return push_layout(call, (LayoutObject *)object);
    case OP_TENSOR:
        /* Numbers in a Tensor are taken for numbers, as torch does. */
        if (call->tensor == NULL && ext_tensor_count((TensorObject *)object) != 1)
            call->tensor = object;
        call->torch |= ext_is_torch(object);
        return push_array(call, (PyArrayObject *)((TensorObject *)object)->array,
                          OP_TENSOR);
    case OP_ARRAY:
        return PyArray_CheckExact(object)
                   ? push_array(call, (PyArrayObject *)object, OP_ARRAY)
                   : push_subclass(call, object);
    case OP_SCALAR:
        return push_scalar(call, object);
    case OP_NUMBER:
        return push_word(call, (uintptr_t)Py_TYPE(object), OP_NUMBER);
    case OP_CONSTANT:
        break;
    }
    PyErr_BadInternalCall();
    return -1;
}

bool
op_is_array(op_kind kind, const op_call *call)
{
    return kind == OP_DTENSOR || kind == OP_TENSOR || kind == OP_ARRAY ||
           (kind == OP_LAYOUT && call->abstract);
}

bool
op_holds_arrays(PyObject *object, const op_call *call)
{
    if (!PyTuple_CheckExact(object) && !PyList_CheckExact(object))
        return false;
    Py_ssize_t count = PySequence_Fast_GET_SIZE(object);
    PyObject **items = PySequence_Fast_ITEMS(object);
    for (Py_ssize_t k = 0; k < count; k++)
        if (op_is_array(op_kind_of(items[k]), call))
            return true;
    return false;
}

static int
read_list(op_call *call, PyObject *object)
{
    Py_ssize_t count = PySequence_Fast_GET_SIZE(object);
    unsigned tag = PyList_CheckExact(object) ? TAG_LIST : TAG_TUPLE;
    if (push_word(call, (uintptr_t)count << TAG_BITS, tag) < 0)
        return -1;
    if (tag == TAG_LIST) { /* which other code may change while this runs */
        object = PyList_AsTuple(object);
        int failed = object == NULL ? -1 : keep(call, object);
        Py_XDECREF(object);
        if (failed < 0)
            return -1;
    }
    for (Py_ssize_t k = 0; k < count; k++) {
        PyObject *item = PySequence_Fast_ITEMS(object)[k];
        op_kind kind = op_kind_of(item);
        int failed = op_is_array(kind, call) || kind == OP_NUMBER || kind == OP_SCALAR
                         ? push_operand(call, item, kind)
                         : push_static(call, item);
        if (failed < 0)
            return -1;
    }
    return 0;
}

bool
op_is_numbers(PyObject *object)
{
    return PyList_CheckExact(object) || PyTuple_CheckExact(object) ||
           PyRange_Check(object);
}

/* Where an array is expected, a sequence of numbers is one; a mask of booleans. */
static int
read_numbers(op_call *call, PyObject *object, bool mask)
{
    PyArray_Descr *dtype = mask ? PyArray_DescrFromType(NPY_BOOL) : NULL;
    PyObject *array = PyArray_FromAny(object, dtype, 0, 0, 0, NULL);
    if (array == NULL)
        return -1;
    int failed = keep(call, array);
    Py_DECREF(array);
    return failed < 0 ? -1 : push_operand(call, array, OP_ARRAY);
}

static int
read_argument(op_call *call, PyObject *object, bool expected, bool mask)
{
    op_kind kind = op_kind_of(object);
    if (op_is_array(kind, call))
        return push_operand(call, object, kind);
    if (op_holds_arrays(object, call))
        return read_list(call, object);
    if (expected && (kind == OP_NUMBER || kind == OP_SCALAR))
        return push_operand(call, object, kind);
    if (expected && op_is_numbers(object))
        return read_numbers(call, object, mask);
    return push_static(call, object);
}

bool
op_is_expected(const op_call *call, Py_ssize_t k)
{
    if (k < call->nargs)
        return k < call->op->operands;
    return (PyList_CheckExact(call->args[k]) || PyTuple_CheckExact(call->args[k])) &&
           PyUnicode_CompareWithASCIIString(
               PyTuple_GET_ITEM(call->kwnames, k - call->nargs), "where") == 0;
}

/* Whether an operand without dims is 0. Of a sum that is pending nobody knows, nor of
 * what has no data on this rank. */
static int
is_zero(bool *out, PyObject *operand)
{
    op_kind kind = op_kind_of(operand);
    if (kind == OP_DTENSOR) {
        const dt_layout *layout = ((DTensorObject *)operand)->layout->layout;
        if (layout->ndim > 0 || layout->has_partial)
            return 0;
        operand = (PyObject *)ext_local(operand);
        if (operand == NULL)
            return -1;
    } else if (kind == OP_TENSOR) {
        if (ext_catch_up() < 0)
            return -1;
        operand = ((TensorObject *)operand)->array;
    } else if (kind == OP_LAYOUT)
        return 0;
    if (PyArray_Check(operand) && (PyArray_NDIM((PyArrayObject *)operand) > 0 ||
                                   !ext_has_data((PyArrayObject *)operand)))
        return 0;
    int truth = PyObject_IsTrue(operand);
    *out = truth == 0;
    return truth < 0 ? -1 : 0;
}

/* A sum of addends that are divided by 0 is NaN where they have different signs. Such a
 * call has a rule of its own: the addends are summed first. */
static int
read_divisor(op_call *call)
{
    PyObject *const *operands = call->operands;
    if (call->operand_count != 2 || op_kind_of(operands[0]) != OP_DTENSOR ||
        !((DTensorObject *)operands[0])->layout->layout->has_partial)
        return 0;
    if (is_zero(&call->by_zero, operands[1]) < 0)
        return -1;
    return call->by_zero ? push_word(call, 0, TAG_ZERO) : 0;
}

/* What the last operand is, where an operator is told. */
static int
read_told(op_call *call)
{
    if (call->operand_count == 0)
        return 0;
    int told = op_told(call->op, call->operands[call->operand_count - 1]);
    return told == 0 ? 0 : push_word(call, (uintptr_t)told << TAG_BITS, TAG_TOLD);
}

static void
hash_words(op_call *call)
{
    /* Each step is one to one: calls of other costs have other hashes, or are others. */
    uint64_t hash = (uint64_t)(uintptr_t)call->op ^ ext_cost_hash;
    for (int k = 0; k < call->word_count; k++) {
        hash = (hash ^ call->words[k]) * 0x9E3779B97F4A7C15u;
        hash ^= hash >> 29;
    }
    call->hash = hash;
}

uint64_t
op_call_pattern(const op_call *call)
{
    uint64_t hash = 0;
    for (int k = 0; k < call->word_count; k++) {
        unsigned tag = call->words[k] & ((1u << TAG_BITS) - 1);
        if (tag < TAG_OUT)
            hash = dt_mix(hash, tag);
    }
    return hash;
}

int
op_call_read(op_call *call, OperatorObject *op, PyObject *const *args, Py_ssize_t nargs,
             PyObject *kwnames, LayoutObject *out, bool abstract)
{
    op_call_begin(call, op, args, nargs, kwnames);
    call->abstract = abstract;
    call->out = out;
    Py_ssize_t keywords = kwnames == NULL ? 0 : PyTuple_GET_SIZE(kwnames);
    if (push_word(call, op_first_word(nargs), 0) < 0)
        return -1;
    for (Py_ssize_t k = 0; k < nargs; k++)
        if (read_argument(call, args[k], op_is_expected(call, k), false) < 0)
            return -1;
    for (Py_ssize_t k = 0; k < keywords; k++)
        if (push_static(call, PyTuple_GET_ITEM(kwnames, k)) < 0 ||
            read_argument(call, args[nargs + k], op_is_expected(call, nargs + k),
                          true) < 0)
            return -1;
    if (out != NULL && push_word(call, (uintptr_t)out, TAG_OUT) < 0)
        return -1;
    if (op->divides && read_divisor(call) < 0)
        return -1;
    if (op->told != NULL && read_told(call) < 0)
        return -1;
    hash_words(call);
    return 0;
}

void
op_call_clear(op_call *call)
{
    if (call->operands != call->operand_space)
        PyMem_Free(call->operands);
    if (call->statics != call->static_space)
        PyMem_Free(call->statics);
    if (call->words != call->word_space)
        PyMem_Free(call->words);
    Py_CLEAR(call->owned);
}
