#include "ranks.h"

#include "comm/talk/settle.h"

/* Calls 1 and 2 were made by all ranks; call 3 by nobody but rank 0. */
static _Thread_local uint64_t failed_here;
static _Thread_local int own_rank;

static dt_made
made(uint64_t lineage)
{
    if (lineage == 3 && own_rank != 0)
        return DT_NOT_MADE;
    return lineage == failed_here ? DT_FAILED : DT_SUCCEEDED;
}

typedef struct {
    uint64_t lineage; /* of the call that fails */
    unsigned ranks;   /* bit r: on rank r */
    dt_status status; /* of the next call, when it is settled */
    char message[64];
} failure;

static dt_world *
world_with_journal(dt_transport *t, const failure *f)
{
    dt_world *world = world_over(t);
    own_rank = t->rank;
    failed_here = 0;
    world->made = made;
    if (f->ranks >> t->rank & 1) {
        dt_error err;
        dt_fail(&err, DT_MEMORY, "add: no memory");
        failed_here = f->lineage;
        dt_note_failure(all_of(world), f->lineage, &err);
    }
    return world;
}

static void
fail_and_agree(dt_transport *t, void *data)
{
    const failure *f = data;
    dt_world *world = world_with_journal(t, f);
    dt_group *all = all_of(world);
    bool some = f->ranks != 0 && f->ranks != (1u << t->size) - 1;
    dt_call call = call_of("f(x)", DT_OK);
    dt_error err = {.status = DT_OK};
    CHECK(dt_agree(all, &call, false, &err) == (some ? f->status : DT_OK));
    CHECK(!some || f->status == DT_OK || strcmp(err.message, f->message) == 0);
    for (int i = 0; i < 3; i++)
        CHECK(dt_agree(all, &call, false, &err) == DT_OK);
    dt_world_close(world);
}

static void
what_failed_here_and_succeeded_there_is_told_once_on_all_ranks(void)
{
    for (int n = 2; n <= 5; n++)
        for (unsigned ranks = 0; ranks < 1u << n; ranks++) {
            int first = 0;
            while (ranks != 0 && !(ranks >> first & 1))
                first++;
            failure f = {.lineage = 1, .ranks = ranks, .status = DT_MEMORY};
            snprintf(f.message, sizeof f.message, "rank %d failed in add: no memory",
                     first);
            on_ranks(n, fail_and_agree, &f);
        }
}

static void
what_nobody_else_has_made_is_forgotten(void)
{
    failure f = {.lineage = 3, .ranks = 1, .status = DT_OK};
    for (int n = 2; n <= 5; n++)
        on_ranks(n, fail_and_agree, &f);
}

/* The rank that failed comes late. */
static void
wait_for_the_failed(dt_transport *t, void *data)
{
    const failure *f = data;
    dt_world *world = world_with_journal(t, f);
    dt_call call = call_of("f(x)", DT_OK);
    dt_error err = {.status = DT_OK};
    double begin = dt_now();
    if (f->ranks >> t->rank & 1)
        rest(2.5);
    CHECK(dt_agree(all_of(world), &call, false, &err) == DT_MEMORY);
    CHECK(strcmp(err.message, f->message) == 0);
    CHECK(f->ranks >> t->rank & 1 || dt_now() - begin < 2);
    for (int i = 0; i < 3; i++)
        CHECK(dt_agree(all_of(world), &call, false, &err) == DT_OK);
    dt_world_close(world);
}

static void
who_waits_for_a_rank_that_failed_hears_of_it(void)
{
    failure f = {
        .lineage = 2, .ranks = 2, .message = "rank 1 failed in add: no memory"};
    for (int n = 2; n <= 4; n++)
        on_ranks(n, wait_for_the_failed, &f);
}

/* A rank fails again and again, and comes to the next call when the others are about to
 * end it without it, or have just done so. Each call ends alike on all ranks. */
static void
fail_often(dt_transport *t, void *data)
{
    uint64_t common = *(uint64_t *)data, own = common + (uint64_t)t->rank + 1;
    dt_world *world = world_over(t);
    dt_group *all = all_of(world);
    dt_call call = call_of("f(x)", DT_OK);
    world->timeout = 1.2; /* so that they wait for 0.3 s */
    world->made = made;
    own_rank = t->rank;
    for (int i = 0; i < 4; i++) {
        dt_error err;
        bool fails = check_below(&common, t->size) == t->rank;
        failed_here = fails ? 1 : 0;
        if (fails) {
            dt_fail(&err, DT_KEY, "add: no key");
            dt_note_failure(all, 1, &err);
        }
        if (check_below(&own, 3) == 0 || fails)
            rest(0.27 + 0.001 * (double)check_below(&own, 80));
        CHECK(dt_agree(all, &call, false, &err) == DT_KEY);
        CHECK(strstr(err.message, "failed in add: no key") != NULL);
        for (int k = 0; k < 2; k++)
            CHECK(dt_agree(all, &call, false, &err) == DT_OK);
    }
    dt_world_close(world);
}

static void
ranks_that_come_when_others_are_about_to_give_up_end_the_call_as_they_do(void)
{
    for (int n = 2; n <= 4; n++)
        on_ranks(n, fail_often, &(uint64_t){1000 * (uint64_t)n});
}

DT_MAIN(TEST(what_failed_here_and_succeeded_there_is_told_once_on_all_ranks),
        TEST(what_nobody_else_has_made_is_forgotten),
        TEST(who_waits_for_a_rank_that_failed_hears_of_it),
        TEST(ranks_that_come_when_others_are_about_to_give_up_end_the_call_as_they_do))
