/* dtype.h: the element types, NumPy's numeric ones and bfloat16. */
#ifndef DT_DTYPE_H
#define DT_DTYPE_H

#include <stdbool.h>
#include <stddef.h>

/* name, NumPy's name, kind as NumPy's dtype.kind, size in bytes, and whether it is
 * NumPy's own or of the package ml_dtypes */
#define DT_DTYPES(X)                                                                   \
    X(BOOL, "bool", 'b', 1, NUMPY)                                                     \
    X(INT8, "int8", 'i', 1, NUMPY)                                                     \
    X(INT16, "int16", 'i', 2, NUMPY)                                                   \
    X(INT32, "int32", 'i', 4, NUMPY)                                                   \
    X(INT64, "int64", 'i', 8, NUMPY)                                                   \
    X(UINT8, "uint8", 'u', 1, NUMPY)                                                   \
    X(UINT16, "uint16", 'u', 2, NUMPY)                                                 \
    X(UINT32, "uint32", 'u', 4, NUMPY)                                                 \
    X(UINT64, "uint64", 'u', 8, NUMPY)                                                 \
    X(FLOAT16, "float16", 'f', 2, NUMPY)                                               \
    X(BFLOAT16, "bfloat16", 'f', 2, ML_DTYPES)                                         \
    X(FLOAT32, "float32", 'f', 4, NUMPY)                                               \
    X(FLOAT64, "float64", 'f', 8, NUMPY)                                               \
    X(LONGDOUBLE, "longdouble", 'f', sizeof(long double), NUMPY)                       \
    X(COMPLEX64, "complex64", 'c', 8, NUMPY)                                           \
    X(COMPLEX128, "complex128", 'c', 16, NUMPY)                                        \
    X(CLONGDOUBLE, "clongdouble", 'c', 2 * sizeof(long double), NUMPY)

typedef enum {
#define DT_DTYPE_ENUM(name, ...) DT_##name,
    DT_DTYPES(DT_DTYPE_ENUM)
#undef DT_DTYPE_ENUM
} dt_dtype;

enum {
#define DT_DTYPE_ONE(...) +1
    DT_DTYPE_COUNT = 0 DT_DTYPES(DT_DTYPE_ONE)
#undef DT_DTYPE_ONE
};

enum { DT_MAX_NDIM = 64 }; /* dims of an array; as NumPy's */

size_t dt_dtype_size(dt_dtype dtype);      /* bytes */
const char *dt_dtype_name(dt_dtype dtype); /* "float32" */
char dt_dtype_kind(dt_dtype dtype);        /* one of "biufc" */

#endif
