#include "core/threads/team.h"

#include <fenv.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>

#if defined(__x86_64__)
#include <immintrin.h>
#define PAUSE() _mm_pause()
#elif defined(__aarch64__)
#define PAUSE() __asm__ volatile("isb" ::: "memory")
#else
#define PAUSE() atomic_signal_fence(memory_order_seq_cst)
#endif

enum {
    SHARED_FROM = 1 << 18, /* bytes: a shorter loop is done before anybody is awake */
    LEAST_PIECE = 1 << 16, /* bytes */
    PIECES = 4,            /* for each thread: who comes late finds some, or none */
    ALIGNED = 64,          /* elements */
    SPINS = 1000           /* some tens of microseconds: the next loop may come soon */
};

typedef struct {
    dt_team_part *part;
    void *work;
    int64_t count, piece;
    int threads;       /* at most */
    atomic_llong next; /* the first element that nobody has taken */
    fenv_t surroundings;
} job;

typedef struct team team;

typedef struct {
    team *team;
    int place; /* from 1 on */
    pthread_t thread;
    pthread_cond_t more; /* a job that it may join, or the end */
} helper;

struct team {
    pthread_mutex_t use; /* of a thread that has a loop, or changes the team */
    pthread_mutex_t lock;
    pthread_cond_t done;
    /* Under lock: */
    job job;
    bool open; /* the job may be joined */
    bool end;  /* the helpers are to end */
    /* Changed under lock, and looked at before: */
    _Atomic uint64_t turn; /* number of the job */
    atomic_int busy;       /* helpers that have joined it */
    /* Under use: */
    int started;
    helper helpers[DT_TEAM_MOST - 1];
};

static _Thread_local int place;  /* among the threads of the team */
static _Atomic(team *) the_team; /* NULL: none was needed yet, or it is the parent's */
static atomic_int wanted = 1;

/* --- a helper --- */

static void
do_pieces(job *j)
{
    for (;;) {
        int64_t begin = atomic_fetch_add(&j->next, j->piece);
        if (begin >= j->count)
            return;
        int64_t rest = j->count - begin;
        j->part(j->work, begin, begin + (rest < j->piece ? rest : j->piece));
    }
}

/* Returns under lock, with a job to join; false: it is time to end. */
static bool
next_job(helper *h, uint64_t *seen)
{
    team *t = h->team;
    for (int k = 0; k < SPINS && atomic_load(&t->turn) == *seen; k++)
        PAUSE();
    pthread_mutex_lock(&t->lock);
    while (!t->end &&
           (!t->open || atomic_load(&t->turn) == *seen || place >= t->job.threads))
        pthread_cond_wait(&h->more, &t->lock);
    *seen = atomic_load(&t->turn);
    return !t->end;
}

static void *
help(void *argument)
{
    helper *h = argument;
    team *t = h->team;
    uint64_t seen = 0;
    place = h->place;
    while (next_job(h, &seen)) {
        atomic_fetch_add(&t->busy, 1);
        pthread_mutex_unlock(&t->lock);
        fesetenv(&t->job.surroundings);
        do_pieces(&t->job);
        pthread_mutex_lock(&t->lock);
        if (atomic_fetch_sub(&t->busy, 1) == 1)
            pthread_cond_signal(&t->done);
        pthread_mutex_unlock(&t->lock);
    }
    pthread_mutex_unlock(&t->lock);
    return NULL;
}

/* Ends all helpers. Under use. */
static void
dismiss(team *t)
{
    pthread_mutex_lock(&t->lock);
    t->end = true;
    for (int k = 0; k < t->started; k++)
        pthread_cond_signal(&t->helpers[k].more);
    pthread_mutex_unlock(&t->lock);
    for (int k = 0; k < t->started; k++) {
        pthread_join(t->helpers[k].thread, NULL);
        pthread_cond_destroy(&t->helpers[k].more);
    }
    t->end = false;
    t->started = 0;
}

/* --- forks --- */

static _Thread_local bool dismissed; /* by this thread, which has `use` meanwhile */

/* Before a fork the helpers end, where no loop is shared: then it is that of a process
 * with as many threads as it knows of. The next loop starts new ones. */
static void
before_fork(void)
{
    team *t = atomic_load(&the_team);
    dismissed = t != NULL && pthread_mutex_trylock(&t->use) == 0;
    if (dismissed)
        dismiss(t);
}

static void
in_parent(void)
{
    if (dismissed)
        pthread_mutex_unlock(&atomic_load(&the_team)->use);
}

/* Otherwise nobody of the parent's is here, and its locks stay as they are. */
static void
in_child(void)
{
    if (dismissed)
        in_parent();
    else
        atomic_store(&the_team, NULL);
}

static void
watch_forks(void)
{
    pthread_atfork(before_fork, in_parent, in_child);
}

