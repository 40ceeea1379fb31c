#include "comm/talk/measure.h"
#include "ring.h"

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
    dt_cost *costs = data, given = DT_COST_DEFAULT;
    dt_world *world = world_over(t);
    void *scratch = malloc(dt_measure_scratch(t->size));
    uint64_t before = world->messages_sent;
    CHECK(memcmp(&world->cost, &given, sizeof given) == 0);
    CHECK(dt_measure(&costs[t->rank], world, scratch, NULL) == DT_OK);
    CHECK(memcmp(&world->cost, &given, sizeof given) == 0);
    CHECK((world->messages_sent > before) == (t->size > 1));
    free(scratch);
    CHECK(world->timeout == DT_TIMEOUT_DEFAULT && world->check && !world->broken);
    CHECK(t->size > 1 || world->messages_sent == 0);
    dt_world_close(world);
}

static void
costs_are_the_defaults_and_what_is_measured_is_equal_on_all_ranks(void)
{
    for (int n = 1; n <= RANKS_MAX; n++) {
        dt_cost costs[RANKS_MAX];
        on_ranks(n, compare_costs, costs);
        CHECK(costs[0].copy > 0 && costs[0].link.latency > 0 &&
              costs[0].link.bandwidth > 0);
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
    CHECK(dt_share(all, all_of(world), mine, (size_t)1 << 31, "share", NULL) ==
          DT_VALUE);
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
        CHECK(r[i].task.finished &&
              r[i].got == 10 * i + (t->rank + (i % 2 ? 2 : 1)) % 3);
    dt_world_close(world);
}

static void
groups_with_the_same_tags_stand_in_one_line(void)
{
    on_ranks(3, share_a_line, NULL);
}

DT_MAIN(TEST(costs_are_the_defaults_and_what_is_measured_is_equal_on_all_ranks),
        TEST(equal_lists_of_ranks_are_one_group),
        TEST(settings_that_cannot_be_read_fail_on_all_ranks),
        TEST(everybody_gets_what_everybody_shares),
        TEST(tasks_run_in_the_order_of_their_start_whichever_is_waited_for),
        TEST(groups_do_not_wait_for_each_other),
        TEST(groups_with_the_same_tags_stand_in_one_line))
