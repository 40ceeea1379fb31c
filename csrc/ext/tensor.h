/* tensor.h: what the files of Tensor and DTensor offer each other, beside ext.h. */
#ifndef DT_EXT_TENSOR_H
#define DT_EXT_TENSOR_H

#include "ext/ext.h"

/* --- arguments.c: parameters of METH_FASTCALL | METH_KEYWORDS functions --- */

typedef struct {
    const char *function;
    const char *const *names; /* of all parameters, in order */
    int count;
    int positional; /* how many may be given by place */
    int required;   /* how many, from the first, must be given */
} ext_signature;

/* Puts each argument into its place of `out` (borrowed; NULL if it is not given). */
int ext_arguments(PyObject **out, const ext_signature *signature, PyObject *const *args,
                  Py_ssize_t nargs, PyObject *kwnames);

/* Values of arguments; NULL and None leave *out as it is. */
int ext_argument_bool(bool *out, PyObject *object);
int ext_argument_int(int64_t *out, PyObject *object);

/* The mesh of a `device_mesh` argument, None: the current one. New reference. */
MeshObject *ext_argument_mesh(PyObject *object, const char *what);

/* --- size.c --- */

/* The `size` of a tensor: an int that answers x.size(), x.size(dim) as torch does.
 * Takes over `shape`, a tuple. */
PyObject *ext_size(int64_t count, PyObject *shape);
PyObject *ext_size_type(void); /* borrowed */

/* --- tensor.c --- */

/* A new object of a subtype of Tensor; steals `array`. */
TensorObject *ext_tensor_alloc(PyTypeObject *type, PyObject *array);

/* Every operator asks of every operand, so our own two types are found without a call.
 */
static inline bool
ext_is_tensor(PyObject *object)
{
    return Py_TYPE(object) == &ext_dtensor_type ||
           PyObject_TypeCheck(object, &ext_tensor_type);
}

static inline bool
ext_is_dtensor(PyObject *object)
{
    return PyObject_TypeCheck(object, &ext_dtensor_type);
}

/* The ndarray that a user's argument is or becomes: that of a Tensor, a plain view of
 * an ndarray, or a new one. A DTensor, text, objects and masked arrays are refused.
 * New reference. */
PyObject *ext_array_of(PyObject *object, PyObject *dtype, const char *what);
/* The same, where Python's own floats become the default dtype, as in torch.tensor. */
PyObject *ext_array_of_numbers(PyObject *object, PyObject *dtype, const char *what);
/* TypeError for a masked array. */
int ext_refuse_masked(PyObject *object, const char *what);
/* RuntimeError unless a dtype can have gradients and `requires_grad` asks for them. */
int ext_check_grad(bool requires_grad, PyArrayObject *array);

/* --- tensor_attributes.c, tensor_methods.c: the tables of Tensor --- */

extern PyGetSetDef ext_tensor_attributes[];
extern PyMethodDef ext_tensor_methods[];
extern PyNumberMethods ext_tensor_numbers;

/* Global shape of a DTensor, that of the array of a Tensor; returns ndim. */
int ext_tensor_shape(int64_t out[DT_MAX_NDIM], TensorObject *tensor);
int64_t ext_tensor_count(TensorObject *tensor); /* of its elements */
int ext_tensor_require_grad(TensorObject *self, bool wanted);
/* The one element as a Python object: collective for a DTensor. */
PyObject *ext_tensor_item(TensorObject *tensor);

/* --- tensor_copy.c --- */

/* The ndarray that NumPy sees: a view of a Tensor's, a read-only one of a replicated
 * DTensor's; RuntimeError where there is none, or under requires_grad without `force`.
 * New reference. */
PyObject *ext_tensor_numpy(TensorObject *tensor, bool force);
/* Copies elements into an array of equal shape and dtype; a large one without the GIL.
 */
void ext_copy_into(PyObject *target, PyArrayObject *source);
PyObject *ext_array_copy(PyArrayObject *array); /* in C order */
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

/* --- dtensor.c, gather.c, from_local.c --- */

extern PyGetSetDef ext_dtensor_attributes[];
extern PyMethodDef ext_dtensor_methods[];
/* A new object of a subtype of DTensor if the array fits this rank's part, else an
 * exception; steals `array`. */
PyObject *ext_dtensor_checked(PyTypeObject *type, PyObject *array,
                              LayoutObject *layout);
/* A new DTensor; steals `array` (NULL: an exception is set) and `layout`. */
PyObject *ext_dtensor_new(PyObject *array, const dt_layout *layout, MeshObject *mesh,
                          bool requires_grad);
PyObject *ext_dtensor_repr(PyObject *self);
/* All of a DTensor, on every rank, or on the one at place `root` of the mesh: a new
 * reference to an ndarray, None where it does not go. Collective. */
