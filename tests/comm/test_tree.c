/* The way of few bytes between many ranks: the bits of all other ways, for any number of
 * ranks, parts, dtypes and reductions; messages that grow with log2 n, as predicted. */
#define DT_TEST_RANKS 64
#include "ranks.h"

#include "comm/run/execute.h"
#include "comm/way/way.h"
#include "core/plan/plans.h"
#include "core/plan/tree.h"

enum { JOBS_MOST = 160, WAYS = 2, TOGETHER = 3 };

/* One move by both ways. */
typedef struct {
    const dt_plan *plan;
    size_t room; /* bytes of a source and of a result on a rank */
    char *in, *out[WAYS];
    dt_counter counted[WAYS][RANKS_MAX][DT_STEP_KINDS];
} job;

typedef struct {
    job jobs[JOBS_MOST];
    int count, way;
    bool together; /* TOGETHER moves a run */
} job_list;

static dt_context *context;
static dt_plans *plans;
static const char *const NAMES[WAYS] = {"messages", "tree"};

/* --- moves --- */

static const dt_mesh *
mesh_of(int ndim, const int64_t *shape)
{
    dt_mesh *made;
    const dt_mesh *mesh = NULL;
    CHECK(dt_mesh_make(&made, ndim, shape, NULL, NULL, 1, NULL) == DT_OK);
    CHECK(dt_context_mesh(&mesh, context, made, NULL) == DT_OK);
    return mesh;
}

static const dt_layout *
layout_of(const dt_mesh *mesh, const dt_placement *placements, int64_t rows,
          int64_t columns, dt_dtype dtype)
{
    const int64_t shape[] = {rows, columns};
    const dt_layout *out = NULL;
    dt_layout *layout;
    CHECK(dt_layout_make(&layout, mesh, placements, 2, shape, dtype, NULL, 0, NULL, 0,
                         NULL) == DT_OK);
    CHECK(dt_context_layout(&out, context, layout, NULL) == DT_OK);
    return out;
}

static void
fill_element(char *out, dt_dtype dtype, uint64_t *seed)
{
    uint64_t bits = check_random(seed);
    size_t size = dt_dtype_size(dtype);
    char kind = dt_dtype_kind(dtype);
    double value =
        ((double)(bits % 2001) - 1000) * (double)(1 << (bits >> 20 & 15)) / 7;
    if (kind == 'b') {
        *out = (char)(bits & 1);
    } else if (kind == 'f' && size == 2) {
        uint16_t middle = dtype == DT_FLOAT16 ? 12 << 10 : 124 << 7;
        uint16_t half = (uint16_t)(middle + (bits & 0x0fff) + (bits & 0x8000));
        memcpy(out, &half, 2);
    } else if (kind == 'f' || kind == 'c') {
        size_t part = kind == 'c' ? size / 2 : size;
        for (size_t at = 0; at < size; at += part, value = -value / 3) {
            float single = (float)value;
            long double wide = value;
            const void *from = part == 4   ? (void *)&single
                               : part == 8 ? (void *)&value
                                           : (void *)&wide;
            memcpy(out + at, from, part == 16 ? 10 : part);
        }
    } else {
        memcpy(out, &bits, size);
    }
}

static void
add_job(job_list *list, const dt_layout *from, const dt_layout *to)
{
    static uint64_t seed = 11;
    job *j = &list->jobs[list->count++];
    CHECK(list->count <= JOBS_MOST);
    dt_cost cost = DT_COST_DEFAULT;
    size_t size = dt_dtype_size(from->dtype);
    *j = (job){.room = size * (size_t)(from->shape[0] * from->shape[1])};
    CHECK(dt_plans_find(&j->plan, plans, from, to, &cost, 0, NULL) == DT_OK);
    j->in = calloc(RANKS_MAX, j->room + 64);
    size_t ranks = (size_t)from->mesh->size > 16 ? RANKS_MAX : 16;
    for (size_t k = 0; k < ranks * j->room / size; k++)
        fill_element(j->in + k * size, from->dtype, &seed);
    for (int w = 0; w < WAYS; w++)
        j->out[w] = calloc(RANKS_MAX, j->room + 64);
}

