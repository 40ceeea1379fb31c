#include "kernels/softmax.h"

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

bool
dt_row_kernel_reduces(dt_row_kernel which)
{
    return which == DT_LOGSUMEXP || which == DT_SUM_EXP || which == DT_ROW_DOT;
}

void
dt_row_kernel_run(dt_row_kernel which, bool wide, void *out, const void *const *in,
                  int64_t rows, int64_t length)
{
    TABLE[dt_level()][wide]->run[which](out, in, rows, length);
}
