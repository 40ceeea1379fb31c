#include "comm/execute.h"
#include "comm/measure.h"
#include "comm/note.h"
#include "core/copy.h"

#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

int64_t dt_count_limit = INT_MAX;

double
dt_now(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* --- settings --- */

dt_status
dt_timeout_read(double *out, dt_error *err)
{
    const char *text = getenv("DTENSOR_TIMEOUT");
    double seconds = DT_TIMEOUT_DEFAULT;
    if (text != NULL && *text != '\0') {
        char *end;
        seconds = strtod(text, &end);
        if (*end != '\0' || !(seconds > 0)) /* also for NaN */
            return dt_fail(err, DT_VALUE,
                           "DTENSOR_TIMEOUT must be a positive number of seconds, "
                           "it is \"%.40s\"",
                           text);
    }
    *out = seconds;
    return DT_OK;
}

static dt_status
check_read(dt_check *out, dt_error *err)
{
    const char *text = getenv("DTENSOR_CHECK");
    if (text == NULL || *text == '\0')
        *out = DT_CHECK_CALLS;
    else if (text[1] == '\0' && *text >= '0' && *text <= '2')
        *out = (dt_check)(*text - '0');
    else
        return dt_fail(err, DT_VALUE,
                       "DTENSOR_CHECK must be 0, 1 or 2, it is \"%.40s\"", text);
    return DT_OK;
}

/* The same sentence on all ranks: what is compared is known to all of them. */
static dt_status
compare_checks(const dt_world *world, const dt_check *checks, dt_error *err)
{
    for (int rank = 1; rank < world->transport->size; rank++)
        if (checks[rank] != checks[0])
            return dt_fail(err, DT_RUNTIME,
                           "DTENSOR_CHECK must be set alike on all ranks: it is %d on "
                           "rank 0 and %d on rank %d",
                           checks[0], checks[rank], rank);
    return DT_OK;
}

/* --- groups --- */

static uint64_t
ranks_hash(const int64_t *ranks, int64_t count)
{
    return dt_hash(0, ranks, (size_t)count * sizeof *ranks);
}

/* Tags 0 to DT_GROUP_TAGS - 1 belong to the group of all ranks. Of the others two
 * groups may share some; their tasks then stand in one line. */
static int
group_tag(const dt_world *world, uint64_t hash)
{
    if (world->all == NULL)
        return 0;
    uint64_t slots = DT_TAG_LIMIT / DT_GROUP_TAGS - 1;
    return (int)(1 + hash % slots) * DT_GROUP_TAGS;
}

static dt_status
group_make(dt_group **out, dt_world *world, const int64_t *ranks, int64_t count,
           dt_error *err)
{
    int size = world->transport->size;
    if (count < 1 || count > size)
        return dt_fail(err, DT_VALUE, "no group of %" PRId64 " ranks: there are %d",
                       count, size);
    for (int64_t i = 0; i < count; i++)
        if (ranks[i] < 0 || ranks[i] >= size)
            return dt_fail(err, DT_VALUE,
                           "rank %" PRId64 " does not exist: there are %d", ranks[i],
                           size);
    dt_group *group = calloc(1, sizeof *group + (size_t)count * sizeof(int));
    if (group == NULL)
        return dt_fail(err, DT_MEMORY, "no memory for a group of %" PRId64 " ranks",
                       count);

    int *places = (int *)(group + 1);
    group->world = world;
    group->size = (int)count;
    group->index = -1;
    group->ranks = places;
    for (int i = 0; i < group->size; i++) {
        places[i] = (int)ranks[i];
        if (places[i] == world->transport->rank)
            group->index = i;
    }
    group->hash = ranks_hash(ranks, count);
    group->tag = group_tag(world, group->hash);
    group->queue = group;
    for (dt_group *other = world->groups; other != NULL; other = other->next)
        if (other->tag == group->tag)
            group->queue = other->queue;
    group->next = world->groups;
    world->groups = group;
    *out = group;
    return DT_OK;
}

static bool
group_is(const dt_group *group, uint64_t hash, const int64_t *ranks, int64_t count)
{
    if (group->hash != hash || group->size != count)
        return false;
    for (int i = 0; i < group->size; i++)
        if (group->ranks[i] != ranks[i])
            return false;
    return true;
}

dt_status
dt_world_group(dt_group **out, dt_world *world, const int64_t *ranks, int64_t count,
               dt_error *err)
{
    if (ranks == NULL) {
        *out = world->all;
        return DT_OK;
    }
    uint64_t hash = ranks_hash(ranks, count);
    for (dt_group *group = world->groups; group != NULL; group = group->next)
        if (group_is(group, hash, ranks, count)) {
            *out = group;
            return DT_OK;
        }
    return group_make(out, world, ranks, count, err);
}

static dt_status
make_group_of_all(dt_world *world, dt_error *err)
{
    int size = world->transport->size;
    int64_t *ranks = malloc((size_t)size * sizeof *ranks);
    if (ranks == NULL)
        return dt_fail(err, DT_MEMORY, "no memory for %d ranks", size);
    for (int rank = 0; rank < size; rank++)
        ranks[rank] = rank;
    dt_status status = group_make(&world->all, world, ranks, size, err);
    free(ranks);
    return status;
}

/* --- worlds --- */

/* All that is not the transport. */
static void
world_free(dt_world *world)
{
    dt_notes_free(world->notes);
    for (dt_group *next; world->groups != NULL; world->groups = next) {
        next = world->groups->next;
        free(world->groups);
    }
    free(world->spare);
    free(world);
}

/* The first words between the ranks: that all are there, made of the same program and
 * prepared, and how they are set. */
static dt_status
greet(dt_world *world, const dt_error *local, dt_check *checks, dt_error *err)
{
    static const char version[] = "dtensor protocol 1";
    dt_call call = {.hash = dt_hash(0, version, sizeof version), .local = *local};
    snprintf(call.what, sizeof call.what, "the start of dtensor");
    DT_TRY(dt_agree(world->all, &call, true, err));

    DT_TRY(dt_share(checks, world->all, &world->check, sizeof *checks, call.what, err));
    return compare_checks(world, checks, err);
}

static dt_status
world_start(dt_world *world, dt_error *err)
{
    DT_TRY(make_group_of_all(world, err));
    DT_TRY(dt_notes_make(&world->notes, world, err));
    dt_error local = {.status = DT_OK};
    if (dt_timeout_read(&world->timeout, &local) == DT_OK)
        check_read(&world->check, &local);
    size_t room = (size_t)world->transport->size * sizeof(dt_cost);
    void *scratch = malloc(2 * DT_MEASURE_BYTES + room);
    if (scratch == NULL)
        dt_fail(&local, DT_MEMORY, "no memory for measuring messages");
    dt_status status = greet(world, &local, scratch, err);
    world->cost = DT_COST_DEFAULT;
    if (status == DT_OK && !world->transport->alone)
        DT_TRY(dt_measure(&world->cost, world, scratch, err));
    free(scratch);
    world->all->started = 0; /* the user's first call is number 1 */
    return status;
}

dt_status
dt_world_make(dt_world **out, dt_transport *transport, dt_error *err)
{
    dt_world *world = calloc(1, sizeof *world);
    if (world == NULL)
        return dt_fail(err, DT_MEMORY, "no memory for a world of %d ranks",
                       transport->size);
    world->transport = transport;
    world->timeout = DT_TIMEOUT_DEFAULT;
    world->check = DT_CHECK_CALLS;
    dt_status status = world_start(world, err);
    if (status != DT_OK) {
        world_free(world);
        return status;
    }
    *out = world;
    return DT_OK;
}

void
dt_world_close(dt_world *world)
{
    if (world == NULL)
        return;
    dt_give_up_all(world, "its world was closed");
    dt_world_forget_runs(world);
    if (world->transport->size > 1 && !world->transport->alone && !world->broken)
        dt_notes_farewell(world->notes);
    dt_transport *transport = world->transport;
    world_free(world);
    transport->table->close(transport);
}

/* --- messages --- */

/* A failure of the task that runs may leave such messages under way. */
static void
mark_moved(dt_group *group, int phase)
{
    dt_task *task = group->queue->first;
    bool harmless = phase >= DT_PHASE_AGREE && phase < DT_PHASE_SHARE;
    if (task != NULL && !harmless)
        task->moved = true;
}

dt_status
dt_post_send(dt_request *out, dt_group *group, const void *data, size_t bytes,
             int place, int phase, dt_error *err)
{
    dt_world *world = group->world;
    dt_transport *t = world->transport;
    mark_moved(group, phase);
    DT_TRY(t->table->send(out, t, data, bytes, group->ranks[place], group->tag + phase,
                          err));
    world->messages_sent++;
    world->bytes_sent += bytes;
    return DT_OK;
}

dt_status
dt_post_receive(dt_request *out, dt_group *group, void *data, size_t bytes, int place,
                int phase, dt_error *err)
{
    dt_transport *t = group->world->transport;
    mark_moved(group, phase);
    return t->table->receive(out, t, data, bytes, group->ranks[place],
                             group->tag + phase, err);
}

dt_status
dt_test(bool *done, dt_group *group, dt_request *request, dt_error *err)
{
    dt_transport *t = group->world->transport;
    return t->table->test(done, t, request, err);
}

bool
dt_cancel(dt_group *group, dt_request *request)
{
    dt_transport *t = group->world->transport;
    return t->table->cancel(t, request);
}
