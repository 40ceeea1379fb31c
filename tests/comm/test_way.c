/* What ways have in common and in what they differ: who takes which, counts, bits,
 * scratch memory, and what a failure half way leaves behind. */
#include "ranks.h"

#include "comm/run/execute.h"
#include "comm/way/way.h"
#include "core/memory/memory.h"
#include "core/plan/plans.h"

#include <stdatomic.h>

enum { ROWS = 96, COLUMNS = 80, ELEMENTS = ROWS * COLUMNS };

static dt_context *context;
static dt_plans *plans;

/* One move on all ranks, and what was seen of it. */
typedef struct {
    const dt_plan *plan;
    dt_dtype dtype;
    const char *in[RANKS_MAX];
    char *out[RANKS_MAX];
    int64_t stride[2];
    bool counts_only_on_zero;
    size_t scratch; /* bytes that a run takes on rank 0 */
    dt_counter counted[RANKS_MAX][DT_STEP_KINDS];
} job;

static void
begin(void)
{
    context = dt_context_make();
    plans = dt_plans_make(context);
}

static void
end(void)
{
    dt_plans_free(plans);
    dt_context_free(context);
}

static const dt_plan *
plan_of(int ranks, dt_placement from, dt_placement to, dt_dtype dtype, int64_t rows,
        int64_t columns)
{
    dt_mesh *made;
    const dt_mesh *mesh;
    const dt_layout *ends[2];
    const dt_plan *plan = NULL;
    const dt_placement placements[] = {from, to};
    const int64_t shape[] = {rows, columns}, size = ranks;
    dt_cost cost = DT_COST_DEFAULT;
    CHECK(dt_mesh_make(&made, 1, &size, NULL, NULL, 1, NULL) == DT_OK);
    CHECK(dt_context_mesh(&mesh, context, made, NULL) == DT_OK);
    for (int k = 0; k < 2; k++) {
        dt_layout *layout;
        CHECK(dt_layout_make(&layout, mesh, &placements[k], 2, shape, dtype, NULL, 0,
                             NULL, 0, NULL) == DT_OK);
        CHECK(dt_context_layout(&ends[k], context, layout, NULL) == DT_OK);
    }
    CHECK(dt_plans_find(&plan, plans, ends[0], ends[1], &cost, 0, NULL) == DT_OK);
    dt_layout_release(context, ends[0]);
    dt_layout_release(context, ends[1]);
    dt_mesh_release(context, mesh);
    return plan;
}

static dt_run *
make_run(dt_world *world, const job *j)
{
    int rank = world->transport->rank;
    dt_transfer move = {j->plan, j->in[rank], j->stride, j->out[rank]};
    dt_call call = call_of("test", DT_OK);
    return dt_run_make(all_of(world), &move, 1, 0, &call);
}

static void
do_job(dt_transport *t, void *data)
{
    job *j = data;
    dt_world *world = world_over(t);
    dt_error err;
    dt_run *run = make_run(world, j);
    CHECK(dt_start(dt_run_task(run), &err) == DT_OK);
    CHECK(dt_wait(dt_run_task(run), &err) == DT_OK);
    CHECK(!dt_run_poisoned(run));
    dt_run_free(run);
    memcpy(j->counted[t->rank], world->counters, DT_STEP_KINDS * sizeof(dt_counter));
    dt_world_close(world);
}

static void
on_ranks_by(const char *way, int ranks, rank_function run, void *data)
{
    setenv("DTENSOR_WAY", way, 1);
    on_ranks(ranks, run, data);
    unsetenv("DTENSOR_WAY");
}

/* --- who takes which --- */

static void
check_choice(dt_transport *t, void *data)
{
    const dt_plan *const *of = data; /* a sum, and a slice */
    const char *why;
    dt_world *world = world_over(t);
    bool threads = t->table->reach != NULL;
    const dt_way *way = dt_way_of(&why, world, &of[0]->steps[0], false);
    CHECK(way == (threads ? &dt_way_read : &dt_way_messages));
    CHECK(strcmp(why, threads ? t->table->reached : "the ranks share no memory") == 0);
    CHECK(dt_way_of(&why, world, &of[1]->steps[0], false) == &dt_way_local);
    world->way = &dt_way_messages;
    CHECK(dt_way_of(&why, world, &of[0]->steps[0], false) == &dt_way_messages);
    CHECK(strcmp(why, "by DTENSOR_WAY") == 0);
    CHECK(dt_way_of(&why, world, &of[1]->steps[0], false) == &dt_way_local);
    world->way = &dt_way_read;
    way = dt_way_of(&why, world, &of[0]->steps[0], false);
    CHECK(way == (threads ? &dt_way_read : &dt_way_messages));
    dt_world_close(world);
}

