/* The way by messages: what every transport can.
 *
 * Each round of the step is a queue of messages to each peer and one from each, cut
 * alike on both sides (cursor.c) and moved by the mover, which sends what lies in one
 * stretch of memory as it is and packs the rest in slices that stay in the cache. A long
 * all_reduce is a reduce_scatter of flat chunks and an all_gather of them: each rank
 * sends 2 (n - 1) / n of the array, which is the least for sums by messages (Patarasuk
 * and Yuan, J. Parallel Distrib. Comput. 69, 2009), in one round of n - 1 messages each
 * instead of a ring's n - 1 rounds. Addends are combined by one tree (kernels/reduce.h),
 * so all get the same bits. Costs: a latency for each peer, bytes over bandwidth, and a
 * copy on each side of what is not contiguous there. */
#include "comm/way/mover.h"
#include "comm/way/way.h"

#include <stdlib.h>

typedef struct {
    dt_mover mover;
    int at; /* the round that moves */
    uint64_t number;
} messages;

static bool
messages_fits(const char **why, const dt_world *world, const dt_step *step)
{
    *why = world == NULL ? "the ranks are not known" : "the ranks share no memory";
    return step->kind != DT_STEP_LOCAL;
}

static dt_status
messages_prepare(dt_leg *leg, int64_t scratch, dt_error *err)
{
    /* The source of a scatter may have any strides and be larger than memory: slices. */
    bool scatters = leg->steps[0]->kind == DT_STEP_SCATTER;
    DT_TRY(dt_rounds_make(leg->rounds, &leg->round_count, leg->steps, leg->count,
                          scatters ? DT_IN_SLICES : DT_IN_WHOLE, leg->group, scratch,
                          err));
    messages *m = leg->state = calloc(1, sizeof *m);
    if (m == NULL)
        return dt_round_no_memory(err);
    DT_TRY(dt_mover_prepare(&m->mover, leg->group, leg->rounds, leg->round_count, err));
    leg->room = m->mover.room;
    for (int k = 0; k < leg->round_count; k++)
        leg->messages += leg->rounds[k].send_count;
    return DT_OK;
}

static void
messages_release(dt_leg *leg)
{
    messages *m = leg->state;
    if (m != NULL)
        dt_mover_free(&m->mover);
    free(m);
}

static dt_status
messages_begin(dt_leg *leg, uint64_t number, dt_error *err)
{
    messages *m = leg->state;
    m->at = 0;
    m->number = number;
    return dt_mover_begin(&m->mover, &leg->rounds[0], leg->buffers, number, err);
}

static dt_status
messages_advance(bool *done, dt_leg *leg, dt_error *err)
{
    messages *m = leg->state;
    for (;;) {
        bool ended = false;
        DT_TRY(dt_mover_advance(&ended, &m->mover, err));
        if (!ended)
            return DT_OK;
        if (++m->at == leg->round_count)
            break;
        DT_TRY(dt_mover_begin(&m->mover, &leg->rounds[m->at], leg->buffers, m->number,
                              err));
    }
    *done = true;
    return DT_OK;
}

static bool
messages_abandon(dt_leg *leg)
{
    messages *m = leg->state;
    return dt_mover_abandon(&m->mover);
}

const dt_way dt_way_messages = {
    .name = "messages",
    .fits = messages_fits,
    .prepare = messages_prepare,
    .release = messages_release,
    .begin = messages_begin,
    .advance = messages_advance,
    .abandon = messages_abandon,
    .traffic = dt_step_traffic,
};