static void
free_jobs(job_list *list)
{
    for (int k = 0; k < list->count; k++) {
        dt_plan_release(plans, list->jobs[k].plan);
        free(list->jobs[k].in);
        free(list->jobs[k].out[0]);
        free(list->jobs[k].out[1]);
    }
    list->count = 0;
}

static void
run_jobs(dt_transport *t, void *data)
{
    job_list *list = data;
    int rank = t->rank, step = list->together ? TOGETHER : 1;
    dt_world *world = world_over(t);
    for (int k = 0; k + step <= list->count; k += step) {
        dt_transfer moves[TOGETHER];
        int64_t stride[TOGETHER][2];
        for (int i = 0; i < step; i++) {
            job *j = &list->jobs[k + i];
            dt_layout_strides_at(stride[i], j->plan->from, rank);
            size_t at = (size_t)rank * ((j->room + 63) & ~(size_t)63);
            moves[i] = (dt_transfer){.plan = j->plan,
                                     .src = j->in + (size_t)rank * j->room,
                                     .src_stride = stride[i],
                                     .dst = j->out[list->way] + at};
        }
        memset(world->counters, 0, DT_STEP_KINDS * sizeof(dt_counter));
        dt_call call = call_of("move", DT_OK);
        dt_run *run = dt_run_make(all_of(world), moves, step, 0, &call);
        dt_error err = {DT_OK, ""};
        CHECK(dt_start(dt_run_task(run), &err) == DT_OK);
        if (dt_wait(dt_run_task(run), &err) != DT_OK) {
            printf("rank %d: %s\n", rank, err.message);
            abort();
        }
        dt_run_free(run);
        memcpy(list->jobs[k].counted[list->way][rank], world->counters,
               DT_STEP_KINDS * sizeof(dt_counter));
    }
    dt_world_close(world);
}

static void
play(job_list *list, int ranks)
{
    for (list->way = 0; list->way < WAYS; list->way++) {
        setenv("DTENSOR_WAY", NAMES[list->way], 1);
        on_ranks(ranks, run_jobs, list);
        unsetenv("DTENSOR_WAY");
    }
}

/* What all steps of a plan are predicted to send by a way that is taken where it fits. */
static void
check_counts(const job *j, int way, int ranks)
{
    for (int rank = 0; rank < ranks; rank++) {
        dt_counter sum[DT_STEP_KINDS] = {{0}};
        for (int k = 0; k < j->plan->step_count; k++) {
            const dt_step *step = &j->plan->steps[k];
            dt_traffic told;
            bool tree = way == 1 && dt_tree_can(step);
            (tree ? &dt_way_tree : &dt_way_messages)->traffic(&told, step, rank);
            sum[step->kind].bytes += told.bytes_sent;
            sum[step->kind].messages += told.messages;
        }
        for (int kind = 0; kind < DT_STEP_KINDS; kind++) {
            const dt_counter *seen = &j->counted[way][rank][kind];
            CHECK(seen->messages == sum[kind].messages);
            CHECK(seen->bytes == sum[kind].bytes);
        }
    }
}

static void
check_jobs(const job_list *list, int ranks)
{
    for (int k = 0; k < list->count; k++) {
        const job *j = &list->jobs[k];
        size_t bytes = (size_t)ranks * ((j->room + 63) & ~(size_t)63);
        if (bytes > RANKS_MAX * (j->room + 64))
            abort();
        bool same = memcmp(j->out[0], j->out[1], bytes) == 0;
        CHECK(same);
        if (!same)
            printf("%d ranks, %s of %s\n", ranks, dt_step_name(j->plan->steps[0].kind),
                   dt_dtype_name(j->plan->from->dtype));
        for (int w = 0; w < WAYS && !list->together; w++)
            check_counts(j, w, ranks);
    }
}

static void
compare(job_list *list, int ranks)
{
    play(list, ranks);
    check_jobs(list, ranks);
    free_jobs(list);
}

