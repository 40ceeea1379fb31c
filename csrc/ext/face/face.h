/* The room ext/face: what Python sees: the module, methods of the types, and how
 * x + y and np.add(x, y) find the operators that Python has installed.
 *
 * May use: every other room. None uses it.
 * Begin with: module.c, then tensor_type.c and slots.c. */
#ifndef DT_EXT_FACE_H
#define DT_EXT_FACE_H

#include "ext/dispatch/dispatch.h"
#include "ext/make/make.h"

/* --- tensor_type.c, world_type.c: before the types are made ready --- */

void ext_fill_tensor_types(void);
void ext_fill_world_type(void);

/* --- torch_type.c --- */

void ext_fill_torch_types(void); /* after ext_fill_tensor_types */
/* Before a type is made ready: torch's DTensor has two bases, which are. */
int ext_give_torch_bases(PyTypeObject *type);

/* --- as_dialect.c --- */

/* The methods of torch's dialect are made when they are first needed. */
int ext_open_torch(void);
PyObject *ext_set_torch(PyObject *module, PyObject *function);
PyObject *ext_tensor_as_torch(PyObject *self, PyObject *ignored);
PyObject *ext_tensor_as_numpy(PyObject *self, PyObject *ignored);
extern const char ext_tensor_as_torch_doc[], ext_tensor_as_numpy_doc[];

/* --- methods of the module, one table per file --- */

extern PyMethodDef ext_redistribute_methods[], ext_explain_methods[],
    ext_world_methods[], ext_checkpoint_methods[], ext_protocol_methods[],
    ext_lineage_methods[], ext_carried_methods[], ext_torch_methods[];

/* --- tensor_attributes.c, tensor_methods.c: the tables of Tensor --- */

extern PyMemberDef ext_tensor_members[];
extern PyGetSetDef ext_tensor_attributes[];
extern PyMethodDef ext_tensor_methods[];
extern PyNumberMethods ext_tensor_numbers;

int ext_tensor_require_grad(TensorObject *self, bool wanted);

/* --- tensor_strides.c --- */

PyObject *ext_tensor_stride(PyObject *self, PyObject *const *args, Py_ssize_t nargs,
                            PyObject *kwnames);
PyObject *ext_tensor_is_contiguous(PyObject *self, PyObject *ignored);
extern const char ext_tensor_stride_doc[], ext_tensor_is_contiguous_doc[];

/* --- size.c --- */

/* The `size` of a tensor: an int that answers x.size(), x.size(dim) as torch does.
 * Takes over `shape`, a tuple. */
PyObject *ext_size(int64_t count, PyObject *shape);
/* A tuple, which it steals, or the one item that `place` counts; IndexError. */
PyObject *ext_one_or_all(PyObject *tuple, PyObject *place, const char *what);

/* --- tensor_copy.c --- */

/* The ndarray that NumPy sees: a view of a Tensor's, a read-only one of a replicated
 * DTensor's; RuntimeError where there is none, or under requires_grad without `force`.
 * New reference. */
PyObject *ext_tensor_numpy(TensorObject *tensor, bool force);
PyObject *ext_tensor_copy(PyObject *object, PyObject *ignored);
PyObject *ext_tensor_deepcopy(PyObject *object, PyObject *memo);
PyObject *ext_tensor_reduce(PyObject *object, PyObject *protocol);
extern const char ext_tensor_copy_doc[], ext_tensor_deepcopy_doc[],
    ext_tensor_reduce_doc[];

/* --- dlpack.c --- */

PyObject *ext_tensor_dlpack(PyObject *self, PyObject *const *args, Py_ssize_t nargs,
                            PyObject *kwnames);
PyObject *ext_tensor_dlpack_device(PyObject *self, PyObject *ignored);
extern const char ext_tensor_dlpack_doc[], ext_tensor_dlpack_device_doc[];

/* --- dtensor_methods.c, redistribute.c, gather.c: the tables of DTensor --- */

extern PyGetSetDef ext_dtensor_attributes[];
extern PyMethodDef ext_dtensor_methods[];
PyObject *ext_dtensor_repr(PyObject *self);
PyObject *ext_dtensor_redistribute(PyObject *self, PyObject *const *args,
                                   Py_ssize_t nargs, PyObject *kwnames);
