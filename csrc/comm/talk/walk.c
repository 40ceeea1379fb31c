/* Where the ranks have different values, they say which calls made these. If it is the
 * same call on all, one of its operands differs, and they go on with that, until the calls
 * themselves differ: that is where the ranks parted. It is never found by position.
 *
 * It is part of the agreement, so that it needs no call of the user's: the others hear of
 * it in whatever call they wait, also where what differs is an async move. The rank at
 * place 0 hears all, and says with which operand to go on. */
#include "comm/talk/agreement.h"
#include "comm/talk/sentence.h"

#include <string.h>

static dt_sentence
end_of(dt_error *error)
{
    return (dt_sentence){.out = error->message,
                         .size = sizeof error->message,
                         .used = strlen(error->message)};
}

/* --- what is said --- */

static void
testify(dt_agreement *a, dt_testimony *out)
{
    dt_walk *w = &a->walk;
    memset(out, 0, sizeof *out);
    a->task.group->world->testify(out, w->lineage, w->traced);
    out->number = a->number;
    w->own = *out;
}

/* Which of some texts it is; what is too much shares the last label. */
static unsigned char
label_of(const char *text, char *texts, size_t size, int *count, int most)
{
    int label = 0;
    while (label < *count && strcmp(texts + (size_t)label * size, text) != 0)
        label++;
    if (label == *count && label < most)
        memcpy(texts + (size_t)(*count)++ * size, text, size);
    return (unsigned char)label;
}

/* Enters what the rank at a place has said. */
static void
enter(dt_agreement *a, int place, const dt_testimony *said)
{
    dt_walk *w = &a->walk;
    a->labels[place] = DT_CALLS_SHOWN;
    if (said->known)
        a->labels[place] = label_of(said->text, w->texts[0], sizeof w->texts[0],
                                    &w->text_count, DT_CALLS_SHOWN);
    if (w->step == 0)
        a->labels[a->task.group->size + place] =
            label_of(said->place, w->places[0], sizeof w->places[0], &w->place_count,
                     DT_PLACES_SHOWN);
    if (!said->traced)
        return;
    if (!w->first.traced)
        w->first = *said;
    else if (!w->other.traced && said->lineage != w->first.lineage)
        w->other = *said;
}

/* --- what follows from it --- */

/* The operand in which two ranks' calls differ; -1: the calls themselves do, or something
 * of theirs that no call has made. */
static int
differing(const dt_testimony *a, const dt_testimony *b)
{
    if (a->call != b->call || a->count != b->count || a->kinds != b->kinds)
        return -1;
    for (int k = 0; k < DT_OPERANDS_TOLD && k < a->count; k++)
        if (a->operands[k] != b->operands[k])
            return a->kinds >> k & 1 ? -1 : k;
    return -1;
}

/* ", at a.py:7 on ranks 0, 2, at a.py:9 on rank 1" */
static void
write_places(dt_sentence *s, const dt_agreement *a)
{
    const dt_group *group = a->task.group;
    const dt_walk *w = &a->walk;
    for (int label = 0; label < w->place_count; label++) {
        dt_sentence_add(s, ", at %s%s", w->places[label],
                        w->place_count > 1 ? " on " : "");
        if (w->place_count > 1)
            dt_sentence_ranks(s, group->ranks, a->labels + group->size, group->size,
                              (unsigned char)label);
    }
}

/* "rank 1 computed cumprod(axis=0), ranks 0, 2, 3 computed cumsum(axis=0)" */
static void
write_parting(dt_sentence *s, const dt_agreement *a)
{
    const dt_group *group = a->task.group;
    const dt_walk *w = &a->walk;
    dt_sentence_add(s, "; they part here: ");
    for (int label = 0; label < w->text_count; label++) {
        dt_sentence_add(s, label == 0 ? "" : ", ");
        dt_sentence_ranks(s, group->ranks, a->labels, group->size,
                          (unsigned char)label);
        dt_sentence_add(s, " computed %s", w->texts[label]);
    }
    if (w->first.call == w->other.call)
        dt_sentence_add(s, ", with other numbers or arrays (if they are meant to "
                           "differ: `with dtensor.differs():`, on all ranks)");
}

