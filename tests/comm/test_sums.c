/* Sums of float32 and averages by every family of plans and every way, on ranks that are
 * threads, bit for bit what the definition says: over mesh dims the last first, along one
 * a tree whose left half is the largest power of two. */
#include "comm/run/execute.h"
#include "core/plan/plans.h"

#include "ranks.h"

enum { LENGTH = 13, FAMILIES = 5, TARGETS = 8, MOST = TARGETS * FAMILIES * 2 };

typedef struct {
    dt_reduce_op op;
    const dt_plan *plan;
    float out[RANKS_MAX][LENGTH];
} sum;

typedef struct {
    sum sums[MOST];
    int count;
} job;

static dt_context *context;
static dt_plans *plans;

/* Of one sign and many sizes: every other order of additions has other last bits. */
static float
addend(int64_t index, int64_t element)
{
    uint64_t random = (uint64_t)(index * 1000 + element + 1);
    check_random(&random);
    float size = (float)(1 << (check_random(&random) % 20));
    return size + (float)(check_random(&random) % 1000003) / 1000003.0f;
}

static float
tree(const float *addends, int64_t count)
{
    int64_t half = 1;
    if (count == 1)
        return addends[0];
    while (2 * half < count)
        half *= 2;
    return tree(addends, half) + tree(addends + half, count - half);
}

/* What an element of the sum over all ranks of a mesh must be. */
static float
expected(const sum *s, const dt_mesh *mesh, int64_t element)
{
    float values[RANKS_MAX];
    for (int64_t k = 0; k < mesh->size; k++)
        values[k] = addend(k, element);
    int64_t left = mesh->size;
    for (int m = mesh->ndim - 1; m >= 0; m--) {
        left /= mesh->shape[m];
        for (int64_t k = 0; k < left; k++)
            values[k] = tree(values + k * mesh->shape[m], mesh->shape[m]);
    }
    return s->op == DT_AVG ? values[0] / (float)mesh->size : values[0];
}

static const dt_layout *
layout_of(const dt_mesh *mesh, const dt_placement *placements)
{
    dt_layout *made;
    const dt_layout *out = NULL;
    const int64_t shape[] = {LENGTH};
    CHECK(dt_layout_make(&made, mesh, placements, 1, shape, DT_FLOAT32, NULL, 0, NULL,
                         0, NULL) == DT_OK);
    CHECK(dt_context_layout(&out, context, made, NULL) == DT_OK);
    return out;
}

static void
run_sums(dt_transport *transport, void *data)
{
    job *j = data;
    dt_world *world = world_over(transport);
    int64_t rank = transport->rank, stride[] = {sizeof(float)};
    for (int k = 0; k < j->count; k++) {
        sum *s = &j->sums[k];
        float in[LENGTH];
        for (int64_t i = 0; i < LENGTH; i++)
            in[i] = addend(rank, i);
        dt_transfer move = {
            .plan = s->plan, .src = in, .src_stride = stride, .dst = s->out[rank]};
        dt_call call = call_of("sum", DT_OK);
        dt_run *run = dt_run_make(all_of(world), &move, 1, 0, &call);
        CHECK(dt_start(dt_run_task(run), NULL) == DT_OK &&
              dt_wait(dt_run_task(run), NULL) == DT_OK);
        dt_run_free(run);
    }
    dt_world_close(world);
}

static void
check_sum(const sum *s)
{
    const dt_layout *to = s->plan->to;
    int64_t coordinate[DT_MESH_MAX_NDIM];
    for (int64_t rank = 0; rank < to->mesh->size; rank++) {
        dt_range part;
        dt_mesh_coordinate(coordinate, to->mesh, rank);
        dt_layout_ranges(&part, to, 0, dt_layout_part(to, 0, coordinate));
        for (int64_t i = 0; i < part.size; i++)
            CHECK(s->out[rank][i] == expected(s, to->mesh, part.start + i));
    }
}

/* All targets of a mesh: each of its dimensions whole, or cutting. */
static void
add_sums(job *j, const dt_mesh *mesh, dt_reduce_op op, int family)
{
    for (int code = 0; code < 1 << mesh->ndim; code++) {
        dt_placement before[3], after[3];
        for (int m = 0; m < mesh->ndim; m++) {
            before[m] = DT_PENDING(op);
            after[m] = code >> m & 1 ? DT_SHARDED(0) : DT_REPLICATED;
        }
        dt_cost cost = DT_COST_DEFAULT;
        cost.family = family;
        cost.hash = (uint64_t)family;
        sum *s = &j->sums[j->count++];
        s->op = op;
        CHECK(dt_plans_find(&s->plan, plans, layout_of(mesh, before),
                            layout_of(mesh, after), &cost, 0, NULL) == DT_OK);
    }
}

static void
all_families_add_by_the_same_tree(void)
{
    static const int64_t MESHES[][4] = {
        {1, 2, 1, 1}, {1, 3, 1, 1}, {1, 5, 1, 1}, {1, 6, 1, 1}, {1, 7, 1, 1},
        {1, 8, 1, 1}, {2, 2, 2, 1}, {2, 2, 3, 1}, {2, 3, 2, 1}, {2, 2, 4, 1},
        {2, 4, 2, 1}, {3, 2, 2, 2}, {3, 2, 1, 3}};
    job *j = calloc(1, sizeof *j);
    for (size_t k = 0; k < sizeof MESHES / sizeof *MESHES; k++) {
        dt_mesh *made;
        const dt_mesh *mesh;
        CHECK(dt_mesh_make(&made, (int)MESHES[k][0], MESHES[k] + 1, NULL, NULL, 1,
                           NULL) == DT_OK);
        CHECK(dt_context_mesh(&mesh, context, made, NULL) == DT_OK);
        j->count = 0;
        for (int family = 1; family <= FAMILIES; family++) {
            add_sums(j, mesh, DT_SUM, family);
            add_sums(j, mesh, DT_AVG, family);
        }
        on_ranks((int)mesh->size, run_sums, j);
        for (int s = 0; s < j->count; s++)
            check_sum(&j->sums[s]);
    }
    free(j);
}

static void
orders_of_additions_are_told_apart(void)
{
    int differ = 0;
    for (int64_t i = 0; i < LENGTH; i++) {
        float values[6], row = 0;
        for (int64_t k = 0; k < 6; k++)
            values[k] = addend(k, i);
        for (int k = 0; k < 6; k++)
            row += values[k];
        differ += row != tree(values, 6);
    }
    CHECK(differ > 0);
}

int
main(void)
{
    static const char *const WAYS[] = {"read", "messages", "tree", "carry"};
    const check_test tests[] = {TEST(all_families_add_by_the_same_tree),
                                TEST(orders_of_additions_are_told_apart)};
    int failed = 0;
    context = dt_context_make();
    plans = dt_plans_make(context);
    for (size_t k = 0; k < sizeof WAYS / sizeof *WAYS; k++) {
        setenv("DTENSOR_WAY", WAYS[k], 1);
        failed += check_run(tests, sizeof tests / sizeof *tests);
    }
    return failed;
}
