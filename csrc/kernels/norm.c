#include "kernels/norm.h"

#include <stddef.h>

typedef struct {
    void (*run)(void *out, const dt_norm *norm);
    void (*backward)(void *dx, void *dweight, void *dbias, const void *g,
                     const dt_norm *norm);
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

void
dt_norm_run(bool wide, void *out, const dt_norm *norm)
{
    TABLE[dt_level()][wide]->run(out, norm);
}

void
dt_norm_backward(bool wide, void *dx, void *dweight, void *dbias, const void *g,
                 const dt_norm *norm)
{
    TABLE[dt_level()][wide]->backward(dx, dweight, dbias, g, norm);
}
