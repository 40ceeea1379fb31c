/* Ranks of one node that are processes: short messages go through mailboxes in memory that
 * both ends see (mailbox.h), and what lies in arenas can be read in place. What is longer,
 * or is for another node, goes the `far` way. Both ends know the length of a message, so
 * they know its way; messages of one length and tag keep their order. */
#include "comm/transport/fetch.h"
#include "comm/transport/mailbox.h"
#include "comm/transport/transport.h"

#include <stdlib.h>
#include <string.h>

enum {
    IDLES = 32, /* between two calls that let the far way make progress */
    SPARES = 64 /* messages under way at once that take no memory */
};

typedef struct {
    dt_arena_view view; /* at == NULL: on another node */
    dt_mailbox box;
    bool fence_near, fence_far; /* one of the two halves of a fence has come */
} peer;

typedef struct {
    dt_transport base;
    dt_transport *far;
    dt_mail *spare;
    struct request *spare_requests;
    unsigned idles;
    uint64_t *nodes;
    peer peers[];
} node;

/* What a dt_request points to: a message of either way; a fence is both. */
typedef struct request request;
struct request {
    request *next;
    peer *peer;
    dt_mail *near; /* NULL: none, or done */
    dt_request far;
};

static dt_status
request_take(request **out, node *n, int rank, dt_error *err)
{
    request *r = n->spare_requests;
    if (r != NULL)
        n->spare_requests = r->next;
    else
        r = malloc(sizeof *r);
    if (r == NULL)
        return dt_fail(err, DT_MEMORY, "no memory for a message with rank %d", rank);
    *r = (request){.peer = &n->peers[rank]};
    *out = r;
    return DT_OK;
}

static void
request_give(node *n, request *r)
{
    r->next = n->spare_requests;
    n->spare_requests = r;
}

/* --- the table --- */

static bool
goes_far(const peer *p, size_t bytes)
{
    return p->view.at == NULL || bytes > DT_MAIL_MOST;
}

/* A fence goes both ways, so that it is behind all that was sent on either. */
static dt_status
node_send(dt_request *out, dt_transport *t, const void *data, size_t bytes, int rank,
          int tag, dt_error *err)
{
    node *n = (node *)t;
    peer *p = &n->peers[rank];
    bool far = goes_far(p, bytes), fence = tag == DT_FENCE_TAG;
    dt_mail *near = NULL;
    request *r = NULL;
    out->handle = NULL;
    if (!far && !fence) {
        DT_TRY(dt_mailbox_send(&near, &p->box, data, bytes, tag, err));
        if (near == NULL)
            return DT_OK;
    }
    dt_status status = request_take(&r, n, rank, err);
    if (status == DT_OK && (far || fence)) {
        status = n->far->table->send(&r->far, n->far, data, bytes, rank, tag, err);
        if (status == DT_OK && !far)
            status = dt_mailbox_send(&near, &p->box, data, bytes, tag, err);
        if (status != DT_OK)
            request_give(n, r);
    }
    if (status != DT_OK) {
        if (near != NULL)
            dt_mail_give(&p->box, near);
        return status;
    }
    r->near = near;
    out->handle = r;
    return DT_OK;
}

static dt_status
node_receive(dt_request *out, dt_transport *t, void *data, size_t bytes, int rank,
             int tag, dt_error *err)
{
    node *n = (node *)t;
    peer *p = &n->peers[rank];
    request *r = NULL;
    DT_TRY(request_take(&r, n, rank, err));
    r->far.at_most = out->at_most;
    dt_status status =
        goes_far(p, bytes)
            ? n->far->table->receive(&r->far, n->far, data, bytes, rank, tag, err)
            : dt_mailbox_receive(&r->near, &p->box, data, bytes, tag, err);
    if (status != DT_OK) {
        request_give(n, r);
        return status;
    }
    out->handle = r;
    return DT_OK;
}

static dt_status
test_near(bool *done, const node *n, request *r, bool at_most, dt_error *err)
{
    dt_mail *mail = r->near;
    if (!mail->finished)
        DT_TRY(dt_mailbox_collect(&r->peer->box, err));
    *done = mail->finished;
    if (!*done)
        return DT_OK;
    if (mail->to != NULL &&
        (mail->got > mail->bytes || (mail->got < mail->bytes && !at_most)))
        return dt_fail(err, DT_RUNTIME, "%s sent %zu bytes where %zu were expected",
                       dt_name_rank(&n->base, (int)(r->peer - n->peers)).text,
                       mail->got, mail->bytes);
    dt_mail_give(&r->peer->box, mail);
    r->near = NULL;
    return DT_OK;
}

static dt_status
node_test(bool *done, dt_transport *t, dt_request *out, dt_error *err)
{
    node *n = (node *)t;
    request *r = out->handle;
    *done = true;
    if (r == NULL)
        return DT_OK;
    if (r->near != NULL)
        DT_TRY(test_near(done, n, r, out->at_most, err));
    if (*done && r->far.handle != NULL)
        DT_TRY(n->far->table->test(done, n->far, &r->far, err));
    if (*done) {
        request_give(n, r);
        out->handle = NULL;
    }
    return DT_OK;
}

