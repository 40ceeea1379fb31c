/* Moves between all pairs of layouts, on ranks that are threads, by every way. The value
 * of an element is its global number; addends of a Partial are random but for that of
 * coordinate 0. Sources have the strides that `lie` says. */
#include "comm/run/execute.h"
#include "comm/world.h"
#include "core/memory/memory.h"
#include "core/plan/plans.h"

#include "check.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_RANKS = 8, MAX_ELEMENTS = 64 };

/* How the source lies in memory: in C order; in Fortran order; on every second element,
 * in Fortran order; or so on ranks of odd number alone. */
enum { C_ORDER, FORTRAN_ORDER, SPREAD, ON_ODD_RANKS };
static int lie = C_ORDER;

typedef struct {
    const dt_layout *from, *to;
    const dt_plan *plan;
    int64_t in[MAX_RANKS][2 * MAX_ELEMENTS], out[MAX_RANKS][MAX_ELEMENTS];
} job;

typedef struct {
    dt_transport *transport;
    job *jobs;
    int count, together; /* moves per run */
    int64_t failures;
} rank_thread;

static dt_context *context;
static dt_plans *plans;

static bool
inside(int64_t *coordinate, const dt_layout *layout, int64_t rank)
{
    int64_t index = dt_mesh_index(layout->mesh, rank);
    if (index >= 0)
        dt_mesh_coordinate(coordinate, layout->mesh, index);
    return index >= 0;
}

/* Calls of the body for every element that a rank holds, in local order: `number` is
 * the global number. At most two dimensions. */
static int64_t
held(int64_t *numbers, const dt_layout *layout, int64_t rank)
{
    int64_t coordinate[DT_MESH_MAX_NDIM], count = 0;
    if (!inside(coordinate, layout, rank))
        return 0;
    dt_range rows[8] = {{0, 1}}, columns[8] = {{0, 1}};
    int64_t row_runs = 1, column_runs = 1, width = 1;
    if (layout->ndim > 0)
        row_runs =
            dt_layout_ranges(rows, layout, 0, dt_layout_part(layout, 0, coordinate));
    if (layout->ndim > 1) {
        column_runs =
            dt_layout_ranges(columns, layout, 1, dt_layout_part(layout, 1, coordinate));
        width = layout->shape[1];
    }
    for (int64_t a = 0; a < row_runs; a++)
        for (int64_t i = 0; i < rows[a].size; i++)
            for (int64_t b = 0; b < column_runs; b++)
                for (int64_t j = 0; j < columns[b].size; j++)
                    numbers[count++] =
                        (rows[a].start + i) * width + columns[b].start + j;
    return count;
}

/* The addend of one coordinate: all but the first are arbitrary, and sum to zero with a
 * correction that the first one holds. */
static int64_t
addend(const dt_layout *layout, const int64_t *coordinate, int64_t number)
{
    int64_t pending = 1, mine = 0;
    for (int m = 0; m < layout->mesh->ndim; m++)
        if (layout->placements[m].kind == DT_PARTIAL) {
            mine = mine * layout->mesh->shape[m] + coordinate[m];
            pending *= layout->mesh->shape[m];
        }
    int64_t total = number;
    for (int64_t k = 1; k < pending; k++) {
        int64_t noise = (number * 37 + k * 101) % 1009;
        if (k == mine)
            return noise;
        total -= noise;
    }
    return total;
}

/* Of a rank's source, in bytes. */
static void
strides_of(int64_t *stride, const dt_layout *layout, int64_t rank)
{
    int64_t shape[2] = {1, 1}, coordinate[DT_MESH_MAX_NDIM];
    if (inside(coordinate, layout, rank))
        dt_layout_local_shape(shape, layout, coordinate);
    bool turned = lie == ON_ODD_RANKS ? rank % 2 == 1 : lie != C_ORDER;
    int64_t unit = turned && lie != FORTRAN_ORDER ? 16 : 8;
    int first = layout->ndim > 1 && !turned; /* the dimension of the smaller stride */
    stride[first] = unit;
    if (layout->ndim > 1)
        stride[!first] = unit * shape[first];
}

static void
fill(job *j, int64_t rank)
{
    int64_t numbers[MAX_ELEMENTS], coordinate[DT_MESH_MAX_NDIM];
    int64_t shape[2] = {1, 1}, stride[2] = {0, 0};
    int64_t count = held(numbers, j->from, rank);
    if (!inside(coordinate, j->from, rank))
        return;
    dt_layout_local_shape(shape, j->from, coordinate);
    strides_of(stride, j->from, rank);
    for (int64_t k = 0; k < count; k++) {
        int64_t row = j->from->ndim > 1 ? k / shape[1] : k;
        int64_t column = j->from->ndim > 1 ? k % shape[1] : 0;
        int64_t at = row * stride[0] + column * stride[1];
        j->in[rank][at / 8] = addend(j->from, coordinate, numbers[k]);
    }
}

