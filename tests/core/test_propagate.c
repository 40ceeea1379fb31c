#include "question.h"

static const setting MATMUL = {
    "mk,kn->mn", "each", DT_SUM, 2, {SHAPE(8, 12), SHAPE(12, 8)}, F32, F32};
static const setting WHOLE_INNER = {
    "mK,Kn->mn", "each", DT_SUM, 2, {SHAPE(8, 12), SHAPE(12, 8)}, F32, F32};
static const setting ADD = {
    "...,...->...", "all", DT_SUM, 2, {SHAPE(8, 12), SHAPE(8, 12)}, F32, F32};
static const setting ADD_ROW = {
    "...,...->...", "all", DT_SUM, 2, {SHAPE(8, 12), SHAPE(1, 12)}, F32, F32};
static const setting SUM = {"ab->b", "all", DT_SUM, 1, {SHAPE(8, 12)}, F32, F32};
static const setting SOFTMAX = {"aB->aB",       NULL, DT_NO_REDUCE, 1,
                                {SHAPE(8, 12)}, F32,  F32};
static const setting SPLIT = {"(ab)c->abc; a=4", "any", DT_SUM, 1,
                              {SHAPE(12, 5)},    F32,   F32};
static const setting MERGE = {"abc->(ab)c",     "any", DT_SUM, 1,
                              {SHAPE(4, 6, 5)}, F32,   F32};
static const setting WINDOW = {"ab->a[1:3:2]b", "any", DT_SUM, 1,
                               {SHAPE(8, 12)},  F32,   F32};
static const setting MAXIMUM = {"...,...->...",
                                "increasing;max,max->max",
                                DT_MAX,
                                2,
                                {SHAPE(8, 6), SHAPE(8, 6)},
                                F32,
                                F32};

/* What operands placed so become: "[S(0)] [R] -> [S(0)]". */
static void
gives(const setting *set, const dt_mesh *mesh, const char *a, const char *b,
      const char *want)
{
    question q;
    ask(&q, set, mesh);
    place(&q, 0, a);
    if (set->count > 1)
        place(&q, 1, b);
    dt_choice choice = choose(&q, false);
    char text[512];
    print_choice(text, sizeof text, &choice);
    if (strcmp(text, want) != 0)
        printf("%s of %s %s: %s, not %s\n", set->text, a, b, text, want);
    CHECK(strcmp(text, want) == 0);
    check_equal(&q);
    dt_choice_clear(&choice, context);
    forget(&q);
}

/* --- examples --- */

static void
rows_of_one_mesh_dimension_are_found(void)
{
    const dt_mesh *mesh = mesh_of(1, 2, 1, 1);
    gives(&MATMUL, mesh, "R", "R", "[R] [R] -> [R]");
    gives(&MATMUL, mesh, "0", "R", "[S(0)] [R] -> [S(0)]");
    gives(&MATMUL, mesh, "R", "1", "[R] [S(1)] -> [S(1)]");
    gives(&MATMUL, mesh, "1", "0", "[S(1)] [S(0)] -> [P(sum)]");
    gives(&MATMUL, mesh, "R", "0", "[S(1)] [S(0)] -> [P(sum)]");
    gives(&MATMUL, mesh, "P", "R", "[P(sum)] [R] -> [P(sum)]");
    gives(&MATMUL, mesh, "R", "A", "[R] [P(avg)] -> [P(avg)]");
    gives(&ADD, mesh, "0", "R", "[S(0)] [S(0)] -> [S(0)]");
    gives(&ADD, mesh, "P", "P", "[P(sum)] [P(sum)] -> [P(sum)]");
    gives(&ADD, mesh, "P", "R", "[P(sum)] [P(sum)] -> [P(sum)]");
    gives(&ADD_ROW, mesh, "0", "R", "[S(0)] [R] -> [S(0)]");
    gives(&ADD_ROW, mesh, "1", "R", "[S(1)] [S(1)] -> [S(1)]");
    gives(&SUM, mesh, "0", "", "[S(0)] -> [P(sum)]");
    gives(&SUM, mesh, "1", "", "[S(1)] -> [S(0)]");
    gives(&SUM, mesh, "P", "", "[P(sum)] -> [P(sum)]");
    gives(&SOFTMAX, mesh, "0", "", "[S(0)] -> [S(0)]");
    gives(&SOFTMAX, mesh, "1", "", "[S(0)] -> [S(0)]");
    gives(&MAXIMUM, mesh, "M", "R", "[P(max)] [R] -> [P(max)]");
    gives(&MAXIMUM, mesh, "M", "M", "[P(max)] [P(max)] -> [P(max)]");
    gives(&MAXIMUM, mesh, "R", "N", "[R] [P(min)] -> [P(min)]");
    dt_mesh_release(context, mesh);
}

