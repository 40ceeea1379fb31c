/* round.h: what ranks exchange in a step of a plan, and how a queue of messages is cut.
 * All of it is memory and arithmetic; the ways (way.h) do the moving.
 *
 * A step is one round; an all_reduce or broadcast of much is two, whose flat chunks are
 * first scattered, then gathered from the result. */
#ifndef DT_ROUND_H
#define DT_ROUND_H

#include "comm/talk/talk.h"
#include "core/layout/overlap.h"
#include "kernels/reduce.h"

/* Where an array is and where it goes, on this rank; strides in bytes. */
typedef struct {
    const char *src; /* NULL: the rank has no part of it */
    const int64_t *src_stride;
    char *dst;
    const int64_t *dst_stride;
} dt_ends;

/* One array in a round. */
typedef struct dt_array {
    int ndim;
    dt_dtype dtype;
    size_t itemsize;
    struct dt_array *made; /* the result: itself, unless it has another dtype */
    dt_ends ends;
    dt_pieces sent, received; /* their `own` parts: what stays, on either side */
} dt_array;

/* A piece of an array. */
typedef struct {
    const dt_array *array;
    const dt_piece *piece;
} dt_part;

/* All that goes to, or comes from, one rank: parts one behind the other. */
typedef struct {
    int place;     /* in the group */
    int64_t order; /* of the addends, where they are summed */
    int count;
    const dt_part *parts;
    size_t capacity; /* bytes of a message at most */
    int64_t bytes;   /* of all parts */
} dt_queue;

typedef struct {
    dt_step_kind kind;
    bool flat;      /* of chunks of arrays in C order, taken as of one dimension */
    bool gathering; /* the second round of a step: from the result to itself */
    int array_count;
    dt_array *arrays;
    int64_t send_count, receive_count;
    dt_queue *sends, *receives; /* by distance: the pair at distance k is on both sides
                                   before all pairs further apart */
    dt_queue own;               /* what stays on the rank, as it would receive it */
    bool reduced;               /* what arrives is combined with what stays */
    dt_reduce_op op;
    int reduced_ndim; /* the addends lie on a grid: see dt_reduce */
    int64_t reduced_lengths[DT_MESH_MAX_NDIM];
    int64_t divisor;
    int64_t order;  /* of the own addend */
    size_t slice;   /* bytes of a message that must be packed, at most */
    dt_bump memory; /* of what it is made of */
} dt_round;

/* How it is moved: by messages, all of them slices; or, what is contiguous on both sides, in
 * C order, as one message, which nobody packs; or others read it. */
typedef enum { DT_IN_SLICES, DT_IN_WHOLE, DT_BY_READING } dt_manner;

/* Makes the round, or the two, of a step that some arrays do together. `rounds` are
 * zeroed. DT_MEMORY; *count says how many are to be freed also then. */
dt_status dt_rounds_make(dt_round *rounds, int *count, const dt_step *const *steps,
                         int arrays, dt_manner manner, dt_group *group, int64_t scratch,
                         dt_error *err);
void dt_round_free(dt_round *round);

/* Tells a round where its arrays are. */
void dt_round_place(dt_round *round, const dt_ends *ends);

/* Whether array `k` must lie in C order, if it has these strides, for the messages of
 * the round to be cut as the receivers cut them. */
bool dt_round_wants_order(const dt_round *round, int k, const int64_t *stride);

/* How rows of `count` addends of an array of a round are combined: one row of them, as
 * it is returned. */
dt_reduction dt_round_reduction(const dt_round *round, const dt_array *array,
                                int64_t count);

dt_status dt_round_no_memory(dt_error *err); /* DT_MEMORY: also of what uses rounds */

/* --- cutting a queue into messages --- */

/* A box of a part, for one side's local array. */
typedef struct {
    const dt_array *array;
    int64_t start[DT_MAX_NDIM], size[DT_MAX_NDIM];
    int64_t elements;
} dt_box;

/* How far a queue has been cut. */
typedef struct {
    const dt_queue *queue;
    int part;      /* queue->count at the end */
    int split;     /* dimension that is cut into slices, -1: the part goes whole */
    int64_t inner; /* elements of the dimensions behind it */
    int64_t at[DT_MAX_NDIM];      /* element within the segment */
    int64_t segment[DT_MAX_NDIM]; /* segment within the list */
} dt_cursor;

void dt_cursor_begin(dt_cursor *cursor, const dt_queue *queue);
bool dt_cursor_ended(const dt_cursor *cursor);

/* Takes the next box that fits into a message which has `used` bytes of elements of
 * `itemsize` (0: it is empty). False if the message is full or the queue at its end.
 * Both sides of a queue get boxes of the same sizes. `theirs`, which may be NULL, is
 * the same box in the other rank's local array. */
bool dt_cursor_next(dt_box *box, dt_box *theirs, dt_cursor *cursor, size_t used,
                    size_t itemsize);

/* Elements of a box that are contiguous on the given strides, those of its last
 * dimensions; and whether all of it is. */
int64_t dt_box_run(const dt_box *box, const int64_t *stride);
bool dt_box_contiguous(const dt_box *box, const int64_t *stride);

/* Where a box begins. */
int64_t dt_box_offset(const dt_box *box, const int64_t *stride);

/* Strides of a box by itself, in C order; and its bytes. */
void dt_box_strides(int64_t *out, const dt_box *box);
size_t dt_box_bytes(const dt_box *box);

#endif
