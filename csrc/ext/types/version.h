/* version.c: writes into memory that several tensors may share. Part of types.h. */
#ifndef DT_EXT_TYPES_VERSION_H
#define DT_EXT_TYPES_VERSION_H

/* What is recorded of writes into a tensor and the views of it. */
typedef struct tape_history {
    Py_ssize_t refs;   /* of a tensor that was detached: that and its views */
    uint64_t recorded; /* writes that became nodes */
    TensorObject
        *owners[2]; /* the Tensor, and the DTensor, that the views are of, while
                              * these live; borrowed */
} tape_history;

typedef struct tape_version {
    Py_ssize_t refs;
    uint64_t value;
    uint64_t writes; /* a hash of what has been written through DTensors; 0: nothing */
    tape_history history; /* of all that were not detached */
} tape_version;

/* That of a tensor, made if it has none; borrowed. NULL with an exception. */
tape_version *tape_version_of(TensorObject *tensor);
void tape_version_release(tape_version *version);
/* Notes that `tensor` shares the memory of `owner`, not what is recorded of it. */
int tape_share_version(TensorObject *tensor, TensorObject *owner);
/* Whether the array of a tensor is that of another one, or shows its memory. */
static inline bool
tape_shows(const TensorObject *tensor, const TensorObject *other)
{
    PyObject *base = PyArray_BASE((PyArrayObject *)tensor->array);
    return tensor->array == other->array ||
           (base != NULL && (base == other->array ||
                             base == PyArray_BASE((PyArrayObject *)other->array)));
}
/* Notes both, of a view: a recorded write into it is one into `owner`, and the other way.
 * The view keeps the owner, on every rank: what is recorded must not depend on what else
 * a rank keeps. */
int tape_share_view(TensorObject *view, TensorObject *owner);
/* A new object of a type of tensors that shares the memory of a tensor, and what was
 * recorded of it. */
PyObject *ext_alias(PyObject *tensor, PyTypeObject *type);
/* A tensor that has a version shares its memory no more: it is about to go. */
void tape_leave(TensorObject *tensor);
/* What views and their owners are told by: see `install_views`. */
void tape_install_views(PyObject *written, PyObject *seen);
/* After a recorded write into a view: its owner's node knows of it. */
int tape_tell_owner(TensorObject *view);
/* A write has happened, by a call of this lineage. A write into a Tensor leaves that of
 * DTensors on its memory alone: the other ranks may not have made it. */
int tape_written(TensorObject *tensor, uint64_t call);
/* The same, of one that is recorded: only the node of `tensor` knows of it. */
int tape_written_recorded(TensorObject *tensor, uint64_t call);
/* What has been written into a tensor is recorded now: only the node of `tensor` knows of
 * it. */
int tape_recorded(TensorObject *tensor);
/* The node of a tensor knows of all recorded writes so far. */
void tape_set_fresh(TensorObject *tensor);
/* The owner of a view, of its kind; NULL: it is none, or not known. Borrowed. */
TensorObject *tape_owner(const TensorObject *view);
/* Makes the node of a view that is not behind anew, of its owner's. */
int tape_see(TensorObject *view);
/* Whether a recorded write through another tensor of its history came after what made a
 * tensor. */
static inline bool
tape_is_behind(const TensorObject *tensor)
{
    return tensor->history != NULL && tensor->history->recorded != tensor->fresh;
}
/* Whether one that is behind, and is not recorded itself, is now made of what is. */
bool tape_follows(TensorObject *tensor);
/* Whether it is a view that is not recorded, and not behind, of a tensor that is. */
bool tape_is_unrecorded_view(TensorObject *tensor);
/* RuntimeError if a tensor is behind, unless it is made anew of the owner. */
int tape_check_fresh(TensorObject *tensor);

#endif
