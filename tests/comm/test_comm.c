#include "ranks.h"

#include <stdatomic.h>

/* A task of one message to the next rank of the group and one from the one before. */
typedef struct {
    dt_task task;
    int mine, got;
    bool posted;
    dt_request send, receive;
    int advances, abandons;
} ring;

static dt_status
ring_advance(bool *done, dt_task *task, dt_error *err)
{
    ring *r = (ring *)task;
    dt_group *group = task->group;
    int size = group->size, phase = DT_PHASE_DATA + (int)(task->number & 7);
    bool sent = false, received = false;
    r->advances++;
    if (!r->posted) {
        r->posted = true;
        DT_TRY(dt_post_send(&r->send, group, &r->mine, sizeof r->mine,
                            (group->index + 1) % size, phase, err));
        DT_TRY(dt_post_receive(&r->receive, group, &r->got, sizeof r->got,
                               (group->index + size - 1) % size, phase, err));
    }
    DT_TRY(dt_test(&sent, group, &r->send, err));
    DT_TRY(dt_test(&received, group, &r->receive, err));
    *done = sent && received;
    return DT_OK;
}

static void
ring_abandon(dt_task *task)
{
    ring *r = (ring *)task;
    r->abandons++;
    CHECK(dt_cancel(task->group, &r->send) && dt_cancel(task->group, &r->receive));
}

static ring
ring_of(dt_group *group, int value)
{
    ring r = {.mine = value, .got = -1};
    r.task.advance = ring_advance;
    r.task.abandon = ring_abandon;
    r.task.group = group;
    r.task.what = "ring(...)";
    return r;
}

static dt_group *
group_of(dt_world *world, const int64_t *ranks, int64_t count)
{
    dt_group *group = NULL;
    CHECK(dt_world_group(&group, world, ranks, count, NULL) == DT_OK);
    return group;
}

/* --- worlds and groups --- */

static void
compare_costs(dt_transport *t, void *data)
{
    dt_cost *costs = data;
    dt_world *world = world_over(t);
    costs[t->rank] = world->cost;
    CHECK(world->timeout == DT_TIMEOUT_DEFAULT && world->check && !world->broken);
    CHECK(t->size > 1 || world->messages_sent == 0);
    dt_world_close(world);
}

static void
costs_are_measured_and_equal_on_all_ranks(void)
{
    for (int n = 1; n <= RANKS_MAX; n++) {
        dt_cost costs[RANKS_MAX];
        on_ranks(n, compare_costs, costs);
        CHECK(costs[0].latency > 0 && costs[0].bandwidth > 0 && costs[0].copy > 0);
        for (int rank = 1; rank < n; rank++)
            CHECK(memcmp(&costs[rank], &costs[0], sizeof *costs) == 0);
    }
}

static void
check_groups(dt_transport *t, void *data)
{
    (void)data;
    dt_world *world = world_over(t);
    const int64_t order[] = {0, 1, 2, 3}, other[] = {3, 1}, bad[] = {0, 4};
    dt_group *all = all_of(world), *group = group_of(world, other, 2);
    CHECK(group_of(world, order, 4) == all && all->size == 4 && all->index == t->rank);
    CHECK(group_of(world, other, 2) == group && group != all && group->size == 2);
    CHECK(group->index == (t->rank == 3 ? 0 : t->rank == 1 ? 1 : -1));
    CHECK(group->tag > all->tag && group->tag + DT_GROUP_TAGS <= DT_TAG_LIMIT);
    CHECK(group->tag % DT_GROUP_TAGS == 0);
    CHECK(dt_world_group(&group, world, bad, 2, NULL) == DT_VALUE);
    CHECK(dt_world_group(&group, world, order, 0, NULL) == DT_VALUE);
    ring r = ring_of(group, 0);
    if (group->index < 0)
        CHECK(dt_start(&r.task, NULL) == DT_BUG && dt_wait(&r.task, NULL) == DT_BUG);
    dt_world_close(world);
}

static void
equal_lists_of_ranks_are_one_group(void)
{
    on_ranks(4, check_groups, NULL);
}

static void
settings_that_cannot_be_read_fail_on_all_ranks(void)
{
    const char *const wrong[] = {"-1", "0", "abc", "3s", "nan"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        double seconds = 7;
        CHECK(setenv("DTENSOR_TIMEOUT", wrong[i], 1) == 0);
        CHECK(dt_timeout_read(&seconds, NULL) == DT_VALUE && seconds == 7);
        dt_transport *t = NULL;
        dt_world *world = NULL;
        CHECK(dt_threads_make(&t, 1, NULL) == DT_OK);
        CHECK(dt_world_make(&world, t, NULL) == DT_VALUE && world == NULL);
        t->table->close(t);
    }
    double seconds;
    CHECK(setenv("DTENSOR_TIMEOUT", "12.5", 1) == 0);
    CHECK(dt_timeout_read(&seconds, NULL) == DT_OK && seconds == 12.5);
    CHECK(unsetenv("DTENSOR_TIMEOUT") == 0);
}

