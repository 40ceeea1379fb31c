/* The way of few bytes between many ranks: log2 n rounds of one message each, as
 * core/plan/tree.h has them. A round sends some of the blocks (blocks.h) that are in the
 * buffers of the leg to one rank, and gets some from one. Nothing touches the arrays
 * between the first message and the last. Costs: a latency for each round, and a copy of
 * what goes and comes; blocks that are routed are copied in each round that carries them. */
#include "comm/way/blocks.h"

#include <stdlib.h>

static bool
tree_fits(const char **why, const dt_world *world, const dt_step *step)
{
    bool forced = world != NULL && world->way == &dt_way_tree;
    bool reading = dt_way_read.fits(why, world, step);
    if (!(forced    ? dt_tree_can(step)
          : reading ? dt_tree_beats_reading(step)
                    : dt_tree_pays(step)))
        return false;
    *why = "few bytes between many ranks";
    return true;
}

/* Blocks of several dtypes would not be aligned; and what is joined in place is one
 * array. */
static bool
tree_together(const dt_step *a, const dt_step *b)
{
    dt_tree tree = dt_tree_of(a);
    return tree == dt_tree_of(b) && tree != DT_TREE_JOIN &&
           a->to->dtype == b->to->dtype;
}

/* --- preparing --- */

static dt_status
find_places(dt_leg *leg, dt_error *err)
{
    dt_tree_leg *t = leg->state;
    const dt_group *group = leg->group;
    dt_hop next;
    for (int k = 0; k < group->size; k++)
        t->by_place[k] = -1;
    for (int64_t k = 0; k < t->members.count; k++) {
        t->places[k] = dt_group_place(group, dt_member_rank(&t->members, k));
        if (t->places[k] < 0)
            return dt_fail(err, DT_BUG, "a step has ranks that its group has not");
        t->by_place[t->places[k]] = (int)k;
    }
    for (; dt_members_hop(&next, &t->members, t->tree, t->hop_count); t->hop_count++)
        t->hops[t->hop_count] =
            (dt_tree_round){.to = next.to < 0 ? -1 : t->places[next.to],
                            .from = next.from < 0 ? -1 : t->places[next.from]};
    return DT_OK;
}

/* Whether all that the rounds exchange is between members. */
static dt_status
check_queues(const dt_leg *leg, dt_error *err)
{
    const dt_tree_leg *t = leg->state;
    bool well = true;
    for (int r = 0; r < leg->round_count; r++) {
        const dt_round *round = &leg->rounds[r];
        for (int64_t k = 0; k < round->send_count; k++)
            well = well && t->by_place[round->sends[k].place] >= 0;
        for (int64_t k = 0; k < round->receive_count; k++)
            well = well && t->by_place[round->receives[k].place] >= 0;
    }
    return well ? DT_OK : dt_fail(err, DT_BUG, "a step moves data between other ranks");
}

static void
list_sent(dt_leg *leg)
{
    const dt_tree_leg *t = leg->state;
    for (int k = 0; k < t->hop_count; k++)
        if (t->hops[k].out_bytes > 0)
            leg->sent[leg->sent_count++] =
                (dt_sent){t->hops[k].to, (int64_t)t->hops[k].out_bytes};
    leg->messages = leg->sent_count;
}