/* --- all pairs --- */

static const dt_placement FROM[] = {DT_SHARDED(0), DT_SHARDED(1), DT_PENDING(DT_SUM),
                                    DT_PENDING(DT_AVG), DT_PENDING(DT_MAX)};
static const dt_placement TO[] = {DT_REPLICATED, DT_SHARDED(0), DT_SHARDED(1)};

static void
add_pairs(job_list *list, const dt_mesh *mesh, int64_t rows, int64_t columns,
          dt_dtype dtype)
{
    for (size_t a = 0; a < sizeof FROM / sizeof *FROM; a++)
        for (size_t b = 0; b < sizeof TO / sizeof *TO; b++)
            if (!dt_placement_equal(FROM[a], TO[b]))
                add_job(list, layout_of(mesh, &FROM[a], rows, columns, dtype),
                        layout_of(mesh, &TO[b], rows, columns, dtype));
}

static void
any_number_of_ranks_gives_the_bits_of_messages(void)
{
    static const int RANKS[] = {2, 3, 4, 5, 6, 7, 8, 9, 16, 33, 64};
    job_list *list = calloc(1, sizeof *list);
    for (size_t k = 0; k < sizeof RANKS / sizeof *RANKS; k++) {
        const int64_t n = RANKS[k];
        const dt_mesh *mesh = mesh_of(1, &n);
        add_pairs(list, mesh, n + 1, 2 * n + 3,
                  DT_FLOAT32);                   /* parts that are not equal */
        add_pairs(list, mesh, 3, 5, DT_FLOAT16); /* and empty ones */
        compare(list, RANKS[k]);
    }
    free(list);
}

static void
all_dtypes_and_reductions_give_the_bits_of_messages(void)
{
    static const int RANKS[] = {4, 7, 8};
    job_list *list = calloc(1, sizeof *list);
    for (size_t k = 0; k < sizeof RANKS / sizeof *RANKS; k++) {
        const int64_t n = RANKS[k];
        const dt_mesh *mesh = mesh_of(1, &n);
        for (int op = 0; op < DT_REDUCE_OP_COUNT; op++)
            for (int dtype = 0; dtype < DT_DTYPE_COUNT; dtype++) {
                const dt_placement from = DT_PENDING((dt_reduce_op)op);
                if (dt_reduce_op_check((dt_reduce_op)op, (dt_dtype)dtype, NULL) !=
                    DT_OK)
                    continue;
                for (int b = 0; b < 2; b++)
                    add_job(list, layout_of(mesh, &from, 9, 3, (dt_dtype)dtype),
                            layout_of(mesh, &TO[b], 9, 3, (dt_dtype)dtype));
                if (list->count > JOBS_MOST - 2)
                    compare(list, RANKS[k]);
            }
        compare(list, RANKS[k]);
    }
    free(list);
}

static void
meshes_of_two_dims_give_the_bits_of_messages(void)
{
    static const int64_t SHAPES[][2] = {{2, 4}, {4, 2}, {3, 3}, {2, 8}, {5, 3}};
    job_list *list = calloc(1, sizeof *list);
    for (size_t k = 0; k < sizeof SHAPES / sizeof *SHAPES; k++) {
        const dt_mesh *mesh = mesh_of(2, SHAPES[k]);
        for (int a = 0; a < 16; a++)
            for (int b = 0; b < 9; b++) {
                const dt_placement choices[] = {DT_REPLICATED, DT_SHARDED(0),
                                                DT_SHARDED(1), DT_PENDING(DT_SUM)};
                const dt_placement from[] = {choices[a / 4], choices[a % 4]};
                const dt_placement to[] = {choices[b / 3], choices[b % 3]};
                add_job(list, layout_of(mesh, from, 11, 7, DT_FLOAT32),
                        layout_of(mesh, to, 11, 7, DT_FLOAT32));
            }
        compare(list, (int)mesh->size);
    }
    free(list);
}