static void
threads_read_and_others_send_messages(void)
{
    const dt_plan *of[] = {
        plan_of(2, DT_PENDING(DT_SUM), DT_REPLICATED, DT_FLOAT32, 4, 4),
        plan_of(2, DT_REPLICATED, DT_SHARDED(0), DT_FLOAT32, 4, 4)};
    const char *why;
    dt_transport *alone;
    on_ranks(2, check_choice, of);
    CHECK(dt_alone_make(&alone, 2, 0, NULL) == DT_OK);
    check_choice(alone, of);
    CHECK(dt_way_of(&why, NULL, &of[0]->steps[0], false) == &dt_way_messages);
    CHECK(dt_way_named("read") == &dt_way_read && dt_way_named("telepathy") == NULL);
    dt_plan_release(plans, of[0]);
    dt_plan_release(plans, of[1]);
}

static void
refuse_way(dt_transport *t, void *data)
{
    (void)data;
    dt_world *world = NULL;
    dt_error err;
    CHECK(dt_world_make(&world, t, &err) == DT_VALUE && world == NULL);
    CHECK(strstr(err.message, "DTENSOR_WAY must be the name of a way") != NULL);
    t->table->close(t);
}

static void
a_way_that_there_is_not_is_refused(void)
{
    setenv("DTENSOR_WAY", "telepathy", 1);
    on_ranks(1, refuse_way, NULL);
    unsetenv("DTENSOR_WAY");
}

/* --- counts and bits --- */

static void
check_counts(const job *j, int ranks, const dt_way *way)
{
    for (int rank = 0; rank < ranks; rank++)
        for (int k = 0; k < j->plan->step_count; k++) {
            const dt_step *step = &j->plan->steps[k];
            dt_traffic told, plain;
            way->traffic(&told, step, rank);
            dt_step_traffic(&plain, step, rank);
            const dt_counter *seen = &j->counted[rank][step->kind];
            CHECK(seen->calls == 1 && seen->bytes == told.bytes_sent);
            CHECK(seen->messages == told.messages);
            CHECK(told.bytes_sent == plain.bytes_sent);
            CHECK(told.messages == (way == &dt_way_read ? 0 : plain.messages));
        }
}

/* Moves random numbers by both ways: the same bits, and what is predicted is counted. */
static void
compare_ways(int ranks, dt_placement from, dt_placement to, dt_dtype dtype,
             int64_t rows, int64_t columns, bool turned)
{
    size_t itemsize = dt_dtype_size(dtype), room = itemsize * (size_t)(rows * columns);
    const dt_way *const ways[] = {&dt_way_read, &dt_way_messages};
    job jobs[2];
    uint64_t seed = 7;
    char *in = malloc(room * RANKS_MAX), *out = calloc(2 * RANKS_MAX, room);
    for (size_t k = 0; k < room * RANKS_MAX / itemsize; k++)
        if (dtype == DT_FLOAT32)
            ((float *)(void *)in)[k] = (float)check_random(&seed) * 1e-12F;
        else
            ((int16_t *)(void *)in)[k] = (int16_t)check_random(&seed);
    for (int w = 0; w < 2; w++) {
        job *j = &jobs[w];
        *j = (job){.plan = plan_of(ranks, from, to, dtype, rows, columns)};
        for (int rank = 0; rank < ranks; rank++) {
            j->in[rank] = in + room * (size_t)rank;
            j->out[rank] = out + room * (size_t)(w * RANKS_MAX + rank);
        }
        int64_t shape[2], coordinate = 0;
        dt_layout_local_shape(shape, j->plan->from, &coordinate);
        /* Fortran order of the first rank: no other one's array is smaller than that. */
        j->stride[turned] = (int64_t)itemsize * shape[!turned];
        j->stride[!turned] = (int64_t)itemsize;
        on_ranks_by(ways[w]->name, ranks, do_job, j);
        check_counts(j, ranks, ways[w]);
        dt_plan_release(plans, j->plan);
    }
    CHECK(memcmp(jobs[0].out[0], jobs[1].out[0], room * RANKS_MAX) == 0);
    free(in);
    free(out);
}

