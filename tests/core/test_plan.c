#include "core/layout/exchange.h"
#include "core/plan/tree.h"

#include "plans.h"

#include <stdlib.h>
#include <string.h>

static const dt_plan *
plan_of(const dt_layout *from, const dt_layout *to)
{
    dt_cost cost = DT_COST_DEFAULT;
    const dt_plan *plan = NULL;
    CHECK(dt_plans_find(&plan, plans, from, to, &cost, 0, NULL) == DT_OK);
    return plan;
}

static void
code_text(char *out, int code, int ndim, const char *letters)
{
    int base = (int)strlen(letters);
    for (int m = 0; m < ndim; m++, code /= base)
        out[m] = letters[code % base];
    out[ndim] = '\0';
}

typedef void (*law)(const dt_mesh *mesh, const dt_layout *from, const dt_layout *to);

/* Calls a law for all pairs of layouts made of these letters. */
static void
for_all_pairs(const char *letters, law check)
{
    static const int64_t SHAPES[][2] = {{5, 4}, {3, 1}, {8, 6}, {0, 2}};
    static const int64_t MESHES[][4] = {{1, 3, 1, 1}, {2, 2, 2, 1}, {2, 3, 2, 1},
                                        {2, 2, 4, 1}, {2, 4, 2, 1}, {3, 2, 2, 2}};
    for (size_t k = 0; k < sizeof MESHES / sizeof *MESHES; k++) {
        const int64_t *row = MESHES[k];
        int ndim = (int)row[0], codes = 1;
        const dt_mesh *mesh = mesh_of(ndim, row[1], row[2], row[3], NULL);
        for (int m = 0; m < ndim; m++)
            codes *= (int)strlen(letters);
        for (size_t s = 0; s < sizeof SHAPES / sizeof *SHAPES; s++)
            for (int a = 0; a < codes; a++)
                for (int b = 0; b < codes; b++) {
                    char x[8], y[8];
                    code_text(x, a, ndim, letters);
                    code_text(y, b, ndim, letters);
                    const dt_layout *from =
                        layout_of(mesh, x, SHAPES[s][0], SHAPES[s][1]);
                    const dt_layout *to =
                        layout_of(mesh, y, SHAPES[s][0], SHAPES[s][1]);
                    check(mesh, from, to);
                    dt_layout_release(context, from);
                    dt_layout_release(context, to);
                }
        dt_mesh_release(context, mesh);
    }
}

static void
check_pieces(const dt_mesh *mesh, const dt_layout *from, const dt_layout *to)
{
    dt_exchange x = {.from = from, .to = to};
    int64_t traffic[8][8] = {{0}};
    for (int64_t rank = 0; rank < mesh->size; rank++) {
        dt_pieces sent, received;
        CHECK(dt_pieces_sent(&sent, &x, rank, NULL) == DT_OK);
        CHECK(dt_pieces_received(&received, &x, rank, NULL) == DT_OK);
        int64_t messages, elements, total = 0;
        dt_exchange_count(&messages, &elements, &x, rank);
        for (int64_t k = 0; k < sent.count; k++) {
            int64_t to_rank = sent.pieces[k].rank;
            CHECK(dt_exchange_between(&x, rank, to_rank) == sent.pieces[k].elements);
            traffic[rank][to_rank] += sent.pieces[k].elements;
            total += sent.pieces[k].elements;
        }
        CHECK(messages == sent.count && elements == total);
        CHECK(sent.own.elements == received.own.elements);
        CHECK(sent.own.elements == dt_exchange_kept(&x, rank));
        int64_t coordinate[DT_MESH_MAX_NDIM], got = received.own.elements;
        dt_mesh_coordinate(coordinate, mesh, rank);
        for (int64_t k = 0; k < received.count; k++) {
            traffic[received.pieces[k].rank][rank] -= received.pieces[k].elements;
            got += received.pieces[k].elements;
        }
        /* Nothing comes twice, and nothing that is there already: the lower bound. */
        CHECK(got == dt_layout_local_bytes(to, coordinate) / 4);
        dt_pieces_free(&sent);
        dt_pieces_free(&received);
    }
    for (int a = 0; a < 8; a++)
        for (int b = 0; b < 8; b++)
            CHECK(traffic[a][b] == 0);
}

