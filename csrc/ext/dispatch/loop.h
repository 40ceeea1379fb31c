/* loop.h: an inner loop of NumPy's, as it gives it to compilers. Of loop*.c alone. */
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
    float f;
    double d;
    npy_int64 i;
} op_loop_number;

/* A number of Python's in a dtype; false: it does not hold it as NumPy would round it. */
bool op_loop_number_put(op_loop_number *out, const PyArray_Descr *dtype,
                        PyObject *object);

/* Whether the ufunc of an entry has this name. */
bool op_loop_is_of(const op_entry *entry, const char *name);

#endif
