/* slots.h: which operators of Python there are on tensors, and what answers each. */
#ifndef DT_EXT_SLOTS_H
#define DT_EXT_SLOTS_H

#include "ext/face/face.h"

/* x op y and x op= y: the name here, and that of CPython's nb_ slot. */
#define IN_PLACE_SLOTS(X)                                                              \
    X(add, add)                                                                        \
    X(subtract, subtract)                                                              \
    X(multiply, multiply)                                                              \
    X(matmul, matrix_multiply)                                                         \
    X(true_divide, true_divide)                                                        \
    X(floor_divide, floor_divide)                                                      \
    X(remainder, remainder)                                                            \
    X(left_shift, lshift)                                                              \
    X(right_shift, rshift)                                                             \
    X(bitwise_and, and)                                                                \
    X(bitwise_or, or)                                                                  \
    X(bitwise_xor, xor)
#define UNARY_SLOTS(X)                                                                 \
    X(negative)                                                                        \
    X(positive)                                                                        \
    X(absolute)                                                                        \
    X(invert)
#define OTHER_SLOTS(X)                                                                 \
    X(divmod)                                                                          \
    X(power)                                                                           \
    X(less)                                                                            \
    X(less_equal)                                                                      \
    X(equal)                                                                           \
    X(not_equal)                                                                       \
    X(greater)                                                                         \
    X(greater_equal)                                                                   \
    X(getitem)                                                                         \
    X(setitem)                                                                         \
    X(contains)                                                                        \
    X(transpose)                                                                       \
    X(matrix_transpose)                                                                \
    X(real)                                                                            \
    X(imag)                                                                            \
    X(flat)

enum {
#define ENUM(name) SLOT_##name,
#define ENUM_IN_PLACE(name, slot) ENUM(name)
    IN_PLACE_SLOTS(ENUM_IN_PLACE) UNARY_SLOTS(ENUM) OTHER_SLOTS(ENUM)
#undef ENUM_IN_PLACE
#undef ENUM
        SLOT_COUNT_
};

/* The slot of a tensor in PyTorch's dialect: that of NumPy's while code of the library
 * runs for a function of NumPy's name, which promotes as NumPy does. */
int ext_slot_in_torch(int slot);
/* Whether PyTorch's dialect has an answer of its own. */
bool ext_slot_differs(int slot);
/* What Python has put there: borrowed, or NULL with an exception. */
PyObject *ext_slot_answer(int slot);

#endif
