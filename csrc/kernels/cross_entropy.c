#include "kernels/cross_entropy.h"

#include "core/threads/team.h"

typedef struct {
    void (*run)(void *out, const dt_classes *c);
    double (*sum)(const dt_classes *c);
    double (*total)(const dt_classes *c);
    void (*weigh)(void *out, const dt_classes *c);
    void (*backward)(void *dx, void *scratch, const void *weights, const void *g,
                     bool single, double factor, const dt_classes *c);
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

enum { EACH = 16 }; /* for dt_team_run */

typedef struct {
    const loops *loops;
    const dt_classes *classes;
    char *out;     /* or dx */
    char *scratch; /* NULL: the loss */
    const void *weights;
    const char *g;
    bool single;
    double factor;
    int64_t size; /* of a number */
} part;

/* The rows of some places of the outer dim. */
static void
run_part(void *work, int64_t begin, int64_t end)
{
    const part *p = work;
    dt_classes c = *p->classes;
    int64_t row = begin * c.inner, at = row * p->size;
    c.outer = end - begin;
    c.x = (const char *)c.x + at * c.classes;
    c.lse = c.lse == NULL ? NULL : (const char *)c.lse + at;
    c.target += row;
    if (p->scratch == NULL)
        p->loops->run(p->out + at, &c);
    else
        p->loops->backward(p->out + at * c.classes, p->scratch + 2 * at, p->weights,
                           p->single ? p->g : p->g + at, p->single, p->factor, &c);
}

static void
run(part *p, bool wide)
{
    const dt_classes *c = p->classes;
    p->loops = TABLE[dt_level()][wide];
    p->size = wide ? 8 : 4;
    /* Of a row without smoothing the loss is one number. */
    int64_t read = p->scratch == NULL && c->smoothing == 0 ? 1 : c->classes;
    dt_team_run(c->outer, 1 + c->inner * read * EACH, run_part, p);
}

void
dt_classes_run(bool wide, void *out, const dt_classes *c)
{
    run(&(part){.classes = c, .out = out}, wide);
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
    double weights; /* or a float */
    TABLE[dt_level()][wide]->weigh(&weights, c);
    run(&(part){.classes = c,
                .out = dx,
                .scratch = scratch,
                .weights = &weights,
                .g = g,
                .single = single,
                .factor = factor},
        wide);
}
