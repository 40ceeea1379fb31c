/* Ranks that are threads of one process.
 *
 * A sender pushes its message onto a stack that belongs to the receiver, with one
 * compare-and-swap. The receiver takes the whole stack with one exchange and sorts it
 * into lists that nobody else sees. So there are no locks, and matching and copying are
 * done by the receiver alone. */
#include "comm/transport/transport.h"
#include "core/memory/copy.h"

#include <limits.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A message of at most EAGER bytes is copied into its item, and its sender is done. One
 * of at most SMALL fits the items that are kept for reuse. */
enum { SMALL = 128, EAGER = 4096, SPARE_LIMIT = 256, CACHE_LINE = 64 };

/* Who may touch the sender's buffer. The sender owns a message that is DONE, the
 * receiver frees one that is WITHDRAWN. */
enum { WAITING, TAKEN, DONE, WITHDRAWN };

typedef enum { MESSAGE, RECEIVE } item_kind;

typedef struct item item;
struct item {
    item *next;
    item_kind kind;
    int source, tag;
    size_t bytes;     /* sent; for a receive: wanted */
    const void *from; /* of a message */
    void *to;         /* of a receive */
    size_t got;       /* bytes of the message that a receive has met */
    bool finished;    /* of a receive */
    atomic_int state; /* of a message that is not eager */
    size_t room;      /* bytes of the buffer */
    unsigned char buffer[];
};

typedef struct {
    item *first, **end;
} item_list;

typedef struct thread_group thread_group;

typedef struct {
    dt_transport base;
    thread_group *group;
    item_list *arrived; /* per source: messages that no receive waits for yet */
    item_list *posted;  /* per source: receives that no message has come for yet */
    item *spare;
    int spares;
    _Alignas(CACHE_LINE) _Atomic(item *) inbox; /* newest first; written by everybody */
} endpoint;

struct thread_group {
    int size;
    atomic_int open;   /* endpoints that are not closed yet */
    atomic_int failed; /* 0; 1 while the sentence is written; 2 */
    char sentence[sizeof(((dt_error *)NULL)->message)];
    endpoint *endpoints;
    item_list *lists;
};

static dt_status
check_alive(const endpoint *e, dt_error *err)
{
    if (atomic_load_explicit(&e->group->failed, memory_order_acquire) == 2)
        return dt_fail(err, DT_RUNTIME, "%s", e->group->sentence);
    return DT_OK;
}

/* --- items and lists --- */

static item *
item_take(endpoint *e, size_t room)
{
    item *i = e->spare;
    if (room <= SMALL && i != NULL) {
        e->spare = i->next;
        e->spares--;
        return i;
    }
    room = room <= SMALL ? SMALL : room;
    i = malloc(sizeof *i + room);
    if (i != NULL)
        i->room = room;
    return i;
}

static void
item_give(endpoint *e, item *i)
{
    if (i->room > SMALL || e->spares == SPARE_LIMIT) {
        free(i);
        return;
    }
    i->next = e->spare;
    e->spare = i;
    e->spares++;
}

static void
list_append(item_list *list, item *i)
{
    i->next = NULL;
    *list->end = i;
    list->end = &i->next;
}

static void
list_remove(item_list *list, item **link)
{
    item *i = *link;
    *link = i->next;
    if (i->next == NULL)
        list->end = link;
}

static void
list_free(item *i)
{
    for (item *next; i != NULL; i = next) {
        next = i->next;
        free(i);
    }
}

/* --- matching: all in the receiver's thread --- */

static bool
is_eager(const item *message)
{
    return message->from == message->buffer;
}

/* Copies a message to where it is wanted. False if its sender has withdrawn it. */
static bool
deliver(endpoint *e, item *receive, item *message)
{
    int expected = WAITING;
    bool eager = is_eager(message);
    if (!eager && !atomic_compare_exchange_strong(&message->state, &expected, TAKEN)) {
        item_give(e, message);
        return false;
    }
    receive->got = message->bytes;
    receive->finished = true;
    if (message->bytes <= receive->bytes) {
        if (eager)
            memcpy(receive->to, message->from, message->bytes);
        else
            dt_copy_bytes(receive->to, message->from, message->bytes);
    }
    if (eager)
        item_give(e, message);
    else /* from here on the sender may free it */
        atomic_store_explicit(&message->state, DONE, memory_order_release);
    return true;
}

static void
sort_in(endpoint *e, item *message)
{
    item_list *posted = &e->posted[message->source];
    for (item **link = &posted->first; *link != NULL; link = &(*link)->next)
        if ((*link)->tag == message->tag) {
            item *receive = *link;
            if (deliver(e, receive, message))
                list_remove(posted, link);
            return;
        }
    list_append(&e->arrived[message->source], message);
}

