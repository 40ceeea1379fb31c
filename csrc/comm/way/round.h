/* The room comm/way: how one step of a plan moves data between ranks, or on one
 * of them.
 *
 * May use: core, kernels, comm/transport, comm/talk.
 * Begin with: this header, then cursor.c and mover.c. */

/* round.h: a step of a plan as messages, prepared so that only moving is left to do.
 * All of it is memory and arithmetic; execute.c does the moving. */
#ifndef DT_ROUND_H
#define DT_ROUND_H

#include "comm/talk/talk.h"
#include "core/layout/overlap.h"

/* One array in a round. */
typedef struct {
    int ndim;
    dt_dtype dtype;
    size_t itemsize;
    const char *src;
    const int64_t *src_stride; /* bytes */
    char *dst;
    const int64_t *dst_stride;
    dt_pieces sent, received; /* their `own` parts: what stays, on either side */
} dt_lane;

/* A piece of a lane. */
typedef struct {
    const dt_lane *lane;
    const dt_piece *piece;
} dt_part;

/* All that goes to, or comes from, one rank: parts one behind the other. */
typedef struct {
    int place;     /* in the group */
    int64_t order; /* of the addends, where they are summed */
    int count;
    const dt_part *parts;
    size_t capacity; /* bytes of a message at most */
} dt_stream;

typedef struct {
    dt_step_kind kind;
    bool counts; /* as one call of its kind */
    int lane_count;
    dt_lane *lanes;
    int64_t send_count, receive_count;
    dt_stream *sends, *receives; /* by distance: the pair at distance k is on both sides
                                    before all pairs further apart */
    dt_stream own_src, own_dst;  /* what stays, on either side */
    bool reduced;                /* what arrives is combined with what stays */
    dt_reduce_op op;
    int64_t divisor;
    int64_t order;  /* of the own addend */
    size_t slice;   /* bytes of a pack buffer */
    dt_bump memory; /* of what it is made of */
} dt_round;

/* Prepares a round of an exchange of boxes; lanes have their arrays and strides, `from`
 * and `to` are the steps' layouts lane by lane. DT_MEMORY. */
dt_status dt_round_exchange(dt_round *round, const dt_step *const *steps,
                            dt_group *group, int64_t scratch, dt_error *err);

/* Prepares the part of an all_reduce (or broadcast) that scatters (`gathering` false)
 * or gathers flat chunks of arrays in C order. DT_MEMORY. */
dt_status dt_round_flat(dt_round *round, const dt_step *const *steps, bool gathering,
                        dt_group *group, int64_t scratch, dt_error *err);

void dt_round_free(dt_round *round);

/* --- cutting a stream into messages --- */

/* A box of a part, for one side's local array. */
typedef struct {
    const dt_lane *lane;
    int64_t start[DT_MAX_NDIM], size[DT_MAX_NDIM];
    int64_t elements;
} dt_box;

/* How far a stream has been cut. */
typedef struct {
    const dt_stream *stream;
    int part;      /* stream->count at the end */
    int split;     /* dimension that is cut into slices, -1: the part goes whole */
    int64_t inner; /* elements of the dimensions behind it */
    int64_t at[DT_MAX_NDIM];  /* element within the run */
    int64_t run[DT_MAX_NDIM]; /* run within the list */
} dt_cursor;

void dt_cursor_begin(dt_cursor *cursor, const dt_stream *stream);
bool dt_cursor_ended(const dt_cursor *cursor);

/* Takes the next box that fits into a message which has `used` bytes of elements of
 * `itemsize` (0: it is empty). False if the message is full or the stream at its end.
 * Both sides of a stream get boxes of the same sizes. */
bool dt_cursor_next(dt_box *box, dt_cursor *cursor, size_t used, size_t itemsize);

/* True if a box lies in one run of memory on the given strides. */
bool dt_box_contiguous(const dt_box *box, const int64_t *stride);

/* Where a box begins. */
int64_t dt_box_offset(const dt_box *box, const int64_t *stride);

#endif