static bool
run_jobs(dt_world *world, job *jobs, int count)
{
    int64_t rank = world->transport->rank, stride[8][2];
    dt_transfer moves[8];
    for (int k = 0; k < count; k++) {
        fill(&jobs[k], rank);
        strides_of(stride[k], jobs[k].from, rank);
        bool has = dt_mesh_index(jobs[k].from->mesh, rank) >= 0;
        bool gets = dt_mesh_index(jobs[k].to->mesh, rank) >= 0;
        moves[k] = (dt_transfer){.plan = jobs[k].plan,
                                 .src = has ? jobs[k].in[rank] : NULL,
                                 .src_stride = stride[k],
                                 .dst = gets ? jobs[k].out[rank] : NULL};
    }
    dt_group *group;
    dt_error err = {DT_OK, ""};
    if (dt_world_group(&group, world, NULL, 0, &err) != DT_OK)
        return false;
    dt_call call = {.hash = 1, .what = "test", .local = {.status = DT_OK}};
    dt_run *run = dt_run_make(group, moves, count, 0, &call);
    bool well = dt_start(dt_run_task(run), &err) == DT_OK &&
                dt_wait(dt_run_task(run), &err) == DT_OK;
    if (!well)
        printf("rank %d: %s\n", (int)rank, err.message);
    dt_run_free(run);
    return well;
}

static void *
rank_main(void *data)
{
    rank_thread *t = data;
    dt_world *world;
    dt_error err;
    if (dt_world_make(&world, t->transport, &err) != DT_OK) {
        t->failures++;
        return NULL;
    }
    for (int k = 0; k < t->count; k += t->together) {
        int left = t->count - k;
        int now = left < t->together ? left : t->together;
        /* The second time by a run that was kept. */
        if (!run_jobs(world, &t->jobs[k], now) || !run_jobs(world, &t->jobs[k], now)) {
            t->failures++;
            dt_threads_abort(t->transport, "a rank failed");
            break;
        }
    }
    dt_world_close(world);
    return NULL;
}

/* The value of every element, from the parts of all ranks, must be its number. */
static void
check_result(const job *j, int ranks)
{
    int64_t numbers[MAX_ELEMENTS], coordinate[DT_MESH_MAX_NDIM];
    const dt_layout *to = j->to;
    int64_t sums[MAX_RANKS][MAX_ELEMENTS] = {{0}};
    for (int rank = 0; rank < ranks; rank++) {
        int64_t count = held(numbers, to, rank);
        if (!inside(coordinate, to, rank))
            continue;
        for (int m = 0; m < to->mesh->ndim; m++)
            if (to->placements[m].kind == DT_PARTIAL)
                coordinate[m] = 0;
        int64_t home = dt_mesh_at(to->mesh, coordinate);
        for (int64_t k = 0; k < count; k++)
            sums[home][k] += j->out[rank][k] -
                             (home == dt_mesh_index(to->mesh, rank) ? numbers[k] : 0);
    }
    bool well = true;
    for (int rank = 0; rank < ranks; rank++)
        for (int64_t k = 0; k < MAX_ELEMENTS; k++)
            well = well && sums[rank][k] == 0;
    CHECK(well);
    if (!well) {
        char a[200], b[200];
        dt_layout_print(a, sizeof a, j->from);
        dt_layout_print(b, sizeof b, j->to);
        printf("  %s -> %s, shape (%d, %d)\n", a, b,
               to->ndim > 0 ? (int)to->shape[0] : -1,
               to->ndim > 1 ? (int)to->shape[1] : -1);
    }
}

static const dt_mesh *
mesh_of(int ndim, int64_t a, int64_t b, int64_t c, const int64_t *ranks)
{
    dt_mesh *made;
    const dt_mesh *out;
    CHECK(dt_mesh_make(&made, ndim, (int64_t[]){a, b, c}, ranks, NULL, 1, NULL) ==
          DT_OK);
    CHECK(dt_context_mesh(&out, context, made, NULL) == DT_OK);
    return out;
}

/* Layout number `code`: base 4 per mesh dimension (R, S(0), S(1), P); with `turned`,
 * the mesh dimensions that cut one dimension do so from the right. */
