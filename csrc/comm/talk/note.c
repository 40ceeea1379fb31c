/* Notes between ranks that wait.
 *
 * All notes of a world have one tag, so that one probe finds them whatever group they are
 * about. A receiver keeps the last note of each kind from each rank. Notes are sent at
 * best effort and never answered but once, by a rank that waits in another group; nothing
 * but the sentence of an error, and when it is raised, depends on them. A letter is a note
 * under way to several ranks, freed when all have it. */
#include "comm/talk/note.h"
#include "comm/talk/sentence.h"
#include "core/facts/hash.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
    uint64_t group;  /* hash of its ranks */
    uint64_t number; /* of the task in the group; FAILED: the status */
    uint64_t call;   /* hash of the task's name; FAILED: the lineage */
    int32_t kind;    /* a dt_note_kind */
    int32_t reply;   /* 1: answers a note, and is not answered */
    char text[1024]; /* WAITS: the task's name; LEFT, FAILED: why; ENDED: a reached[] */
} note;

/* How far a rank has come in a group when it ends. */
typedef struct {
    uint64_t group;   /* hash of its ranks */
    uint64_t started; /* tasks */
} reached;

enum { REACHED = 63 }; /* in a text, of which the last byte is lost */

typedef struct {
    note note;
    double when; /* it came, on dt_now's clock */
} heard;

/* A note under way to `count` ranks. */
typedef struct letter letter;
struct letter {
    letter *next;
    note note;
    int count;
    dt_request requests[];
};

struct dt_notes {
    dt_world *world;
    heard **last[DT_NOTE_KINDS]; /* by rank */
    uint64_t count, count_left; /* notes that have come, and how many LEFT among them */
    letter *letters;
    bool waiting; /* in the task that `own` tells of */
    note own;
    bool receiving;
    int source;
    dt_request request;
    note in;
    unsigned char labels[]; /* by rank; for making sentences */
};

dt_status
dt_notes_make(dt_notes **out, dt_world *world, dt_error *err)
{
    size_t size = (size_t)world->transport->size;
    dt_notes *notes = calloc(1, sizeof *notes + size);
    heard **last = calloc(DT_NOTE_KINDS * size, sizeof(heard *));
    if (notes == NULL || last == NULL) {
        free(notes);
        free(last);
        return dt_fail(err, DT_MEMORY, "no memory for notes of %zu ranks", size);
    }
    notes->world = world;
    for (int kind = 0; kind < DT_NOTE_KINDS; kind++)
        notes->last[kind] = last + (size_t)kind * size;
    *out = notes;
    return DT_OK;
}

/* --- sending --- */

/* Frees letters that have arrived; with `cancel` all of them, except where the
 * transport may still read one. */
static void
letters_clear(dt_notes *notes, bool cancel)
{
    dt_transport *t = notes->world->transport;
    for (letter **link = &notes->letters; *link != NULL;) {
        letter *l = *link;
        bool over = true, ours = true;
        for (int i = 0; i < l->count; i++) {
            bool done = false;
            if (t->table->test(&done, t, &l->requests[i], NULL) == DT_OK && done)
                continue;
            over = false;
            if (cancel && !t->table->cancel(t, &l->requests[i]))
                ours = false;
        }
        if (over || cancel) {
            *link = l->next;
            if (ours)
                free(l);
        } else {
            link = &l->next;
        }
    }
}

static void
letter_send(dt_notes *notes, const note *content, const int *ranks, int count)
{
    dt_transport *t = notes->world->transport;
    letter *l = calloc(1, sizeof *l + (size_t)count * sizeof(dt_request));
    if (l == NULL)
        return;
    l->note = *content;
    l->next = notes->letters;
    notes->letters = l;
    int tag = notes->world->all->tag + DT_PHASE_NOTE;
    for (int i = 0; i < count; i++)
        if (ranks[i] != t->rank &&
            t->table->send(&l->requests[l->count], t, &l->note, sizeof l->note,
                           ranks[i], tag, NULL) == DT_OK)
            l->count++;
    letters_clear(notes, false);
}

void
dt_notes_tell(dt_notes *notes, const dt_task *task, dt_note_kind kind, const char *text)
{
    const dt_group *group = task->group;
    note n = {
        .group = group->hash,
        .number = task->number,
        .call = dt_hash(0, task->what, strlen(task->what)),
        .kind = (int32_t)kind,
    };
    snprintf(n.text, sizeof n.text, "%s", text);
    if (kind == DT_NOTE_WAITS) {
        notes->waiting = true;
        notes->own = n;
    }
    letter_send(notes, &n, group->ranks, group->size);
}

