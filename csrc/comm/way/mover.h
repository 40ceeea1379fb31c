/* mover.h: moves the messages of a round, without ever waiting; and local steps. */
#ifndef DT_MOVER_H
#define DT_MOVER_H

#include "comm/way/round.h"

typedef struct dt_flow dt_flow;

typedef struct {
    dt_group *group;
    const dt_round *round;
    int phase;
    dt_flow *sends,
        *receives; /* DT_STREAMS_AT_ONCE each, or one per peer where they are summed */
    int send_room, receive_room;
    int send_active, receive_active;
    int64_t send_next, receive_next; /* streams not begun yet */
    dt_cursor own_src, own_dst;
    int arrived;          /* addends of the oldest slice that are there */
    const void **addends; /* room for one pointer per rank */
    char *memory;         /* pack buffers of all flows */
    char *spare; /* two of them: the own addend, and a result that is not contiguous */
    size_t buffer_bytes;
} dt_mover;

/* Makes room for any of `count` rounds, which lie `stride` bytes apart. DT_MEMORY. */
dt_status dt_mover_prepare(dt_mover *mover, dt_group *group, const dt_round *rounds,
                           size_t stride, int count, dt_error *err);
void dt_mover_free(dt_mover *mover);

/* Takes the pack buffers, and gives them back. DT_MEMORY. */
dt_status dt_mover_bind(dt_mover *mover, dt_error *err);
void dt_mover_unbind(dt_mover *mover);

/* Starts a round of task `number`. */
dt_status dt_mover_begin(dt_mover *mover, const dt_round *round, uint64_t number,
                         dt_error *err);
dt_status dt_mover_advance(bool *done, dt_mover *mover, dt_error *err);

/* Gives up. False if messages may still touch the memory of the mover and of lanes. */
bool dt_mover_abandon(dt_mover *mover);

/* A step in which every rank makes its new part of its old one. */
typedef struct {
    dt_lane lane;
    dt_pieces sent, received;
    int64_t elements; /* of the new part */
    bool keeps;       /* the own piece is copied */
    bool fills;       /* the rest holds the identity of: */
    dt_reduce_op identity;
} dt_local;

dt_status dt_local_prepare(dt_local *out, const dt_step *step, const dt_lane *lane,
                           int64_t rank, dt_error *err);
void dt_local_do(const dt_local *local);
void dt_local_free(dt_local *local);

#endif
