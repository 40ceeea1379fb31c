/* What is said where ranks do not agree. A rank that has failed tells its error to all;
 * of different calls the rank at place 0 hears, and tells what it makes of them. */
#include "comm/talk/agreement.h"
#include "comm/talk/sentence.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static dt_status
tell_all(bool *on, dt_agreement *a, int phase, dt_error *err)
{
    a->verdict.number = a->number;
    return dt_agreement_tell_all(on, a, &a->verdict, sizeof a->verdict, phase, NULL,
                                 err);
}

/* --- a local error --- */

static dt_status
tell_error(bool *on, dt_agreement *a, dt_error *err)
{
    a->verdict.error = a->call->local;
    return tell_all(on, a, DT_PHASE_ERROR, err);
}

static dt_status
hear_error(bool *on, dt_agreement *a, dt_error *err)
{
    int place = (int)a->sum.failed;
    DT_TRY(dt_agreement_hear_now(on, a, &a->verdict, sizeof a->verdict, place,
                                 DT_PHASE_ERROR, err));
    if (*on) {
        const dt_group *group = a->task.group;
        dt_error_prefix(
            &a->verdict.error,
            dt_name_rank(group->world->transport, group->ranks[place]).text);
        a->stage = NULL;
    }
    return DT_OK;
}

/* --- different calls --- */

static bool
same_call(const dt_speech *a, const dt_speech *b)
{
    bool traced = a->lineage != 0 && b->lineage != 0;
    return a->hash == b->hash && a->came == b->came &&
           (!traced || a->lineage == b->lineage);
}

/* Enters the call of the rank at a place. Those that are too many to show share the
 * last label. */
static void
enter_call(dt_agreement *a, int place, const dt_speech *call)
{
    int label = 0;
    while (label < a->call_count && !same_call(&a->calls[label], call))
        label++;
    if (label == a->call_count && label < DT_CALLS_SHOWN)
        a->calls[a->call_count++] = *call;
    a->labels[place] = (unsigned char)label;
}

static int
count_label(const dt_agreement *a, int label)
{
    int count = 0;
    for (int place = 0; place < a->task.group->size; place++)
        count += a->labels[place] == label;
    return count;
}

static void
write_call(dt_sentence *s, const dt_agreement *a, int label)
{
    /* So that all calls fit, by their number. */
    static const int width[] = {0, DT_CALL_MAX, 380, 220};
    const dt_speech *call = &a->calls[label];
    dt_sentence_add(s, "%.*s #%" PRIu64, width[a->call_count], call->what,
                    dt_count_in(call->came));
    if (label > 0 && call->came == a->calls[0].came &&
        strcmp(call->what, a->calls[0].what) == 0)
        dt_sentence_add(s, " with other arguments");
    if (call->came < a->number)
        dt_sentence_add(s, ", which others have left");
}

/* The same, and in which line of its program: of several ranks that of the first. */
static void
write_call_at(dt_sentence *s, const dt_agreement *a, int label)
{
    write_call(s, a, label);
    if (a->calls[label].place[0] != '\0')
        dt_sentence_add(s, " at %s", a->calls[label].place);
}

/* "the ranks have different values in X #5: ranks 0, 2 differ from rank 1 and from rank 3" */
static void
write_parting(dt_sentence *s, const dt_agreement *a)
{
    const dt_group *group = a->task.group;
    dt_sentence_add(s, "the ranks have different values in ");
    write_call(s, a, 0);
    for (int label = 0, told = 0; label <= a->call_count; label++) {
        int count = count_label(a, label);
        if (count == 0)
            continue;
        dt_sentence_add(s, told == 0 ? ": " : told == 1 ? " from " : " and from ");
        dt_sentence_ranks_on(s, group->world->transport, group->ranks, a->labels,
                             group->size, (unsigned char)label);
        if (told++ == 0)
            dt_sentence_add(s, count > 1 ? " differ" : " differs");
    }
}

/* Whether all calls are one, but for the values that they are made with. */
static bool
only_values(const dt_agreement *a)
{
    for (int label = 1; label < a->call_count; label++)
        if (a->calls[label].hash != a->calls[0].hash ||
            a->calls[label].came != a->calls[0].came)
            return false;
    return a->call_count > 1;
}

