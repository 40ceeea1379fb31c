/* ring.h: a task to test with. */
#ifndef DT_TEST_RING_H
#define DT_TEST_RING_H

#include "ranks.h"

/* A task of one message to the next rank of the group and one from the one before. */
typedef struct {
    dt_task task;
    int mine, got;
    bool posted;
    dt_request send, receive;
    int advances, abandons;
} ring;

static inline dt_status
ring_advance(bool *done, dt_task *task, dt_error *err)
{
    ring *r = (ring *)task;
    dt_group *group = task->group;
    int size = group->size, phase = DT_PHASE_DATA + (int)(task->number & 7);
    bool sent = false, received = false;
    r->advances++;
    if (!r->posted) {
        r->posted = true;
        DT_TRY(dt_post_send(&r->send, group, &r->mine, sizeof r->mine,
                            (group->index + 1) % size, phase, err));
        DT_TRY(dt_post_receive(&r->receive, group, &r->got, sizeof r->got,
                               (group->index + size - 1) % size, phase, err));
    }
    DT_TRY(dt_test(&sent, group, &r->send, err));
    DT_TRY(dt_test(&received, group, &r->receive, err));
    *done = sent && received;
    return DT_OK;
}

static inline void
ring_abandon(dt_task *task)
{
    ring *r = (ring *)task;
    r->abandons++;
    CHECK(dt_cancel(task->group, &r->send) && dt_cancel(task->group, &r->receive));
}

static inline ring
ring_of(dt_group *group, int value)
{
    ring r = {.mine = value, .got = -1};
    r.task.advance = ring_advance;
    r.task.abandon = ring_abandon;
    r.task.group = group;
    r.task.what = "ring(...)";
    return r;
}

#endif
