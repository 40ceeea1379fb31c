#include "comm/talk/talk.h"

#include "core/facts/hash.h"

#include <inttypes.h>
#include <stdlib.h>

/* --- groups --- */

static uint64_t
ranks_hash(const int64_t *ranks, int64_t count)
{
    return dt_hash(0, ranks, (size_t)count * sizeof *ranks);
}

/* Tags 0 to DT_GROUP_TAGS - 1 belong to the group of all ranks, the last of all to none.
 * Of the others two
 * groups may share some; their tasks then stand in one line. */
static int
group_tag(const dt_world *world, uint64_t hash)
{
    if (world->all == NULL)
        return 0;
    uint64_t slots = DT_TAG_LIMIT / DT_GROUP_TAGS - 2;
    return (int)(1 + hash % slots) * DT_GROUP_TAGS;
}

int
dt_group_place(const dt_group *group, int64_t rank)
{
    int low = 0, high = group->size;
    if (rank >= 0 && rank < high && group->ranks[rank] == rank)
        return (int)rank;
    while (low < high) {
        int middle = low + (high - low) / 2;
        if (group->ranks[group->by_rank[middle]] < rank)
            low = middle + 1;
        else
            high = middle;
    }
    bool found = low < group->size && group->ranks[group->by_rank[low]] == rank;
    return found ? (int)group->by_rank[low] : -1;
}

bool
dt_world_direct(const dt_world *world, const int64_t *ranks, int64_t count)
{
    enum { DIRECT_MOST = 16 };
    const dt_transport *t = world->transport;
    if (!t->table->direct || count > DIRECT_MOST)
        return false;
    for (int64_t place = 1; place < count && t->nodes != NULL; place++)
        if (t->nodes[ranks == NULL ? place : ranks[place]] !=
            t->nodes[ranks == NULL ? 0 : ranks[0]])
            return false;
    return true;
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
    size_t room = (size_t)count * (sizeof(int64_t) + sizeof(int));
    dt_group *group = calloc(1, sizeof *group + room);
    int64_t *by_rank = group == NULL ? NULL : (int64_t *)(group + 1);
    if (group == NULL || !dt_ranks_sort(by_rank, ranks, count)) {
        free(group);
        return dt_fail(err, DT_MEMORY, "no memory for a group of %" PRId64 " ranks",
                       count);
    }

    int *members = (int *)(by_rank + count);
    group->world = world;
    group->size = (int)count;
    group->ranks = members;
    group->by_rank = by_rank;
    for (int i = 0; i < group->size; i++)
        members[i] = (int)ranks[i];
    group->index = dt_group_place(group, world->transport->rank);
    group->hash = ranks_hash(ranks, count);
    group->direct = dt_world_direct(world, ranks, count);
    group->tag = group_tag(world, group->hash);
    group->queue = group;
    group->started = group->reached = group->arrivals = dt_first_number(world->epoch);
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
