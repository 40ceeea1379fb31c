#include "comm/run/run.h"

#include <stdlib.h>
#include <string.h>

enum { RUNS_KEPT = 32 };

static dt_status
begin_leg(dt_run *run, dt_run_leg *now, dt_error *err)
{
    dt_leg *leg = &now->leg;
    dt_step_kind kind = leg->steps[0]->kind;
    if (run->watched)
        now->begin = dt_now();
    for (int k = 0; k < leg->round_count; k++)
        dt_round_place(&leg->rounds[k], leg->ends);
    if (kind != DT_STEP_LOCAL)
        leg->group->world->counters[kind].calls++;
    return leg->way->begin(leg, run->task.number, err);
}

static dt_status
advance_legs(bool *done, dt_run *run, dt_error *err)
{
    while (run->leg < run->leg_count) {
        dt_run_leg *now = &run->legs[run->leg];
        bool ended = false, begins = run->state == DT_RUN_BEGIN;
        run->state = DT_RUN_MOVE;
        if (begins)
            DT_TRY(begin_leg(run, now, err));
        DT_TRY(now->leg.way->advance(&ended, &now->leg, err));
        if (!ended)
            return DT_OK;
        if (run->watched)
            now->end = dt_now();
        run->state = DT_RUN_BEGIN;
        run->leg++;
    }
    *done = true;
    return DT_OK;
}

static dt_status
prepare_plain(dt_run *run, dt_error *err)
{
    dt_run_unbind(run);
    dt_run_unprepare(run);
    run->plain = true;
    DT_TRY(dt_run_prepare(run, err));
    return dt_run_bind(run, err);
}

/* After an objection: all ranks use ways that can move any array, and agree on that as on
 * another task. */
static dt_status
begin_anew(dt_run *run, dt_error *err)
{
    dt_group *group = run->task.group;
    dt_agreement_free(run->agreement);
    run->agreement = NULL;
    run->anew = true;
    if (!run->plain)
        run->call.local.status = prepare_plain(run, &run->call.local);
    run->task.number = ++group->started;
    return dt_agreement_make(&run->agreement, group, &run->call, false, err);
}

static dt_status
advance_agreement(bool *agreed, dt_run *run, dt_error *err)
{
    dt_task *agreement = dt_agreement_task(run->agreement);
    agreement->number = run->task.number;
    return agreement->advance(agreed, agreement, err);
}

/* Gives the agreement what goes with it. */
static void
load(dt_run *run)
{
    dt_leg *leg = run->leg_count > 0 ? &run->legs[0].leg : NULL;
    if (leg != NULL && leg->way->load != NULL && run->call.local.status == DT_OK)
        dt_agreement_carry(run->agreement, leg->way->load(leg));
}

static dt_status
advance(bool *done, dt_task *task, dt_error *err)
{
    dt_run *run = (dt_run *)task; /* the task is its first member */
    if (run->state == DT_RUN_LOAD) {
        load(run);
        run->state = DT_RUN_AGREE;
    }
    if (run->state == DT_RUN_AGREE) {
        bool agreed = false;
        DT_TRY(advance_agreement(&agreed, run, err));
        if (agreed && !run->anew && dt_agreement_objected(run->agreement)) {
            DT_TRY(begin_anew(run, err));
            DT_TRY(advance_agreement(&agreed, run, err));
        }
        if (!agreed)
            return DT_OK;
        run->state = DT_RUN_BEGIN;
    }
    return advance_legs(done, run, err);
}

static void
abandon(dt_task *task)
{
    dt_run *run = (dt_run *)task;
    if (run->state == DT_RUN_AGREE && run->agreement != NULL) {
        dt_task *agreement = dt_agreement_task(run->agreement);
        if (agreement->abandon != NULL)
            agreement->abandon(agreement);
    }
    dt_leg *leg = run->state == DT_RUN_MOVE ? &run->legs[run->leg].leg : NULL;
    if (leg != NULL)
        run->poisoned = !leg->way->abandon(leg);
}

/* --- making --- */

static dt_run *
run_alloc(dt_group *group, const dt_transfer *moves, int count, int64_t scratch)
{
    dt_run *run = calloc(1, sizeof *run);
    if (run == NULL)
        return NULL;
    run->task = (dt_task){.advance = advance, .abandon = abandon, .group = group};
    run->scratch = scratch;
    run->serial = count == 1 ? moves[0].plan->serial : 0;
    run->items = calloc((size_t)(count > 0 ? count : 1), sizeof *run->items);
    if (run->items == NULL) {
        free(run);
        return NULL;
    }
    return run;
}

static dt_status
take_move(dt_run *run, dt_item *item, const dt_transfer *move, dt_error *err)
{
    int ndim = move->plan->from->ndim;
    item->move = *move;
    if (item->stride == NULL)
        item->stride = dt_bump_take(&run->memory, (size_t)(ndim + 1), sizeof(int64_t));
    if (item->stride == NULL)
        return dt_fail(err, DT_MEMORY, "no memory to prepare a collective");
    if (move->src != NULL && ndim > 0)
        memcpy(item->stride, move->src_stride, sizeof(int64_t) * (size_t)ndim);
    return DT_OK;
}

static dt_status
prepare(dt_run *run, const dt_transfer *moves, int count, dt_error *err)
{
    run->count = count;
    for (int k = 0; k < count; k++)
        DT_TRY(take_move(run, &run->items[k], &moves[k], err));
    DT_TRY(dt_run_prepare(run, err));
    return dt_run_bind(run, err);
}

/* A run of the same plan that has ended and can be used again: its legs are right, only
 * its arrays are others. */
