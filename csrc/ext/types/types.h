/* The room ext/types: Placement, Mesh, Layout, World, Tensor and DTensor as objects:
 * how they are made and die, and the arrays that go into them.
 *
 * May use: ext/base, core, comm. Nothing here moves data or calls an operator.
 * Begin with: tensor.c, then layout.c. */

/* Methods of Tensor, DTensor and World, which do move data and call operators, are
 * filled in by ext/face. */
#ifndef DT_EXT_TYPES_H
#define DT_EXT_TYPES_H

#include "comm/run/execute.h"
#include "comm/talk/settle.h"
#include "comm/talk/trail.h"
#include "comm/talk/walk.h"
#include "core/facts/hash.h"
#include "core/memory/copy.h"
#include "ext/base/base.h"

#include <string.h>

/* --- placement.c: Placement, Shard, Replicate, Partial, _StridedShard --- */

typedef struct {
    PyObject_HEAD
    dt_placement placement; /* split 0: of a Python subclass that no layout knows */
} PlacementObject;

extern PyTypeObject ext_placement_type, ext_shard_type, ext_strided_type,
    ext_replicate_type, ext_partial_type;
PyObject *ext_placement(dt_placement placement); /* new reference; often a shared one */

extern PyMethodDef ext_shard_methods[]; /* chunk.c */

/* --- reduce_op.c --- */

int ext_add_reduce_ops(PyObject *module); /* the constant REDUCE_OPS */

/* placements.c: a sequence of Placement of length mesh->ndim (ValueError "`placements`
 * must have the same length as `device_mesh.ndim`!..."); None: all Replicate. */
int ext_placements(dt_placement out[DT_MESH_MAX_NDIM], const dt_mesh *mesh,
                   PyObject *object, const char *what);

/* --- mesh.c: Mesh, the base class of dtensor.DeviceMesh --- */

typedef struct {
    PyObject_HEAD
    const dt_mesh *mesh; /* retained */
    PyObject *dict, *weakrefs;
} MeshObject;

extern PyTypeObject ext_mesh_type;

/* What dt_mesh_make makes, entered into the context and retained; raises. */
const dt_mesh *ext_mesh_made(int ndim, const int64_t *shape, const int64_t *ranks,
                             const char *const *names, int world);
/* The mesh of a `device_mesh` argument, None: the current one. New reference. */
MeshObject *ext_argument_mesh(PyObject *object, const char *what);

/* --- layout.c: Layout, interned: equal layouts are one object --- */

typedef struct {
    PyObject_HEAD
    const dt_layout *layout; /* retained */
    MeshObject *mesh;
    PyObject *placements; /* tuple */
    PyObject *shape;      /* tuple */
    PyObject *weakrefs;
    PyObject
        *next; /* the Layout that a tensor of this one was moved to last, or NULL */
} LayoutObject;

extern PyTypeObject ext_layout_type;

static inline const dt_layout *
ext_layout_in(PyObject *layout)
{
    return ((LayoutObject *)layout)->layout;
}

/* The object of a layout, of which one reference is taken over (also on failure). NULL:
 * an exception is set. */
LayoutObject *ext_layout(const dt_layout *layout, MeshObject *mesh);

/* The same layout in another dtype, with other placements, or whole where it is Partial.
 */
LayoutObject *ext_layout_with_dtype(LayoutObject *layout, dt_dtype dtype);
LayoutObject *ext_layout_with(LayoutObject *layout, const dt_placement *placements);
LayoutObject *ext_layout_dual(LayoutObject *layout);

/* layout_attributes.c: parts of the type's tables */
extern PyMemberDef ext_layout_members[];
extern PyGetSetDef ext_layout_attributes[];
PyObject *ext_layout_local_shape(PyObject *self, PyObject *args, PyObject *kwargs);
PyObject *ext_layout_cut_by(PyObject *self, PyObject *dim);
PyObject *ext_layout_is_cut(PyObject *self, PyObject *dim);
PyObject *ext_layout_is_strided(PyObject *self, PyObject *dim);
PyObject *ext_layout_boxes(PyObject *self, PyObject *args, PyObject *kwargs);