static void
groups_are_cut_along_one_word(void)
{
    const dt_mesh *mesh = mesh_of(1, 2, 1, 1), *square = mesh_of(2, 2, 2, 1);
    gives(&SPLIT, mesh, "0", "", "[S(0)] -> [S(0)]");
    gives(&MERGE, mesh, "0", "", "[S(0)] -> [S(0)]");
    gives(&MERGE, mesh, "1", "", "[S(1)] -> [_S(0, 4)]");
    gives(&MERGE, mesh, "2", "", "[S(2)] -> [S(1)]");
    gives(&MERGE, square, "00", "", "[S(0), S(0)] -> [S(0), S(0)]");
    gives(&MERGE, square, "12", "", "[S(1), S(2)] -> [_S(0, 4), S(1)]");
    dt_mesh_release(context, mesh);
    dt_mesh_release(context, square);
}

static void
a_window_inherits_the_boundaries_of_its_factor(void)
{
    const dt_mesh *mesh = mesh_of(1, 2, 1, 1);
    question q;
    ask(&q, &WINDOW, mesh);
    place(&q, 0, "0");
    dt_choice choice = choose(&q, false);
    CHECK(choice.moved == 0 && choice.seconds == 0);
    /* Elements 1, 3, 5; the boundary of 8 lies at 4. */
    CHECK(dt_layout_part_size(choice.results[0], 0, 0) == 2);
    CHECK(dt_layout_part_size(choice.results[0], 0, 1) == 1);
    dt_choice_clear(&choice, context);
    forget(&q);
    dt_mesh_release(context, mesh);
}

static int
collectives(const question *q, const dt_choice *choice)
{
    int count = 0;
    for (int k = 0; k < choice->operand_count; k++) {
        const dt_plan *plan = NULL;
        CHECK(dt_plans_find(&plan, plans, q->operands[k], choice->operands[k], &COST, 0,
                            NULL) == DT_OK);
        for (int i = 0; i < plan->step_count; i++)
            count += plan->steps[i].kind != DT_STEP_LOCAL;
        dt_plan_release(plans, plan);
    }
    return count;
}

/* A choice for one mesh dimension after the other that prefers to cut what is whole
 * moves both operands: torch's counter-example to greedy choices. */
static void
one_collective_is_enough_for_rows_by_columns_on_a_square(void)
{
    const dt_mesh *mesh = mesh_of(2, 2, 2, 1);
    const setting *const SETTINGS[] = {&MATMUL, &ADD, &WHOLE_INNER};
    for (int k = 0; k < 3; k++) {
        question q;
        ask(&q, SETTINGS[k], mesh);
        place(&q, 0, "0R");
        place(&q, 1, "R0");
        dt_choice choice = choose(&q, false);
        CHECK(collectives(&q, &choice) == (k > 0));
        check_equal(&q);
        dt_choice_clear(&choice, context);
        forget(&q);
    }
    dt_mesh_release(context, mesh);
}

static void
kinds_of_partial_are_not_mixed(void)
{
    const dt_mesh *mesh = mesh_of(2, 2, 2, 1);
    gives(&ADD, mesh, "PA", "PA",
          "[P(sum), P(avg)] [P(sum), P(avg)] -> "
          "[P(sum), P(avg)]");
    gives(&WINDOW, mesh, "PM", "", "[P(sum), P(max)] -> [P(sum), P(max)]");
    gives(&WINDOW, mesh, "XX", "",
          "[P(product), P(product)] -> "
          "[P(product), P(product)]");
    gives(&SUM, mesh, "MP", "", "[S(0), P(sum)] -> [P(sum), P(sum)]");
    dt_mesh_release(context, mesh);
}

static void
orders_and_cuts_are_taken_over(void)
{
    const dt_mesh *mesh = mesh_of(2, 2, 2, 1);
    dt_order order = {.dim = 0, .count = 2, .mesh_dims = {1, 0}};
    int64_t points[] = {0, 1, 1, 7, 8};
    dt_cuts cuts = {.dim = 0, .count = 5, .cuts = points};
    question q;
    ask(&q, &ADD, mesh);
    q.operands[0] = layout_with(mesh, "00", ADD.shapes[0], DT_FLOAT32, &order, NULL);
    q.operands[1] = layout_with(mesh, "RR", ADD.shapes[1], DT_FLOAT32, NULL, NULL);
    dt_choice choice = choose(&q, false);
    CHECK(choice.operands[0] == q.operands[0] && choice.operands[1] == q.operands[0]);
    CHECK(choice.results[0] == q.operands[0] && choice.moved == 1);
    check_equal(&q);
    dt_choice_clear(&choice, context);
    dt_layout_release(context, q.operands[1]);
    q.operands[1] = layout_with(mesh, "00", ADD.shapes[1], DT_FLOAT32, &order, &cuts);
    choice = choose(&q, false);
    CHECK(choice.moved == 2 && choice.operands[0] == choice.operands[1] &&
          choice.results[0] == choice.operands[0]);
    CHECK(choice.results[0] == q.operands[0] || choice.results[0] == q.operands[1]);
    check_equal(&q);
    dt_choice_clear(&choice, context);
    forget(&q);
    dt_mesh_release(context, mesh);
}

