/* sum.h: sums of all elements of an array, cut where NumPy cuts them. Of sum*.c, fused*.c.
 *
 * numpy.add.reduce adds up elements that lie one after the other in pairs of halves:
 * 1000 as 496 + 504, and so on down to 128. What is added below some point of this tree
 * may be computed anywhere, at any time; the bits are NumPy's. */
#ifndef DT_EXT_SUM_H
#define DT_EXT_SUM_H

#include "ext/dispatch/loop.h"

#include <numpy/ufuncobject.h>

/* A sum, or a mean, of float32 or float64. */
typedef struct {
    PyUFuncGenericFunction add; /* NumPy's loop; NULL: there is none */
    void *data;                 /* for it */
    int type, ndim;             /* of the result, whose dims are of length 1 */
    double divisor;             /* of a mean; or 1 */
} op_sum;

/* Whether the kernel of an entry is numpy.add.reduce(x, axis=, keepdims=). */
bool op_is_sum(op_entry *entry);
/* NumPy's loop that adds two of a type; NULL: there is none. */
PyUFuncGenericFunction op_sum_loop(void **data, int type);

/* Whether the kernel of an entry gives such a sum of the array. */
bool op_sum_of(op_sum *sum, op_entry *entry, PyArrayObject *array);

/* The leaves of the tree of `count` elements, of at most `most` each, and at least 128:
 * how many there are; and where each of them begins, and the last one ends. */
npy_intp op_sum_leaves(npy_intp count, npy_intp most);
void op_sum_cut(npy_intp *begins, npy_intp count, npy_intp most);

/* Puts the sum of the elements of a leaf into *total. */
void op_sum_leaf(const op_sum *sum, char *total, const char *elements, npy_intp count);

/* The result, from the totals of the leaves, which lie `step` bytes apart. */
PyArrayObject *op_sum_array(const op_sum *sum);
void op_sum_finish(const op_sum *sum, char *result, const char *totals, npy_intp step,
                   npy_intp count, npy_intp most);

/* What NumPy says of flags that were raised; -1 with an exception. */
int op_sum_tell(int flags);

#endif
