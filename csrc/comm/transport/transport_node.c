/* Ranks of one node: short messages through memory that both ends see, the rest as before.
 *
 * For each pair there is a ring of slots in the receiver's door (arena.h). The sender
 * fills a slot and writes its number last; the receiver polls for that number, so a short
 * message costs the transfer of one or two cache lines. What is longer than a slot, or
 * for another node, goes the `far` way; both ends know the length, so they know the way.
 *
 * Messages of a pair are matched in the order of the ring: a receive takes its message
 * out of the slot, what nobody waits for yet is put aside. */
#include "comm/transport/arena.h"
#include "comm/transport/transport.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

enum { SLOTS = 8, LINE = 64, SHORT = 2032, SMALL = 128, IDLES = 32 };

typedef struct {
    _Alignas(LINE) _Atomic uint64_t number; /* of its message, from 1; written last */
    int32_t tag;
    int32_t bytes;
    unsigned char data[SHORT];
} slot;

/* In the receiver's door, for one sender. */
typedef struct {
    _Alignas(LINE) _Atomic uint64_t taken; /* messages that have left it */
    slot slots[SLOTS];
} ring;

typedef enum { RECEIVE, WAITING, ARRIVED, FAR } item_kind;

/* What a request points to, or a message that nobody waits for yet. */
typedef struct item item;
struct item {
    item *next;
    item_kind kind;
    int rank, tag;
    size_t bytes, got;
    const void *from; /* of a message that waits for a slot */
    void *to;         /* of a receive */
    bool finished;
    dt_request far; /* FAR; or the other half of a fence */
    size_t room;
    unsigned char data[]; /* of a message that has arrived */
};

typedef struct {
    item *first, **end;
} item_list;

typedef struct {
    dt_arena_view view;     /* at == NULL: on another node */
    ring *out, *in;         /* to it, and from it */
    uint64_t sent, left;    /* messages of `out`; of them, as last read, taken */
    uint64_t received;      /* messages of `in` */
    item_list waiting;      /* for a slot */
    item_list posted;       /* receives */
    item_list arrived;      /* messages */
    bool fence_in, fence_far; /* one of the two halves of a fence has come */
} peer;

typedef struct {
    dt_transport base;
    dt_transport *far;
    item *spare;
    unsigned idles;
    peer peers[];
} node;

/* --- items --- */

static item *
item_take(node *n, size_t room)
{
    item *i = n->spare;
    if (room <= SMALL && i != NULL) {
        n->spare = i->next;
        return i;
    }
    room = room <= SMALL ? SMALL : room;
    i = malloc(sizeof *i + room);
    if (i != NULL)
        i->room = room;
    return i;
}

static void
item_give(node *n, item *i)
{
    if (i->room > SMALL) {
        free(i);
        return;
    }
    i->next = n->spare;
    n->spare = i;
}

