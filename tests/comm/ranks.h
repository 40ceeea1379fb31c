/* ranks.h: runs a function on n ranks, each a thread of this process. With TEST_NODE=1
 * they send short messages as processes of one node do, with a larger number as those of a
 * node with so many. */
#ifndef DT_TEST_RANKS_H
#define DT_TEST_RANKS_H

#include "comm/talk/agree.h"
#include "comm/world.h"

#include "check.h"

#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

#ifndef DT_TEST_RANKS
#define DT_TEST_RANKS 8
#endif
enum { RANKS_MAX = DT_TEST_RANKS };

typedef void (*rank_function)(dt_transport *transport, void *data);

typedef struct {
    rank_function run;
    dt_transport *transport;
    void *data;
} rank_thread;

static inline void *
rank_start(void *argument)
{
    rank_thread *rank = argument;
    rank->run(rank->transport, rank->data);
    return NULL;
}

/* Puts the transports of threads under those of a node. */
static inline void
join_node(dt_transport **transports, int n)
{
    dt_node_card cards[RANKS_MAX];
    int neighbours = atoi(getenv("TEST_NODE"));
    for (int i = 0; i < n && neighbours > 1; i++)
        transports[i]->neighbours = neighbours;
    for (int i = 0; i < n; i++)
        dt_node_offer(&cards[i], transports[i]);
    for (int i = 0; i < n; i++)
        if (dt_node_make(&transports[i], transports[i], cards, NULL) != DT_OK)
            abort();
}

/* Calls run(transport, data) on n ranks at once; `run` closes its transport. */
static inline void
on_ranks(int n, rank_function run, void *data)
{
    dt_transport *transports[RANKS_MAX];
    pthread_t threads[RANKS_MAX];
    rank_thread ranks[RANKS_MAX];
    if (dt_threads_make(transports, n, NULL) != DT_OK)
        abort();
    if (getenv("TEST_NODE") != NULL)
        join_node(transports, n);
    for (int i = 0; i < n; i++) {
        ranks[i] = (rank_thread){.run = run, .transport = transports[i], .data = data};
        if (pthread_create(&threads[i], NULL, rank_start, &ranks[i]) != 0)
            abort();
    }
    for (int i = 0; i < n; i++)
        pthread_join(threads[i], NULL);
}

/* The world over a transport; a test without one makes no sense. */
static inline dt_world *
world_over(dt_transport *transport)
{
    dt_world *world = NULL;
    dt_error err = {.status = DT_OK};
    if (dt_world_make(&world, transport, &err) != DT_OK) {
        printf("rank %d: %s\n", transport->rank, err.message);
        abort();
    }
    return world;
}

static inline dt_group *
all_of(dt_world *world)
{
    dt_group *group = NULL;
    CHECK(dt_world_group(&group, world, NULL, 0, NULL) == DT_OK);
    return group;
}

/* A call that reads `what` and fails on this rank if `status` says so. */
static inline dt_call
call_of(const char *what, dt_status status)
{
    dt_call call = {.hash = 0};
    snprintf(call.what, sizeof call.what, "%s", what);
    for (const char *c = what; *c != '\0'; c++)
        call.hash = call.hash * 31 + (unsigned char)*c;
    if (status != DT_OK)
        dt_fail(&call.local, status, "it went wrong in %s", what);
    return call;
}

static inline void
rest(double seconds)
{
    for (double end = dt_now() + seconds; dt_now() < end;)
        sched_yield();
}

#endif