/* Chooses the operand to go on with, or none, and says where the ranks parted. Every step
 * goes to older calls, so it ends. */
static void
choose(dt_agreement *a)
{
    dt_walk *w = &a->walk;
    dt_sentence s = end_of(&a->verdict.error);
    if (w->step++ == 0)
        write_places(&s, a);
    bool known = w->other.traced && w->first.known && w->other.known;
    int operand = known ? differing(&w->first, &w->other) : -1;
    w->turn =
        (dt_walk_turn){.number = a->number, .operand = operand, .call = w->first.call};
    if (known && operand < 0)
        write_parting(&s, a);
    else if (!known || w->step == DT_JOURNAL) {
        w->turn.operand = -1;
        dt_sentence_add(&s,
                        "; which calls made them is not known: not among the last %d "
                        "of each rank",
                        (int)DT_JOURNAL);
    }
}

/* To the operand; a rank that has made another call has none that is compared. */
static void
follow(dt_walk *w)
{
    w->traced = w->own.known && w->own.call == w->turn.call;
    w->lineage = w->own.operands[w->turn.operand];
}

/* --- at place 0 --- */

static dt_agreement_stage hear_all;

static dt_status
go_on(bool *on, dt_agreement *a, dt_error *err)
{
    (void)err;
    *on = true;
    a->place = 0;
    a->stage = a->walk.after;
    if (a->walk.turn.operand >= 0) {
        follow(&a->walk);
        a->stage = hear_all;
    }
    return DT_OK;
}

static dt_status
tell_turn(bool *on, dt_agreement *a, dt_error *err)
{
    return dt_agreement_tell_all(on, a, &a->walk.turn, sizeof a->walk.turn,
                                 DT_PHASE_VERDICT, go_on, err);
}

static dt_status
hear_all(bool *on, dt_agreement *a, dt_error *err)
{
    dt_walk *w = &a->walk;
    if (a->place == 0) {
        w->text_count = 0;
        w->first.traced = w->other.traced = false;
        testify(a, &w->heard);
        enter(a, a->place++, &w->heard);
    }
    for (; a->place < a->task.group->size; a->place++) {
        DT_TRY(dt_agreement_hear_now(on, a, &w->heard, sizeof w->heard, a->place,
                                     DT_PHASE_SPEECH, err));
        if (!*on)
            return DT_OK;
        enter(a, a->place, &w->heard);
    }
    choose(a);
    a->place = 0;
    a->stage = tell_turn;
    return DT_OK;
}

/* --- at the others --- */

static dt_agreement_stage say;

static dt_status
hear_turn(bool *on, dt_agreement *a, dt_error *err)
{
    DT_TRY(dt_agreement_hear_now(on, a, &a->walk.turn, sizeof a->walk.turn, 0,
                                 DT_PHASE_VERDICT, err));
    if (!*on)
        return DT_OK;
    a->stage = a->walk.after;
    if (a->walk.turn.operand >= 0) {
        follow(&a->walk);
        a->stage = say;
    }
    return DT_OK;
}

static dt_status
say(bool *on, dt_agreement *a, dt_error *err)
{
    dt_testimony *said = &a->walk.heard;
    if (!a->said)
        testify(a, said);
    DT_TRY(dt_agreement_say(on, a, said, sizeof *said, 0, DT_PHASE_SPEECH, err));
    if (*on)
        a->stage = hear_turn;
    return DT_OK;
}

void
dt_walk_begin(dt_agreement *a, dt_agreement_stage *after)
{
    a->walk.after = after;
    a->walk.lineage = a->call->lineage;
    a->walk.traced = a->traced;
    a->walk.step = a->walk.place_count = 0;
    a->place = 0;
    a->stage = a->task.group->index == 0 ? hear_all : say;
}
