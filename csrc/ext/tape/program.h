/* program.h: gradients as programs. A gradient function is Python, but what it does with
 * tensors are calls of operators. Which calls these are depends on the layouts and
 * constants of the forward call alone, so its entry in the cache keeps them, and the next
 * backward through such a call makes them without Python.
 *
 *     grad @ adjoint(x2), adjoint(x1) @ grad    ->    v3 = matrix_transpose(x2)
 *                                                     v4 = matmul(grad, v3)
 *                                                     v5 = matrix_transpose(x1) ...
 *
 * The calls are noted while the function runs as ever. It has no program, and is called
 * every time, if it uses a tensor that none of the calls has given, or looks at the elements
 * of one (ext_trace.looked), or is not of this library. */
#ifndef DT_EXT_TAPE_PROGRAM_H
#define DT_EXT_TAPE_PROGRAM_H

#include "ext/tape/tape.h"

enum { PROGRAM_VALUES = 64 /* at most */ };

/* An argument of a call: a value, or else a constant. */
typedef struct {
    int place;
    bool last;          /* nobody needs the value after this call */
    PyObject *constant; /* or NULL */
} program_argument;

typedef struct {
    PyObject *callable, *kwnames; /* kwnames: or NULL */
    Py_ssize_t nargs;
    int count; /* of arguments */
    program_argument *arguments;
    int result, results; /* the first place, and how many; several come in a tuple */
} program_step;

/* What a value was that the function was given. */
typedef struct {
    PyTypeObject *type; /* borrowed: of an object that is kept, or of this library */
    PyObject *known;    /* an Operand; a number; or NULL: a constant of the entry */
    bool data;
} program_value;

typedef struct program program;
struct program {
    program *next;
    uint64_t gradient; /* of which it is: tape_vjp_number */
    dt_dtype default_dtype;
    int given, inputs;
    program_value *is; /* of the values that are given */
    bool *sent;        /* which inputs get a gradient */
    bool refused;      /* there is none for such values */
    int count;
    program_step *steps;
    int *answers; /* places of the gradients, -1: None */
};

/* The programs of an entry: what it keeps for the tape. */
typedef struct {
    PyObject_HEAD
    program *first;
} ProgramsObject;

/* Whether an object is no array and holds none: its value is part of the entry's key, or,
 * of a number, compared. */
bool program_is_constant(PyObject *object);
/* What a gradient function is given, as a row of values: gradients, results, arguments.
 * Their number; 0: too many. */
int program_values(PyObject **values, const NodeObject *node, PyObject *const *argv);
/* A new program without steps; NULL: there cannot be any, or no memory. */
program *program_begin(const NodeObject *node, PyObject *const *values, int count,
                       const bool *sent);
/* Whether it is for such values. */
bool program_fits(const program *p, const NodeObject *node, PyObject *const *values,
                  int count, const bool *sent);
void program_forget_steps(program *p);
/* The gradients, a tuple. New reference. */
PyObject *program_play(const program *p, PyObject *const *given);

#endif