static dt_status
no_memory(int rank, dt_error *err)
{
    return dt_fail(err, DT_MEMORY, "no memory for a message with rank %d", rank);
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
list_drop(item_list *list, const item *i)
{
    for (item **link = &list->first; *link != NULL; link = &(*link)->next)
        if (*link == i) {
            list_remove(list, link);
            return;
        }
}

/* The first of a list with this tag: where the list leads to it, or to its end. */
static item **
find_tag(item_list *list, int tag)
{
    item **link = &list->first;
    while (*link != NULL && (*link)->tag != tag)
        link = &(*link)->next;
    return link;
}

/* --- sending --- */

/* Puts a message into the next slot. False: it is still full. */
static bool
put(peer *p, const void *data, size_t bytes, int tag)
{
    if (p->sent - p->left == SLOTS) {
        p->left = atomic_load_explicit(&p->out->taken, memory_order_acquire);
        if (p->sent - p->left == SLOTS)
            return false;
    }
    slot *s = &p->out->slots[p->sent++ % SLOTS];
    s->tag = tag;
    s->bytes = (int32_t)bytes;
    if (bytes > 0)
        memcpy(s->data, data, bytes);
    atomic_store_explicit(&s->number, p->sent, memory_order_release);
    return true;
}

static void
put_waiting(peer *p)
{
    while (p->waiting.first != NULL) {
        item *i = p->waiting.first;
        if (!put(p, i->from, i->bytes, i->tag))
            return;
        list_remove(&p->waiting, &p->waiting.first);
        i->finished = true;
    }
}

/* --- receiving --- */

static void
fill(item *receive, const void *data, size_t bytes)
{
    receive->got = bytes;
    receive->finished = true;
    if (bytes == receive->bytes && bytes > 0)
        memcpy(receive->to, data, bytes);
}

/* Takes in what has come from a rank. What there is no memory to put aside stays. */
static dt_status
collect(node *n, peer *p, dt_error *err)
{
    for (;;) {
        const slot *s = &p->in->slots[p->received % SLOTS];
        if (atomic_load_explicit(&s->number, memory_order_acquire) != p->received + 1)
            break;
        item **link = find_tag(&p->posted, s->tag), *receive = *link;
        size_t bytes = (size_t)s->bytes;
        if (receive != NULL) {
            fill(receive, s->data, bytes);
            list_remove(&p->posted, link);
        } else {
            item *i = item_take(n, bytes);
            if (i == NULL)
                return no_memory((int)(p - n->peers), err);
            i->kind = ARRIVED;
            i->tag = s->tag;
            i->bytes = bytes;
            memcpy(i->data, s->data, bytes);
            list_append(&p->arrived, i);
        }
        p->received++;
        atomic_store_explicit(&p->in->taken, p->received, memory_order_release);
    }
    if (p->waiting.first != NULL)
        put_waiting(p);
    return DT_OK;
}

/* --- the table --- */

static bool
goes_far(const node *n, size_t bytes, int rank)
{
    return n->peers[rank].view.at == NULL || bytes > SHORT;
}

/* A request of the far way, in an item of ours. */
static dt_status
wrap(dt_request *out, node *n, dt_request far, int rank, dt_error *err)
{
    if (far.handle == NULL)
        return DT_OK;
    item *i = item_take(n, 0);
    if (i == NULL) {
        if (!n->far->table->cancel(n->far, &far))
            return dt_fail(err, DT_MPI, "no memory for a message under way");
        return no_memory(rank, err);
    }
    i->kind = FAR;
    i->rank = rank;
    i->far = far;
    out->handle = i;
    return DT_OK;
}

static dt_status
node_send(dt_request *out, dt_transport *t, const void *data, size_t bytes, int rank,
          int tag, dt_error *err)
{
    node *n = (node *)t;
    peer *p = &n->peers[rank];
    dt_request far = {NULL};
    out->handle = NULL;
    if (goes_far(n, bytes, rank)) {
        DT_TRY(n->far->table->send(&far, n->far, data, bytes, rank, tag, err));
        return wrap(out, n, far, rank, err);
    }
    if (tag == DT_FENCE_TAG) /* behind all that was sent, on either way */
        DT_TRY(n->far->table->send(&far, n->far, data, bytes, rank, tag, err));
    if (p->waiting.first == NULL && put(p, data, bytes, tag))
        return wrap(out, n, far, rank, err);
    item *i = item_take(n, 0);
    if (i == NULL)
        return no_memory(rank, err);
    i->kind = WAITING;
    i->rank = rank;
    i->tag = tag;
    i->bytes = bytes;
    i->from = data;
    i->finished = false;
    i->far = far;
    list_append(&p->waiting, i);
    out->handle = i;
    return DT_OK;
}

static dt_status
node_receive(dt_request *out, dt_transport *t, void *data, size_t bytes, int rank,
             int tag, dt_error *err)
{
    node *n = (node *)t;
    peer *p = &n->peers[rank];
    out->handle = NULL;
    if (goes_far(n, bytes, rank)) {
        dt_request far = {NULL};
        DT_TRY(n->far->table->receive(&far, n->far, data, bytes, rank, tag, err));
        return wrap(out, n, far, rank, err);
    }
    item *i = item_take(n, 0);
    if (i == NULL)
        return no_memory(rank, err);
    i->kind = RECEIVE;
    i->rank = rank;
    i->tag = tag;
    i->bytes = bytes;
    i->to = data;
    i->finished = false;
    item **link = find_tag(&p->arrived, tag), *message = *link;
    if (message != NULL) {
        fill(i, message->data, message->bytes);
        list_remove(&p->arrived, link);
        item_give(n, message);
    } else {
        list_append(&p->posted, i);
    }
    out->handle = i;
    return DT_OK;
}

static dt_status
check_length(const item *i, dt_error *err)
{
    if (i->kind == RECEIVE && i->got != i->bytes)
        return dt_fail(err, DT_RUNTIME,
                       "rank %d sent %zu bytes where %zu were expected", i->rank,
                       i->got, i->bytes);
    return DT_OK;
}

static dt_status
node_test(bool *done, dt_transport *t, dt_request *request, dt_error *err)
{
    node *n = (node *)t;
    item *i = request->handle;
    *done = true;
    if (i == NULL)
        return DT_OK;
    if (i->kind != FAR) {
        if (!i->finished)
            DT_TRY(collect(n, &n->peers[i->rank], err));
        *done = i->finished;
        if (!*done)
            return DT_OK;
        DT_TRY(check_length(i, err));
    }
    if (i->kind != RECEIVE && i->far.handle != NULL) {
        DT_TRY(n->far->table->test(done, n->far, &i->far, err));
        if (!*done)
            return DT_OK;
    }
    item_give(n, i);
    request->handle = NULL;
    return DT_OK;
}

static bool
node_cancel(dt_transport *t, dt_request *request)
{
    node *n = (node *)t;
    item *i = request->handle;
    request->handle = NULL;
    if (i == NULL)
        return true;
    peer *p = &n->peers[i->rank];
    bool ours = true;
    if (i->kind == RECEIVE && !i->finished)
        list_drop(&p->posted, i);
    if (i->kind == WAITING && !i->finished)
        list_drop(&p->waiting, i);
    if (i->kind != RECEIVE && i->far.handle != NULL)
        ours = n->far->table->cancel(n->far, &i->far);
    item_give(n, i);
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
        DT_TRY(collect(n, p, err));
        *found = *find_tag(&p->arrived, tag) != NULL;
        *rank = k;
        if (*found)
            return DT_OK;
    }
    return n->far->table->probe(found, rank, n->far, tag, err);
}

