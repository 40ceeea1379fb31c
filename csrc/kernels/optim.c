#include "kernels/optim.h"

#include "core/threads/team.h"
#include "kernels/widen.h"

#include <math.h>
#include <stddef.h>

/* Factors that are the same for all elements. */
typedef struct {
    double decay;     /* of the parameter itself; 1: none */
    double shrink;    /* what is added to the gradient of a parameter */
    double sign;      /* of the gradient */
    double blend;     /* 1 - beta1 */
    double keep, add; /* of the squares */
    double root, eps, size;
} adam_factors;

typedef struct {
    double lr, keep, add, shrink, sign, ahead;
} sgd_factors;

typedef struct {
    void (*adam)(const adam_factors *f, int64_t count, void *param, const void *grad,
                 void *mean, void *square, void *peak);
    void (*sgd)(const sgd_factors *f, int64_t count, void *param, const void *grad,
                void *velocity);
} loops;

#define LOOPS "kernels/optim_loops.h"
#include "kernels/levels.h"

static const loops *const TABLES[][2] = DT_LEVELS(TABLE);

/* Memory is what these loops wait for: longer vectors than those of level 1 are slower.
 */
static const loops *
loops_of(dt_dtype dtype)
{
    int level = dt_level();
    return TABLES[level > 1 ? 1 : level][dtype == DT_FLOAT64];
}

/* --- arrays of 16-bit floats --- */

/* Those of a step, in the order of dt_adam_step; only the gradient is not written. */
enum { PARAM, GRAD, FIRST, SECOND, PEAK, ARRAYS, BLOCK = 1024 };

typedef void step_of_block(const void *factors, int64_t count, float *const *arrays);

/* Does a step in float32, a block of elements at a time: what is written is rounded
 * once. */
static void
step_halves(step_of_block *step, const void *factors, dt_dtype half, int64_t count,
            uint16_t *const *arrays)
{
    float space[ARRAYS][BLOCK], *block[ARRAYS];
    for (int64_t at = 0; at < count; at += BLOCK) {
        int64_t n = count - at < BLOCK ? count - at : BLOCK;
        for (int k = 0; k < ARRAYS; k++) {
            block[k] = arrays[k] == NULL ? NULL : space[k];
            if (arrays[k] != NULL)
                dt_widen(half, block[k], arrays[k] + at, n);
        }
        step(factors, n, block);
        for (int k = 0; k < ARRAYS; k++)
            if (k != GRAD && arrays[k] != NULL)
                dt_narrow(half, arrays[k] + at, block[k], n);
    }
}

static bool
is_half(dt_dtype dtype)
{
    return dtype == DT_FLOAT16 || dtype == DT_BFLOAT16;
}

static void
adam_of_block(const void *factors, int64_t count, float *const *x)
{
    loops_of(DT_FLOAT32)
        ->adam(factors, count, x[PARAM], x[GRAD], x[FIRST], x[SECOND], x[PEAK]);
}

static void
sgd_of_block(const void *factors, int64_t count, float *const *x)
{
    loops_of(DT_FLOAT32)->sgd(factors, count, x[PARAM], x[GRAD], x[FIRST]);
}

/* --- the steps --- */

enum { EACH = 28 }; /* for dt_team_run */

/* What a step writes and reads; a step of 16-bit floats is one of blocks. */
typedef struct {
    const void *factors;
    dt_dtype dtype;
    bool adam;
    char *arrays[ARRAYS]; /* NULL: none */
} step;

static void
step_part(void *work, int64_t begin, int64_t end)
{
    const step *s = work;
    int64_t at = begin * (int64_t)dt_dtype_size(s->dtype), count = end - begin;
    void *x[ARRAYS];
    uint16_t *halves[ARRAYS];
    for (int k = 0; k < ARRAYS; k++)
        halves[k] = x[k] = s->arrays[k] == NULL ? NULL : s->arrays[k] + at;
    if (is_half(s->dtype))
        step_halves(s->adam ? adam_of_block : sgd_of_block, s->factors, s->dtype, count,
                    halves);
    else if (s->adam)
        loops_of(s->dtype)->adam(s->factors, count, x[PARAM], x[GRAD], x[FIRST],
                                 x[SECOND], x[PEAK]);
    else
        loops_of(s->dtype)->sgd(s->factors, count, x[PARAM], x[GRAD], x[FIRST]);
}

void
dt_adam_step(const dt_adam *adam, dt_dtype dtype, int64_t count, void *param,
             const void *grad, void *mean, void *square, void *peak)
{
    adam_factors f = {
        .decay = adam->decoupled ? 1 - adam->lr * adam->weight_decay : 1,
        .shrink = adam->decoupled ? 0 : adam->weight_decay,
        .sign = adam->maximize ? -1 : 1,
        .blend = 1 - adam->beta1,
        .keep = adam->beta2,
        .add = 1 - adam->beta2,
        .root = sqrt(1 - pow(adam->beta2, adam->step)),
        .eps = adam->eps,
        .size = adam->lr / (1 - pow(adam->beta1, adam->step)),
    };
    step s = {&f, dtype, true, {param, (void *)(uintptr_t)grad, mean, square, peak}};
    dt_team_run(count, EACH, step_part, &s);
}

void
dt_sgd_step(const dt_sgd *sgd, dt_dtype dtype, int64_t count, void *param,
            const void *grad, void *velocity)
{
    sgd_factors f = {
        .lr = sgd->lr,
        .keep = sgd->first ? 0 : sgd->momentum,
        .add = sgd->first ? 1 : 1 - sgd->dampening,
        .shrink = sgd->weight_decay,
        .sign = sgd->maximize ? -1 : 1,
        .ahead = sgd->nesterov ? sgd->momentum : 0,
    };
    step s = {&f, dtype, false, {param, (void *)(uintptr_t)grad, velocity}};
    dt_team_run(count, EACH, step_part, &s);
}
