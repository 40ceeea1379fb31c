#include "kernels/random.h"

#include "core/threads/team.h"
#include "kernels/half.h"
#include "kernels/random_normal.h"

#include <math.h>
#include <stdbool.h>

enum { CHUNK = 512 }; /* elements that are made at a time: they stay in the caches */

/* --- dtypes --- */

#define CONVERT(name, type, element)                                                   \
    static void name(void *out, const double *in, int64_t count)                       \
    {                                                                                  \
        type *o = out;                                                                 \
        for (int64_t i = 0; i < count; i++)                                            \
            o[i] = (type)(element);                                                    \
    }

#define CONVERT_WHOLE(name, type, element)                                             \
    static void whole_##name(void *out, const uint64_t *in, int64_t count)             \
    {                                                                                  \
        type *o = out;                                                                 \
        for (int64_t i = 0; i < count; i++)                                            \
            o[i] = (type)(element);                                                    \
    }

#define BOTH(name, type, signed_type)                                                  \
    CONVERT(name, type, in[i])                                                         \
    CONVERT_WHOLE(name, type, (signed_type)in[i])

BOTH(int8, int8_t, int64_t)
BOTH(int16, int16_t, int64_t)
BOTH(int32, int32_t, int64_t)
BOTH(int64, int64_t, int64_t)
BOTH(uint8, uint8_t, uint64_t)
BOTH(uint16, uint16_t, uint64_t)
BOTH(uint32, uint32_t, uint64_t)
BOTH(uint64, uint64_t, uint64_t)
BOTH(float32, float, int64_t)
BOTH(float64, double, int64_t)
BOTH(longdouble, long double, int64_t)
CONVERT(boolean, uint8_t, in[i] != 0)
CONVERT_WHOLE(boolean, uint8_t, in[i] != 0)
CONVERT(float16, uint16_t, dt_to_float16((float)in[i]))
CONVERT_WHOLE(float16, uint16_t, dt_to_float16((float)(int64_t)in[i]))
CONVERT(bfloat16, uint16_t, dt_to_bfloat16((float)in[i]))
CONVERT_WHOLE(bfloat16, uint16_t, dt_to_bfloat16((float)(int64_t)in[i]))

/* value, or 0 where not `kept`: by bits, for a branch would be taken by chance. */
static inline uint16_t
keep_half(bool kept, uint16_t value)
{
    return (uint16_t)(value * kept);
}

static inline float
keep_float(bool kept, float value)
{
    return dt_float_of_bits(dt_bits_of_float(value) & (0 - (uint32_t)kept));
}

static inline double
keep_double(bool kept, double value)
{
    return dt_double_of_bits(dt_bits_of_double(value) & (0 - (uint64_t)kept));
}

static inline long double
keep_long(bool kept, long double value)
{
    return kept ? value : 0;
}

/* out[i] = x[i] * scale, or 0 where the draw is below the limit; `parts` of an element
 * share a draw. */
#define DROP(name, type, keep, parts, product)                                         \
    static void drop_##name(void *out, const void *in, double scale,                   \
                            const uint32_t *draws, uint32_t limit, int64_t count)      \
    {                                                                                  \
        type *o = out;                                                                 \
        const type *x = in;                                                            \
        for (int64_t i = 0; i < count; i++)                                            \
            for (int k = 0; k < parts; k++)                                            \
                o[parts * i + k] = keep_##keep(draws[i] >> 8 >= limit, product);       \
    }

DROP(float16, uint16_t, half, 1, dt_to_float16(dt_from_float16(x[i]) * (float)scale))
DROP(bfloat16, uint16_t, half, 1, dt_to_bfloat16(dt_from_bfloat16(x[i]) * (float)scale))
DROP(float32, float, float, 1, x[i] * (float)scale)
DROP(float64, double, double, 1, x[i] * scale)
DROP(longdouble, long double, long, 1, x[i] * (long double)scale)
DROP(complex64, float, float, 2, x[2 * i + k] * (float)scale)
DROP(complex128, double, double, 2, x[2 * i + k] * scale)
DROP(clongdouble, long double, long, 2, x[2 * i + k] * (long double)scale)

typedef struct {
    int bits;  /* of a uniform number; up to 24 of them come from half a word */
    int parts; /* reals in an element */
    void (*convert)(void *out, const double *in, int64_t count); /* of reals */
    void (*convert_whole)(void *out, const uint64_t *in, int64_t count);
    void (*drop)(void *out, const void *in, double scale, const uint32_t *draws,
                 uint32_t limit, int64_t count);
} row;

