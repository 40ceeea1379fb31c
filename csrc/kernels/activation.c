#include "kernels/activation.h"

#include "core/threads/team.h"

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

enum { EACH = 16 }; /* for dt_team_run */

typedef struct {
    loop *forward;
    grad_loop *backward;
    char *out;
    const char *g, *x;
    const double *p;
    int64_t size; /* of a number */
} activation;

static void
run_part(void *work, int64_t begin, int64_t end)
{
    const activation *a = work;
    int64_t at = begin * a->size;
    if (a->g == NULL)
        a->forward(a->out + at, a->x + at, a->p, end - begin);
    else
        a->backward(a->out + at, a->g + at, a->x + at, a->p, end - begin);
}

void
dt_activation_run(dt_activation which, bool wide, void *out, const void *x,
                  const double *p, int64_t count)
{
    activation a = {.forward = TABLE[dt_level()][wide]->forward[which],
                    .out = out,
                    .x = x,
                    .p = p,
                    .size = wide ? 8 : 4};
    dt_team_run(count, EACH, run_part, &a);
}

void
dt_activation_backward(dt_activation which, bool wide, void *out, const void *g,
                       const void *x, const double *p, int64_t count)
{
    activation a = {.backward = TABLE[dt_level()][wide]->backward[which],
                    .out = out,
                    .g = g,
                    .x = x,
                    .p = p,
                    .size = wide ? 8 : 4};
    dt_team_run(count, EACH, run_part, &a);
}
