/* ext.h: the types of dtensor._C and what its files offer each other.
 *
 * The extension converts, owns references and calls core and comm; it decides nothing
 * about placements. Static types, one interpreter. Functions follow CPython's custom:
 * NULL or -1 with an exception set. module.c imports the NumPy C API. */
#ifndef DT_EXT_H
#define DT_EXT_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#define PY_ARRAY_UNIQUE_SYMBOL dtensor_numpy
#ifndef EXT_IMPORTS_NUMPY
#define NO_IMPORT_ARRAY
#endif
#include <numpy/arrayobject.h>

#include "comm/count.h"
#include "comm/execute.h"
#include "core/context.h"
#include "core/plan.h"

/* --- error.c: the one border between dt_status and exceptions --- */

/* Sets the exception of the table for err->status; always returns NULL.
 * DT_INTERRUPTED leaves the exception that is already set. An error that ext_catch made
 * in this thread is raised as the very object that was caught. */
PyObject *ext_raise(const dt_error *err);
/* Turns the exception that is set into a local error (status by its type) and clears
 * it, keeping the object for ext_raise to raise again on this rank. */
void ext_catch(dt_error *err);
extern PyObject *ext_mpi_error; /* dtensor.MPIError, a RuntimeError */

/* --- convert.c --- */

/* TypeError for a dtype that is no native-endian number or boolean. `what` names the
 * function for the message. */
int ext_dtype(dt_dtype *out, PyArray_Descr *descr, const char *what);
/* Whether an array's dtype is this one. */
bool ext_dtype_is(PyArray_Descr *descr, dt_dtype dtype);
/* Any dtype-like object (np.float32, "float32", a dtype; None gives `fallback`). */
int ext_dtype_like(dt_dtype *out, PyObject *object, dt_dtype fallback,
                   const char *what);
PyArray_Descr *ext_descr(dt_dtype dtype); /* new reference */
/* A sequence of integers or one integer; returns the count, -1 on error. */
int ext_shape(int64_t out[DT_MAX_NDIM], PyObject *object, const char *what);
/* A sequence of Placement of length mesh->ndim (ValueError "`placements` must have the
 * same length as `device_mesh.ndim`!..."); None: all Replicate. */
int ext_placements(dt_placement out[DT_MESH_MAX_NDIM], const dt_mesh *mesh,
                   PyObject *object, const char *what);
PyObject *ext_tuple(const int64_t *values, int count); /* of ints */
/* An attribute of a module, imported at first use and kept in *kept; borrowed. */
PyObject *ext_import(PyObject **kept, const char *module, const char *name);

/* --- memory.c --- */

/* A new C-ordered writable ndarray whose memory comes from core/memory.h. */
PyObject *ext_array(int ndim, const int64_t *shape, dt_dtype dtype);

/* --- placement.c: Placement, Shard, Replicate, Partial, _StridedShard --- */

typedef struct {
    PyObject_HEAD
    dt_placement placement; /* split 0: of a Python subclass that no layout knows */
} PlacementObject;

extern PyTypeObject ext_placement_type, ext_shard_type, ext_strided_type,
    ext_replicate_type, ext_partial_type;
PyObject *ext_placement(dt_placement placement); /* new reference; often a shared one */

/* --- mesh.c: Mesh, the base class of dtensor.DeviceMesh --- */

typedef struct {
    PyObject_HEAD
    const dt_mesh *mesh; /* retained */
    PyObject *dict, *weakrefs;
} MeshObject;

extern PyTypeObject ext_mesh_type;

/* --- layout.c: Layout, interned: equal layouts are one object --- */

typedef struct {
    PyObject_HEAD
    const dt_layout *layout; /* retained */
    MeshObject *mesh;
    PyObject *placements; /* tuple */
    PyObject *shape;      /* tuple */
    PyObject *weakrefs;
} LayoutObject;

extern PyTypeObject ext_layout_type;
/* The object of a layout, of which one reference is taken over (also on failure). */
LayoutObject *ext_layout(const dt_layout *layout, MeshObject *mesh);

/* layout_attributes.c: parts of the type's tables */
extern PyGetSetDef ext_layout_attributes[];
PyObject *ext_layout_local_shape(PyObject *self, PyObject *args, PyObject *kwargs);
PyObject *ext_layout_cut_by(PyObject *self, PyObject *dim);
PyObject *ext_layout_is_cut(PyObject *self, PyObject *dim);
PyObject *ext_layout_is_strided(PyObject *self, PyObject *dim);
PyObject *ext_layout_boxes(PyObject *self, PyObject *args, PyObject *kwargs);

/* layout_like.c: a layout for the type to enter; NULL with an exception */
dt_layout *ext_layout_with_placements(PyObject *self, PyObject *placements);
dt_layout *ext_layout_with_dtype(PyObject *self, PyObject *dtype);
dt_layout *ext_layout_like(PyObject *self, PyObject *args, PyObject *kwargs);
dt_layout *ext_layout_whole(PyObject *self, PyObject *dims);
dt_layout *ext_layout_settled(PyObject *self);

extern dt_context *ext_context; /* under the GIL */

