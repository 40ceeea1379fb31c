/* cross_entropy_loops.h: what cross_entropy.c compiles for each instruction set. */
#define weight_of K(weight_of)
#define spread_loss K(spread_loss)
#define row_loss K(row_loss)
#define fill_rows K(fill_rows)
#define fill_lines K(fill_lines)

V_INLINE REAL
weight_of(const dt_classes *c, int64_t number)
{
    return c->weight == NULL ? 1 : ((const REAL *)c->weight)[number];
}

/* --- the loss --- */

/* The sum over the classes here of w (lse - x), of a row that begins at x. */
V_INLINE REAL
spread_loss(const dt_classes *c, const REAL *x, REAL lse)
{
    REAL sum = 0;
    for (int64_t k = 0; k < c->classes; k++)
        sum += weight_of(c, c->first + k) * (lse - x[k * c->inner]);
    return sum;
}

V_INLINE REAL
row_loss(const dt_classes *c, int64_t outer, int64_t inner)
{
    int64_t r = outer * c->inner + inner, target = c->target[r];
    const REAL *x = (const REAL *)c->x + outer * c->classes * c->inner + inner;
    REAL lse = c->lse == NULL ? 0 : ((const REAL *)c->lse)[r], loss = 0;
    if (!counts(c, target))
        return 0;
    if (is_here(c, target))
        loss = weight_of(c, target) * (lse - x[(target - c->first) * c->inner]);
    if (c->smoothing == 0)
        return loss;
    REAL spread = spread_loss(c, x, lse) / (REAL)c->all;
    return (REAL)(1 - c->smoothing) * loss + (REAL)c->smoothing * spread;
}

TARGET static void
K(run)(void *to, const dt_classes *c)
{
    REAL *out = to;
    for (int64_t outer = 0; outer < c->outer; outer++)
        for (int64_t inner = 0; inner < c->inner; inner++)
            *out++ = row_loss(c, outer, inner);
}

TARGET static double
K(sum)(const dt_classes *c)
{
    double sum = 0;
    for (int64_t outer = 0; outer < c->outer; outer++)
        for (int64_t inner = 0; inner < c->inner; inner++)
            sum += (double)row_loss(c, outer, inner);
    return sum;
}

TARGET static double
K(total)(const dt_classes *c)
{
    double sum = 0;
    for (int64_t r = 0; r < c->outer * c->inner; r++)
        if (counts(c, c->target[r]))
            sum += (double)weight_of(c, c->target[r]);
    return sum;
}

/* --- the gradient: share e^(x - lse) - spread w, and at the target g (1 - smoothing) w
 * less, where of a row with gradient g
 * share = g ((1 - smoothing) w[t] + smoothing / all * sum of w), spread = g smoothing /
 * all; without lse share is 0 --- */

/* Rows of numbers one after the other. */
V_INLINE void
fill_rows(REAL *dx, const REAL *share, const REAL *spread, const dt_classes *c)
{
    const REAL *x = c->x, *lse = c->lse, *weight = c->weight;
    int64_t n = c->classes;
    for (int64_t r = 0; r < c->outer; r++, x += n, dx += n)
        for (int64_t k = 0; k < n; k += LANES) {
            vec d = v_splat(0), w = v_splat(1);
            if (lse != NULL)
                d = share[r] * v_exp(v_get(x + k, n - k) - lse[r]);
            if (weight != NULL)
                w = v_get(weight + c->first + k, n - k);
            if (c->smoothing != 0)
                d -= spread[r] * w;
            v_put(dx + k, d, n - k);
        }
}

/* Rows that lie beside each other: a line has a number of each. */
V_INLINE void
fill_lines(REAL *dx, const REAL *share, const REAL *spread, const dt_classes *c)
{
    const REAL *x = c->x;
    int64_t n = c->inner;
    for (int64_t line = 0; line < c->outer * c->classes; line++, x += n, dx += n) {
        int64_t row = line / c->classes * n;
        REAL w = weight_of(c, c->first + line % c->classes);
        const REAL *lse = c->lse == NULL ? NULL : (const REAL *)c->lse + row;
        for (int64_t j = 0; j < n; j += LANES) {
            vec d = v_splat(0);
            if (lse != NULL) {
                vec e = v_exp(v_get(x + j, n - j) - v_get(lse + j, n - j));
                d = v_get(share + row + j, n - j) * e;
            }
            if (c->smoothing != 0)
                d -= w * v_get(spread + row + j, n - j);
            v_put(dx + j, d, n - j);
        }
    }
}

/* The sum of the weights of all classes. */
TARGET static void
K(weigh)(void *to, const dt_classes *c)
{
    REAL weights = 0;
    for (int64_t k = 0; k < c->all; k++)
        weights += weight_of(c, k);
    *(REAL *)to = weights;
}

TARGET static void
K(backward)(void *to, void *scratch, const void *sum, const void *grad, bool single,
            double factor, const dt_classes *c)
{
    int64_t rows = c->outer * c->inner;
    REAL *dx = to, *share = scratch, *spread = share + rows;
    const REAL *g = grad;
    REAL times = (REAL)factor, some = (REAL)c->smoothing, weights = *(const REAL *)sum;
    for (int64_t r = 0; r < rows; r++) {
        bool valid = counts(c, c->target[r]);
        REAL own = valid ? times * g[single ? 0 : r] : 0;
        REAL w = valid ? weight_of(c, c->target[r]) : 0;
        spread[r] = own * some / (REAL)c->all;
        share[r] = own * (1 - some) * w + spread[r] * weights;
    }
    if (c->inner == 1)
        fill_rows(dx, share, spread, c);
    else
        fill_lines(dx, share, spread, c);
    for (int64_t r = 0; r < rows; r++) {
        int64_t target = c->target[r], k = target - c->first;
        if (counts(c, target) && is_here(c, target))
            dx[(r / c->inner * c->classes + k) * c->inner + r % c->inner] -=
                times * g[single ? 0 : r] * (1 - some) * weight_of(c, target);
    }
}

static const loops K(TABLE) = {K(run), K(sum), K(total), K(weigh), K(backward)};
