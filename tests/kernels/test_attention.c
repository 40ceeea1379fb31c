#include "kernels/attention.h"
#include "kernels/level.h"

#include "check.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Attention as it is written in books, in double, for one head. */

typedef struct {
    int64_t queries, keys, width, depth;
    bool causal;
    int mask; /* 0: none, 1: flags, 2: added */
} shape;

enum { Q, K, V, GRAD, OUT, DQ, DK, DV, MASK, DMASK, COUNT };

static int64_t
size_of(const shape *s, int which)
{
    switch (which) {
    case Q:
    case DQ:
        return s->queries * s->width;
    case K:
    case DK:
        return s->keys * s->width;
    case V:
    case DV:
        return s->keys * s->depth;
    case MASK:
    case DMASK:
        return s->queries * s->keys;
    default:
        return s->queries * s->depth;
    }
}

static double
score_of(const shape *s, double *const *x, int64_t i, int64_t j)
{
    double sum = 0;
    for (int64_t k = 0; k < s->width; k++)
        sum += x[Q][i * s->width + k] * x[K][j * s->width + k];
    if ((s->causal && j > i) || (s->mask == 1 && x[MASK][i * s->keys + j] == 0))
        return -(double)INFINITY;
    return 0.5 * sum + (s->mask == 2 ? x[MASK][i * s->keys + j] : 0);
}

/* Probabilities of query i; returns the logarithm of the sum. */
static double
probabilities(const shape *s, double *const *x, int64_t i, double *p)
{
    double top = -(double)INFINITY, sum = 0;
    for (int64_t j = 0; j < s->keys; j++) {
        p[j] = score_of(s, x, i, j);
        top = fmax(top, p[j]);
    }
    for (int64_t j = 0; j < s->keys; j++)
        sum += p[j] = isinf(top) ? 0 : exp(p[j] - top);
    for (int64_t j = 0; j < s->keys; j++)
        p[j] = sum > 0 ? p[j] / sum : 0;
    return top + log(sum);
}

static void
reference(const shape *s, double **x, double *sums, const double *grad_sum)
{
    double *p = malloc(sizeof *p * (size_t)(s->keys + 1));
    double *dp = malloc(sizeof *dp * (size_t)(s->keys + 1));
    for (int64_t i = 0; i < s->queries; i++) {
        double delta = -grad_sum[i];
        sums[i] = probabilities(s, x, i, p);
        for (int64_t j = 0; j < s->keys; j++) {
            dp[j] = 0;
            for (int64_t k = 0; k < s->depth; k++) {
                double g = x[GRAD][i * s->depth + k], v = x[V][j * s->depth + k];
                x[OUT][i * s->depth + k] += p[j] * v;
                x[DV][j * s->depth + k] += p[j] * g;
                dp[j] += g * v;
            }
            delta += p[j] * dp[j];
        }
        for (int64_t j = 0; j < s->keys; j++) {
            double ds = p[j] * (dp[j] - delta);
            x[DMASK][i * s->keys + j] += ds;
            for (int64_t k = 0; k < s->width; k++) {
                x[DQ][i * s->width + k] += 0.5 * ds * x[K][j * s->width + k];
                x[DK][j * s->width + k] += 0.5 * ds * x[Q][i * s->width + k];
            }
        }
    }
    free(p);
    free(dp);
}

/* --- the kernel on the same numbers --- */

static void
put(void *array, dt_dtype dtype, int64_t i, double value)
{
    if (dtype == DT_FLOAT64)
        ((double *)array)[i] = value;
    else
        ((float *)array)[i] = (float)value;
}

static double
get(const void *array, dt_dtype dtype, int64_t i)
{
    return dtype == DT_FLOAT64 ? ((const double *)array)[i]
                               : (double)((const float *)array)[i];
}

static bool
close_to(double a, double b, dt_dtype dtype)
{
    double bound = dtype == DT_FLOAT64 ? 1e-12 : 2e-5;
    return a == b || fabs(a - b) <= bound * (1 + fabs(b));
}

static dt_matrix
rows(void *data, int64_t columns)
{
    return (dt_matrix){data, columns, 1};
}

