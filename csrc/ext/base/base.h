/* The room ext/base: what all of the extension stands on: what there is one of,
 * exceptions, dtypes and shapes, arguments of functions, arrays of our own memory.
 *
 * May use: core, Python, NumPy. No type of ours is known here.
 * Begin with: error.c, the one border between dt_status and exceptions. */

/* The extension converts, owns references and calls core and comm; it decides nothing
 * about placements. Static types, one interpreter. Functions follow CPython's custom:
 * NULL or -1 with an exception set. */
#ifndef DT_EXT_BASE_H
#define DT_EXT_BASE_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <structmember.h>

#define PY_ARRAY_UNIQUE_SYMBOL dtensor_numpy
#define PY_UFUNC_UNIQUE_SYMBOL dtensor_numpy_ufunc
#ifndef EXT_IMPORTS_NUMPY
#define NO_IMPORT_ARRAY
#define NO_IMPORT_UFUNC
#endif
#include <numpy/arrayobject.h>

#include "core/facts/status.h"
#include "core/plan/plans.h"

/* --- state.c --- */

/* Computes elements that have been put off (ext/dispatch/fused.c); NULL: there are none.
 * -1 with an exception. */
extern int (*ext_put_off)(void);
/* Before elements are read, or written to. */
static inline int
ext_catch_up(void)
{
    return ext_put_off == NULL ? 0 : ext_put_off();
}

extern dt_context *ext_context; /* under the GIL */
extern dt_plans *ext_plans;     /* over its layouts */
extern dt_dtype ext_default_dtype;

/* Imports NumPy's C API and makes the context, once. */
int ext_state_make(void);

/* --- error.c --- */

/* Sets the exception of the table for err->status; always returns NULL.
 * DT_INTERRUPTED leaves the exception that is already set. An error that ext_catch made
 * in this thread is raised as the very object that was caught. */
void *ext_raise(const dt_error *err);
/* Whether what was raised since this was set to false came from an agreement, or is kept
 * for the next one: then a function around it need not tell the other ranks. */
extern _Thread_local bool ext_told;
/* The same unless the status is DT_OK: 0, or -1 with an exception. */
static inline int
ext_check(dt_status status, const dt_error *err)
{
    if (status == DT_OK)
        return 0;
    ext_raise(err);
    return -1;
}
/* Sets an exception, as PyErr_Format does; always -1. */
#define ext_fail(...) (PyErr_Format(__VA_ARGS__), -1)
#define ext_no_memory() (PyErr_NoMemory(), -1)
/* Turns the exception that is set into a local error (status by its type) and clears
 * it, keeping the object for ext_raise to raise again on this rank. */
void ext_catch(dt_error *err);
extern PyObject *ext_mpi_error; /* dtensor.MPIError, a RuntimeError */
/* Imports the exceptions of NumPy that the table has, once. */
int ext_errors_make(void);

/* --- convert.c --- */

/* TypeError for a dtype that is no native-endian number or boolean. `what` names the
 * function for the message. */
int ext_dtype(dt_dtype *out, PyArray_Descr *descr, const char *what);
/* Whether an array's dtype is this one. */
bool ext_dtype_is(PyArray_Descr *descr, dt_dtype dtype);
/* Any dtype-like object (np.float32, "float32", a dtype; None gives `fallback`). */
int ext_dtype_like(dt_dtype *out, PyObject *object, dt_dtype fallback,
                   const char *what);
/* That of the array that NumPy makes of an object. */
int ext_dtype_of(dt_dtype *out, PyObject *object, const char *what);
PyArray_Descr *ext_descr(dt_dtype dtype); /* new reference */
/* A sequence of integers or one integer; returns the count, -1 on error. */
int ext_shape(int64_t out[DT_MAX_NDIM], PyObject *object, const char *what);
int ext_array_shape(int64_t out[DT_MAX_NDIM], PyArrayObject *array); /* returns ndim */
PyObject *ext_tuple(const int64_t *values, int count);               /* of ints */
PyObject *ext_tuple_of(PyObject *const *items, Py_ssize_t count);    /* NULL: None */
/* Takes an item over into a new list or tuple, at place k or at the end of a list. NULL:
 * an exception is set, and the list is given up. */