/* Takes in what has come, in the order in which each source has sent it. */
static void
collect(endpoint *e)
{
    if (atomic_load_explicit(&e->inbox, memory_order_relaxed) == NULL)
        return;
    item *newest = atomic_exchange_explicit(&e->inbox, NULL, memory_order_acquire);
    item *oldest = NULL;
    for (item *next; newest != NULL; newest = next) {
        next = newest->next;
        newest->next = oldest;
        oldest = newest;
    }
    for (item *next; oldest != NULL; oldest = next) {
        next = oldest->next;
        sort_in(e, oldest);
    }
}

/* Gives a new receive the first message that has come for it. */
static void
find_arrived(endpoint *e, item *receive)
{
    item_list *arrived = &e->arrived[receive->source];
    for (item **link = &arrived->first; *link != NULL && !receive->finished;) {
        item *message = *link;
        if (message->tag == receive->tag) {
            list_remove(arrived, link);
            deliver(e, receive, message);
        } else {
            link = &message->next;
        }
    }
}

/* --- the table --- */

static dt_status
check_message(const endpoint *e, size_t bytes, int rank, int tag, dt_error *err)
{
    DT_TRY(check_alive(e, err));
    if (bytes > INT_MAX || rank < 0 || rank >= e->group->size || tag < 0 ||
        tag >= DT_TAG_LIMIT)
        return dt_fail(err, DT_BUG,
                       "a message of %zu bytes with rank %d of %d, tag %d cannot be",
                       bytes, rank, e->group->size, tag);
    return DT_OK;
}

static dt_status
threads_send(dt_request *out, dt_transport *t, const void *data, size_t bytes, int rank,
             int tag, dt_error *err)
{
    endpoint *e = (endpoint *)t;
    DT_TRY(check_message(e, bytes, rank, tag, err));
    bool eager = bytes <= EAGER;
    item *message = item_take(e, eager ? bytes : 0);
    if (message == NULL)
        return dt_fail(err, DT_MEMORY, "no memory for a message to rank %d", rank);

    message->kind = MESSAGE;
    message->source = t->rank;
    message->tag = tag;
    message->bytes = bytes;
    message->from = eager ? message->buffer : data;
    if (eager && bytes > 0)
        memcpy(message->buffer, data, bytes);
    atomic_init(&message->state, WAITING);
    /* After the push an eager message belongs to the receiver. */
    out->handle = eager ? NULL : message;

    _Atomic(item *) *inbox = &e->group->endpoints[rank].inbox;
    message->next = atomic_load_explicit(inbox, memory_order_relaxed);
    while (!atomic_compare_exchange_weak_explicit(
        inbox, &message->next, message, memory_order_release, memory_order_relaxed)) {
    }
    return DT_OK;
}

static dt_status
threads_receive(dt_request *out, dt_transport *t, void *data, size_t bytes, int rank,
                int tag, dt_error *err)
{
    endpoint *e = (endpoint *)t;
    DT_TRY(check_message(e, bytes, rank, tag, err));
    item *receive = item_take(e, 0);
    if (receive == NULL)
        return dt_fail(err, DT_MEMORY, "no memory for a message from rank %d", rank);
    receive->kind = RECEIVE;
    receive->source = rank;
    receive->tag = tag;
    receive->bytes = bytes;
    receive->to = data;
    receive->finished = false;
    collect(e);
    find_arrived(e, receive);
    if (!receive->finished)
        list_append(&e->posted[rank], receive);
    out->handle = receive;
    return DT_OK;
}

static dt_status
threads_test(bool *done, dt_transport *t, dt_request *request, dt_error *err)
{
    endpoint *e = (endpoint *)t;
    item *i = request->handle;
    DT_TRY(check_alive(e, err));
    if (i == NULL) {
        *done = true;
        return DT_OK;
    }
    collect(e); /* also for a send: the other rank may wait for a message to go on */
    if (i->kind == MESSAGE)
        *done = atomic_load_explicit(&i->state, memory_order_acquire) == DONE;
    else if (i->finished &&
             (i->got > i->bytes || (i->got < i->bytes && !request->at_most)))
        return dt_fail(err, DT_RUNTIME,
                       "rank %d sent %zu bytes where %zu were expected", i->source,
                       i->got, i->bytes);
    else
        *done = i->finished;
    if (*done) {
        item_give(e, i);
        request->handle = NULL;
    }
    return DT_OK;
}

static void
withdraw(endpoint *e, item *message)
{
    int expected = WAITING;
    if (atomic_compare_exchange_strong(&message->state, &expected, WITHDRAWN))
        return; /* the receiver frees it when it meets it */
    while (atomic_load_explicit(&message->state, memory_order_acquire) != DONE)
        sched_yield(); /* it is being copied */
    item_give(e, message);
}

static bool
threads_cancel(dt_transport *t, dt_request *request)
{
    endpoint *e = (endpoint *)t;
    item *i = request->handle;
    request->handle = NULL;
    if (i == NULL)
        return true;
    if (i->kind == MESSAGE) {
        withdraw(e, i);
        return true;
    }
    item_list *posted = &e->posted[i->source];
    for (item **link = &posted->first; *link != NULL; link = &(*link)->next)
        if (*link == i) {
            list_remove(posted, link);
            break;
        }
    item_give(e, i);
    return true;
}

