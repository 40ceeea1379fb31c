#include "kernels/loss.h"

typedef void loop(void *out, const void *x, const void *t, double p, int64_t count);
typedef double sum_loop(const void *x, const void *t, double p, int64_t count);
typedef void grad_loop(void *out, const void *g, bool single, double factor,
                       const void *x, const void *t, double p, int64_t count);

typedef struct {
    loop *run[DT_LOSS_COUNT];
    sum_loop *sum[DT_LOSS_COUNT];
    grad_loop *backward[DT_LOSS_COUNT];
} loops;

/* Sums of so many numbers are made in REAL, and these added up in long double. */
enum { BLOCK = 512 };

#define LOOPS "kernels/loss_loops.h"
#include "kernels/levels.h"

static const loops *const TABLE[][2] = DT_LEVELS(TABLE);

void
dt_loss_run(dt_loss which, bool wide, void *out, const void *x, const void *t, double p,
            int64_t count)
{
    TABLE[dt_level()][wide]->run[which](out, x, t, p, count);
}

double
dt_loss_sum(dt_loss which, bool wide, const void *x, const void *t, double p,
            int64_t count)
{
    return TABLE[dt_level()][wide]->sum[which](x, t, p, count);
}

void
dt_loss_backward(dt_loss which, bool wide, void *out, const void *g, bool single,
                 double factor, const void *x, const void *t, double p, int64_t count)
{
    TABLE[dt_level()][wide]->backward[which](out, g, single, factor, x, t, p, count);
}
