/* norm_loops.h: what norm.c compiles for each instruction set (levels.h). */
#define row_stats K(row_stats)
#define pair K(pair)
#define channels_out K(channels_out)
#define runs_out K(runs_out)
#define rows_out K(rows_out)
#define run_grad K(run_grad)
#define channel_grads K(channel_grads)
#define row_grad K(row_grad)
#define parts K(parts)
#define shifted K(shifted)
#define finish_row K(finish_row)
#define several_rows K(several_rows)
#define one_row K(one_row)

typedef struct {
    REAL first, second;
} pair;

/* The number `by` places on in an array that may not be there. */
V_INLINE REAL *
shifted(const void *array, int64_t by)
{
    return array == NULL ? NULL : (REAL *)array + by;
}

/* --- the mean of a row, and 1 / sqrt(variance + eps) --- */

/* The sums of `value`, made of the numbers v, over each of `rows` rows. Several rows at
 * a time: while the sum of one is waited for, the others go on. */
#define SUM_ROWS(total, value)                                                         \
    long double total[BLOCK_ROWS] = {0};                                               \
    for (int64_t at = 0; at < length; at += BLOCK) {                                   \
        int64_t end = least(at + BLOCK, length);                                       \
        vec sum[BLOCK_ROWS];                                                           \
        for (int k = 0; k < rows; k++)                                                 \
            sum[k] = v_splat(0);                                                       \
        for (int64_t i = at; i < end; i += LANES)                                      \
            for (int k = 0; k < rows; k++) {                                           \
                vec v = v_get(x + k * length + i, end - i);                            \
                sum[k] += v_part(value, end - i);                                      \
            }                                                                          \
        for (int k = 0; k < rows; k++)                                                 \
            total[k] += (long double)v_sum(sum[k]);                                    \
    }

V_INLINE void
row_stats(pair *s, int rows, const REAL *x, const dt_norm *norm)
{
    int64_t length = norm->channels * norm->inner;
    for (int k = 0; k < rows; k++)
        s[k].first = 0;
    if (norm->centred) {
        SUM_ROWS(total, v);
        for (int k = 0; k < rows; k++)
            s[k].first = (REAL)(total[k] / (long double)length);
    }
    SUM_ROWS(squares, (v - s[k].first) * (v - s[k].first));
    for (int k = 0; k < rows; k++)
        s[k].second = (REAL)(1 / sqrt((double)squares[k] / (double)length + norm->eps));
}

/* --- forward --- */

/* Channels are single numbers. */
V_INLINE void
channels_out(REAL *out, const REAL *x, const REAL *weight, const REAL *bias, pair s,
             int64_t channels)
{
    for (int64_t c = 0; c < channels; c += LANES) {
        int64_t left = channels - c;
        vec y = (v_get(x + c, left) - s.first) * s.second;
        if (weight != NULL)
            y *= v_get(weight + c, left);
        if (bias != NULL)
            y += v_get(bias + c, left);
        v_put(out + c, y, left);
    }
}

V_INLINE void
runs_out(REAL *out, const REAL *x, const REAL *weight, const REAL *bias, pair s,
         int64_t channels, int64_t inner)
{
    for (int64_t c = 0; c < channels; c++) {
        REAL scale = weight == NULL ? s.second : s.second * weight[c];
        REAL shift = bias == NULL ? 0 : bias[c];
        for (int64_t i = c * inner; i < (c + 1) * inner; i += LANES) {
            int64_t left = (c + 1) * inner - i;
            v_put(out + i, (v_get(x + i, left) - s.first) * scale + shift, left);
        }
    }
}

V_INLINE void
rows_out(REAL *out, int64_t r, int rows, const dt_norm *norm)
{
    int64_t channels = norm->channels, length = channels * norm->inner;
    const REAL *x = (const REAL *)norm->x + r * length;
    pair s[BLOCK_ROWS];
    row_stats(s, rows, x, norm);
    for (int k = 0; k < rows; k++) {
        int64_t from = (r + k) % norm->groups * channels, at = k * length;
        const REAL *weight = shifted(norm->weight, from);
        const REAL *bias = shifted(norm->bias, from);
        if (norm->inner == 1)
            channels_out(out + at, x + at, weight, bias, s[k], channels);
        else
            runs_out(out + at, x + at, weight, bias, s[k], channels, norm->inner);
    }
}

TARGET static void
K(run)(void *out, const dt_norm *norm)
{
    int64_t length = norm->channels * norm->inner, r = 0;
    for (; r + BLOCK_ROWS <= norm->rows; r += BLOCK_ROWS)
        rows_out((REAL *)out + r * length, r, BLOCK_ROWS, norm);
    for (; r < norm->rows; r++)
        rows_out((REAL *)out + r * length, r, 1, norm);
}

/* --- backward: with n = (x - mean) / deviation and h = g weight,
 * dx = (h - mean of h - n mean of h n) / deviation; weight and bias have the sums of g
 * n and g. --- */

/* Adds g n and g of `rows` rows to dweight and dbias, and sets the sums of h and h n of
 * each. Channels are single numbers; `rows` is a constant, so that sums stay in
 * registers. */