static bool
node_cancel(dt_transport *t, dt_request *out)
{
    node *n = (node *)t;
    request *r = out->handle;
    out->handle = NULL;
    if (r == NULL)
        return true;
    if (r->near != NULL)
        dt_mail_give(&r->peer->box, r->near);
    bool ours = r->far.handle == NULL || n->far->table->cancel(n->far, &r->far);
    request_give(n, r);
    return ours;
}

static dt_status
node_probe(bool *found, int *rank, dt_transport *t, int tag, dt_error *err)
{
    node *n = (node *)t;
    for (int k = 0; k < t->size; k++) {
        peer *p = &n->peers[k];
        if (p->view.at == NULL)
            continue;
        DT_TRY(dt_mailbox_collect(&p->box, err));
        *found = dt_mailbox_has(&p->box, tag);
        *rank = k;
        if (*found)
            return DT_OK;
    }
    *found = false;
    return t->shared_memory ? DT_OK /* short messages are near */
                            : n->far->table->probe(found, rank, n->far, tag, err);
}

static dt_status
take_near(bool *taken, int *tag, peer *p, void *out, size_t room, dt_error *err)
{
    DT_TRY(dt_mailbox_collect(&p->box, err));
    dt_mail *mail = dt_mailbox_take(&p->box);
    *taken = mail != NULL;
    if (mail == NULL)
        return DT_OK;
    *tag = mail->tag;
    if (mail->bytes <= room)
        memcpy(out, mail->data, mail->bytes);
    dt_mail_give(&p->box, mail);
    return DT_OK;
}

/* A fence counts when both of its halves have come. */
static dt_status
node_take(bool *taken, int *tag, dt_transport *t, int rank, void *out, size_t room,
          dt_error *err)
{
    node *n = (node *)t;
    peer *p = &n->peers[rank];
    *taken = false;
    if (p->view.at == NULL)
        return n->far->table->take(taken, tag, n->far, rank, out, room, err);
    if (!p->fence_near) {
        DT_TRY(take_near(taken, tag, p, out, room, err));
        p->fence_near = *taken && *tag == DT_FENCE_TAG;
        if (*taken && !p->fence_near)
            return DT_OK;
    }
    if (!p->fence_far) {
        DT_TRY(n->far->table->take(taken, tag, n->far, rank, out, room, err));
        p->fence_far = *taken && *tag == DT_FENCE_TAG;
        if (*taken && !p->fence_far)
            return DT_OK;
    }
    *taken = p->fence_near && p->fence_far;
    *tag = DT_FENCE_TAG;
    if (*taken)
        p->fence_near = p->fence_far = false;
    return DT_OK;
}

static const void *
node_reach(dt_transport *t, int rank, const void *address)
{
    const node *n = (const node *)t;
    if (rank == t->rank)
        return address;
    const dt_arena_view *view = &n->peers[rank].view;
    return view->at == NULL ? NULL : dt_arena_see(view, address);
}

static bool
node_lends(dt_transport *t, const void *address)
{
    (void)t;
    return dt_arena_has(address);
}

static dt_status
node_fetch(dt_transport *t, int rank, void *dst, const int64_t *dst_stride,
           const void *src, const int64_t *src_stride, int ndim, const int64_t *shape,
           size_t itemsize, dt_error *err)
{
    const node *n = (const node *)t;
    int64_t pid = n->peers[rank].view.card.pid;
    dt_status status =
        dt_fetch_box(pid, dst, dst_stride, src, src_stride, ndim, shape, itemsize, err);
    if (status != DT_OK)
        dt_error_prefix(err, "reading from another rank");
    return status;
}

/* A rank waits for one other, but may have to make room for the messages of a third, so
 * that those are not stuck in a circle. And MPI makes progress, also for others, only when
 * it is called. */
static void
node_idle(dt_transport *t)
{
    node *n = (node *)t;
    for (int rank = 0; rank < t->size; rank++)
        if (n->peers[rank].view.at != NULL)
            dt_mailbox_collect(&n->peers[rank].box, NULL);
    if (++n->idles % IDLES == 0) {
        bool found;
        int rank;
        n->far->table->probe(&found, &rank, n->far, DT_FENCE_TAG, NULL);
    }
    n->far->table->idle(n->far);
}

static void
requests_free(request *r)
{
    for (request *next; r != NULL; r = next) {
        next = r->next;
        free(r);
    }
}

static void
node_free(node *n)
{
    for (int rank = 0; rank < n->base.size; rank++) {
        peer *p = &n->peers[rank];
        if (p->view.at != NULL)
            dt_mailbox_end(&p->box);
        dt_arena_unmap(&p->view);
    }
    dt_mails_free(n->spare);
    requests_free(n->spare_requests);
    free(n->nodes);
    free(n);
}

