/* question.h: rules with shapes, asked for the layouts of operands placed so or so. */
#ifndef DT_TEST_QUESTION_H
#define DT_TEST_QUESTION_H

#include "core/rule/propagate.h"

#include "check.h"
#include "parts_law.h"

#include <stdlib.h>
#include <string.h>

enum { OPERANDS = 4, NDIM = 4 };

static dt_context *context;
static dt_plans *plans;

static inline const dt_mesh *
mesh_of(int ndim, int64_t a, int64_t b, int64_t c)
{
    dt_mesh *made;
    const dt_mesh *out = NULL;
    int64_t shape[] = {a, b, c};
    const char *const names[] = {"m0", "m1", "m2"};
    CHECK(dt_mesh_make(&made, ndim, shape, NULL, names, 0, NULL) == DT_OK);
    CHECK(dt_context_mesh(&out, context, made, NULL) == DT_OK);
    return out;
}

/* One letter for each mesh dimension. */
static inline dt_placement
placement_of(char letter)
{
    switch (letter) {
    case 'R':
        return DT_REPLICATED;
    case 'P':
        return DT_PENDING(DT_SUM);
    case 'A':
        return DT_PENDING(DT_AVG);
    case 'X':
        return DT_PENDING(DT_PRODUCT);
    case 'M':
        return DT_PENDING(DT_MAX);
    case 'N':
        return DT_PENDING(DT_MIN);
    default:
        return DT_SHARDED(letter - '0');
    }
}

static inline const dt_layout *
layout_with(const dt_mesh *mesh, const char *text, dt_shape shape, dt_dtype dtype,
            const dt_order *order, const dt_cuts *cuts)
{
    dt_placement placements[DT_MESH_MAX_NDIM];
    for (int m = 0; m < mesh->ndim; m++)
        placements[m] = placement_of(text[m]);
    dt_layout *made;
    const dt_layout *out = NULL;
    CHECK(dt_layout_make(&made, mesh, placements, shape.ndim, shape.shape, dtype, order,
                         order != NULL, cuts, cuts != NULL, NULL) == DT_OK);
    CHECK(dt_context_layout(&out, context, made, NULL) == DT_OK);
    return out;
}

/* A rule, the shapes of its operands, dtypes of everything. */
typedef struct {
    const char *text, *partial;
    int reduce;
    int count;
    dt_shape shapes[OPERANDS];
    dt_dtype operands[OPERANDS], results[OPERANDS];
} setting;

typedef struct {
    dt_rule *rule;
    dt_binding *binding;
    const setting *set;
    const dt_mesh *mesh;
    const dt_layout *operands[OPERANDS];
    const dt_layout *const *wanted;
    dt_cost cost;
} question;

static const dt_cost COST = DT_COST_EVEN(1e-6, 1e10, 1e10);

static inline void
ask(question *out, const setting *set, const dt_mesh *mesh)
{
    *out = (question){.set = set, .mesh = mesh, .cost = COST};
    dt_error err = {0};
    CHECK(dt_rule_parse(&out->rule, set->text, set->partial, set->reduce, &err) ==
          DT_OK);
    CHECK(dt_rule_bind(&out->binding, out->rule, set->shapes, set->count, &err) ==
          DT_OK);
    if (err.status != DT_OK)
        printf("%s\n", err.message);
}

static inline void
place(question *q, int k, const char *text)
{
    if (q->operands[k] != NULL)
        dt_layout_release(context, q->operands[k]);
    q->operands[k] =
        layout_with(q->mesh, text, q->set->shapes[k], q->set->operands[k], NULL, NULL);
}

static inline void
forget(question *q)
{
    for (int k = 0; k < q->set->count; k++)
        if (q->operands[k] != NULL)
            dt_layout_release(context, q->operands[k]);
    dt_binding_free(q->binding);
    dt_rule_free(q->rule);
}

static inline dt_choice
choose(const question *q, bool all)
{
    dt_choice out = {0};
    dt_error err = {0};
    dt_status status = dt_propagate(&out, plans, q->rule, q->binding, q->operands,
                                    q->set->results, q->wanted, &q->cost, all, &err);
    if (status != DT_OK)
        printf("%s: %s\n", q->set->text, err.message);
    CHECK(status == DT_OK);
    return out;
}

static inline void
print_choice(char *out, size_t size, const dt_choice *choice)
{
    size_t used = 0;
    for (int t = 0; t < choice->operand_count + choice->result_count; t++) {
        const char *sign = t == 0 ? "" : t == choice->operand_count ? " -> " : " ";
        used += (size_t)snprintf(out + used, size - used, "%s", sign);
        used += (size_t)dt_layout_print(out + used, size - used, choice->operands[t]);
    }
}

/* The search finds what the full product has, to the last bit. */
static inline void
check_equal(const question *q)
{
    dt_choice a = choose(q, false), b = choose(q, true);
    bool same = a.seconds == b.seconds && a.moved == b.moved;
    for (int t = 0; t < a.operand_count + a.result_count; t++)
        same = same && a.operands[t] == b.operands[t];
    CHECK(same);
    if (!same && check_failures < CHECK_PRINTED) {
        char x[512], y[512];
        print_choice(x, sizeof x, &a);
        print_choice(y, sizeof y, &b);
        printf("  %s\n  search: %s (%g, %d)\n  all:    %s (%g, %d)\n", q->set->text, x,
               a.seconds, a.moved, y, b.seconds, b.moved);
    }
    check_parts(q->binding, &a);
    dt_choice_clear(&a, context);
    dt_choice_clear(&b, context);
}

static inline void
begin(void)
{
    context = dt_context_make();
    plans = dt_plans_make(context);
}

/* Under sanitizers a leak shows here. */
static inline void
nothing_is_left_over(void)
{
    CHECK(dt_context_count(context).meshes >= 0);
    dt_plans_free(plans);
    dt_context_free(context);
}

#define SHAPE(...)                                                                     \
    {                                                                                  \
        .ndim = sizeof((int64_t[]){__VA_ARGS__}) / 8, .shape = (int64_t[])             \
        {                                                                              \
            __VA_ARGS__                                                                \
        }                                                                              \
    }
#define F32 {DT_FLOAT32, DT_FLOAT32, DT_FLOAT32, DT_FLOAT32}
#define I64 {DT_INT64, DT_INT64, DT_INT64, DT_INT64}

#endif