/* The arrays of one head, twice: in double for the formula, and for the kernel. */
typedef struct {
    shape s;
    dt_dtype dtype;
    double *x[COUNT], *sums, *grad_sum;
    void *y[COUNT], *logsumexp, *given;
    uint8_t *flags;
} scene;

static void
fill(scene *f, int which, uint64_t *state)
{
    for (int64_t i = 0; i < size_of(&f->s, which); i++) {
        double value = (double)check_below(state, 257) / 64 - 2;
        if (which == MASK && f->s.mask == 1)
            value = f->flags[i] = (uint8_t)(check_below(state, 3) > 0);
        put(f->y[which], f->dtype, i, f->x[which][i] = value);
    }
}

static void
make_scene(scene *f, uint64_t *state)
{
    size_t size = dt_dtype_size(f->dtype), queries = (size_t)f->s.queries + 1;
    f->sums = calloc(queries, sizeof *f->sums);
    f->grad_sum = calloc(queries, sizeof *f->grad_sum);
    f->logsumexp = calloc(queries, size);
    f->given = calloc(queries, size);
    f->flags = calloc((size_t)size_of(&f->s, MASK) + 1, 1);
    for (int which = 0; which < COUNT; which++) {
        f->x[which] = calloc((size_t)size_of(&f->s, which) + 1, sizeof(double));
        f->y[which] = calloc((size_t)size_of(&f->s, which) + 1, size);
        if (which <= GRAD || which == MASK)
            fill(f, which, state);
    }
    for (int64_t i = 0; i < f->s.queries; i++) {
        f->grad_sum[i] = (double)check_below(state, 17) / 8 - 1;
        put(f->given, f->dtype, i, f->grad_sum[i]);
    }
}

static void
free_scene(scene *f)
{
    for (int which = 0; which < COUNT; which++) {
        free(f->x[which]);
        free(f->y[which]);
    }
    free(f->sums);
    free(f->grad_sum);
    free(f->logsumexp);
    free(f->given);
    free(f->flags);
}

static dt_attention
attention_of(const scene *f)
{
    const shape *s = &f->s;
    void *masks[] = {NULL, f->flags, f->y[MASK]};
    return (dt_attention){.dtype = f->dtype,
                          .queries = s->queries,
                          .keys = s->keys,
                          .width = s->width,
                          .depth = s->depth,
                          .scale = 0.5,
                          .causal = s->causal,
                          .flags = s->mask == 1,
                          .q = rows(f->y[Q], s->width),
                          .k = rows(f->y[K], s->width),
                          .v = rows(f->y[V], s->depth),
                          .mask = rows(masks[s->mask], s->keys),
                          .out = rows(f->y[OUT], s->depth),
                          .logsumexp = f->logsumexp,
                          .grad = rows(f->y[GRAD], s->depth),
                          .grad_sum = f->given,
                          .dq = rows(f->y[DQ], s->width),
                          .dk = rows(f->y[DK], s->width),
                          .dv = rows(f->y[DV], s->depth),
                          .dmask = rows(f->y[DMASK], s->keys)};
}

/* Calls a kernel with as much scratch as it asks for, full of NaN: nothing may be read
 * before it is written. */
static void
run(const dt_attention *a, bool gradient)
{
    size_t bytes = (dt_attention_scratch(a, gradient) / 64 + 1) * 64;
    void *scratch = aligned_alloc(64, bytes);
    memset(scratch, 0xff, bytes);
    (gradient ? dt_attention_backward : dt_attention_forward)(a, scratch);
    free(scratch);
}

static void
check_shape(const shape *s, dt_dtype dtype, uint64_t *state)
{
    scene f = {.s = *s, .dtype = dtype};
    make_scene(&f, state);
    reference(s, f.x, f.sums, f.grad_sum);
    dt_attention a = attention_of(&f);
    run(&a, false);
    run(&a, true);
    for (int which = OUT; which < COUNT; which++)
        for (int64_t i = 0; which != MASK && i < size_of(s, which); i++)
            CHECK(close_to(get(f.y[which], dtype, i), f.x[which][i], dtype));
    for (int64_t i = 0; i < s->queries; i++)
        CHECK(close_to(get(f.logsumexp, dtype, i), f.sums[i], dtype));
    free_scene(&f);
}

