/* The room ext/dispatch: an operator is called: operands are moved, the kernel runs,
 * results become tensors and are recorded; or are written into tensors (`out=`).
 *
 * May use: ext/base, ext/types, ext/move, ext/op, ext/tape, ext/kernels.
 * Begin with: operator_call in operator.c, then dispatch.c and run.c. */
#ifndef DT_EXT_DISPATCH_H
#define DT_EXT_DISPATCH_H

#include "ext/tape/tape.h"

/* --- named.c --- */

/* Which parameter of a Python function has this name, or -1; `positional`: how many of
 * them may be given by position. */
int op_find_parameter(int *place, Py_ssize_t *positional, PyObject *function,
                      const char *name);

/* Whether some of a call's keywords stand for arguments by position; -1 on errors. */
int op_has_places(const OperatorObject *self, PyObject *kwnames);
PyObject *op_call_placed(OperatorObject *self, PyObject *const *args, Py_ssize_t nargs,
                         PyObject *kwnames);

/* The same call with its keywords in the order of their names, where they are not: what a
 * result is made of does not depend on the order in which a program passes them. */
bool op_in_order_of_names(PyObject *kwnames);
PyObject *op_call_sorted(OperatorObject *self, PyObject *const *args, Py_ssize_t nargs,
                         PyObject *kwnames);

/* A call of an operator with `otherwise`: names become places. */
PyObject *op_call_in_words(OperatorObject *self, PyObject *const *args,
                           Py_ssize_t nargs, PyObject *kwnames);

/* --- number.c --- */

/* The result of a call that failed since an array was taken for a number or a list: the
 * call with these. NULL, with the exception as it was, if this is no such call. */
PyObject *op_call_counted(PyObject *self, PyObject *const *args, Py_ssize_t nargs,
                          PyObject *kwnames);

extern PyTypeObject ext_operator_type;
extern PyMethodDef ext_op_methods[], op_autocast_methods[];

/* --- dispatch.c --- */

/* Runs a call whose entry is known. `out`: this rank's array that the kernel (a ufunc)
 * is to write into, or NULL. */
PyObject *op_dispatch(op_entry *entry, const op_call *call, PyObject *out);

/* Calls a function with NumPy's scalars among its arguments as Python's numbers. */
PyObject *op_call_bare(PyObject *function, PyObject *const *args, Py_ssize_t nargs,
                       PyObject *kwnames);

/* What the kernel gave for result k as a tensor, in the dialect of the call; steals the
 * array. */
static inline PyObject *
op_result_of(const op_entry *entry, int k, const op_call *call, PyObject *array)
{
    if (entry->solo)
        return (PyObject *)ext_tensor_alloc(
            call->torch ? &ext_torch_tensor_type : &ext_tensor_type, array);
    DTensorObject *result =
        ext_dtensor_alloc(call->torch ? &ext_torch_dtensor_type : &ext_dtensor_type,
                          array, entry->results[k].layout);
    if (result != NULL) /* new: nothing has been written into it */
        result->lineage = op_lineage(call, k);
    return (PyObject *)result;
}

/* Whether a kernel has met a wrong index of a Tensor, and the operator's other function
 * is called, which says in its own words what is wrong. */
static inline bool
op_asks_other(const op_entry *entry, const OperatorObject *op)
{
    return op->otherwise != NULL && entry->solo && entry->composite == NULL &&
           PyErr_ExceptionMatches(PyExc_IndexError);
}

/* A call of which `out` has been taken away, with all arguments in the function's own
 * order and words. Nobody records it, and it is not within autocast. */
PyObject *op_call_in_order(OperatorObject *self, PyObject *const *args,
                           Py_ssize_t nargs, PyObject *kwnames);

/* --- operands.c --- */

extern PyObject *ext_implicit_hook; /* called before operands are sent, or NULL */
extern int64_t ext_implicit_bytes;  /* if they become whole arrays of as many or more */

/* This rank's array of an operand (borrowed), before any move; a Python number, or a
 * scalar of an entry without arrays, is itself. */
static inline PyObject *
op_local_array(PyObject *object)
{
    if (Py_TYPE(object) == &ext_dtensor_type ||
        Py_TYPE(object) == &ext_torch_dtensor_type)
        return ((DTensorObject *)object)->pending == NULL && ext_put_off == NULL
                   ? ((TensorObject *)object)->array
                   : (PyObject *)ext_local(object);
    if (ext_is_tensor(object))
        return (PyObject *)ext_local(object);
    return object;
}

/* What the kernel would get for operand k, or NULL: no data, or a move that has not
 * ended. Borrowed. */
