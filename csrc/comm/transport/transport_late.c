/* Messages that come late, on purpose: for tests.
 *
 * A transport's table is replaced by one that keeps a message back for a while. All later
 * messages to the same rank with the same tag wait behind it; others overtake it. */
#include "comm/transport/transport.h"

#include <stdlib.h>

/* A message that is kept back, and later one that is under way. */
typedef struct held held;
struct held {
    held *next; /* in the order in which they were sent */
    const void *data;
    size_t bytes;
    int rank, tag;
    double due; /* when it may be sent */
    bool sent;
    dt_request request;
};

typedef struct {
    dt_transport_table table; /* first: t->table points to it */
    const dt_transport_table *real;
    held *first;
    long calls_left; /* sends until one is late; 0: none is */
    double seconds;
} late;

static late *
late_of(const dt_transport *t)
{
    return (late *)(uintptr_t)t->table;
}

/* Where the list leads to the message of a request, or to its end. */
static held **
find(late *l, const void *handle)
{
    held **at = &l->first;
    while (*at != NULL && *at != handle)
        at = &(*at)->next;
    return at;
}

/* The first message to a rank with a tag that is not sent yet. */
static held *
first_to(const late *l, int rank, int tag)
{
    held *h = l->first;
    while (h != NULL && (h->sent || h->rank != rank || h->tag != tag))
        h = h->next;
    return h;
}

static void
drop(held **at)
{
    held *h = *at;
    *at = h->next;
    free(h);
}

static dt_status
late_send(dt_request *out, dt_transport *t, const void *data, size_t bytes, int rank,
          int tag, dt_error *err)
{
    late *l = late_of(t);
    bool now_late = l->calls_left > 0 && --l->calls_left == 0;
    if (!now_late && first_to(l, rank, tag) == NULL)
        return l->real->send(out, t, data, bytes, rank, tag, err);
    held *h = calloc(1, sizeof *h);
    if (h == NULL)
        return dt_fail(err, DT_MEMORY, "no memory for a message");
    *h = (held){.data = data, .bytes = bytes, .rank = rank, .tag = tag};
    h->due = now_late ? dt_now() + l->seconds : 0;
    *find(l, NULL) = h;
    out->handle = h;
    return DT_OK;
}

static dt_status
late_receive(dt_request *out, dt_transport *t, void *data, size_t bytes, int rank,
             int tag, dt_error *err)
{
    return late_of(t)->real->receive(out, t, data, bytes, rank, tag, err);
}

/* Sends what may be sent now. */
static dt_status
send_due(dt_transport *t, dt_error *err)
{
    late *l = late_of(t);
    for (held *h = l->first; h != NULL; h = h->next) {
        if (h->sent || h->due > dt_now() || first_to(l, h->rank, h->tag) != h)
            continue;
        DT_TRY(l->real->send(&h->request, t, h->data, h->bytes, h->rank, h->tag, err));
        h->sent = true;
    }
    return DT_OK;
}

static dt_status
late_test(bool *done, dt_transport *t, dt_request *request, dt_error *err)
{
    late *l = late_of(t);
    held **at = find(l, request->handle);
    if (l->first != NULL)
        DT_TRY(send_due(t, err));
    if (*at == NULL)
        return l->real->test(done, t, request, err);
    *done = false;
    if ((*at)->sent)
        DT_TRY(l->real->test(done, t, &(*at)->request, err));
    if (*done) {
        drop(at);
        request->handle = NULL;
    }
    return DT_OK;
}

static bool
late_cancel(dt_transport *t, dt_request *request)
{
    late *l = late_of(t);
    held **at = find(l, request->handle);
    if (*at == NULL)
        return l->real->cancel(t, request);
    bool free_now = !(*at)->sent || l->real->cancel(t, &(*at)->request);
    drop(at);
    request->handle = NULL;
    return free_now;
}

static dt_status
late_probe(bool *found, int *rank, dt_transport *t, int tag, dt_error *err)
{
    return late_of(t)->real->probe(found, rank, t, tag, err);
}

/* Of what is kept back nothing is left: who discards messages has given its own up. */
static dt_status
late_take(bool *taken, int *tag, dt_transport *t, int rank, void *out, size_t room,
          dt_error *err)
{
    return late_of(t)->real->take(taken, tag, t, rank, out, room, err);
}

static const void *
late_reach(dt_transport *t, int rank, const void *address)
{
    return late_of(t)->real->reach(t, rank, address);
}

static void
late_idle(dt_transport *t)
{
    late_of(t)->real->idle(t);
}

static void
late_close(dt_transport *t)
{
    late *l = late_of(t);
    t->table = l->real;
    while (l->first != NULL)
        drop(&l->first);
    free(l);
    t->table->close(t);
}

dt_status
dt_late_at(dt_transport *t, long k, double seconds, dt_error *err)
{
    if (t->table->send != late_send) {
        late *l = calloc(1, sizeof *l);
        if (l == NULL)
            return dt_fail(err, DT_MEMORY, "no memory for a transport");
        l->real = t->table;
        l->table = (dt_transport_table){
            .send = late_send,
            .receive = late_receive,
            .test = late_test,
            .cancel = late_cancel,
            .probe = late_probe,
            .take = late_take,
            .reach = t->table->reach != NULL ? late_reach : NULL,
            .lends = t->table->lends,
            .fetch = t->table->fetch,
            .reached = t->table->reached,
            .direct = t->table->direct,
            .idle = late_idle,
            .close = late_close,
        };
        t->table = &l->table;
    }
    late_of(t)->calls_left = k;
    late_of(t)->seconds = seconds;
    return DT_OK;
}

long
dt_late_left(const dt_transport *t)
{
    return t->table->send == late_send ? late_of(t)->calls_left : 0;
}
