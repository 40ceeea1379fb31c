#include "kernels/pool.h"

#include <math.h>
#include <stddef.h>

#define MAX_OF_PLANE(name, real)                                                       \
    static void name(real *values, int64_t *index, const real *x, const dt_spans *s)   \
    {                                                                                  \
        const int64_t width = s->lengths[1];                                           \
        for (int64_t p = 0; p < s->places[0]; p++) {                                   \
            const dt_span down = s->spans[0][p];                                       \
            for (int64_t q = 0; q < s->places[1]; q++) {                               \
                const dt_span right = s->spans[1][q];                                  \
                int64_t at = -1;                                                       \
                real best = -(real)INFINITY;                                           \
                for (int64_t i = down.first; i < down.end; i += down.step)             \
                    for (int64_t j = right.first; j < right.end; j += right.step) {    \
                        real other = x[i * width + j];                                 \
                        if (other > best || at < 0 || isnan(other)) {                  \
                            best = other;                                              \
                            at = i * width + j;                                        \
                        }                                                              \
                    }                                                                  \
                *values++ = best;                                                      \
                *index++ = at;                                                         \
            }                                                                          \
        }                                                                              \
    }

MAX_OF_PLANE(max_float32, float)
MAX_OF_PLANE(max_float64, double)

/* Windows that are as long as the longest and equally far apart: those from `first` to
 * before `end`. */
typedef struct {
    int64_t first, end, stride, length;
} regular;

static inline int64_t
length_of(const dt_span *s)
{
    return s->end <= s->first ? 0 : (s->end - s->first + s->step - 1) / s->step;
}

static regular
regular_of(const dt_span *spans, int64_t places)
{
    regular r = {0};
    for (int64_t q = 0; q < places; q++)
        if (length_of(&spans[q]) > r.length)
            r = (regular){.first = q, .length = length_of(&spans[q])};
    r.end = r.first + (places > 0);
    if (r.end < places)
        r.stride = spans[r.end].first - spans[r.first].first;
    while (r.end < places && length_of(&spans[r.end]) == r.length &&
           spans[r.end].first - spans[r.end - 1].first == r.stride)
        r.end++;
    return r;
}

/* The larger one, or NaN. */
#define MORE(a, b) ((b) > (a) || (b) != (b) ? (b) : (a))

#define RUN(step)                                                                      \
    for (int64_t q = 0; q < count; q++)                                                \
    to[q] = MORE(to[q], from[q * (step)])

#define MAXIMA(suffix, real)                                                           \
    static void one_##suffix(real *restrict out, const real *restrict line,            \
                             const dt_span *s)                                         \
    {                                                                                  \
        for (int64_t j = s->first; j < s->end; j += s->step)                           \
            *out = MORE(*out, line[j]);                                                \
    }                                                                                  \
                                                                                       \
    static void maxima_##suffix(real *restrict out, const real *restrict x,            \
                                const dt_spans *s, regular r, real *restrict line)     \
    {                                                                                  \
        const int64_t width = s->lengths[1], places = s->places[1];                    \
        const int64_t count = r.end - r.first;                                         \
        for (int64_t p = 0; p < s->places[0]; p++, out += places) {                    \
            const dt_span *down = &s->spans[0][p];                                     \
            const bool one = length_of(down) == 1; /* it is as good as a line */       \
            for (int64_t j = 0; j < width && !one; j++)                                \
                line[j] = -(real)INFINITY;                                             \
            for (int64_t i = down->first; i < down->end && !one; i += down->step)      \
                for (int64_t j = 0; j < width; j++)                                    \
                    line[j] = MORE(line[j], x[i * width + j]);                         \
            const real *row = one ? x + down->first * width : line;                    \
            for (int64_t q = 0; q < places; q++)                                       \
                out[q] = -(real)INFINITY;                                              \
            for (int64_t q = 0; q < r.first; q++)                                      \
                one_##suffix(&out[q], row, &s->spans[1][q]);                           \
            for (int64_t q = r.end; q < places; q++)                                   \
                one_##suffix(&out[q], row, &s->spans[1][q]);                           \
            for (int64_t k = 0; k < r.length; k++) {                                   \
                const dt_span *first = &s->spans[1][r.first];                          \
                const real *from = row + first->first + k * first->step;               \
                real *to = out + r.first;                                              \
                if (r.stride == 1)                                                     \
                    RUN(1);                                                            \
                else if (r.stride == 2)                                                \
                    RUN(2);                                                            \
                else                                                                   \
                    RUN(r.stride);                                                     \
            }                                                                          \
        }                                                                              \
    }

MAXIMA(float32, float)
MAXIMA(float64, double)

