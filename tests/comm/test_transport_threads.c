#include "ranks.h"

enum { STORM = 300, TAGS = 3, WINDOW = 6, LENGTH_MAX = 20000 };

/* Message number `index` of the many that `source` sends; every rank knows it. */
typedef struct {
    int to, tag;
    size_t bytes;
    unsigned char seed;
} planned;

static planned
plan_message(int source, int index, int n)
{
    static const size_t around[] = {0, 1, 8, 128, 129, 4096, 4097, LENGTH_MAX};
    uint64_t state = (uint64_t)source * 1000003 + (uint64_t)index;
    planned p = {.to = (int)check_below(&state, n),
                 .tag = (int)check_below(&state, TAGS)};
    p.bytes = check_below(&state, 2) ? around[check_below(&state, 8)]
                                     : (size_t)check_below(&state, 300);
    p.seed = (unsigned char)check_random(&state);
    return p;
}

static unsigned char
byte_of(planned p, size_t i)
{
    return (unsigned char)(p.seed + 7 * i);
}

typedef struct {
    dt_request request;
    planned plan;
    unsigned char data[LENGTH_MAX];
    bool busy;
} parcel;

/* One after the other: the messages that `source` sends here under a tag. */
typedef struct {
    int next;
    parcel parcel;
} stream;

static bool
next_for(planned *out, stream *s, int source, int tag, int rank, int n)
{
    while (s->next < STORM) {
        planned p = plan_message(source, s->next++, n);
        if (p.to == rank && p.tag == tag) {
            *out = p;
            return true;
        }
    }
    return false;
}

static bool
is_done(dt_transport *t, parcel *p)
{
    bool done = false;
    CHECK(t->table->test(&done, t, &p->request, NULL) == DT_OK);
    if (done)
        CHECK(p->request.handle == NULL);
    return done;
}

/* Goes on with one stream. Returns false when it has ended. */
static bool
receive_some(dt_transport *t, stream *s, int source, int tag)
{
    parcel *p = &s->parcel;
    if (p->busy) {
        if (!is_done(t, p))
            return true;
        size_t wrong = 0;
        for (size_t i = 0; i < p->plan.bytes; i++)
            wrong += p->data[i] != byte_of(p->plan, i);
        CHECK(wrong == 0);
        p->busy = false;
    }
    if (!next_for(&p->plan, s, source, tag, t->rank, t->size))
        return false;
    p->busy = true;
    CHECK(t->table->receive(&p->request, t, p->data, p->plan.bytes, source, tag,
                            NULL) == DT_OK);
    return true;
}

static bool
send_some(dt_transport *t, parcel *window, int *next)
{
    bool busy = false;
    for (int i = 0; i < WINDOW; i++) {
        parcel *p = &window[i];
        if (p->busy && is_done(t, p))
            p->busy = false;
        if (!p->busy && *next < STORM) {
            p->plan = plan_message(t->rank, (*next)++, t->size);
            for (size_t k = 0; k < p->plan.bytes; k++)
                p->data[k] = byte_of(p->plan, k);
            CHECK(t->table->send(&p->request, t, p->data, p->plan.bytes, p->plan.to,
                                 p->plan.tag, NULL) == DT_OK);
            p->busy = true;
        }
        busy = busy || p->busy;
    }
    return busy;
}

static void
storm(dt_transport *t, void *data)
{
    (void)data;
    stream *streams = calloc((size_t)t->size * TAGS, sizeof *streams);
    parcel *window = calloc(WINDOW, sizeof *window);
    if (streams == NULL || window == NULL)
        abort();
    int next = 0;
    for (bool busy = true; busy;) {
        busy = send_some(t, window, &next);
        for (int i = t->size * TAGS - 1; i >= 0; i--)
            if (streams[i].next < STORM || streams[i].parcel.busy)
                busy = receive_some(t, &streams[i], i / TAGS, i % TAGS) || busy;
        t->table->idle(t);
    }
    free(streams);
    free(window);
    t->table->close(t);
}

static void
messages_arrive_intact_and_in_order(void)
{
    for (int n = 1; n <= RANKS_MAX; n++)
        on_ranks(n, storm, NULL);
}