/* --- sharing --- */

static void
share_sizes(dt_transport *t, void *data)
{
    (void)data;
    static const size_t sizes[] = {0, 1, 3, 8, 1000, 5000};
    unsigned char mine[5000], all[RANKS_MAX * 5000];
    dt_world *world = world_over(t);
    for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++) {
        size_t bytes = sizes[k], wrong = 0;
        for (size_t i = 0; i < bytes; i++)
            mine[i] = (unsigned char)(31 * t->rank + (int)(i % 7));
        CHECK(dt_share(all, all_of(world), mine, bytes, "share", NULL) == DT_OK);
        for (int rank = 0; rank < t->size; rank++)
            for (size_t i = 0; i < bytes; i++)
                wrong += all[(size_t)rank * bytes + i] !=
                         (unsigned char)(31 * rank + (int)(i % 7));
        CHECK(wrong == 0);
    }
    CHECK(dt_share(all, all_of(world), mine, (size_t)1 << 31, "share", NULL) == DT_VALUE);
    dt_world_close(world);
}

static void
everybody_gets_what_everybody_shares(void)
{
    for (int n = 1; n <= RANKS_MAX; n++)
        on_ranks(n, share_sizes, NULL);
}

/* --- tasks --- */

static void
start_many(dt_transport *t, void *data)
{
    (void)data;
    enum { MANY = 20 };
    dt_world *world = world_over(t);
    int before = (t->rank + t->size - 1) % t->size;
    ring r[MANY];
    for (int i = 0; i < MANY; i++) {
        r[i] = ring_of(all_of(world), 100 * i + t->rank);
        CHECK(dt_start(&r[i].task, NULL) == DT_OK);
        CHECK(dt_start(&r[i].task, NULL) == DT_BUG); /* twice */
    }
    CHECK(dt_wait(&r[MANY / 2].task, NULL) == DT_OK);
    CHECK(r[MANY / 2].got == 100 * (MANY / 2) + before);
    CHECK(r[0].task.finished);
    CHECK(dt_wait(&r[MANY - 1].task, NULL) == DT_OK);
    for (int i = 0; i < MANY; i++) {
        CHECK(dt_wait(&r[i].task, NULL) == DT_OK && r[i].got == 100 * i + before);
        CHECK(r[i].task.number == (uint64_t)i + 1 && r[i].abandons == 0);
    }
    dt_world_close(world);
}

static void
tasks_run_in_the_order_of_their_start_whichever_is_waited_for(void)
{
    for (int n = 1; n <= RANKS_MAX; n++)
        on_ranks(n, start_many, NULL);
}

/* Every rank starts tasks of overlapping groups in an order of its own, and waits for
 * them in another one. */
static void
start_in_any_order(dt_transport *t, void *data)
{
    (void)data;
    enum { GROUPS = 4, EACH = 5 };
    const int64_t lists[GROUPS][4] = {{0, 1, 2, 3}, {0, 1, 2}, {3, 2}, {1, 3, 0}};
    const int64_t counts[GROUPS] = {4, 3, 2, 3};
    dt_world *world = world_over(t);
    ring r[GROUPS][EACH];
    for (int i = 0; i < GROUPS * EACH; i++) {
        int g = (i + t->rank) % GROUPS, k = i / GROUPS;
        dt_group *group = group_of(world, lists[g], counts[g]);
        r[g][k] = ring_of(group, 100 * g + 10 * k + group->index);
        if (group->index >= 0)
            CHECK(dt_start(&r[g][k].task, NULL) == DT_OK);
    }
    for (int i = GROUPS * EACH - 1; i >= 0; i--) {
        ring *one = &r[(i + 3 * t->rank) % GROUPS][i / GROUPS];
        int size = one->task.group->size, index = one->task.group->index;
        if (index < 0)
            continue;
        CHECK(dt_wait(&one->task, NULL) == DT_OK);
        CHECK(one->got == one->mine - index + (index + size - 1) % size);
    }
    dt_world_close(world);
}

static void
groups_do_not_wait_for_each_other(void)
{
    on_ranks(4, start_in_any_order, NULL);
}

