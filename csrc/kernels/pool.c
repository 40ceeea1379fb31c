#include "kernels/pool.h"

#include <math.h>

/* The elements of a window that are inside: from `first` to before `end`. */
typedef struct {
    int64_t first, end;
} inside;

static inline inside
window_at(const dt_windows *w, int64_t place)
{
    int64_t first = place * w->stride - w->padding;
    int64_t end = first + (w->size - 1) * w->dilation + 1;
    if (first < 0)
        first += (-first + w->dilation - 1) / w->dilation * w->dilation;
    return (inside){first, end < w->length ? end : w->length};
}

#define MAX_OF_PLANE(name, real)                                                       \
    static void name(real *values, int64_t *index, const real *x,                      \
                     const dt_windows windows[2])                                      \
    {                                                                                  \
        const dt_windows *down = &windows[0], *right = &windows[1];                    \
        for (int64_t p = 0; p < down->places; p++) {                                   \
            inside rows = window_at(down, p);                                          \
            for (int64_t q = 0; q < right->places; q++) {                              \
                inside columns = window_at(right, q);                                  \
                int64_t at = -1;                                                       \
                real best = -(real)INFINITY;                                           \
                for (int64_t i = rows.first; i < rows.end; i += down->dilation)        \
                    for (int64_t j = columns.first; j < columns.end;                   \
                         j += right->dilation) {                                       \
                        real other = x[i * right->length + j];                         \
                        if (other > best || at < 0 || isnan(other)) {                  \
                            best = other;                                              \
                            at = i * right->length + j;                                \
                        }                                                              \
                    }                                                                  \
                *values++ = best;                                                      \
                *index++ = at;                                                         \
            }                                                                          \
        }                                                                              \
    }

MAX_OF_PLANE(max_float32, float)
MAX_OF_PLANE(max_float64, double)

void
dt_pool_max(bool wide, void *values, int64_t *index, const void *x, int64_t rows,
            const dt_windows windows[2])
{
    int64_t elements = windows[0].length * windows[1].length;
    int64_t places = windows[0].places * windows[1].places;
    for (int64_t row = 0; row < rows; row++) {
        int64_t from = row * elements, to = row * places;
        if (wide)
            max_float64((double *)values + to, index + to, (const double *)x + from,
                        windows);
        else
            max_float32((float *)values + to, index + to, (const float *)x + from,
                        windows);
    }
}