PyObject *ext_dtensor_full(PyObject *self, PyObject *const *args, Py_ssize_t nargs,
                           PyObject *kwnames);
PyObject *ext_dtensor_rebalance(PyObject *self, PyObject *ignored);
extern const char ext_dtensor_redistribute_doc[], ext_dtensor_full_doc[],
    ext_dtensor_rebalance_doc[];

/* --- index.c: PyTorch's indices --- */

/* Whether an index holds slices, None, "..." and Python's integers only, and picks no
 * single element: then both dialects read it alike. */
bool ext_index_is_plain(PyObject *self, PyObject *index);
/* Whether PyTorch reads an index in another way than NumPy: bytes are masks, a list of
 * more than integers is a tuple, and integers apart from arrays do not count as arrays.
 * Then what Python has put for PyTorch's dialect answers. */
bool ext_index_differs(PyObject *index);
/* The same index, with "..." behind the integers of an element: of PyTorch's tensors it
 * is a view, too. New reference. */
PyObject *ext_index_in_torch(PyObject *self, PyObject *index);
/* Whether a Tensor shows elements more than once of an array that may be written to: a
 * view, by `expand` or `unfold`. */
bool ext_shows_twice(PyObject *tensor);
/* Whether it is read-only for that. */
static inline bool
ext_is_closed(PyObject *tensor)
{
    PyArrayObject *array = (PyArrayObject *)((TensorObject *)tensor)->array;
    return array != NULL && !PyArray_ISWRITEABLE(array) && ext_shows_twice(tensor);
}
/* Allows to write into a part of such a tensor, if it is a view that shows no element
 * twice; returns whether it is. */
bool ext_open_part(PyObject *part, PyObject *whole);

/* --- protocol.c, slots.c, subscript.c: how NumPy and Python come to operators --- */

PyObject *ext_tensor_ufunc(PyObject *self, PyObject *const *args, Py_ssize_t nargs,
                           PyObject *kwnames);
PyObject *ext_tensor_function(PyObject *self, PyObject *args);

/* What answers an operator beside tensors of PyTorch's dialect: borrowed, or NULL. */
PyObject *ext_torch_slot(const char *name);
int ext_fill_slots(PyObject *given, bool torch);            /* from a dict by name */
int ext_add_methods(PyTypeObject *type, PyObject *methods); /* the same */
void ext_fill_number_slots(PyNumberMethods *numbers);
void ext_fill_torch_slots(PyNumberMethods *numbers);
PyObject *ext_tensor_compare(PyObject *a, PyObject *b, int op);
PyObject *ext_torch_compare(PyObject *a, PyObject *b, int op);
PyObject *ext_tensor_iter(PyObject *self);
extern PyMappingMethods ext_tensor_mapping;
extern PySequenceMethods ext_tensor_sequence;
extern PyGetSetDef ext_slot_attributes[];

/* --- world_simulated.c, world_share.c, world_costs.c: methods of World --- */

PyObject *ext_world_simulated(PyObject *type, PyObject *args);
PyObject *ext_world_memory(PyObject *self, PyObject *args);
PyObject *ext_world_predicted(PyObject *self, PyObject *none);
extern const char ext_world_simulated_doc[], ext_world_memory_doc[],
    ext_world_predicted_doc[];
PyObject *ext_world_agree(PyObject *self, PyObject *args, PyObject *kwargs);
PyObject *ext_world_resync(PyObject *self, PyObject *args);
PyObject *ext_world_share(PyObject *self, PyObject *args, PyObject *kwargs);
extern const char ext_world_agree_doc[], ext_world_share_doc[], ext_world_resync_doc[];
PyObject *ext_world_costs(PyObject *self, void *closure);
PyObject *ext_world_set_costs(PyObject *self, PyObject *costs);
PyObject *ext_world_measure(PyObject *self, PyObject *none);
extern const char ext_world_set_costs_doc[], ext_world_measure_doc[];

/* --- forget.c --- */

extern const char ext_forget_doc[];
PyObject *ext_forget(PyObject *module, PyObject *none);

/* --- watch.c: rows of the table in explain.c --- */

extern const char watch_doc[], watch_rule_doc[];
PyObject *watch_set(PyObject *module, PyObject *args);
PyObject *watch_rule(PyObject *module, PyObject *const *args, Py_ssize_t nargs,
                     PyObject *kwnames);

#endif
