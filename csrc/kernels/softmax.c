#include "kernels/softmax.h"

#include "core/threads/team.h"

/* in: as the comment at the kernel says */
typedef void row_loop(void *out, const void *const *in, int64_t rows, int64_t length);

typedef struct {
    row_loop *run[DT_ROW_KERNEL_COUNT];
} loops;

/* Sums of so many numbers are made in REAL, and these added up in long double. */
enum { BLOCK = 1024 };

#define LOOPS "kernels/softmax_loops.h"
#include "kernels/levels.h"

static const loops *const TABLE[][2] = DT_LEVELS(TABLE);

enum { EACH = 16 /* for dt_team_run */, ARRAYS = 3 };

/* How many arrays of rows there are in `in`, and then of a number for each row. */
static const struct {
    int rows, numbers;
} TAKES[DT_ROW_KERNEL_COUNT] = {
    [DT_SOFTMAX] = {1, 0},
    [DT_LOG_SOFTMAX] = {1, 0},
    [DT_SOFTMAX_BACKWARD] = {2, 0},
    [DT_LOG_SOFTMAX_BACKWARD] = {2, 0},
    [DT_LOGSUMEXP] = {1, 0},
    [DT_SUM_EXP] = {1, 1},
    [DT_ROW_DOT] = {2, 0},
    [DT_SOFTMAX_GIVEN] = {1, 2},
    [DT_LOG_SOFTMAX_GIVEN] = {1, 2},
    [DT_SOFTMAX_BACKWARD_GIVEN] = {2, 1},
    [DT_LOG_SOFTMAX_BACKWARD_GIVEN] = {2, 1},
};

bool
dt_row_kernel_reduces(dt_row_kernel which)
{
    return which == DT_LOGSUMEXP || which == DT_SUM_EXP || which == DT_ROW_DOT;
}

typedef struct {
    row_loop *run;
    char *out;
    int64_t out_row, length; /* out_row: bytes */
    int count;
    const char *in[ARRAYS];
    int64_t in_row[ARRAYS];
} row_kernel;

static void
run_part(void *work, int64_t begin, int64_t end)
{
    const row_kernel *k = work;
    const void *in[ARRAYS] = {NULL};
    for (int a = 0; a < k->count; a++)
        in[a] = k->in[a] + begin * k->in_row[a];
    k->run(k->out + begin * k->out_row, in, end - begin, k->length);
}

void
dt_row_kernel_run(dt_row_kernel which, bool wide, void *out, const void *const *in,
                  int64_t rows, int64_t length)
{
    int64_t size = wide ? 8 : 4;
    row_kernel k = {.run = TABLE[dt_level()][wide]->run[which],
                    .out = out,
                    .out_row = dt_row_kernel_reduces(which) ? size : length * size,
                    .length = length,
                    .count = TAKES[which].rows + TAKES[which].numbers};
    for (int a = 0; a < k.count; a++) {
        k.in[a] = in[a];
        k.in_row[a] = a < TAKES[which].rows ? length * size : size;
    }
    dt_team_run(rows, 1 + length * EACH, run_part, &k);
}
