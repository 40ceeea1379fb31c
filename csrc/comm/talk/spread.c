/* The first place of the group that waits collects: the others tell it, and it tells all,
 * as bits, who has. A rank begins with place 0; while nobody of those that it has asked
 * tells, it asks twice as many, up to its own place, and then collects itself. Whoever
 * is asked and waits in another group answers with its call (note.c), which is passed on,
 * for a few such ranks.
 *
 * Costs, with one rank missing in a group of n: n notes to place 0, and where that is
 * missing n more to place 1; n of who waits, and n more for those that came late. What is
 * heard by such notes is a few words a rank, without texts. */
#include "comm/talk/spread.h"
#include "comm/talk/heard.h"

#include <string.h>

static const double ASK_PAUSE = 0.75;  /* of `late`: time to answer */
static const double TELL_PAUSE = 0.25; /* for what comes at about the same time */
enum { PAUSES_GROW = 3, RELAYS_MOST = 3 };

void
dt_spread_begin(dt_notes *notes)
{
    double now = dt_now();
    notes->spreading = (dt_spreading){.since = now, .next = now, .answered = -1};
}

bool
dt_spread_leads(const dt_notes *notes, const dt_group *group)
{
    return group->size <= DT_NOTES_TO_ALL || notes->spreading.collects;
}

/* Whether a lower place collects, since this rank has begun to ask. If it has not heard
 * of this rank, it is told. */
static bool
is_collected(dt_notes *notes, const dt_group *group)
{
    dt_spreading *s = &notes->spreading;
    for (int place = 0; place < group->index; place++) {
        const dt_heard *h = notes->last[DT_NOTE_DIGEST][group->ranks[place]];
        if (h == NULL || h->note.group != group->hash || h->when < s->since)
            continue;
        if (h->note.status == 0 && place >= s->asked && place != s->answered) {
            dt_notes_send(notes, &notes->own, group->ranks + place, 1);
            s->answered = place;
        }
        return true;
    }
    return false;
}

static void
ask(dt_notes *notes, const dt_group *group, double now, double late)
{
    dt_spreading *s = &notes->spreading;
    int end = s->asked == 0 ? 1 : 2 * s->asked;
    if (s->asked >= group->index) {
        s->collects = true;
        s->pause = TELL_PAUSE * late;
        s->next = now + s->pause;
        return;
    }
    end = end < group->index ? end : group->index;
    dt_notes_send(notes, &notes->own, group->ranks + s->asked, end - s->asked);
    s->asked = end;
    s->next = now + ASK_PAUSE * late;
}

/* Passes on what a rank waits in that is missing here. */
static void
relay(dt_notes *notes, const dt_task *task)
{
    dt_spreading *s = &notes->spreading;
    const dt_group *group = task->group;
    int found = 0;
    for (int place = 0; place < group->size && s->relayed < RELAYS_MOST; place++) {
        const dt_heard *h = dt_notes_elsewhere(notes, task, place, s->since);
        if (h == NULL || found++ < s->relayed)
            continue;
        dt_rank_note n = {.head = h->note};
        n.head.reply = 1;
        n.head.status = 1 + group->ranks[place];
        strncpy(n.text, h->text, sizeof n.text - 1);
        dt_notes_send(notes, &n, group->ranks, group->size);
        s->relayed++;
    }
}

/* Tells all who waits here, if that is not what was told last. */
static void
tell(dt_notes *notes, const dt_task *task)
{
    dt_spreading *s = &notes->spreading;
    const dt_group *group = task->group;
    dt_rank_note n = {.head = notes->own.head};
    int count = 0;
    n.head.kind = DT_NOTE_DIGEST;
    for (int place = 0; place < group->size; place++) {
        if (place != group->index && !dt_notes_waits_in(notes, task, place))
            continue;
        count++;
        if (place < 8 * DT_NOTE_TEXT)
            n.text[place / 8] = (char)(n.text[place / 8] | 1 << place % 8);
    }
    if (count != s->told)
        dt_notes_send(notes, &n, group->ranks, group->size);
    s->told = count;
    relay(notes, task);
}

void
dt_spread(dt_notes *notes, const dt_task *task, double late, double left)
{
    dt_spreading *s = &notes->spreading;
    const dt_group *group = task->group;
    double now = dt_now();
    if (group->size <= DT_NOTES_TO_ALL)
        return;
    if (!s->collects && !is_collected(notes, group) && now >= s->next)
        ask(notes, group, now, late);
    if (s->collects && (now >= s->next || left < TELL_PAUSE * late)) {
        tell(notes, task);
        s->pause *= PAUSES_GROW;
        s->next = now + s->pause;
    }
}
