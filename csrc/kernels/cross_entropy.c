#include "kernels/cross_entropy.h"

typedef struct {
    void (*run)(void *out, const dt_classes *c);
    double (*sum)(const dt_classes *c);
    double (*total)(const dt_classes *c);
    void (*backward)(void *dx, void *scratch, const void *g, bool single, double factor,
                     const dt_classes *c);
} loops;

static inline bool
counts(const dt_classes *c, int64_t target)
{
    return target != c->ignore && target >= 0 && target < c->all;
}

static inline bool
is_here(const dt_classes *c, int64_t target)
{
    return target >= c->first && target - c->first < c->classes;
}

#define LOOPS "kernels/cross_entropy_loops.h"
#include "kernels/levels.h"

static const loops *const TABLE[][2] = DT_LEVELS(TABLE);

int64_t
dt_classes_wrong(const dt_classes *c)
{
    for (int64_t r = 0; r < c->outer * c->inner; r++)
        if (c->target[r] != c->ignore && !counts(c, c->target[r]))
            return c->target[r];
    return 0;
}

void
dt_classes_run(bool wide, void *out, const dt_classes *c)
{
    TABLE[dt_level()][wide]->run(out, c);
}

double
dt_classes_sum(bool wide, const dt_classes *c)
{
    return TABLE[dt_level()][wide]->sum(c);
}

double
dt_classes_total(bool wide, const dt_classes *c)
{
    return TABLE[dt_level()][wide]->total(c);
}

void
dt_classes_backward(bool wide, void *dx, void *scratch, const void *g, bool single,
                    double factor, const dt_classes *c)
{
    TABLE[dt_level()][wide]->backward(dx, scratch, g, single, factor, c);
}
