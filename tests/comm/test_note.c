#define DT_TEST_RANKS 32
#include "ranks.h"

#include "comm/talk/heard.h"
#include "comm/talk/settle.h"

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

/* --- hosts --- */

/* Of these ranks, two on each host, rank 1 fails and rank 4 never comes. */
static const dt_host HOSTS[] = {"a", "a", "b", "b", "c"};

typedef struct {
    char messages[2][5][1024];
    atomic_int done;
} hosted;

static void
fail_on_hosts(dt_transport *t, void *data)
{
    hosted *h = data;
    dt_error err;
    t->hosts = HOSTS;
    dt_world *world = world_over(t);
    dt_call call = call_of("f(x)", t->rank == 1 ? DT_KEY : DT_OK);
    CHECK(dt_agree(all_of(world), &call, false, &err) == DT_KEY);
    snprintf(h->messages[0][t->rank], sizeof err.message, "%s", err.message);
    world->timeout = 0.4;
    call = call_of("g(y)", DT_OK);
    if (t->rank < 3) {
        CHECK(dt_agree(all_of(world), &call, false, &err) == DT_RUNTIME);
        snprintf(h->messages[1][t->rank], sizeof err.message, "%s", err.message);
    }
    atomic_fetch_add(&h->done, 1);
    while (atomic_load(&h->done) < 5)
        t->table->idle(t);
    dt_world_close(world);
}

static void
in_jobs_of_several_hosts_ranks_are_named_with_theirs(void)
{
    hosted h = {.done = 0};
    on_ranks(5, fail_on_hosts, &h);
    for (int rank = 0; rank < 5; rank++)
        CHECK(rank == 1 ||
              strncmp(h.messages[0][rank], "rank 1 (on host a): ", 20) == 0);
    for (int rank = 0; rank < 3; rank++)
        CHECK(strcmp(h.messages[1][rank],
                     "g(y) #2 was given up after 0.4 s: ranks 3, 4 (on hosts b, c) did "
                     "not come; a larger DTENSOR_TIMEOUT waits longer") == 0);
}

