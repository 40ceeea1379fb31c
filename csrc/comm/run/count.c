#include "comm/run/count.h"

#include "comm/way/way.h"

#include <string.h>

/* Adds what a step of one array sends to that of the leg that it is a part of: one
 * message for each peer has the parts of all arrays. */
static void
add_traffic(dt_traffic *sum, const dt_world *world, const dt_step *step, bool first)
{
    dt_traffic t;
    const char *why;
    dt_way_of(&why, world, step, first)->traffic(&t, step, world->transport->rank);
    sum->bytes_sent += t.bytes_sent;
    sum->bytes_received += t.bytes_received;
    sum->bytes_copied += t.bytes_copied;
    sum->messages = t.messages > sum->messages ? t.messages : sum->messages;
    sum->waits = t.waits > sum->waits ? t.waits : sum->waits;
}

static double
count_leg(dt_world *world, const dt_step *step, const dt_traffic *sum)
{
    dt_counter *counter = &world->counters[step->kind];
    dt_link link = dt_step_link(step, &world->cost);
    double seconds = dt_traffic_seconds(sum, &world->cost, link);
    counter->seconds += seconds;
    if (step->kind != DT_STEP_LOCAL) {
        counter->calls++;
        counter->bytes += sum->bytes_sent;
        counter->messages += sum->messages;
    }
    return seconds;
}

/* The step of a plan that is next, past those that send nothing; NULL at the end. */
static const dt_step *
next_step(dt_world *world, const dt_plan *plan, int *done)
{
    for (; *done < plan->step_count; ++*done) {
        const dt_step *step = &plan->steps[*done];
        if (step->kind != DT_STEP_LOCAL)
            return step;
        dt_traffic own = {0};
        add_traffic(&own, world, step, false);
        count_leg(world, step, &own);
    }
    return NULL;
}

/* Two arrays in turn, each as large as its largest use: as prepare.c takes them. */
static int64_t
bytes_between(const dt_plan *plan, int64_t rank)
{
    int64_t most[2] = {0, 0};
    for (int k = 0; k + 1 < plan->step_count; k++) {
        int64_t bytes = dt_layout_bytes_at(plan->steps[k].to, rank);
        most[k % 2] = bytes > most[k % 2] ? bytes : most[k % 2];
    }
    return most[0] + most[1];
}

int64_t
dt_count_moves(dt_world *world, const dt_plan *const *plans, int count, int *done,
               dt_event *events, int *event_count)
{
    double now = events == NULL ? 0 : dt_now();
    int64_t rank = world->transport->rank, between = 0;
    memset(done, 0, sizeof *done * (size_t)count);
    *event_count = 0;
    for (int k = 0; k < count; k++)
        between += bytes_between(plans[k], rank);
    for (;;) {
        const dt_step *first = NULL;
        dt_traffic sum = {0};
        for (int k = 0; k < count; k++) {
            const dt_step *step = next_step(world, plans[k], &done[k]);
            if (step == NULL || (first != NULL && !dt_way_together(world, first, step)))
                continue;
            first = first == NULL ? step : first;
            bool alone = count == 1 && dt_way_first(plans[k], done[k]);
            add_traffic(&sum, world, step, alone);
            done[k]++;
        }
        if (first == NULL)
            return between;
        double seconds = count_leg(world, first, &sum);
        if (events == NULL)
            continue;
        events[(*event_count)++] = (dt_event){.kind = first->kind,
                                              .begin = now,
                                              .end = now + seconds,
                                              .bytes = sum.bytes_sent,
                                              .messages = sum.messages};
        now += seconds;
    }
}
