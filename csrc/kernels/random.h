/* random.h: elements of random arrays, made of the words of a stream
 * (core/format/random.h).
 *
 * An array of `count` elements (a complex one counts as 2 * count reals, real part
 * first) that is drawn from a stream takes, element by element in C order:
 *
 *   UNIFORM      float32, complex64 and smaller: one draw of 32 bits, of which the
 *                highest 24 (float16: 11, bfloat16: 8) make a multiple of 2^-24 in
 *                [0, 1); others: one word, of which the highest 53 do. NumPy's
 * random(). NORMAL       two words for a pair of elements, by the method of Box and
 * Muller (Ann. Math. Stat. 29, 1958): with u and v the multiples of 2^-52 that the
 *                highest 52 bits of the words make, r cos(2 pi v) and r sin(2 pi v)
 *                where r = sqrt(-2 ln(1 - u)). The last pair may be a half. In double,
 *                then rounded to the dtype.
 *   EXPONENTIAL  one word: -ln(1 - u), in double, then rounded.
 *   BERNOULLI    one word: 1 where the number that UNIFORM makes of it in float64 is
 *                below the probability, else 0.
 *   INTEGERS     one word: dt_random_below.
 *
 * The logarithm, sine and cosine are sums and products of our own, in a fixed order, so
 * that every machine of IEEE arithmetic has the same bits; they are off by at most 2
 * units in the last place. */
#ifndef DT_KERNELS_RANDOM_H
#define DT_KERNELS_RANDOM_H

#include "core/facts/dtype.h"
#include "core/format/random.h"

typedef enum {
    DT_DRAW_UNIFORM,
    DT_DRAW_NORMAL,
    DT_DRAW_EXPONENTIAL,
    DT_DRAW_BERNOULLI,
    DT_DRAW_INTEGERS,
} dt_draw_kind;

enum { DT_DRAW_KIND_COUNT = DT_DRAW_INTEGERS + 1 };

typedef struct {
    dt_draw_kind kind;
    dt_dtype dtype;
    /* UNIFORM: in [a, b). NORMAL: mean a, of the real part, and standard deviation b,
     * of a complex number as a whole. EXPONENTIAL: divided by a. BERNOULLI: the
     * probability a. */
    double a, b;
    /* INTEGERS: low ... low + span - 1, modulo 2^64, where span 0 means 2^64; read as
     * signed numbers by what is no unsigned dtype. */
    uint64_t low, span;
} dt_draw;

/* Takes an array of `count` elements out of a stream. */
void dt_draw_take(dt_stream *stream, dt_draw_kind kind, dt_dtype dtype, uint64_t count);

/* Makes the elements first ... first + count - 1 of an array that is drawn from the
 * stream as it stands: the same bits however an array is cut into such runs. */
void dt_draw_run(void *out, const dt_draw *draw, const dt_stream *stream, int64_t first,
                 int64_t count);

/* out[i] = x[i] / (1 - p), or 0 where element first + i is dropped: where the number
 * that UNIFORM makes of it in float32 is below p. Floating and complex dtypes; one draw
 * of 32 bits for each element, complex or not. `out` may be `x`. */
void dt_dropout_run(void *out, const void *x, dt_dtype dtype, double p,
                    const dt_stream *stream, int64_t first, int64_t count);

#endif
