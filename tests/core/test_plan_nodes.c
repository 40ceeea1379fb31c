#include "plans.h"

static const dt_plan *
plan_with(const dt_layout *from, const dt_layout *to, const char *costs)
{
    dt_cost cost;
    const dt_plan *plan = NULL;
    CHECK(dt_cost_parse(&cost, costs, NULL) == DT_OK);
    CHECK(dt_plans_find(&plan, plans, from, to, &cost, 0, NULL) == DT_OK);
    return plan;
}

/* Over one mesh dim of two nodes: what leaves the node goes along the first of two dims. */
static void
parts_are_reduced_and_gathered_node_by_node(void)
{
    static const struct {
        const char *from, *to;
        int64_t rows; /* uneven: an all_to_all ends it */
        int steps;
        int64_t between; /* parts of a rank */
    } ROWS[] = {{"P", "0", 4096, 2, 1},
                {"0", "R", 4096, 2, 1},
                {"P", "R", 4096, 3, 2},
                {"P", "0", 4099, 3, -1}};
    const dt_mesh *mesh = mesh_of(1, 8, 1, 1, NULL);
    for (size_t r = 0; r < sizeof ROWS / sizeof *ROWS; r++) {
        const dt_layout *from = layout_of(mesh, ROWS[r].from, ROWS[r].rows, 512);
        const dt_layout *to = layout_of(mesh, ROWS[r].to, ROWS[r].rows, 512);
        const dt_plan *plan = plan_with(from, to, "node_ranks=4");
        dt_traffic t;
        int64_t between = 0, part = ROWS[r].rows / 8 * 512 * 4;
        for (int k = 0; k < plan->step_count; k++) {
            dt_step_traffic(&t, &plan->steps[k], 0);
            if (dt_step_mask(&plan->steps[k]) & 1)
                between += t.bytes_sent;
        }
        CHECK(plan->step_count == ROWS[r].steps);
        CHECK(ROWS[r].between < 0 || between == ROWS[r].between * part);
        dt_plan_release(plans, plan);
        dt_layout_release(context, from);
        dt_layout_release(context, to);
    }
    dt_mesh_release(context, mesh);
}

static void
an_eighth_of_a_sum_leaves_nodes_of_eight_ranks(void)
{
    for (int ndim = 1; ndim <= 2; ndim++) { /* nodes x ranks, or one dim of all ranks */
        const dt_mesh *mesh = mesh_of(ndim, ndim == 1 ? 1024 : 128, 8, 1, NULL);
        const dt_layout *from = layout_of(mesh, ndim == 1 ? "P" : "PP", 8192, 8192);
        const dt_layout *to = layout_of(mesh, ndim == 1 ? "R" : "RR", 8192, 8192);
        const dt_plan *plan = plan_with(from, to, "node_ranks=8");
        dt_traffic t, whole = {0};
        int64_t between = 0, messages = 0;
        for (int k = 0; k < plan->step_count; k++) {
            dt_step_traffic(&t, &plan->steps[k], 0);
            messages += t.messages;
            if (dt_step_mask(&plan->steps[k]) & 1)
                between += t.bytes_sent;
        }
        const dt_plan *merged = plan_with(from, to, "family=1");
        for (int k = 0; k < merged->step_count; k++)
            dt_step_traffic(&whole, &merged->steps[k], 0);
        CHECK(merged->step_count == 1 && whole.messages == 2046);
        CHECK(between * 8 <= whole.bytes_sent && messages == 7 + 254 + 7);
        dt_plan_release(plans, plan);
        dt_plan_release(plans, merged);
        dt_layout_release(context, from);
        dt_layout_release(context, to);
        dt_mesh_release(context, mesh);
    }
}

/* Addends go as they are, sums of some of them as float32, and what is whole as 16 bits
 * again: half of the bytes of float32 on the first and on the last way. */
static void
sums_of_halves_go_dim_by_dim_and_are_rounded_once(void)
{
    static const struct {
        int64_t mesh[2], flat; /* messages of a rank in one step */
    } ROWS[] = {{{8, 8}, 126}, {{128, 8}, 2046}};
    for (size_t r = 0; r < sizeof ROWS / sizeof *ROWS; r++) {
        const dt_mesh *mesh = mesh_of(2, ROWS[r].mesh[0], ROWS[r].mesh[1], 1, NULL);
        const dt_layout *from = typed_layout_of(mesh, "PP", 8192, 8192, DT_BFLOAT16);
        const dt_layout *to = typed_layout_of(mesh, "RR", 8192, 8192, DT_BFLOAT16);
        const dt_plan *plan = plan_with(from, to, "node_ranks=8");
        const dt_plan *flat = plan_with(from, to, "family=1");
        dt_traffic t, whole;
        int64_t between = 0, sent = 0, bytes = (int64_t)8192 * 8192 * 2;
        static const dt_step_kind KINDS[] = {DT_STEP_REDUCE_SCATTER,
                                             DT_STEP_REDUCE_SCATTER, DT_STEP_LOCAL,
                                             DT_STEP_ALL_GATHER, DT_STEP_ALL_GATHER};
        CHECK(plan->step_count == 5);
        for (int k = 0; k < plan->step_count; k++) {
            const dt_step *step = &plan->steps[k];
            CHECK(step->kind == KINDS[k]);
            CHECK((step->to->dtype == DT_FLOAT32) == (k < 2));
            dt_step_traffic(&t, step, 0);
            sent += t.bytes_sent;
            if (step->kind != DT_STEP_LOCAL && dt_step_mask(step) & 1)
                between += t.bytes_sent;
        }
        dt_step_traffic(&whole, &flat->steps[0], 0);
        int64_t n = ROWS[r].mesh[0];
        CHECK(flat->step_count == 1 && whole.messages == ROWS[r].flat);
        CHECK(between == bytes / 8 / n * (n - 1) * 3); /* 4 bytes there, 2 back */
        CHECK(sent == between + bytes / 8 * 7 * 2);
        dt_plan_release(plans, plan);
        dt_plan_release(plans, flat);
        dt_layout_release(context, from);
        dt_layout_release(context, to);
        dt_mesh_release(context, mesh);
    }
}

int
main(void)
{
    context = dt_context_make();
    plans = dt_plans_make(context);
    const check_test tests[] = {
        TEST(parts_are_reduced_and_gathered_node_by_node),
        TEST(an_eighth_of_a_sum_leaves_nodes_of_eight_ranks),
        TEST(sums_of_halves_go_dim_by_dim_and_are_rounded_once),
    };
    int failed = check_run(tests, sizeof tests / sizeof *tests);
    dt_plans_free(plans);
    dt_context_free(context);
    return failed;
}
