#include "comm/talk/measure.h"
#include "comm/talk/agree.h"
#include "core/memory/copy.h"

#include <string.h>

/* Places in the group of all: whom a rank sends to, and whom it receives from. */
typedef struct {
    int to, from;
} neighbours;

/* Every rank sends to one and receives from one, some times. */
typedef struct {
    dt_task task;
    neighbours with;
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
    int phase = DT_PHASE_DATA + (int)(task->number & 7);
    for (; r->rounds > 0; r->rounds--) {
        bool over = false;
        if (!r->posted) {
            r->posted = true;
            DT_TRY(dt_post_send(&r->send, group, r->out, r->bytes, r->with.to, phase,
                                err));
            DT_TRY(dt_post_receive(&r->receive, group, r->in, r->bytes, r->with.from,
                                   phase, err));
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
time_ring(double *out, dt_group *group, neighbours with, char *scratch, size_t bytes,
          int batches, int rounds, dt_error *err)
{
    double best = 1e9;
    for (int batch = 0; batch < batches; batch++) {
        ring r = {
            .task = {.advance = ring_advance, .abandon = ring_abandon, .group = group},
            .out = scratch,
            .in = scratch + DT_MEASURE_BYTES,
            .with = with,
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
    dt_link link, nodes;
    double copy;
} measured;

static dt_status
measure_link(dt_link *out, dt_group *all, neighbours with, char *buffer, dt_error *err)
{
    double small, large;
    DT_TRY(time_ring(&small, all, with, buffer, 8, SMALL_BATCHES, SMALL_ROUNDS, err));
    DT_TRY(
        time_ring(&large, all, with, buffer, DT_MEASURE_BYTES, LARGE_BATCHES, 1, err));
    double transfer = large > 2 * small ? large - small : large / 2;
    *out = (dt_link){.latency = small, .bandwidth = DT_MEASURE_BYTES / transfer};
    return DT_OK;
}

/* The next of a ring of all ranks, or of those of a node: `node` of them, but for the
 * last one. */
static neighbours
next_in(const dt_group *all, int node)
{
    int first = all->index / node * node;
    int count = all->size - first < node ? all->size - first : node;
    int at = all->index - first;
    return (neighbours){.to = first + (at + 1) % count,
                        .from = first + (at + count - 1) % count};
}

static dt_status
measure(measured *out, dt_group *all, int64_t node_ranks, char *buffer, dt_error *err)
{
    dt_cost given = DT_COST_DEFAULT;
    int size = all->size;
    bool nodes = node_ranks != 0 && node_ranks < size;
    int node = nodes ? (int)node_ranks : size;
    *out = (measured){given.link, given.nodes, given.copy};
    if (node > 1)
        DT_TRY(measure_link(&out->link, all, next_in(all, node), buffer, err));
    neighbours far = {.to = (all->index + node) % size,
                      .from = (all->index + size - node) % size};
    if (nodes)
        DT_TRY(measure_link(&out->nodes, all, far, buffer, err));
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
    DT_TRY(measure(&most, all, world->cost.node, buffer, err));
    measured *every = (measured *)(void *)(buffer + 2 * DT_MEASURE_BYTES);
    DT_TRY(dt_share(every, all, &most, sizeof most, "measure()", err));
    for (int rank = 0; rank < all->size; rank++) {
        const measured *m = &every[rank];
        most.link = dt_link_dearer(most.link, m->link);
        most.nodes = dt_link_dearer(most.nodes, m->nodes);
        most.copy = m->copy < most.copy ? m->copy : most.copy;
    }
    *out = (dt_cost){.link = most.link,
                     .nodes = most.nodes,
                     .node = world->cost.node,
                     .copy = most.copy};
    return DT_OK;
}
