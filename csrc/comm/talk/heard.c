/* What the last notes of each kind from each rank say of a task, and the sentence of those
 * who wait in vain. */
#include "comm/talk/heard.h"
#include "comm/talk/trail.h"
#include "core/facts/hash.h"

#include <inttypes.h>
#include <string.h>

/* The last note of a kind from the rank at a place of the task's group, if it is about
 * that group and about number `number` or a later one. */
static const dt_heard *
heard_from(const dt_notes *notes, const dt_group *group, int place, dt_note_kind kind,
           uint64_t number)
{
    const dt_heard *h = notes->last[kind][group->ranks[place]];
    if (h == NULL || place == group->index || h->note.group != group->hash ||
        h->note.number < number)
        return NULL;
    return h;
}

const char *
dt_notes_left(bool *to_all, const dt_notes *notes, const dt_task *task)
{
    const char *left = NULL;
    uint64_t call = dt_hash(0, task->what, strlen(task->what));
    *to_all = false;
    for (int place = 0; place < task->group->size; place++) {
        const dt_heard *h =
            heard_from(notes, task->group, place, DT_NOTE_LEFT, task->number);
        if (h == NULL)
            continue;
        left = left == NULL ? h->text : left;
        *to_all = *to_all || (!h->note.reply && h->note.call == call);
    }
    return left;
}

/* A note of a failure in a call that succeeded here, of a rank that is missing in the task
 * of that number; NULL: there is none. */
static const dt_heard *
failed_alone(const dt_notes *notes, const dt_group *group, int place, uint64_t number)
{
    dt_made_here *made = notes->world->made;
    const dt_heard *h = heard_from(notes, group, place, DT_NOTE_FAILED, number);
    bool told = h != NULL && h->note.number == number && made != NULL;
    return told && made(h->note.call) == DT_SUCCEEDED ? h : NULL;
}

static const dt_heard *
failed_locally(const dt_notes *notes, const dt_group *group, int place, uint64_t number)
{
    const dt_heard *h = notes->last[DT_NOTE_LOCAL][group->ranks[place]];
    for (uint64_t k = 0; h != NULL && k < h->note.number && k < DT_LOCALS; k++) {
        dt_local_of l;
        memcpy(&l, h->text + k * sizeof l, sizeof l);
        if (l.group == group->hash && l.number == number && place != group->index &&
            dt_more_here(group, h->note.call, l.times))
            return h;
    }
    return NULL;
}

double
dt_notes_failure(dt_error *out, const dt_notes *notes, const dt_group *group,
                 uint64_t number)
{
    if (notes->of_kind[DT_NOTE_FAILED] + notes->of_kind[DT_NOTE_LOCAL] == 0)
        return 0;
    for (int place = 0; place < group->size; place++) {
        const dt_heard *h = failed_alone(notes, group, place, number);
        bool local = h == NULL;
        if (local)
            h = failed_locally(notes, group, place, number);
        if (h == NULL)
            continue;
        dt_fail(out, (dt_status)h->note.status, "%s",
                h->text + (local ? DT_LOCAL_TEXT : 0));
        return h->when;
    }
    return 0;
}

bool
dt_notes_settled(dt_error *out, const dt_notes *notes, const dt_group *group,
                 uint64_t number)
{
    for (int place = 0; place < group->size; place++) {
        const dt_heard *h = heard_from(notes, group, place, DT_NOTE_SETTLED, number);
        if (h == NULL || h->note.call > number)
            continue;
        dt_fail(out, (dt_status)h->note.status, "%s", h->text);
        return true;
    }
    return false;
}

int
dt_notes_gone(const dt_notes *notes, double seconds)
{
    double before = dt_now() - seconds;
    for (int rank = 0; rank < notes->world->transport->size; rank++) {
        const dt_heard *h = notes->last[DT_NOTE_ENDED][rank];
        if (h != NULL && h->when <= before)
            return rank;
    }
    return -1;
}

/* Whether a rank waits in dt_resync for a newer epoch than this world's. */
static bool
resyncs(const dt_notes *notes, int rank)
{
    const dt_heard *h = notes->last[DT_NOTE_RESYNC][rank];
    return h != NULL && h->note.number > notes->world->epoch;
}

int
dt_notes_resync_count(const dt_notes *notes)
{
    int count = 0;
    for (int rank = 0; rank < notes->world->transport->size; rank++)
        count += resyncs(notes, rank);
    return count;
}

int
dt_notes_resyncing(dt_sentence *out, dt_notes *notes, bool wait)
{
    const dt_world *world = notes->world;
    const char *why = NULL;
    int count = 0, size = world->transport->size;
    for (int rank = 0; rank < size; rank++) {
        bool waits = resyncs(notes, rank);
        bool own = rank == world->transport->rank;
        notes->labels[rank] = !own && waits == wait;
        count += notes->labels[rank];
        if (wait && waits && why == NULL)
            why = notes->last[DT_NOTE_RESYNC][rank]->text;
    }
    dt_sentence_ranks_on(out, world->transport, world->all->ranks, notes->labels, size,
                         1);
    if (why != NULL)
        dt_sentence_add(out, " %s", why);
    return count;
}