void
dt_notes_tell_failure(dt_notes *notes, const dt_group *group, uint64_t lineage,
                      const dt_error *error)
{
    note n = {
        .group = group->hash,
        .number = (uint64_t)error->status,
        .call = lineage,
        .kind = DT_NOTE_FAILED,
    };
    snprintf(n.text, sizeof n.text, "%s", error->message);
    letter_send(notes, &n, group->ranks, group->size);
}

void
dt_notes_farewell(dt_notes *notes)
{
    const dt_group *all = notes->world->all;
    note n = {.group = all->hash, .kind = DT_NOTE_ENDED};
    for (const dt_group *g = notes->world->groups; g != NULL; g = g->next, n.number++)
        if (n.number < REACHED) {
            reached r = {.group = g->hash, .started = g->started};
            memcpy(n.text + n.number * sizeof r, &r, sizeof r);
        }
    letter_send(notes, &n, all->ranks, all->size);
}

void
dt_notes_wait_ended(dt_notes *notes)
{
    notes->waiting = false;
    dt_notes_collect(notes);
}

/* --- receiving --- */

static void
keep(dt_notes *notes)
{
    note *n = &notes->in;
    if (n->kind < 0 || n->kind >= DT_NOTE_KINDS)
        return;
    heard **place = &notes->last[n->kind][notes->source];
    if (*place == NULL)
        *place = malloc(sizeof **place);
    if (*place == NULL)
        return;
    n->text[sizeof n->text - 1] = '\0';
    (*place)->note = *n;
    (*place)->when = dt_now();
    notes->count++;
    notes->count_left += n->kind == DT_NOTE_LEFT;

    bool elsewhere = n->kind == DT_NOTE_WAITS && n->group != notes->own.group;
    if (notes->waiting && elsewhere && !n->reply) {
        note answer = notes->own;
        answer.reply = 1;
        letter_send(notes, &answer, &notes->source, 1);
    }
}

void
dt_notes_collect(dt_notes *notes)
{
    dt_transport *t = notes->world->transport;
    int tag = notes->world->all->tag + DT_PHASE_NOTE;
    letters_clear(notes, false);
    for (;;) {
        bool found = false, done = false;
        if (!notes->receiving) {
            if (t->table->probe(&found, &notes->source, t, tag, NULL) != DT_OK ||
                !found)
                return;
            if (t->table->receive(&notes->request, t, &notes->in, sizeof notes->in,
                                  notes->source, tag, NULL) != DT_OK)
                return;
            notes->receiving = true;
        }
        if (t->table->test(&done, t, &notes->request, NULL) != DT_OK || !done)
            return;
        notes->receiving = false;
        keep(notes);
    }
}

void
dt_notes_free(dt_notes *notes)
{
    if (notes == NULL)
        return;
    letters_clear(notes, true);
    for (int kind = 0; kind < DT_NOTE_KINDS; kind++)
        for (int rank = 0; rank < notes->world->transport->size; rank++)
            free(notes->last[kind][rank]);
    free(notes->last[0]);
    dt_transport *t = notes->world->transport;
    if (!notes->receiving || t->table->cancel(t, &notes->request))
        free(notes);
}

/* --- what they say --- */

/* The last note of a kind from the rank at a place of the task's group, if it is about
 * that group and about number `number` or a later one. */
static const heard *
heard_from(const dt_notes *notes, const dt_group *group, int place, dt_note_kind kind,
           uint64_t number)
{
    const heard *h = notes->last[kind][group->ranks[place]];
    if (h == NULL || place == group->index || h->note.group != group->hash ||
        h->note.number < number)
        return NULL;
    return h;
}

const char *
dt_notes_left(const dt_notes *notes, const dt_task *task)
{
    for (int place = 0; place < task->group->size; place++) {
        const heard *h =
            heard_from(notes, task->group, place, DT_NOTE_LEFT, task->number);
        if (h != NULL)
            return h->note.text;
    }
    return NULL;
}

dt_status
dt_notes_failure(dt_notes *notes, dt_group *group, dt_error *err)
{
    dt_made_here *made = notes->world->made;
    for (int place = 0; place < group->size && made != NULL; place++) {
        const heard *h = heard_from(notes, group, place, DT_NOTE_FAILED, 1);
        if (h == NULL || made(h->note.call) != DT_SUCCEEDED)
            continue;
        dt_status status = (dt_status)h->note.number;
        group->faults = dt_mix(group->faults, h->note.call) | 1;
        dt_fail(err, status, "rank %d failed in %s", group->ranks[place], h->note.text);
        notes->last[DT_NOTE_FAILED][group->ranks[place]]->note.number = 0; /* used */
        return status;
    }
    return DT_OK;
}

