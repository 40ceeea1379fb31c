/* channels_loops.h: what channels.c compiles for each instruction set (levels.h). */
#define total K(total)
#define run_sums K(run_sums)
#define column_sums K(column_sums)
#define mixed K(mixed)
#define scaled K(scaled)
#define number_of K(number_of)

/* What a channel has, in double. */
typedef struct {
    double sum, product;
} total;

V_INLINE REAL
number_of(const void *vector, int64_t channel)
{
    return vector == NULL ? 0 : ((const REAL *)vector)[channel];
}

/* --- sums --- */

/* Takes a vector of numbers from place `from` on, of which there are `left`, into sum and
 * product; without g, squares; none above 0 if they are rectified. */
#define TAKE(sum, product, from, mean, left)                                           \
    do {                                                                               \
        vec off = v_get((const REAL *)of->x + (from), left) - (mean);                  \
        vec grad = g == NULL ? off : v_get(g + (from), left);                          \
        if (rectified)                                                                 \
            off = v_select(off > 0, v_splat(0), off);                                  \
        sum += grad;                                                                   \
        product += v_part(grad * off, left);                                           \
    } while (0)

/* Adds runs of places: of `rows` samples, from number `first` on. */
V_INLINE void
run_sums(total *t, const job *j, int64_t first, REAL mean, int rows)
{
    const dt_channels *of = j->of;
    const REAL *g = j->g;
    bool rectified = j->rectified;
    int64_t step = of->channels * of->inner;
    for (int64_t at = 0; at < of->inner; at += BLOCK) {
        int64_t end = least(at + BLOCK, of->inner);
        vec sum[ROWS], product[ROWS];
        for (int k = 0; k < rows; k++)
            sum[k] = product[k] = v_splat(0);
        for (int64_t i = at; i < end; i += LANES)
            for (int k = 0; k < rows; k++)
                TAKE(sum[k], product[k], first + k * step + i, mean, end - i);
        for (int k = 0; k < rows; k++) {
            t->sum += (double)v_sum(sum[k]);
            t->product += (double)v_sum(product[k]);
        }
    }
}

/* The sums of `left` channels that are single numbers, from channel `c` on. */
V_INLINE void
column_sums(total *t, const job *j, int64_t c, int64_t left)
{
    const dt_channels *of = j->of;
    const REAL *g = j->g;
    bool rectified = j->rectified;
    vec mean = of->mean == NULL ? v_splat(0) : v_get((const REAL *)of->mean + c, left);
    for (int64_t at = 0; at < of->samples; at += BLOCK) {
        int64_t end = least(at + BLOCK, of->samples);
        vec sum = v_splat(0), product = sum;
        for (int64_t n = at; n < end; n++)
            TAKE(sum, product, n * of->channels + c, mean, left);
        for (int64_t k = 0; k < least(left, LANES); k++) {
            t[k].sum += (double)sum[k];
            t[k].product += (double)product[k];
        }
    }
}

TARGET static void
K(sum)(void *work, int64_t begin, int64_t end)
{
    const job *j = work;
    const dt_channels *of = j->of;
    bool single = of->inner == 1;
    begin *= single ? COLUMNS : 1;
    end = single ? least(end * COLUMNS, of->channels) : end;
    for (int64_t c = begin, count; c < end; c += count) {
        total t[LANES] = {{0, 0}};
        count = single ? least(LANES, end - c) : 1;
        if (single) {
            column_sums(t, j, c, end - c);
        } else {
            REAL mean = number_of(of->mean, c);
            int64_t n = 0;
            for (; n + ROWS <= of->samples; n += ROWS)
                run_sums(t, j, (n * of->channels + c) * of->inner, mean, ROWS);
            for (; n < of->samples; n++)
                run_sums(t, j, (n * of->channels + c) * of->inner, mean, 1);
        }
        for (int64_t k = 0; k < count; k++) {
            if (j->sums != NULL)
                ((REAL *)j->sums)[c + k] = (REAL)t[k].sum;
            ((REAL *)j->products)[c + k] = (REAL)t[k].product;
        }
    }
}

/* --- numbers that are scaled and shifted --- */

/* From number `at` on `count` of them, which are beside those of the vectors from `c` on
 * if `single`, or else all beside number c. */
V_INLINE void
mixed(const job *j, int64_t at, int64_t c, int64_t count, bool single)
{
    const dt_channels *of = j->of;
    const REAL *x = (const REAL *)of->x + at;
    const REAL *g = j->g == NULL ? NULL : (const REAL *)j->g + at;
    vec mean, scale, shift, factor;
    if (!single) {
        mean = v_splat(number_of(of->mean, c));
        scale = v_splat(number_of(j->scale, c));
        shift = v_splat(number_of(j->shift, c));
        factor = v_splat(number_of(j->factor, c));
    }
    for (int64_t i = 0; i < count; i += LANES) {
        int64_t left = count - i;
        if (single) {
            mean = v_get((const REAL *)of->mean + c + i, left);
            scale = v_get((const REAL *)j->scale + c + i, left);
        }
        vec y = (v_get(x + i, left) - mean) * scale;
        if (j->shift != NULL)
            y += single ? v_get((const REAL *)j->shift + c + i, left) : shift;
        if (g != NULL)
            y += v_get(g + i, left) *
                 (single ? v_get((const REAL *)j->factor + c + i, left) : factor);
        v_put((REAL *)j->out + at + i, y, left);
    }
}

/* Numbers above 0 stay, others are scaled; of those of g, if there are any. */
V_INLINE void
scaled(const job *j, int64_t at, int64_t c, int64_t count, bool single)
{
    const REAL *x = (const REAL *)j->of->x + at;
    const REAL *y = j->g == NULL ? x : (const REAL *)j->g + at;
    const REAL *slopes = (const REAL *)j->scale + c;
    vec slope = v_splat(single ? 0 : *slopes);
    for (int64_t i = 0; i < count; i += LANES) {
        vec from = v_get(y + i, count - i);
        if (single)
            slope = v_get(slopes + i, count - i);
        vec to = v_select(v_get(x + i, count - i) > 0, from, from * slope);
        v_put((REAL *)j->out + at + i, to, count - i);
    }
}

/* (clang-format takes products for pointers.) */
/* clang-format off */
#define RUNS(name, run)                                                                \
    TARGET static void K(name)(void *work, int64_t begin, int64_t end)                 \
    {                                                                                  \
        const job *j = work;                                                           \
        int64_t channels = j->of->channels, inner = j->of->inner;                      \
        for (int64_t r = begin; r < end; r++)                                          \
            if (inner == 1)                                                            \
                run(j, r * channels, 0, channels, true);                               \
            else                                                                       \
                run(j, r * inner, r % channels, inner, false);                         \
    }

RUNS(mix, mixed)
RUNS(rectify, scaled)
/* clang-format on */

static const loops K(TABLE) = {K(sum), K(mix), K(rectify)};
