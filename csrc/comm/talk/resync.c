/* A fence is the last message of a rank in an epoch, to each other rank. Whoever leaves an
 * epoch cancels what it waits for, sends its fences, and takes everything that has come
 * from each other rank, in order, up to that rank's fence. When all fences are here, no
 * rank waits for a message of the old epoch any more and none is under way, so what is
 * sent from then on meets only what belongs to it. A fence is sent once: a rank that has
 * given up waiting finds those that have come meanwhile when it is called again.
 *
 * Costs: n - 1 messages of each rank, and as many notes, which wake those that wait. */
#include "comm/talk/resync.h"
#include "comm/talk/note.h"
#include "comm/talk/settle.h"
#include "comm/talk/trail.h"

#include <stdio.h>
#include <stdlib.h>

static const double POLL_SECONDS = 0.02;
static const double GONE_SECONDS =
    0.5; /* after which nothing comes from who has ended */

typedef struct {
    dt_request request;
    bool sent, come;
} fence;

struct dt_fences {
    bool told;      /* the others know that this rank waits */
    uint64_t epoch; /* that begins: what is sent */
    char *note;     /* room for one */
    fence by_rank[];
};

dt_status
dt_fences_make(dt_fences **out, int size, dt_error *err)
{
    size_t ranks = (size_t)size * sizeof(fence);
    dt_fences *fences = calloc(1, sizeof *fences + ranks + dt_note_bytes());
    if (fences == NULL)
        return dt_fail(err, DT_MEMORY, "no memory for fences of %d ranks", size);
    fences->note = (char *)fences->by_rank + ranks;
    *out = fences;
    return DT_OK;
}

void
dt_fences_free(dt_fences *fences)
{
    free(fences);
}

/* Sends the fence to a rank, if that can be done now. */
static dt_status
send_fence(bool *gone, dt_world *world, int rank, dt_error *err)
{
    dt_transport *t = world->transport;
    dt_fences *fences = world->fences;
    fence *f = &fences->by_rank[rank];
    *gone = false;
    if (!f->sent)
        DT_TRY(t->table->send(&f->request, t, &fences->epoch, sizeof fences->epoch,
                              rank, DT_FENCE_TAG, err));
    f->sent = true;
    return t->table->test(gone, t, &f->request, err);
}

/* Takes what a rank has sent before its fence, and that. Notes count as they do elsewhere.
 */
static dt_status
take_until_fence(dt_world *world, int rank, dt_error *err)
{
    dt_transport *t = world->transport;
    dt_fences *fences = world->fences;
    fence *f = &fences->by_rank[rank];
    for (bool taken = true; taken && !f->come;) {
        int tag = 0;
        DT_TRY(
            t->table->take(&taken, &tag, t, rank, fences->note, dt_note_bytes(), err));
        f->come = taken && tag == DT_FENCE_TAG;
        if (taken && tag == world->all->tag + DT_PHASE_NOTE)
            dt_notes_take(world->notes, fences->note, rank);
    }
    return DT_OK;
}

/* One round with all ranks; *all says that it was the last. A rank without memory for a
 * message tries again in the next. */
static dt_status
exchange(bool *all, dt_world *world, dt_error *err)
{
    *all = true;
    for (int rank = 0; rank < world->transport->size; rank++) {
        bool gone = false;
        if (rank == world->transport->rank)
            continue;
        dt_status status = send_fence(&gone, world, rank, err);
        if (status == DT_OK)
            status = take_until_fence(world, rank, err);
        if (status != DT_OK && status != DT_MEMORY)
            return status;
        *all = *all && gone && world->fences->by_rank[rank].come;
    }
    return DT_OK;
}

static dt_status
time_out(dt_world *world, dt_error *err)
{
    char text[sizeof err->message];
    dt_sentence s = {.out = text, .size = sizeof text};
    dt_sentence_add(&s, "resync() was given up after %g s: ", world->timeout);
    size_t begin = s.used;
    if (dt_notes_resyncing(&s, world->notes, false) > 0)
        dt_sentence_add(&s, " did not call it");
    else {
        s.used = begin;
        dt_sentence_add(&s, "though all ranks have called it");
    }
    return dt_fail(err, DT_RUNTIME, "%s", text);
}

/* Every some milliseconds. */
static dt_status
look(dt_world *world, const char *why, double since, dt_error *err)
{
    dt_fences *fences = world->fences;
    if (!fences->told)
        fences->told = dt_notes_tell_resync(world->notes, why);
    if (world->poll != NULL && world->poll(world->poll_data) != DT_OK)
        return dt_fail(err, DT_INTERRUPTED, "interrupted while it waited in resync()");
    int gone = dt_notes_gone(world->notes, GONE_SECONDS);
    if (gone >= 0 && !fences->by_rank[gone].come)
        return dt_fail(err, DT_RUNTIME,
                       "resync(): %s has ended, so the ranks cannot begin anew",
                       dt_name_rank(world->transport, gone).text);
    return dt_now() - since > world->timeout ? time_out(world, err) : DT_OK;
}

static dt_status
meet(dt_world *world, const char *why, dt_error *err)
{
    double since = dt_now(), next = since;
    for (bool all = false;;) {
        DT_TRY(exchange(&all, world, err));
        if (all)
            return DT_OK;
        dt_notes_collect(world->notes);
        world->transport->table->idle(world->transport);
        if (dt_now() < next)
            continue;
        DT_TRY(look(world, why, since, err));
        next = dt_now() + POLL_SECONDS;
    }
}

static void
begin_epoch(dt_world *world)
{
    dt_fences *fences = world->fences;
    world->epoch++;
    world->left = world->broken = false;
    fences->told = false;
    for (int rank = 0; rank < world->transport->size; rank++)
        fences->by_rank[rank] = (fence){.sent = false};
    for (dt_group *group = world->groups; group != NULL; group = group->next) {
        group->started = group->reached = group->arrivals =
            dt_first_number(world->epoch);
        group->ended = 0;
        dt_settled(group, UINT64_MAX, world->trail == NULL ? 0 : world->trail->steps);
    }
}

dt_status
dt_resync(dt_world *world, const char *why, dt_error *err)
{
    char reason[256];
    snprintf(reason, sizeof reason, "%s %.150s",
             dt_name_rank(world->transport, world->transport->rank).text, why);
    if (!world->left) {
        world->left = true;
        world->fences->epoch = world->epoch + 1;
        dt_give_up_all(world, reason);
    }
    world->fences->told = false; /* a rank may have come to wait since the last time */
    if (world->transport->size > 1 && !world->transport->alone)
        DT_TRY(meet(world, why, err));
    begin_epoch(world);
    return DT_OK;
}

bool
dt_resync_called(dt_world *world)
{
    dt_notes_collect(world->notes);
    return dt_notes_resync_count(world->notes) > 0;
}