static void
arrays_that_move_together_give_the_bits_of_messages(void)
{
    static const int RANKS[] = {4, 5, 16};
    static const dt_dtype DTYPES[TOGETHER] = {DT_FLOAT32, DT_FLOAT32, DT_FLOAT64};
    job_list *list = calloc(1, sizeof *list);
    list->together = true;
    for (size_t k = 0; k < sizeof RANKS / sizeof *RANKS; k++) {
        const int64_t n = RANKS[k];
        const dt_mesh *mesh = mesh_of(1, &n);
        for (int a = 0; a < 4; a++)
            for (int i = 0; i < TOGETHER; i++)
                add_job(list, layout_of(mesh, &FROM[a], 6 + i, 19, DTYPES[i]),
                        layout_of(mesh,
                                  &TO[a == 0   ? 2
                                      : a == 2 ? 1
                                               : 0],
                                  6 + i, 19, DTYPES[i]));
        compare(list, RANKS[k]);
    }
    free(list);
}

/* Over a mebibyte, along the first dim: in place. */
static void
long_gathers_in_place_give_the_bits_of_messages(void)
{
    static const int RANKS[] = {2, 8, 16};
    job_list *list = calloc(1, sizeof *list);
    for (size_t k = 0; k < sizeof RANKS / sizeof *RANKS; k++) {
        const int64_t n = RANKS[k];
        const dt_mesh *mesh = mesh_of(1, &n);
        list->together = n == 8;
        for (int i = 0; i < (n == 8 ? TOGETHER : 1); i++) {
            const dt_layout *from =
                layout_of(mesh, &FROM[0], 4 * n - 3, 20000, DT_FLOAT32);
            const dt_layout *to = layout_of(mesh, &TO[0], 4 * n - 3, 20000, DT_FLOAT32);
            add_job(list, from, to);
            const dt_step *step = &list->jobs[i].plan->steps[0];
            CHECK(dt_tree_of(step) == (n == 2 ? DT_TREE_GATHER : DT_TREE_JOIN));
        }
        compare(list, RANKS[k]);
    }
    free(list);
}

/* --- from one rank to all --- */

static void
one_rank_gives_to_all_in_log_n_messages(void)
{
    static const int RANKS[] = {2, 5, 8, 16};
    job_list *list = calloc(1, sizeof *list);
    for (size_t k = 0; k < sizeof RANKS / sizeof *RANKS; k++) {
        const int64_t n = RANKS[k], one = 1;
        const dt_placement whole[] = {DT_REPLICATED};
        for (int64_t root = 0; root < n; root += 3) {
            dt_mesh *made;
            const dt_mesh *from;
            CHECK(dt_mesh_make(&made, 1, &one, &root, NULL, 1, NULL) == DT_OK);
            CHECK(dt_context_mesh(&from, context, made, NULL) == DT_OK);
            add_job(list, layout_of(from, whole, 3, 5, DT_FLOAT32),
                    layout_of(mesh_of(1, &n), whole, 3, 5, DT_FLOAT32));
        }
        compare(list, RANKS[k]);
    }
    free(list);
}

/* --- counts --- */

static int
log2_of(int n)
{
    int rounds = 0;
    while (1 << rounds < n)
        rounds++;
    return rounds;
}

typedef struct {
    const dt_plan *plan;
    uint64_t messages[RANKS_MAX];
} counted;

static void
count_messages(dt_transport *t, void *data)
{
    counted *c = data;
    float in[64] = {0}, out[64];
    int64_t stride[2];
    dt_world *world = world_over(t);
    uint64_t before = world->messages_sent;
    dt_layout_strides_at(stride, c->plan->from, t->rank);
    dt_transfer move = {c->plan, in, stride, out};
    dt_call call = call_of("sum", DT_OK);
    dt_run *run = dt_run_make(all_of(world), &move, 1, 0, &call);
    CHECK(dt_start(dt_run_task(run), NULL) == DT_OK);
    CHECK(dt_wait(dt_run_task(run), NULL) == DT_OK);
    dt_run_free(run);
    c->messages[t->rank] = world->messages_sent - before;
    dt_world_close(world);
}