#define WHOLE(name) {53, 1, name, whole_##name, NULL}
#define REAL(name, bits) {bits, 1, name, whole_##name, drop_##name}
#define COMPLEX(name, real, bits) {bits, 2, real, NULL, drop_##name}

static const row ROWS[DT_DTYPE_COUNT] = {
    [DT_BOOL] = WHOLE(boolean),
    [DT_INT8] = WHOLE(int8),
    [DT_INT16] = WHOLE(int16),
    [DT_INT32] = WHOLE(int32),
    [DT_INT64] = WHOLE(int64),
    [DT_UINT8] = WHOLE(uint8),
    [DT_UINT16] = WHOLE(uint16),
    [DT_UINT32] = WHOLE(uint32),
    [DT_UINT64] = WHOLE(uint64),
    [DT_FLOAT16] = REAL(float16, 11),
    [DT_BFLOAT16] = REAL(bfloat16, 8),
    [DT_FLOAT32] = REAL(float32, 24),
    [DT_FLOAT64] = REAL(float64, 53),
    [DT_LONGDOUBLE] = REAL(longdouble, 53),
    [DT_COMPLEX64] = COMPLEX(complex64, float32, 24),
    [DT_COMPLEX128] = COMPLEX(complex128, float64, 53),
    [DT_CLONGDOUBLE] = COMPLEX(clongdouble, longdouble, 53),
};

static bool
takes_halves(dt_draw_kind kind, const row *r)
{
    return kind == DT_DRAW_UNIFORM && r->bits <= 24;
}

void
dt_draw_take(dt_stream *stream, dt_draw_kind kind, dt_dtype dtype, uint64_t count)
{
    const row *r = &ROWS[dtype];
    uint64_t reals = count * (uint64_t)r->parts;
    if (takes_halves(kind, r))
        dt_stream_take_halves(stream, reals);
    else
        dt_stream_take_words(stream,
                             kind == DT_DRAW_NORMAL ? reals + reals % 2 : reals);
}

/* --- a chunk of values, in double --- */

/* What one call of dt_draw_run works with. */
typedef struct {
    const dt_draw *draw;
    const dt_stream *stream;
    const row *row;
    uint64_t words[CHUNK];
    double values[CHUNK];
} work;

static void
make_words(work *w, int64_t first, int64_t count)
{
    uint64_t place = w->stream->position + (uint64_t)first;
    dt_random_words(w->words, w->stream->key, place, count);
}

static void
unit_from_halves(work *w, int64_t first, int64_t count)
{
    uint32_t halves[CHUNK];
    int shift = 32 - w->row->bits;
    double unit = ldexp(1, -w->row->bits);
    dt_random_halves(halves, w->stream, first, count);
    for (int64_t i = 0; i < count; i++)
        w->values[i] = (double)(int32_t)(halves[i] >> shift) * unit;
}

static void
unit_from_words(work *w, int64_t first, int64_t count)
{
    make_words(w, first, count);
    for (int64_t i = 0; i < count; i++)
        w->values[i] = (double)(int64_t)(w->words[i] >> 11) * 0x1p-53;
}

/* From [0, 1) to [a, b), where rounding is not to reach b: neither that of the sum nor
 * the one to the dtype. */
static void
spread(work *w, int64_t count)
{
    double a = w->draw->a, b = w->draw->b, width = b - a;
    int bits = w->row->bits;
    double most = bits == 53 ? nextafter(b, -INFINITY) : b - ldexp(fabs(b), 1 - bits);
    most = most > a ? most : a;
    for (int64_t i = 0; i < count; i++) {
        double value = a + width * w->values[i];
        w->values[i] = value < most ? value : most;
    }
}

static void
make_uniform(work *w, int64_t first, int64_t count)
{
    if (takes_halves(DT_DRAW_UNIFORM, w->row))
        unit_from_halves(w, first, count);
    else
        unit_from_words(w, first, count);
    if (w->draw->a != 0 || w->draw->b != 1)
        spread(w, count);
}

/* `first` and `count` are even. */
static void
make_normal(work *w, int64_t first, int64_t count)
{
    bool complex = w->row->parts == 2;
    double deviation = complex ? w->draw->b * sqrt(0.5) : w->draw->b;
    double means[2] = {w->draw->a, complex ? 0 : w->draw->a};
    make_words(w, first, count);
    dt_random_normals(w->values, w->words, count / 2);
    if (means[0] == 0 && deviation == 1)
        return;
    for (int64_t i = 0; i < count; i += 2) {
        w->values[i] = means[0] + deviation * w->values[i];
        w->values[i + 1] = means[1] + deviation * w->values[i + 1];
    }
}

