#include "kernels/depthwise.h"

#include "core/threads/team.h"

/* A plane with zeros around it. Elements of the last dim that are a multiple of its stride
 * apart lie beside each other, in phases: what is under a tap at places in a row is a run,
 * whatever the stride. */
typedef struct {
    int64_t before[DT_COLUMNS_DIMS]; /* zeros */
    int64_t rows[2];                 /* lengths of the first two dims */
    int64_t phases, pitch;           /* of the last one; from a phase to the next */
    int64_t size;                    /* of all of it, in elements */
} sheet;

/* What a thread has in scratch. */
typedef struct {
    void *plane;      /* one sheet, or one for each filter of a channel */
    void *grad;       /* a plane of `out`, its rows rounded up to vectors, with zeros */
    void *weights;    /* of the taps that an element of x has */
    double *sums;     /* of the taps of a channel */
    int64_t *offsets; /* of the taps, in a sheet */
} workspace;

typedef struct {
    dt_depthwise_kind kind;
    const dt_depthwise *of;
    sheet sheet;
    int64_t taps; /* of a filter */
    char *scratch;
    int64_t room; /* of a thread's scratch */
    bool wide;
} job;

typedef struct {
    dt_team_part *part[3]; /* by kind */
} loops;

enum {
    SLACK = 16,  /* elements of the longest vector: loads may go as far beyond a row */
    VECTORS = 8, /* whose sums are made together */
    RUN = 512,   /* vectors of which a sum is made in REAL */
    EACH = 4,    /* for dt_team_run */
    ALIGNMENT = 64 /* bytes */
};

static inline int64_t
least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static inline int64_t
up(int64_t count, int64_t block)
{
    return (count + block - 1) / block * block;
}

static int64_t
taps_of(const dt_depthwise *of)
{
    return of->dims[0].size * of->dims[1].size * of->dims[2].size;
}

/* The sheet of a plane of x, as far as there are places. */
static sheet
sheet_of_x(const dt_kernel_dim dims[DT_COLUMNS_DIMS])
{
    sheet s;
    int64_t reach[DT_COLUMNS_DIMS];
    for (int d = 0; d < DT_COLUMNS_DIMS; d++) {
        const dt_kernel_dim *dim = &dims[d];
        s.before[d] = dim->low;
        reach[d] =
            (dim->places - 1) * dim->stride + (dim->size - 1) * dim->dilation + 1;
    }
    s.phases = dims[2].stride;
    s.pitch = (reach[2] - 1) / s.phases + 1 + SLACK;
    s.rows[0] = reach[0];
    s.rows[1] = reach[1];
    s.size = s.rows[0] * s.rows[1] * s.phases * s.pitch;
    return s;
}

/* The sheet of a plane of `out`, as far as its places touch elements of x. */
static sheet
sheet_of_out(const dt_kernel_dim dims[DT_COLUMNS_DIMS])
{
    sheet s = {.phases = 1};
    int64_t lengths[DT_COLUMNS_DIMS];
    for (int d = 0; d < DT_COLUMNS_DIMS; d++) {
        const dt_kernel_dim *dim = &dims[d];
        int64_t beyond = (dim->size - 1) * dim->dilation - dim->low;
        s.before[d] = beyond > 0 ? (beyond + dim->stride - 1) / dim->stride : 0;
        lengths[d] = s.before[d] + (dim->length - 1 + dim->low) / dim->stride + 1;
    }
    s.pitch = lengths[2] + SLACK;
    s.rows[0] = lengths[0];
    s.rows[1] = lengths[1];
    s.size = s.rows[0] * s.rows[1] * s.pitch;
    return s;
}

static void *
take(char *scratch, int64_t *used, int64_t bytes)
{
    char *taken = scratch == NULL ? NULL : scratch + *used;
    *used += up(bytes, ALIGNMENT);
    return taken;
}

/* Cuts the arrays of a thread out of scratch; returns the bytes that they take. */
static int64_t
cut(workspace *w, const job *j, char *scratch)
{
    const dt_kernel_dim *dims = j->of->dims;
    const int64_t real = j->wide ? sizeof(double) : sizeof(float);
    const bool x = j->kind == DT_DEPTHWISE_X, weight = j->kind == DT_DEPTHWISE_WEIGHT;
    const int64_t each = x ? j->of->each : 1, rows = dims[0].places * dims[1].places;
    int64_t used = 0;
    w->plane = take(scratch, &used, each * j->sheet.size * real);
    w->offsets = take(scratch, &used, each * j->taps * (int64_t)sizeof(int64_t));
    w->weights = take(scratch, &used, x ? each * j->taps * real : 0);
    w->grad =
        take(scratch, &used, weight ? rows * up(dims[2].places, SLACK) * real : 0);
    w->sums = take(scratch, &used,
                   weight ? j->of->each * j->taps * (int64_t)sizeof(double) : 0);
    return used;
}

#define LOOPS "kernels/depthwise_loops.h"
#include "kernels/levels.h"

static const loops *const TABLE[][2] = DT_LEVELS(TABLE);

static job
job_of(dt_depthwise_kind kind, bool wide, const dt_depthwise *of)
{
    bool x = kind == DT_DEPTHWISE_X;
    return (job){.kind = kind,
                 .of = of,
                 .wide = wide,
                 .taps = taps_of(of),
                 .sheet = (x ? sheet_of_out : sheet_of_x)(of->dims)};
}

int64_t
dt_depthwise_pieces(dt_depthwise_kind kind, const dt_depthwise *of)
{
    return kind == DT_DEPTHWISE_WEIGHT ? of->channels : of->samples * of->channels;
}

int64_t
dt_depthwise_scratch(dt_depthwise_kind kind, bool wide, const dt_depthwise *of)
{
    double most = (double)of->each;
    for (int d = 0; d < DT_COLUMNS_DIMS; d++) {
        const dt_kernel_dim *dim = &of->dims[d];
        most *= (double)dim->length + (double)dim->low + 2 * SLACK +
                (double)dim->places * (double)dim->stride +
                (double)dim->size * (double)dim->dilation;
    }
    if (most > 0x1p48)
        return -1;
    workspace w;
    job j = job_of(kind, wide, of);
    return cut(&w, &j, NULL);
}

void
dt_depthwise_run(dt_depthwise_kind kind, bool wide, const dt_depthwise *of, int threads,
                 void *scratch)
{
    workspace w;
    job j = job_of(kind, wide, of);
    j.room = cut(&w, &j, NULL);
    j.scratch = scratch;
    int64_t pieces = dt_depthwise_pieces(kind, of);
    int64_t planes = of->samples * of->channels, work = j.taps * of->each * EACH;
    for (int d = 0; d < DT_COLUMNS_DIMS; d++)
        work *= of->dims[d].places;
    dt_team_run_by(threads, pieces, 1 + work * (planes / (pieces > 0 ? pieces : 1)),
                   TABLE[dt_level()][wide]->part[kind], &j);
}
