#include "kernels/norm.h"

#include "core/threads/team.h"

#include <stddef.h>

typedef struct {
    void (*run)(void *out, const dt_norm *norm);
    void (*backward)(void *dx, void *dweight, void *dbias, const void *g,
                     const dt_norm *norm);
    void (*add)(void *sum, const void *addend, int64_t count);
} loops;

/* Sums of so many numbers are made in REAL, and these added up in long double. */
enum { BLOCK = 512 };
/* Rows that are looked at together. */
enum { BLOCK_ROWS = 8 };

static inline int64_t
least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

#define LOOPS "kernels/norm_loops.h"
#include "kernels/levels.h"

static const loops *const TABLE[][2] = DT_LEVELS(TABLE);

enum {
    EACH = 16, /* for dt_team_run */
    /* Sums over rows are made for a segment of them at a time, and these added up. The
     * segments follow from the shape alone, and so do the bits. */
    SEGMENTS = 16,           /* at most */
    SEGMENT_NUMBERS = 16384, /* at least */
    LONG_BLOCK = 1 << 17     /* numbers: its rows are as fast one by one */
};

typedef struct {
    const loops *loops;
    const dt_norm *norm;
    char *out;             /* or dx; may be NULL */
    const char *g;         /* NULL: forward */
    char *dweight, *dbias; /* of the first segment; or NULL */
    int64_t segment;       /* its rows; one row has all groups */
    int64_t bytes, sums;   /* of a row of x, of weight */
} job;

static char *
shifted_by(const void *array, int64_t bytes)
{
    return array == NULL ? NULL : (char *)(uintptr_t)array + bytes;
}

/* A row of each group counts as one. */
static int64_t
rows_of(const dt_norm *norm)
{
    return norm->rows == 0 ? 0 : norm->rows / norm->groups;
}

/* Whether rows have sums in common. */
static bool
has_sums(const job *j)
{
    return j->dweight != NULL || j->dbias != NULL;
}

static void
do_segment(const job *j, int64_t k, int64_t end)
{
    dt_norm norm = *j->norm;
    int64_t begin = k * j->segment, at = begin * j->bytes;
    norm.rows = (least(end, rows_of(&norm)) - begin) * norm.groups;
    norm.x = shifted_by(norm.x, at);
    if (j->g == NULL)
        j->loops->run(j->out + at, &norm);
    else
        j->loops->backward(shifted_by(j->out, at), shifted_by(j->dweight, k * j->sums),
                           shifted_by(j->dbias, k * j->sums), j->g + at, &norm);
}

static void
do_part(void *work, int64_t begin, int64_t end)
{
    const job *j = work;
    if (has_sums(j))
        for (int64_t k = begin; k < end; k++)
            do_segment(j, k, (k + 1) * j->segment);
    else
        do_segment(j, begin, end * j->segment);
}

static int64_t
quotient_up(int64_t count, int64_t of)
{
    return (count + of - 1) / of;
}

static int64_t
numbers_of(const dt_norm *norm)
{
    return norm->groups * norm->channels * norm->inner;
}

/* Rows that fill the blocks that are looked at together. */
static int64_t
block_of(const dt_norm *norm)
{
    return quotient_up(BLOCK_ROWS, norm->groups);
}

static int64_t
segment_of(const dt_norm *norm)
{
    int64_t segment = quotient_up(rows_of(norm), SEGMENTS);
    int64_t fewest = quotient_up(SEGMENT_NUMBERS, numbers_of(norm));
    segment = segment < fewest ? fewest : segment;
    return quotient_up(segment, block_of(norm)) * block_of(norm);
}

static int64_t
segments_of(const dt_norm *norm)
{
    return norm->rows == 0 ? 0 : quotient_up(rows_of(norm), segment_of(norm));
}

static void
run(job *j, bool wide)
{
    const dt_norm *norm = j->norm;
    int64_t size = wide ? 8 : 4, numbers = norm->groups * norm->channels;
    if (norm->rows == 0)
        return;
    j->loops = TABLE[dt_level()][wide];
    j->sums = numbers * size;
    j->bytes = j->sums * norm->inner;
    j->segment = has_sums(j)                                      ? segment_of(norm)
                 : block_of(norm) * numbers_of(norm) < LONG_BLOCK ? block_of(norm)
                                                                  : 1;
    dt_team_run(quotient_up(rows_of(norm), j->segment),
                1 + j->segment * numbers_of(norm) * EACH, do_part, j);
}

void
dt_norm_run(bool wide, void *out, const dt_norm *norm)
{
    run(&(job){.norm = norm, .out = out}, wide);
}

int64_t
dt_norm_scratch(const dt_norm *norm)
{
    int64_t segments = segments_of(norm);
    return segments > 1 ? 2 * segments * norm->groups * norm->channels : 0;
}

/* The sum of what the segments have. */
static void
add_up(const loops *table, void *sum, const char *addends, int64_t segments,
       int64_t numbers, int64_t bytes)
{
    if (sum == NULL)
        return;
    memcpy(sum, addends, (size_t)bytes);
    for (int64_t k = 1; k < segments; k++)
        table->add(sum, addends + k * bytes, numbers);
}

void
dt_norm_backward(bool wide, void *dx, void *dweight, void *dbias, void *scratch,
                 const void *g, const dt_norm *norm)
{
    const loops *table = TABLE[dt_level()][wide];
    int64_t segments = segments_of(norm), numbers = norm->groups * norm->channels;
    int64_t bytes = numbers * (wide ? 8 : 4);
    if (segments < 2) {
        table->backward(dx, dweight, dbias, g, norm);
        return;
    }
    char *of_weight = dweight == NULL ? NULL : scratch;
    char *of_bias = dbias == NULL ? NULL : (char *)scratch + segments * bytes;
    run(&(job){.norm = norm, .out = dx, .g = g, .dweight = of_weight, .dbias = of_bias},
        wide);
    add_up(table, dweight, of_weight, segments, numbers, bytes);
    add_up(table, dbias, of_bias, segments, numbers, bytes);
}
