#include "kernels/vector_norm.h"

#include <math.h>

enum { LANES = 16, BLOCK = 4096 };

/* Sums of one line, lane by lane, block by block; of lines side by side. */
#define NORM(suffix, real, absolute)                                                   \
    static inline real of_##suffix(real x, int order)                                  \
    {                                                                                  \
        return order == 2 ? x * x : absolute(x);                                       \
    }                                                                                  \
                                                                                       \
    static inline double sum_##suffix(const real *x, int order, int64_t count)         \
    {                                                                                  \
        real lanes[LANES] = {0};                                                       \
        double sum = 0;                                                                \
        int64_t k = 0;                                                                 \
        for (; k + LANES <= count; k += LANES)                                         \
            for (int j = 0; j < LANES; j++)                                            \
                lanes[j] += of_##suffix(x[k + j], order);                              \
        for (; k < count; k++)                                                         \
            sum += (double)of_##suffix(x[k], order);                                   \
        for (int j = 0; j < LANES; j++)                                                \
            sum += (double)lanes[j];                                                   \
        return sum;                                                                    \
    }                                                                                  \
                                                                                       \
    static inline void norm_##suffix(real *restrict out, const real *restrict x,       \
                                     int order, int64_t outer, int64_t length,         \
                                     int64_t inner)                                    \
    {                                                                                  \
        for (int64_t o = 0; o < outer; o++, x += length * inner, out += inner) {       \
            double sum = 0;                                                            \
            for (int64_t k = 0; k < length && inner == 1; k += BLOCK)                  \
                sum += sum_##suffix(x + k, order,                                      \
                                    length - k < BLOCK ? length - k : BLOCK);          \
            for (int64_t i = 0; i < inner; i++)                                        \
                out[i] = inner == 1 ? (real)(order == 2 ? sqrt(sum) : sum) : 0;        \
            if (inner == 1)                                                            \
                continue;                                                              \
            for (int64_t k = 0; k < length; k++)                                       \
                for (int64_t i = 0; i < inner; i++)                                    \
                    out[i] += of_##suffix(x[k * inner + i], order);                    \
            for (int64_t i = 0; i < inner && order == 2; i++)                          \
                out[i] = (real)sqrt((double)out[i]);                                   \
        }                                                                              \
    }                                                                                  \
                                                                                       \
    /* Each order has loops of its own. */                                             \
    static void either_##suffix(real *out, const real *x, int order, int64_t outer,    \
                                int64_t length, int64_t inner)                         \
    {                                                                                  \
        if (order == 2)                                                                \
            norm_##suffix(out, x, 2, outer, length, inner);                            \
        else                                                                           \
            norm_##suffix(out, x, 1, outer, length, inner);                            \
    }

NORM(float32, float, fabsf)
NORM(float64, double, fabs)

void
dt_vector_norm(bool wide, void *out, const void *x, int order, int64_t outer,
               int64_t length, int64_t inner)
{
    if (wide)
        either_float64(out, x, order, outer, length, inner);
    else
        either_float32(out, x, order, outer, length, inner);
}
