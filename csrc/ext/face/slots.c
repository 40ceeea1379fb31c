/* Python's operators on tensors, as x + y, x[i], x < y: what Python has put here. */
#include "ext/face/slots.h"

static const char *const NAMES[] = {
#define NAME(name) #name,
#define NAME_IN_PLACE(name, slot) NAME(name)
    IN_PLACE_SLOTS(NAME_IN_PLACE) UNARY_SLOTS(NAME) OTHER_SLOTS(NAME)
#undef NAME_IN_PLACE
#undef NAME
};

/* Those of NumPy's dialect, then those of PyTorch's, which may be the same. */
static PyObject *answers[2 * SLOT_COUNT_];

int
ext_slot_in_torch(int slot)
{
    return ext_trace.numpy ? slot : SLOT_COUNT_ + slot;
}

bool
ext_slot_differs(int slot)
{
    return !ext_trace.numpy && answers[SLOT_COUNT_ + slot] != answers[slot];
}

static __attribute__((noinline)) PyObject *
no_answer(int slot)
{
    return PyErr_Format(PyExc_NotImplementedError, "no operator for %s",
                        NAMES[slot % SLOT_COUNT_]);
}

PyObject *
ext_slot_answer(int slot)
{
    return answers[slot] != NULL ? answers[slot] : no_answer(slot);
}

/* Whether an operator may be called with it; everything else gets its own chance. */
static bool
is_operand(PyObject *object)
{
    op_kind kind = op_kind_of(object);
    return (kind != OP_CONSTANT && kind != OP_LAYOUT) || op_is_numbers(object);
}

static PyObject *
call_one(int slot, PyObject *a)
{
    PyObject *answer = ext_slot_answer(slot);
    return answer == NULL ? NULL : PyObject_CallOneArg(answer, a);
}

static PyObject *
call_two(int slot, PyObject *a, PyObject *b)
{
    if (!is_operand(a) || !is_operand(b))
        Py_RETURN_NOTIMPLEMENTED;
    PyObject *answer = ext_slot_answer(slot), *args[] = {NULL, a, b};
    if (answer == NULL)
        return NULL;
    return PyObject_Vectorcall(answer, args + 1, 2 | PY_VECTORCALL_ARGUMENTS_OFFSET,
                               NULL);
}

/* x op= y: the layout and the object stay. */
static PyObject *
call_in_place(int slot, PyObject *a, PyObject *b)
{
    if (!is_operand(b))
        Py_RETURN_NOTIMPLEMENTED;
    static PyObject *names;
    PyObject *answer = ext_slot_answer(slot), *args[] = {a, b, a};
    if (names == NULL)
        names = Py_BuildValue("(s)", "out");
    if (answer == NULL || names == NULL)
        return NULL;
    bool writes = Py_TYPE(answer) == &ext_operator_type &&
                  ((OperatorObject *)answer)->otherwise == NULL;
    PyObject *result = writes ? op_call_out((OperatorObject *)answer, args, 2, NULL, a)
                              : PyObject_Vectorcall(answer, args, 2, names);
    Py_XDECREF(result);
    return result == NULL ? NULL : Py_NewRef(a);
}

/* Methods that do the same, and cast what they store as PyTorch does. */
static const char *const IN_PLACE_METHODS[] = {
    [SLOT_add] = "add_",
    [SLOT_subtract] = "sub_",
    [SLOT_multiply] = "mul_",
    [SLOT_true_divide] = "div_",
    [SLOT_floor_divide] = "floor_divide_",
    [SLOT_remainder] = "remainder_",
    [SLOT_left_shift] = "bitwise_left_shift_",
    [SLOT_right_shift] = "bitwise_right_shift_",
    [SLOT_bitwise_and] = "bitwise_and_",
    [SLOT_bitwise_or] = "bitwise_or_",
    [SLOT_bitwise_xor] = "bitwise_xor_",
    [SLOT_power] = "pow_",
};

/* Of which dtype the elements are; NULL: that is not known yet. */
static const PyArray_Descr *
descr_of(PyObject *tensor)
{
    PyObject *array = ((TensorObject *)tensor)->array;
    bool known = array != NULL && PyArray_Check(array);
    return known ? PyArray_DESCR((PyArrayObject *)array) : NULL;
}

/* Whether `a op b` has the dtype of a tensor, so that a kernel can store it there. Of what
 * is neither a tensor nor a number the operator knows itself. */