static void
what_is_wanted_counts(void)
{
    const dt_mesh *mesh = mesh_of(1, 2, 1, 1);
    question q;
    ask(&q, &MATMUL, mesh);
    place(&q, 0, "R");
    place(&q, 1, "R");
    const dt_layout *wanted =
        layout_with(mesh, "1", (dt_shape)SHAPE(8, 8), DT_FLOAT32, NULL, NULL);
    q.wanted = &wanted;
    dt_choice choice = choose(&q, false);
    char text[512];
    print_choice(text, sizeof text, &choice);
    CHECK(strcmp(text, "[R] [R] -> [R]") == 0 ||
          strcmp(text, "[R] [S(1)] -> [S(1)]") == 0);
    check_equal(&q);
    dt_choice_clear(&choice, context);
    dt_layout_release(context, wanted);
    forget(&q);
    dt_mesh_release(context, mesh);
}

static const setting COLUMN = {
    "...,...->...", "all", DT_SUM, 2, {SHAPE(4096, 1), SHAPE(4096, 4096)}, F32, F32};

/* A copy of a part is no reason to compute with the whole on every rank. */
static void
what_is_whole_is_cut_for_free(void)
{
    static const struct {
        const char *column, *matrix, *answer;
    } CASES[] = {{"0R", "RR", "[S(0), R] [S(0), R] -> [S(0), R]"},
                 {"0R", "R1", "[S(0), R] [S(0), S(1)] -> [S(0), S(1)]"},
                 {"RR", "RR", "[R, R] [R, R] -> [R, R]"}};
    const dt_mesh *mesh = mesh_of(2, 2, 4, 1);
    for (size_t k = 0; k < sizeof CASES / sizeof CASES[0]; k++) {
        question q;
        ask(&q, &COLUMN, mesh);
        place(&q, 0, CASES[k].column);
        place(&q, 1, CASES[k].matrix);
        dt_choice choice = choose(&q, false);
        char text[512];
        print_choice(text, sizeof text, &choice);
        CHECK(strcmp(text, CASES[k].answer) == 0);
        check_equal(&q);
        dt_choice_clear(&choice, context);
        forget(&q);
    }
    dt_mesh_release(context, mesh);
}

enum { MANY = 1000 };

typedef struct {
    char text[MANY * 4 + 16];
    dt_shape shapes[MANY];
    int64_t lengths[MANY][2];
    const dt_layout *operands[MANY];
} many;

/* Arrays of up to 49 rows and 6 columns, some cut along these. */
static void
make_many(many *out, const dt_mesh *mesh)
{
    static const char *const PLACES[] = {"1R", "10", "RR"};
    char *at = out->text;
    int64_t total = 0;
    for (int k = 0; k < MANY; k++) {
        at += sprintf(at, "%s*b", k == 0 ? "" : ",");
        out->lengths[k][0] = k % 50;
        out->lengths[k][1] = 6;
        total += k % 50;
        out->shapes[k] = (dt_shape){2, out->lengths[k]};
        out->operands[k] =
            layout_with(mesh, PLACES[k % 3], out->shapes[k], DT_FLOAT32, NULL, NULL);
    }
    sprintf(at, "->%db", (int)total);
}

static void
a_thousand_arrays_are_joined(void)
{
    const dt_mesh *mesh = mesh_of(2, 2, 2, 1);
    many *set = malloc(sizeof *set);
    make_many(set, mesh);
    dt_rule *rule;
    dt_binding *binding;
    CHECK(dt_rule_parse(&rule, set->text, "any", DT_NO_REDUCE, NULL) == DT_OK);
    CHECK(dt_rule_bind(&binding, rule, set->shapes, MANY, NULL) == DT_OK);
    dt_dtype result = DT_FLOAT32;
    dt_choice choice, all;
    CHECK(dt_propagate(&choice, plans, rule, binding, set->operands, &result, NULL,
                       &COST, false, NULL) == DT_OK);
    CHECK(dt_propagate(&all, plans, rule, binding, set->operands, &result, NULL, &COST,
                       true, NULL) == DT_OK);
    CHECK(choice.seconds == all.seconds && choice.results[0] == all.results[0]);
    CHECK(choice.results[0]->placements[0].kind == DT_SHARD);
    dt_choice_clear(&choice, context);
    dt_choice_clear(&all, context);
    for (int k = 0; k < MANY; k++)
        dt_layout_release(context, set->operands[k]);
    dt_binding_free(binding);
    dt_rule_free(rule);
    free(set);
    dt_mesh_release(context, mesh);
}

DT_MAIN(TEST(begin), TEST(rows_of_one_mesh_dimension_are_found),
        TEST(groups_are_cut_along_one_word),
        TEST(a_window_inherits_the_boundaries_of_its_factor),
        TEST(one_collective_is_enough_for_rows_by_columns_on_a_square),
        TEST(kinds_of_partial_are_not_mixed), TEST(orders_and_cuts_are_taken_over),
        TEST(what_is_wanted_counts), TEST(what_is_whole_is_cut_for_free),
        TEST(a_thousand_arrays_are_joined), TEST(nothing_is_left_over))