/* --- the number of threads --- */

/* NULL: there is no memory. */
static team *
get_team(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    team *t = atomic_load(&the_team), *none = NULL;
    if (t != NULL)
        return t;
    pthread_once(&once, watch_forks);
    t = calloc(1, sizeof *t);
    if (t == NULL)
        return NULL;
    pthread_mutex_init(&t->use, NULL);
    pthread_mutex_init(&t->lock, NULL);
    pthread_cond_init(&t->done, NULL);
    if (!atomic_compare_exchange_strong(&the_team, &none, t)) {
        free(t); /* another thread was first */
        t = none;
    }
    return t;
}

/* As many helpers as are wanted, or as the system gives. Signals are for the threads that
 * were there before, but for those of a fault of the thread's own. Under use. */
static void
complete(team *t)
{
    static const int OWN[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGABRT};
    sigset_t all, before;
    int helpers = dt_team_size() - 1;
    if (t->started > helpers)
        dismiss(t);
    if (t->started == helpers)
        return;
    sigfillset(&all);
    for (size_t k = 0; k < sizeof OWN / sizeof *OWN; k++)
        sigdelset(&all, OWN[k]);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    for (int k = t->started; k < helpers; k++) {
        helper *h = &t->helpers[k];
        *h = (helper){.team = t, .place = k + 1};
        pthread_cond_init(&h->more, NULL);
        if (pthread_create(&h->thread, NULL, help, h) != 0) {
            pthread_cond_destroy(&h->more);
            atomic_store(&wanted, k + 1);
            break;
        }
        t->started++;
    }
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}

void
dt_team_set(int threads)
{
    atomic_store(&wanted, threads);
    team *t = atomic_load(&the_team);
    if (t == NULL || pthread_mutex_trylock(&t->use) != 0)
        return; /* who has a loop completes the team before the next one */
    if (t->started > threads - 1)
        dismiss(t);
    pthread_mutex_unlock(&t->use);
}

int
dt_team_size(void)
{
    return atomic_load_explicit(&wanted, memory_order_relaxed);
}

int
dt_team_place(void)
{
    return place;
}

bool
dt_team_shares(int64_t bytes)
{
    return bytes >= SHARED_FROM && dt_team_size() > 1;
}

/* --- a loop --- */

/* Elements of a piece. */
static int64_t
piece_of(int64_t count, int64_t each)
{
    int64_t grain = each < LEAST_PIECE ? LEAST_PIECE / each : 1, aligned = ALIGNED;
    while (aligned > grain)
        aligned /= 2;
    grain -= grain % aligned;
    int64_t pieces = (int64_t)dt_team_size() * PIECES;
    int64_t grains = (count - 1) / grain + 1;
    return ((grains - 1) / pieces + 1) * grain;
}

static void
share(team *t, int threads, int64_t count, int64_t piece, dt_team_part *part,
      void *work)
{
    job *j = &t->job;
    pthread_mutex_lock(&t->lock);
    j->part = part;
    j->work = work;
    j->count = count;
    j->piece = piece;
    j->threads = threads;
    atomic_store(&j->next, 0);
    fegetenv(&j->surroundings);
    t->open = true;
    atomic_fetch_add(&t->turn, 1);
    pthread_mutex_unlock(&t->lock);
    for (int k = 0; k < t->started && k < threads - 1; k++)
        pthread_cond_signal(&t->helpers[k].more);
    do_pieces(j);
    pthread_mutex_lock(&t->lock);
    t->open = false;
    pthread_mutex_unlock(&t->lock);
    for (int k = 0; k < SPINS && atomic_load(&t->busy) > 0; k++)
        PAUSE();
    pthread_mutex_lock(&t->lock);
    while (atomic_load(&t->busy) > 0)
        pthread_cond_wait(&t->done, &t->lock);
    pthread_mutex_unlock(&t->lock);
}

void
dt_team_run_by(int threads, int64_t count, int64_t each, dt_team_part *part, void *work)
{
    int64_t bytes = 0;
    if (count <= 0)
        return;
    if (__builtin_mul_overflow(count, each, &bytes))
        bytes = INT64_MAX;
    int64_t piece = dt_team_shares(bytes) ? piece_of(count, each) : count;
    team *t = piece < count ? get_team() : NULL;
    if (t == NULL || pthread_mutex_trylock(&t->use) != 0) {
        part(work, 0, count);
        return;
    }
    int64_t pieces = (count - 1) / piece + 1;
    complete(t);
    share(t, pieces < threads ? (int)pieces : threads, count, piece, part, work);
    pthread_mutex_unlock(&t->use);
}

void
dt_team_run(int64_t count, int64_t each, dt_team_part *part, void *work)
{
    dt_team_run_by(DT_TEAM_MOST, count, each, part, work);
}
