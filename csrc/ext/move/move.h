/* The room ext/move: from layout to layout: the plan of a move, memory for its result,
 * the run, what is under way after it; and calls, on which ranks agree before that.
 *
 * May use: ext/base, ext/types, core, comm. Nothing here is recorded: tape/border.c is.
 * Begin with: move.c, which asks what kind of move it is; transfer.c moves data. */
#ifndef DT_EXT_MOVE_H
#define DT_EXT_MOVE_H

#include "comm/run/watch.h"
#include "ext/types/types.h"

/* --- call.c: what ranks compare before data moves --- */

/* A call of `function`; what follows is added to its text, and where it says so to the
 * hash of what must be equal on all ranks. */
void ext_call_begin(dt_call *call, const char *function);
void ext_call_put(dt_call *call, const char *text);
void ext_call_number(dt_call *call, int64_t number);
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

/* Agrees on a call over the ranks of a group, of which this is one. */
dt_status ext_call_agree(dt_group *group, const dt_call *call, bool force,
                         dt_error *err);
/* The same; nothing for a rank outside it. Raises. */
int ext_agree(dt_group *group, const dt_call *call, bool force);
/* Turns the exception that is set into one on all ranks of a mesh, or of two, which are
 * in a call of `what`: a rank that leaves alone would be waited for. Returns NULL with
 * an exception set. */
PyObject *ext_fail_together(const dt_mesh *a, const dt_mesh *b, const char *what);

/* After a kernel, or a function of the user's, that failed, maybe on this rank alone: the
 * next agreement on the mesh (NULL: of all ranks) finds out by the lineage of the call,
 * which is in the journal. The exception that is set stays. `text` names the call. */
void ext_note_failure(const dt_mesh *mesh, uint64_t lineage, const char *text);
/* The same of the exception that Python code handles; returns None. Nothing happens on a
 * mesh of one rank, or NULL. */
PyObject *ext_failed_handling(const dt_mesh *mesh, uint64_t lineage, PyObject *what);

/* --- local.c: calls without a DTensor, which send nothing --- */

uint32_t ext_local_name(const char *text); /* a hash */
/* Such a call of this thread has failed, with the exception that is set, which stays: the
 * ranks of all groups of this rank hear of it, if they have made such a call. */
void ext_local_failed(uint32_t name, const char *text);
/* The same of the exception that Python code handles; returns None. */
PyObject *ext_local_failed_handling(PyObject *what);
void ext_local_recovered(void); /* after that one ended well */

/* It ended well. */
static inline void
ext_local_done(uint32_t name)
{
    dt_trail *trail = ext_trace.trail;
    if (trail == NULL)
        return;
    dt_trail_add(trail, name);
    if (trail->failed)
        ext_local_recovered();
}

/* A move of this name that sends nothing ended well. */
void move_done(const char *what);

/* A call in which others are made, as a step of an optimizer: of some text, which lives as
 * long. At its end: not `well`, an exception is set, which is told, unless what raised it
 * has done so. */
typedef struct {
    dt_trail *trail;
    uint32_t name;
    const char *text;
} ext_local_call;

ext_local_call ext_local_begin(const char *text);
void ext_local_end(const ext_local_call *call, bool well);

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

/* --- move.c --- */

enum { MOVE_FEW = 2 }; /* arrays: so many move without memory for lists of them */

/* One array on its way. */
typedef struct {
    PyObject *array;            /* this rank's part of `from`, borrowed; NULL: none */
    const dt_layout *from, *to; /* borrowed */
    uint64_t lineage;           /* of the DTensor; 0: unknown */
    PyObject *result;           /* its part of `to`: a new reference, the same array
                                   where nothing moves, an empty one outside */
} ext_item;

/* Moves one array: its part of `to`, as in ext_item. NULL with an exception. */
PyObject *ext_move_one(PyObject *array, const dt_layout *from, const dt_layout *to,
                       const char *what, uint64_t lineage);
/* Moves items that go together; all of one pair of meshes. `what`, a constant, names
 * the user's function. `local`: what has gone wrong on this rank alone before, or NULL;
 * all ranks that need this one fail with it. With `pending` the moves may still be
 * under way at return: *pending is then an object for ext_pending_wait, else NULL. */
int ext_move_items(ext_item *items, int count, const char *what, int64_t max_bytes,
                   const dt_error *local, PyObject **pending);
/* The same for the operands of a call of an operator, whose `detail` (a hash of its
 * constants) and lineage are compared. */
int ext_move_operands(ext_item *items, int count, const char *what, uint64_t detail,
                      uint64_t lineage);
/* Moves one item by a plan that sends nothing, without a word to other ranks. */
int ext_move_here(ext_item *item, const dt_plan *plan, const char *what);

/* --- compare.c: DTENSOR_CHECK=2 --- */

int ext_hash_elements(uint64_t *hash, PyObject *array); /* in C order */

