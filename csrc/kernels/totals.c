#include "kernels/totals.h"

#include <math.h>

enum { LANES = 16, BLOCK = 4096 };

#define AS_IT_IS(x) (x)
#define SQUARE(x) ((x) * (x))
#define SUM(a, b) ((a) + (b))
#define PRODUCT(a, b) ((a) * (b))

/* The total of one block of a line, lane by lane, and those of lines side by side. */
#define TOTAL(name, real, of, start, combine)                                          \
    static double name##_block(const real *x, int64_t count)                           \
    {                                                                                  \
        real lanes[LANES];                                                             \
        double total = start;                                                          \
        int64_t k = 0;                                                                 \
        for (int j = 0; j < LANES && count >= LANES; j++)                              \
            lanes[j] = start;                                                          \
        for (; k + LANES <= count; k += LANES)                                         \
            for (int j = 0; j < LANES; j++)                                            \
                lanes[j] = combine(lanes[j], of(x[k + j]));                            \
        for (; k < count; k++)                                                         \
            total = combine(total, (double)of(x[k]));                                  \
        for (int j = 0; j < LANES && count >= LANES; j++)                              \
            total = combine(total, (double)lanes[j]);                                  \
        return total;                                                                  \
    }                                                                                  \
                                                                                       \
    static void name(real *restrict out, const real *restrict x, dt_dims d)            \
    {                                                                                  \
        for (int64_t o = 0; o < d.outer; o++, x += d.length * d.inner) {               \
            real *to = out + o * d.inner;                                              \
            double total = start;                                                      \
            for (int64_t k = 0; k < d.length && d.inner == 1; k += BLOCK) {            \
                int64_t rest = d.length - k;                                           \
                total =                                                                \
                    combine(total, name##_block(x + k, rest < BLOCK ? rest : BLOCK));  \
            }                                                                          \
            for (int64_t i = 0; i < d.inner; i++)                                      \
                to[i] = d.inner == 1 ? (real)total : start;                            \
            for (int64_t k = 0; k < d.length && d.inner > 1; k++)                      \
                for (int64_t i = 0; i < d.inner; i++)                                  \
                    to[i] = combine(to[i], of(x[k * d.inner + i]));                    \
        }                                                                              \
    }

/* Each as far as the line before, one after the other. */
#define RUNNING(name, real, combine)                                                   \
    static void name(real *restrict out, const real *restrict x, dt_dims d)            \
    {                                                                                  \
        const int64_t step = d.inner, end = d.length * step;                           \
        for (int64_t o = 0; o < d.outer && d.length > 0; o++, x += end, out += end) {  \
            for (int64_t i = 0; i < step; i++)                                         \
                out[i] = x[i];                                                         \
            real before = x[0];                                                        \
            for (int64_t k = 1; k < d.length && step == 1; k++)                        \
                out[k] = before = combine(before, x[k]);                               \
            for (int64_t k = step; k < end && step > 1; k += step)                     \
                for (int64_t i = 0; i < step; i++)                                     \
                    out[k + i] = combine(out[k - step + i], x[k + i]);                 \
        }                                                                              \
    }

#define EXTREME(name, real, is_before)                                                 \
    static void name(real *restrict out, int64_t *restrict index,                      \
                     const real *restrict x, dt_dims d)                                \
    {                                                                                  \
        const int64_t step = d.inner, end = d.length * step;                           \
        for (int64_t o = 0; o < d.outer && d.length > 0; o++) {                        \
            for (int64_t i = 0; i < step; i++) {                                       \
                out[i] = x[i];                                                         \
                index[i] = 0;                                                          \
            }                                                                          \
            real best = x[0];                                                          \
            for (int64_t k = 1, place = 0; k < d.length && step == 1; k++) {           \
                if (x[k] != x[k] || x[k] is_before best) {                             \
                    best = x[k];                                                       \
                    place = k;                                                         \
                }                                                                      \
                out[k] = best;                                                         \
                index[k] = place;                                                      \
            }                                                                          \
            for (int64_t at = step; at < end && step > 1; at++) {                      \
                bool taken = x[at] != x[at] || x[at] is_before out[at - step];         \
                out[at] = taken ? x[at] : out[at - step];                              \
                index[at] = taken ? at / step : index[at - step];                      \
            }                                                                          \
            x += end, out += end, index += end;                                        \
        }                                                                              \
    }

#define ALL(suffix, real, absolute)                                                    \
    TOTAL(sum_##suffix, real, AS_IT_IS, 0, SUM)                                        \
    TOTAL(sizes_##suffix, real, absolute, 0, SUM)                                      \
    TOTAL(squares_##suffix, real, SQUARE, 0, SUM)                                      \
    TOTAL(product_##suffix, real, AS_IT_IS, 1, PRODUCT)                                \
    RUNNING(sums_##suffix, real, SUM)                                                  \
    RUNNING(products_##suffix, real, PRODUCT)                                          \
    EXTREME(greatest_##suffix, real, >=)                                               \
    EXTREME(least_##suffix, real, <=)                                                  \
                                                                                       \
    static void total_##suffix(real *out, const real *x, dt_total total, dt_dims d,    \
                               double divisor)                                         \
    {                                                                                  \
        switch (total) {                                                               \
        case DT_TOTAL_SUM:                                                             \
            sum_##suffix(out, x, d);                                                   \
            break;                                                                     \
        case DT_TOTAL_SIZES:                                                           \
            sizes_##suffix(out, x, d);                                                 \
            break;                                                                     \
        case DT_TOTAL_SQUARES:                                                         \
            squares_##suffix(out, x, d);                                               \
            break;                                                                     \
        case DT_TOTAL_PRODUCT:                                                         \
            product_##suffix(out, x, d);                                               \
            break;                                                                     \
        }                                                                              \
        for (int64_t k = 0; k < d.outer * d.inner; k++) {                              \
            double found = (double)out[k];                                             \
            found = total == DT_TOTAL_SQUARES ? sqrt(found) : found / divisor;         \
            out[k] = (real)found;                                                      \
        }                                                                              \
    }

ALL(float32, float, fabsf)
ALL(float64, double, fabs)

void
dt_total_of(bool wide, void *out, const void *x, dt_total total, dt_dims dims,
            double divisor)
{
    if (wide)
        total_float64(out, x, total, dims, divisor);
    else
        total_float32(out, x, total, dims, divisor);
}

void
dt_running(bool wide, void *out, const void *x, dt_total total, dt_dims dims)
{
    bool sums = total == DT_TOTAL_SUM;
    if (wide)
        (sums ? sums_float64 : products_float64)(out, x, dims);
    else
        (sums ? sums_float32 : products_float32)(out, x, dims);
}

void
dt_running_extreme(bool wide, void *out, int64_t *index, const void *x, bool least,
                   dt_dims dims)
{
    if (wide)
        (least ? least_float64 : greatest_float64)(out, index, x, dims);
    else
        (least ? least_float32 : greatest_float32)(out, index, x, dims);
}
