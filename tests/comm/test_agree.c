#include "ranks.h"

#include <stdatomic.h>

/* What one rank got from one call. */
typedef struct {
    dt_status status;
    char message[1024];
} outcome;

static outcome
agree(dt_group *group, const char *what, dt_status local)
{
    dt_call call = call_of(what, local);
    dt_error err = {.status = DT_OK};
    outcome o = {.status = dt_agree(group, &call, false, &err)};
    CHECK(o.status == err.status);
    snprintf(o.message, sizeof o.message, "%s", err.message);
    return o;
}

/* --- all is well --- */

static void
agree_often(dt_transport *t, void *data)
{
    (void)data;
    dt_world *world = world_over(t);
    uint64_t messages = 0;
    for (int size = 1; size < t->size; size *= 2)
        messages++;
    if (t->table->direct)
        messages = (uint64_t)t->size - 1;
    for (int i = 0; i < 50; i++) {
        uint64_t before = world->messages_sent;
        CHECK(agree(all_of(world), "f(x)", DT_OK).status == DT_OK);
        CHECK(world->messages_sent - before == messages);
    }
    dt_world_close(world);
}

static void
equal_calls_pass_with_few_messages(void)
{
    for (int n = 1; n <= RANKS_MAX; n++)
        on_ranks(n, agree_often, NULL);
}

/* --- the same call of other values --- */

typedef struct {
    int odd;       /* whose value differs */
    bool untraced; /* it is of no account */
    outcome first[RANKS_MAX], second[RANKS_MAX];
} other_value;

static void
call_with_values(dt_transport *t, void *data)
{
    other_value *v = data;
    dt_world *world = world_over(t);
    dt_call call = call_of("f(x)", DT_OK);
    call.lineage = t->rank == v->odd ? 7 : 5;
    call.traced = !(t->rank == v->odd && v->untraced);
    dt_error err = {.status = DT_OK};
    v->first[t->rank].status = dt_agree(all_of(world), &call, false, &err);
    snprintf(v->first[t->rank].message, sizeof err.message, "%s", err.message);
    v->second[t->rank] = agree(all_of(world), "f(x)", DT_OK);
    dt_world_close(world);
}

static void
the_same_call_of_other_values_is_an_error_on_all_ranks_that_have_values(void)
{
    for (int n = 2; n <= 5; n++)
        for (int odd = 0; odd < n; odd++)
            for (int untraced = 0; untraced < 2; untraced++) {
                other_value v = {.odd = odd, .untraced = untraced};
                on_ranks(n, call_with_values, &v);
                for (int rank = 0; rank < n; rank++) {
                    CHECK(v.first[rank].status == (untraced ? DT_OK : DT_PARTED));
                    CHECK(strcmp(v.first[rank].message, v.first[0].message) == 0);
                    CHECK(v.second[rank].status == DT_OK);
                }
                if (n == 3 && odd == 1 && !untraced)
                    CHECK(strcmp(v.first[0].message,
                                 "the ranks have different values in f(x) #1: "
                                 "ranks 0, 2 differ from rank 1") == 0);
            }
}

/* --- one rank is in another call, or fails --- */

typedef struct {
    int odd; /* the rank that differs */
    dt_status local;
    outcome first[RANKS_MAX], second[RANKS_MAX];
} odd_one;

/* Each of the ranks once, then all in the same call. */
static void
differ(dt_transport *t, void *data)
{
    odd_one *all_odd = data;
    dt_world *world = world_over(t);
    for (int odd = 0; odd < t->size; odd++) {
        odd_one *o = &all_odd[odd];
        const char *what = t->rank == odd && o->local == DT_OK ? "g(y)" : "f(x)";
        dt_status local = t->rank == odd ? o->local : DT_OK;
        o->first[t->rank] = agree(all_of(world), what, local);
        o->second[t->rank] = agree(all_of(world), "f(x)", DT_OK);
    }
    CHECK(!world->broken);
    dt_world_close(world);
}

static odd_one all_odd[RANKS_MAX];

static void
run_odd_ones(int n, dt_status local)
{
    for (int odd = 0; odd < n; odd++)
        all_odd[odd] = (odd_one){.odd = odd, .local = local};
    on_ranks(n, differ, all_odd);
}