static dt_status
tree_prepare(dt_leg *leg, int64_t scratch, dt_error *err)
{
    const dt_step *step = leg->steps[0];
    dt_tree shape = dt_tree_of(step);
    bool whole = step->kind == DT_STEP_ALL_REDUCE || shape == DT_TREE_SPREAD ||
                 shape == DT_TREE_JOIN;
    if (!whole)
        DT_TRY(dt_rounds_make(leg->rounds, &leg->round_count, leg->steps, leg->count,
                              DT_IN_SLICES, leg->group, scratch, err));
    dt_tree_leg *t = leg->state = calloc(1, sizeof *t);
    if (t == NULL)
        return dt_round_no_memory(err);
    t->tree = shape;
    dt_members_find(&t->members, step, leg->group->world->transport->rank);
    size_t n = (size_t)t->members.count, rounds = 1;
    while ((size_t)1 << (rounds - 1) < n)
        rounds++;
    t->places = calloc(n, sizeof *t->places);
    t->by_place = calloc((size_t)leg->group->size, sizeof *t->by_place);
    t->offsets = calloc(n + 1, sizeof *t->offsets);
    t->addends = calloc(n, sizeof *t->addends);
    leg->sent = calloc(rounds, sizeof *leg->sent);
    bool routed = t->tree == DT_TREE_ROUTE;
    t->sizes = calloc(routed ? n * rounds : 1, sizeof *t->sizes);
    if (t->places == NULL || t->by_place == NULL || t->offsets == NULL ||
        t->addends == NULL || leg->sent == NULL || t->sizes == NULL)
        return dt_round_no_memory(err);
    if (t->members.own < 0)
        return DT_OK; /* it looks on */
    DT_TRY(find_places(leg, err));
    DT_TRY(check_queues(leg, err));
    dt_tree_rows[t->tree].place(leg);
    list_sent(leg);
    return DT_OK;
}

static void
tree_release(dt_leg *leg)
{
    dt_tree_leg *t = leg->state;
    free(leg->sent);
    if (t == NULL)
        return;
    free(t->places);
    free(t->by_place);
    free(t->offsets);
    free(t->sizes);
    free(t->addends);
    free(t);
}

/* --- running --- */

static dt_status
tree_begin(dt_leg *leg, uint64_t number, dt_error *err)
{
    (void)err;
    dt_tree_leg *t = leg->state;
    t->at = 0;
    t->posted = false;
    t->phase = DT_PHASE_DATA + (int)(number & 7);
    t->base = t->tree == DT_TREE_JOIN ? leg->ends[0].dst : leg->buffers;
    if (t->members.own >= 0 && t->base != NULL)
        dt_tree_rows[t->tree].load(leg);
    return DT_OK;
}

static dt_status
post(dt_leg *leg, const dt_tree_round *h, dt_error *err)
{
    dt_tree_leg *t = leg->state;
    dt_counter *counter = &leg->group->world->counters[leg->steps[0]->kind];
    if (h->in_bytes > 0)
        DT_TRY(dt_post_receive(&t->receiving, leg->group, t->base + h->in, h->in_bytes,
                               h->from, t->phase, err));
    if (h->out_bytes == 0)
        return DT_OK;
    counter->messages++;
    counter->bytes += (int64_t)h->out_bytes;
    return dt_post_send(&t->sending, leg->group, t->base + h->out, h->out_bytes, h->to,
                        t->phase, err);
}

static dt_status
tree_advance(bool *done, dt_leg *leg, dt_error *err)
{
    dt_tree_leg *t = leg->state;
    for (; t->at < t->hop_count; t->at++) {
        const dt_tree_round *h = &t->hops[t->at];
        bool sent, received;
        if (!t->posted) {
            dt_tree_rows[t->tree].before(leg, t->at);
            DT_TRY(post(leg, h, err));
            t->posted = true;
        }
        DT_TRY(dt_test(&received, leg->group, &t->receiving, err));
        DT_TRY(dt_test(&sent, leg->group, &t->sending, err));
        if (!received || !sent)
            return DT_OK;
        if (h->in_bytes > 0)
            dt_tree_rows[t->tree].after(leg, t->at);
        t->posted = false;
    }
    if (t->members.own >= 0 && t->base != NULL)
        dt_tree_rows[t->tree].finish(leg);
    *done = true;
    return DT_OK;
}

static bool
tree_abandon(dt_leg *leg)
{
    dt_tree_leg *t = leg->state;
    bool sent = dt_cancel(leg->group, &t->sending);
    bool received = dt_cancel(leg->group, &t->receiving);
    return sent && received;
}

const dt_way dt_way_tree = {
    .name = "tree",
    .fits = tree_fits,
    .together = tree_together,
    .prepare = tree_prepare,
    .release = tree_release,
    .begin = tree_begin,
    .advance = tree_advance,
    .abandon = tree_abandon,
    .traffic = dt_tree_traffic,
};
