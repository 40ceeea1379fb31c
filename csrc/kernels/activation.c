#include "kernels/activation.h"

typedef void loop(void *out, const void *x, const double *p, int64_t count);
typedef void grad_loop(void *out, const void *g, const void *x, const double *p,
                       int64_t count);

typedef struct {
    loop *forward[DT_ACTIVATION_COUNT];
    grad_loop *backward[DT_ACTIVATION_COUNT];
} loops;

#define LOOPS "kernels/activation_loops.h"
#include "kernels/levels.h"

static const loops *const TABLE[][2] = DT_LEVELS(TABLE);

void
dt_activation_run(dt_activation which, bool wide, void *out, const void *x,
                  const double *p, int64_t count)
{
    TABLE[dt_level()][wide]->forward[which](out, x, p, count);
}

void
dt_activation_backward(dt_activation which, bool wide, void *out, const void *g,
                       const void *x, const double *p, int64_t count)
{
    TABLE[dt_level()][wide]->backward[which](out, g, x, p, count);
}
