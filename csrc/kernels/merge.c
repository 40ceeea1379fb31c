#include "kernels/merge.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

enum { LANES = 4 };

/* Ranges of two runs, from i and j on, and where they go to. */
typedef struct {
    int64_t i, i_end, j, j_end, k;
} lane;

typedef struct {
    const int64_t *a, *b;
    int64_t *out;
} places;

/* How many steps all lanes can do before a range may have ended. */
static int64_t
common_steps(const lane *lanes)
{
    int64_t least = INT64_MAX;
    for (int l = 0; l < LANES; l++) {
        int64_t i = lanes[l].i_end - lanes[l].i, j = lanes[l].j_end - lanes[l].j;
        least = i < least ? i : least;
        least = j < least ? j : least;
    }
    return least;
}

/* Copies what is left of a lane: of one of its ranges, at most. */
static void
append(lane *l, const void *a, const void *b, void *out, size_t size, const places *of)
{
    const bool is_first = l->i < l->i_end;
    const int64_t from = is_first ? l->i : l->j;
    const size_t count = (size_t)(is_first ? l->i_end - l->i : l->j_end - l->j);
    if (count == 0)
        return;
    memcpy((char *)out + (size_t)l->k * size,
           (const char *)(is_first ? a : b) + (size_t)from * size, count * size);
    if (of != NULL)
        memcpy(of->out + l->k, (is_first ? of->a : of->b) + from,
               count * sizeof *of->a);
}

#define NAME_OF(name, suffix) name##_##suffix

/* Each time for another type. */
#define IS_NAN(x) ((void)(x), false)
#define T uint8_t
#define M(name) NAME_OF(name, uint8)
#include "kernels/merge_loops.h"
#define T uint16_t
#define M(name) NAME_OF(name, uint16)
#include "kernels/merge_loops.h"
#define T uint32_t
#define M(name) NAME_OF(name, uint32)
#include "kernels/merge_loops.h"
#define T uint64_t
#define M(name) NAME_OF(name, uint64)
#include "kernels/merge_loops.h"
#define T int8_t
#define M(name) NAME_OF(name, int8)
#include "kernels/merge_loops.h"
#define T int16_t
#define M(name) NAME_OF(name, int16)
#include "kernels/merge_loops.h"
#define T int32_t
#define M(name) NAME_OF(name, int32)
#include "kernels/merge_loops.h"
#define T int64_t
#define M(name) NAME_OF(name, int64)
#include "kernels/merge_loops.h"
#undef IS_NAN
#define IS_NAN isnan
#define T float
#define M(name) NAME_OF(name, float32)
#include "kernels/merge_loops.h"
#define T double
#define M(name) NAME_OF(name, float64)
#include "kernels/merge_loops.h"

typedef void merger(const void *, int64_t, const void *, int64_t, void *,
                    const places *);

static merger *const mergers[DT_DTYPE_COUNT] = {
    [DT_BOOL] = two_uint8,      [DT_UINT8] = two_uint8,     [DT_UINT16] = two_uint16,
    [DT_UINT32] = two_uint32,   [DT_UINT64] = two_uint64,   [DT_INT8] = two_int8,
    [DT_INT16] = two_int16,     [DT_INT32] = two_int32,     [DT_INT64] = two_int64,
    [DT_FLOAT32] = two_float32, [DT_FLOAT64] = two_float64,
};

bool
dt_merge_has(dt_dtype dtype)
{
    return mergers[dtype] != NULL;
}

const dt_runs *
dt_merge(dt_dtype dtype, const dt_runs *x, int64_t *sizes, int64_t count,
         const dt_runs *out, const dt_runs *other)
{
    const size_t size = dt_dtype_size(dtype);
    do {
        int64_t at = 0, left = 0;
        for (int64_t k = 0; k < count; k += 2) {
            int64_t n = sizes[k], m = k + 1 < count ? sizes[k + 1] : 0;
            const char *a = (const char *)x->values + (size_t)at * size;
            places of = {x->places, x->places, out->places};
            if (x->places != NULL)
                of = (places){x->places + at, x->places + at + n, out->places + at};
            mergers[dtype](a, n, a + (size_t)n * size, m,
                           (char *)out->values + (size_t)at * size,
                           x->places != NULL ? &of : NULL);
            sizes[left++] = n + m;
            at += n + m;
        }
        const dt_runs *next = other;
        x = other = out;
        out = next;
        count = left;
    } while (count > 1);
    return x;
}