static void
node_close(dt_transport *t)
{
    node *n = (node *)t;
    n->far->table->close(n->far);
    node_free(n);
}

#define TABLE(fetches)                                                                 \
    {                                                                                  \
        .send = node_send,                                                             \
        .receive = node_receive,                                                       \
        .test = node_test,                                                             \
        .cancel = node_cancel,                                                         \
        .probe = node_probe,                                                           \
        .take = node_take,                                                             \
        .reach = node_reach,                                                           \
        .lends = node_lends,                                                           \
        .fetch = fetches,                                                              \
        .reached = "memory that ranks of a node share",                                \
        .direct = true,                                                                \
        .idle = node_idle,                                                             \
        .close = node_close,                                                           \
    }

static const dt_transport_table node_table = TABLE(node_fetch),
                                table_without_fetch = TABLE(NULL);

/* --- making --- */

void
dt_node_offer(dt_node_card *out, const dt_transport *t)
{
    memset(out, 0, sizeof *out);
    /* Then its memory had better be the kind with huge pages. */
    out->lonely = t->neighbours == 1;
    if (!out->lonely)
        dt_arena_open(&out->arena);
    if (out->arena.pid == 0)
        return;
    out->slots = dt_ring_slots(t->neighbours > 0 ? t->neighbours : t->size);
    out->door_bytes = (uint64_t)t->size * dt_ring_bytes(out->slots);
    out->door = (uint64_t)(uintptr_t)dt_arena_door((size_t)out->door_bytes);
}

/* Less than SPARES where there is no memory. */
static void
take_spares(node *n)
{
    for (int k = 0; k < SPARES; k++) {
        dt_mail *none = NULL, *mail = dt_mail_new(&none, 0);
        request *r = malloc(sizeof *r);
        if (mail != NULL) {
            mail->next = n->spare;
            n->spare = mail;
        }
        if (r != NULL)
            request_give(n, r);
    }
}

/* The ring of this rank in another one's door, and of that one in this one's. */
static void
begin_box(node *n, int rank, const dt_node_card *cards)
{
    peer *p = &n->peers[rank];
    const dt_node_card *own = &cards[n->base.rank], *other = &cards[rank];
    char *theirs = dt_arena_see(&p->view, (void *)(uintptr_t)other->door);
    char *mine = (char *)(uintptr_t)own->door;
    theirs += (size_t)n->base.rank * dt_ring_bytes(other->slots);
    mine += (size_t)rank * dt_ring_bytes(own->slots);
    dt_mailbox_begin(&p->box, (dt_ring *)theirs, other->slots, (dt_ring *)mine,
                     own->slots, &n->spare);
}

dt_status
dt_node_make(dt_transport **out, dt_transport *far, const dt_node_card *cards,
             dt_error *err)
{
    size_t size = (size_t)far->size;
    node *n = calloc(1, sizeof *n + size * sizeof *n->peers);
    if (n != NULL)
        n->nodes = malloc(size * sizeof *n->nodes);
    if (n == NULL || n->nodes == NULL) {
        free(n);
        return dt_fail(err, DT_MEMORY, "no memory for %d ranks", far->size);
    }
    n->base = *far;
    n->base.table = &node_table;
    n->base.shared_memory = true;
    n->far = far;
    for (int rank = 0; rank < far->size; rank++) {
        bool lonely = cards[rank].lonely;
        n->nodes[rank] = lonely ? (uint64_t)rank : cards[rank].arena.node;
        if (lonely || n->nodes[rank] != cards[far->rank].arena.node) {
            n->base.shared_memory = false;
            continue;
        }
        if (!dt_arena_map(&n->peers[rank].view, &cards[rank].arena, cards[rank].door,
                          (size_t)cards[rank].door_bytes)) {
            node_free(n);
            return dt_fail(err, DT_RUNTIME, "memory of %s cannot be mapped",
                           dt_name_rank(far, rank).text);
        }
        begin_box(n, rank, cards);
    }
    n->base.nodes = n->base.shared_memory ? NULL : n->nodes;
    take_spares(n);
    *out = &n->base;
    return DT_OK;
}

void
dt_node_unmake(dt_transport *t)
{
    node_free((node *)t);
}

/* Tries it: a word of each door. */
bool
dt_node_fetches(const dt_transport *t)
{
    const node *n = (const node *)t;
    for (int rank = 0; rank < t->size; rank++) {
        const peer *p = &n->peers[rank];
        uint64_t word;
        if (p->view.at != NULL && rank != t->rank &&
            dt_fetch_box(p->view.card.pid, &word, NULL,
                         (const void *)(uintptr_t)p->view.card.at, NULL, 0, NULL,
                         sizeof word, NULL) != DT_OK)
            return false;
    }
    return true;
}

void
dt_node_no_fetch(dt_transport *t)
{
    t->table = &table_without_fetch;
}
