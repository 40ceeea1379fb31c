#include "kernels/panel.h"

typedef struct {
    void (*eliminate)(int64_t *pivots, const dt_panel *columns);
    void (*divide)(const void *lower, const dt_panel *rows);
} loops;

enum {
    GROUP = 8,  /* lines that are subtracted from another one together */
    CHUNK = 256 /* elements of a line: so many of a group stay in the cache */
};

static inline int64_t
least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

#define LOOPS "kernels/panel_loops.h"
#include "kernels/levels.h"

static const loops *const TABLE[][2] = DT_LEVELS(TABLE);

void
dt_panel_eliminate(bool wide, int64_t *pivots, const dt_panel *columns)
{
    TABLE[dt_level()][wide]->eliminate(pivots, columns);
}

void
dt_panel_divide(bool wide, const void *lower, const dt_panel *rows)
{
    TABLE[dt_level()][wide]->divide(lower, rows);
}
