#include "kernels/attention.h"

#include <math.h>

/* A tile of queries, a chunk of keys: the scores of both stay in the second cache. The
 * levels multiply by blocks of 6 or 8 rows and 4 to 32 columns; ROWS and COLUMNS are
 * multiples of all of them, so that what is rounded up to these holds what a level rounds
 * up to its own; TILE and CHUNK are multiples, too. */
enum { TILE = 48, CHUNK = 480, COLUMNS = 32, ROWS = 24 };

/* Arrays in scratch. A gradient has all of them; the forward pass the first five. */
typedef struct {
    void *keys;       /* k^T in panels */
    void *values;     /* v in panels; for the gradient v^T */
    void *queries;    /* a tile of scale q, row by row */
    void *scores;     /* of a tile and a chunk; then the probabilities */
    void *sums;       /* of a tile: what `out` will be; for the gradient dq */
    void *key_rows;   /* k in panels */
    void *query_rows; /* a tile of scale q in panels */
    void *grads;      /* a tile of grad, row by row */
    void *grad_rows;  /* the same in panels */
    void *dscores;
    void *dk, *dv; /* row by row */
    int64_t pitch; /* from a row of the scores to the next */
} workspace;

static int64_t
up(int64_t count, int64_t block)
{
    return (count + block - 1) / block * block;
}

static int64_t
least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

typedef struct {
    void (*forward)(const dt_attention *a, const workspace *w);
    void (*backward)(const dt_attention *a, const workspace *w);
} loops;

#define LOOPS "kernels/attention_loops.h"
#include "kernels/levels.h"

static const loops *const TABLES[][2] = DT_LEVELS(TABLE);

/* Cuts the arrays out of scratch; returns the bytes that they take. */
static size_t
cut(workspace *w, const dt_attention *a, bool gradient, char *scratch)
{
    int64_t keys = up(a->keys, COLUMNS), width = up(a->width, COLUMNS);
    int64_t depth = up(a->depth, COLUMNS), rows = up(a->keys, ROWS);
    w->pitch = least(keys, CHUNK) + 16; /* a block's rows more, and no power of two */
    const struct {
        void **array;
        int64_t count;
    } arrays[] = {
        {&w->keys, a->width * keys},
        {&w->values, gradient ? a->depth * keys : a->keys * depth},
        {&w->queries, TILE * a->width},
        {&w->scores, TILE * w->pitch},
        {&w->sums, TILE * (gradient ? width : depth)},
        {&w->key_rows, a->keys * width},
        {&w->query_rows, TILE * width},
        {&w->grads, TILE * a->depth},
        {&w->grad_rows, TILE * depth},
        {&w->dscores, TILE * w->pitch},
        {&w->dk, rows * width},
        {&w->dv, rows * depth},
    };
    size_t used = 0, size = dt_dtype_size(a->dtype);
    for (int k = 0; k < (gradient ? 12 : 5); k++) {
        *arrays[k].array = scratch + used;
        used += (size_t)up(arrays[k].count * (int64_t)size, 64);
    }
    return used;
}

size_t
dt_attention_scratch(const dt_attention *a, bool gradient)
{
    workspace w;
    return cut(&w, a, gradient, NULL);
}

void
dt_attention_forward(const dt_attention *a, void *scratch)
{
    workspace w;
    cut(&w, a, false, scratch);
    TABLES[dt_level()][a->dtype == DT_FLOAT64]->forward(a, &w);
}

void
dt_attention_backward(const dt_attention *a, void *scratch)
{
    workspace w;
    cut(&w, a, true, scratch);
    TABLES[dt_level()][a->dtype == DT_FLOAT64]->backward(a, &w);
}