/* A fence counts when both of its halves have come. */
static dt_status
take_near(bool *taken, int *tag, node *n, peer *p, void *out, size_t room,
          dt_error *err)
{
    DT_TRY(collect(n, p, err));
    item *i = p->arrived.first;
    *taken = i != NULL;
    if (i == NULL)
        return DT_OK;
    *tag = i->tag;
    if (i->bytes <= room)
        memcpy(out, i->data, i->bytes);
    list_remove(&p->arrived, &p->arrived.first);
    item_give(n, i);
    return DT_OK;
}

static dt_status
node_take(bool *taken, int *tag, dt_transport *t, int rank, void *out, size_t room,
          dt_error *err)
{
    node *n = (node *)t;
    peer *p = &n->peers[rank];
    *taken = false;
    if (p->view.at == NULL)
        return n->far->table->take(taken, tag, n->far, rank, out, room, err);
    if (!p->fence_in) {
        DT_TRY(take_near(taken, tag, n, p, out, room, err));
        p->fence_in = *taken && *tag == DT_FENCE_TAG;
        if (*taken && !p->fence_in)
            return DT_OK;
    }
    if (!p->fence_far) {
        DT_TRY(n->far->table->take(taken, tag, n->far, rank, out, room, err));
        p->fence_far = *taken && *tag == DT_FENCE_TAG;
        if (*taken && !p->fence_far)
            return DT_OK;
    }
    *taken = p->fence_in && p->fence_far;
    *tag = DT_FENCE_TAG;
    if (*taken)
        p->fence_in = p->fence_far = false;
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

/* MPI makes progress on what others wait for only when it is called. */
static void
node_idle(dt_transport *t)
{
    node *n = (node *)t;
    if (++n->idles % IDLES == 0) {
        bool found;
        int rank;
        n->far->table->probe(&found, &rank, n->far, DT_FENCE_TAG, NULL);
    }
    n->far->table->idle(n->far);
}

static void
items_free(item *i)
{
    for (item *next; i != NULL; i = next) {
        next = i->next;
        free(i);
    }
}

static void
node_free(node *n)
{
    for (int rank = 0; rank < n->base.size; rank++) {
        peer *p = &n->peers[rank];
        items_free(p->posted.first);
        items_free(p->arrived.first);
        items_free(p->waiting.first);
        dt_arena_unmap(&p->view);
    }
    items_free(n->spare);
    free(n);
}

static void
node_close(dt_transport *t)
{
    node *n = (node *)t;
    n->far->table->close(n->far);
    node_free(n);
}

static const dt_transport_table node_table = {
    .send = node_send,
    .receive = node_receive,
    .test = node_test,
    .cancel = node_cancel,
    .probe = node_probe,
    .take = node_take,
    .reach = node_reach,
    .lends = node_lends,
    .reached = "memory that ranks of a node share",
    .idle = node_idle,
    .close = node_close,
};

/* --- making --- */

bool
dt_node_offer(dt_node_card *out, const dt_transport *t)
{
    memset(out, 0, sizeof *out);
    dt_arena_open(&out->arena);
    if (out->arena.pid == 0)
        return false;
    out->door_bytes = (uint64_t)t->size * sizeof(ring);
    void *door = dt_arena_door((size_t)out->door_bytes);
    out->door = (uint64_t)(uintptr_t)door;
    return door != NULL;
}

static void
meet(peer *p, const dt_node_card *card, const dt_node_card *own, int rank, int self)
{
    const ring *door = dt_arena_see(&p->view, (void *)(uintptr_t)card->door);
    p->out = (ring *)(uintptr_t)&door[self];
    p->in = &((ring *)(uintptr_t)own->door)[rank];
}

dt_status
dt_node_make(dt_transport **out, dt_transport *far, const dt_node_card *cards,
             dt_error *err)
{
    size_t size = (size_t)far->size;
    node *n = calloc(1, sizeof *n + size * sizeof *n->peers);
    if (n == NULL)
        return dt_fail(err, DT_MEMORY, "no memory for %d ranks", far->size);
    const dt_node_card *own = &cards[far->rank];
    n->base = *far;
    n->base.table = &node_table;
    n->base.shared_memory = true;
    n->far = far;
    for (int rank = 0; rank < far->size; rank++) {
        peer *p = &n->peers[rank];
        p->posted.end = &p->posted.first;
        p->arrived.end = &p->arrived.first;
        p->waiting.end = &p->waiting.first;
        if (cards[rank].arena.node != own->arena.node) {
            n->base.shared_memory = false;
            continue;
        }
        if (!dt_arena_map(&p->view, &cards[rank].arena, cards[rank].door,
                          (size_t)cards[rank].door_bytes)) {
            node_free(n);
            return dt_fail(err, DT_RUNTIME, "memory of rank %d cannot be mapped", rank);
        }
        meet(p, &cards[rank], own, rank, far->rank);
    }
    *out = &n->base;
    return DT_OK;
}

void
dt_node_unmake(dt_transport *t)
{
    node_free((node *)t);
}
