/* The rank at place 0 collects the failures, asks all ranks about them, and tells what it
 * makes of the answers. All messages have the number of the agreement, and none takes
 * memory. A rank that has waited for long in the rounds of the agreement ends it by itself
 * instead: nobody can come to another verdict then, for each needs what that rank would
 * say here. */
#include "comm/talk/settle.h"
#include "comm/talk/agreement.h"
#include "comm/talk/heard.h"
#include "comm/talk/trail.h"
#include "core/facts/hash.h"

#include <stdio.h>
#include <string.h>

enum { LOCAL_FAILURES_TOLD = 8 };
static const double TURN = 0.25; /* of the time after which a rank is late */

/* As the others are to read it. */
static dt_error
sentence_of(const dt_world *world, const dt_error *error)
{
    dt_error told;
    dt_fail(&told, error->status, "%s failed in %s",
            dt_name_rank(world->transport, world->transport->rank).text,
            error->message);
    return told;
}

/* Of failures beyond those that are kept only a hash is known: they count with the last of
 * these. */
static void
keep(dt_group *group, uint64_t lineage, bool local, const dt_error *error)
{
    uint64_t number = ++group->world->faults;
    if (group->failure_count < DT_FAILURES_KEPT)
        group->failures[group->failure_count++] = (dt_failure){
            .number = number, .lineage = lineage, .local = local, .error = *error};
    else
        group->more = dt_mix(group->more, lineage) | 1;
}

/* The task that an agreement is, or is a part of. */
static const dt_task *
task_of(const dt_agreement *a)
{
    return a->task.group->queue->first;
}

/* How many of the kept failures an agreement is about. */
static int
count_of(const dt_agreement *a)
{
    const dt_group *group = a->task.group;
    int count = 0;
    while (count < group->failure_count &&
           group->failures[count].number <= task_of(a)->faults)
        count++;
    return count;
}

uint64_t
dt_faults(const dt_agreement *a)
{
    const dt_group *group = a->task.group;
    uint64_t hash = 0;
    int count = count_of(a);
    for (int k = 0; k < count; k++)
        hash = dt_mix(hash, group->failures[k].lineage) | 1;
    bool more = count == group->failure_count && group->more != 0;
    return more ? dt_mix(hash, group->more) | 1 : hash;
}

void
dt_note_failure(dt_group *group, uint64_t lineage, const dt_error *error)
{
    dt_error told = sentence_of(group->world, error);
    if (group->failure_count == 0)
        dt_notes_tell_failure(group->world->notes, group, lineage, &told);
    keep(group, lineage, false, &told);
}

/* --- local failures --- */

bool
dt_note_local_failure(dt_world *world, uint32_t name, const dt_error *error)
{
    dt_error told = sentence_of(world, error);
    for (dt_group *group = world->groups; group != NULL; group = group->next)
        if (group->index >= 0 && group->size > 1)
            keep(group, name, true, &told);
    if (world->local_failures++ >= LOCAL_FAILURES_TOLD)
        return false;
    dt_notes_tell_local(world->notes, NULL, name, &told);
    return true;
}

/* What an agreement is about, as a step of the trail: "redistribute". */
static uint32_t
name_of(const dt_agreement *a)
{
    if (a->call->name != 0)
        return a->call->name;
    return (uint32_t)dt_hash(0, a->call->what, strcspn(a->call->what, "("));
}

/* A call has ended with a failure: ranks of other groups that wait for this one, because
 * theirs has not, hear of it as of a local failure. Ranks of this group need not: the call
 * has ended well on none of them. */
static void
pass_on(const dt_agreement *a, const dt_error *verdict)
{
    dt_world *world = a->task.group->world;
    uint32_t name = name_of(a);
    int count = 0;
    for (dt_group *group = world->groups; group != NULL; group = group->next)
        if (group != a->task.group && group->index >= 0 && group->size > 1 &&
            group->failure_count == 0) {
            keep(group, name, true, verdict);
            count++;
        }
    bool others = a->task.group->size < world->transport->size;
    if (count == 0 || world->local_failures++ >= LOCAL_FAILURES_TOLD || !others)
        return;
    dt_notes_tell_local(world->notes, a->task.group, name, verdict);
    if (world->trail != NULL)
        world->trail->failed = true; /* until this rank goes on */
}

/* Forgets failures of a group up to a number: `all`, or local ones. Of those that it has
 * noted since others have heard only if there was none before: now the first is told. */
static void
forget(dt_group *group, uint64_t faults, bool all)
{
    int kept = 0, count = group->failure_count;
    uint64_t oldest = count > 0 ? group->failures[0].number : 0;
    for (int k = 0; k < count; k++) {
        const dt_failure *f = &group->failures[k];
        if (f->number <= faults && (all || f->local))
            continue;
        if (kept++ < k)
            group->failures[kept - 1] = *f;
    }
    group->failure_count = kept;
    if (kept == 0)
        group->more = 0;
    const dt_failure *first = &group->failures[0];
    if (kept > 0 && first->number != oldest && !first->local)
        dt_notes_tell_failure(group->world->notes, group, first->lineage,
                              &first->error);
}