static void
make_exponential(work *w, int64_t first, int64_t count)
{
    make_words(w, first, count);
    dt_random_exponentials(w->values, w->words, count);
    for (int64_t i = 0; i < count; i++)
        w->values[i] /= w->draw->a;
}

static void
make_bernoulli(work *w, int64_t first, int64_t count)
{
    unit_from_words(w, first, count);
    for (int64_t i = 0; i < count; i++)
        w->values[i] = w->values[i] < w->draw->a;
}

static void
make_integers(work *w, int64_t first, int64_t count)
{
    uint64_t place = w->stream->position + (uint64_t)first;
    dt_random_below(w->words, w->stream->key, place, count, w->draw->span);
    for (int64_t i = 0; i < count; i++)
        w->words[i] += w->draw->low;
}

static void (*const MAKE[DT_DRAW_KIND_COUNT])(work *w, int64_t first, int64_t count) = {
    [DT_DRAW_UNIFORM] = make_uniform,         [DT_DRAW_NORMAL] = make_normal,
    [DT_DRAW_EXPONENTIAL] = make_exponential, [DT_DRAW_BERNOULLI] = make_bernoulli,
    [DT_DRAW_INTEGERS] = make_integers,
};

/* --- runs --- */

enum { EACH = 32 }; /* for dt_team_run */

/* Elements of an array, from number `first` on; of a dropout `from`, else `draw`. */
typedef struct {
    char *to;
    const char *from;
    const dt_draw *draw;
    dt_dtype dtype;
    double p;
    const dt_stream *stream;
    int64_t first;
} run;

static void
make(const run *r, char *to, int64_t first, int64_t count)
{
    const dt_draw *draw = r->draw;
    work w; /* not zeroed: runs may be short */
    w.draw = draw;
    w.stream = r->stream;
    w.row = &ROWS[draw->dtype];
    bool pairs = draw->kind == DT_DRAW_NORMAL;
    int64_t size = (int64_t)dt_dtype_size(draw->dtype) / w.row->parts;
    first *= w.row->parts;
    count *= w.row->parts;
    while (count > 0) {
        int64_t lead = pairs ? first % 2 : 0; /* of a pair whose first is not wanted */
        int64_t part = count < CHUNK - lead ? count : CHUNK - lead;
        int64_t made = lead + part;
        MAKE[draw->kind](&w, first - lead, pairs ? made + made % 2 : made);
        if (draw->kind == DT_DRAW_INTEGERS)
            w.row->convert_whole(to, w.words, part);
        else
            w.row->convert(to, w.values + lead, part);
        to += part * size;
        first += part;
        count -= part;
    }
}

static void
drop(const run *r, int64_t begin, int64_t end)
{
    uint32_t draws[CHUNK];
    uint32_t limit = (uint32_t)ceil(r->p * 0x1p24);
    int64_t size = (int64_t)dt_dtype_size(r->dtype);
    for (int64_t done = begin; done < end; done += CHUNK) {
        int64_t part = end - done < CHUNK ? end - done : CHUNK;
        dt_random_halves(draws, r->stream, r->first + done, part);
        ROWS[r->dtype].drop(r->to + done * size, r->from + done * size, 1 / (1 - r->p),
                            draws, limit, part);
    }
}

static void
run_part(void *argument, int64_t begin, int64_t end)
{
    const run *r = argument;
    if (r->from != NULL)
        drop(r, begin, end);
    else
        make(r, r->to + begin * (int64_t)dt_dtype_size(r->dtype), r->first + begin,
             end - begin);
}

void
dt_draw_run(void *out, const dt_draw *draw, const dt_stream *stream, int64_t first,
            int64_t count)
{
    run r = {.to = out,
             .draw = draw,
             .dtype = draw->dtype,
             .stream = stream,
             .first = first};
    dt_team_run(count, EACH, run_part, &r);
}

void
dt_dropout_run(void *out, const void *x, dt_dtype dtype, double p,
               const dt_stream *stream, int64_t first, int64_t count)
{
    run r = {out, x, NULL, dtype, p, stream, first};
    dt_team_run(count, EACH, run_part, &r);
}
