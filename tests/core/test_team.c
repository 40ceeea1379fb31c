#include "core/threads/team.h"

#include "check.h"

#include <fenv.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MOST = 300000, WORK = 1 << 20 };

typedef struct {
    unsigned char seen[MOST];
    atomic_int calls, misplaced;
    int64_t count;
} visits;

static visits visited;

static void
visit(void *work, int64_t begin, int64_t end)
{
    visits *v = work;
    atomic_fetch_add(&v->calls, 1);
    if (begin < 0 || begin >= end || end > v->count)
        atomic_fetch_add(&v->misplaced, 1);
    for (int64_t i = begin; i < end; i++)
        v->seen[i]++;
}

/* Whether each of so many elements is visited once. */
static bool
visits_each_once(visits *v, int64_t count, int64_t each)
{
    memset(v->seen, 0, sizeof v->seen);
    atomic_store(&v->calls, 0);
    atomic_store(&v->misplaced, 0);
    v->count = count;
    dt_team_run(count, each, visit, v);
    bool good = atomic_load(&v->misplaced) == 0;
    for (int64_t i = 0; i < MOST; i++)
        good &= v->seen[i] == (i < count);
    return good;
}

static void
every_element_is_done_once(void)
{
    const int64_t counts[] = {0, 1, 2, 7, 64, 1000, 65537, MOST};
    const int64_t each[] = {1, 3, 8, 300, 100000, INT64_MAX};
    for (int threads = 1; threads <= 5; threads++) {
        dt_team_set(threads);
        CHECK(dt_team_size() == threads);
        for (size_t c = 0; c < sizeof counts / sizeof *counts; c++)
            for (size_t e = 0; e < sizeof each / sizeof *each; e++)
                CHECK(visits_each_once(&visited, counts[c], each[e]));
    }
}

static void
little_work_is_done_at_once(void)
{
    dt_team_set(4);
    CHECK(!dt_team_shares(1000) && dt_team_shares(WORK));
    CHECK(visits_each_once(&visited, 1000, 8) && atomic_load(&visited.calls) == 1);
    CHECK(visits_each_once(&visited, MOST, 8) && atomic_load(&visited.calls) > 1);
    dt_team_set(1);
    CHECK(!dt_team_shares(WORK));
    CHECK(visits_each_once(&visited, MOST, 8) && atomic_load(&visited.calls) == 1);
}

static void
pieces_begin_where_vectors_do(void *work, int64_t begin, int64_t end)
{
    if (begin % 64 != 0 || end <= begin)
        atomic_fetch_add((atomic_int *)work, 1);
}

static void
pieces_are_whole_vectors(void)
{
    atomic_int wrong = 0;
    dt_team_set(3);
    for (int64_t count = 65536; count < 66000; count += 7)
        dt_team_run(count, 24, pieces_begin_where_vectors_do, &wrong);
    CHECK(atomic_load(&wrong) == 0);
}

static void
visit_within(void *work, int64_t begin, int64_t end)
{
    static visits inner[4];
    for (int64_t i = begin; i < end; i++)
        if (!visits_each_once(&inner[i], 70000, 8) || atomic_load(&inner[i].calls) != 1)
            atomic_fetch_add((atomic_int *)work, 1);
}

static void
a_loop_within_a_loop_is_not_shared(void)
{
    atomic_int wrong = 0;
    dt_team_set(4);
    dt_team_run(4, WORK, visit_within, &wrong);
    CHECK(atomic_load(&wrong) == 0);
}

static void
do_nothing(void *work, int64_t begin, int64_t end)
{
    (void)work;
    CHECK(begin < end);
}

static void
note_place(void *work, int64_t begin, int64_t end)
{
    (void)begin;
    (void)end;
    if (dt_team_place() > 1)
        atomic_fetch_add((atomic_int *)work, 1);
}

static void
no_more_threads_than_asked_for_take_part(void)
{
    atomic_int wrong = 0;
    dt_team_set(5);
    for (int k = 0; k < 100; k++) {
        dt_team_run(64, WORK, do_nothing, NULL);
        dt_team_run_by(2, 64, WORK, note_place, &wrong);
    }
    CHECK(atomic_load(&wrong) == 0 && dt_team_place() == 0);
}

static void *
visit_often(void *space)
{
    for (int k = 0; k < 100; k++)
        CHECK(visits_each_once(space, 40000 + k, 24));
    return NULL;
}

static void
several_threads_have_loops(void)
{
    static visits space[3];
    pthread_t threads[3];
    for (int k = 0; k < 3; k++)
        CHECK(pthread_create(&threads[k], NULL, visit_often, &space[k]) == 0);
    for (int k = 0; k < 40; k++)
        dt_team_set(1 + k % 4);
    for (int k = 0; k < 3; k++)
        pthread_join(threads[k], NULL);
}

static void
look_around(void *work, int64_t begin, int64_t end)
{
    (void)begin;
    (void)end;
    if (fegetround() != FE_UPWARD)
        atomic_fetch_add((atomic_int *)work, 1);
}

static void
the_rounding_is_the_callers(void)
{
    atomic_int wrong = 0;
    dt_team_set(4);
    fesetround(FE_UPWARD);
    for (int k = 0; k < 100; k++)
        dt_team_run(64, WORK, look_around, &wrong);
    fesetround(FE_TONEAREST);
    CHECK(atomic_load(&wrong) == 0);
}

static pthread_t first;
static atomic_int elsewhere;

static void
note_thread(int number)
{
    (void)number;
    if (!pthread_equal(pthread_self(), first))
        atomic_fetch_add(&elsewhere, 1);
}

static void
send_signal(void *work, int64_t begin, int64_t end)
{
    (void)work;
    (void)begin;
    (void)end;
    kill(getpid(), SIGUSR1);
}

static void
signals_are_for_other_threads(void)
{
    first = pthread_self();
    signal(SIGUSR1, note_thread);
    dt_team_set(4);
    for (int k = 0; k < 50; k++)
        dt_team_run(64, WORK, send_signal, NULL);
    CHECK(atomic_load(&elsewhere) == 0);
}

static void
fork_within(void *work, int64_t begin, int64_t end)
{
    (void)end;
    if (begin != 0)
        return;
    pid_t child = fork();
    if (child == 0) { /* the parent's team is at work, and its helpers are not here */
        static visits own;
        bool good = visits_each_once(&own, MOST, 8) && atomic_load(&own.calls) > 1;
        _exit(good && dt_team_size() == 3 ? 0 : 1);
    }
    int status = 1;
    waitpid(child, &status, 0);
    atomic_store((atomic_int *)work, status);
}

static void
a_child_of_fork_has_a_team(void)
{
    atomic_int status = 1;
    dt_team_set(3);
    CHECK(visits_each_once(&visited, MOST, 8));
    dt_team_run(12, WORK, fork_within, &status);
    CHECK(atomic_load(&status) == 0);
    CHECK(visits_each_once(&visited, MOST, 8));
}

DT_MAIN(TEST(every_element_is_done_once), TEST(little_work_is_done_at_once),
        TEST(pieces_are_whole_vectors), TEST(a_loop_within_a_loop_is_not_shared),
        TEST(no_more_threads_than_asked_for_take_part),
        TEST(several_threads_have_loops), TEST(the_rounding_is_the_callers),
        TEST(signals_are_for_other_threads), TEST(a_child_of_fork_has_a_team))
