#include "kernels/resample.h"

#include "core/threads/team.h"

typedef struct {
    const dt_resample *of;
    const void *from;
    void *to;
} job;

typedef struct {
    dt_team_part *out, *back; /* of pieces */
} loops;

#define LOOPS "kernels/resample_loops.h"
#include "kernels/levels.h"

static const loops *const TABLE[][2] = DT_LEVELS(TABLE);

static void
run(dt_team_part *part, const dt_resample *of, void *to, const void *from, bool wide)
{
    int64_t numbers = (of->size * of->taps + of->length) * of->inner;
    dt_team_run(of->outer, 1 + numbers * (wide ? 8 : 4), part,
                &(job){.of = of, .from = from, .to = to});
}

void
dt_resample_out(bool wide, void *out, const void *x, const dt_resample *of)
{
    run(TABLE[dt_level()][wide]->out, of, out, x, wide);
}

void
dt_resample_back(bool wide, void *x, const void *out, const dt_resample *of)
{
    run(TABLE[dt_level()][wide]->back, of, x, out, wide);
}