static void
a_list_of_ranks_names_a_few_hosts(void)
{
    static const dt_host hosts[] = {"a", "b", "c", "d", "e", "e"};
    static const int ranks[] = {0, 1, 2, 3, 4, 5};
    static const unsigned char labels[] = {1, 1, 1, 1, 2, 2}, all[6] = {0};
    const dt_transport t = {.size = 6, .hosts = hosts}, one = {.size = 6};
    char text[100];
    dt_sentence s = {.out = text, .size = sizeof text};
    dt_sentence_ranks_on(&s, &t, ranks, labels, 6, 1);
    CHECK(strcmp(text, "ranks 0-3 (on hosts a, b, c, d)") == 0);
    s.used = 0;
    dt_sentence_ranks_on(&s, &t, ranks, labels, 6, 2);
    CHECK(strcmp(text, "ranks 4, 5 (on host e)") == 0);
    s.used = 0;
    dt_sentence_ranks_on(&s, &t, ranks, all, 6, 0);
    CHECK(strcmp(text, "ranks 0-5 (on hosts a, b, c, d and others)") == 0);
    s.used = 0;
    dt_sentence_ranks_on(&s, &one, ranks, labels, 6, 2);
    CHECK(strcmp(text, "ranks 4, 5") == 0);
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

/* --- many ranks --- */

typedef struct {
    int late; /* the rank that comes late, or not at all */
    double seconds, timeout;
    atomic_int ended;
    atomic_ulong notes; /* of all ranks */
    bool elsewhere;     /* it waits in a call of its own group meanwhile */
    double began;
    atomic_bool held_up; /* by the machine: ranks came later, or waited longer */
    char messages[RANKS_MAX][1024];
} crowd;

enum { ATTEMPTS = 3 };
static const double SLACK = 0.25, GRACE = 0.5; /* s; ranks listen so long at the end */

static void
look_at_times(crowd *c, bool late, double came, double planned)
{
    if ((!late && came - c->began > SLACK) || dt_now() - came > planned + SLACK)
        atomic_store(&c->held_up, true);
}

/* How many notes are sent depends on who is late: if the machine makes others late, that is
 * another case, and this one is played again. */
static void
play(int n, void (*rank)(dt_transport *, void *), crowd *c)
{
    for (int attempt = 0; attempt < ATTEMPTS; attempt++) {
        atomic_store(&c->ended, 0);
        atomic_store(&c->notes, 0);
        atomic_store(&c->held_up, false);
        c->began = dt_now();
        on_ranks(n, rank, c);
        if (!atomic_load(&c->held_up))
            return;
    }
    printf("%d ranks were held up in each of %d attempts\n", n, ATTEMPTS);
}

static void
leave_crowd(dt_world *world, crowd *c)
{
    atomic_fetch_add(&c->notes, world->notes->sent);
    atomic_fetch_add(&c->ended, 1);
    while (atomic_load(&c->ended) < world->transport->size)
        world->transport->table->idle(world->transport);
    dt_world_close(world);
}

static void
wait_for_one(dt_transport *t, void *data)
{
    crowd *c = data;
    dt_error err;
    dt_world *world = world_over(t);
    dt_call call = call_of("f(x)", DT_OK);
    world->timeout = c->timeout;
    double came = dt_now();
    if (t->rank == c->late)
        rest(c->seconds);
    dt_status status = dt_agree(all_of(world), &call, false, &err);
    look_at_times(c, t->rank == c->late, came, c->seconds);
    CHECK(status == DT_OK || atomic_load(&c->held_up)); /* for longer than the limit */
    leave_crowd(world, c);
}

static dt_made
made_by_all(uint64_t lineage)
{
    (void)lineage;
    return DT_SUCCEEDED;
}

static dt_made
failed(uint64_t lineage)
{
    (void)lineage;
    return DT_FAILED;
}

/* The others end the call without the rank that failed; each is in a smaller group, too. */
static void
wait_for_one_that_failed(dt_transport *t, void *data)
{
    crowd *c = data;
    dt_error err;
    dt_group *own = NULL;
    dt_world *world = world_over(t);
    const int64_t pair[] = {t->rank / 2 * 2, t->rank / 2 * 2 + 1};
    dt_call call = call_of("f(x)", DT_OK);
    world->timeout = c->timeout;
    world->made = t->rank == c->late ? failed : made_by_all;
    CHECK(dt_world_group(&own, world, pair, 2, NULL) == DT_OK);
    CHECK(dt_agree(own, &call, false, &err) == DT_OK);
    double came = dt_now();
    if (t->rank == c->late) {
        dt_fail(&err, DT_MEMORY, "add: no memory");
        dt_note_failure(all_of(world), 1, &err);
        rest(c->seconds);
    }
    CHECK(dt_agree(all_of(world), &call, false, &err) == DT_MEMORY);
    CHECK(strstr(err.message, "failed in add: no memory") != NULL);
    look_at_times(c, t->rank == c->late, came, c->seconds);
    CHECK(dt_agree(all_of(world), &call, false, &err) == DT_OK);
    CHECK(dt_agree(own, &call, false, &err) == DT_OK);
    leave_crowd(world, c);
}

static void
one_rank_that_failed_takes_four_notes_of_each_at_most(void)
{
    static const int RANKS[] = {6, 32};
    for (size_t k = 0; k < sizeof RANKS / sizeof *RANKS; k++)
        for (int late = 0; late < 3; late++) {
            int n = RANKS[k];
            crowd c = {.late = late == 2 ? n - 1 : late, .seconds = 1.8, .timeout = 4};
            play(n, wait_for_one_that_failed, &c);
            CHECK(atomic_load(&c.notes) >= 2 * (unsigned long)n - 2);
            CHECK(atomic_load(&c.notes) <= 4 * (unsigned long)n);
        }
}

static void
one_late_rank_takes_four_notes_of_each_at_most(void)
{
    static const int RANKS[] = {6, 32};
    for (size_t k = 0; k < sizeof RANKS / sizeof *RANKS; k++)
        for (int late = 0; late < 3; late++) {
            int n = RANKS[k];
            /* Notes are sent after 1 s, of the 32 ranks; else sooner. */
            double unit = n == 32 && late < 2 ? 1 : 0.3;
            crowd c = {.late = late == 2 ? n - 1 : late,
                       .seconds = 3 * unit,
                       .timeout = unit < 1 ? 4 * unit : 60};
            play(n, wait_for_one, &c);
            CHECK(atomic_load(&c.notes) >= (unsigned long)n - 1);
            CHECK(atomic_load(&c.notes) <= 4 * (unsigned long)n);
        }
}

static void
wait_in_vain(dt_transport *t, void *data)
{
    crowd *c = data;
    dt_error err;
    dt_group *own = NULL;
    dt_world *world = world_over(t);
    const int64_t pair[] = {c->late, c->late + 1};
    dt_call call = call_of("f(x)", DT_OK), other = call_of("g(y)", DT_OK);
    world->timeout = c->timeout;
    if (t->rank != c->late) {
        double came = dt_now();
        CHECK(dt_agree(all_of(world), &call, false, &err) == DT_RUNTIME);
        look_at_times(c, false, came, c->timeout + GRACE);
        snprintf(c->messages[t->rank], sizeof c->messages[0], "%s", err.message);
    } else if (c->elsewhere) {
        CHECK(dt_world_group(&own, world, pair, 2, NULL) == DT_OK);
        world->timeout *= 2;
        CHECK(dt_agree(own, &other, false, &err) == DT_RUNTIME);
    }
    leave_crowd(world, c);
}

static void
all_ranks_of_many_name_the_one_that_is_missing(void)
{
    static const char *const WORDS[] = {"rank %d did not come",
                                        "rank %d was in g(y) #1"};
    for (int k = 0; k < 4; k++) {
        crowd c = {.late = k / 2 * 3, .timeout = 1.2, .elsewhere = k % 2 == 1};
        char missing[64], expected[256];
        snprintf(missing, sizeof missing, WORDS[k % 2], c.late);
        snprintf(expected, sizeof expected,
                 "f(x) #1 was given up after 1.2 s: %s; a larger DTENSOR_TIMEOUT waits "
                 "longer",
                 missing);
        play(12, wait_in_vain, &c);
        CHECK(atomic_load(&c.notes) <= 6 * 12);
        for (int rank = 0; rank < 12; rank++)
            if (rank != c.late && strcmp(c.messages[rank], expected) != 0) {
                printf("rank %d: %s\n", rank, c.messages[rank]);
                CHECK(false);
            }
    }
}

DT_MAIN(TEST(a_rank_that_waits_in_another_group_is_shown_with_its_call),
        TEST(in_jobs_of_several_hosts_ranks_are_named_with_theirs),
        TEST(a_list_of_ranks_names_a_few_hosts),
        TEST(a_rank_that_has_gone_on_does_not_draw_others_out_of_their_call),
        TEST(one_late_rank_takes_four_notes_of_each_at_most),
        TEST(one_rank_that_failed_takes_four_notes_of_each_at_most),
        TEST(all_ranks_of_many_name_the_one_that_is_missing))
