#include "question.h"

static const setting MATMUL = {
    "mk,kn->mn", "each", DT_SUM, 2, {SHAPE(8, 12), SHAPE(12, 8)}, F32, F32};
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
static const setting UNEVEN = {"(ab)c->abc; a=3", "any", DT_SUM, 1,
                               {SHAPE(12, 5)},    F32,   F32};
static const setting WINDOW = {"ab->a[1:3:2]b", "any", DT_SUM, 1,
                               {SHAPE(8, 12)},  F32,   F32};
static const setting REGROUP = {"(ab)c,b->a(cb),ac",     "each", DT_SUM, 2,
                                {SHAPE(8, 6), SHAPE(2)}, F32,    F32};
static const setting EMPTY = {
    "mk,kn->mn", "each", DT_SUM, 2, {SHAPE(4, 0), SHAPE(0, 3)}, F32, F32};
static const setting TINY = {"mk,kn->mn", "each", DT_SUM, 2, {SHAPE(1, 3), SHAPE(3, 1)},
                             F32,         F32};
static const setting LARGE = {
    "mk,kn->mn", "each", DT_SUM, 2, {SHAPE(300, 2000), SHAPE(2000, 77)}, F32, F32};
static const setting MAXIMUM = {"...,...->...",
                                "increasing;max,max->max",
                                DT_MAX,
                                2,
                                {SHAPE(8, 6), SHAPE(8, 6)},
                                F32,
                                F32};
static const setting CONCATENATE = {
    "*b,*b->20b", "any", DT_NO_REDUCE, 2, {SHAPE(8, 6), SHAPE(12, 6)}, F32, F32};
static const setting COUNT_INT = {
    "...,...->...", "all", DT_SUM, 2, {SHAPE(8, 6), SHAPE(8, 6)}, I64, F32};

/* --- laws --- */

static void
code_text(char *out, int64_t code, int ndim, const char *letters)
{
    int base = (int)strlen(letters);
    for (int m = 0; m < ndim; m++, code /= base)
        out[m] = letters[code % base];
    out[ndim] = '\0';
}

static void
check_all_placements(const setting *set, const dt_mesh *mesh, const char *letters,
                     int64_t step)
{
    int64_t codes = 1;
    for (int m = 0; m < mesh->ndim; m++)
        codes *= (int64_t)strlen(letters);
    question q;
    ask(&q, set, mesh);
    int64_t pairs = set->count > 1 ? codes * codes : codes;
    for (int64_t code = 0; code < pairs; code += step) {
        char text[DT_MESH_MAX_NDIM];
        code_text(text, code % codes, mesh->ndim, letters);
        if (set->shapes[0].ndim == 1 && strchr(text, '1') != NULL)
            continue;
        place(&q, 0, text);
        code_text(text, code / codes, mesh->ndim, letters);
        if (set->count > 1 && set->shapes[1].ndim == 1 && strchr(text, '1') != NULL)
            continue;
        if (set->count > 1)
            place(&q, 1, text);
        check_equal(&q);
    }
    forget(&q);
}

static void
the_search_equals_the_full_product(void)
{
    static const setting *const SETTINGS[] = {
        &MATMUL, &ADD,     &ADD_ROW,     &SUM,      &SOFTMAX, &SPLIT,
        &MERGE,  &UNEVEN,  &WINDOW,      &REGROUP,  &EMPTY,   &TINY,
        &LARGE,  &MAXIMUM, &CONCATENATE, &COUNT_INT};
    const dt_mesh *line = mesh_of(1, 2, 1, 1), *longer = mesh_of(1, 3, 1, 1);
    const dt_mesh *square = mesh_of(2, 2, 2, 1), *oblong = mesh_of(2, 3, 2, 1);
    const dt_mesh *flat = mesh_of(3, 2, 1, 2);
    for (size_t k = 0; k < sizeof SETTINGS / sizeof *SETTINGS; k++) {
        check_all_placements(SETTINGS[k], line, "R01PM", 1);
        check_all_placements(SETTINGS[k], longer, "R01PM", 1);
        check_all_placements(SETTINGS[k], square, "R01PM", 1);
        check_all_placements(SETTINGS[k], oblong, "R01PM", 3);
        check_all_placements(SETTINGS[k], flat, "R01PM", 37);
    }
    dt_mesh_release(context, line);
    dt_mesh_release(context, longer);
    dt_mesh_release(context, square);
    dt_mesh_release(context, oblong);
    dt_mesh_release(context, flat);
}