static inline void
ext_put(PyObject **list, Py_ssize_t k, PyObject *item)
{
    if (item == NULL)
        Py_CLEAR(*list);
    else if (PyList_CheckExact(*list))
        PyList_SET_ITEM(*list, k, item);
    else
        PyTuple_SET_ITEM(*list, k, item);
}
void ext_append(PyObject **list, PyObject *item);
/* An attribute of a module, imported at first use and kept in *kept; borrowed. */
PyObject *ext_import(PyObject **kept, const char *module, const char *name);

/* Zeroed memory for `count` things: the array `few` where that is enough, so that one call
 * with one tensor takes none. NULL: no memory, without an exception. */
#define EXT_SOME(few, count)                                                           \
    (memset((few), 0, sizeof(few)),                                                    \
     (size_t)(count) <= sizeof(few) / sizeof *(few)                                    \
         ? (few)                                                                       \
         : PyMem_Calloc((size_t)(count), sizeof *(few)))
#define EXT_SOME_FREE(memory, few) PyMem_Free((memory) == (few) ? NULL : (memory))

/* --- arguments.c: parameters of METH_FASTCALL | METH_KEYWORDS functions --- */

/* A function with keywords and its flags, as in a row of a PyMethodDef. */
#define EXT_FAST(function)                                                             \
    (PyCFunction)(void (*)(void))(function), METH_FASTCALL | METH_KEYWORDS
#define EXT_KEYWORDS(function)                                                         \
    (PyCFunction)(void (*)(void))(function), METH_VARARGS | METH_KEYWORDS

typedef struct {
    const char *function;
    int count;            /* of all parameters */
    int positional;       /* how many may be given by place */
    int required;         /* how many, from the first, must be given */
    const char *names[7]; /* in order */
} ext_signature;

#define EXT_SIGNATURE(function, count, positional, required, ...)                      \
    {                                                                                  \
        function, count, positional, required,                                         \
        {                                                                              \
            __VA_ARGS__                                                                \
        }                                                                              \
    }

/* Puts each argument into its place of `out` (borrowed; NULL if it is not given). */
int ext_arguments(PyObject **out, const ext_signature *signature, PyObject *const *args,
                  Py_ssize_t nargs, PyObject *kwnames);

/* Values of arguments; NULL and None leave *out as it is. */
int ext_argument_bool(bool *out, PyObject *object);
int ext_argument_int(int64_t *out, PyObject *object);
/* `what` is for the error, as "Shard: `dim`". */
int ext_int(int *out, PyObject *object, const char *what);
/* Turns a switch on or off; returns what it was. */
PyObject *ext_switch(bool *on, PyObject *wanted);

/* --- memory.c --- */

/* A new C-ordered writable ndarray whose memory comes from core/memory/memory.h. */
PyObject *ext_array(int ndim, const int64_t *shape, dt_dtype dtype);
/* The same of the shape of one. */
PyObject *ext_array_like(PyArrayObject *array, dt_dtype dtype);
/* Whether an array has its memory to itself: NumPy's own, or a block of ours. */
bool ext_has_own_memory(PyArrayObject *array);
/* The array whose memory an array shows, itself if it is no view of one; borrowed. */
PyArrayObject *ext_owner(PyArrayObject *array);
extern PyMethodDef ext_memory_methods[];

/* --- handler.c --- */

/* While this is true, large arrays that NumPy makes in this thread come from our pool. */
extern _Thread_local bool ext_computing __attribute__((tls_model("initial-exec")));
/* Makes it so in the current context; to be called before. */
int ext_handler_install(void);

/* --- threads.c --- */

int ext_threads_constants(PyObject *module);
extern PyMethodDef ext_threads_methods[];

/* --- fault.c: failures on purpose --- */

typedef enum {
    EXT_FAULT_MEMORY,
    EXT_FAULT_NUMPY,
    EXT_FAULT_FILE,
    EXT_FAULTS
} ext_fault;

/* Counts a call of this kind; whether it is to fail. */
bool ext_fails(ext_fault kind);
bool ext_fails_all(void); /* there is no reserve either */

/* --- reserve.c --- */

/* How many blocks of the C library's memory the library's code holds. */
long long ext_blocks(void);
extern PyMethodDef ext_fault_methods[];

#endif
