/* dtype.h: the element types, NumPy's numeric ones and bfloat16. */
#ifndef DT_DTYPE_H
#define DT_DTYPE_H

#include <stdbool.h>
#include <stddef.h>

/* name, NumPy's name, kind as NumPy's dtype.kind, size in bytes */
#define DT_DTYPES(X)                                                                   \
    X(BOOL, "bool", 'b', 1)                                                            \
    X(INT8, "int8", 'i', 1)                                                            \
    X(INT16, "int16", 'i', 2)                                                          \
    X(INT32, "int32", 'i', 4)                                                          \
    X(INT64, "int64", 'i', 8)                                                          \
    X(UINT8, "uint8", 'u', 1)                                                          \
    X(UINT16, "uint16", 'u', 2)                                                        \
    X(UINT32, "uint32", 'u', 4)                                                        \
    X(UINT64, "uint64", 'u', 8)                                                        \
    X(FLOAT16, "float16", 'f', 2)                                                      \
    X(BFLOAT16, "bfloat16", 'f', 2)                                                    \
    X(FLOAT32, "float32", 'f', 4)                                                      \
    X(FLOAT64, "float64", 'f', 8)                                                      \
    X(LONGDOUBLE, "longdouble", 'f', sizeof(long double))                              \
    X(COMPLEX64, "complex64", 'c', 8)                                                  \
    X(COMPLEX128, "complex128", 'c', 16)                                               \
    X(CLONGDOUBLE, "clongdouble", 'c', 2 * sizeof(long double))

typedef enum {
#define DT_DTYPE_ENUM(name, text, kind, size) DT_##name,
    DT_DTYPES(DT_DTYPE_ENUM)
#undef DT_DTYPE_ENUM
} dt_dtype;

enum { DT_DTYPE_COUNT = DT_CLONGDOUBLE + 1 };

enum { DT_MAX_NDIM = 64 }; /* dims of an array; as NumPy's */

size_t dt_dtype_size(dt_dtype dtype);      /* bytes */
const char *dt_dtype_name(dt_dtype dtype); /* "float32" */
char dt_dtype_kind(dt_dtype dtype);        /* one of "biufc" */

#endif
