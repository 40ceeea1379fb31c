#include "comm/talk/agree.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

/* Bruck's all-gather: after round k everybody has the blocks of the 2^k places from its
 * own one on, and fetches as many again from the rank 2^k places further. They are kept
 * where they belong, so those that go round the end are two messages. */
typedef struct {
    dt_task task;
    char *all;
    size_t bytes; /* of a block */
    int have;     /* blocks, from one's own place on, going round */
    bool posted;
    int posted_count;
    dt_request requests[4];
} share;

/* Posts `count` blocks from place `first` on, going round the end. */
static dt_status
post_blocks(share *s, int first, int count, int place, bool send, dt_error *err)
{
    dt_group *group = s->task.group;
    int phase = DT_PHASE_SHARE + (int)(group->queue->first->number % 3);
    int straight = count < group->size - first ? count : group->size - first;
    for (int part = 0; part < 2; part++) {
        int blocks = part == 0 ? straight : count - straight;
        char *data = part == 0 ? s->all + s->bytes * (size_t)first : s->all;
        size_t bytes = s->bytes * (size_t)blocks;
        dt_request *request = &s->requests[s->posted_count];
        if (blocks == 0)
            continue;
        if (send)
            DT_TRY(dt_post_send(request, group, data, bytes, place, phase, err));
        else
            DT_TRY(dt_post_receive(request, group, data, bytes, place, phase, err));
        s->posted_count++;
    }
    return DT_OK;
}

static dt_status
share_advance(bool *done, dt_task *task, dt_error *err)
{
    share *s = (share *)task;
    const dt_group *group = task->group;
    int size = group->size, own = group->index;
    while (s->have < size) {
        int count = s->have < size - s->have ? s->have : size - s->have;
        int after = (own + s->have) % size, before = (own - s->have + size) % size;
        if (!s->posted) {
            s->posted_count = 0;
            s->posted = true;
            DT_TRY(post_blocks(s, own, count, before, true, err));
            DT_TRY(post_blocks(s, after, count, after, false, err));
        }
        for (int i = 0; i < s->posted_count; i++) {
            bool over = false;
            DT_TRY(dt_test(&over, task->group, &s->requests[i], err));
            if (!over)
                return DT_OK;
        }
        s->posted = false;
        s->have += count;
    }
    *done = true;
    return DT_OK;
}

static void
share_abandon(dt_task *task)
{
    share *s = (share *)task;
    for (int i = 0; i < 4; i++)
        if (!dt_cancel(task->group, &s->requests[i]))
            s->all = NULL; /* not ours any more */
}

dt_status
dt_share(void *all, dt_group *group, const void *mine, size_t bytes, const char *what,
         dt_error *err)
{
    size_t size = (size_t)group->size;
    if (bytes > INT_MAX / size)
        return dt_fail(err, DT_VALUE, "%s: %zu bytes of each of %d ranks are too many",
                       what, bytes, group->size);
    if (bytes == 0 || group->size == 1 || group->world->transport->alone) {
        for (size_t place = 0; bytes > 0 && place < size; place++)
            memcpy((char *)all + place * bytes, mine, bytes);
        return DT_OK;
    }
    /* Memory of our own, so that the caller's may be freed after a failure. Without any
     * it is the caller's: better than to fail on one rank alone. */
    char *hold = malloc(size * bytes);
    share s = {
        .task = {.advance = share_advance, .abandon = share_abandon, .group = group},
        .all = hold != NULL ? hold : all,
        .bytes = bytes,
        .have = 1,
    };
    s.task.what = what;
    memcpy(s.all + bytes * (size_t)group->index, mine, bytes);
    dt_status status = dt_start(&s.task, err);
    if (status == DT_OK)
        status = dt_wait(&s.task, err);
    if (status == DT_OK && hold != NULL)
        memcpy(all, hold, size * bytes);
    if (s.all != NULL)
        free(hold);
    return status;
}
