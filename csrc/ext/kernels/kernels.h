/* The room ext/kernels: C kernels as what operators call: arguments are read and
 * results made; the loops are those of csrc/kernels.
 *
 * May use: ext/base, ext/types, ext/move, kernels. No operator is known here.
 * Begin with: softmax.c, then kernels.c. */

/* A family of kernels has a file with a table of rows, which kernels.c lists. In Python
 * `_C.kernel("softmax")` is a callable; it reads its arguments as the row says and
 * calls `run`:
 *
 *     const ext_kernel ext_softmax_kernels[] = {
 *         {"softmax", "x", run_rows, SOFTMAX}, ... {0}};
 *
 * Kernels compute in float32 and float64. What they are called with is decided by the
 * operator, where it sees the dtypes (python/dtensor/ops/_make/kernel.py). */
#ifndef DT_EXT_KERNELS_H
#define DT_EXT_KERNELS_H

#include "ext/types/types.h"

#include "kernels/columns.h"

enum { EXT_KERNEL_ARGUMENTS = 12 };

/* One argument, by the letter that stands for it in `takes`:
 *
 *     x   an array, in C order. All arrays have the dtype of the first, which is
 *         float32 or float64
 *     s   an array with any strides, of that dtype and aligned
 *     o   as x, or None: then `array` is NULL
 *     m   a mask: as s, or of bool, or None
 *     i   an array of int64 in C order (integers of other dtypes are converted)
 *     n   a number
 *     k   an integer or bool */
typedef union {
    PyArrayObject *array;
    double number;
    int64_t integer;
} ext_argument;

typedef struct ext_kernel ext_kernel;

struct ext_kernel {
    const char *name;
    const char *takes;
    /* `wide`: float64. Returns an array, or a tuple of them; NULL with an exception. */
    PyObject *(*run)(const ext_kernel *kernel, const ext_argument *given, bool wide);
    int which; /* for run */
};

/* A call of a kernel that comes again with other small arrays: its numbers are read once. */
typedef struct {
    int at; /* the argument */
    int type;
    bool strided;
} ext_kernel_array_of;

typedef struct {
    const ext_kernel *kernel;
    bool wide;
    int count;
    ext_kernel_array_of arrays[EXT_KERNEL_ARGUMENTS];
    ext_argument given[EXT_KERNEL_ARGUMENTS]; /* the numbers */
} ext_kernel_known;

enum { EXT_KERNEL_SMALL = 4096 /* elements: of more, what is around is not felt */ };

/* What is known of a call of an ext_kernel_type, in a capsule without a name; NULL with an
 * exception. */
PyObject *ext_kernel_know(PyObject *callable, PyObject *const *args, Py_ssize_t count);
/* What the kernel gives for its arrays; NULL, maybe with an exception: it is to be called,
 * since they are large, or of another kind. The caller holds them. */
PyObject *ext_kernel_again(const ext_kernel_known *known, PyObject *const *arrays);

/* A new array of float32, or float64 where `wide`. */
PyArrayObject *ext_kernel_array(int ndim, const npy_intp *shape, bool wide);
/* The same with the shape of another one. */
PyArrayObject *ext_kernel_like(PyArrayObject *array, bool wide);

/* ValueError unless both have the same shape. */
int ext_kernel_check(const ext_kernel *kernel, PyArrayObject *a, PyArrayObject *b);

/* The last dims of a convolution, from a table that has a row for each; those that are not
 * there are of length 1. ValueError for what makes no sense. */
int ext_kernel_dims(dt_kernel_dim out[DT_COLUMNS_DIMS], int count,
                    PyArrayObject *table);

/* Gives the GIL away where so many elements take longer than that does. */
PyThreadState *ext_kernel_begin(int64_t elements);
void ext_kernel_end(PyThreadState *state);

extern PyMethodDef ext_kernel_methods[], ext_optim_methods[], ext_wide_methods[],
    ext_reduce_methods[], ext_along_methods[], ext_join_methods[], ext_order_methods[],
    ext_shape_methods[], ext_columns_methods[], ext_panel_methods[],
    ext_product_methods[], ext_merge_methods[];
extern PyTypeObject ext_kernel_type, ext_wide_type;

#endif