static const dt_layout *
layout_of(const dt_mesh *mesh, int code, bool turned, int ndim, const int64_t *shape)
{
    dt_placement placements[DT_MESH_MAX_NDIM];
    dt_order orders[2] = {{.dim = 0}, {.dim = 1}};
    for (int m = 0; m < mesh->ndim; m++, code /= 4) {
        int kind = code % 4;
        placements[m] = kind == 0   ? DT_REPLICATED
                        : kind == 3 ? DT_PENDING(DT_SUM)
                                    : DT_SHARDED(kind - 1);
        if ((kind == 1 && ndim < 1) || (kind == 2 && ndim < 2))
            return NULL;
    }
    for (int m = mesh->ndim - 1; m >= 0; m--)
        if (placements[m].kind == DT_SHARD)
            orders[placements[m].dim].mesh_dims[orders[placements[m].dim].count++] = m;
    dt_layout *made;
    const dt_layout *out;
    if (dt_layout_make(&made, mesh, placements, ndim, shape, DT_INT64, orders,
                       turned ? ndim : 0, NULL, 0, NULL) != DT_OK)
        return NULL;
    CHECK(dt_context_layout(&out, context, made, NULL) == DT_OK);
    return out;
}

static void
add_job(job *jobs, int *count, const dt_layout *from, const dt_layout *to)
{
    if (from == NULL || to == NULL)
        return;
    job *j = &jobs[(*count)++];
    memset(j, 0, sizeof *j);
    j->from = from;
    j->to = to;
    dt_cost cost = DT_COST_DEFAULT;
    CHECK(dt_plans_find(&j->plan, plans, from, to, &cost, 0, NULL) == DT_OK);
    /* A plan without steps returns its source. */
    if (j->plan->step_count == 0)
        (*count)--;
}

static void
run_all(job *jobs, int count, int ranks, int together)
{
    dt_transport *transports[MAX_RANKS];
    rank_thread threads[MAX_RANKS];
    pthread_t ids[MAX_RANKS];
    CHECK(dt_threads_make(transports, ranks, NULL) == DT_OK);
    for (int r = 0; r < ranks; r++) {
        threads[r] = (rank_thread){transports[r], jobs, count, together, 0};
        pthread_create(&ids[r], NULL, rank_main, &threads[r]);
    }
    for (int r = 0; r < ranks; r++) {
        pthread_join(ids[r], NULL);
        CHECK(threads[r].failures == 0);
    }
    for (int k = 0; k < count; k++)
        check_result(&jobs[k], ranks);
}

enum { JOBS = 4096 };

static void
try_pairs(const dt_mesh *a, const dt_mesh *b, int ranks, int ndim, const int64_t *shape,
          int together, int sample)
{
    static uint64_t seed = 1;
    job *jobs = calloc(JOBS, sizeof *jobs);
    int count = 0, codes_a = 1 << (2 * a->ndim), codes_b = 1 << (2 * b->ndim);
    for (int x = 0; x < 2 * codes_a; x++)
        for (int y = 0; y < 2 * codes_b && count < JOBS; y++) {
            if (sample > 1 && check_below(&seed, sample) != 0)
                continue;
            add_job(jobs, &count, layout_of(a, x / 2, x % 2 != 0, ndim, shape),
                    layout_of(b, y / 2, y % 2 != 0, ndim, shape));
        }
    run_all(jobs, count, ranks, together);
    free(jobs);
}

static const int64_t SHAPES[][2] = {{5, 3}, {4, 4}, {7, 1}, {0, 5},
                                    {1, 1}, {2, 7}, {6, 6}};

static void
every_pair_of_layouts_on_a_small_mesh_is_exact(void)
{
    for (size_t s = 0; s < sizeof SHAPES / sizeof *SHAPES; s++)
        for (int n = 1; n <= 4; n++)
            try_pairs(mesh_of(1, n, 1, 1, NULL), mesh_of(1, n, 1, 1, NULL), n, 2,
                      SHAPES[s], 1, 1);
    for (int n = 1; n <= 3; n++) {
        try_pairs(mesh_of(1, n, 1, 1, NULL), mesh_of(1, n, 1, 1, NULL), n, 0, NULL, 1,
                  1);
        try_pairs(mesh_of(1, n, 1, 1, NULL), mesh_of(1, n, 1, 1, NULL), n, 1,
                  (int64_t[]){7}, 1, 1);
    }
}

static void
pairs_of_layouts_on_larger_meshes_are_exact(void)
{
    static const int64_t MESHES[][4] = {
        {2, 2, 2, 1}, {2, 2, 3, 1}, {2, 3, 2, 1}, {3, 2, 2, 2}};
    for (size_t s = 0; s < sizeof SHAPES / sizeof *SHAPES; s++)
        for (size_t m = 0; m < sizeof MESHES / sizeof *MESHES; m++) {
            const int64_t *row = MESHES[m];
            const dt_mesh *mesh = mesh_of((int)row[0], row[1], row[2], row[3], NULL);
            int sample = mesh->ndim == 3 ? 256 : 8;
            try_pairs(mesh, mesh, (int)mesh->size, 2, SHAPES[s], 1, sample);
        }
}

