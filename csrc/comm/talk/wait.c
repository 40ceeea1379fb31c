/* Tasks: the line in which they stand, progress, and the one loop that waits.
 *
 * Each queue of groups that share tags runs its tasks one after another. Waiting for a
 * task makes progress on all queues: it spins, then yields, then naps, and every 50 ms
 * looks at signals and the clock. After a second it tells the other ranks of its group in which
 * call it waits, and reads what they have told: that they have left this call, that they
 * wait elsewhere, or that they have ended. At the deadline it gives up, with a sentence made of these notes. A task that fails while data
 * are under way breaks the world: a later call could take those data for its own. */
#include "comm/talk/board.h"
#include "comm/talk/note.h"
#include "comm/talk/spread.h"
#include "comm/talk/trail.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

static const double POLL_SECONDS = 0.05;
static const double FIRST_SECONDS = 2e-4;  /* then it looks at signals and the clock */
static const double SHOWN_SECONDS = 0.04;  /* then the board says that one waits */
static const double LATE_SECONDS = 1.0;    /* then the others are told that one waits */
static const double SAID_SECONDS = 30.0;   /* then the user is told who is missing */
static const double GRACE_SECONDS = 0.5;   /* for notes under way at the deadline */
static const double FINISH_SECONDS = 2.0;  /* for data that moves at an interrupt */
static const double ENDED_SECONDS = 10.0;  /* for a rank that has ended, but was here */
static const double ASLEEP_SECONDS = 0.02; /* a pause in which others may have left */
static const double YIELD_SECONDS = 0.02;  /* then a rank that waits naps; ... */
static const double YIELD_CROWDED = 1e-3;  /* ... of more ranks than processors, then */
enum { NAP_NANOSECONDS = 50 * 1000 };
enum { ASLEEP_LOOKS = 8, SETTLES_LATE = 3 };

