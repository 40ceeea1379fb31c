/* attention_loops.h: the loops of attention.c. See levels.h for the names.
 *
 * All products are made by one block of MR rows and NR columns, whose sums stay in
 * registers. Its left operand may lie in any way. The right one lies in panels: NR
 * columns beside each other, row by row, filled up with zeros. */
#define MR K(MR)
#define NR K(NR)
#define span K(span)
#define attend_block K(block)
#define attend_multiply K(multiply)
#define attend_copy_row K(copy_row)
#define attend_pack K(pack)
#define attend_pack_turned K(pack_turned)
#define attend_copy K(copy)
#define attend_hide K(hide)
#define attend_make_scores K(make_scores)
#define attend_powers K(powers)
#define attend_soften K(soften)
#define attend_forward_tile K(forward_tile)
#define attend_delta K(delta)
#define attend_make_dscores K(make_dscores)
#define attend_add_dmask K(add_dmask)
#define attend_backward_span K(backward_span)
#define attend_backward_tile K(backward_tile)
#define attend_add_rows K(add_rows)
enum { MR = VECTOR_BYTES == 64 ? 8 : 6, NR = 2 * LANES };
_Static_assert(ROWS % MR == 0 && COLUMNS % NR == 0,
               "scratch has room for whole blocks");

/* --- products --- */

/* c (+)= a b for one block: `b` is a panel of k rows. */
TARGET static void
attend_block(REAL *c, int64_t pitch, const REAL *a, int64_t row, int64_t column,
             const REAL *b, int64_t k, bool add)
{
    vec sum[MR][2];
    for (int i = 0; i < MR; i++)
        sum[i][0] = sum[i][1] = v_splat(0);
    for (int64_t p = 0; p < k; p++) {
        vec left = v_load(b + p * NR), right = v_load(b + p * NR + LANES);
        for (int i = 0; i < MR; i++) {
            vec x = v_splat(a[i * row + p * column]);
            sum[i][0] = V_FMA(x, left, sum[i][0]);
            sum[i][1] = V_FMA(x, right, sum[i][1]);
        }
    }
    for (int i = 0; i < MR; i++) {
        REAL *to = c + i * pitch;
        if (add) {
            sum[i][0] += v_load(to);
            sum[i][1] += v_load(to + LANES);
        }
        v_store(to, sum[i][0]);
        v_store(to + LANES, sum[i][1]);
    }
}

/* c (+)= a b, where a has m rows and b has n columns, in panels that are `panel` apart.
 * Both are rounded up to whole blocks. */
TARGET static void
attend_multiply(REAL *c, int64_t pitch, const REAL *a, int64_t row, int64_t column,
                const REAL *b, int64_t panel, int64_t m, int64_t n, int64_t k, bool add)
{
    for (int64_t j = 0; j < n; j += NR, b += panel)
        for (int64_t i = 0; i < m; i += MR)
            attend_block(c + i * pitch + j, pitch, a + i * row, row, column, b, k, add);
}

/* to[k * to_step] = factor * from[k * step]. */
V_INLINE void
attend_copy_row(REAL *to, int64_t to_step, const REAL *from, int64_t step,
                int64_t count, REAL factor)
{
    if (step == 1)
        for (int64_t k = 0; k < count; k++)
            to[k * to_step] = factor * from[k];
    else
        for (int64_t k = 0; k < count; k++)
            to[k * to_step] = factor * from[k * step];
}

/* Panels of rows of a matrix, times a factor. */
TARGET static void
attend_pack(REAL *to, const dt_matrix *from, int64_t first, int64_t rows,
            int64_t columns, REAL factor)
{
    const REAL *data = (const REAL *)from->data + first * from->row;
    for (int64_t j = 0; j < columns; j += NR) {
        int64_t count = least(NR, columns - j);
        const REAL *row = data + j * from->column;
        for (int64_t i = 0; i < rows; i++, row += from->row, to += NR) {
            attend_copy_row(to, 1, row, from->column, count, factor);
            for (int64_t k = count; k < NR; k++)
                to[k] = 0;
        }
    }
}