/* Whether a piece that is received lies where its sender says that it does. */
static bool
lies_alike(const dt_piece *sent, const dt_piece *received)
{
    for (int d = 0; d < 2; d++) {
        if (sent->counts[d] != received->counts[d])
            return false;
        for (int64_t i = 0; i < sent->counts[d]; i++) {
            const dt_segment *a = &sent->segments[d][i], *b = &received->segments[d][i];
            if (a->size != b->size || a->offset != b->theirs || a->theirs != b->offset)
                return false;
        }
    }
    return true;
}

static void
check_both_sides(const dt_mesh *mesh, const dt_layout *from, const dt_layout *to)
{
    dt_exchange x = {.from = from, .to = to};
    dt_pieces sent[8], received[8];
    for (int64_t rank = 0; rank < mesh->size; rank++) {
        CHECK(dt_pieces_sent(&sent[rank], &x, rank, NULL) == DT_OK);
        CHECK(dt_pieces_received(&received[rank], &x, rank, NULL) == DT_OK);
    }
    for (int64_t rank = 0; rank < mesh->size; rank++)
        for (int64_t k = 0; k < sent[rank].count; k++) {
            const dt_piece *piece = &sent[rank].pieces[k];
            const dt_pieces *there = &received[piece->rank];
            int64_t found = 0;
            while (found < there->count && there->pieces[found].rank != rank)
                found++;
            CHECK(found < there->count && lies_alike(piece, &there->pieces[found]));
        }
    for (int64_t rank = 0; rank < mesh->size; rank++) {
        dt_pieces_free(&sent[rank]);
        dt_pieces_free(&received[rank]);
    }
}

static void
a_piece_says_where_it_lies_on_both_sides(void)
{
    for_all_pairs("R01", check_both_sides);
}

static void
a_step_costs_what_messages_along_its_mesh_dims_do(void)
{
    const char *const FROM[] = {"0R", "R0"};
    const dt_mesh *mesh = mesh_of(2, 2, 4, 1, NULL);
    dt_cost cost = DT_COST_DEFAULT, dear;
    CHECK(dt_cost_parse(&dear, "rows.latency=1e-4,rows.bandwidth=1e9", NULL) == DT_OK);
    for (int k = 0; k < 2; k++) {
        const dt_layout *from = layout_of(mesh, FROM[k], 64, 64);
        const dt_layout *to = layout_of(mesh, "RR", 64, 64);
        const dt_plan *plan = plan_of(from, to);
        const dt_step *step = &plan->steps[0];
        bool along_rows = k == 0;
        CHECK(plan->step_count == 1);
        CHECK(dt_step_seconds(step, &cost) == plan->seconds);
        CHECK(dt_step_link(step, &dear).latency == (along_rows ? 1e-4 : 1e-6));
        CHECK(dt_step_link(step, &dear).bandwidth == (along_rows ? 1e9 : 1e10));
        CHECK((dt_step_seconds(step, &dear) > plan->seconds) == along_rows);
        dt_plan_release(plans, plan);
        dt_layout_release(context, from);
        dt_layout_release(context, to);
    }
    CHECK(dt_cost_link(&dear, mesh, 3).latency == 1e-4); /* along both: the dearest */
    dt_mesh_release(context, mesh);
}

static void
many_ranks_halve_a_sum_and_double_it(void)
{
    const dt_mesh *mesh = mesh_of(1, 1024, 1, 1, NULL);
    const dt_layout *from = layout_of(mesh, "P", 5000, 64);
    const dt_layout *to = layout_of(mesh, "R", 5000, 64);
    const dt_plan *plan = plan_of(from, to);
    CHECK(plan->step_count == 2 && plan->by_messages > plan->seconds);
    for (int k = 0; k < plan->step_count; k++) {
        const dt_step *step = &plan->steps[k];
        int64_t sent = 0, received = 0;
        CHECK(dt_tree_pays(step));
        for (int64_t rank = 0; rank < mesh->size; rank++) {
            dt_traffic t;
            dt_tree_traffic(&t, step, rank);
            CHECK(t.messages <= 10);
            sent += t.bytes_sent;
            received += t.bytes_received;
        }
        CHECK(sent == received && sent == 1023 * 5000 * 64 * 4);
    }
    dt_plan_release(plans, plan);
    dt_layout_release(context, from);
    dt_layout_release(context, to);
    dt_mesh_release(context, mesh);
}