/* --- random questions --- */

static const char *const RULES[][2] = {
    {"ab,bc->ac", "each"},
    {"ab,ab->ab", "all;increasing"},
    {"ab,cb->a(cb),ba", "each"},
    {"ab,b->(ab),b", "all;0"},
    {"(ab)c,cb->abc; a=3", "any"},
    {"(ab)(cd)->(ac)b,d; a=2,d=3", "any;increasing"},
    {"ab,ab->(ba)", "any;decreasing;floating"},
    {"(ab3),b->ba", "0;1"},
    {"abc,Ab->a[1:3]b[0:2:2]cA,c", "avg,R->avg,avg;max,max->min,max"},
    {"...,...->...", "all;any"},
    {"...a,ab->...b", "each"},
    {"a,b->ab,dab;d=4", "each;all"},
    {"*a,*a->9a", "any"},
    {"Ab->b", "all"},
};

static const dt_dtype DTYPES[] = {DT_FLOAT32, DT_INT64,     DT_FLOAT64,
                                  DT_BOOL,    DT_COMPLEX64, DT_INT8};

static int64_t
letter_length(uint64_t *random)
{
    static const int64_t LENGTHS[] = {0, 1, 1, 2, 3, 4, 5, 6, 8, 12, 64, 300};
    return LENGTHS[check_below(random, 12)];
}

static dt_status
make_random_layout(dt_layout **out, uint64_t *random, const dt_mesh *mesh,
                   dt_shape shape, dt_dtype dtype)
{
    static const char LETTERS[] = "RRR0011122PPAMX";
    dt_placement placements[DT_MESH_MAX_NDIM];
    dt_order orders[NDIM];
    dt_cuts cuts[NDIM];
    int64_t points[NDIM][64];
    int order_count = 0, cuts_count = 0;
    bool strided = check_below(random, 8) == 0;
    for (int m = 0; m < mesh->ndim; m++) {
        placements[m] = placement_of(LETTERS[check_below(random, 15)]);
        if (placements[m].kind == DT_SHARD && strided)
            placements[m].split = 1 + check_below(random, 3);
    }
    for (int d = 0; d < shape.ndim && d < NDIM && !strided; d++) {
        dt_order *order = &orders[order_count];
        *order = (dt_order){.dim = d};
        int64_t parts = 1;
        for (int m = 0; m < mesh->ndim; m++)
            if (placements[m].kind == DT_SHARD && placements[m].dim == d) {
                parts *= mesh->shape[m];
                int at = (int)check_below(random, order->count + 1);
                memmove(order->mesh_dims + at + 1, order->mesh_dims + at,
                        sizeof(int) * (size_t)(order->count++ - at));
                order->mesh_dims[at] = m;
            }
        order_count += order->count > 0 && check_below(random, 3) == 0;
        if (order->count == 0 || check_below(random, 4) > 0)
            continue;
        for (int64_t p = 0; p < parts; p++)
            points[d][p] =
                p == 0 ? 0
                       : points[d][p - 1] +
                             check_below(random, shape.shape[d] + 1 - points[d][p - 1]);
        points[d][parts] = shape.shape[d];
        cuts[cuts_count++] = (dt_cuts){d, parts + 1, points[d]};
    }
    return dt_layout_make(out, mesh, placements, shape.ndim, shape.shape, dtype, orders,
                          order_count, cuts, cuts_count, NULL);
}

static const dt_layout *
random_layout(uint64_t *random, const dt_mesh *mesh, dt_shape shape, dt_dtype dtype)
{
    dt_layout *made = NULL;
    const dt_layout *out = NULL;
    for (int k = 0; k < 50; k++)
        if (make_random_layout(&made, random, mesh, shape, dtype) == DT_OK)
            break;
    if (made == NULL)
        return layout_with(mesh, "RRR", shape, dtype, NULL, NULL);
    CHECK(dt_context_layout(&out, context, made, NULL) == DT_OK);
    return out;
}