/* "ranks 0, 2, 3" without `odd`, as a reader expects it. */
static void
list_others(char *out, size_t size, int n, int odd)
{
    size_t used = 0;
    for (int first = 0; first < n; first++) {
        int last = first;
        while (last + 1 < n && last + 1 != odd)
            last++;
        if (first == odd)
            continue;
        used +=
            (size_t)snprintf(out + used, size - used, "%s%d", used ? ", " : "", first);
        if (last > first)
            used += (size_t)snprintf(out + used, size - used, "%s%d",
                                     last - first > 1 ? "-" : ", ", last);
        first = last;
    }
}

static void
expect_difference(const odd_one *o, int n)
{
    char list[64], others[100], odd[64], want[300];
    list_others(list, sizeof list, n, o->odd);
    snprintf(others, sizeof others, "%s %s %s in f(x) #", n > 2 ? "ranks" : "rank",
             list, n > 2 ? "are" : "is");
    snprintf(odd, sizeof odd, "rank %d is in g(y) #", o->odd);
    for (int rank = 0; rank < n; rank++) {
        const outcome *got = &o->first[rank];
        CHECK(got->status == DT_RUNTIME);
        CHECK(strcmp(got->message, o->first[0].message) == 0);
        CHECK(strstr(got->message, others) != NULL &&
              strstr(got->message, odd) != NULL);
        snprintf(want, sizeof want, "ranks are in different calls: %s",
                 o->odd == 0 ? odd : others);
        CHECK(strncmp(got->message, want, strlen(want)) == 0);
        CHECK(o->second[rank].status == DT_OK);
    }
}

static void
a_single_rank_in_another_call_is_told_to_all_and_the_next_call_works(void)
{
    for (int n = 2; n <= RANKS_MAX; n++) {
        run_odd_ones(n, DT_OK);
        for (int odd = 0; odd < n; odd++)
            expect_difference(&all_odd[odd], n);
    }
}

static void
expect_failure(const odd_one *o, int n)
{
    char told[100];
    snprintf(told, sizeof told, "rank %d: it went wrong in f(x)", o->odd);
    for (int rank = 0; rank < n; rank++) {
        CHECK(o->first[rank].status == DT_MEMORY);
        CHECK(strcmp(o->first[rank].message,
                     rank == o->odd ? "it went wrong in f(x)" : told) == 0);
        CHECK(o->second[rank].status == DT_OK);
    }
}

static void
a_single_rank_that_fails_makes_all_fail_alike_and_the_next_call_works(void)
{
    for (int n = 1; n <= RANKS_MAX; n++) {
        run_odd_ones(n, DT_MEMORY);
        for (int odd = 0; odd < n; odd++)
            expect_failure(&all_odd[odd], n);
    }
}

/* --- everybody is in another call, or fails --- */

static void
all_differ(dt_transport *t, void *data)
{
    outcome *out = data;
    dt_world *world = world_over(t);
    char what[16];
    snprintf(what, sizeof what, "f(%d)", t->rank);
    out[t->rank] = agree(all_of(world), what, DT_OK);
    outcome failed = agree(all_of(world), what, t->rank > 0 ? DT_KEY : DT_OK);
    CHECK(failed.status == (t->size > 1 ? DT_KEY : DT_OK));
    CHECK(t->rank == 1 || t->size == 1 ||
          strcmp(failed.message, "rank 1: it went wrong in f(1)") == 0);
    dt_world_close(world);
}

static void
many_different_calls_are_shown_in_part_and_the_lowest_failing_rank_speaks(void)
{
    for (int n = 1; n <= RANKS_MAX; n++) {
        outcome out[RANKS_MAX];
        on_ranks(n, all_differ, out);
        for (int rank = 0; rank < n; rank++) {
            CHECK(out[rank].status == (n > 1 ? DT_RUNTIME : DT_OK));
            CHECK(strcmp(out[rank].message, out[0].message) == 0);
            CHECK(n < 2 || strstr(out[rank].message, "rank 1 is in f(1) #") != NULL);
            CHECK(n < 5 || strstr(out[rank].message, " are in others") != NULL);
        }
    }
}

static void
differ_in_what_is_not_shown(dt_transport *t, void *data)
{
    outcome *out = data;
    dt_world *world = world_over(t);
    dt_call call = call_of("f(...)", DT_OK);
    dt_error err = {.status = DT_OK};
    call.hash += (uint64_t)t->rank;
    out[t->rank].status = dt_agree(all_of(world), &call, false, &err);
    snprintf(out[t->rank].message, sizeof err.message, "%s", err.message);
    dt_world_close(world);
}

