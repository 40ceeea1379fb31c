#include "ranks.h"

#include "comm/talk/resync.h"

static dt_status
call(dt_group *group, const char *what, dt_error *err)
{
    dt_call called = call_of(what, DT_OK);
    return dt_agree(group, &called, false, err);
}

/* Calls that all ranks make from now on pair as they should, with what is new. */
static void
is_in_step(dt_world *world)
{
    dt_group *all = all_of(world);
    dt_error err = {.status = DT_OK};
    for (int i = 0; i < 3; i++) {
        int mine = 100 * i + world->transport->rank, got[RANKS_MAX];
        CHECK(call(all, "g(x)", &err) == DT_OK);
        CHECK(dt_share(got, all, &mine, sizeof mine, "share", &err) == DT_OK);
        for (int rank = 0; rank < all->size; rank++)
            CHECK(got[rank] == 100 * i + rank);
    }
    CHECK(err.status == DT_OK);
    if (err.status != DT_OK)
        printf("rank %d: %s\n", world->transport->rank, err.message);
}

static void
resync_twice(dt_transport *t, void *data)
{
    (void)data;
    dt_world *world = world_over(t);
    for (uint64_t epoch = 1; epoch <= 5; epoch++) {
        CHECK(dt_resync(world, "called resync()", NULL) == DT_OK);
        CHECK(world->epoch == epoch);
    }
    is_in_step(world);
    dt_world_close(world);
}

static void
ranks_in_step_stay_in_step(void)
{
    for (int n = 1; n <= 5; n++)
        on_ranks(n, resync_twice, NULL);
}

typedef struct {
    int absent; /* the rank that does not make the call */
    int calls;  /* that the others make in vain */
    size_t bytes;
} absence;

/* The absent rank comes to resync at once; the others wait for it in a call. */
static void
wait_in_an_old_call(dt_transport *t, void *data)
{
    const absence *a = data;
    dt_world *world = world_over(t);
    dt_group *all = all_of(world);
    dt_error err = {.status = DT_OK};
    const char *sentence = " called resync()";
    for (int i = 0; i < a->calls && t->rank != a->absent; i++) {
        double begin = dt_now();
        CHECK(call(all, "f(x)", &err) == DT_RUNTIME);
        CHECK(strstr(err.message, sentence) != NULL);
        CHECK(dt_now() - begin < 2);
    }
    CHECK(dt_resync(world, "called resync()", &err) == DT_OK);
    is_in_step(world);
    dt_world_close(world);
}

static void
who_waits_in_an_old_call_is_told_to_resync(void)
{
    for (int n = 2; n <= 4; n++)
        for (int absent = 0; absent < n; absent++)
            for (int calls = 1; calls <= 2; calls++)
                on_ranks(n, wait_in_an_old_call,
                         &(absence){.absent = absent, .calls = calls});
}

/* The same, but the others have sent data, which nobody receives. */
static void
wait_amid_data(dt_transport *t, void *data)
{
    const absence *a = data;
    dt_world *world = world_over(t);
    dt_group *all = all_of(world);
    size_t size = (size_t)t->size;
    char *mine = calloc(1, a->bytes), *got = malloc(size * a->bytes);
    if (t->rank != a->absent) {
        CHECK(dt_share(got, all, mine, a->bytes, "share", NULL) == DT_RUNTIME);
        CHECK(world->broken);
        CHECK(call(all, "f(x)", NULL) == DT_RUNTIME);
    }
    CHECK(dt_resync(world, "called resync()", NULL) == DT_OK);
    is_in_step(world);
    free(mine);
    free(got);
    dt_world_close(world);
}

static void
data_under_way_meet_no_later_call_and_the_world_is_whole(void)
{
    static const size_t bytes[] = {4, 100000};
    for (int n = 2; n <= 4; n++)
        for (int absent = 0; absent < n; absent++)
            for (int k = 0; k < 2; k++)
                on_ranks(n, wait_amid_data,
                         &(absence){.absent = absent, .bytes = bytes[k]});
}

/* Two ranks are one call ahead of the others, which have failed in between. */
static void
be_one_call_ahead(dt_transport *t, void *data)
{
    (void)data;
    dt_world *world = world_over(t);
    dt_group *all = all_of(world);
    dt_error err;
    bool ahead = t->rank < 2;
    world->timeout = 0.3;
    CHECK(call(all, "f(x)", &err) == DT_OK);
    call(all, ahead ? "g(x)" : "f(x)", &err);
    if (ahead)
        call(all, "f(x)", &err);
    world->timeout = 60;
    CHECK(dt_resync(world, "called resync()", &err) == DT_OK);
    is_in_step(world);
    dt_world_close(world);
}