/* The agreement and the move: log2 n messages of a rank each. */
static void
a_small_sum_takes_log_n_messages(void)
{
    static const int RANKS[] = {2, 8, 16, 33, 64};
    const dt_placement from[] = {DT_PENDING(DT_SUM)}, to[] = {DT_REPLICATED};
    for (size_t k = 0; k < sizeof RANKS / sizeof *RANKS; k++) {
        const int64_t n = RANKS[k];
        counted c = {0};
        dt_cost cost = DT_COST_DEFAULT;
        CHECK(dt_plans_find(&c.plan, plans,
                            layout_of(mesh_of(1, &n), from, 2, 2, DT_FLOAT32),
                            layout_of(mesh_of(1, &n), to, 2, 2, DT_FLOAT32), &cost, 0,
                            NULL) == DT_OK);
        setenv("DTENSOR_WAY", "tree", 1);
        on_ranks(RANKS[k], count_messages, &c);
        unsetenv("DTENSOR_WAY");
        for (int rank = 0; rank < RANKS[k]; rank++)
            CHECK(c.messages[rank] == (uint64_t)(2 * log2_of(RANKS[k])));
        dt_plan_release(plans, c.plan);
    }
}

/* Nobody has said which ways there are. */
static void
few_bytes_between_many_ranks_go_by_tree(void)
{
    static const struct {
        int64_t ranks, rows;
        dt_placement from, to;
        bool tree;
    } CASES[] = {
        {4, 4, DT_PENDING(DT_SUM), DT_REPLICATED, false}, /* few ranks */
        {64, 4, DT_PENDING(DT_SUM), DT_REPLICATED, true},
        {64, 64, DT_SHARDED(0), DT_REPLICATED, true},
        {64, 64, DT_SHARDED(0), DT_SHARDED(1), true},
        {100, 300, DT_PENDING(DT_SUM), DT_SHARDED(0), true},
        {64, 1 << 20, DT_PENDING(DT_SUM), DT_REPLICATED, false}, /* many bytes */
        {64, 1 << 20, DT_SHARDED(0), DT_SHARDED(1), false},
        {64, 1 << 20, DT_SHARDED(0), DT_REPLICATED, false},
        {128, 1 << 20, DT_SHARDED(0), DT_REPLICATED, true}, /* in place */
        {128, 1 << 12, DT_PENDING(DT_SUM), DT_SHARDED(0), true},
    };
    for (size_t k = 0; k < sizeof CASES / sizeof *CASES; k++) {
        const dt_mesh *mesh = mesh_of(1, &CASES[k].ranks);
        const dt_plan *plan;
        const char *why;
        dt_cost cost = DT_COST_DEFAULT;
        CHECK(dt_plans_find(
                  &plan, plans,
                  layout_of(mesh, &CASES[k].from, CASES[k].rows, 64, DT_FLOAT32),
                  layout_of(mesh, &CASES[k].to, CASES[k].rows, 64, DT_FLOAT32), &cost,
                  0, NULL) == DT_OK);
        const dt_way *way = dt_way_of(&why, NULL, &plan->steps[0], false);
        CHECK(way == (CASES[k].tree ? &dt_way_tree : &dt_way_messages));
        dt_plan_release(plans, plan);
    }
}

int
main(void)
{
    context = dt_context_make();
    plans = dt_plans_make(context);
    const check_test tests[] = {
        TEST(any_number_of_ranks_gives_the_bits_of_messages),
        TEST(all_dtypes_and_reductions_give_the_bits_of_messages),
        TEST(meshes_of_two_dims_give_the_bits_of_messages),
        TEST(arrays_that_move_together_give_the_bits_of_messages),
        TEST(long_gathers_in_place_give_the_bits_of_messages),
        TEST(one_rank_gives_to_all_in_log_n_messages),
        TEST(a_small_sum_takes_log_n_messages),
        TEST(few_bytes_between_many_ranks_go_by_tree),
    };
    return check_run(tests, sizeof tests / sizeof *tests);
}