static void
all_ways_give_the_same_bits_and_send_what_is_predicted(void)
{
    const dt_placement from[] = {DT_SHARDED(0), DT_SHARDED(1), DT_PENDING(DT_SUM),
                                 DT_PENDING(DT_AVG), DT_PENDING(DT_MAX)};
    const dt_placement to[] = {DT_REPLICATED, DT_SHARDED(0), DT_SHARDED(1)};
    for (int ranks = 2; ranks <= 5; ranks += ranks == 3 ? 2 : 1)
        for (size_t a = 0; a < 5; a++)
            for (size_t b = 0; b < 3; b++) {
                if (dt_placement_equal(from[a], to[b]))
                    continue;
                for (int turned = 0; turned <= (ranks == 3); turned++) {
                    compare_ways(ranks, from[a], to[b], DT_FLOAT32, ROWS, COLUMNS,
                                 turned);
                    if (from[a].op != DT_AVG || from[a].kind != DT_PARTIAL)
                        compare_ways(ranks, from[a], to[b], DT_INT16, 7, 3, turned);
                }
            }
}

/* More than goes in one round, in parts that are not equal. */
static void
long_sums_are_the_same_by_all_ways(void)
{
    for (int ranks = 2; ranks <= 4; ranks++)
        compare_ways(ranks, DT_PENDING(DT_SUM), DT_REPLICATED, DT_FLOAT32, 1025, 301,
                     ranks == 3);
}

/* --- memory --- */

/* The bytes that a run of two ranks takes besides its source and result. */
typedef struct {
    const dt_plan *plan;
    int64_t stride[2];
    size_t taken;
} measured;

static void
measure_scratch(dt_transport *t, void *data)
{
    measured *m = data;
    dt_world *world = world_over(t);
    if (t->rank == 0) {
        static char nothing[64];
        size_t before = dt_memory_used();
        dt_transfer move = {m->plan, nothing, m->stride, nothing};
        dt_call call = call_of("test", DT_OK);
        dt_run *run = dt_run_make(all_of(world), &move, 1, 0, &call);
        m->taken = dt_memory_used() - before;
        dt_run_free(run);
    }
    dt_world_close(world);
}

static size_t
scratch_of(const dt_plan *plan, const char *way, bool turned)
{
    int64_t shape[2], coordinate = 0;
    measured m = {.plan = plan};
    dt_layout_local_shape(shape, plan->from, &coordinate);
    m.stride[turned] = 4 * shape[!turned];
    m.stride[!turned] = 4;
    setenv("DTENSOR_WAY", way, 1);
    on_ranks(2, measure_scratch, &m);
    unsetenv("DTENSOR_WAY");
    return m.taken;
}

/* 32 MiB a rank. A run that is made and not started does not touch its arrays. */
static void
a_strided_source_takes_no_more_scratch_than_one_in_c_order(void)
{
    const dt_plan *plan =
        plan_of(2, DT_SHARDED(0), DT_SHARDED(1), DT_FLOAT32, 4096, 4096);
    const dt_plan *sum =
        plan_of(2, DT_PENDING(DT_SUM), DT_SHARDED(1), DT_FLOAT32, 2048, 4096);
    const dt_plan *both[] = {plan, sum};
    for (int k = 0; k < 2; k++) {
        size_t ordered = scratch_of(both[k], "messages", false);
        CHECK(ordered > 0 && ordered < (size_t)12 << 20);
        CHECK(scratch_of(both[k], "messages", true) == ordered);
        CHECK(scratch_of(both[k], "read", true) <= (size_t)1 << 20);
        dt_plan_release(plans, both[k]);
    }
}

/* --- a failure half way --- */

/* What these have may be touched for ever: they are kept, as a job would keep them. */
static dt_run *volatile poisoned_runs[4];
static atomic_int poisoned_count;