PyObject *ext_dtensor_gather(DTensorObject *self, int64_t root, const char *what);

PyObject *ext_dtensor_full(PyObject *self, PyObject *const *args, Py_ssize_t nargs,
                           PyObject *kwnames);
PyObject *ext_dtensor_rebalance(PyObject *self, PyObject *ignored);
PyObject *ext_from_local(PyObject *ignored, PyObject *const *args, Py_ssize_t nargs,
                         PyObject *kwnames);
extern const char ext_dtensor_full_doc[], ext_dtensor_rebalance_doc[],
    ext_from_local_doc[];

/* --- call.c: what ranks compare before data moves --- */

/* A call of `function`; what follows is added to its text, and where it says so to the
 * hash of what must be equal on all ranks. */
void ext_call_begin(dt_call *call, const char *function);
void ext_call_put(dt_call *call, const char *text);
void ext_call_text(dt_call *call, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
void ext_call_hash(dt_call *call, const void *data, size_t bytes);
void ext_call_shape(dt_call *call, int ndim, const int64_t *shape); /* text */
void ext_call_placements(dt_call *call, const dt_mesh *mesh,
                         const dt_placement *placements);     /* text and hash */
void ext_call_mesh(dt_call *call, const dt_mesh *mesh);       /* hash */
void ext_call_layout(dt_call *call, const dt_layout *layout); /* hash */
/* "redistribute([S(0)] -> [S(1)], shape (8, 6), float32)": text and hash. */
void ext_call_move(dt_call *call, const dt_layout *from, const dt_layout *to);

/* The whole call of a plan that `what`, a constant, runs: kept for the next time. */
void ext_call_plan(dt_call *call, const dt_plan *plan, const char *what);

/* As ext_agree, but gives the error back instead of raising it. */
dt_status ext_call_agree(dt_group *group, const dt_call *call, bool force,
                         dt_error *err);
/* Turns the exception that is set into one on all ranks of a mesh, or of two, which are
 * in a call of `what`: a rank that leaves alone would be waited for. Returns NULL with
 * an exception set. */
PyObject *ext_fail_together(const dt_mesh *a, const dt_mesh *b, const char *what);

/* Agrees on a call, also where calls are not compared as a rule, and tells whether all
 * ranks have the same `detail`. -1 with the exception that all ranks get. */
int ext_call_compare(bool *equal, dt_group *group, const dt_call *call,
                     uint64_t detail);

/* What a rank knows of an array that it passes to a collective call. */
typedef struct {
    enum { META_NONE, META_GIVEN, META_WITHOUT_DATA } given;
    int32_t ndim;
    int32_t dtype;
    int32_t requires_grad;
    int64_t shape[DT_MAX_NDIM]; /* 0 beyond ndim */
} ext_meta;

/* Text of an array: "(8, 6) float32", or "None". */
void ext_meta_print(char *out, size_t size, const ext_meta *meta);
void ext_call_meta(dt_call *call, const ext_meta *meta);
int ext_meta_of(ext_meta *out, PyObject *array, bool requires_grad, const char *what);
/* Everybody's, by place in the mesh, to be freed by PyMem_RawFree. Collective over the
 * mesh, whose group is given. */
ext_meta *ext_meta_share(dt_group *group, const dt_mesh *mesh, const ext_meta *mine,
                         const char *what);

/* --- survey.c, replicas.c: for from_local --- */

/* The layout of the parts that the ranks of a mesh hold, to be freed, with cut points
 * where they are not chunks. `shape`: what they must make up, or NULL. DT_VALUE. */
dt_status ext_layout_of_parts(dt_layout **out, const dt_mesh *mesh,
                              const dt_placement *placements, const ext_meta *metas,
                              const int64_t *shape, bool compare_grad, dt_error *err);
/* Replaces the array by a copy of what the first rank along every Replicate mesh
 * dimension has, on all others. Collective over those ranks. */
int ext_first_replica(PyObject **array, const ext_meta *meta, const dt_mesh *mesh,
                      const dt_placement *placements, const int64_t *coordinate);

/* --- move.c --- */

/* Makes a layout and enters it into the context; raises. */
const dt_layout *ext_layout_make(const dt_mesh *mesh, const dt_placement *placements,
                                 int ndim, const int64_t *shape, dt_dtype dtype);
const dt_layout *ext_layout_enter(dt_layout *layout);
/* A whole array on one rank of the world of `mesh`. */
const dt_layout *ext_layout_at(const dt_mesh *mesh, int64_t rank, int ndim,
                               const int64_t *shape, dt_dtype dtype);

/* What a rank outside the mesh takes for the layout: of this shape if ndim >= 0 and the
 * placements fit it, else of no elements. */
const dt_layout *ext_layout_outside(const dt_mesh *mesh, const dt_placement *placements,
                                    int ndim, const int64_t *shape, dt_dtype dtype);

/* One array on its way. */
typedef struct {
    PyObject *array;            /* this rank's part of `from`, borrowed; NULL: none */
    const dt_layout *from, *to; /* borrowed */
    PyObject *result;           /* its part of `to`: a new reference, the same array
                                   where nothing moves, an empty one outside */
} ext_item;

/* Moves items that go together; all of one pair of meshes. `what`, a constant, names
 * the user's function. `local`: what has gone wrong on this rank alone before, or NULL;
 * all ranks that need this one fail with it. With `pending` the moves may still be
 * under way at return: *pending is then an object for ext_pending_wait, else NULL. */
int ext_move_items(ext_item *items, int count, const char *what, int64_t max_bytes,
                   const dt_error *local, PyObject **pending);
/* The same for an operator's operands; ranks whose `detail` differs are in different
 * calls. */
int ext_move_operands(ext_item *items, int count, const char *what, uint64_t detail);
/* Moves one item by a plan that sends nothing, without a word to other ranks. */
int ext_move_here(ext_item *item, const dt_plan *plan, const char *what);
/* A new array for this rank's part of a layout. */
PyObject *ext_part(const dt_layout *layout, int64_t rank);

/* --- pending.c: a run and what it needs until it has ended --- */

/* Takes over the run and the reference to every plan, unless it fails; refers to the
 * arrays. */
PyObject *ext_pending(dt_run *run, dt_world *world, const dt_plan *const *plans,
                      int count, const ext_item *items);
int ext_pending_start(PyObject *pending);
/* Waits, and raises what went wrong, each time. */
int ext_pending_wait(PyObject *pending);
bool ext_pending_done(PyObject *pending);
/* Frees what has ended unseen. */
void ext_pending_sweep(dt_world *world);

/* --- without_data.c --- */

extern const char ext_no_data[];

/* A read-only array of no memory, for a tensor without data. */
PyObject *ext_array_without_data(int ndim, const int64_t *shape, dt_dtype dtype);
/* Of the shape of one that has none either, in another dtype. */
PyObject *ext_cast_without_data(PyArrayObject *array, dt_dtype dtype);
/* One that shows the memory of the array `of`, which has no data either. */
PyObject *ext_view_without_data(PyObject *of, int ndim, const int64_t *shape,
                                dt_dtype dtype);
PyObject *ext_part_without_data(const dt_layout *layout, int64_t rank);
static inline bool
ext_has_data(PyArrayObject *array)
{
    return PyArray_BYTES(array) != ext_no_data;
}
int ext_refuse_without_data(PyArrayObject *array); /* NotImplementedError */
extern PyMethodDef ext_without_data_methods[];

/* --- simulate.c: a rank without the others (transport.h, `alone`) --- */

/* Whether a mesh is one of a rank that is simulated; false for an abstract mesh. */
bool ext_is_simulated(const dt_mesh *mesh);
/* Counts moves that go together; results have no data. */
int ext_simulate_moves(ext_item *items, int count, dt_world *world, int64_t max_bytes);
/* What counts the bytes of a tensor without data until it is freed, to be the base of
 * its array: a new reference, NULL with or without an exception. */
PyObject *ext_simulated_memory(int ndim, const int64_t *shape, dt_dtype dtype);

/* --- create.c --- */

extern dt_dtype ext_default_dtype;

/* --- distribute.c, callback.c: rows of the table in create.c --- */

PyObject *ext_distribute_tensor(PyObject *module, PyObject *const *args,
                                Py_ssize_t nargs, PyObject *kwnames);
PyObject *ext_from_callback(PyObject *module, PyObject *const *args, Py_ssize_t nargs,
                            PyObject *kwnames);
extern const char ext_distribute_tensor_doc[], ext_from_callback_doc[];
/* RuntimeError for a Partial, which no data can be cut into. */
int ext_refuse_partial(const dt_mesh *mesh, const dt_placement *placements);

/* --- redistribute.c, target.c --- */

PyObject *ext_dtensor_redistribute(PyObject *self, PyObject *const *args,
                                   Py_ssize_t nargs, PyObject *kwnames);
extern const char ext_dtensor_redistribute_doc[];

/* Moves a DTensor to a layout, also to new Partial placements; recorded. */
PyObject *ext_redistribute_to(PyObject *tensor, LayoutObject *to, const char *what);

/* The target of a redistribute: a layout like `from` with another mesh, placements (or
 * a whole Layout) and dtype. `any` allows new Partial placements. */
LayoutObject *ext_target(const dt_layout *from, MeshObject *from_mesh, PyObject *mesh,
                         PyObject *placements, bool any, const char *what);

#endif