static void
calls_that_read_alike_are_told_apart(void)
{
    outcome out[2];
    on_ranks(2, differ_in_what_is_not_shown, out);
    CHECK(out[1].status == DT_RUNTIME);
    CHECK(strstr(out[1].message, "rank 1 is in f(...) #1 with other arguments") !=
          NULL);
}

/* --- a rank that does not come --- */

typedef struct {
    int missing;
    bool same_call; /* it comes late to the call that the others have given up */
    atomic_int gave_up;
    outcome lost[RANKS_MAX], next[RANKS_MAX], last[RANKS_MAX];
} absence;

static void
come_late(dt_transport *t, void *data)
{
    absence *a = data;
    dt_world *world = world_over(t);
    dt_group *all = all_of(world);
    world->timeout = 0.3;
    if (t->rank != a->missing) {
        a->lost[t->rank] = agree(all, "f(x)", DT_OK);
        atomic_fetch_add(&a->gave_up, 1);
    } else {
        while (atomic_load(&a->gave_up) < t->size - 1)
            t->table->idle(t);
    }
    world->timeout = 10;
    a->next[t->rank] = agree(all, a->same_call ? "f(x)" : "g(y)", DT_OK);
    a->last[t->rank] = agree(all, "h(z)", DT_OK);
    CHECK(!world->broken);
    dt_world_close(world);
}

static void
expect_absence(const absence *a, int n)
{
    char want[200];
    snprintf(want, sizeof want,
             "f(x) #1 was given up after 0.3 s: rank %d did not come; a larger "
             "DTENSOR_TIMEOUT waits longer",
             a->missing);
    for (int rank = 0; rank < n; rank++) {
        if (rank != a->missing) {
            CHECK(a->lost[rank].status == DT_RUNTIME);
            CHECK(strcmp(a->lost[rank].message, want) == 0);
        }
        CHECK(a->last[rank].status == DT_OK);
    }
}

static void
the_missing_rank_is_named_and_calls_work_again_when_it_comes(void)
{
    static const int sizes[] = {2, 3, 5};
    for (int i = 0; i < 3; i++)
        for (int n = sizes[i], missing = n > 3 ? 3 : 0; missing < n; missing++) {
            absence a = {.missing = missing, .same_call = false};
            on_ranks(n, come_late, &a);
            expect_absence(&a, n);
            for (int rank = 0; rank < n; rank++)
                CHECK(a.next[rank].status == DT_OK);
        }
}

static void
a_rank_that_comes_to_a_call_given_up_hears_of_it_and_so_do_all(void)
{
    for (int n = 2; n <= 3; n++) {
        absence a = {.missing = n - 2, .same_call = true};
        on_ranks(n, come_late, &a);
        expect_absence(&a, n);
        char late[80];
        snprintf(late, sizeof late, "rank %d is in f(x) #1, which others have left",
                 a.missing);
        for (int rank = 0; rank < n; rank++) {
            CHECK(a.next[rank].status == DT_RUNTIME);
            CHECK(strstr(a.next[rank].message, late) != NULL);
            CHECK(strstr(a.next[rank].message, "in f(x) #2") != NULL);
        }
    }
}

/* --- numbers that have come apart --- */

static void
agree_with_other_numbers(dt_transport *t, void *data)
{
    outcome *out = data;
    dt_world *world = world_over(t);
    dt_group *all = all_of(world);
    uint64_t state = (uint64_t)t->size;
    world->timeout =
        1.2; /* soon late: notes must help those that wait for each other */
    for (int i = 0; i < 2; i++) {
        int ahead = (int)check_below(&state, t->size);
        outcome o = agree(all, "f(x)", DT_OK);
        CHECK(o.status == DT_OK);
        all->started += t->rank == ahead ? 1 : 0;
        out[t->rank] = agree(all, "f(x)", DT_OK);
        CHECK(out[t->rank].status == DT_RUNTIME);
    }
    dt_world_close(world);
}

static void
numbers_that_differ_are_an_error_on_all_ranks_once(void)
{
    for (int n = 2; n <= RANKS_MAX; n += 3) {
        outcome out[RANKS_MAX];
        on_ranks(n, agree_with_other_numbers, out);
        for (int rank = 0; rank < n; rank++)
            CHECK(strcmp(out[rank].message, out[0].message) == 0);
    }
}

/* --- all at once --- */

typedef struct {
    uint64_t seed;
    atomic_int came;
    dt_status end[RANKS_MAX][2];
} chaos;

static dt_status
interrupt_sometimes(void *data)
{
    return check_below(data, 12) == 0 ? DT_INTERRUPTED : DT_OK;
}