/* Whether a rank had not yet come to a task when it ended: then it never will. */
static bool
never_came(const dt_heard *ended, const dt_task *task)
{
    uint64_t listed =
        ended->note.number < DT_PROGRESSES ? ended->note.number : DT_PROGRESSES;
    for (uint64_t k = 0; k < listed; k++) {
        dt_progress_of p;
        memcpy(&p, ended->text + k * sizeof p, sizeof p);
        if (p.group == task->group->hash)
            return p.started < task->number;
    }
    return listed == ended->note.number;
}

int
dt_notes_ended(const dt_notes *notes, const dt_task *task, double seconds)
{
    double before = dt_now() - seconds;
    for (int place = 0; place < task->group->size; place++) {
        const dt_heard *h = notes->last[DT_NOTE_ENDED][task->group->ranks[place]];
        if (h != NULL && (h->when <= before || never_came(h, task)))
            return task->group->ranks[place];
    }
    return -1;
}

uint64_t
dt_notes_next(bool *same_call, const dt_notes *notes, const dt_task *task)
{
    uint64_t next = task->number;
    *same_call = false;
    uint64_t call = dt_hash(0, task->what, strlen(task->what));
    for (int place = 0; place < task->group->size; place++) {
        const dt_heard *h =
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
        const dt_heard *h =
            heard_from(notes, task->group, place, DT_NOTE_WAITS, newest);
        if (h != NULL && h->note.done < task->number)
            newest = h->note.number;
    }
    return newest;
}

bool
dt_notes_waits_in(const dt_notes *notes, const dt_task *task, int place)
{
    const dt_heard *h =
        heard_from(notes, task->group, place, DT_NOTE_WAITS, task->number);
    return h != NULL && h->note.number == task->number;
}

const dt_heard *
dt_notes_elsewhere(const dt_notes *notes, const dt_task *task, int place, double since)
{
    const dt_heard *h = notes->last[DT_NOTE_WAITS][task->group->ranks[place]];
    bool here = place == task->group->index || dt_notes_waits_in(notes, task, place);
    return h != NULL && !here && h->when >= since ? h : NULL;
}

bool
dt_notes_all_wait(const dt_notes *notes, const dt_task *task)
{
    for (int place = 0; place < task->group->size; place++)
        if (place != task->group->index && !dt_notes_waits_in(notes, task, place))
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
        unsigned char label = MISSING;
        if (place == group->index || dt_notes_waits_in(notes, task, place))
            label = HERE;
        else if (dt_notes_elsewhere(notes, task, place, since) != NULL)
            label = ELSEWHERE;
        notes->labels[place] = label;
        missing += label == MISSING;
    }
    return missing;
}

/* Adds who of the group is not there, and where it is. */
static void
add_missing(dt_sentence *s, dt_notes *notes, const dt_task *task, double since)
{
    const dt_group *group = task->group;
    const char *mark = ": ";
    if (label_places(notes, task, since) > 0) {
        dt_sentence_add(s, "%s", mark);
        dt_sentence_ranks_on(s, notes->world->transport, group->ranks, notes->labels,
                             group->size, MISSING);
        /* Whoever has its part of the data goes on without a word. */
        dt_sentence_add(s, task->moved ? " did not answer" : " did not come");
        mark = ", ";
    }
    for (int place = 0, shown = 0; place < group->size; place++)
        if (notes->labels[place] == ELSEWHERE && shown++ < ELSEWHERE_SHOWN) {
            const dt_heard *h = notes->last[DT_NOTE_WAITS][group->ranks[place]];
            dt_sentence_add(
                s, "%s%s was in %.120s #%" PRIu64, mark,
                dt_name_rank(notes->world->transport, group->ranks[place]).text,
                *h->text ? h->text : "another call", dt_count_in(h->note.number));
            mark = ", ";
        }
    if (*mark == ':')
        dt_sentence_add(s, ", though all its ranks wait in it");
}

bool
dt_notes_waited(char *out, size_t size, dt_notes *notes, const dt_task *task,
                double since)
{
    const dt_transport *transport = notes->world->transport;
    dt_sentence s = {.out = out, .size = size};
    dt_sentence_add(&s, "%s has waited %.0f s in %.400s #%" PRIu64,
                    dt_name_rank(transport, transport->rank).text, dt_now() - since,
                    task->what, dt_count_in(task->number));
    add_missing(&s, notes, task, since);
    int first = 0;
    while (first < task->group->index && notes->labels[first] != HERE)
        first++;
    return first == task->group->index;
}

void
dt_notes_verdict(char *out, size_t size, dt_notes *notes, const dt_task *task,
                 double since)
{
    dt_sentence s = {.out = out, .size = size};
    dt_sentence_add(&s, "%.400s #%" PRIu64 " was given up after %g s", task->what,
                    dt_count_in(task->number), notes->world->timeout);
    add_missing(&s, notes, task, since);
    dt_sentence_add(&s, "; a larger %s waits longer", notes->world->limit);
}
