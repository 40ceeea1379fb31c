/* loop.h: an inner loop of NumPy's, as it gives it to compilers. Of loop*.c, fused*.c and
 * sum.c alone. */
#ifndef DT_EXT_LOOP_H
#define DT_EXT_LOOP_H

#include "ext/dispatch/dispatch.h"

#include <numpy/dtype_api.h>

#include <fenv.h>

enum { LOOP_ERRORS = FE_DIVBYZERO | FE_OVERFLOW | FE_UNDERFLOW | FE_INVALID };

/* What a capsule of this name has, after NumPy's documentation. */
#define LOOP_CAPSULE "numpy_1.24_ufunc_call_info"

typedef struct {
    PyArrayMethod_StridedLoop *call;
    PyArrayMethod_Context *context;
    NpyAuxData *auxdata;
    npy_bool requires_pyapi;
    npy_bool no_floatingpoint_errors;
} op_loop;

typedef union {
    npy_half h;
    float f;
    double d;
    npy_int64 i;
} op_loop_number;

/* A number of Python's in a dtype; false: it does not hold it as NumPy would round it. */
bool op_loop_number_put(op_loop_number *out, const PyArray_Descr *dtype,
                        PyObject *object);

/* Whether the ufunc of an entry has this name. */
bool op_loop_is_of(const op_entry *entry, const char *name);

/* A new array for the result of an entry; NULL, without an exception: no memory. */
PyObject *op_loop_result(const op_entry *entry, int ndim, const npy_intp *shape,
                         int type);
/* Calls a loop; -1, without an exception: it has raised one, or a floating-point flag. */
int op_loop_once(const op_loop *loop, char *const *data, const npy_intp *lengths,
                 const npy_intp *strides);

/* --- loop_kept.c --- */

enum { OP_LOOP_ATTEMPTS = 8 }; /* entry->runs is more: it has been asked for */

/* Asks for the inner loop of a call. */
void op_loop_find(op_entry *entry, PyObject *const *argv);
/* Whether the loop of an entry may raise an exception, which is lost in a thread that is
 * not Python's. */
bool op_loop_may_raise(const op_entry *entry, const op_loop *loop);

/* --- loop_half.c --- */

/* Whether all arrays among the arguments are of float16. */
bool op_loop_is_half(PyObject *const *argv, int count);
/* A loop of our own for arrays of float16, and what owns it; NULL, perhaps with an
 * exception: there is none. */
PyObject *op_loop_of_halves(const op_loop **out, const op_loop *numpy,
                            PyObject *capsule, const op_entry *entry,
                            PyObject *const *argv);

/* --- loop_rows.c: a call of a loop on arrays as they lie --- */

/* Operands, and the result after them: where they begin, and how far apart are elements of
 * a row, rows of a plane, and planes. */
typedef struct {
    const op_loop *loop;
    int count; /* of operands */
    char *data[OP_SHORT + 1];
    npy_intp inner[OP_SHORT + 1], outer[OP_SHORT + 1], apart[OP_SHORT + 1];
    npy_intp length, rows; /* elements of a row; all rows */
    npy_intp plane;        /* rows of a plane */
    op_loop_number numbers[OP_SHORT];
} op_loop_call;

/* Where a row of argument k begins. */
static inline char *
op_loop_row(const op_loop_call *c, int k, npy_intp row)
{
    return c->data[k] + row / c->plane * c->apart[k] + row % c->plane * c->outer[k];
}

/* The shape that all arguments are broadcast to, and how many bytes its elements would
 * have in the narrowest of them; -1: they cannot be. */
int op_loop_shape(npy_intp *shape, int64_t *bytes, PyObject *const *argv, int count);
/* Lays out a call whose result is a new array in C order, all but where that is, in a
 * struct that stays where it is. False: some operand must be cast or copied first, or
 * lies in pieces, or the bits of a result depend on how NumPy cuts the loop. */
bool op_loop_lay(op_loop_call *c, const npy_intp *shape, int ndim,
                 const op_entry *entry, PyObject *const *argv);
/* Calls the loop on `count` elements; data[k] is where those of argument k begin. */
static inline int
op_loop_run(const op_loop_call *c, char *const *data, npy_intp count)
{
    return c->loop->call(c->loop->context, data, &count, c->inner, c->loop->auxdata);
}
/* Raises or warns of flags as `errstate` has it; -1 with an exception. */
int op_loop_tell(const op_entry *entry, int flags);
/* Flags as NumPy numbers them. */
int op_loop_errors(int flags);

#endif