/* Ranks miss calls, come late, time out, fail and are interrupted; then all come. */
static void
stumble(dt_transport *t, void *data)
{
    chaos *c = data;
    dt_world *world = world_over(t);
    dt_group *all = all_of(world);
    uint64_t common = c->seed, own = c->seed * 77 + (uint64_t)t->rank, luck = own + 5;
    world->timeout = 0.12;
    world->poll = interrupt_sometimes;
    world->poll_data = &luck;
    for (int i = 0; i < 6; i++) {
        const char *what = check_below(&common, 2) ? "f(x)" : "g(y)";
        if (check_below(&own, 4) == 0)
            rest(0.001 * (double)check_below(&own, 200));
        if (check_below(&own, 4) != 0)
            agree(all, what, check_below(&own, 10) ? DT_OK : DT_KEY);
    }
    atomic_fetch_add(&c->came, 1);
    while (atomic_load(&c->came) < t->size)
        t->table->idle(t);
    rest(0.05);
    world->poll = NULL;
    world->timeout = 20;
    for (int i = 0; i < 2; i++)
        c->end[t->rank][i] = agree(all, "f(x)", DT_OK).status;
    CHECK(!world->broken);
    dt_world_close(world);
}

static void
whatever_has_happened_at_most_one_more_call_fails_when_all_ranks_come(void)
{
    for (int n = 2; n <= 5; n++) {
        chaos c = {.seed = (uint64_t)n + 40};
        on_ranks(n, stumble, &c);
        for (int rank = 0; rank < n; rank++)
            CHECK(c.end[rank][0] == c.end[0][0] && c.end[rank][1] == DT_OK);
    }
}

/* --- without checking --- */

static void
agree_unchecked(dt_transport *t, void *data)
{
    (void)data;
    dt_world *world = world_over(t);
    world->check = false;
    CHECK(agree(all_of(world), t->rank ? "f(x)" : "g(y)", DT_OK).status == DT_OK);
    outcome o = agree(all_of(world), "f(x)", t->rank == 0 ? DT_INDEX : DT_OK);
    CHECK(o.status == DT_INDEX);
    dt_call call = call_of(t->rank ? "f(x)" : "g(y)", DT_OK);
    CHECK(dt_agree(all_of(world), &call, true, NULL) ==
          (t->size > 1 ? DT_RUNTIME : DT_OK));
    dt_world_close(world);
}

static void
without_checking_calls_are_compared_only_where_forced_and_errors_are_told(void)
{
    for (int n = 1; n <= 4; n++)
        on_ranks(n, agree_unchecked, NULL);
}

/* Parts of 4 KiB in all, as programs have them, are not kept out by some words; among few
 * ranks of a node as much of each rank. */
static void
carry_blocks(dt_transport *t, void *data)
{
    (void)data;
    dt_world *world = world_over(t);
    int64_t rounds = t->table->direct ? 1 : t->size / 2;
    CHECK(dt_freight_fits(world, NULL, t->size, 2048 / rounds));
    CHECK(!dt_freight_fits(world, NULL, t->size, 2048 / rounds + 64));
    CHECK(!dt_freight_fits(world, NULL, 17, 2048 / 8 + 64));
    dt_world_close(world);
}

static void
blocks_of_2_kib_in_a_message_go_with_an_agreement(void)
{
    for (int n = 2; n <= RANKS_MAX; n += 2)
        on_ranks(n, carry_blocks, NULL);
}

DT_MAIN(TEST(equal_calls_pass_with_few_messages),
        TEST(the_same_call_of_other_values_is_an_error_on_all_ranks_that_have_values),
        TEST(a_single_rank_in_another_call_is_told_to_all_and_the_next_call_works),
        TEST(a_single_rank_that_fails_makes_all_fail_alike_and_the_next_call_works),
        TEST(many_different_calls_are_shown_in_part_and_the_lowest_failing_rank_speaks),
        TEST(calls_that_read_alike_are_told_apart),
        TEST(the_missing_rank_is_named_and_calls_work_again_when_it_comes),
        TEST(a_rank_that_comes_to_a_call_given_up_hears_of_it_and_so_do_all),
        TEST(numbers_that_differ_are_an_error_on_all_ranks_once),
        TEST(whatever_has_happened_at_most_one_more_call_fails_when_all_ranks_come),
        TEST(without_checking_calls_are_compared_only_where_forced_and_errors_are_told),
        TEST(blocks_of_2_kib_in_a_message_go_with_an_agreement))