V_INLINE void
channel_grads(pair *sums, int rows, REAL *dweight, REAL *dbias, const REAL *g,
              const REAL *x, const REAL *weight, const pair *s, int64_t channels)
{
    vec first[BLOCK_ROWS], second[BLOCK_ROWS];
    for (int k = 0; k < rows; k++)
        first[k] = second[k] = v_splat(0);
    for (int64_t c = 0; c < channels; c += LANES) {
        int64_t left = channels - c;
        vec w = weight == NULL ? v_splat(1) : v_get(weight + c, left);
        vec of_weight = v_splat(0), of_bias = of_weight;
#pragma GCC unroll 8
        for (int k = 0; k < rows; k++) {
            vec grad = v_get(g + k * channels + c, left);
            vec n = (v_get(x + k * channels + c, left) - s[k].first) * s[k].second;
            of_weight = V_FMA(grad, n, of_weight);
            of_bias += grad;
            first[k] = V_FMA(grad, w, first[k]);
            second[k] = V_FMA(grad * w, n, second[k]);
        }
        if (dweight != NULL)
            v_put(dweight + c, v_get(dweight + c, left) + of_weight, left);
        if (dbias != NULL)
            v_put(dbias + c, v_get(dbias + c, left) + of_bias, left);
    }
    for (int k = 0; k < rows; k++)
        sums[k] = (pair){v_sum(first[k]), v_sum(second[k])};
}

/* The same for channels of `inner` numbers. */
V_INLINE pair
run_grad(REAL *dweight, REAL *dbias, const REAL *g, const REAL *x, const REAL *weight,
         pair s, int64_t channels, int64_t inner)
{
    pair sum = {0, 0};
    for (int64_t c = 0; c < channels; c++, g += inner, x += inner) {
        vec first = v_splat(0), second = first;
        for (int64_t i = 0; i < inner; i += LANES) {
            int64_t left = inner - i;
            vec grad = v_get(g + i, left);
            first += grad;
            second += grad * ((v_get(x + i, left) - s.first) * s.second);
        }
        REAL of_bias = v_sum(first), of_weight = v_sum(second);
        REAL w = weight == NULL ? 1 : weight[c];
        if (dweight != NULL)
            dweight[c] += of_weight;
        if (dbias != NULL)
            dbias[c] += of_bias;
        sum.first += w * of_bias;
        sum.second += w * of_weight;
    }
    return sum;
}

/* dx of numbers whose weight is the same, or follows them. */
V_INLINE void
row_grad(REAL *dx, const REAL *g, const REAL *x, const REAL *weight, REAL scale, pair s,
         pair mean, int64_t length)
{
    for (int64_t i = 0; i < length; i += LANES) {
        int64_t left = length - i;
        vec n = (v_get(x + i, left) - s.first) * s.second, h = v_get(g + i, left);
        h *= weight == NULL ? v_splat(scale) : v_get(weight + i, left);
        v_put(dx + i, (h - mean.first - n * mean.second) * s.second, left);
    }
}

/* What is of the rows from r on: of weight and bias there are those of row r. */
typedef struct {
    const REAL *x, *g, *weight;
    REAL *dx, *dweight, *dbias;
} parts;

V_INLINE void
finish_row(const parts *p, int64_t at, pair s, pair mean, const dt_norm *norm)
{
    int64_t channels = norm->channels, inner = norm->inner, length = channels * inner;
    mean.first = norm->centred ? mean.first / (REAL)length : 0;
    mean.second /= (REAL)length;
    if (p->dx != NULL && inner == 1)
        row_grad(p->dx + at, p->g + at, p->x + at, p->weight, 1, s, mean, length);
    else if (p->dx != NULL)
        for (int64_t c = 0; c < channels; c++) {
            int64_t i = at + c * inner;
            REAL w = p->weight == NULL ? 1 : p->weight[c];
            row_grad(p->dx + i, p->g + i, p->x + i, NULL, w, s, mean, inner);
        }
}

/* Several rows that have the same weights, of channels that are single numbers. */
V_INLINE void
several_rows(const parts *p, int rows, const dt_norm *norm)
{
    pair s[BLOCK_ROWS], sums[BLOCK_ROWS];
    row_stats(s, rows, p->x, norm);
    channel_grads(sums, rows, p->dweight, p->dbias, p->g, p->x, p->weight, s,
                  norm->channels);
    for (int k = 0; k < rows; k++)
        finish_row(p, k * norm->channels, s[k], sums[k], norm);
}

V_INLINE void
one_row(const parts *p, const dt_norm *norm)
{
    pair s;
    row_stats(&s, 1, p->x, norm);
    pair sums = run_grad(p->dweight, p->dbias, p->g, p->x, p->weight, s, norm->channels,
                         norm->inner);
    finish_row(p, 0, s, sums, norm);
}

TARGET static void
K(backward)(void *dx, void *dweight, void *dbias, const void *g, const dt_norm *norm)
{
    int64_t channels = norm->channels, length = channels * norm->inner, step;
    for (int64_t c = 0; c < norm->groups * channels; c++) {
        if (dweight != NULL)
            ((REAL *)dweight)[c] = 0;
        if (dbias != NULL)
            ((REAL *)dbias)[c] = 0;
    }
    for (int64_t r = 0; r < norm->rows; r += step) {
        int64_t at = r * length, from = r % norm->groups * channels;
        bool block = norm->groups == 1 && norm->rows - r >= BLOCK_ROWS;
        parts p = {.x = (const REAL *)norm->x + at,
                   .g = (const REAL *)g + at,
                   .weight = shifted(norm->weight, from),
                   .dx = shifted(dx, at),
                   .dweight = shifted(dweight, from),
                   .dbias = shifted(dbias, from)};
        step = norm->inner == 1 && block ? BLOCK_ROWS : 1;
        if (norm->inner != 1)
            one_row(&p, norm);
        else if (block)
            several_rows(&p, BLOCK_ROWS, norm);
        else
            several_rows(&p, 1, norm);
    }
}

TARGET static void
K(add)(void *sum, const void *addend, int64_t count)
{
    REAL *to = sum;
    for (int64_t i = 0; i < count; i += LANES)
        v_put(to + i,
              v_get(to + i, count - i) + v_get((const REAL *)addend + i, count - i),
              count - i);
}

static const loops K(TABLE) = {K(run), K(backward), K(add)};