/* Panels of a matrix with rows and columns exchanged: its rows become columns. */
TARGET static void
attend_pack_turned(REAL *to, const dt_matrix *from, int64_t rows, int64_t columns)
{
    const REAL *row = from->data;
    for (int64_t i = 0; i < rows; i += NR, to += NR * columns)
        for (int64_t j = 0; j < NR; j++, row += from->row)
            if (i + j < rows)
                attend_copy_row(to + j, NR, row, from->column, columns, 1);
            else
                for (int64_t k = 0; k < columns; k++)
                    to[k * NR + j] = 0;
}

/* Rows of a matrix one after the other, without gaps; zeros up to a multiple of MR. */
TARGET static void
attend_copy(REAL *to, const dt_matrix *from, int64_t first, int64_t rows,
            int64_t columns, REAL factor)
{
    const REAL *row = (const REAL *)from->data + first * from->row;
    for (int64_t i = 0; i < rows; i++, row += from->row, to += columns)
        attend_copy_row(to, 1, row, from->column, columns, factor);
    memset(to, 0, (size_t)((up(rows, MR) - rows) * columns) * sizeof(REAL));
}

/* --- scores: of a tile of queries and a chunk of keys --- */

typedef struct {
    int64_t first, rows; /* of the queries */
    int64_t start, keys; /* of the keys; a multiple of CHUNK */
    int64_t width;       /* keys, rounded up to whole blocks */
} span;

/* Adds the mask, or -inf where a query does not see a key, and beyond the last one. */
TARGET static void
attend_hide(const dt_attention *a, const workspace *w, const span *s)
{
    const dt_matrix *mask = &a->mask;
    for (int64_t i = 0; i < s->rows; i++) {
        REAL *score = (REAL *)w->scores + i * w->pitch;
        int64_t query = s->first + i, seen = s->keys;
        int64_t at = query * mask->row + s->start * mask->column;
        if (a->causal)
            seen = query < s->start ? 0 : least(seen, query + 1 - s->start);
        if (mask->data != NULL && a->flags)
            for (int64_t k = 0; k < seen; k++)
                score[k] = ((const uint8_t *)mask->data)[at + k * mask->column]
                               ? score[k]
                               : -(REAL)INFINITY;
        else if (mask->data != NULL)
            for (int64_t k = 0; k < seen; k++)
                score[k] += ((const REAL *)mask->data)[at + k * mask->column];
        for (int64_t k = seen; k < s->width; k++)
            score[k] = -(REAL)INFINITY;
    }
}

TARGET static void
attend_make_scores(const dt_attention *a, const workspace *w, const span *s)
{
    attend_multiply(w->scores, w->pitch, w->queries, a->width, 1,
                    (const REAL *)w->keys + s->start * a->width, NR * a->width, s->rows,
                    s->width, a->width, false);
    if (a->mask.data != NULL || s->keys < s->width ||
        (a->causal && s->start + s->keys > s->first + 1))
        attend_hide(a, w, s);
}

/* score[k] = exp(score[k] - shift), and 0 in the MR places behind them, which a block
 * of keys may reach. Returns the sum. */
TARGET static REAL
attend_powers(REAL *score, int64_t count, REAL shift)
{
    vec sum = v_splat(0), other = v_splat(0);
    for (int64_t k = 0; k < count; k += NR) {
        vec left = v_exp(v_load(score + k) - shift);
        vec right = v_exp(v_load(score + k + LANES) - shift);
        v_store(score + k, left);
        v_store(score + k + LANES, right);
        sum += left;
        other += right;
    }
    for (int64_t k = count; k < count + MR; k++)
        score[k] = 0;
    return v_sum(sum + other);
}

/* --- forward --- */

/* Makes powers of a row of scores, less the greatest of all chunks so far, and brings
 * what is known of the earlier ones to that. */
TARGET static void
attend_soften(REAL *score, int64_t count, REAL *top, REAL *total, REAL *sums,
              int64_t depth)
{
    vec high = v_splat(-(REAL)INFINITY);
    for (int64_t k = 0; k < count; k += LANES)
        high = V_MAX(v_load(score + k), high);
    REAL now = v_max_of(high);
    now = now > *top ? now : *top;
    REAL shift = now == -(REAL)INFINITY ? 0 : now; /* no key is seen yet */
    REAL sum = attend_powers(score, count, shift);
    if (*total > 0 && now != *top) {
        REAL factor = v_exp(v_splat(*top - shift))[0];
        *total *= factor;
        for (int64_t k = 0; k < depth; k += LANES)
            v_store(sums + k, v_load(sums + k) * factor);
    }
    *total += sum;
    *top = now;
}