/* Whether the ranks of a group have arrays of the same elements. Collective. */
int ext_compare_arrays(bool *equal, PyObject *array, dt_group *group, const char *what);

/* Raises on all ranks of the group, that of the layouts' mesh, if some of them hold the
 * same part of an array with other elements. Not in a block of dtensor.differs. */
int ext_compare_replicas(const dt_layout *const *layouts, PyObject *const *arrays,
                         int count, dt_group *group, const char *what);

/* --- transfer.c: items that have data --- */

typedef struct {
    const char *what;
    int64_t max_bytes;
    uint64_t detail, lineage; /* 0: that of the items */
    const dt_error *local;    /* these as ext_move_items has them */
    PyObject *teller;         /* who is told what the run has done, or NULL */
} transfer_options;

int move_transfer(ext_item *items, int count, dt_world *world,
                  const transfer_options *o, PyObject **pending);
/* Runs it to its end. Where messages of a failed run may still touch the arrays, these
 * are leaked. `brief`: other Python threads need not run meanwhile. */
int move_finish(const ext_item *items, int count, dt_run *run, dt_world *world,
                bool brief, PyObject *teller);
/* Into item->result, at once, by a plan that sends nothing. */
int move_locally(const ext_item *item, const dt_plan *plan, int64_t rank);

/* --- again.c: one array moves as one did before --- */

/* 1: it has moved; 0: it is to be moved by move_transfer; -1 with an exception. */
int move_again(ext_item *item, const char *what);

/* --- again.c, call.c, target.c: what is kept of moves is forgotten --- */

void move_forget_routes(void);
void move_forget_texts(void);
void move_forget_targets(void);

/* --- simulate.c --- */

/* Counts moves that go together; results have no data. */
int ext_simulate_moves(ext_item *items, int count, dt_world *world, int64_t max_bytes,
                       PyObject *teller);

/* --- pending.c: a run and what it needs until it has ended --- */

/* Takes over the run and the reference to every plan, unless it fails; refers to the
 * arrays, and to who is told or NULL. */
PyObject *ext_pending(dt_run *run, dt_world *world, const dt_plan *const *plans,
                      int count, const ext_item *items, PyObject *teller);
/* Starts it: its first messages are sent. */
int ext_pending_start(PyObject *pending);
/* Those that nobody has waited for to the end; NULL: none. Whoever computes for long
 * calls the function before that: messages go on meanwhile. */
extern struct pending_object *ext_under_way;
void ext_pending_advance(void);
/* Waits, and raises what went wrong, each time. */
int ext_pending_wait(PyObject *pending);
bool ext_pending_done(PyObject *pending);
/* Frees what has ended unseen. */
void ext_pending_sweep(dt_world *world);
/* The ndarray of a Tensor or DTensor (borrowed), after waiting for a pending move. */
PyArrayObject *ext_local(PyObject *tensor);
/* The same for somebody who does not look at elements: those that have been put off are
 * not computed. */
PyArrayObject *ext_local_unread(PyObject *tensor);

/* --- watch.c: a Python function that is told of moves while they run --- */

/* One for the process, for dtensor.debug. Without it a move takes one look at this. */
extern PyObject *watch_on_move; /* or NULL */

/* Before a move of items: who is told of its collectives, a new reference, or NULL. */
PyObject *watch_move(const ext_item *items, int count, const char *what);
/* Tells of the collectives of a run that has ended. Leaves exceptions as they are. */
void watch_tell(PyObject *teller, const dt_run *run, const dt_world *world);
/* The same of collectives that were counted and not run: nobody is sent to. */
void watch_tell_counted(PyObject *teller, const dt_event *events, int count);

/* --- target.c --- */

/* The target of a redistribute: a layout like `from` with another mesh, placements (or
 * a whole Layout) and dtype. `any` allows new Partial placements. */
LayoutObject *ext_target(const dt_layout *from, MeshObject *from_mesh, PyObject *mesh,
                         PyObject *placements, bool any, const char *what);

/* --- tensors.c, gather.c: not recorded --- */

/* The arguments of redistribute, borrowed. */
typedef struct {
    const char *what;
    PyObject *mesh, *placements, *forward_dtype, *backward_dtype;
    int64_t max_bytes;
    bool async, any;
    bool each; /* `placements` is a list with an entry for each tensor */
} ext_move_options;

/* Moves DTensors together; *out gets as many new ones, or NULL on failure. Errors of
 * arguments, which may be this rank's alone, are told to the other ranks. */
int ext_move_tensors(PyObject **out, PyObject *const *tensors, int count,
                     const ext_move_options *o);
/* All of a DTensor, on every rank, or on the one at place `root` of the mesh: a new
 * reference to an ndarray, None where it does not go. Collective. */
PyObject *ext_dtensor_gather(DTensorObject *self, int64_t root, const char *what);
/* A new DTensor of the same placements, cut as torch.chunk does. Collective. */
PyObject *ext_dtensor_chunked(DTensorObject *self);

#endif