/* Both ends of these are rank 0 and 1 of one thread: what comes first is then sure. */
typedef struct {
    dt_transport *t[2];
} pair;

static pair
make_pair(void)
{
    pair p;
    CHECK(dt_threads_make(p.t, 2, NULL) == DT_OK);
    return p;
}

static void
close_pair(pair p)
{
    p.t[0]->table->close(p.t[0]);
    p.t[1]->table->close(p.t[1]);
}

static void
post(dt_request *out, dt_transport *t, const char *text, size_t bytes)
{
    CHECK(t->table->send(out, t, text, bytes, 1 - t->rank, 5, NULL) == DT_OK);
}

static void
expect(dt_request *out, dt_transport *t, char *data, size_t bytes)
{
    CHECK(t->table->receive(out, t, data, bytes, 1 - t->rank, 5, NULL) == DT_OK);
}

static bool
ends(dt_transport *t, dt_request *request)
{
    bool done = false;
    CHECK(t->table->test(&done, t, request, NULL) == DT_OK);
    return done;
}

static void
a_small_message_is_gone_at_once_and_a_large_one_when_it_is_received(void)
{
    static char large[LENGTH_MAX], in[LENGTH_MAX];
    pair p = make_pair();
    dt_request small, big, receive = {.handle = NULL};
    post(&small, p.t[0], "abc", 4);
    post(&big, p.t[0], large, sizeof large);
    CHECK(ends(p.t[0], &small) && !ends(p.t[0], &big));
    expect(&receive, p.t[1], in, 4);
    CHECK(ends(p.t[1], &receive) && strcmp(in, "abc") == 0 && !ends(p.t[0], &big));
    expect(&receive, p.t[1], in, sizeof in);
    CHECK(ends(p.t[1], &receive) && ends(p.t[0], &big));
    close_pair(p);
}

static void
a_withdrawn_message_never_arrives(void)
{
    static char first[LENGTH_MAX], second[LENGTH_MAX], in[LENGTH_MAX];
    pair p = make_pair();
    for (int late = 0; late < 2; late++) { /* withdrawn before or after it was seen */
        dt_request one, two, receive = {.handle = NULL};
        memset(first, 1, sizeof first);
        memset(second, 2, sizeof second);
        if (late == 0)
            expect(&receive, p.t[1], in, sizeof in);
        post(&one, p.t[0], first, sizeof first);
        if (late == 1) {
            bool found = false;
            int from = -1;
            CHECK(p.t[1]->table->probe(&found, &from, p.t[1], 5, NULL) == DT_OK);
            CHECK(found && from == 0);
        }
        CHECK(p.t[0]->table->cancel(p.t[0], &one) && one.handle == NULL);
        post(&two, p.t[0], second, sizeof second);
        if (late == 1)
            expect(&receive, p.t[1], in, sizeof in);
        CHECK(ends(p.t[1], &receive) && ends(p.t[0], &two) && in[0] == 2);
    }
    close_pair(p);
}

static void
a_cancelled_receive_leaves_the_message_to_the_next(void)
{
    char in[4] = "", never[4] = "";
    pair p = make_pair();
    dt_request receive = {.handle = NULL}, send;
    expect(&receive, p.t[1], never, 4);
    CHECK(p.t[1]->table->cancel(p.t[1], &receive) && receive.handle == NULL);
    post(&send, p.t[0], "abc", 4);
    expect(&receive, p.t[1], in, 4);
    CHECK(ends(p.t[1], &receive) && strcmp(in, "abc") == 0 && never[0] == '\0');
    close_pair(p);
}

static void
a_message_of_another_length_is_an_error(void)
{
    char in[8];
    pair p = make_pair();
    dt_request send, receive = {.at_most = false};
    dt_error err = {.status = DT_OK};
    bool done = false;
    post(&send, p.t[0], "abc", 4);
    expect(&receive, p.t[1], in, 8);
    CHECK(p.t[1]->table->test(&done, p.t[1], &receive, &err) == DT_RUNTIME);
    CHECK(strcmp(err.message, "rank 0 sent 4 bytes where 8 were expected") == 0);
    CHECK(!done && p.t[1]->table->cancel(p.t[1], &receive));
    close_pair(p);
}

