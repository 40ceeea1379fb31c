#include "ring.h"

#include <stdatomic.h>
#include <sys/resource.h>

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
    CHECK(dt_wait(&bad.task, &err) == DT_KEY &&
          strcmp(err.message, "no ring(...)") == 0);
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
        CHECK(dt_start(&r[1].task, NULL) == DT_OK &&
              dt_start(&r[2].task, NULL) == DT_OK);
        CHECK(dt_wait(&r[2].task, &err) == DT_RUNTIME);
        CHECK(strcmp(err.message,
                     "ring(...) #2 was given up after 0.3 s: rank 1 did not answer; a "
                     "larger DTENSOR_TIMEOUT waits longer") == 0);
        CHECK(r[1].abandons == 1 && dt_wait(&r[1].task, NULL) == DT_RUNTIME);
        CHECK(world->broken && r[2].advances == 0);
        CHECK(dt_start(&r[0].task, &err) == DT_RUNTIME);
        CHECK(strstr(err.message, "since a call failed half way: ring(...) #2") !=
              NULL);
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

/* Rank 0 cannot send any more; rank 1 does not know it yet. */
static void
call_when_broken(dt_transport *t, void *data)
{
    (void)data;
    dt_error err = {.status = DT_OK};
    dt_world *world = world_over(t);
    dt_call call = call_of("f(x)", DT_OK);
    world->timeout = 20;
    world->broken = t->rank == 0;
    dt_fail(&world->broken_by, DT_MPI, "no such luck");
    CHECK(dt_agree(all_of(world), &call, false, &err) == DT_RUNTIME);
    CHECK(t->rank == 0 ||
          strcmp(err.message, "rank 0 cannot take part in f(x): no such luck") == 0);
    dt_world_close(world);
}

static void
a_rank_with_a_broken_world_tells_those_who_wait_for_it(void)
{
    on_ranks(2, call_when_broken, NULL);
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
    dt_give_up_all(world, "the program ended");
    if (t->rank == 0) {
        CHECK(r.abandons == 1 && dt_wait(&r.task, &err) == DT_RUNTIME);
        CHECK(strcmp(err.message, "ring(...) was given up: the program ended") == 0);
    }
    dt_world_close(world);
}

static void
tasks_that_are_left_end_with_the_world(void)
{
    on_ranks(2, close_with_tasks, NULL);
}

/* Rank 0 comes late. */
static void
wait_for_a_late_one(dt_transport *t, void *data)
{
    (void)data;
    dt_world *world = world_over(t);
    dt_call call = call_of("f(x)", DT_OK);
    struct rusage before, after;
    if (t->rank == 0)
        rest(0.3);
    getrusage(RUSAGE_THREAD, &before);
    CHECK(dt_agree(all_of(world), &call, false, NULL) == DT_OK);
    getrusage(RUSAGE_THREAD, &after);
    CHECK(t->rank == 0 || after.ru_nvcsw - before.ru_nvcsw >= 10);
    dt_world_close(world);
}

static void
a_rank_that_waits_long_sleeps_now_and_then(void)
{
    on_ranks(2, wait_for_a_late_one, NULL);
}

/* Rank 1 ends after the first call: the others know that it never comes to the second,
 * long before their time is up. */
static void
end_after_one_call(dt_transport *t, void *data)
{
    (void)data;
    dt_error err = {.status = DT_OK};
    dt_world *world = world_over(t);
    dt_call call = call_of("f(x)", DT_OK), next = call_of("g(y)", DT_OK);
    CHECK(dt_agree(all_of(world), &call, false, &err) == DT_OK);
    if (t->rank != 1) {
        double start = dt_now();
        CHECK(dt_agree(all_of(world), &next, false, &err) == DT_RUNTIME);
        CHECK(strcmp(err.message,
                     "g(y) #2 waits for rank 1, which has ended: every rank "
                     "of the mesh must make this call") == 0);
        CHECK(dt_now() - start < 5 && !world->broken);
    }
    dt_world_close(world);
}

static void
a_rank_that_has_ended_is_not_waited_for(void)
{
    on_ranks(3, end_after_one_call, NULL);
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
    atomic_bool *interrupted = data;
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
        atomic_store(interrupted, true);
    }
    while (!atomic_load(interrupted))
        t->table->idle(t);
    rest(0.05);
    /* Rank 1 was not in f(x): it does not matter any more. */
    CHECK(dt_agree(all_of(world), &next, false, &err) == DT_OK);
    dt_world_close(world);
}

static void
an_interrupt_ends_a_wait_and_the_next_call_works(void)
{
    atomic_bool interrupted = false;
    on_ranks(2, interrupt_rank_0, &interrupted);
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

DT_MAIN(TEST(a_task_that_fails_on_all_ranks_leaves_the_next_one_alone),
        TEST(data_that_stops_breaks_the_world),
        TEST(a_rank_that_fails_half_way_ends_the_wait_of_the_others),
        TEST(a_rank_with_a_broken_world_tells_those_who_wait_for_it),
        TEST(tasks_that_are_left_end_with_the_world),
        TEST(a_rank_that_waits_long_sleeps_now_and_then),
        TEST(a_rank_that_has_ended_is_not_waited_for),
        TEST(an_interrupt_ends_a_wait_and_the_next_call_works),
        TEST(an_interrupt_lets_data_that_moves_arrive),
        TEST(an_abort_ends_all_waits_at_once))