static void
moves_to_another_mesh_are_exact(void)
{
    int64_t high[] = {2, 3, 4, 5}, turned[] = {3, 1, 2, 0};
    const dt_mesh *meshes[] = {mesh_of(1, 4, 1, 1, NULL), mesh_of(2, 2, 2, 1, turned),
                               mesh_of(2, 2, 2, 1, high), mesh_of(1, 1, 1, 1, &high[1]),
                               mesh_of(2, 3, 2, 1, NULL), mesh_of(0, 1, 1, 1, NULL)};
    for (size_t a = 0; a < 6; a++)
        for (size_t b = 0; b < 6; b++)
            if (a != b)
                for (size_t s = 0; s < 3; s++)
                    try_pairs(meshes[a], meshes[b], 6, 2, SHAPES[s], 1, 48);
}

static void
moves_of_several_arrays_together_are_exact(void)
{
    const dt_mesh *mesh = mesh_of(2, 2, 2, 1, NULL);
    for (size_t s = 0; s < sizeof SHAPES / sizeof *SHAPES; s++)
        try_pairs(mesh, mesh, 4, 2, SHAPES[s], 5, 4);
}

static void
moves_of_strided_sources_are_exact(void)
{
    for (lie = FORTRAN_ORDER; lie <= ON_ODD_RANKS; lie++) {
        for (size_t s = 0; s < sizeof SHAPES / sizeof *SHAPES; s++) {
            try_pairs(mesh_of(1, 3, 1, 1, NULL), mesh_of(1, 3, 1, 1, NULL), 3, 2,
                      SHAPES[s], 1, 1);
            try_pairs(mesh_of(2, 2, 2, 1, NULL), mesh_of(2, 2, 2, 1, NULL), 4, 2,
                      SHAPES[s], 3, 16);
        }
        moves_to_another_mesh_are_exact();
    }
    lie = C_ORDER;
}

/* Layouts of 7 x 3 that are cut at these rows, or at chunks. */
static void
moves_between_cut_points_are_exact(void)
{
    static const int64_t CUTS[][4] = {{0, 1, 4, 7}, {0, 5, 5, 7}, {0, 0, 7, 7}};
    const dt_mesh *mesh = mesh_of(1, 3, 1, 1, NULL);
    const dt_layout *layouts[6];
    int64_t shape[] = {7, 3};
    for (int k = 0; k < 3; k++) {
        dt_layout *made;
        dt_placement rows = DT_SHARDED(0);
        dt_cuts cuts = {.dim = 0, .count = 4, .cuts = CUTS[k]};
        CHECK(dt_layout_make(&made, mesh, &rows, 2, shape, DT_INT64, NULL, 0, &cuts, 1,
                             NULL) == DT_OK);
        CHECK(dt_context_layout(&layouts[k], context, made, NULL) == DT_OK);
        layouts[3 + k] = layout_of(mesh, (int[]){1, 2, 3}[k], false, 2, shape);
    }
    job *jobs = calloc(36, sizeof *jobs);
    int count = 0;
    for (int a = 0; a < 6; a++)
        for (int b = 0; b < 6; b++)
            if (a != b)
                add_job(jobs, &count, layouts[a], layouts[b]);
    run_all(jobs, count, 3, 1);
    free(jobs);
}

static void
moves_in_messages_of_seven_elements_are_exact(void)
{
    dt_count_limit = 7;
    moves_to_another_mesh_are_exact();
    pairs_of_layouts_on_larger_meshes_are_exact();
    dt_count_limit = INT32_MAX;
}

int
main(void)
{
    context = dt_context_make();
    plans = dt_plans_make(context);
    const check_test tests[] = {
        TEST(every_pair_of_layouts_on_a_small_mesh_is_exact),
        TEST(pairs_of_layouts_on_larger_meshes_are_exact),
        TEST(moves_to_another_mesh_are_exact),
        TEST(moves_of_several_arrays_together_are_exact),
        TEST(moves_of_strided_sources_are_exact),
        TEST(moves_between_cut_points_are_exact),
        TEST(moves_in_messages_of_seven_elements_are_exact),
    };
    static const char *const WAYS[] = {"read", "messages", "tree", "carry"};
    int failed = 0;
    for (size_t k = 0; k < sizeof WAYS / sizeof *WAYS; k++) {
        printf("by the way \"%s\":\n", WAYS[k]);
        setenv("DTENSOR_WAY", WAYS[k], 1);
        failed += check_run(tests, sizeof tests / sizeof *tests);
    }
    return failed;
}