/* The ranks of a group have agreed in step: whatever failed on this rank alone is made up
 * for, or was its own affair. Other groups need not look at it. */
static void
forget_local(dt_world *world, uint64_t faults)
{
    world->local_failures = 0;
    for (dt_group *group = world->groups; group != NULL; group = group->next)
        forget(group, faults, false);
}

void
dt_settled(dt_group *group, uint64_t faults, uint64_t steps)
{
    forget(group, faults, true);
    group->mark = steps;
}

/* In every agreement: without a function where nothing has failed. */
void
dt_settle_well(dt_agreement *a)
{
    dt_group *group = a->task.group;
    dt_trail *trail = group->world->trail;
    if (trail != NULL) {
        dt_trail_add(trail, name_of(a));
        group->mark = task_of(a)->steps;
    }
    if (group->failure_count > 0)
        dt_settled(group, task_of(a)->faults, task_of(a)->steps);
    if (group->world->local_failures > 0)
        forget_local(group->world, task_of(a)->faults);
}

/* --- at all places --- */

/* The rank that failed has made fewer calls than the others: what they count begins anew. */
static void
end_with(dt_agreement *a, const dt_error *verdict)
{
    dt_group *group = a->task.group;
    a->verdict.error = *verdict;
    a->stage = NULL;
    dt_settled(group, task_of(a)->faults, task_of(a)->steps);
    group->arrivals = dt_first_number(group->world->epoch);
    group->ended = a->number;
    pass_on(a, verdict);
    dt_notes_collect(group->world->notes); /* about it, or they would pile up */
}

/* The failures are told, and dealt with. */
static void
go_on(dt_agreement *a)
{
    if (a->verdict.error.status != DT_OK) {
        end_with(a, &a->verdict.error);
        return;
    }
    dt_settle_well(a);
    dt_verdict_choose(a);
}

static void
confess(dt_confession *out, const dt_agreement *a)
{
    const dt_group *group = a->task.group;
    memset(out, 0, sizeof *out);
    out->number = a->number;
    out->count = count_of(a);
    for (int k = 0; k < out->count; k++) {
        const dt_failure *f = &group->failures[k];
        out->status[k] = (int32_t)f->error.status;
        out->lineage[k] = f->lineage;
        out->local[k] = f->local;
        out->times[k] = f->local ? dt_times_here(group, f->lineage) : 0;
        snprintf(out->text[k], sizeof out->text[k], "%.399s", f->error.message);
    }
}

/* What became here of the k-th call that is asked for. */
static dt_made
made_here(const dt_group *group, const dt_question *question, int k)
{
    uint64_t lineage = question->lineage[k];
    if (question->local[k])
        return dt_more_here(group, lineage, question->times[k]) ? DT_SUCCEEDED
                                                                : DT_NOT_MADE;
    dt_made_here *made = group->world->made;
    return made == NULL ? DT_NOT_MADE : made(lineage);
}

static void
look_up(dt_agreement *a)
{
    const dt_question *question = &a->settling.question;
    dt_answer *out = &a->settling.answer;
    memset(out, 0, sizeof *out);
    out->number = a->number;
    for (int k = 0; k < question->count && k < DT_FAILURES_ASKED; k++)
        out->known[k] = (unsigned char)made_here(a->task.group, question, k);
}

/* --- at place 0 --- */

static void
add_failures(dt_settling *s, const dt_confession *in)
{
    for (int k = 0; k < in->count && k < DT_FAILURES_KEPT; k++) {
        int at = s->question.count;
        if (at == DT_FAILURES_ASKED)
            return;
        s->question.lineage[at] = in->lineage[k];
        s->question.local[at] = in->local[k];
        s->question.times[at] = in->times[k];
        s->succeeded[at] = false;
        dt_fail(&s->errors[at], (dt_status)in->status[k], "%s", in->text[k]);
        s->question.count++;
    }
}

static void
add_answers(dt_settling *s)
{
    for (int k = 0; k < s->question.count; k++)
        s->succeeded[k] = s->succeeded[k] || s->answer.known[k] == DT_SUCCEEDED;
}

/* Hears of all other places; where that is not possible now, says whether others have
 * ended the agreement. */
static dt_status
hear_all(bool *on, dt_agreement *a, void *data, size_t bytes,
         void (*add)(dt_agreement *a, int place), dt_error *err)
{
    for (; a->place < a->task.group->size; a->place++) {
        DT_TRY(
            dt_agreement_hear_now(on, a, data, bytes, a->place, DT_PHASE_SPEECH, err));
        if (!*on) {
            *on = dt_settle_heard(a);
            return DT_OK;
        }
        add(a, a->place);
    }
    return DT_OK;
}

static void
add_confession(dt_agreement *a, int place)
{
    (void)place;
    add_failures(&a->settling, &a->settling.confession);
}

