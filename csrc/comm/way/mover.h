/* mover.h: moves the messages of a round, without ever waiting. */
#ifndef DT_MOVER_H
#define DT_MOVER_H

#include "comm/way/round.h"

/* A queue of which messages are under way. */
typedef struct dt_channel dt_channel;

typedef struct {
    dt_group *group;
    const dt_round *round;
    int phase;
    /* DT_CHANNELS_AT_ONCE each, or one per peer where they are summed */
    dt_channel *sends, *receives;
    int send_room, receive_room;
    int send_active, receive_active;
    int64_t send_next, receive_next; /* queues not begun yet */
    dt_cursor own;
    int arrived;          /* addends of the oldest slice that are there */
    const void **addends; /* room for one pointer per rank */
    size_t buffer_bytes;  /* of a pack buffer */
    size_t room;          /* bytes of all of them */
    char *spare; /* three: the own addend, and a result that is not contiguous */
} dt_mover;

/* Makes room for any of `count` rounds. DT_MEMORY. */
dt_status dt_mover_prepare(dt_mover *mover, dt_group *group, const dt_round *rounds,
                           int count, dt_error *err);
void dt_mover_free(dt_mover *mover);

/* Starts a round of task `number`; `buffers` has mover->room bytes. */
dt_status dt_mover_begin(dt_mover *mover, const dt_round *round, char *buffers,
                         uint64_t number, dt_error *err);
dt_status dt_mover_advance(bool *done, dt_mover *mover, dt_error *err);

/* Gives up. False if messages may still touch the buffers and arrays. */
bool dt_mover_abandon(dt_mover *mover);

#endif