static inline PyObject *
op_held_value(const op_entry *entry, const op_call *call, int k)
{
    PyObject *operand = call->operands[k];
    if (entry->operands[k].stand_in != NULL)
        return entry->operands[k].stand_in;
    if (!ext_is_tensor(operand))
        return operand;
    PyObject *array = ((TensorObject *)operand)->array;
    bool pending =
        ext_is_dtensor(operand) && ((DTensorObject *)operand)->pending != NULL;
    return pending || !ext_has_data((PyArrayObject *)array) ? NULL : array;
}

/* The arrays of operands in the layouts of the entry. */
typedef struct {
    PyObject **arrays; /* NULL: nothing has moved; arrays[k] is NULL, or a reference */
    PyObject *space[OP_INLINE];
} op_moved;

/* Brings the operands there. To be cleared, also on failure, unless `arrays` is NULL.
 */
int op_move_operands(op_moved *moved, const op_entry *entry, const op_call *call);
void op_moved_clear(op_moved *moved, const op_entry *entry);

/* Whether an array is the part of a result that the rule promises. */
static inline bool
op_fits(const op_result *result, PyArrayObject *array)
{
    if (PyArray_NDIM(array) != result->ndim)
        return false;
    for (int d = 0; d < result->ndim; d++)
        if (PyArray_DIM(array, d) != result->shape[d])
            return false;
    return ext_dtype_is(PyArray_DESCR(array), result->layout->layout->dtype);
}

/* --- short.c, loop_shared.c: a result without its kernel --- */

extern bool op_shortcuts;           /* false: kernels are always called */
extern long long op_shortcut_count; /* how often they were not */
enum { OP_SHORT = 3 };              /* operands of such a call, at most */

/* Whether there is such a way for an entry. */
static inline bool
op_is_short(const op_entry *entry)
{
    return entry->view != NULL || entry->loop != NULL || entry->product != NULL ||
           entry->known_kernel != NULL || entry->summed;
}

/* Whether a call has been carried out so; *out: its result, or NULL with an exception.
 * For entries that op_is_short is true of. */
bool op_short(PyObject **out, const op_entry *entry, const op_call *call);

/* view.c, loop.c, loop_product.c, sum_small.c; and kernel.c, which finds the kernel's
 * arguments itself: a new array; NULL, without an exception: the kernel is to be called. */
PyObject *op_view_again(const op_entry *entry, PyObject *const *argv);
PyObject *op_loop_again(const op_entry *entry, PyObject *const *argv);
PyObject *op_product_again(const op_entry *entry, PyObject *const *argv);
PyObject *op_sum_again(const op_entry *entry, PyObject *const *argv);
PyObject *op_kernel_again(const op_entry *entry, const op_call *call);
/* After the kernel was called: what the next call needs. */
void op_view_keep(op_entry *entry, PyObject *const *argv, PyObject *result);
void op_loop_keep(op_entry *entry, PyObject *const *argv);
void op_sum_keep(op_entry *entry, PyObject *const *argv);
void op_kernel_keep(op_entry *entry, PyObject *const *argv);
bool op_is_product(const op_entry *entry);
void op_product_keep(op_entry *entry, PyObject *const *argv);

/* loop_shared.c: whether the result is so large that threads share its loop; and whether
 * they have: *result is then `out` or a new array, or NULL with an exception. */
bool op_loop_is_shared(const op_entry *entry, PyObject *const *argv);
bool op_loop_shared(PyObject **result, const op_entry *entry, PyObject *const *argv,
                    PyObject *out);

/* sum.c: whether threads have shared a sum of all elements; *result as above. */
bool op_sum_shared(PyObject **result, op_entry *entry, PyObject *const *argv);

/* --- fused.c: calls that are put off --- */

/* The result of a call that runs later, as a new array whose elements are not there yet;
 * NULL: it is to run now, or an exception is set. `moved` as in op_moved. */
PyObject *op_fuse(op_entry *entry, const op_call *call, PyObject *const *moved);
extern PyMethodDef op_fused_methods[];

/* --- in_order.c --- */

/* A result in the order in which PyTorch makes it, or that shows an operand's memory: a
 * copy if it is in another one. Steals `result`; `moved` as in op_moved. */
PyObject *op_in_order(const op_entry *entry, const op_call *call,
                      PyObject *const *moved, PyObject *result);

/* --- run.c, without_data.c --- */

/* Where this rank computes. */
PyObject *op_run(op_entry *entry, const op_call *call, PyObject *out);
/* Where it does not: `data` says that the operands have some. */
PyObject *op_run_nothing(const op_entry *entry, const op_call *call, PyObject *out,
                         bool simulated, bool data);
/* A tuple as one of the type that the kernel gives: a list, or a named tuple. Steals
 * it. */
