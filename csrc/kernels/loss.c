#include "kernels/loss.h"

#include "core/threads/team.h"

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

enum { EACH = 16 }; /* for dt_team_run */

typedef struct {
    loop *run;
    grad_loop *backward;
    char *out;
    const char *g, *x, *t; /* g: NULL forward */
    bool single;
    double factor, p;
    int64_t size; /* of a number */
} loss;

static void
run_part(void *work, int64_t begin, int64_t end)
{
    const loss *l = work;
    int64_t at = begin * l->size;
    if (l->g == NULL)
        l->run(l->out + at, l->x + at, l->t + at, l->p, end - begin);
    else
        l->backward(l->out + at, l->g + (l->single ? 0 : at), l->single, l->factor,
                    l->x + at, l->t + at, l->p, end - begin);
}

void
dt_loss_run(dt_loss which, bool wide, void *out, const void *x, const void *t, double p,
            int64_t count)
{
    loss l = {.run = TABLE[dt_level()][wide]->run[which],
              .out = out,
              .x = x,
              .t = t,
              .p = p,
              .size = wide ? 8 : 4};
    dt_team_run(count, EACH, run_part, &l);
}

/* Sums are made for a segment at a time, and these added up. The segments follow from the
 * length alone, and so do the bits. */
enum { SEGMENTS = 64 /* at most */, SEGMENT = 16 * BLOCK /* numbers, at least */ };

typedef struct {
    sum_loop *sum;
    const char *x, *t;
    double p;
    int64_t count, segment, size;
    double totals[SEGMENTS];
} loss_sum;

static void
sum_part(void *work, int64_t begin, int64_t end)
{
    loss_sum *l = work;
    for (int64_t k = begin; k < end; k++) {
        int64_t at = k * l->segment, left = l->count - at;
        l->totals[k] = l->sum(l->x + at * l->size, l->t + at * l->size, l->p,
                              left < l->segment ? left : l->segment);
    }
}

double
dt_loss_sum(dt_loss which, bool wide, const void *x, const void *t, double p,
            int64_t count)
{
    loss_sum l = {.sum = TABLE[dt_level()][wide]->sum[which],
                  .x = x,
                  .t = t,
                  .p = p,
                  .count = count,
                  .segment = SEGMENT,
                  .size = wide ? 8 : 4};
    while (l.segment * SEGMENTS < count)
        l.segment *= 2;
    int64_t segments = (count + l.segment - 1) / l.segment;
    dt_team_run(segments, l.segment * EACH, sum_part, &l);
    long double total = 0;
    for (int64_t k = 0; k < segments; k++)
        total += (long double)l.totals[k];
    return (double)total;
}

void
dt_loss_backward(dt_loss which, bool wide, void *out, const void *g, bool single,
                 double factor, const void *x, const void *t, double p, int64_t count)
{
    loss l = {.backward = TABLE[dt_level()][wide]->backward[which],
              .out = out,
              .g = g,
              .x = x,
              .t = t,
              .single = single,
              .factor = factor,
              .p = p,
              .size = wide ? 8 : 4};
    dt_team_run(count, EACH, run_part, &l);
}