TARGET static void
attend_forward_tile(const dt_attention *a, const workspace *w, int64_t first,
                    int64_t rows)
{
    REAL top[TILE], total[TILE], *sums = w->sums;
    int64_t depth = up(a->depth, NR), keys = a->keys;
    for (int64_t i = 0; i < rows; i++) {
        top[i] = -(REAL)INFINITY;
        total[i] = 0;
    }
    memset(sums, 0, (size_t)(up(rows, MR) * depth) * sizeof(REAL));
    attend_copy(w->queries, &a->q, first, rows, a->width, (REAL)a->scale);
    if (a->causal)
        keys = least(keys, first + rows);
    for (int64_t start = 0; start < keys; start += CHUNK) {
        int64_t count = least(CHUNK, keys - start);
        span s = {first, rows, start, count, up(count, NR)};
        attend_make_scores(a, w, &s);
        for (int64_t i = 0; i < rows; i++)
            attend_soften((REAL *)w->scores + i * w->pitch, s.width, &top[i], &total[i],
                          sums + i * depth, depth);
        attend_multiply(sums, depth, w->scores, w->pitch, 1,
                        (const REAL *)w->values + start * NR, NR * a->keys, rows, depth,
                        count, true);
    }
    for (int64_t i = 0; i < rows; i++) {
        REAL *out = (REAL *)a->out.data + (first + i) * a->out.row;
        REAL factor = total[i] == 0 ? 0 : 1 / total[i];
        for (int64_t k = 0; k < a->depth; k++)
            out[k * a->out.column] = sums[i * depth + k] * factor;
        ((REAL *)a->logsumexp)[first + i] = (REAL)(top[i] + log(total[i]));
    }
}

TARGET static void
K(forward)(const dt_attention *a, const workspace *w)
{
    attend_pack_turned(w->keys, &a->k, a->keys, a->width);
    attend_pack(w->values, &a->v, 0, a->keys, a->depth, 1);
    for (int64_t first = 0; first < a->queries; first += TILE)
        attend_forward_tile(a, w, first, least(TILE, a->queries - first));
}

/* --- backward: with p the probabilities and s the scores,
 *
 *     dv = p^T grad,  dp = grad v^T,  ds = p (dp - delta),  dq = ds k,  dk = ds^T q
 *
 * where delta is the sum of grad * out over a row, less what comes to the logarithm. */

TARGET static REAL
attend_delta(const dt_attention *a, int64_t query, const REAL *grad)
{
    const REAL *out = (const REAL *)a->out.data + query * a->out.row;
    REAL sum = 0;
    for (int64_t k = 0; k < a->depth; k++)
        sum += grad[k] * out[k * a->out.column];
    return a->grad_sum == NULL ? sum : sum - ((const REAL *)a->grad_sum)[query];
}

/* dscore = score * (dscore - delta), 0 behind them. */
TARGET static void
attend_make_dscores(const REAL *score, REAL *dscore, int64_t count, REAL delta)
{
    for (int64_t k = 0; k < count; k += LANES)
        v_store(dscore + k, v_load(score + k) * (v_load(dscore + k) - delta));
    for (int64_t k = count; k < count + MR; k++)
        dscore[k] = 0;
}

TARGET static void
attend_add_dmask(const dt_attention *a, const workspace *w, const span *s)
{
    const dt_matrix *mask = &a->dmask;
    for (int64_t i = 0; i < s->rows; i++) {
        const REAL *dscore = (const REAL *)w->dscores + i * w->pitch;
        REAL *to =
            (REAL *)mask->data + (s->first + i) * mask->row + s->start * mask->column;
        for (int64_t k = 0; k < s->keys; k++)
            to[k * mask->column] += dscore[k];
    }
}

