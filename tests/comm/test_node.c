/* Ranks of one node: order of short and long messages, more of them than fit into a ring,
 * fences, and moves of arrays that others cannot read. */
#include "ranks.h"

#include "comm/run/execute.h"
#include "core/memory/memory.h"
#include "core/plan/plans.h"

enum { MANY = 500, LONG = 5000, TAGS = 3 };

/* As `n` of the ranks of a node that has so many; "1": no others. */
static void
on_node_of(const char *neighbours, int n, rank_function run, void *data)
{
    setenv("TEST_NODE", neighbours, 1);
    on_ranks(n, run, data);
    unsetenv("TEST_NODE");
}

static void
on_node(int n, rank_function run, void *data)
{
    on_node_of("1", n, run, data);
}

static size_t
length_of(int k)
{
    return k % 7 == 3 ? LONG : (size_t)k % 90 * 20;
}

/* Every rank sends all others MANY messages, all of them under way at once. */
static void
flood(dt_transport *t, void *data)
{
    (void)data;
    size_t count = (size_t)t->size * MANY;
    unsigned char (*in)[LONG] = malloc(count * LONG),
                  (*out)[LONG] = malloc(MANY * LONG);
    dt_request *requests = calloc(2 * count, sizeof *requests);
    for (int k = 0; k < MANY; k++)
        memset(out[k], k + 10 * t->rank, LONG);
    for (int rank = 0; rank < t->size; rank++)
        for (int k = 0; k < MANY; k++)
            CHECK(t->table->send(&requests[rank * MANY + k], t, out[k], length_of(k),
                                 rank, k % TAGS, NULL) == DT_OK);
    for (int tag = TAGS - 1; tag >= 0; tag--) /* not in the order of sending */
        for (int k = tag; k < MANY; k += TAGS)
            for (int rank = 0; rank < t->size; rank++)
                CHECK(t->table->receive(&requests[(int)count + rank * MANY + k], t,
                                        in[rank * MANY + k], length_of(k), rank, tag,
                                        NULL) == DT_OK);
    for (size_t i = 0; i < 2 * count; i++)
        for (bool done = false; !done; t->table->idle(t))
            CHECK(t->table->test(&done, t, &requests[i], NULL) == DT_OK);
    for (int rank = 0; rank < t->size; rank++)
        for (int k = 0; k < MANY; k++)
            CHECK(length_of(k) == 0 ||
                  (in[rank * MANY + k][0] == (unsigned char)(k + 10 * rank) &&
                   in[rank * MANY + k][length_of(k) - 1] ==
                       (unsigned char)(k + 10 * rank)));
    free(in);
    free(out);
    free(requests);
    t->table->close(t);
}

static void
messages_of_one_tag_and_length_keep_their_order(void)
{
    for (int n = 1; n <= 4; n++)
        on_node(n, flood, NULL);
    on_node_of("24", 3, flood, NULL); /* rings have fewer slots there */
    on_node_of("1000", 3, flood, NULL);
}

/* Rank 0 sends short and long messages and then a fence, rank 1 discards up to it. */
static void
discard(dt_transport *t, void *data)
{
    (void)data;
    static const char words[LONG];
    dt_request requests[6] = {{NULL}};
    const size_t lengths[] = {8, LONG, 8, LONG, 8, 8};
    for (int k = 0; k < 6 && t->rank == 0; k++)
        CHECK(t->table->send(&requests[k], t, words, lengths[k], 1,
                             k == 4 ? DT_FENCE_TAG : 2, NULL) == DT_OK);
    int discarded = 0, tag = 0, source = -1;
    for (bool taken, fence = t->rank == 0; !fence; t->table->idle(t)) {
        char out[8];
        CHECK(t->table->take(&taken, &tag, t, 0, out, sizeof out, NULL) == DT_OK);
        fence = taken && tag == DT_FENCE_TAG;
        discarded += taken && !fence;
    }
    CHECK(t->rank == 0 || discarded == 4 || discarded == 5); /* the last may be early */
    for (bool found = discarded != 4; !found; t->table->idle(t))
        CHECK(t->table->probe(&found, &source, t, 2, NULL) == DT_OK);
    CHECK(discarded != 4 || source == 0);
    for (int k = 0; k < 6; k++)
        for (bool done = false; !done; t->table->idle(t))
            CHECK(t->table->test(&done, t, &requests[k], NULL) == DT_OK);
    t->table->close(t);
}

static void
a_fence_is_behind_what_was_sent_on_either_way(void)
{
    for (int k = 0; k < 20; k++)
        on_node(2, discard, NULL);
}

/* --- moves --- */

typedef struct {
    bool fetch, pooled;
    int64_t rows, columns;
    dt_placement to;
    int64_t messages[2];
} move;