/* --- layout_make.c --- */

/* Makes a layout and enters it into the context; raises. `placements` NULL: replicated.
 */
const dt_layout *ext_layout_make(const dt_mesh *mesh, const dt_placement *placements,
                                 int ndim, const int64_t *shape, dt_dtype dtype);
/* Enters into the context what a function of core has made, or raises its error. */
const dt_layout *ext_layout_made(dt_status status, dt_layout *layout,
                                 const dt_error *err);
/* A whole array on one rank of the world of `mesh`. */
const dt_layout *ext_layout_at(const dt_mesh *mesh, int64_t rank, int ndim,
                               const int64_t *shape, dt_dtype dtype);
/* That of the arguments of Layout(), and its mesh, borrowed. */
const dt_layout *ext_layout_read(MeshObject **out, PyObject *args, PyObject *kwargs);
/* What a rank outside the mesh takes for the layout: of this shape if ndim >= 0 and the
 * placements fit it, else of no elements. */
const dt_layout *ext_layout_outside(const dt_mesh *mesh, const dt_placement *placements,
                                    int ndim, const int64_t *shape, dt_dtype dtype);

/* --- world.c: World, the ranks that this thread is one of --- */

typedef struct {
    PyObject_HEAD
    dt_world *world; /* NULL before activate() of a thread's world, after close() */
    dt_transport *transport; /* until `world` owns it */
    int number;              /* dt_mesh.world of the meshes that live on it */
    int made;                /* which of World.threads it is of, from 1; 0: none */
    int rank, size;
    bool threads; /* ranks are threads of this process */
    bool shared_memory, closed;
    bool overlaps;                  /* what is sent is to go on while kernels run */
    dt_trail *trail;                /* freed with this; NULL: of one rank */
    bool busy;                      /* between ext_world_enter and ext_world_leave */
    bool stays;                     /* the same, and with the GIL: ext_world_stay */
    PyThreadState *state;           /* where it has let go of that after all */
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
/* The same of what is short unless other ranks are late: it lets go of the GIL only when it
 * has waited for some microseconds. Ranks that are threads need it before that. */
PyThreadState *ext_world_stay(dt_world *world);
void ext_world_leave(dt_world *world, PyThreadState *state);
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
/* Of the costs of this thread's world: a part of the key of a call. */
extern _Thread_local uint64_t ext_cost_hash __attribute__((tls_model("initial-exec")));
/* The costs that plans are chosen by: those of a world; without one (NULL) those of this
 * thread's, else DTENSOR_COSTS. NULL with an exception where that cannot be read. */
const dt_cost *ext_cost(const dt_world *world);

WorldObject *ext_world_object(dt_transport *transport, bool threads);
WorldObject *ext_world_current(void); /* this thread's own; borrowed, NULL: none */
/* The same unless it is closed, else the first world of the process, if that is open. */
WorldObject *ext_world_open(void);
int ext_world_set_current(WorldObject *self);
WorldObject *ext_world_find(int number); /* as ext_world does; borrowed, NULL: none */
int ext_world_enlist(WorldObject *self); /* for all threads, under its number */
int ext_world_check(WorldObject *self, const char *what); /* open and not busy */
void ext_world_begin(WorldObject *self, dt_world *world); /* which it then owns */

/* --- simulated.c: a rank without the others (transport.h, `alone`) --- */

void ext_simulated_begin(void); /* a world that is simulated was made */
/* Whether a mesh is one of a rank that is simulated; false for an abstract mesh. */
bool ext_is_simulated(const dt_mesh *mesh);
/* What counts the bytes of a tensor without data until it is freed, to be the base of
 * its array: a new reference, NULL with or without an exception. */
PyObject *ext_simulated_memory(int ndim, const int64_t *shape, dt_dtype dtype);
/* Notes that besides what lives so many bytes were needed for a moment. */
void ext_simulated_peak(WorldObject *self, int64_t besides);

/* --- without_data.c --- */

extern const char ext_no_data[];

/* A read-only array of no memory, for a tensor without data. */
PyObject *ext_array_without_data(int ndim, const int64_t *shape, dt_dtype dtype);
/* Of the shape of one that has none either, in another dtype. */
PyObject *ext_cast_without_data(PyArrayObject *array, dt_dtype dtype);
/* One that shows the memory of the array `of`, which has no data either. */
PyObject *ext_view_without_data(PyObject *of, int ndim, const int64_t *shape,
                                dt_dtype dtype);
static inline bool
ext_has_data(PyArrayObject *array)
{
    return PyArray_BYTES(array) != ext_no_data;
}
int ext_refuse_without_data(PyArrayObject *array); /* NotImplementedError */

/* --- part.c: a new array for the part of a layout that a rank has --- */

PyObject *ext_part(const dt_layout *layout, int64_t rank);
PyObject *ext_part_without_data(const dt_layout *layout, int64_t rank);

/* The boxes of a rank's part: one choice of a range along each dimension. */
typedef struct {
    int ndim;
    dt_range
        *ranges[DT_MAX_NDIM]; /* into one block of memory: ranges[0], to be freed */
    int64_t counts[DT_MAX_NDIM];
    int64_t choice[DT_MAX_NDIM];
    int64_t local[DT_MAX_NDIM]; /* where the chosen range starts in the local array */
    bool empty;
} ext_boxes;

int ext_boxes_make(ext_boxes *b, const dt_layout *layout, const int64_t *coordinate);
/* Goes to the next box, last dimension fastest; false after the last one. */
bool ext_boxes_next(ext_boxes *b);

/* --- tensor.c, dtensor.c --- */

typedef struct {
    PyObject_HEAD
    PyObject *array;              /* the ndarray */
    PyObject *grad;               /* or NULL */
    PyObject *node;               /* of the tape, or NULL; see ext/tape/tape.h */
    PyObject *hooks;              /* of a leaf: a list, or NULL */
    struct tape_version *version; /* or NULL: nobody has asked yet */
    struct tape_history *history; /* or NULL: it shares its memory with none */
    PyObject *base;               /* the tensor that this is a view of, or NULL */
    PyObject *weakrefs;
    PyObject *dict;
    int output; /* of the node */
    bool requires_grad;
    bool parameter;
    bool leaf_view; /* of a leaf that requires a gradient */
    bool apart;     /* it was detached, or is a view of such: its history is not that
                     * of its version */
    uint64_t fresh; /* recorded writes of its history that its node knows of */
} TensorObject;

typedef struct {
    TensorObject tensor;
    LayoutObject *layout;
    PyObject *pending; /* a move that is under way, or NULL: see ext_local */
    uint64_t lineage;  /* without the writes since it was made: see lineage.c */
} DTensorObject;

/* Our own types lie side by side: every operator asks of every operand what it is, and
 * two addresses tell. Those of PyTorch's dialect have other methods over the same
 * structs. */
enum { TYPE_TENSOR, TYPE_TORCH_TENSOR, TYPE_TORCH_DTENSOR, TYPE_DTENSOR, TYPE_COUNT_ };

extern PyTypeObject ext_types[TYPE_COUNT_];
#define ext_tensor_type ext_types[TYPE_TENSOR]
#define ext_torch_tensor_type ext_types[TYPE_TORCH_TENSOR]
#define ext_torch_dtensor_type ext_types[TYPE_TORCH_DTENSOR]
#define ext_dtensor_type ext_types[TYPE_DTENSOR]

/* A new object of a subtype of Tensor; steals `array`. */
TensorObject *ext_tensor_alloc(PyTypeObject *type, PyObject *array);
/* The same of a subtype of DTensor; `layout` is borrowed. */
DTensorObject *ext_dtensor_alloc(PyTypeObject *type, PyObject *array,
                                 LayoutObject *layout);
/* Steal `array`; `layout` is borrowed. */
PyObject *ext_tensor(PyObject *array);
PyObject *ext_dtensor(PyObject *array, LayoutObject *layout);
/* A Tensor, or a DTensor of the layout and the lineage, of another; steals `array`
 * (NULL: an exception is set). */
PyObject *ext_tensor_like(PyObject *array, PyObject *tensor);
/* A new DTensor; steals `array` (NULL: an exception is set) and `layout`. */
PyObject *ext_dtensor_new(PyObject *array, const dt_layout *layout, MeshObject *mesh,
                          bool requires_grad);
/* A new object of a subtype of DTensor if the array fits this rank's part, else an
 * exception; steals `array`. */
PyObject *ext_dtensor_checked(PyTypeObject *type, PyObject *array,
                              LayoutObject *layout);

/* Whether a type is one of ours from `first` to `last`. */
static inline bool
ext_type_within(const PyTypeObject *type, int first, int last)
{
    return (uintptr_t)type - (uintptr_t)&ext_types[first] <=
           (size_t)(last - first) * sizeof *type;
}

static inline bool
ext_is_tensor(PyObject *object)
{
    PyTypeObject *type = Py_TYPE(object);
    return ext_type_within(type, TYPE_TENSOR, TYPE_DTENSOR) ||
           PyType_IsSubtype(type, &ext_tensor_type);
}

static inline bool
ext_is_dtensor(PyObject *object)
{
    PyTypeObject *type = Py_TYPE(object);
    if (ext_type_within(type, TYPE_TENSOR, TYPE_DTENSOR))
        return ext_type_within(type, TYPE_TORCH_DTENSOR, TYPE_DTENSOR);
    return PyType_IsSubtype(type, &ext_dtensor_type);
}

#include "ext/types/dialect.h"

/* Global shape of a DTensor, that of the array of a Tensor; returns ndim. */
int ext_tensor_shape(int64_t out[DT_MAX_NDIM], TensorObject *tensor);
int64_t ext_tensor_count(TensorObject *tensor); /* of its elements */
/* NULL if two have one shape and dtype; else the "size" or the "type" differs. */
const char *ext_tensor_differs(TensorObject *a, TensorObject *b);

#include "ext/types/version.h"

/* --- lineage.c: 64 bits of how the elements of a DTensor came to be --- */

/* The same on all ranks of its mesh that have made the same calls. */
static inline uint64_t
ext_lineage(const DTensorObject *tensor)
{
    const tape_version *version = tensor->tensor.version;
    return version == NULL ? tensor->lineage : tensor->lineage + version->writes;
}

/* The composite that a thread is in: what its Python code makes of parts is made of that
 * call's operands. lineage 0: none. */
typedef struct {
    uint64_t lineage;
    uint64_t made;    /* tensors so far */
    const char *name; /* of the outermost one, which lives as long; NULL: none */
} ext_scope;

/* What a thread knows of the calls that it makes. */
typedef struct {
    struct ext_record *journal; /* NULL: nothing yet */
    uint32_t next;              /* record, modulo their number */
    bool differs; /* numbers and plain arrays may differ between ranks: left out */
    bool whole;   /* plain arrays of any size are part of lineages: DTENSOR_CHECK=2 */
    bool numpy; /* code of the library runs: x + y promotes as NumPy, in any dialect */
    bool
        looked; /* set by who looks at the elements of a tensor: ext/tape/trace.c asks */
    ext_scope scope;
    dt_trail *trail; /* of this thread's world; NULL: it has one rank */
} ext_tracing;

/* Read in every call: without the function that finds a thread's memory in general. */
extern _Thread_local ext_tracing ext_trace __attribute__((tls_model("initial-exec")));

/* Makes it that of a tensor, which may be NULL; returns the tensor. */
static inline PyObject *
ext_with_lineage(PyObject *tensor, uint64_t lineage)
{
    if (tensor != NULL) {
        DTensorObject *self = (DTensorObject *)tensor;
        const tape_version *version = self->tensor.version;
        self->lineage = version == NULL ? lineage : lineage - version->writes;
    }
    return tensor;
}
/* The lineage of an array that is new to a mesh and of which nothing else is known:
 * the count of such arrays on its ranks, which is *number. */
int ext_lineage_next(uint64_t *out, uint64_t *number, const dt_mesh *mesh,
                     const char *what);
/* Gives a new DTensor the next lineage of the scope; without one it has none. */
void ext_made_in_scope(PyObject *tensor);
/* Gives a new DTensor that lineage, or that of the scope; returns it. NULL: an exception
 * is set, and is left; where other ranks may have made theirs it counts as well. */
PyObject *ext_arrived(PyObject *tensor, const dt_mesh *mesh, const char *what);
/* Adds an object to a hash: numbers by type and bits, text by its letters, functions by
 * name and what they refer to, arrays of up to 64 bytes by their elements, DTensors by
 * lineage, sequences item by item, all else by type. Never raises. */
uint64_t ext_lineage_add(uint64_t hash, PyObject *object);

/* --- journal.c: the last calls of this thread's rank --- */

enum { EXT_JOURNAL = DT_JOURNAL, EXT_RECORDED = DT_OPERANDS_TOLD };

typedef struct ext_record {
    uint64_t lineage; /* of the result */
    uint64_t call;    /* of the operator and its constants */
    PyObject *text;   /* the call, for people, or that and numbers; of an arrival the
                         shape; NULL: no record */
    uint64_t operands[EXT_RECORDED]; /* lineages, numbers, hashes of other things */
    uint32_t kinds;                  /* of the operands: none of these, a DTensor */
    int count;                       /* of all operands */
    bool failed;                     /* on this rank */
} ext_record;

/* Operand k is no DTensor; and what it is if it is a number that fits into a word. */
#define EXT_PLAIN(k) (UINT32_C(1) << (k))
#define EXT_FLOAT(k) (UINT32_C(0x101) << (k))
#define EXT_INTEGER(k) (UINT32_C(0x10001) << (k))
/* The word of an integer is not that of a float: by exclusive or with this. */
#define EXT_INTEGERS UINT64_C(0x9e3779b97f4a7c15)

/* The first record; without memory for a journal, one that nobody finds. */
ext_record *ext_journal_begin(void);

/* The next record, which is none until it has a lineage; steals `text`. */
static inline ext_record *
ext_journal_add(PyObject *text)
{
    ext_tracing *trace = &ext_trace;
    ext_record *record = trace->journal != NULL
                             ? &trace->journal[trace->next++ % EXT_JOURNAL]
                             : ext_journal_begin();
    PyObject *before = record->text;
    record->text = text;
    record->lineage = 0; /* what is freed here may make calls of its own */
    record->kinds = 0;
    record->failed = false;
    Py_XDECREF(before);
    return record;
}

/* Shows a number with the text of a record. */
void ext_journal_number(ext_record *record, PyObject *number);
/* Makes an object operand k of a record; returns what it adds to the call's lineage. */
uint64_t ext_lineage_operand(ext_record *record, int k, PyObject *object);

/* A float among the operands: by its bits. */
static inline uint64_t
ext_float_bits(PyObject *number)
{
    double value = PyFloat_AS_DOUBLE(number);
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

/* A call that is no operator's: of up to two operands, of which the first may be
 * `plain`. Steals `text` (NULL: none); `number`, which it shows, may be NULL. */
void ext_journal_note(uint64_t lineage, PyObject *text, PyObject *number,
                      uint64_t operand, bool plain, uint64_t second);
/* An array that is new to a mesh: the number-th of its ranks. `what` is a literal. */
void ext_journal_arrival(uint64_t lineage, const char *what, uint64_t number,
                         LayoutObject *layout);
/* The text of the newest call of a lineage: borrowed, or NULL. */
PyObject *ext_journal_text(uint64_t lineage);
/* A write by that call into memory whose lineage was `before`, and is now `lineage`. */
void ext_journal_write(uint64_t lineage, uint64_t call, uint64_t before);

dt_made ext_made_here(uint64_t lineage);   /* dt_world.made */
dt_testify_here ext_testify_here;          /* dt_world.testify */
dt_place_here ext_place_here;              /* dt_world.place */
void ext_journal_failed(uint64_t lineage); /* that call has failed here */

/* --- array.c --- */

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
/* Copies elements into an array of equal shape and dtype; a large one without the GIL.
 */
void ext_copy_into(PyObject *target, PyArrayObject *source);
PyObject *ext_array_copy(PyArrayObject *array); /* in C order */

#endif