/* Whether a rank had not yet come to a task when it ended: then it never will. */
static bool
never_came(const note *ended, const dt_task *task)
{
    uint64_t listed = ended->number < REACHED ? ended->number : REACHED;
    for (uint64_t k = 0; k < listed; k++) {
        reached r;
        memcpy(&r, ended->text + k * sizeof r, sizeof r);
        if (r.group == task->group->hash)
            return r.started < task->number;
    }
    return listed == ended->number;
}

int
dt_notes_ended(const dt_notes *notes, const dt_task *task, double seconds)
{
    double before = dt_now() - seconds;
    for (int place = 0; place < task->group->size; place++) {
        const heard *h = notes->last[DT_NOTE_ENDED][task->group->ranks[place]];
        if (h != NULL && (h->when <= before || never_came(&h->note, task)))
            return task->group->ranks[place];
    }
    return -1;
}

uint64_t
dt_notes_next(bool *same_call, const dt_notes *notes, const dt_task *task)
{
    uint64_t next = task->number;
    *same_call = false;
    if (notes->count_left == 0)
        return next;
    uint64_t call = dt_hash(0, task->what, strlen(task->what));
    for (int place = 0; place < task->group->size; place++) {
        const heard *h =
            heard_from(notes, task->group, place, DT_NOTE_LEFT, task->number);
        if (h == NULL)
            continue;
        if (h->note.call == call)
            *same_call = true;
        if (h->note.number >= next)
            next = h->note.number + 1;
    }
    return next;
}

uint64_t
dt_notes_count(const dt_notes *notes)
{
    return notes->count;
}

uint64_t
dt_notes_newest(const dt_notes *notes, const dt_task *task)
{
    uint64_t newest = 0;
    for (int place = 0; place < task->group->size; place++) {
        const heard *h = heard_from(notes, task->group, place, DT_NOTE_WAITS, newest);
        newest = h != NULL ? h->note.number : newest;
    }
    return newest;
}

static bool
waits_in(const dt_notes *notes, const dt_task *task, int place)
{
    const heard *h = heard_from(notes, task->group, place, DT_NOTE_WAITS, task->number);
    return h != NULL && h->note.number == task->number;
}

bool
dt_notes_all_wait(const dt_notes *notes, const dt_task *task)
{
    for (int place = 0; place < task->group->size; place++)
        if (place != task->group->index && !waits_in(notes, task, place))
            return false;
    return true;
}

enum { HERE, MISSING, ELSEWHERE, ELSEWHERE_SHOWN = 3 };

/* Labels the places of the group. Returns how many are MISSING. */
static int
label_places(dt_notes *notes, const dt_task *task, double since)
{
    int missing = 0;
    const dt_group *group = task->group;
    for (int place = 0; place < group->size; place++) {
        const heard *h = notes->last[DT_NOTE_WAITS][group->ranks[place]];
        unsigned char label = MISSING;
        if (place == group->index || waits_in(notes, task, place))
            label = HERE;
        else if (h != NULL && h->when >= since)
            label = ELSEWHERE;
        notes->labels[place] = label;
        missing += label == MISSING;
    }
    return missing;
}

void
dt_notes_verdict(char *out, size_t size, dt_notes *notes, const dt_task *task,
                 double since)
{
    const dt_group *group = task->group;
    dt_sentence s = {.out = out, .size = size};
    dt_sentence_add(&s, "%.400s #%" PRIu64 " did not end within %g s", task->what,
                    task->number, notes->world->timeout);
    const char *mark = ": ";
    if (label_places(notes, task, since) > 0) {
        dt_sentence_add(&s, "%s", mark);
        dt_sentence_ranks(&s, group->ranks, notes->labels, group->size, MISSING);
        /* Whoever has its part of the data goes on without a word. */
        dt_sentence_add(&s, task->moved ? " did not answer" : " did not come");
        mark = ", ";
    }
    for (int place = 0, shown = 0; place < group->size; place++)
        if (notes->labels[place] == ELSEWHERE && shown++ < ELSEWHERE_SHOWN) {
            const note *n = &notes->last[DT_NOTE_WAITS][group->ranks[place]]->note;
            dt_sentence_add(&s, "%srank %d was in %.120s #%" PRIu64, mark,
                            group->ranks[place], n->text, n->number);
            mark = ", ";
        }
    if (*mark == ':')
        dt_sentence_add(&s, ", though all its ranks wait in it");
}