/* --- world.c: World, the ranks that this thread is one of --- */

typedef struct {
    PyObject_HEAD
    dt_world *world; /* NULL before activate() of a thread's world, after close() */
    dt_transport *transport; /* until `world` owns it */
    int number;              /* dt_mesh.world of the meshes that live on it */
    int rank, size;
    bool threads; /* ranks are threads of this process */
    bool shared_memory, closed;
    bool busy;                      /* between ext_world_enter and ext_world_leave */
    int64_t live_bytes, peak_bytes; /* of tensors without data, where it is alone */
} WorldObject;

extern PyTypeObject ext_world_type;
/* The world of a mesh for this thread (borrowed): that of the mesh's number;
 * RuntimeError for a mesh without ranks, a closed world, or one that another thread is
 * inside of. `what` names the call. */
dt_world *ext_world(const dt_mesh *mesh, const char *what);
/* Around everything in comm that may wait: lets go of the GIL and takes it again. In
 * between every other call on this world, from whatever thread, gets an error. */
PyThreadState *ext_world_enter(dt_world *world);
void ext_world_leave(dt_world *world, PyThreadState *state);
/* Agrees on a call over the ranks of a group; nothing for a rank outside it. Raises. */
int ext_agree(dt_group *group, const dt_call *call, bool force);
/* Coordinate of this thread's rank in a mesh: 1, or 0 if it is outside, -1 on error. */
int ext_coordinate(int64_t out[DT_MESH_MAX_NDIM], const dt_mesh *mesh,
                   const char *what);
/* The group of a mesh, or of the union of two meshes (b may be NULL or a). */
dt_group *ext_group(const dt_mesh *a, const dt_mesh *b, const char *what);
/* Where in the group of a mesh (NULL: of all ranks), in which ranks ascend, the rank is
 * that is at a place of the mesh. */
size_t ext_group_place(const dt_group *group, const dt_mesh *mesh, int64_t place);

/* In a thread that is a rank of its own: that rank + 1; else 0. */
extern _Thread_local int ext_thread_rank;

/* What world_type.c needs. */
WorldObject *ext_world_current(void); /* this thread's own; borrowed, NULL: none */
int ext_world_set_current(WorldObject *self);
WorldObject *ext_world_find(int number); /* as ext_world does; borrowed, NULL: none */
int ext_world_enlist(WorldObject *self); /* for all threads, under its number */
int ext_world_check(WorldObject *self, const char *what); /* open and not busy */
void ext_world_begin(WorldObject *self, dt_world *world); /* which it then owns */
WorldObject *ext_world_object(dt_transport *transport, bool threads);
/* simulate.c */
PyObject *ext_world_simulated(PyObject *type, PyObject *args);
PyObject *ext_world_memory(PyObject *self, PyObject *args);
PyObject *ext_world_predicted(PyObject *self, PyObject *none);
extern const char ext_world_simulated_doc[], ext_world_memory_doc[],
    ext_world_predicted_doc[];
/* world_share.c */
PyObject *ext_world_agree(PyObject *self, PyObject *args, PyObject *kwargs);
PyObject *ext_world_share(PyObject *self, PyObject *args, PyObject *kwargs);
extern const char ext_world_agree_doc[], ext_world_share_doc[];

/* --- tensor.c, dtensor.c --- */

typedef struct {
    PyObject_HEAD
    PyObject *array;              /* the ndarray */
    PyObject *grad;               /* or NULL */
    PyObject *node;               /* of the tape, or NULL; see ext/tape.h */
    PyObject *hooks;              /* of a leaf: a list, or NULL */
    struct tape_version *version; /* or NULL: nobody has asked yet */
    PyObject *weakrefs;
    PyObject *dict;
    int output; /* of the node */
    bool requires_grad;
    bool parameter;
    bool leaf_view; /* of a leaf that requires a gradient */
    uint64_t fresh; /* recorded writes into its memory that its node knows of */
} TensorObject;

typedef struct {
    TensorObject tensor;
    LayoutObject *layout;
    PyObject *pending; /* a move that is under way, or NULL */
} DTensorObject;

extern PyTypeObject ext_tensor_type, ext_dtensor_type;

/* Steal `array`; `layout` is borrowed. */
PyObject *ext_tensor(PyObject *array);
PyObject *ext_dtensor(PyObject *array, LayoutObject *layout);
/* The ndarray of a Tensor or DTensor (borrowed), after waiting for a pending move. */
PyArrayObject *ext_local(PyObject *tensor);

/* --- redistribute.c --- */

/* Moves `array` from one layout to another (either mesh may lack this rank: array is
 * then ignored, the result is an empty array). New DTensor; *pending as async asks. */
PyObject *ext_move(PyObject *array, LayoutObject *from, LayoutObject *to,
                   const char *what, int64_t max_bytes, bool async);

/* --- methods of the module, one table per file --- */

extern PyMethodDef ext_create_methods[], ext_redistribute_methods[],
    ext_explain_methods[], ext_world_methods[], ext_memory_methods[],
    ext_random_methods[], ext_checkpoint_methods[];
int ext_add_types(PyObject *module); /* module.c: readies and adds all types above */

#endif
