/* Few ranks of one node send what they say to all others, and hear each of them. More of
 * them disseminate it: in round k every rank sends what it has gathered to the rank 2^k
 * places further, so after log2(size) rounds, rounded up, all have gathered from all.
 * Minima and maxima do not mind to be gathered twice, so this works for any size. Blocks
 * are gathered once (Bruck et al., IEEE Trans. Parallel Distrib. Syst. 8, 1997).
 *
 * A message or a note of a larger number than the own one means that others have given
 * up this call, or have made more calls: the agreement then starts again under that
 * number, and so under the largest one everywhere. That they differed is an error. */
#include "comm/talk/agreement.h"
#include "comm/talk/heard.h"
#include "comm/talk/settle.h"

#include "core/facts/hash.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- rounds --- */

/* How far the rank is that is heard in a round; and how many rounds there are. */
static int
distance_of(const dt_group *group, int round)
{
    return group->direct ? round + 1 : 1 << round;
}

static int
round_count(const dt_group *group)
{
    int rounds = 0;
    while (distance_of(group, rounds) < group->size)
        rounds++;
    return rounds;
}

static uint64_t
min_u64(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

static uint64_t
max_u64(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

/* Goes to round 0 under `number`, knowing nothing but the own call. */
static void
restart(dt_agreement *a, uint64_t number)
{
    dt_group *group = a->task.group;
    /* Groups that share tags must not take each other's calls for their own. */
    uint64_t hash = a->hash ^ group->hash;
    uint64_t faults = group->failure_count == 0 ? 0 : dt_faults(a);
    a->number = number;
    a->round = a->told = 0;
    a->heard = 0;
    a->said = false;
    a->sum = (dt_summary){
        .number = number,
        .oldest = a->came,
        .hash_min = hash,
        .hash_max = hash,
        .detail_min = a->detail,
        .detail_max = a->detail,
        .fault_min = faults,
        .fault_max = faults,
        .lineage_min = a->traced ? a->call->lineage : UINT64_MAX,
        .lineage_max = a->traced ? a->call->lineage : 0,
        .failed = a->call->local.status != DT_OK ? group->index : INT64_MAX,
    };
    group->started = number;
    group->queue->first->number = number;
    if (group->early.sum.number >= number) {
        a->in[group->early_round] = group->early;
        a->heard = UINT32_C(1) << group->early_round;
    }
}

/* Whatever is wrong, all ranks know it now. */
static void
judge(dt_agreement *a)
{
    a->place = 0;
    if (a->sum.fault_min != a->sum.fault_max) {
        a->stage = a->task.group->index == 0 ? dt_settle_collect : dt_settle_confess;
        return;
    }
    dt_settle_well(a);
    dt_verdict_choose(a);
}

/* Blocks that a round carries: the own one; or as many as make those of 2^(k+1) places, or
 * all, after round k. */
static size_t
block_bytes(const dt_agreement *a)
{
    const dt_group *group = a->task.group;
    int distance = distance_of(group, a->round), rest = group->size - distance;
    if (a->freight == NULL)
        return 0;
    int blocks = group->direct ? 1 : rest < distance ? rest : distance;
    return (size_t)blocks * a->freight->block;
}

/* Of ranks in the same call: else there may be others in the parcel, or none. */
static void
take_blocks(dt_agreement *a, const dt_parcel *parcel)
{
    size_t bytes = block_bytes(a);
    if (bytes > 0)
        memcpy(a->freight->blocks +
                   (size_t)distance_of(a->task.group, a->round) * a->freight->block,
               parcel->freight, bytes);
}

static void
take_in(dt_agreement *a, const dt_parcel *parcel)
{
    const dt_summary *in = &parcel->sum;
    if (in->number > a->number) {
        dt_group *group = a->task.group;
        group->early = *parcel; /* it is not sent again when that round comes */
        group->early_round = a->round;
        dt_notes_collect(group->world->notes);
        if (!dt_settle_heard(a))
            restart(a, in->number);
        return;
    }
    if (in->hash_min == a->sum.hash_max && in->hash_max == a->sum.hash_min)
        take_blocks(a, parcel);
    a->sum.oldest = min_u64(a->sum.oldest, in->oldest);
    a->sum.hash_min = min_u64(a->sum.hash_min, in->hash_min);
    a->sum.hash_max = max_u64(a->sum.hash_max, in->hash_max);
    a->sum.detail_min = min_u64(a->sum.detail_min, in->detail_min);
    a->sum.detail_max = max_u64(a->sum.detail_max, in->detail_max);
    a->sum.fault_min = min_u64(a->sum.fault_min, in->fault_min);
    a->sum.fault_max = max_u64(a->sum.fault_max, in->fault_max);
    a->sum.lineage_min = min_u64(a->sum.lineage_min, in->lineage_min);
    a->sum.lineage_max = max_u64(a->sum.lineage_max, in->lineage_max);
    a->sum.failed = in->failed < a->sum.failed ? in->failed : a->sum.failed;
    a->round++;
    a->said = false;
}

/* Ranks that wait for each other under different numbers, so that none of them sends
 * what another one needs, learn it from their notes; and so do those that wait for a rank
 * whose kernel has failed. */
static void
catch_up(bool *on, dt_agreement *a)
{
    const dt_group *group = a->task.group;
    uint64_t known = dt_notes_count(group->world->notes);
    *on = (known != a->notes && dt_settle_heard(a)) || dt_settle_wake(a);
    if (known == a->notes || *on)
        return;
    a->notes = known;
    uint64_t newest = dt_notes_newest(group->world->notes, group->queue->first);
    if (newest > a->number) {
        restart(a, newest);
        *on = true;
    }
}

/* What the rank says in a round. Returns its bytes. */
static size_t
say(dt_agreement *a)
{
    size_t blocks = block_bytes(a);
    a->out.sum = a->sum;
    if (blocks > 0)
        memcpy(a->out.freight, a->freight->blocks, blocks);
    return sizeof a->out.sum + blocks;
}

/* Tells all others what this rank says; *on: it is done. */
static dt_status
tell_all(bool *on, dt_agreement *a, dt_error *err)
{
    const dt_group *group = a->task.group;
    size_t bytes = sizeof a->out.sum + block_bytes(a);
    if (a->told == 0 && !a->said)
        say(a);
    *on = true;
    for (; *on && a->told < group->size - 1; a->told += *on) {
        int place = (group->index + 1 + a->told) % group->size;
        DT_TRY(dt_agreement_say(on, a, &a->out, bytes, place, DT_PHASE_ROUNDS, err));
    }
    return DT_OK;
}

/* Tells the next rank what all is known of after the rounds before. */
static dt_status
tell_next(bool *on, dt_agreement *a, dt_error *err)
{
    dt_group *group = a->task.group;
    if (a->said)
        return DT_OK;
    DT_TRY(dt_test(on, group, &a->send, err)); /* of the round before */
    if (!*on)
        return DT_OK;
    int place = (group->index + distance_of(group, a->round)) % group->size;
    DT_TRY(dt_post_send(&a->send, group, &a->out, say(a), place, DT_PHASE_ROUNDS, err));
    a->said = true;
    return DT_OK;
}

static dt_status
gather(bool *on, dt_agreement *a, dt_error *err)
{
    dt_group *group = a->task.group;
    int size = group->size, distance = distance_of(group, a->round);
    dt_parcel *in = &a->in[a->round];
    *on = true;
    if (distance >= size) {
        DT_TRY(dt_test(on, group, &a->send, err));
        if (*on)
            judge(a);
        return DT_OK;
    }
    DT_TRY((group->direct ? tell_all : tell_next)(on, a, err));
    if (!*on)
        return DT_OK;
    a->receive[a->round].at_most = true;
    if (!(a->heard >> a->round & 1))
        DT_TRY(dt_agreement_hear(on, a, &a->receive[a->round], in, sizeof *in,
                                 (group->index - distance + size) % size,
                                 DT_PHASE_ROUNDS, err));
    if (*on)
        take_in(a, in);
    else
        catch_up(on, a);
    return DT_OK;
}

/* A rank that was missing in calls that the others have given up is led to their next
 * one. It comes as one with an old number if it may be in one of those calls now. */
static dt_status
start(bool *on, dt_agreement *a, dt_error *err)
{
    (void)err;
    dt_group *group = a->task.group;
    const dt_task *task = group->queue->first; /* it may run inside of another task */
    assert(task != NULL && task->group == group);
    a->number = task->number;
    *on = true;
    const dt_notes *notes = group->world->notes;
    if (dt_notes_have(notes, DT_NOTE_SETTLED) && dt_settle_heard(a))
        return DT_OK;
    bool same_call = false;
    uint64_t next = task->number;
    if (dt_notes_have(notes, DT_NOTE_LEFT))
        next = dt_notes_next(&same_call, notes, task);
    a->came = same_call ? task->number : next;
    a->notes = dt_notes_count(notes);
    restart(a, next);
    a->stage = gather;
    return DT_OK;
}

/* --- the task --- */

static dt_status
agreement_advance(bool *done, dt_task *task, dt_error *err)
{
    dt_agreement *a = (dt_agreement *)task;
    const dt_error *end = a->silent ? &a->call->local : &a->verdict.error;
    bool on = true;
    while (on && a->stage != NULL)
        DT_TRY(a->stage(&on, a, err));
    *done = on;
    if (on && end->status != DT_OK) {
        task->group->reached = a->number;
        return dt_fail(err, end->status, "%s", end->message);
    }
    return DT_OK;
}

static void
agreement_abandon(dt_task *task)
{
    dt_agreement *a = (dt_agreement *)task;
    dt_group *group = task->group;
    bool ours = dt_cancel(group, &a->send);
    ours = dt_cancel(group, &a->receive_text) && ours;
    for (int round = 0; round < round_count(group); round++)
        ours = dt_cancel(group, &a->receive[round]) && ours;
    a->stuck = !ours;
}

/* Takes the agreement that was freed last, if it is large enough. */
static dt_agreement *
agreement_take(const dt_group *group)
{
    dt_world *world = group->world;
    size_t rounds = (size_t)round_count(group), size = (size_t)group->size;
    size_t room = rounds * sizeof(dt_parcel) + 2 * size;
    dt_agreement *a = world->spare;
    if (a != NULL && a->room >= room)
        world->spare = NULL;
    else {
        a = calloc(1, sizeof *a + room);
        if (a == NULL)
            return NULL;
        a->room = room;
    }
    a->in = a->memory;
    a->labels = (unsigned char *)(a->memory + rounds);
    return a;
}

/* Field by field: most of its kilobytes are only used where something goes wrong. */
dt_status
dt_agreement_make(dt_agreement **out, dt_group *group, const dt_call *call, bool force,
                  dt_error *err)
{
    dt_agreement *a = agreement_take(group);
    if (a == NULL)
        return dt_fail(err, DT_MEMORY, "%s: no memory to agree on it", call->what);
    bool check = group->world->check != DT_CHECK_NOTHING;
    a->call = call;
    a->hash = check || force ? call->hash : 0;
    a->traced = call->traced && check;
    a->detail = 0;
    a->freight = NULL;
    a->task.advance = agreement_advance;
    a->task.abandon = agreement_abandon;
    a->task.group = group;
    a->task.what = call->what;
    a->task.queued = a->task.finished = false;
    a->silent = group->size == 1 || group->world->transport->alone;
    a->stage = a->silent ? NULL : start;
    a->verdict.error.status = DT_OK;
    *out = a;
    return DT_OK;
}

bool
dt_freight_fits(const dt_world *world, const int64_t *ranks, int64_t count,
                int64_t block)
{
    bool direct = dt_world_direct(world, ranks, count);
    return block * (direct ? 1 : count / 2) <= DT_FREIGHT_MOST; /* block_bytes */
}

void
dt_agreement_carry(dt_agreement *agreement, const dt_freight *freight)
{
    agreement->freight = freight;
    agreement->hash = dt_mix(agreement->hash, freight->name);
}

void
dt_agreement_object(dt_agreement *agreement)
{
    agreement->detail = 1;
}

bool
dt_agreement_objected(const dt_agreement *agreement)
{
    return (agreement->silent ? agreement->detail : agreement->sum.detail_max) != 0;
}

dt_task *
dt_agreement_task(dt_agreement *agreement)
{
    return &agreement->task;
}

void
dt_agreement_free(dt_agreement *agreement)
{
    if (agreement == NULL || agreement->stuck)
        return;
    dt_world *world = agreement->task.group->world;
    free(world->spare);
    world->spare = agreement;
}

static dt_status
start_and_wait(dt_agreement *agreement, dt_error *err)
{
    DT_TRY(dt_start(&agreement->task, err));
    return dt_wait(&agreement->task, err);
}

dt_status
dt_agree(dt_group *group, const dt_call *call, bool force, dt_error *err)
{
    dt_agreement *agreement = NULL;
    DT_TRY(dt_agreement_make(&agreement, group, call, force, err));
    dt_status status = start_and_wait(agreement, err);
    dt_agreement_free(agreement);
    return status;
}

dt_status
dt_agree_detail(bool *equal, dt_group *group, const dt_call *call, uint64_t detail,
                dt_error *err)
{
    dt_agreement *agreement = NULL;
    DT_TRY(dt_agreement_make(&agreement, group, call, true, err));
    dt_summary *sum = &agreement->sum;
    agreement->detail = sum->detail_min = sum->detail_max = detail;
    dt_status status = start_and_wait(agreement, err);
    if (status == DT_OK)
        *equal = sum->detail_min == sum->detail_max;
    dt_agreement_free(agreement);
    return status;
}
