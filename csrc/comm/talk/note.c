/* Notes between ranks that wait.
 *
 * All notes of a world have one tag, so that one probe finds them whatever group they are
 * about. A receiver keeps the last note of each kind from each rank. Notes are sent at
 * best effort and never answered but once, by a rank that waits in another group; nothing
 * but the sentence of an error, and when it is raised, depends on them. A letter is a note
 * under way to several ranks, freed when all have it. */
#include "comm/talk/heard.h"
#include "comm/talk/trail.h"
#include "core/facts/hash.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A note under way to `count` ranks. */
typedef struct letter letter;
struct letter {
    letter *next;
    dt_rank_note note;
    int count;
    dt_request requests[];
};

dt_status
dt_notes_make(dt_notes **out, dt_world *world, dt_error *err)
{
    size_t size = (size_t)world->transport->size;
    dt_notes *notes = calloc(1, sizeof *notes + size);
    dt_heard **last = calloc(DT_NOTE_KINDS * size, sizeof(dt_heard *));
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

bool
dt_notes_send(dt_notes *notes, const dt_rank_note *content, const int *ranks, int count)
{
    dt_transport *t = notes->world->transport;
    bool all = true;
    letter *l = calloc(1, sizeof *l + (size_t)count * sizeof(dt_request));
    if (l == NULL)
        return false;
    l->note = *content;
    l->next = notes->letters;
    notes->letters = l;
    int tag = notes->world->all->tag + DT_PHASE_NOTE;
    for (int i = 0; i < count; i++)
        if (ranks[i] != t->rank) {
            bool sent = t->table->send(&l->requests[l->count], t, &l->note,
                                       sizeof l->note, ranks[i], tag, NULL) == DT_OK;
            l->count += sent;
            notes->sent += sent;
            all = all && sent;
        }
    letters_clear(notes, false);
    return all;
}

/* Whether this rank has done its part of a task, wherever it is now. */
static bool
has_reached(const dt_world *world, uint64_t group, uint64_t number)
{
    const dt_group *g = world->groups;
    while (g != NULL && g->hash != group)
        g = g->next;
    return g != NULL && g->reached >= number;
}

/* A rank that waits hears where this one is: in a task of another group, or on its way to
 * the next epoch. */
static void
answer(dt_notes *notes, int source)
{
    dt_heard *h = notes->last[DT_NOTE_WAITS][source];
    if (h == NULL || !h->open)
        return;
    const dt_world *world = notes->world;
    bool left = world->left && !has_reached(world, h->note.group, h->note.number);
    dt_rank_note out = notes->own;
    if (!left && (!notes->waiting || h->note.group == out.head.group))
        return;
    if (left)
        out.head = h->note;
    out.head.reply = 1;
    if (left) {
        out.head.kind = DT_NOTE_LEFT;
        snprintf(out.text, sizeof out.text, "%s waits for the next epoch",
                 dt_name_rank(world->transport, world->transport->rank).text);
    }
    h->open = !dt_notes_send(notes, &out, &source, 1);
}

void
dt_notes_tell(dt_notes *notes, const dt_task *task, dt_note_kind kind, const char *text)
{
    const dt_group *group = task->group;
    dt_rank_note n = {.head = {
                          .group = group->hash,
                          .number = task->number,
                          .call = dt_hash(0, task->what, strlen(task->what)),
                          .done = group->reached,
                          .kind = (int32_t)kind,
                      }};
    snprintf(n.text, sizeof n.text, "%s", text);
    if (kind != DT_NOTE_WAITS) {
        dt_notes_send(notes, &n, group->ranks, group->size);
        return;
    }
    notes->waiting = true;
    notes->own = n;
    for (int rank = 0; rank < notes->world->transport->size; rank++)
        answer(notes, rank);
    for (int place = 0; place < group->size; place++) {
        const dt_heard *h = notes->last[DT_NOTE_RESYNC][group->ranks[place]];
        bool begins = h != NULL && h->note.number > notes->world->epoch;
        if (group->size > DT_NOTES_TO_ALL && begins)
            dt_notes_send(notes, &n, &group->ranks[place], 1);
    }
    if (group->size <= DT_NOTES_TO_ALL)
        dt_notes_send(notes, &n, group->ranks, group->size);
}

void
dt_notes_tell_failure(dt_notes *notes, const dt_group *group, uint64_t lineage,
                      const dt_error *error)
{
    dt_rank_note n = {.head = {
                          .group = group->hash,
                          .number = group->started + 1,
                          .call = lineage,
                          .kind = DT_NOTE_FAILED,
                          .status = (int64_t)error->status,
                      }};
    snprintf(n.text, sizeof n.text, "%s", error->message);
    dt_notes_send(notes, &n, group->ranks, group->size);
}

void
dt_notes_tell_local(dt_notes *notes, const dt_group *ended, uint32_t name,
                    const dt_error *error)
{
    const dt_world *world = notes->world;
    int size = world->transport->size, others = 0;
    int *ranks = malloc(sizeof *ranks * (size_t)size);
    if (ranks == NULL)
        return;
    for (int rank = 0; rank < size; rank++)
        if (ended == NULL || dt_group_place(ended, rank) < 0)
            ranks[others++] = rank;
    dt_rank_note n = {.head = {.group = world->all->hash,
                               .call = name,
                               .kind = DT_NOTE_LOCAL,
                               .status = (int64_t)error->status}};
    uint64_t *count = &n.head.number;
    for (const dt_group *g = world->groups; g != NULL && *count < DT_LOCALS;
         g = g->next) {
        dt_local_of l = {.group = g->hash, .number = g->started + 1};
        if (g->index < 0 || g->size == 1)
            continue;
        l.times = dt_times_here(g, name);
        memcpy(n.text + (*count)++ * sizeof l, &l, sizeof l);
    }
    snprintf(n.text + DT_LOCAL_TEXT, sizeof n.text - DT_LOCAL_TEXT, "%.399s",
             error->message);
    dt_notes_send(notes, &n, ranks, others);
    free(ranks);
}

void
dt_notes_tell_recovered(dt_notes *notes)
{
    const dt_group *all = notes->world->all;
    dt_rank_note n = {.head = {.group = all->hash, .kind = DT_NOTE_LOCAL}};
    dt_notes_send(notes, &n, all->ranks, all->size);
}

void
dt_notes_tell_settled(dt_notes *notes, const dt_group *group, const dt_error *verdict)
{
    dt_rank_note n = {.head = {
                          .group = group->hash,
                          .number = group->settled_to,
                          .call = group->settled_from,
                          .kind = DT_NOTE_SETTLED,
                          .status = (int64_t)verdict->status,
                      }};
    snprintf(n.text, sizeof n.text, "%s", verdict->message);
    dt_notes_send(notes, &n, group->ranks, group->size);
}

void
dt_notes_farewell(dt_notes *notes)
{
    const dt_group *all = notes->world->all;
    dt_rank_note n = {.head = {.group = all->hash, .kind = DT_NOTE_ENDED}};
    uint64_t *count = &n.head.number;
    for (const dt_group *g = notes->world->groups; g != NULL; g = g->next, ++*count)
        if (*count < DT_PROGRESSES) {
            dt_progress_of p = {.group = g->hash, .started = g->started};
            memcpy(n.text + *count * sizeof p, &p, sizeof p);
        }
    dt_notes_send(notes, &n, all->ranks, all->size);
}

bool
dt_notes_tell_resync(dt_notes *notes, const char *why)
{
    const dt_group *all = notes->world->all;
    dt_rank_note n = {.head = {.group = all->hash,
                               .number = notes->world->epoch + 1,
                               .kind = DT_NOTE_RESYNC}};
    snprintf(n.text, sizeof n.text, "%s", why);
    for (int rank = 0; rank < all->size; rank++)
        answer(notes, rank); /* those that have asked before this rank came here */
    return dt_notes_send(notes, &n, all->ranks, all->size);
}

void
dt_notes_wait_ended(dt_notes *notes)
{
    notes->waiting = false;
    dt_notes_collect(notes);
}

/* --- receiving --- */

/* Writes down what a rank has said last, with as much of the text as is needed. */
static dt_heard *
note_down(dt_notes *notes, const dt_note_head *head, const char *text, size_t bytes,
          int rank)
{
    dt_heard **place = &notes->last[head->kind][rank];
    dt_heard *h = realloc(*place, sizeof *h + bytes + 1);
    if (h == NULL)
        return NULL;
    *place = h;
    h->note = *head;
    memcpy(h->text, text, bytes);
    h->text[bytes] = '\0';
    h->when = dt_now();
    h->open = false;
    notes->count++;
    notes->of_kind[head->kind]++;
    return h;
}

/* One rank says of many that they wait; what they have given up it does not know. */
static void
keep_digest(dt_notes *notes, const dt_rank_note *n, int source)
{
    const dt_group *group = notes->world->groups;
    while (group != NULL && group->hash != n->head.group)
        group = group->next;
    dt_note_head head = n->head, digest = n->head;
    head.kind = DT_NOTE_WAITS;
    head.done = UINT64_MAX;
    digest.status = 0;
    for (int place = 0; group != NULL && place < group->size; place++) {
        int rank = group->ranks[place];
        const dt_heard *h = notes->last[DT_NOTE_WAITS][rank];
        bool known =
            h != NULL && h->note.group == head.group && h->note.number >= head.number;
        bool told = place < 8 * DT_NOTE_TEXT && (n->text[place / 8] >> place % 8 & 1);
        if (told && place == group->index)
            digest.status = 1;
        if (told && !known && rank != source && place != group->index)
            note_down(notes, &head, "", 0, rank);
    }
    head.done = n->head.done;
    dt_heard *h = note_down(notes, &head, "", 0, source);
    if (h != NULL)
        h->open = true;
    note_down(notes, &digest, "", 0, source);
}

static void
keep(dt_notes *notes, const dt_rank_note *n, int source)
{
    dt_note_head head = n->head;
    bool waits = head.kind == DT_NOTE_WAITS;
    if (head.kind < 0 || head.kind >= DT_NOTE_KINDS)
        return;
    if (head.kind == DT_NOTE_DIGEST) {
        keep_digest(notes, n, source);
    } else if (waits && head.status > 0) { /* relayed */
        if (head.status <= notes->world->transport->size &&
            head.status - 1 != notes->world->transport->rank)
            note_down(notes, &head, n->text, strnlen(n->text, DT_NOTE_TEXT - 1),
                      (int)head.status - 1);
        return;
    } else {
        bool binary = head.kind == DT_NOTE_ENDED || head.kind == DT_NOTE_LOCAL;
        size_t bytes = binary ? DT_NOTE_TEXT - 1 : strnlen(n->text, DT_NOTE_TEXT - 1);
        dt_heard *h = note_down(notes, &head, n->text, bytes, source);
        if (h != NULL)
            h->open = waits && !head.reply;
    }
    answer(notes, source);
}

size_t
dt_note_bytes(void)
{
    return sizeof(dt_rank_note);
}

void
dt_notes_take(dt_notes *notes, const void *data, int source)
{
    dt_rank_note in;
    memcpy(&in, data, sizeof in);
    keep(notes, &in, source);
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
        keep(notes, &notes->in, notes->source);
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