void
dt_pool_values(bool wide, void *values, const void *x, int64_t rows,
               const dt_spans *spans, void *line)
{
    int64_t elements = spans->lengths[0] * spans->lengths[1];
    int64_t places = spans->places[0] * spans->places[1];
    regular r = regular_of(spans->spans[1], spans->places[1]);
    for (int64_t row = 0; row < rows; row++)
        if (wide)
            maxima_float64((double *)values + row * places,
                           (const double *)x + row * elements, spans, r, line);
        else
            maxima_float32((float *)values + row * places,
                           (const float *)x + row * elements, spans, r, line);
}

void
dt_pool_max(bool wide, void *values, int64_t *index, const void *x, int64_t rows,
            const dt_spans *spans)
{
    int64_t elements = spans->lengths[0] * spans->lengths[1];
    int64_t places = spans->places[0] * spans->places[1];
    for (int64_t row = 0; row < rows; row++) {
        int64_t *numbers = index + row * places;
        if (wide)
            max_float64((double *)values + row * places, numbers,
                        (const double *)x + row * elements, spans);
        else
            max_float32((float *)values + row * places, numbers,
                        (const float *)x + row * elements, spans);
    }
}

/* --- means --- */

static inline int64_t
divisor_of(const dt_spans *s, const dt_span *down, const dt_span *right)
{
    return s->divisor != 0 ? s->divisor : down->count * right->count;
}

#define MEANS(suffix, real)                                                            \
    static void mean_##suffix(real *restrict out, const real *restrict x,              \
                              const dt_spans *s, real *restrict line)                  \
    {                                                                                  \
        const int64_t width = s->lengths[1];                                           \
        for (int64_t p = 0; p < s->places[0]; p++) {                                   \
            const dt_span *down = &s->spans[0][p];                                     \
            for (int64_t j = 0; j < width; j++)                                        \
                line[j] = 0;                                                           \
            for (int64_t i = down->first; i < down->end; i++)                          \
                for (int64_t j = 0; j < width; j++)                                    \
                    line[j] += x[i * width + j];                                       \
            for (int64_t q = 0; q < s->places[1]; q++) {                               \
                const dt_span *right = &s->spans[1][q];                                \
                real sum = 0;                                                          \
                for (int64_t j = right->first; j < right->end; j++)                    \
                    sum += line[j];                                                    \
                *out++ = sum / (real)divisor_of(s, down, right);                       \
            }                                                                          \
        }                                                                              \
    }                                                                                  \
                                                                                       \
    static void mean_input_##suffix(real *restrict out, const real *restrict grad,     \
                                    const dt_spans *s, real *restrict line)            \
    {                                                                                  \
        const int64_t width = s->lengths[1];                                           \
        for (int64_t p = 0; p < s->places[0]; p++) {                                   \
            const dt_span *down = &s->spans[0][p];                                     \
            for (int64_t j = 0; j < width; j++)                                        \
                line[j] = 0;                                                           \
            for (int64_t q = 0; q < s->places[1]; q++) {                               \
                const dt_span *right = &s->spans[1][q];                                \
                real share = *grad++ / (real)divisor_of(s, down, right);               \
                for (int64_t j = right->first; j < right->end; j++)                    \
                    line[j] += share;                                                  \
            }                                                                          \
            for (int64_t i = down->first; i < down->end; i++)                          \
                for (int64_t j = 0; j < width; j++)                                    \
                    out[i * width + j] += line[j];                                     \
        }                                                                              \
    }

MEANS(float32, float)
MEANS(float64, double)

void
dt_pool_mean(bool wide, void *out, const void *x, int64_t rows, const dt_spans *spans,
             void *line)
{
    int64_t elements = spans->lengths[0] * spans->lengths[1];
    int64_t places = spans->places[0] * spans->places[1];
    for (int64_t row = 0; row < rows; row++)
        if (wide)
            mean_float64((double *)out + row * places,
                         (const double *)x + row * elements, spans, line);
        else
            mean_float32((float *)out + row * places, (const float *)x + row * elements,
                         spans, line);
}

void
dt_pool_mean_input(bool wide, void *out, const void *grad, int64_t rows,
                   const dt_spans *spans, void *line)
{
    int64_t elements = spans->lengths[0] * spans->lengths[1];
    int64_t places = spans->places[0] * spans->places[1];
    for (int64_t row = 0; row < rows; row++)
        if (wide)
            mean_input_float64((double *)out + row * elements,
                               (const double *)grad + row * places, spans, line);
        else
            mean_input_float32((float *)out + row * elements,
                               (const float *)grad + row * places, spans, line);
}
