#include "kernels/channels.h"

#include "core/threads/team.h"

#include <stddef.h>

typedef struct {
    const dt_channels *of;
    const void *g;
    void *sums, *products; /* sums: NULL if there is no g */
    void *out;
    const void *scale, *shift, *factor;
    bool rectified;
} job;

typedef struct {
    dt_team_part *sum;     /* channels */
    dt_team_part *mix;     /* runs of places; with inner 1, samples */
    dt_team_part *rectify; /* the same */
} loops;

enum {
    BLOCK = 512,  /* numbers, or samples, of which sums are made in REAL */
    ROWS = 4,     /* of which sums are made together */
    COLUMNS = 64, /* channels that one thread sums with inner 1 */
    EACH = 16     /* for dt_team_run */
};

static inline int64_t
least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

#define LOOPS "kernels/channels_loops.h"
#include "kernels/levels.h"

static const loops *const TABLE[][2] = DT_LEVELS(TABLE);

static void
sum(bool wide, job *j)
{
    const dt_channels *of = j->of;
    int64_t columns = of->inner == 1 ? COLUMNS : 1;
    dt_team_run((of->channels + columns - 1) / columns,
                1 + columns * of->samples * of->inner * EACH,
                TABLE[dt_level()][wide]->sum, j);
}

void
dt_channel_squares(bool wide, void *squares, const dt_channels *of)
{
    sum(wide, &(job){.of = of, .products = squares});
}

void
dt_channel_sums(bool wide, void *sums, void *products, const void *g,
                const dt_channels *of)
{
    sum(wide, &(job){.of = of, .g = g, .sums = sums, .products = products});
}

/* Runs `part` for runs of places, or for samples. */
static void
run(dt_team_part *part, job *j)
{
    const dt_channels *of = j->of;
    bool single = of->inner == 1;
    dt_team_run(single ? of->samples : of->samples * of->channels,
                1 + (single ? of->channels : of->inner) * EACH, part, j);
}

void
dt_channel_mix(bool wide, void *out, const void *scale, const void *shift,
               const void *g, const void *factor, const dt_channels *of)
{
    run(TABLE[dt_level()][wide]->mix, &(job){.of = of,
                                             .g = g,
                                             .out = out,
                                             .scale = scale,
                                             .shift = shift,
                                             .factor = factor});
}

void
dt_channel_rectify(bool wide, void *out, const void *slope, const void *g,
                   const dt_channels *of)
{
    run(TABLE[dt_level()][wide]->rectify,
        &(job){.of = of, .g = g, .out = out, .scale = slope});
}

void
dt_channel_rectified(bool wide, void *sums, const void *g, const dt_channels *of)
{
    sum(wide, &(job){.of = of, .g = g, .products = sums, .rectified = true});
}