static const dt_plan *
plan_of(dt_context *context, dt_plans *plans, const move *m)
{
    const dt_placement from = DT_SHARDED(0), *ends[] = {&from, &m->to};
    const int64_t size = 2, shape[] = {m->rows, m->columns};
    const dt_layout *layouts[2];
    dt_cost cost = DT_COST_DEFAULT;
    dt_mesh *made;
    const dt_mesh *mesh;
    const dt_plan *plan = NULL;
    CHECK(dt_mesh_make(&made, 1, &size, NULL, NULL, 1, NULL) == DT_OK);
    CHECK(dt_context_mesh(&mesh, context, made, NULL) == DT_OK);
    for (int k = 0; k < 2; k++) {
        dt_layout *layout;
        CHECK(dt_layout_make(&layout, mesh, ends[k], 2, shape, DT_FLOAT64, NULL, 0,
                             NULL, 0, NULL) == DT_OK);
        CHECK(dt_context_layout(&layouts[k], context, layout, NULL) == DT_OK);
    }
    CHECK(dt_plans_find(&plan, plans, layouts[0], layouts[1], &cost, 0, NULL) == DT_OK);
    dt_layout_release(context, layouts[0]);
    dt_layout_release(context, layouts[1]);
    dt_mesh_release(context, mesh);
    return plan;
}

static void
do_move(dt_transport *t, void *data)
{
    move *m = data;
    if (!m->fetch)
        dt_node_no_fetch(t);
    dt_world *world = world_over(t);
    dt_context *context = dt_context_make();
    dt_plans *plans = dt_plans_make(context);
    const dt_plan *plan = plan_of(context, plans, m);
    int64_t mine = m->rows / 2 * m->columns, all = m->rows * m->columns;
    double *src =
        m->pooled ? dt_memory_take((size_t)mine * 8) : malloc((size_t)mine * 8);
    double *dst = dt_memory_take((size_t)all * 8);
    for (int64_t k = 0; k < mine; k++)
        src[k] = (double)(k + t->rank * mine);
    const int64_t stride[] = {m->columns * 8, 8};
    for (int again = 0; again < 3; again++) {
        dt_transfer transfer = {plan, src, stride, dst};
        dt_call call = call_of("move", DT_OK);
        dt_run *run = dt_run_make(all_of(world), &transfer, 1, 0, &call);
        memset(dst, 0, (size_t)all * 8);
        CHECK(dt_start(dt_run_task(run), NULL) == DT_OK);
        CHECK(dt_wait(dt_run_task(run), NULL) == DT_OK);
        dt_run_free(run);
        bool columns = m->to.kind == DT_SHARD;
        int64_t width = columns ? m->columns / 2 : m->columns, bad = 0;
        for (int64_t i = 0; i < m->rows; i++)
            for (int64_t j = 0; j < width; j++) {
                int64_t column = columns ? j + t->rank * width : j;
                bad += dst[i * width + j] != (double)(i * m->columns + column);
            }
        CHECK(bad == 0);
    }
    m->messages[t->rank] = 0;
    for (int kind = 0; kind < DT_STEP_KINDS; kind++)
        m->messages[t->rank] += world->counters[kind].messages;
    dt_memory_give(dst);
    m->pooled ? dt_memory_give(src) : free(src);
    dt_world_close(world);
    dt_plan_release(plans, plan);
    dt_plans_free(plans);
    dt_context_free(context);
}

/* Of the pool: read. Elsewhere: small ones are copied first, long rows fetched; short rows,
 * or what cannot be fetched, goes by messages, and all ranks agree on that. */
static void
arrays_that_others_cannot_read_arrive_as_well(void)
{
    const dt_placement whole = DT_REPLICATED, columns = DT_SHARDED(1);
    for (int k = 0; k < 4; k++) {
        bool fetch = k % 2, pooled = k / 2;
        move small = {fetch, pooled, 20, 30, whole, {0}};
        move rows = {fetch, pooled, 512, 1200, whole, {0}};
        move large = {fetch, pooled, 512, 1200, columns, {0}};
        move thin = {fetch, pooled, 80000, 4, columns, {0}};
        on_node(2, do_move, &small);
        on_node(2, do_move, &rows);
        on_node(2, do_move, &large);
        on_node(2, do_move, &thin);
        CHECK(small.messages[0] == 0);
        CHECK((rows.messages[1] == 0) == (fetch || pooled));
        CHECK((large.messages[0] == 0) == (fetch || pooled));
        CHECK((thin.messages[0] == 0) == pooled);
    }
}

DT_MAIN(TEST(messages_of_one_tag_and_length_keep_their_order),
        TEST(a_fence_is_behind_what_was_sent_on_either_way),
        TEST(arrays_that_others_cannot_read_arrive_as_well))
