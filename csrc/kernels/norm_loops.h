/* norm_loops.h: what norm.c compiles for each instruction set (levels.h). */
#define row_stats K(row_stats)
#define pair K(pair)
#define run_grad K(run_grad)
#define channel_grad K(channel_grad)
#define row_grad K(row_grad)

typedef struct {
    REAL first, second;
} pair;

/* --- the mean of a row, and 1 / sqrt(variance + eps) --- */

/* The sum of `value`, a vector made of the numbers x[i...], over a row. */
#define SUM_ROW(total, x, length, value)                                               \
    double total = 0;                                                                  \
    for (int64_t at = 0; at < length; at += BLOCK) {                                   \
        int64_t end = least(at + BLOCK, length), i = at;                               \
        vec a = v_splat(0), b = a, v;                                                  \
        for (; i + 2 * LANES <= end; i += 2 * LANES) {                                 \
            v = v_load(x + i);                                                         \
            a += value;                                                                \
            v = v_load(x + i + LANES);                                                 \
            b += value;                                                                \
        }                                                                              \
        for (; i < end; i += LANES) {                                                  \
            v = v_get(x + i, end - i);                                                 \
            a += v_part(value, end - i);                                               \
        }                                                                              \
        total += (double)v_sum(a + b);                                                 \
    }

V_INLINE pair
row_stats(const REAL *x, const dt_norm *norm)
{
    int64_t length = norm->channels * norm->inner;
    REAL mean = 0;
    if (norm->centred) {
        SUM_ROW(sum, x, length, v)
        mean = (REAL)(sum / (double)length);
    }
    SUM_ROW(squares, x, length, (v - mean) * (v - mean))
    return (pair){mean, (REAL)(1 / sqrt(squares / (double)length + norm->eps))};
}

/* --- forward --- */

TARGET static void
K(run)(void *to, const dt_norm *norm)
{
    int64_t channels = norm->channels, inner = norm->inner, length = channels * inner;
    const REAL *x = norm->x, *weight = norm->weight, *bias = norm->bias;
    REAL *out = to;
    for (int64_t r = 0; r < norm->rows; r++, x += length, out += length) {
        pair s = row_stats(x, norm);
        int64_t from = r % norm->groups * channels;
        for (int64_t c = 0; inner == 1 && c < channels; c += LANES) {
            int64_t left = channels - c;
            vec y = (v_get(x + c, left) - s.first) * s.second;
            if (weight != NULL)
                y *= v_get(weight + from + c, left);
            if (bias != NULL)
                y += v_get(bias + from + c, left);
            v_put(out + c, y, left);
        }
        for (int64_t c = 0; inner != 1 && c < channels; c++) {
            REAL scale = weight == NULL ? s.second : s.second * weight[from + c];
            REAL shift = bias == NULL ? 0 : bias[from + c];
            for (int64_t i = c * inner; i < (c + 1) * inner; i += LANES) {
                int64_t left = (c + 1) * inner - i;
                v_put(out + i, (v_get(x + i, left) - s.first) * scale + shift, left);
            }
        }
    }
}

/* --- backward: with n = (x - mean) / deviation and h = g weight,
 * dx = (h - mean of h - n mean of h n) / deviation; weight and bias have the sums of g
 * n and g. --- */

/* Adds g n and g of a row to dweight and dbias; returns the sums of h and h n. Rows of
 * channels that are single numbers. */
V_INLINE pair
channel_grad(REAL *dweight, REAL *dbias, const REAL *g, const REAL *x,
             const REAL *weight, pair s, int64_t channels)
{
    vec first = v_splat(0), second = first;
    for (int64_t c = 0; c < channels; c += LANES) {
        int64_t left = channels - c;
        vec grad = v_get(g + c, left), n = (v_get(x + c, left) - s.first) * s.second;
        if (dweight != NULL)
            v_put(dweight + c, v_get(dweight + c, left) + grad * n, left);
        if (dbias != NULL)
            v_put(dbias + c, v_get(dbias + c, left) + grad, left);
        vec h = weight == NULL ? grad : grad * v_get(weight + c, left);
        first += h;
        second = V_FMA(h, n, second);
    }
    return (pair){v_sum(first), v_sum(second)};
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

TARGET static void
K(backward)(void *to, void *to_weight, void *to_bias, const void *grad,
            const dt_norm *norm)
{
    int64_t channels = norm->channels, inner = norm->inner, length = channels * inner;
    const REAL *x = norm->x, *g = grad;
    REAL *dx = to;
    for (int64_t c = 0; to_weight != NULL && c < norm->groups * channels; c++)
        ((REAL *)to_weight)[c] = 0;
    for (int64_t c = 0; to_bias != NULL && c < norm->groups * channels; c++)
        ((REAL *)to_bias)[c] = 0;
    for (int64_t r = 0; r < norm->rows; r++, x += length, g += length) {
        int64_t from = r % norm->groups * channels;
        const REAL *w = norm->weight == NULL ? NULL : (const REAL *)norm->weight + from;
        REAL *dweight = to_weight == NULL ? NULL : (REAL *)to_weight + from;
        REAL *dbias = to_bias == NULL ? NULL : (REAL *)to_bias + from;
        pair s = row_stats(x, norm);
        pair mean = inner == 1 ? channel_grad(dweight, dbias, g, x, w, s, channels)
                               : run_grad(dweight, dbias, g, x, w, s, channels, inner);
        mean.first = norm->centred ? mean.first / (REAL)length : 0;
        mean.second /= (REAL)length;
        if (dx == NULL)
            continue;
        if (inner == 1)
            row_grad(dx, g, x, w, 1, s, mean, length);
        else
            for (int64_t c = 0; c < channels; c++)
                row_grad(dx + c * inner, g + c * inner, x + c * inner, NULL,
                         w == NULL ? 1 : w[c], s, mean, inner);
        dx += length;
    }
}

static const loops K(TABLE) = {K(run), K(backward)};

#undef row_stats
#undef pair
#undef run_grad
#undef channel_grad
#undef row_grad
#undef SUM_ROW
