#include "kernels/optim.h"

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
    loops_of(dtype)->adam(&f, count, param, grad, mean, square, peak);
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
    loops_of(dtype)->sgd(&f, count, param, grad, velocity);
}