static void
keep_poisoned(dt_run *run)
{
    poisoned_runs[atomic_fetch_add(&poisoned_count, 1)] = run;
}

typedef struct {
    job job;
    atomic_bool agreed; /* rank 1 has said what it calls */
    bool poisoned[2];
    dt_status status[2];
} broken;

/* Rank 1 has agreed, and goes on when rank 0 has given up: by then rank 0 has told where
 * its array is. */
static void
come_late(dt_transport *t, void *data)
{
    broken *b = data;
    dt_world *world = world_over(t);
    dt_error err;
    world->timeout = t->rank == 0 ? 0.2 : 1;
    while (t->rank == 0 && !atomic_load(&b->agreed))
        sched_yield();
    dt_run *run = make_run(world, &b->job);
    CHECK(dt_start(dt_run_task(run), &err) == DT_OK);
    if (t->rank == 1) {
        dt_progress(world);
        atomic_store(&b->agreed, true);
        rest(1.5);
    }
    b->status[t->rank] = dt_wait(dt_run_task(run), &err);
    b->poisoned[t->rank] = dt_run_poisoned(run);
    CHECK(world->broken);
    if (b->poisoned[t->rank])
        keep_poisoned(run);
    dt_run_free(run);
    dt_task *again = dt_run_task(run = make_run(world, &b->job));
    CHECK(dt_start(again, &err) == DT_RUNTIME);
    dt_run_free(run);
    dt_world_close(world);
}

static void
what_others_may_still_read_is_never_freed(void)
{
    static char in[2][ELEMENTS * 4], out[2][ELEMENTS * 4];
    const char *const ways[] = {"read", "messages"};
    for (int w = 0; w < 2; w++) {
        broken b = {.job = {.plan = plan_of(2, DT_SHARDED(0), DT_SHARDED(1), DT_FLOAT32,
                                            ROWS, COLUMNS),
                            .in = {in[0], in[1]},
                            .out = {out[0], out[1]},
                            .stride = {COLUMNS * 4, 4}}};
        on_ranks_by(ways[w], 2, come_late, &b);
        CHECK(b.status[0] == DT_RUNTIME && b.status[1] == DT_RUNTIME);
        CHECK(b.poisoned[0] == (w == 0)); /* a message of threads can be taken back */
        dt_plan_release(plans, b.job.plan);
    }
}

static void
move_another(dt_transport *t, void *data)
{
    const job *j = (const job *)data + t->rank;
    dt_world *world = world_over(t);
    dt_error err;
    world->check = DT_CHECK_NOTHING;
    world->timeout = 5;
    dt_run *run = make_run(world, j);
    CHECK(dt_start(dt_run_task(run), &err) == DT_OK);
    CHECK(dt_wait(dt_run_task(run), &err) == DT_RUNTIME);
    CHECK(strstr(err.message, "in different calls") != NULL);
    if (dt_run_poisoned(run))
        keep_poisoned(run);
    dt_run_free(run);
    dt_world_close(world);
}

static void
nobody_reads_past_the_end_of_another_array(void)
{
    static char in[2][ELEMENTS * 4], out[2][ELEMENTS * 4];
    job jobs[2];
    for (int rank = 0; rank < 2; rank++) {
        int64_t rows = rank == 0 ? 8 : ROWS;
        jobs[rank] = (job){
            .plan = plan_of(2, DT_SHARDED(0), DT_REPLICATED, DT_FLOAT32, rows, COLUMNS),
            .in = {in[0], in[1]},
            .out = {out[0], out[1]},
            .stride = {COLUMNS * 4, 4}};
    }
    on_ranks_by("read", 2, move_another, jobs);
    for (int rank = 0; rank < 2; rank++)
        dt_plan_release(plans, jobs[rank].plan);
}

DT_MAIN(TEST(begin), TEST(threads_read_and_others_send_messages),
        TEST(a_way_that_there_is_not_is_refused),
        TEST(all_ways_give_the_same_bits_and_send_what_is_predicted),
        TEST(long_sums_are_the_same_by_all_ways),
        TEST(a_strided_source_takes_no_more_scratch_than_one_in_c_order),
        TEST(what_others_may_still_read_is_never_freed),
        TEST(nobody_reads_past_the_end_of_another_array), TEST(end))