/* Shapes that fit, by chance. */
static bool
random_shapes(setting *set, int64_t lengths[OPERANDS][NDIM], uint64_t *random)
{
    dt_rule *rule = NULL;
    CHECK(dt_rule_parse(&rule, set->text, set->partial, set->reduce, NULL) == DT_OK);
    set->count = dt_rule_operands(rule);
    int64_t few[] = {letter_length(random), letter_length(random), 6};
    bool fits = false;
    for (int round = 0; round < 200 && !fits; round++) {
        for (int k = 0; k < set->count; k++) {
            set->shapes[k] = (dt_shape){(int)check_below(random, 4), lengths[k]};
            for (int d = 0; d < set->shapes[k].ndim; d++)
                lengths[k][d] = few[check_below(random, 3)];
        }
        dt_binding *binding = NULL;
        fits = dt_rule_bind(&binding, rule, set->shapes, set->count, NULL) == DT_OK;
        dt_binding_free(binding);
    }
    dt_rule_free(rule);
    return fits;
}

static void
check_one(uint64_t *random, const dt_mesh *mesh, dt_cost cost)
{
    int64_t rule = check_below(random, sizeof RULES / sizeof *RULES);
    setting set = {.text = RULES[rule][0],
                   .partial = check_below(random, 4) > 0 ? RULES[rule][1] : NULL,
                   .reduce = (int)check_below(random, DT_REDUCE_OP_COUNT + 3)};
    if (set.reduce >= DT_REDUCE_OP_COUNT)
        set.reduce = set.reduce == DT_REDUCE_OP_COUNT ? DT_NO_REDUCE : DT_SUM;
    int64_t lengths[OPERANDS][NDIM];
    if (!random_shapes(&set, lengths, random))
        return;
    for (int k = 0; k < OPERANDS; k++) {
        int64_t kind = check_below(random, 12);
        set.operands[k] = DTYPES[kind < 6 ? kind : 0];
        set.results[k] = check_below(random, 6) > 0 ? set.operands[k] : DT_FLOAT64;
    }
    question q;
    ask(&q, &set, mesh);
    q.cost = cost;
    const dt_layout *wanted[OPERANDS] = {NULL};
    for (int k = 0; k < set.count; k++)
        q.operands[k] = random_layout(random, mesh, set.shapes[k], set.operands[k]);
    for (int r = 0; r < dt_rule_results(q.rule); r++)
        if (check_below(random, 5) == 0)
            wanted[r] = random_layout(random, mesh, dt_binding_result(q.binding, r),
                                      set.results[r]);
    q.wanted = wanted;
    check_equal(&q);
    for (int r = 0; r < OPERANDS; r++)
        if (wanted[r] != NULL)
            dt_layout_release(context, wanted[r]);
    forget(&q);
}

/* A context keeps plans, and so has one cost. */
static void
check_with(dt_cost cost, uint64_t seed)
{
    static const int64_t MESHES[][4] = {{1, 2, 1, 1}, {1, 5, 1, 1}, {2, 2, 2, 1},
                                        {2, 2, 3, 1}, {2, 1, 4, 1}, {3, 2, 1, 2},
                                        {3, 2, 2, 2}, {2, 4, 2, 1}};
    dt_plans_free(plans);
    dt_context_free(context);
    context = dt_context_make();
    plans = dt_plans_make(context);
    for (int round = 0; round < 1000; round++) {
        const int64_t *row = MESHES[check_below(&seed, 8)];
        const dt_mesh *mesh = mesh_of((int)row[0], row[1], row[2], row[3]);
        check_one(&seed, mesh, cost);
        dt_mesh_release(context, mesh);
    }
}

static void
any_question_has_the_answer_of_the_full_product(void)
{
    check_with(COST, 1);
    check_with((dt_cost)DT_COST_EVEN(0, 1e10, 1e9), 2);
    check_with((dt_cost)DT_COST_EVEN(1e-6, 1e8, 1e12), 3);
    check_with((dt_cost)DT_COST_EVEN(1e-9, 1e9, 1e10), 4);
    dt_cost named;
    CHECK(dt_cost_parse(&named, "m0.latency=3e-5,m0.bandwidth=1e9", NULL) == DT_OK);
    check_with(named, 5);
}

DT_MAIN(TEST(begin), TEST(the_search_equals_the_full_product),
        TEST(any_question_has_the_answer_of_the_full_product),
        TEST(nothing_is_left_over))