static void
attention_and_its_gradient_are_those_of_the_formula(void)
{
    const int64_t lengths[][4] = {{1, 1, 1, 1},     {3, 5, 2, 4},    {7, 48, 8, 8},
                                  {48, 64, 16, 16}, {49, 65, 17, 5}, {13, 0, 4, 4},
                                  {0, 5, 4, 4},     {5, 5, 0, 3},    {50, 30, 33, 31},
                                  {97, 481, 9, 16}, {20, 963, 3, 2}, {4, 9, 3, 40},
                                  {9, 33, 40, 3}};
    uint64_t state = 1;
    for (int level = 0; level <= 2; level++)
        for (size_t k = 0; k < sizeof lengths / sizeof *lengths; k++)
            for (int way = 0; way < 12; way++) {
                const int64_t *n = lengths[k];
                shape s = {n[0], n[1], n[2], n[3], way % 2 == 1, way / 2 % 3};
                dt_level_set(level);
                check_shape(&s, way < 6 ? DT_FLOAT32 : DT_FLOAT64, &state);
            }
    dt_level_set(-1);
}

/* --- matrices that lie otherwise --- */

static void
columns_and_rows_of_any_distance_give_the_same_bits(void)
{
    enum { N = 9, E = 5 };
    float q[N * E], turned[E * N], spread[N * E * 3], out[N * E], sums[N];
    float other[N * E], other_sums[N];
    uint64_t state = 2;
    for (int i = 0; i < N; i++)
        for (int k = 0; k < E; k++) {
            q[i * E + k] = (float)check_below(&state, 100) / 32;
            turned[k * N + i] = spread[(i * E + k) * 3] = q[i * E + k];
        }
    dt_attention a = {.dtype = DT_FLOAT32,
                      .queries = N,
                      .keys = N,
                      .width = E,
                      .depth = E,
                      .scale = 1,
                      .q = {q, E, 1},
                      .k = {q, E, 1},
                      .v = {q, E, 1},
                      .out = {out, E, 1},
                      .logsumexp = sums};
    run(&a, false);
    a.q = (dt_matrix){turned, 1, N};
    a.k = (dt_matrix){spread, 3 * E, 3};
    a.v = a.q;
    a.out = (dt_matrix){other, 1, N};
    a.logsumexp = other_sums;
    run(&a, false);
    for (int i = 0; i < N; i++)
        for (int k = 0; k < E; k++)
            CHECK(out[i * E + k] == other[k * N + i]);
    CHECK(memcmp(sums, other_sums, sizeof sums) == 0);
}

static void
a_mask_of_one_row_is_for_all_queries_and_sums_their_gradients(void)
{
    enum { N = 50 };
    double q[N], ones[N], out[N], sums[N], mask[N], dmask[N] = {0}, full[N * N] = {0};
    double dq[N], dk[N] = {0}, dv[N] = {0};
    for (int i = 0; i < N; i++) {
        q[i] = i / 20.0;
        ones[i] = i % 3;
        mask[i] = i % 7 == 0 ? -(double)INFINITY : i % 4;
    }
    dt_attention a = {.dtype = DT_FLOAT64,
                      .queries = N,
                      .keys = N,
                      .width = 1,
                      .depth = 1,
                      .scale = 1,
                      .q = {q, 1, 1},
                      .k = {q, 1, 1},
                      .v = {q, 1, 1},
                      .mask = {mask, 0, 1},
                      .out = {out, 1, 1},
                      .logsumexp = sums,
                      .grad = {ones, 1, 1},
                      .dq = {dq, 1, 1},
                      .dk = {dk, 1, 1},
                      .dv = {dv, 1, 1},
                      .dmask = {dmask, 0, 1}};
    run(&a, false);
    run(&a, true);
    a.dmask = (dt_matrix){full, N, 1};
    run(&a, true);
    for (int j = 0; j < N; j++) {
        double sum = 0;
        for (int i = 0; i < N; i++)
            sum += full[i * N + j];
        CHECK(close_to(dmask[j], sum, DT_FLOAT64));
        CHECK(j % 7 != 0 || dmask[j] == 0);
    }
}

DT_MAIN(TEST(attention_and_its_gradient_are_those_of_the_formula),
        TEST(columns_and_rows_of_any_distance_give_the_same_bits),
        TEST(a_mask_of_one_row_is_for_all_queries_and_sums_their_gradients))