/* "ranks are in different calls: ranks 0, 2 are in X #5, rank 1 is in Y #5" */
static void
write_verdict(dt_agreement *a)
{
    const dt_group *group = a->task.group;
    dt_error *error = &a->verdict.error;
    dt_sentence s = {.out = error->message, .size = sizeof error->message};
    memset(error, 0, sizeof *error);
    error->status = only_values(a) ? DT_PARTED : DT_RUNTIME;
    if (error->status == DT_PARTED) {
        write_parting(&s, a);
        return;
    }
    dt_sentence_add(&s, "ranks are in different calls: ");
    for (int label = 0; label <= a->call_count; label++) {
        int count = count_label(a, label);
        if (count == 0)
            continue;
        dt_sentence_add(&s, label > 0 ? ", " : "");
        dt_sentence_ranks_on(&s, group->world->transport, group->ranks, a->labels,
                             group->size, (unsigned char)label);
        dt_sentence_add(&s, count > 1 ? " are in " : " is in ");
        if (label < a->call_count)
            write_call_at(&s, a, label);
        else
            dt_sentence_add(&s, count > 1 ? "others" : "another");
    }
}

static void
write_speech(dt_agreement *a)
{
    memset(&a->speech, 0, sizeof a->speech);
    a->speech.number = a->number;
    a->speech.came = a->came;
    a->speech.hash = a->hash;
    a->speech.lineage = a->traced ? a->call->lineage : 0;
    snprintf(a->speech.what, sizeof a->speech.what, "%s", a->call->what);
    const dt_world *world = a->task.group->world;
    if (world->place != NULL)
        world->place(a->speech.place, sizeof a->speech.place);
}

static dt_status
tell_verdict(bool *on, dt_agreement *a, dt_error *err)
{
    return tell_all(on, a, DT_PHASE_VERDICT, err);
}

/* Whether the ranks are in one call, with different values, and can say where these come
 * from: all ranks know it, by what was gathered. */
static bool
can_walk(const dt_agreement *a)
{
    const dt_summary *sum = &a->sum;
    return a->task.group->world->testify != NULL && sum->hash_min == sum->hash_max &&
           sum->oldest == a->number && sum->lineage_min < sum->lineage_max;
}

static dt_status
collect(bool *on, dt_agreement *a, dt_error *err)
{
    dt_speech *heard = &a->speech;
    if (a->place == 0) {
        write_speech(a);
        a->call_count = 0;
        enter_call(a, a->place++, &a->speech);
    }
    for (; a->place < a->task.group->size; a->place++) {
        DT_TRY(dt_agreement_hear_now(on, a, heard, sizeof *heard, a->place,
                                     DT_PHASE_SPEECH, err));
        if (!*on)
            return DT_OK;
        enter_call(a, a->place, heard);
    }
    write_verdict(a);
    a->place = 0;
    a->stage = tell_verdict;
    if (can_walk(a))
        dt_walk_begin(a, tell_verdict);
    return DT_OK;
}

static dt_status
hear_verdict(bool *on, dt_agreement *a, dt_error *err)
{
    DT_TRY(dt_agreement_hear_verdict(on, a, err));
    if (*on)
        a->stage = NULL;
    return DT_OK;
}

static dt_status
speak(bool *on, dt_agreement *a, dt_error *err)
{
    if (!a->said)
        write_speech(a);
    DT_TRY(
        dt_agreement_say(on, a, &a->speech, sizeof a->speech, 0, DT_PHASE_SPEECH, err));
    if (*on)
        a->stage = hear_verdict;
    if (*on && can_walk(a))
        dt_walk_begin(a, hear_verdict);
    return DT_OK;
}

/* --- what is to be said --- */

void
dt_verdict_choose(dt_agreement *a)
{
    const dt_summary *sum = &a->sum;
    int own = a->task.group->index;
    a->place = 0;
    if (sum->failed != INT64_MAX)
        a->stage = sum->failed == own ? tell_error : hear_error;
    else if (sum->hash_min != sum->hash_max || sum->oldest != a->number ||
             sum->lineage_min < sum->lineage_max)
        a->stage = own == 0 ? collect : speak;
    else
        a->stage = NULL;
}