static void
ranks_that_are_one_call_apart_are_brought_in_step(void)
{
    for (int n = 3; n <= 5; n++)
        on_ranks(n, be_one_call_ahead, NULL);
}

static void
come_late(dt_transport *t, void *data)
{
    (void)data;
    dt_world *world = world_over(t);
    dt_error err = {.status = DT_OK};
    bool late = t->rank == t->size - 1;
    char sentence[64];
    snprintf(sentence, sizeof sentence, "after 0.3 s: rank %d did not", t->size - 1);
    if (late)
        rest(0.7);
    else {
        world->timeout = 0.3;
        CHECK(dt_resync(world, "called resync()", &err) == DT_RUNTIME);
        CHECK(strstr(err.message, sentence) != NULL);
        CHECK(call(all_of(world), "f(x)", &err) == DT_RUNTIME);
        CHECK(strstr(err.message, "all ranks must call it") != NULL);
    }
    world->timeout = 60;
    CHECK(dt_resync(world, "called resync()", &err) == DT_OK);
    is_in_step(world);
    dt_world_close(world);
}

static void
a_rank_that_does_not_come_is_named_and_may_come_later(void)
{
    for (int n = 2; n <= 4; n++)
        on_ranks(n, come_late, NULL);
}

static void
end_instead(dt_transport *t, void *data)
{
    (void)data;
    dt_world *world = world_over(t);
    dt_error err = {.status = DT_OK};
    if (t->rank != 0) {
        CHECK(dt_resync(world, "called resync()", &err) == DT_RUNTIME);
        CHECK(strstr(err.message, "rank 0 has ended") != NULL);
    }
    dt_world_close(world);
}

static void
a_rank_that_has_ended_cannot_be_waited_for(void)
{
    on_ranks(3, end_instead, NULL);
}

/* Whatever waits to be done is given up; groups of some ranks begin anew as well. */
static void
leave_calls_behind(dt_transport *t, void *data)
{
    (void)data;
    dt_world *world = world_over(t);
    int64_t ranks[] = {0, t->size - 1};
    dt_group *some;
    dt_error err = {.status = DT_OK};
    dt_agreement *agreement = NULL;
    all_of(world)->arrivals = (uint64_t)t->rank;
    dt_call f_of_x = call_of("f(x)", DT_OK);
    CHECK(dt_world_group(&some, world, ranks, 2, &err) == DT_OK);
    if (t->rank == 0) {
        CHECK(dt_agreement_make(&agreement, some, &f_of_x, true, &err) == DT_OK);
        CHECK(dt_start(dt_agreement_task(agreement), &err) == DT_OK);
    }
    CHECK(dt_resync(world, "called resync()", &err) == DT_OK);
    CHECK(all_of(world)->arrivals == dt_first_number(1));
    CHECK(some->started == dt_first_number(1));
    if (t->rank == 0) {
        CHECK(dt_wait(dt_agreement_task(agreement), &err) == DT_RUNTIME);
        CHECK(strstr(err.message, "rank 0 called resync()") != NULL);
        dt_agreement_free(agreement);
    }
    for (int i = 0; i < 3 && some->index >= 0; i++)
        CHECK(call(some, "g(x)", &err) == DT_OK);
    is_in_step(world);
    dt_world_close(world);
}

static void
what_waits_to_be_done_is_given_up(void)
{
    for (int n = 2; n <= 4; n++)
        on_ranks(n, leave_calls_behind, NULL);
}

/* Rank 0 has what it needs of a call, and comes to resync before the others have. */
static void
finish_first(dt_transport *t, void *data)
{
    (void)data;
    dt_world *world = world_over(t);
    dt_group *all = all_of(world);
    dt_error err = {.status = DT_OK};
    for (int i = 0; i < 50; i++) {
        CHECK(call(all, "f(x)", &err) == DT_OK);
        if (t->rank == i % t->size)
            rest(0.0002);
        CHECK(dt_resync(world, "called resync()", &err) == DT_OK);
    }
    is_in_step(world);
    dt_world_close(world);
}

static void
a_call_that_all_ranks_made_ends_well_before_resync(void)
{
    for (int n = 2; n <= 5; n++)
        on_ranks(n, finish_first, NULL);
}

DT_MAIN(TEST(ranks_in_step_stay_in_step),
        TEST(who_waits_in_an_old_call_is_told_to_resync),
        TEST(data_under_way_meet_no_later_call_and_the_world_is_whole),
        TEST(ranks_that_are_one_call_apart_are_brought_in_step),
        TEST(a_rank_that_does_not_come_is_named_and_may_come_later),
        TEST(a_rank_that_has_ended_cannot_be_waited_for),
        TEST(what_waits_to_be_done_is_given_up),
        TEST(a_call_that_all_ranks_made_ends_well_before_resync))