/* Two groups that were made to have the same tags. */
static void
share_a_line(dt_transport *t, void *data)
{
    (void)data;
    const int64_t list[] = {2, 1, 0};
    dt_world *world = world_over(t);
    dt_group *all = all_of(world), *turned = group_of(world, list, 3);
    turned->tag = all->tag;
    turned->queue = all;
    ring r[6];
    for (int i = 0; i < 6; i++) {
        r[i] = ring_of(i % 2 ? all : turned, 10 * i + t->rank);
        CHECK(dt_start(&r[i].task, NULL) == DT_OK);
    }
    CHECK(dt_wait(&r[5].task, NULL) == DT_OK);
    for (int i = 0; i < 6; i++)
        CHECK(r[i].task.finished && r[i].got == 10 * i + (t->rank + (i % 2 ? 2 : 1)) % 3);
    dt_world_close(world);
}

static void
groups_with_the_same_tags_stand_in_one_line(void)
{
    on_ranks(3, share_a_line, NULL);
}

/* --- failures --- */

static dt_status
refuse(bool *done, dt_task *task, dt_error *err)
{
    (void)done;
    return dt_fail(err, DT_KEY, "no %s", task->what);
}

static void
fail_between(dt_transport *t, void *data)
{
    (void)data;
    dt_world *world = world_over(t);
    ring good = ring_of(all_of(world), t->rank), bad = good;
    bad.task.advance = refuse;
    dt_error err;
    CHECK(dt_start(&bad.task, NULL) == DT_OK && dt_start(&good.task, NULL) == DT_OK);
    CHECK(dt_wait(&good.task, NULL) == DT_OK);
    CHECK(dt_wait(&bad.task, &err) == DT_KEY && strcmp(err.message, "no ring(...)") == 0);
    CHECK(bad.abandons == 1 && good.abandons == 0 && !world->broken);
    dt_world_close(world);
}

static void
a_task_that_fails_on_all_ranks_leaves_the_next_one_alone(void)
{
    on_ranks(3, fail_between, NULL);
}

/* Rank 1 leaves after the first task: the second has moved data when it is given up. */
static void
leave_in_the_middle(dt_transport *t, void *data)
{
    (void)data;
    dt_error err = {.status = DT_OK};
    dt_world *world = world_over(t);
    ring r[3];
    world->timeout = 0.3;
    for (int i = 0; i < 3; i++)
        r[i] = ring_of(all_of(world), i);
    CHECK(dt_start(&r[0].task, NULL) == DT_OK && dt_wait(&r[0].task, NULL) == DT_OK);
    if (t->rank != 1) {
        CHECK(dt_start(&r[1].task, NULL) == DT_OK && dt_start(&r[2].task, NULL) == DT_OK);
        CHECK(dt_wait(&r[2].task, &err) == DT_RUNTIME);
        CHECK(strcmp(err.message, "ring(...) #2 did not end within 0.3 s: rank 1 did not "
                                  "answer") == 0);
        CHECK(r[1].abandons == 1 && dt_wait(&r[1].task, NULL) == DT_RUNTIME);
        CHECK(world->broken && r[2].advances == 0);
        CHECK(dt_start(&r[0].task, &err) == DT_RUNTIME);
        CHECK(strstr(err.message, "since a call failed half way: ring(...) #2") != NULL);
    }
    dt_world_close(world);
}

static void
data_that_stops_breaks_the_world(void)
{
    on_ranks(2, leave_in_the_middle, NULL);
}

static void
fail_while_others_wait(dt_transport *t, void *data)
{
    (void)data;
    dt_error err = {.status = DT_OK};
    dt_world *world = world_over(t);
    world->timeout = 20;
    ring r = ring_of(all_of(world), 0);
    if (t->rank == 0) {
        r.task.advance = refuse;
        r.task.moved = true;
    }
    double start = dt_now();
    CHECK(dt_start(&r.task, NULL) == DT_OK);
    r.task.moved = t->rank == 0;
    CHECK(dt_wait(&r.task, &err) == (t->rank == 0 ? DT_KEY : DT_RUNTIME));
    CHECK(t->rank == 0 ||
          strcmp(err.message, "rank 0 failed in ring(...) #1: no ring(...)") == 0);
    CHECK(dt_now() - start < 10 && world->broken);
    dt_world_close(world);
}

static void
a_rank_that_fails_half_way_ends_the_wait_of_the_others(void)
{
    on_ranks(2, fail_while_others_wait, NULL);
}