PyObject *op_contained(PyObject *tuple, PyObject *type);

/* --- dialect.c --- */

/* Whether there is a tensor of PyTorch's dialect in arguments; kwargs may be NULL. */
bool op_holds_torch(PyObject *args, PyObject *kwargs);
/* What a function has given for such tensors, in their dialect; steals it. */
PyObject *op_results_in_torch(PyObject *result);
/* PyTorch gives `out=` the shape of the result: `out` may be an array, or a tensor without
 * a layout; `result` is an array. 0, or -1 with an exception. */
int op_resize_out(PyObject *out, PyObject *result);
/* The exception that is set becomes PyTorch's if such a tensor is among the arguments. */
void op_error_in_torch(PyObject *name, PyObject *const *args, Py_ssize_t nargs,
                       PyObject *kwnames);
extern PyMethodDef ext_dialect_methods[];

/* --- watch.c: a Python function that is told of operators while they run --- */

/* One for the process, for dtensor.debug. Without it a call takes one look at this. */
extern PyObject *watch_on_operator; /* or NULL */

/* Tells of a call before it runs. What the watcher gives back is called after it by
 * watch_operator_done, unless it is None. A watcher that raises changes nothing: this
 * rank would be the only one that fails. */
PyObject *watch_operator(const op_entry *entry, const op_call *call);
void watch_operator_done(PyObject *after); /* steals it */
/* The arguments of a vectorcall as a tuple and a dict; either may be NULL, with an
 * exception. */
PyObject *op_python_arguments(PyObject *const *args, Py_ssize_t nargs,
                              PyObject *kwnames, PyObject **kwargs);

/* --- recorder.c and autocast.c --- */

/* What is done in this thread beside operators, or in their place. */
typedef struct {
    PyObject *recorder; /* called as recorder(operator, args, kwargs, result) after each
                         * operator, but not for those within; or NULL */
    bool casts;         /* operators with `autocast` go by it */
    bool fuses;         /* elementwise calls are put off: fused.c */
} op_besides;

extern _Thread_local op_besides op_aside;
PyObject *op_call_recorded(PyObject *op, PyObject *const *args, size_t flags,
                           PyObject *kwnames);
PyObject *op_set_recorder(PyObject *module, PyObject *recorder);
PyObject *op_call_cast(OperatorObject *op, PyObject *const *args, size_t flags,
                       PyObject *kwnames);

/* --- check.c --- */

/* With DTENSOR_CHECK=2: compares the plain arrays among the operands across ranks, and
 * raises on all where they differ. Collective. */
int op_check_arrays(const op_call *call);

/* --- write.c --- */

/* Before writing into a tensor: 0 if that may be, 1 if op_end_write is due afterwards,
 * -1 with an exception. */
int op_begin_write(PyObject *tensor, const char *what);
/* Collective where there was an origin to write back to. */
int op_end_write(PyObject *tensor, bool written);
/* What is a part of such a copy is written back to it. */
int op_follow_origin(PyObject *result, PyObject *tensor, PyObject *index);
/* After row = tensor[index]. */
void op_note_read(PyObject *tensor, PyObject *index, PyObject *row);
/* Refuses a swap of two rows by compiled code, at its first tensor[index] = value,
 * where they are views: -1 with an exception. */
int op_refuse_swap(PyObject *tensor, PyObject *index, PyObject *value);
extern PyMethodDef ext_write_methods[];

/* --- out.c --- */

Py_ssize_t op_find_keyword(PyObject *kwnames, const char *name); /* its index, or -1 */

/* A call with one `out`: a DTensor, Tensor or array. */
PyObject *op_call_into(OperatorObject *op, PyObject *const *args, Py_ssize_t nargs,
                       PyObject *kwnames, PyObject *out);

/* NumPy's rule for what may be written over what. `ufunc` may be NULL; `casting` is what
 * the call says, or NULL. */
int op_check_cast(PyObject *ufunc, PyArray_Descr *from, PyArray_Descr *to,
                  PyObject *casting);

/* What a call says of `casting`, or NULL. Borrowed. */
PyObject *op_casting_of(PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames);

/* The mask of a call that has one, or NULL. Borrowed. */
PyObject *op_mask_of(PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames);

/* Brings a result into the layout and dtype of `out` and writes it there. */
int op_write_result(const OperatorObject *op, DTensorObject *out, DTensorObject *result,
                    bool ufunc);

/* --- outs.c --- */

/* A call with `out`: a DTensor, Tensor or array, or a tuple of these, one for each
 * result or None. */
PyObject *op_call_out(OperatorObject *op, PyObject *const *args, Py_ssize_t nargs,
                      PyObject *kwnames, PyObject *out);

#endif