static void
mesh_dims_of_powers_of_two_join_those_before_them(void)
{
    static const struct {
        int64_t shape[3], lengths[3];
        int ndim;
    } ROWS[] = {{{2, 3, 2}, {2, 6}, 2},
                {{2, 2, 2}, {8}, 1},
                {{4, 3, 3}, {4, 3, 3}, 3},
                {{3, 4, 2}, {24}, 1}};
    for (int k = 0; k < 4; k++) {
        int64_t lengths[DT_MESH_MAX_NDIM];
        const int64_t *shape = ROWS[k].shape;
        const dt_mesh *mesh = mesh_of(3, shape[0], shape[1], shape[2], NULL);
        const dt_layout *layout = layout_of(mesh, "RRR", 1, 1);
        dt_step step = {.to = layout, .mesh_dim_count = 3, .mesh_dims = {0, 1, 2}};
        int ndim = dt_step_grid(lengths, &step);
        CHECK(ndim == ROWS[k].ndim);
        for (int d = 0; d < ndim; d++)
            CHECK(lengths[d] == ROWS[k].lengths[d]);
        dt_layout_release(context, layout);
        dt_mesh_release(context, mesh);
    }
}

static void
plans_of_other_costs_are_other_plans(void)
{
    const dt_mesh *mesh = mesh_of(2, 2, 4, 1, NULL);
    const dt_layout *from = layout_of(mesh, "PP", 64, 64);
    const dt_layout *to = layout_of(mesh, "RR", 64, 64);
    const dt_plan *usual = plan_of(from, to), *other = NULL, *again = NULL;
    dt_cost cost;
    CHECK(dt_cost_parse(&cost, "latency=1e-3", NULL) == DT_OK);
    CHECK(dt_plans_find(&other, plans, from, to, &cost, 0, NULL) == DT_OK);
    CHECK(dt_plans_find(&again, plans, from, to, &cost, 0, NULL) == DT_OK);
    CHECK(other != usual && other == again && other->seconds > usual->seconds);
    dt_plan_release(plans, usual);
    dt_plan_release(plans, other);
    dt_plan_release(plans, again);
    dt_layout_release(context, from);
    dt_layout_release(context, to);
    dt_mesh_release(context, mesh);
}

static void
an_exchange_moves_each_missing_element_once(void)
{
    for_all_pairs("R01", check_pieces);
}

static void
check_steps(const dt_mesh *mesh, const dt_layout *from, const dt_layout *to)
{
    const dt_plan *plan = plan_of(from, to);
    const dt_layout *at = from;
    for (int k = 0; k < plan->step_count; k++) {
        const dt_step *step = &plan->steps[k];
        CHECK(step->from == at);
        at = step->to;
        int64_t sent = 0, received = 0, messages = 0;
        for (int64_t rank = 0; rank < mesh->size; rank++) {
            dt_traffic t;
            dt_step_traffic(&t, step, rank);
            sent += t.bytes_sent;
            received += t.bytes_received;
            messages += t.messages;
            CHECK(t.bytes_sent >= 0 && t.bytes_received >= 0 && t.messages >= 0);
            CHECK((t.bytes_sent > 0) == (t.messages > 0));
        }
        CHECK(sent == received);
        CHECK(step->kind != DT_STEP_LOCAL || messages == 0);
    }
    CHECK(at == to || plan->step_count == 0 || dt_layout_nested(at, to));
    dt_plan_release(plans, plan);
}

static void
what_is_sent_is_received(void)
{
    for_all_pairs("R0P", check_steps);
    for_all_pairs("1MP", check_steps);
}

/* torch changes one mesh dimension at a time, by one collective each unless it is a
 * local slice; a cut that is not the last of its tensor dimension is gathered first. */
static int
torch_collectives(const dt_layout *from, const dt_layout *to)
{
    int count = 0;
    for (int m = 0; m < to->mesh->ndim; m++) {
        dt_placement a = from->placements[m], b = to->placements[m];
        if (dt_placement_equal(a, b) || a.kind == DT_REPLICATE)
            continue;
        count++;
    }
    return count;
}

static void
check_count(const dt_mesh *mesh, const dt_layout *from, const dt_layout *to)
{
    (void)mesh;
    const dt_plan *plan = plan_of(from, to);
    int count = 0;
    bool reorders = false;
    for (int k = 0; k < plan->step_count; k++) {
        count += plan->steps[k].kind != DT_STEP_LOCAL;
        reorders = reorders || plan->steps[k].kind == DT_STEP_EXCHANGE ||
                   plan->steps[k].kind == DT_STEP_ALL_TO_ALL;
    }
    /* Where an order changes torch needs one gather more, and we one exchange. */
    CHECK(count <= torch_collectives(from, to) + reorders);
    dt_plan_release(plans, plan);
}