/* A few nanoseconds to read, a few milliseconds coarse. */
static double
coarse_now(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* --- one line of tasks --- */

/* A rank whose world is broken tells those who may wait for it. */
static dt_status
refuse(dt_task *task, dt_error *err)
{
    dt_world *world = task->group->world;
    char text[1024];
    snprintf(text, sizeof text, "%s cannot take part in %.200s: %.600s",
             dt_name_rank(world->transport, world->transport->rank).text, task->what,
             world->broken_by.message);
    task->number = ++task->group->started;
    dt_notes_tell(world->notes, task, DT_NOTE_LEFT, text);
    return dt_fail(
        err, DT_RUNTIME,
        "%.200s: ranks cannot exchange data any more since a call failed half "
        "way: %.700s",
        task->what, world->broken_by.message);
}

dt_status
dt_start(dt_task *task, dt_error *err)
{
    dt_group *group = task->group, *queue = group->queue;
    dt_world *world = group->world;
    if (group->index < 0 || task->queued)
        return dt_fail(err, DT_BUG, "rank %d cannot start %s: %s",
                       world->transport->rank, task->what,
                       task->queued ? "it is under way" : "it is not in the group");
    if (world->left) {
        dt_notes_collect(world->notes); /* who waits for this rank is told */
        return dt_fail(err, DT_RUNTIME,
                       "%.200s: this rank has called resync(), which did not end: all "
                       "ranks must call it",
                       task->what);
    }
    if (world->broken)
        return refuse(task, err);

    task->next = NULL;
    task->number = 0;
    task->queued = true;
    task->begun = task->finished = task->moved = false;
    task->faults = world->faults;
    task->steps = world->trail == NULL ? 0 : world->trail->steps;
    task->error.status = DT_OK;
    task->error.message[0] = '\0';
    if (queue->first == NULL)
        queue->first = task;
    else
        queue->last->next = task;
    queue->last = task;
    if (!queue->listed) {
        dt_group **end = &world->active;
        while (*end != NULL)
            end = &(*end)->next_active;
        *end = queue;
        queue->next_active = NULL;
        queue->listed = true;
    }
    return DT_OK;
}

static void
begin(dt_task *task)
{
    dt_group *group = task->group;
    task->number = ++group->started;
    task->begun = true;
    /* Others may have waited for this rank in vain meanwhile; agree.c wants to know.
     * MPI looks for a message first, and then makes progress by a few of them. */
    if (group->size > 1 && coarse_now() - group->rested > ASLEEP_SECONDS)
        for (int i = 0; i < ASLEEP_LOOKS; i++)
            dt_notes_collect(group->world->notes);
}

/* Takes the first task out of the line. A failure that leaves data under way breaks the
 * world: a later call could take that data for its own. */
static void
end(dt_group *queue, dt_status status)
{
    dt_task *task = queue->first;
    dt_world *world = queue->world;
    if (status != DT_OK) {
        task->error.status = status;
        task->abandon(task);
        if (!world->broken && (task->moved || status == DT_MPI)) {
            world->broken = true;
            world->broken_by = task->error;
        }
    }
    if (status == DT_OK)
        task->group->reached = task->number;
    queue->first = task->next;
    task->group->rested = coarse_now();
    task->queued = false;
    task->finished = true;
}

static void
end_all(dt_group *queue, const char *sentence)
{
    while (queue->first != NULL) {
        dt_fail(&queue->first->error, DT_RUNTIME, "%s", sentence);
        end(queue, DT_RUNTIME);
    }
}

static void
end_first_with_its_error(dt_group *queue, dt_status status)
{
    dt_task *task = queue->first;
    dt_world *world = queue->world;
    if (task->moved || status == DT_MPI) {
        char text[1024];
        snprintf(text, sizeof text, "%s failed in %.400s #%" PRIu64 ": %.500s",
                 dt_name_rank(world->transport, world->transport->rank).text,
                 task->what, dt_count_in(task->number), task->error.message);
        dt_notes_tell(world->notes, task, DT_NOTE_LEFT, text);
    }
    end(queue, status);
}

static void
run(dt_group *queue)
{
    while (queue->first != NULL) {
        dt_task *task = queue->first;
        if (queue->world->broken) {
            end_all(queue, queue->world->broken_by.message);
            return;
        }
        if (!task->begun)
            begin(task);
        bool done = false;
        dt_status status = task->advance(&done, task, &task->error);
        if (status != DT_OK)
            end_first_with_its_error(queue, status);
        else if (done)
            end(queue, DT_OK);
        else
            return;
    }
}

void
dt_progress(dt_world *world)
{
    dt_group **link = &world->active;
    while (*link != NULL) {
        dt_group *queue = *link;
        run(queue);
        if (queue->first == NULL) {
            *link = queue->next_active;
            queue->listed = false;
        } else {
            link = &queue->next_active;
        }
    }
}

void
dt_give_up_all(dt_world *world, const char *reason)
{
    for (; world->active != NULL; world->active = world->active->next_active) {
        dt_group *queue = world->active;
        queue->listed = false;
        while (queue->first != NULL) {
            dt_task *task = queue->first;
            dt_fail(&task->error, DT_RUNTIME, "%s was given up: %s", task->what,
                    reason);
            end(queue, DT_RUNTIME);
        }
    }
}

/* --- waiting --- */

/* What one who waits long keeps in mind. */
typedef struct {
    dt_group *queue;
    const dt_task *head; /* the task that the line has been waiting for ... */
    uint64_t number;
    double since;       /* ... since then */
    bool told;          /* the other ranks know ... */
    bool late;          /* ... or did, of the same task under an older number */
    int asked;          /* so many that have called resync() are asked to answer */
    bool shown;         /* whoever looks at the board sees it */
    bool said;          /* the user has been told */
    double interrupted; /* when; 0: not */
} waiting;

/* Ends the first task of the line: `status` and `own` are for the caller who waits, and
 * for whoever waits for the tasks behind it; `told` for the other ranks, NULL: they know. */
static void
give_up(waiting *v, dt_status status, const char *own, const char *told)
{
    dt_task *head = v->queue->first;
    if (told != NULL)
        dt_notes_tell(v->queue->world->notes, head, DT_NOTE_LEFT, told);
    dt_fail(&head->error, status, "%s", own);
    end(v->queue, status);
    end_all(v->queue, own);
}

static void
time_out(waiting *v)
{
    char sentence[sizeof(((dt_error *)NULL)->message)];
    dt_notes_verdict(sentence, sizeof sentence, v->queue->world->notes, v->queue->first,
                     v->since);
    give_up(v, DT_RUNTIME, sentence, sentence);
}

/* Long waits may be meant: one rank reads a file. */
static void
say(waiting *v)
{
    char sentence[sizeof(((dt_error *)NULL)->message)];
    v->said = true;
    if (dt_notes_waited(sentence, sizeof sentence, v->queue->world->notes,
                        v->queue->first, v->since))
        fprintf(stderr, "dtensor: %s (python -m dtensor.top shows where all are)\n",
                sentence);
}

/* Whoever interrupts wants out; but data that all ranks have agreed to move is given a
 * moment to arrive, for then later calls work. */
static void
heed_interrupt(waiting *v, double now)
{
    dt_task *head = v->queue->first;
    dt_world *world = v->queue->world;
    if (v->interrupted == 0 && world->poll != NULL &&
        world->poll(world->poll_data) != DT_OK)
        v->interrupted = now;
    if (v->interrupted == 0 || (head->moved && now - v->interrupted < FINISH_SECONDS))
        return;
    char text[1024];
    snprintf(text, sizeof text, "%s was interrupted in %s #%" PRIu64,
             dt_name_rank(world->transport, world->transport->rank).text, head->what,
             dt_count_in(head->number));
    give_up(v, DT_RUNTIME, text, text);
}

double
dt_late_seconds(const dt_world *world)
{
    return world->timeout / 4 < LATE_SECONDS ? world->timeout / 4 : LATE_SECONDS;
}

static double
grace_seconds(const dt_world *world)
{
    return world->timeout < GRACE_SECONDS ? world->timeout : GRACE_SECONDS;
}

/* Tells the others that one waits, hears from them, and gives up where that is due. */
static void
heed_time(waiting *v, double now)
{
    dt_task *head = v->queue->first;
    dt_world *world = v->queue->world;
    double waited = now - v->since, late = dt_late_seconds(world);
    dt_notes_collect(world->notes);
    int resync = dt_notes_resync_count(world->notes);
    if (waited < late && resync == 0 && !v->late)
        return;
    /* Some rank is about to end the task for one that failed, and to tell all. */
    dt_error failed;
    if (waited < SETTLES_LATE * late && resync == 0 &&
        dt_notes_failure(&failed, world->notes, head->group, head->number) != 0)
        return;
    if (!v->told || resync > v->asked) /* one that came since may not have answered */
        dt_notes_tell(world->notes, head, DT_NOTE_WAITS, head->what);
    if (!v->told)
        dt_spread_begin(world->notes);
    v->told = true;
    v->asked = resync;
    dt_spread(world->notes, head, late, world->timeout - waited);

    if (waited >= SAID_SECONDS && !v->said)
        say(v);

    bool to_all, leads = dt_spread_leads(world->notes, head->group);
    double grace = grace_seconds(world), more = leads ? 0 : grace / 2;
    const char *left = dt_notes_left(&to_all, world->notes, head);
    /* A rank that has ended may have been here before, and a slow one keep this one
     * waiting: then it is not missed at once. */
    int ended = head->moved ? -1 : dt_notes_ended(world->notes, head, ENDED_SECONDS);
    char text[1024];
    if (left != NULL && resync > 0) {
        dt_sentence s = {.out = text, .size = sizeof text};
        dt_sentence_add(&s, "%.400s #%" PRIu64 " was given up: ", head->what,
                        dt_count_in(head->number));
        dt_notes_resyncing(&s, world->notes, true);
        give_up(v, DT_RUNTIME, text, text);
    } else if (left != NULL) {
        snprintf(text, sizeof text, "%s", left);
        give_up(v, DT_RUNTIME, text, to_all ? NULL : text);
    } else if (ended >= 0) {
        snprintf(text, sizeof text,
                 "%.400s #%" PRIu64 " waits for %s, which has ended: every rank of the "
                 "mesh must make this call",
                 head->what, dt_count_in(head->number),
                 dt_name_rank(world->transport, ended).text);
        give_up(v, DT_RUNTIME, text, text);
    } else if (waited > world->timeout + grace + more ||
               (waited > world->timeout + more &&
                dt_notes_all_wait(world->notes, head))) {
        time_out(v);
    }
}

/* Every some milliseconds of a wait. Returns when to look again. */
static double
look(waiting *v)
{
    const dt_task *head = v->queue->first;
    dt_world *world = v->queue->world;
    double now = dt_now();
    if (head != v->head || head->number != v->number) {
        v->late = head == v->head && (v->told || v->late);
        v->head = head;
        v->number = head->number;
        v->since = now;
        if (v->shown)
            dt_board_show(world->board, NULL, 0);
        v->told = v->shown = v->said = false;
        v->asked = 0;
    }
    if (!v->shown && now - v->since >= SHOWN_SECONDS) {
        dt_board_show(world->board, head, v->since);
        v->shown = true;
    }
    heed_interrupt(v, now);
    if (v->queue->first == head)
        heed_time(v, now);
    double pause =
        world->timeout / 16 < POLL_SECONDS ? world->timeout / 16 : POLL_SECONDS;
    return now + (now - v->since > world->timeout ? pause / 8 : pause);
}

/* Leaves the processor to others, to those that are waited for above all. No naps while
 * data are under way: MPI moves them when it is called. */
static void
yield_or_nap(const dt_world *world, bool naps)
{
    static const struct timespec nap = {.tv_nsec = NAP_NANOSECONDS};
    for (const dt_group *q = world->active; naps && q != NULL; q = q->next_active)
        naps = q->first == NULL || !q->first->moved;
    world->transport->table->idle(world->transport);
    if (naps)
        nanosleep(&nap, NULL);
}

static void
wait_long(dt_task *task, bool *interrupted)
{
    dt_world *world = task->group->world;
    double now = dt_now(), next = now + FIRST_SECONDS;
    waiting v = {.queue = task->group->queue, .since = now};
    double yields = world->transport->oversubscribed ? YIELD_CROWDED : YIELD_SECONDS;
    dt_notes_collect(world->notes); /* or they would pile up in short waits */
    for (unsigned spin = 1; !task->finished; spin++) {
        yield_or_nap(world, now - v.since > yields);
        dt_progress(world);
        if (spin % 8 == 0)
            now = dt_now();
        if (!task->finished && now >= next)
            next = look(&v);
    }
    if (v.shown)
        dt_board_show(world->board, NULL, 0);
    if (v.told)
        dt_notes_wait_ended(world->notes);
    *interrupted = v.interrupted != 0;
}

dt_status
dt_wait(dt_task *task, dt_error *err)
{
    dt_world *world = task->group->world;
    if (!task->queued && !task->finished)
        return dt_fail(err, DT_BUG, "%s was never started", task->what);
    bool interrupted = false;
    int patience = world->transport->oversubscribed ? 2 : 1000;
    for (int spin = 0; !task->finished && spin < patience; spin++)
        dt_progress(world);
    if (!task->finished) {
        if (world->let_go != NULL)
            world->let_go(world->poll_data, true);
        wait_long(task, &interrupted);
        if (world->let_go != NULL)
            world->let_go(world->poll_data, false);
    }
    if (interrupted)
        return dt_fail(err, DT_INTERRUPTED, "interrupted while it waited in %s",
                       task->what);
    if (task->error.status != DT_OK && err != NULL)
        *err = task->error;
    return task->error.status;
}