static void
add_answer(dt_agreement *a, int place)
{
    (void)place;
    add_answers(&a->settling);
}

static dt_status
end_all(bool *on, dt_agreement *a, dt_error *err)
{
    (void)err;
    *on = true;
    go_on(a);
    return DT_OK;
}

static dt_status
tell(bool *on, dt_agreement *a, dt_error *err)
{
    return dt_agreement_tell_all(on, a, &a->verdict, sizeof a->verdict,
                                 DT_PHASE_VERDICT, end_all, err);
}

static dt_status
collect_answers(bool *on, dt_agreement *a, dt_error *err)
{
    dt_settling *s = &a->settling;
    if (a->place == a->task.group->size) { /* all have been asked */
        look_up(a);
        add_answers(s);
        a->place = 1;
    }
    DT_TRY(hear_all(on, a, &s->answer, sizeof s->answer, add_answer, err));
    if (!*on || a->stage == NULL)
        return DT_OK;
    a->verdict = (dt_verdict){.number = a->number};
    for (int k = s->question.count - 1; k >= 0; k--)
        if (s->succeeded[k])
            a->verdict.error = s->errors[k];
    a->place = 0;
    a->stage = tell;
    return DT_OK;
}

static dt_status
ask(bool *on, dt_agreement *a, dt_error *err)
{
    return dt_agreement_tell_all(on, a, &a->settling.question,
                                 sizeof a->settling.question, DT_PHASE_VERDICT,
                                 collect_answers, err);
}

dt_status
dt_settle_collect(bool *on, dt_agreement *a, dt_error *err)
{
    dt_settling *s = &a->settling;
    if (a->place == 0) {
        memset(&s->question, 0, sizeof s->question);
        s->question.number = a->number;
        confess(&s->confession, a);
        add_failures(s, &s->confession);
        a->place++;
    }
    *on = true;
    DT_TRY(hear_all(on, a, &s->confession, sizeof s->confession, add_confession, err));
    if (!*on || a->stage == NULL)
        return DT_OK;
    a->place = 0;
    a->stage = ask;
    return DT_OK;
}

/* --- at all others --- */

static dt_status
hear_settled(bool *on, dt_agreement *a, dt_error *err)
{
    DT_TRY(dt_agreement_hear_verdict(on, a, err));
    if (*on)
        go_on(a);
    return DT_OK;
}

static dt_status
answer(bool *on, dt_agreement *a, dt_error *err)
{
    DT_TRY(dt_agreement_say(on, a, &a->settling.answer, sizeof a->settling.answer, 0,
                            DT_PHASE_SPEECH, err));
    if (*on)
        a->stage = hear_settled;
    return DT_OK;
}

static dt_status
hear_question(bool *on, dt_agreement *a, dt_error *err)
{
    DT_TRY(dt_agreement_hear_now(on, a, &a->settling.question,
                                 sizeof a->settling.question, 0, DT_PHASE_VERDICT,
                                 err));
    if (!*on) {
        *on = dt_settle_heard(a);
        return DT_OK;
    }
    look_up(a);
    a->stage = answer;
    return DT_OK;
}

dt_status
dt_settle_confess(bool *on, dt_agreement *a, dt_error *err)
{
    if (!a->said)
        confess(&a->settling.confession, a);
    DT_TRY(dt_agreement_say(on, a, &a->settling.confession,
                            sizeof a->settling.confession, 0, DT_PHASE_SPEECH, err));
    if (*on)
        a->stage = hear_question;
    return DT_OK;
}

/* --- ended by a note --- */

bool
dt_settle_heard(dt_agreement *a)
{
    const dt_group *group = a->task.group;
    dt_error verdict;
    if (!dt_notes_have(group->world->notes, DT_NOTE_SETTLED) ||
        !dt_notes_settled(&verdict, group->world->notes, group, a->number))
        return false;
    end_with(a, &verdict);
    return true;
}

/* When a rank that has heard of a failure ends a task without the one that failed, and
 * tells all: in a large group place 0 is the first, place 1 the next, then 2 and 3, then
 * twice as many. Who has been told by then tells nobody. */
static double
patience(const dt_group *group)
{
    double late = dt_late_seconds(group->world), turns = 0;
    for (int place = group->index; group->size > DT_NOTES_TO_ALL && place > 0;
         place /= 2)
        turns++;
    return late + turns * TURN * late;
}

bool
dt_settle_wake(dt_agreement *a)
{
    dt_group *group = a->task.group;
    dt_world *world = group->world;
    dt_error verdict;
    double came = dt_notes_failure(&verdict, world->notes, group, a->number);
    if (came == 0 || dt_now() < came + patience(group))
        return false;
    if (group->settled_to + 1 != a->number)
        group->settled_from = a->number;
    group->settled_to = a->number;
    dt_notes_tell_settled(world->notes, group, &verdict);
    end_with(a, &verdict);
    return true;
}