static dt_status
threads_probe(bool *found, int *rank, dt_transport *t, int tag, dt_error *err)
{
    endpoint *e = (endpoint *)t;
    DT_TRY(check_alive(e, err));
    collect(e);
    *found = false;
    for (int source = 0; source < e->group->size && !*found; source++)
        for (item *i = e->arrived[source].first; i != NULL && !*found; i = i->next)
            if (i->tag == tag && atomic_load(&i->state) == WAITING) {
                *found = true;
                *rank = source;
            }
    return DT_OK;
}

static void
threads_idle(dt_transport *t)
{
    (void)t;
    sched_yield();
}

static void
group_free(thread_group *group)
{
    for (int rank = 0; rank < group->size; rank++) {
        endpoint *e = &group->endpoints[rank];
        list_free(atomic_load(&e->inbox));
        list_free(e->spare);
        for (int source = 0; source < group->size; source++) {
            list_free(e->arrived[source].first);
            list_free(e->posted[source].first);
        }
    }
    free(group->lists);
    free(group->endpoints);
    free(group);
}

static void
threads_close(dt_transport *t)
{
    thread_group *group = ((endpoint *)t)->group;
    if (atomic_fetch_sub(&group->open, 1) == 1)
        group_free(group);
}

/* What its sender has withdrawn is freed here; it can withdraw until it is TAKEN. */
static dt_status
threads_take(bool *taken, int *tag, dt_transport *t, int rank, void *out, size_t room,
             dt_error *err)
{
    endpoint *e = (endpoint *)t;
    item_list *arrived = &e->arrived[rank];
    *taken = false;
    DT_TRY(check_alive(e, err));
    collect(e);
    while (arrived->first != NULL && !*taken) {
        item *message = arrived->first;
        item head = {.to = out, .bytes = message->bytes};
        if (message->bytes > room)
            head.bytes = 0;
        *tag = message->tag;
        list_remove(arrived, &arrived->first);
        *taken = deliver(e, &head, message);
    }
    return DT_OK;
}

/* What a rank writes is seen by those whom it sends a message afterwards. */
static const void *
threads_reach(dt_transport *t, int rank, const void *address)
{
    (void)t;
    (void)rank;
    return address;
}

static const dt_transport_table threads_table = {
    .send = threads_send,
    .receive = threads_receive,
    .test = threads_test,
    .cancel = threads_cancel,
    .probe = threads_probe,
    .take = threads_take,
    .reach = threads_reach,
    .reached = "ranks of one process",
    .idle = threads_idle,
    .close = threads_close,
};

/* --- making and aborting --- */

static int
processors(void)
{
    cpu_set_t set;
    return sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 1;
}

static void
endpoint_init(endpoint *e, thread_group *group, int rank, item_list *lists)
{
    e->base = (dt_transport){
        .table = &threads_table,
        .size = group->size,
        .rank = rank,
        .oversubscribed = group->size > processors(),
        .shared_memory = true,
    };
    e->group = group;
    e->arrived = lists;
    e->posted = lists + group->size;
    for (int i = 0; i < 2 * group->size; i++)
        lists[i] = (item_list){.end = &lists[i].first};
    e->spare = NULL;
    e->spares = 0;
    atomic_init(&e->inbox, NULL);
}

dt_status
dt_threads_make(dt_transport **out, int n, dt_error *err)
{
    if (n < 1)
        return dt_fail(err, DT_VALUE, "there cannot be %d ranks", n);
    size_t count = (size_t)n;
    thread_group *group = calloc(1, sizeof *group);
    endpoint *endpoints = aligned_alloc(CACHE_LINE, count * sizeof *endpoints);
    item_list *lists = calloc(2 * count * count, sizeof *lists);
    if (group == NULL || endpoints == NULL || lists == NULL) {
        free(group);
        free(endpoints);
        free(lists);
        return dt_fail(err, DT_MEMORY, "no memory for %d ranks in one process", n);
    }
    group->size = n;
    group->endpoints = endpoints;
    group->lists = lists;
    atomic_init(&group->open, n);
    atomic_init(&group->failed, 0);
    for (int rank = 0; rank < n; rank++) {
        endpoint_init(&endpoints[rank], group, rank, lists + 2 * count * (size_t)rank);
        out[rank] = &endpoints[rank].base;
    }
    return DT_OK;
}

void
dt_threads_abort(dt_transport *t, const char *sentence)
{
    thread_group *group = ((endpoint *)t)->group;
    int expected = 0;
    if (!atomic_compare_exchange_strong(&group->failed, &expected, 1))
        return; /* the first failure is the one to tell */
    snprintf(group->sentence, sizeof group->sentence, "%s", sentence);
    atomic_store_explicit(&group->failed, 2, memory_order_release);
}
