#include "ranks.h"

#include "comm/talk/note.h"
#include "comm/talk/settle.h"
#include "comm/talk/trail.h"

#include <stdlib.h>

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

/* --- calls without lineage --- */

enum { OURS = 7, OWN = 8, SCOPE = 9 };

/* What each rank calls between two agreements: all ranks OURS twice and SCOPE; those of
 * `ranks` fail once. */
typedef struct {
    unsigned ranks;
    bool alone;    /* in a call that nobody else makes, else in the second of OURS */
    bool again;    /* and then it succeeds */
    double late;   /* it rests before it comes to the next call */
    bool goes_on;  /* and tells so */
    dt_status end; /* of the next call */
} local_failure;

static void
fail_locally(dt_transport *t, void *data)
{
    const local_failure *f = data;
    dt_world *world = world_over(t);
    dt_group *all = all_of(world);
    dt_trail *trail = calloc(1, sizeof *trail);
    dt_call call = call_of("f(x)", DT_OK);
    dt_error err = {.status = DT_OK};
    bool fails = f->ranks >> t->rank & 1;
    world->trail = trail;
    CHECK(dt_agree(all, &call, false, &err) == DT_OK);
    double begin = dt_now();
    dt_trail_add(trail, OURS);
    if (fails) {
        dt_fail(&err, DT_KEY, "add: no key");
        CHECK(dt_note_local_failure(world, f->alone ? OWN : OURS, &err));
        if (f->goes_on)
            dt_notes_tell_recovered(world->notes);
        rest(f->late);
    }
    if (!fails || f->again || f->alone)
        dt_trail_add(trail, OURS);
    dt_trail_begin(trail, SCOPE);
    err.status = DT_OK;
    CHECK(dt_agree(all, &call, false, &err) == f->end);
    CHECK(f->end == DT_OK || strstr(err.message, "failed in add: no key") != NULL);
    CHECK(fails || f->goes_on || f->late == 0 || dt_now() - begin < f->late);
    dt_trail_end(trail, SCOPE, true);
    for (int i = 0; i < 3; i++)
        CHECK(dt_agree(all, &call, false, &err) == DT_OK);
    dt_world_close(world);
    free(trail);
}

static void
a_local_failure_in_a_call_that_others_have_made_is_told(void)
{
    for (int n = 2; n <= 4; n++)
        for (unsigned ranks = 1; ranks < 1u << n; ranks++) {
            bool all = ranks == (1u << n) - 1;
            on_ranks(n, fail_locally,
                     &(local_failure){.ranks = ranks, .end = all ? DT_OK : DT_KEY});
        }
    on_ranks(3, fail_locally, &(local_failure){.ranks = 2, .late = 2.5, .end = DT_KEY});
}

static void
a_local_failure_that_is_made_up_for_or_in_a_call_of_its_own_is_forgotten(void)
{
    for (int n = 2; n <= 4; n++) {
        on_ranks(n, fail_locally, &(local_failure){.ranks = 1, .alone = true});
        on_ranks(n, fail_locally, &(local_failure){.ranks = 2, .again = true});
        on_ranks(
            n, fail_locally,
            &(local_failure){.ranks = 2, .again = true, .late = 1.5, .goes_on = true});
    }
}

static void
a_trail_counts_what_ended_well_and_what_is_open(void)
{
    dt_trail *trail = calloc(1, sizeof *trail);
    uint64_t count;
    for (int k = 0; k < 5; k++)
        dt_trail_add(trail, OURS);
    dt_trail_begin(trail, OURS);
    dt_trail_begin(trail, SCOPE);
    CHECK(dt_trail_count(&count, trail, OURS, 3) && count == 3);
    dt_trail_end(trail, SCOPE, false);
    dt_trail_end(trail, OURS, true);
    CHECK(dt_trail_count(&count, trail, OURS, 3) && count == 3);
    CHECK(dt_trail_count(&count, trail, SCOPE, 0) && count == 0);
    for (int k = 0; k < DT_TRAIL_STEPS; k++)
        dt_trail_add(trail, OWN);
    CHECK(!dt_trail_count(&count, trail, OWN, 5));
    CHECK(dt_trail_count(&count, trail, OWN, 6) && count == DT_TRAIL_STEPS);
    for (int k = 0; k < 2 * DT_TRAIL_DEPTH; k++)
        dt_trail_begin(trail, SCOPE);
    for (int k = 0; k < 2 * DT_TRAIL_DEPTH; k++)
        dt_trail_end(trail, SCOPE, false);
    CHECK(trail->depth == 0);
    free(trail);
}

DT_MAIN(TEST(what_failed_here_and_succeeded_there_is_told_once_on_all_ranks),
        TEST(what_nobody_else_has_made_is_forgotten),
        TEST(who_waits_for_a_rank_that_failed_hears_of_it),
        TEST(ranks_that_come_when_others_are_about_to_give_up_end_the_call_as_they_do),
        TEST(a_local_failure_in_a_call_that_others_have_made_is_told),
        TEST(a_local_failure_that_is_made_up_for_or_in_a_call_of_its_own_is_forgotten),
        TEST(a_trail_counts_what_ended_well_and_what_is_open))
