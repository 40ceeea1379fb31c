#include "comm/talk/measure.h"
#include "comm/talk/agree.h"
#include "core/memory/copy.h"

#include <string.h>

/* Every rank sends to the next one and receives from the one before, some times. */
typedef struct {
    dt_task task;
    char *out, *in;
    size_t bytes;
    int rounds;
    bool posted;
    dt_request send, receive;
} ring;

enum { SMALL_BATCHES = 24, SMALL_ROUNDS = 4, LARGE_BATCHES = 6, COPIES = 6 };

static dt_status
ring_advance(bool *done, dt_task *task, dt_error *err)
{
    ring *r = (ring *)task;
    dt_group *group = task->group;
    int size = group->size, phase = DT_PHASE_DATA + (int)(task->number & 7);
    for (; r->rounds > 0; r->rounds--) {
        bool over = false;
        if (!r->posted) {
            r->posted = true;
            DT_TRY(dt_post_send(&r->send, group, r->out, r->bytes,
                                (group->index + 1) % size, phase, err));
            DT_TRY(dt_post_receive(&r->receive, group, r->in, r->bytes,
                                   (group->index + size - 1) % size, phase, err));
        }
        DT_TRY(dt_test(&over, group, &r->send, err));
        if (over)
            DT_TRY(dt_test(&over, group, &r->receive, err));
        if (!over)
            return DT_OK;
        r->posted = false;
    }
    *done = true;
    return DT_OK;
}

static void
ring_abandon(dt_task *task)
{
    ring *r = (ring *)task;
    dt_cancel(task->group, &r->send);
    dt_cancel(task->group, &r->receive);
}

/* Seconds of a round in the fastest of some batches: others run on the machine too. */
static dt_status
time_ring(double *out, dt_group *group, char *scratch, size_t bytes, int batches,
          int rounds, dt_error *err)
{
    double best = 1e9;
    for (int batch = 0; batch < batches; batch++) {
        ring r = {
            .task = {.advance = ring_advance, .abandon = ring_abandon, .group = group},
            .out = scratch,
            .in = scratch + DT_MEASURE_BYTES,
            .bytes = bytes,
            .rounds = rounds,
        };
        r.task.what = "measure()";
        double start = dt_now();
        DT_TRY(dt_start(&r.task, err));
        DT_TRY(dt_wait(&r.task, err));
        double seconds = (dt_now() - start) / rounds;
        best = seconds < best ? seconds : best;
    }
    *out = best;
    return DT_OK;
}

static double
time_copy(char *scratch)
{
    double best = 1e9;
    for (int copy = 0; copy < COPIES; copy++) {
        double start = dt_now();
        dt_copy_bytes(scratch + DT_MEASURE_BYTES, scratch, DT_MEASURE_BYTES);
        double seconds = dt_now() - start;
        best = seconds < best ? seconds : best;
    }
    return best;
}

/* What one rank has measured. */
typedef struct {
    double latency, bandwidth, copy;
} measured;

static dt_status
measure(measured *out, dt_group *all, char *buffer, dt_error *err)
{
    dt_cost given = DT_COST_DEFAULT;
    *out = (measured){given.link.latency, given.link.bandwidth, given.copy};
    if (all->size > 1) {
        double small, large;
        DT_TRY(time_ring(&small, all, buffer, 8, SMALL_BATCHES, SMALL_ROUNDS, err));
        DT_TRY(time_ring(&large, all, buffer, DT_MEASURE_BYTES, LARGE_BATCHES, 1, err));
        double transfer = large > 2 * small ? large - small : large / 2;
        out->latency = small;
        out->bandwidth = DT_MEASURE_BYTES / transfer;
    }
    out->copy = DT_MEASURE_BYTES / time_copy(buffer);
    return DT_OK;
}

size_t
dt_measure_scratch(int size)
{
    return 2 * DT_MEASURE_BYTES + (size_t)size * sizeof(measured);
}

dt_status
dt_measure(dt_cost *out, dt_world *world, void *scratch, dt_error *err)
{
    dt_group *all = world->all;
    char *buffer = scratch;
    measured most;
    memset(buffer, 0, 2 * DT_MEASURE_BYTES); /* pages that exist */
    DT_TRY(measure(&most, all, buffer, err));
    measured *every = (measured *)(void *)(buffer + 2 * DT_MEASURE_BYTES);
    DT_TRY(dt_share(every, all, &most, sizeof most, "measure()", err));
    for (int rank = 0; rank < all->size; rank++) {
        const measured *m = &every[rank];
        most.latency = m->latency > most.latency ? m->latency : most.latency;
        most.bandwidth = m->bandwidth < most.bandwidth ? m->bandwidth : most.bandwidth;
        most.copy = m->copy < most.copy ? m->copy : most.copy;
    }
    *out = (dt_cost)DT_COST_EVEN(most.latency, most.bandwidth, most.copy);
    return DT_OK;
}