static void
a_shorter_message_does_where_that_is_said_before(void)
{
    char in[8] = "";
    pair p = make_pair();
    dt_request send, receive = {.at_most = true};
    dt_error err = {.status = DT_OK};
    bool done = false;
    expect(&receive, p.t[1], in, 8);
    post(&send, p.t[0], "abc", 4);
    CHECK(p.t[1]->table->test(&done, p.t[1], &receive, &err) == DT_OK && done);
    CHECK(strcmp(in, "abc") == 0);
    post(&send, p.t[0], "123456789", 10);
    expect(&receive, p.t[1], in, 8);
    CHECK(p.t[1]->table->test(&done, p.t[1], &receive, &err) == DT_RUNTIME);
    CHECK(strcmp(err.message, "rank 0 sent 10 bytes where 8 were expected") == 0);
    CHECK(p.t[1]->table->cancel(p.t[1], &receive));
    close_pair(p);
}

static void
what_was_never_received_is_freed_with_the_ranks(void)
{
    static char large[LENGTH_MAX];
    pair p = make_pair();
    dt_request one, two, receive = {.handle = NULL};
    post(&one, p.t[0], "abc", 4);
    post(&two, p.t[0], large, sizeof large);
    expect(&receive, p.t[0], large, 8);
    CHECK(p.t[0]->table->cancel(p.t[0], &two));
    close_pair(p); /* the leak check of a sanitizer judges */
}

/* Rank 0 fails while the others wait for it. */
static void
wait_for_ever(dt_transport *t, void *data)
{
    int *told = data;
    char in[8], large[LENGTH_MAX] = "";
    dt_request receive = {.handle = NULL}, send = {.handle = NULL};
    dt_error err = {.status = DT_OK};
    bool done = false;
    if (t->rank == 0) {
        rest(0.01);
        dt_threads_abort(t, "rank 0 has failed: no luck");
        dt_threads_abort(t, "another sentence");
    } else if (t->table->receive(&receive, t, in, 8, 0, 1, &err) == DT_OK &&
               t->table->send(&send, t, large, sizeof large, 0, 1, &err) == DT_OK) {
        while (t->table->test(&done, t, &receive, &err) == DT_OK)
            t->table->idle(t);
    }
    CHECK(t->table->cancel(t, &receive) && t->table->cancel(t, &send));
    int from;
    CHECK(t->table->probe(&done, &from, t, 1, &err) == DT_RUNTIME);
    CHECK(t->table->send(&send, t, in, 0, 0, 1, &err) == DT_RUNTIME);
    CHECK(t->table->receive(&receive, t, in, 0, 0, 1, &err) == DT_RUNTIME);
    told[t->rank] = strcmp(err.message, "rank 0 has failed: no luck") == 0;
    t->table->close(t);
}

static void
an_abort_ends_every_call_on_all_ranks_with_its_sentence(void)
{
    for (int n = 1; n <= RANKS_MAX; n++) {
        int told[RANKS_MAX] = {0};
        on_ranks(n, wait_for_ever, told);
        for (int rank = 0; rank < n; rank++)
            CHECK(told[rank]);
    }
}

static void
there_is_at_least_one_rank(void)
{
    dt_transport *t = NULL;
    CHECK(dt_threads_make(&t, 0, NULL) == DT_VALUE && t == NULL);
}

DT_MAIN(TEST(messages_arrive_intact_and_in_order),
        TEST(a_small_message_is_gone_at_once_and_a_large_one_when_it_is_received),
        TEST(a_withdrawn_message_never_arrives),
        TEST(a_cancelled_receive_leaves_the_message_to_the_next),
        TEST(a_message_of_another_length_is_an_error),
        TEST(a_shorter_message_does_where_that_is_said_before),
        TEST(what_was_never_received_is_freed_with_the_ranks),
        TEST(an_abort_ends_every_call_on_all_ranks_with_its_sentence),
        TEST(there_is_at_least_one_rank))