static dt_run *
take_kept(dt_group *group, const dt_plan *plan, int64_t scratch, bool plain)
{
    dt_run **link = &group->world->kept_runs;
    for (; *link != NULL; link = &(*link)->next) {
        dt_run *run = *link;
        if (run->serial != plan->serial || run->task.group != group ||
            run->scratch != scratch || run->plain != plain)
            continue;
        *link = run->next;
        run->next = NULL;
        return run;
    }
    return NULL;
}

static dt_status
use_again(dt_run *run, const dt_transfer *move, dt_error *err)
{
    run->state = DT_RUN_LOAD;
    run->leg = 0;
    run->watched = run->anew = false;
    DT_TRY(take_move(run, &run->items[0], move, err));
    return dt_run_bind(run, err);
}

static void
run_destroy(dt_run *run)
{
    if (run->poisoned) /* others may still touch all that it has */
        return;
    dt_run_unbind(run);
    for (int k = 0; k < run->leg_count; k++)
        dt_leg_free(&run->legs[k].leg);
    dt_bump_free(&run->memory);
    free(run->legs);
    free(run->items);
    free(run);
}

/* Keeps a run for the next move by the same plan, and drops the one that waits longest
 * of too many. */
static void
keep(dt_run *run)
{
    dt_world *world = run->task.group->world;
    dt_run_unbind(run);
    run->next = world->kept_runs;
    world->kept_runs = run;
    int count = 0;
    for (dt_run **link = &world->kept_runs; *link != NULL; link = &(*link)->next)
        if (++count == RUNS_KEPT && (*link)->next != NULL) {
            run_destroy((*link)->next);
            (*link)->next = NULL;
        }
}

/* Uses a run again, or, where its ways cannot move these arrays, one of plain ways. *able:
 * it can do so by the ways that are meant. */
static dt_run *
use_kept(bool *able, dt_run *run, const dt_transfer *move)
{
    dt_error *local = &run->call.local;
    local->status = use_again(run, move, local);
    *able = local->status == DT_OK && dt_run_ready(run);
    if (local->status != DT_OK || *able)
        return run;
    dt_run *plain = take_kept(run->task.group, move->plan, run->scratch, true);
    if (plain == NULL)
        return run;
    keep(run);
    plain->call.local.status = use_again(plain, move, &plain->call.local);
    return plain;
}

/* A new run; after an error one that only tells it. */
static dt_run *
make_new(bool *able, dt_group *group, const dt_transfer *moves, int count,
         int64_t scratch, const dt_error *error)
{
    bool well = error->status == DT_OK;
    dt_run *run = run_alloc(group, moves, well ? count : 0, scratch);
    *able = false;
    if (run == NULL)
        return NULL;
    dt_error *local = &run->call.local;
    if (well)
        local->status = prepare(run, moves, count, local);
    else
        *local = *error;
    *able = local->status == DT_OK && dt_run_ready(run);
    return run;
}

/* All of it but the error: field by field, for most of its kilobytes are rarely used. A run
 * that is used again mostly has the text: that is a part of what is hashed. */
static void
take_call(dt_run *run, const dt_call *call)
{
    bool known = run->task.what != NULL && run->call.hash == call->hash;
    run->call.hash = call->hash;
    run->call.lineage = call->lineage;
    run->call.traced = call->traced;
    run->call.name = call->name;
    if (!known)
        memccpy(run->call.what, call->what, '\0', sizeof run->call.what);
    run->task.what = run->call.what;
}

dt_run *
dt_run_make(dt_group *group, const dt_transfer *moves, int count, int64_t scratch,
            const dt_call *call)
{
    bool well = call->local.status == DT_OK, able;
    dt_run *run =
        well && count == 1 ? take_kept(group, moves->plan, scratch, false) : NULL;
    run = run != NULL ? use_kept(&able, run, moves)
                      : make_new(&able, group, moves, count, scratch, &call->local);
    if (run == NULL)
        return NULL;
    take_call(run, call);
    if (dt_agreement_make(&run->agreement, group, &run->call, false, NULL) != DT_OK) {
        dt_run_free(run);
        return NULL;
    }
    if (run->call.local.status == DT_OK && !able)
        dt_agreement_object(run->agreement);
    return run;
}

dt_run *
dt_run_take(dt_group *group, const dt_plan *plan, uint64_t hash)
{
    dt_run *run = take_kept(group, plan, 0, false);
    if (run == NULL || run->call.hash == hash)
        return run;
    keep(run);
    return NULL;
}

bool
dt_run_again(dt_run *run, const dt_transfer *move, uint64_t lineage, bool traced,
             const dt_error *local)
{
    run->call.lineage = lineage;
    run->call.traced = traced;
    run->state = DT_RUN_LOAD;
    run->leg = 0;
    run->watched = run->anew = false;
    if (local != NULL)
        run->call.local = *local;
    else
        run->call.local.status = use_again(run, move, &run->call.local);
    bool able = run->call.local.status != DT_OK || dt_run_ready(run);
    if (able && dt_agreement_make(&run->agreement, run->task.group, &run->call, false,
                                  NULL) == DT_OK)
        return true;
    keep(run);
    return false;
}

dt_task *
dt_run_task(dt_run *run)
{
    return &run->task;
}

bool
dt_run_poisoned(const dt_run *run)
{
    return run->poisoned;
}

void
dt_run_free(dt_run *run)
{
    if (run == NULL)
        return;
    if (run->agreement != NULL)
        dt_agreement_free(run->agreement);
    run->agreement = NULL;
    bool ended = run->task.finished && run->task.error.status == DT_OK;
    if (ended && run->serial != 0 && run->leg == run->leg_count)
        keep(run);
    else
        run_destroy(run);
}

void
dt_world_forget_runs(dt_world *world)
{
    while (world->kept_runs != NULL) {
        dt_run *run = world->kept_runs;
        world->kept_runs = run->next;
        run_destroy(run);
    }
}