static bool
keeps_dtype(int slot, PyObject *a, PyObject *b)
{
    const PyArray_Descr *of = descr_of(a);
    bool inexact = of != NULL && (PyDataType_ISFLOAT(of) || PyDataType_ISCOMPLEX(of));
    if (of == NULL || (slot == SLOT_true_divide && !inexact))
        return false;
    if (PyObject_TypeCheck(b, &ext_tensor_type))
        return descr_of(b) == of;
    if (PyFloat_CheckExact(b))
        return inexact;
    if (PyLong_CheckExact(b))
        return !PyDataType_ISBOOL(of);
    return !PyComplex_CheckExact(b) || PyDataType_ISCOMPLEX(of);
}

/* `a @= b` is `a = a @ b` in PyTorch. */
static PyObject *
torch_in_place(int slot, PyObject *a, PyObject *b)
{
    if (slot == SLOT_matmul)
        return call_two(ext_slot_in_torch(slot), a, b);
    static PyObject *names[SLOT_COUNT_];
    PyObject **name = &names[slot];
    if (*name == NULL &&
        (*name = PyUnicode_InternFromString(IN_PLACE_METHODS[slot])) == NULL)
        return NULL;
    if (!ext_trace.numpy && !keeps_dtype(slot, a, b))
        return PyObject_CallMethodOneArg(a, *name, b);
    PyObject *operands[] = {a, b},
             *stored = call_in_place(ext_slot_in_torch(slot), a, b);
    if (stored == NULL)
        op_error_in_torch(*name, operands, 2, NULL);
    return stored;
}

static PyObject *
number_in_place(int slot, PyObject *a, PyObject *b)
{
    return call_in_place(slot, a, b);
}

