#include "ranks.h"

#include <stdatomic.h>

/* --- calls of other groups --- */

/* Rank 1 waits in a call of ranks 1 and 2, which rank 2 does not come to. */
typedef struct {
    char messages[3][1024];
    atomic_int done; /* ranks; only then do they close their worlds */
} elsewhere;

static void
wait_elsewhere(dt_transport *t, void *data)
{
    elsewhere *e = data;
    const int64_t low[] = {0, 1}, high[] = {1, 2};
    dt_error err;
    dt_group *group = NULL;
    dt_world *world = world_over(t);
    dt_call call = call_of(t->rank == 0 ? "f(x)" : "g(y)", DT_OK);
    world->timeout = t->rank == 0 ? 0.4 : 0.6;
    dt_world_group(&group, world, t->rank == 0 ? low : high, 2, NULL);
    if (t->rank < 2) {
        CHECK(dt_agree(group, &call, false, &err) == DT_RUNTIME);
        snprintf(e->messages[t->rank], sizeof e->messages[0], "%s", err.message);
    }
    atomic_fetch_add(&e->done, 1);
    while (atomic_load(&e->done) < 3)
        t->table->idle(t);
    dt_world_close(world);
}

static void
a_rank_that_waits_in_another_group_is_shown_with_its_call(void)
{
    elsewhere e = {.done = 0};
    on_ranks(3, wait_elsewhere, &e);
    CHECK(strcmp(e.messages[0],
                 "f(x) #1 was given up after 0.4 s: rank 1 was in g(y) #1; a larger "
                 "DTENSOR_TIMEOUT waits longer") == 0);
    CHECK(strcmp(e.messages[1],
                 "g(y) #1 was given up after 0.6 s: rank 2 did not come; a larger "
                 "DTENSOR_TIMEOUT waits longer") == 0);
}

/* --- messages that are late --- */

/* A message of rank 1 comes after the others have told each other that they wait. */
static void
send_late(dt_transport *t, void *data)
{
    dt_error err;
    dt_world *world = world_over(t);
    dt_call first = call_of("f(x)", DT_OK), next = call_of("g(y)", DT_OK);
    world->timeout = 2; /* so notes are sent after half a second */
    CHECK(dt_agree(all_of(world), &first, false, &err) == DT_OK);
    if (t->rank == 1)
        CHECK(dt_late_at(t, *(long *)data, 1.2, &err) == DT_OK);
    CHECK(dt_agree(all_of(world), &first, false, &err) == DT_OK);
    CHECK(dt_agree(all_of(world), &next, false, &err) == DT_OK);
    dt_world_close(world);
}

static void
a_rank_that_has_gone_on_does_not_draw_others_out_of_their_call(void)
{
    for (long k = 1; k <= 3; k++)
        on_ranks(3, send_late, &k);
}

DT_MAIN(TEST(a_rank_that_waits_in_another_group_is_shown_with_its_call),
        TEST(a_rank_that_has_gone_on_does_not_draw_others_out_of_their_call))