TARGET static void
attend_backward_span(const dt_attention *a, const workspace *w, const span *s,
                     const REAL *delta)
{
    int64_t width = up(a->width, NR), depth = up(a->depth, NR);
    REAL *dk = (REAL *)w->dk + s->start * width;
    REAL *dv = (REAL *)w->dv + s->start * depth;
    attend_make_scores(a, w, s);
    for (int64_t i = 0; i < s->rows; i++) {
        REAL sum = ((const REAL *)a->logsumexp)[s->first + i];
        attend_powers((REAL *)w->scores + i * w->pitch, s->width,
                      sum == -(REAL)INFINITY ? 0 : sum);
    }
    attend_multiply(dv, depth, w->scores, 1, w->pitch, w->grad_rows, NR * s->rows,
                    s->keys, depth, s->rows, true);
    attend_multiply(w->dscores, w->pitch, w->grads, a->depth, 1,
                    (const REAL *)w->values + s->start * a->depth, NR * a->depth,
                    s->rows, s->width, a->depth, false);
    for (int64_t i = 0; i < s->rows; i++)
        attend_make_dscores((const REAL *)w->scores + i * w->pitch,
                            (REAL *)w->dscores + i * w->pitch, s->width, delta[i]);
    if (a->dmask.data != NULL)
        attend_add_dmask(a, w, s);
    attend_multiply(dk, width, w->dscores, 1, w->pitch, w->query_rows, NR * s->rows,
                    s->keys, width, s->rows, true);
    attend_multiply(w->sums, width, w->dscores, w->pitch, 1,
                    (const REAL *)w->key_rows + s->start * NR, NR * a->keys, s->rows,
                    width, s->keys, true);
}

TARGET static void
attend_backward_tile(const dt_attention *a, const workspace *w, int64_t first,
                     int64_t rows)
{
    REAL delta[TILE], *dq = w->sums;
    int64_t width = up(a->width, NR), keys = a->keys;
    memset(dq, 0, (size_t)(up(rows, MR) * width) * sizeof(REAL));
    attend_copy(w->queries, &a->q, first, rows, a->width, (REAL)a->scale);
    attend_pack(w->query_rows, &a->q, first, rows, a->width, (REAL)a->scale);
    attend_copy(w->grads, &a->grad, first, rows, a->depth, 1);
    attend_pack(w->grad_rows, &a->grad, first, rows, a->depth, 1);
    for (int64_t i = 0; i < rows; i++)
        delta[i] = attend_delta(a, first + i, (const REAL *)w->grads + i * a->depth);
    if (a->causal)
        keys = least(keys, first + rows);
    for (int64_t start = 0; start < keys; start += CHUNK) {
        int64_t count = least(CHUNK, keys - start);
        span s = {first, rows, start, count, up(count, NR)};
        attend_backward_span(a, w, &s, delta);
    }
    for (int64_t i = 0; i < rows; i++)
        for (int64_t k = 0; k < a->width; k++)
            ((REAL *)a->dq.data)[(first + i) * a->dq.row + k * a->dq.column] =
                dq[i * width + k] * (REAL)a->scale;
}

/* Adds rows that lie `pitch` apart to a matrix. */
TARGET static void
attend_add_rows(const dt_matrix *to, const REAL *from, int64_t pitch, int64_t rows,
                int64_t columns)
{
    REAL *row = to->data;
    for (int64_t i = 0; i < rows; i++, row += to->row, from += pitch)
        if (to->column == 1)
            for (int64_t k = 0; k < columns; k++)
                row[k] += from[k];
        else
            for (int64_t k = 0; k < columns; k++)
                row[k * to->column] += from[k];
}

TARGET static void
K(backward)(const dt_attention *a, const workspace *w)
{
    int64_t width = up(a->width, NR), depth = up(a->depth, NR), rows = up(a->keys, MR);
    attend_pack_turned(w->keys, &a->k, a->keys, a->width);
    attend_pack_turned(w->values, &a->v, a->keys, a->depth);
    attend_pack(w->key_rows, &a->k, 0, a->keys, a->width, 1);
    memset(w->dk, 0, (size_t)(rows * width) * sizeof(REAL));
    memset(w->dv, 0, (size_t)(rows * depth) * sizeof(REAL));
    for (int64_t first = 0; first < a->queries; first += TILE)
        attend_backward_tile(a, w, first, least(TILE, a->queries - first));
    attend_add_rows(&a->dk, w->dk, width, a->keys, a->width);
    attend_add_rows(&a->dv, w->dv, depth, a->keys, a->depth);
}

static const loops K(TABLE) = {K(forward), K(backward)};