static void
close_with_tasks(dt_transport *t, void *data)
{
    (void)data;
    dt_error err;
    dt_world *world = world_over(t);
    ring r = ring_of(all_of(world), 0);
    if (t->rank == 0) {
        CHECK(dt_start(&r.task, NULL) == DT_OK);
        dt_progress(world);
    }
    dt_give_up_all(world, "the session ended");
    if (t->rank == 0) {
        CHECK(r.abandons == 1 && dt_wait(&r.task, &err) == DT_RUNTIME);
        CHECK(strcmp(err.message, "ring(...) was given up: the session ended") == 0);
    }
    dt_world_close(world);
}

static void
tasks_that_are_left_end_with_the_world(void)
{
    on_ranks(2, close_with_tasks, NULL);
}

/* --- signals --- */

static dt_status
interrupt(void *data)
{
    int *polls = data;
    return ++*polls < 3 ? DT_OK : DT_INTERRUPTED;
}

static void
interrupt_rank_0(dt_transport *t, void *data)
{
    (void)data;
    int polls = 0;
    dt_error err = {.status = DT_OK};
    dt_world *world = world_over(t);
    dt_call call = call_of("f(x)", DT_OK), next = call_of("g(y)", DT_OK);
    if (t->rank == 0) {
        world->poll = interrupt;
        world->poll_data = &polls;
        double start = dt_now();
        CHECK(dt_agree(all_of(world), &call, false, &err) == DT_INTERRUPTED);
        CHECK(dt_now() - start > 0.04 && dt_now() - start < 5);
        world->poll = NULL;
    } else {
        rest(0.4);
    }
    /* Rank 1 was not in f(x): it does not matter any more. */
    CHECK(dt_agree(all_of(world), &next, false, &err) == DT_OK);
    dt_world_close(world);
}

static void
an_interrupt_ends_a_wait_and_the_next_call_works(void)
{
    on_ranks(2, interrupt_rank_0, NULL);
}

static void
interrupt_moving_data(dt_transport *t, void *data)
{
    (void)data;
    int polls = 2;
    dt_world *world = world_over(t);
    ring r = ring_of(all_of(world), t->rank);
    if (t->rank == 0) {
        world->poll = interrupt;
        world->poll_data = &polls;
    } else {
        rest(0.3);
    }
    CHECK(dt_start(&r.task, NULL) == DT_OK);
    CHECK(dt_wait(&r.task, NULL) == (t->rank == 0 ? DT_INTERRUPTED : DT_OK));
    world->poll = NULL;
    CHECK(!world->broken && r.got == 1 - t->rank);
    dt_world_close(world);
}

static void
an_interrupt_lets_data_that_moves_arrive(void)
{
    on_ranks(2, interrupt_moving_data, NULL);
}

/* --- a rank's thread that fails --- */

static void
abort_while_others_wait(dt_transport *t, void *data)
{
    atomic_int *ready = data;
    dt_error err = {.status = DT_OK};
    dt_world *world = world_over(t);
    dt_call call = call_of("f(x)", DT_OK);
    double start = dt_now();
    atomic_fetch_add(ready, 1);
    while (t->rank == 1 && atomic_load(ready) < t->size)
        t->table->idle(t);
    if (t->rank == 1)
        dt_threads_abort(t, "rank 1 raised an exception");
    CHECK(dt_agree(all_of(world), &call, false, &err) == DT_RUNTIME);
    CHECK(strcmp(err.message, "rank 1 raised an exception") == 0);
    CHECK(dt_now() - start < 5);
    dt_world_close(world);
}

static void
an_abort_ends_all_waits_at_once(void)
{
    for (int n = 2; n <= RANKS_MAX; n++) {
        atomic_int ready = 0;
        on_ranks(n, abort_while_others_wait, &ready);
    }
}

DT_MAIN(TEST(costs_are_measured_and_equal_on_all_ranks),
        TEST(equal_lists_of_ranks_are_one_group),
        TEST(settings_that_cannot_be_read_fail_on_all_ranks),
        TEST(everybody_gets_what_everybody_shares),
        TEST(tasks_run_in_the_order_of_their_start_whichever_is_waited_for),
        TEST(groups_do_not_wait_for_each_other),
        TEST(groups_with_the_same_tags_stand_in_one_line),
        TEST(a_task_that_fails_on_all_ranks_leaves_the_next_one_alone),
        TEST(data_that_stops_breaks_the_world),
        TEST(a_rank_that_fails_half_way_ends_the_wait_of_the_others),
        TEST(tasks_that_are_left_end_with_the_world),
        TEST(an_interrupt_ends_a_wait_and_the_next_call_works),
        TEST(an_interrupt_lets_data_that_moves_arrive),
        TEST(an_abort_ends_all_waits_at_once))