/* The functions of the slots of each dialect: `place` finds the answer. */
#define UNARY(dialect, place, name)                                                    \
    static PyObject *dialect##_##name(PyObject *a)                                     \
    {                                                                                  \
        return call_one(place(SLOT_##name), a);                                        \
    }
#define BINARY(dialect, place, name)                                                   \
    static PyObject *dialect##_##name(PyObject *a, PyObject *b)                        \
    {                                                                                  \
        return call_two(place(SLOT_##name), a, b);                                     \
    }
#define IN_PLACE(dialect, place, name)                                                 \
    BINARY(dialect, place, name)                                                       \
    static PyObject *dialect##_in_place_##name(PyObject *a, PyObject *b)               \
    {                                                                                  \
        return dialect##_in_place(SLOT_##name, a, b);                                  \
    }
#define POWER(dialect, place, name, call)                                              \
    static PyObject *dialect##_##name(PyObject *a, PyObject *b, PyObject *modulus)     \
    {                                                                                  \
        if (modulus != Py_None)                                                        \
            Py_RETURN_NOTIMPLEMENTED;                                                  \
        return call(place(SLOT_power), a, b);                                          \
    }

#define PLAIN(slot) (slot)
#define UNARY_NUMPY(name) UNARY(number, PLAIN, name)
#define UNARY_TORCH(name) UNARY(torch, ext_slot_in_torch, name)
#define IN_PLACE_NUMPY(name, slot) IN_PLACE(number, PLAIN, name)
#define IN_PLACE_TORCH(name, slot) IN_PLACE(torch, ext_slot_in_torch, name)

UNARY_SLOTS(UNARY_NUMPY)
UNARY_SLOTS(UNARY_TORCH)
IN_PLACE_SLOTS(IN_PLACE_NUMPY)
IN_PLACE_SLOTS(IN_PLACE_TORCH)
BINARY(number, PLAIN, divmod)
BINARY(torch, ext_slot_in_torch, divmod)
POWER(number, PLAIN, power, call_two)
POWER(number, PLAIN, in_place_power, number_in_place)
POWER(torch, ext_slot_in_torch, power, call_two)
POWER(torch, PLAIN, in_place_power, torch_in_place)

#define FILL_UNARY(name) numbers->nb_##name = number_##name;
#define FILL(name, slot)                                                               \
    numbers->nb_##slot = number_##name;                                                \
    numbers->nb_inplace_##slot = number_in_place_##name;
#define FILL_UNARY_TORCH(name) numbers->nb_##name = torch_##name;
#define FILL_TORCH(name, slot)                                                         \
    numbers->nb_##slot = torch_##name;                                                 \
    numbers->nb_inplace_##slot = torch_in_place_##name;

void
ext_fill_number_slots(PyNumberMethods *numbers)
{
    numbers->nb_divmod = number_divmod;
    numbers->nb_power = number_power;
    numbers->nb_inplace_power = number_in_place_power;
    UNARY_SLOTS(FILL_UNARY)
    IN_PLACE_SLOTS(FILL)
}

void
ext_fill_torch_slots(PyNumberMethods *numbers)
{
    numbers->nb_divmod = torch_divmod;
    numbers->nb_power = torch_power;
    numbers->nb_inplace_power = torch_in_place_power;
    UNARY_SLOTS(FILL_UNARY_TORCH)
    IN_PLACE_SLOTS(FILL_TORCH)
}

static const int COMPARISONS[] = {
    [Py_LT] = SLOT_less,      [Py_LE] = SLOT_less_equal, [Py_EQ] = SLOT_equal,
    [Py_NE] = SLOT_not_equal, [Py_GT] = SLOT_greater,    [Py_GE] = SLOT_greater_equal,
};

PyObject *
ext_tensor_compare(PyObject *a, PyObject *b, int op)
{
    return call_two(COMPARISONS[op], a, b);
}

PyObject *
ext_torch_compare(PyObject *a, PyObject *b, int op)
{
    return call_two(ext_slot_in_torch(COMPARISONS[op]), a, b);
}

/* --- x.T, x.real and x.flat --- */

static PyObject *
get_slot(PyObject *self, void *closure)
{
    return call_one((int)(intptr_t)closure, self);
}

/* A view that may be assigned: of a copy that is written back, it is written back too. */
static PyObject *
get_part(PyObject *self, void *closure)
{
    PyObject *view = get_slot(self, closure);
    PyObject *name =
        view == NULL ? NULL : PyUnicode_InternFromString(NAMES[(intptr_t)closure]);
    if (name == NULL || op_follow_origin(view, self, name) < 0)
        Py_CLEAR(view);
    Py_XDECREF(name);
    return view;
}

/* Through the slot of x[...] = value, for x.real is a view of x. */
static int
set_part(PyObject *self, PyObject *value, void *closure)
{
    if (value == NULL)
        return ext_fail(PyExc_AttributeError, "cannot delete attribute");
    const char *what = NAMES[(intptr_t)closure];
    bool spread = ext_is_dtensor(self) && ext_has_data(op_array(self));
    int due = spread ? op_begin_write(self, what) : 0;
    PyObject *view = due < 0 ? NULL : get_slot(self, closure);
    int failed = view == NULL ? -1 : PyObject_SetItem(view, Py_Ellipsis, value);
    Py_XDECREF(view);
    if (due > 0 && op_end_write(self, failed == 0) < 0)
        failed = -1;
    return failed;
}

/* x.flat = value */
static int
set_flat(PyObject *self, PyObject *value, void *closure)
{
    if (value == NULL)
        return ext_fail(PyExc_AttributeError, "cannot delete attribute");
    PyObject *flat = get_slot(self, closure);
    int failed = flat == NULL ? -1 : PyObject_SetItem(flat, Py_Ellipsis, value);
    Py_XDECREF(flat);
    return failed;
}

#define CLOSURE(name) (void *)(intptr_t)SLOT_##name

PyGetSetDef ext_slot_attributes[] = {
    {"T", get_slot, NULL, "The tensor with its dims in reverse order: a view.",
     CLOSURE(transpose)},
    {"mT", get_slot, NULL, "The tensor with its last two dims exchanged: a view.",
     CLOSURE(matrix_transpose)},
    {"real", get_part, set_part, "The real part.", CLOSURE(real)},
    {"imag", get_part, set_part, "The imaginary part.", CLOSURE(imag)},
    {"flat", get_slot, set_flat, "The elements in C order, to read, write or iterate.",
     CLOSURE(flat)},
    {0},
};

PyObject *
ext_torch_slot(const char *name)
{
    for (int k = 0; k < SLOT_COUNT_; k++)
        if (strcmp(NAMES[k], name) == 0 && answers[SLOT_COUNT_ + k] != answers[k])
            return answers[SLOT_COUNT_ + k];
    return NULL;
}

int
ext_fill_slots(PyObject *given, bool torch)
{
    for (int k = 0; k < SLOT_COUNT_; k++) {
        PyObject *answer = PyDict_GetItemString(given, NAMES[k]);
        if (answer == NULL)
            continue;
        if (torch || answers[SLOT_COUNT_ + k] == answers[k])
            Py_XSETREF(answers[SLOT_COUNT_ + k], Py_NewRef(answer));
        if (!torch)
            Py_XSETREF(answers[k], Py_NewRef(answer));
    }
    return 0;
}