static void
no_plan_has_more_collectives_than_torch(void)
{
    for_all_pairs("R0P", check_count);
    for_all_pairs("R01", check_count);
    const dt_mesh *mesh = mesh_of(3, 2, 2, 2, NULL);
    const dt_layout *from = layout_of(mesh, "000", 64, 64);
    const dt_layout *to = layout_of(mesh, "111", 64, 64);
    const dt_plan *plan = plan_of(from, to);
    CHECK(plan->step_count == 1 && plan->steps[0].kind == DT_STEP_ALL_TO_ALL);
    dt_plan_release(plans, plan);
    dt_layout_release(context, from);
    dt_layout_release(context, to);
    dt_mesh_release(context, mesh);
}

static void
a_reduction_that_does_not_commute_waits_for_those_on_its_left(void)
{
    const dt_mesh *mesh = mesh_of(2, 2, 2, 1, NULL);
    const dt_layout *from = layout_of(mesh, "PM", 8, 8);
    const dt_layout *to = layout_of(mesh, "PR", 8, 8);
    const dt_plan *plan = plan_of(from, to);
    CHECK(plan->step_count == 3);
    CHECK(plan->steps[0].op == DT_SUM && plan->steps[0].mesh_dims[0] == 0);
    CHECK(plan->steps[1].op == DT_MAX && plan->steps[1].mesh_dims[0] == 1);
    CHECK(plan->steps[2].kind == DT_STEP_LOCAL);
    dt_plan_release(plans, plan);
    dt_layout_release(context, from);
    dt_layout_release(context, to);
    dt_mesh_release(context, mesh);
}

static void
plans_are_kept_and_bounded(void)
{
    const dt_mesh *mesh = mesh_of(1, 3, 1, 1, NULL);
    const dt_layout *to = NULL;
    dt_plans_info before = dt_plans_count(plans);
    for (int64_t rows = 1; rows <= 5000; rows++) {
        const dt_layout *from = layout_of(mesh, "0", rows, 2);
        to = layout_of(mesh, "R", rows, 2);
        const dt_plan *plan = plan_of(from, to), *again = plan_of(from, to);
        CHECK(plan == again);
        dt_plan_release(plans, plan);
        dt_plan_release(plans, again);
        dt_layout_release(context, from);
        dt_layout_release(context, to);
    }
    dt_plans_info after = dt_plans_count(plans);
    CHECK(after.hits - before.hits == 5000 && after.misses - before.misses == 5000);
    CHECK(after.plans <= 4096);
    CHECK(dt_context_count(context).layouts <= 2 * 4096);
    dt_mesh_release(context, mesh);
}

static void
scratch_can_be_bounded(void)
{
    const dt_mesh *mesh = mesh_of(2, 4, 4, 1, NULL);
    const dt_layout *from = layout_of(mesh, "P0", 64, 64);
    const dt_layout *to = layout_of(mesh, "01", 64, 64);
    dt_cost cost = DT_COST_DEFAULT;
    const dt_plan *plan = NULL;
    dt_error err = {DT_OK, ""};
    CHECK(dt_plans_find(&plan, plans, from, to, &cost, 16, &err) == DT_VALUE);
    CHECK(strstr(err.message, "max_bytes=16") != NULL);
    CHECK(dt_plans_find(&plan, plans, from, to, &cost, 1 << 20, &err) == DT_OK);
    dt_plan_release(plans, plan);
    dt_layout_release(context, from);
    dt_layout_release(context, to);
    dt_mesh_release(context, mesh);
}

int
main(void)
{
    context = dt_context_make();
    plans = dt_plans_make(context);
    const check_test tests[] = {
        TEST(an_exchange_moves_each_missing_element_once),
        TEST(a_piece_says_where_it_lies_on_both_sides),
        TEST(a_step_costs_what_messages_along_its_mesh_dims_do),
        TEST(many_ranks_halve_a_sum_and_double_it),
        TEST(mesh_dims_of_powers_of_two_join_those_before_them),
        TEST(plans_of_other_costs_are_other_plans),
        TEST(what_is_sent_is_received),
        TEST(no_plan_has_more_collectives_than_torch),
        TEST(a_reduction_that_does_not_commute_waits_for_those_on_its_left),
        TEST(plans_are_kept_and_bounded),
        TEST(scratch_can_be_bounded),
    };
    int failed = check_run(tests, sizeof tests / sizeof *tests);
    dt_plans_free(plans);
    dt_context_free(context);
    return failed;
}
