/* softmax_loops.h: what softmax.c compiles for each instruction set (levels.h). */
#define row_max K(row_max)
#define addend K(addend)
#define row_total K(row_total)
#define row_sum K(row_sum)
#define row_dot K(row_dot)
#define softmax_row K(softmax_row)
#define log_softmax_row K(log_softmax_row)
#define softmax_grad K(softmax_grad)
#define log_softmax_grad K(log_softmax_grad)

/* --- a number for a row --- */

/* The greatest; NaN may be lost, for the sum finds it again. */
V_INLINE REAL
row_max(const REAL *x, int64_t length)
{
    vec a = v_splat((REAL)-INFINITY), b = a;
    int64_t i = 0;
    for (; i + 2 * LANES <= length; i += 2 * LANES) {
        a = V_MAX(a, v_load(x + i));
        b = V_MAX(b, v_load(x + i + LANES));
    }
    for (; i < length; i += LANES)
        a = V_MAX(a, v_get_or(x + i, length - i, (REAL)-INFINITY));
    return v_max_of(V_MAX(a, b));
}

/* The sum of `value`, made of the numbers from i on of which `left` are of the block.
 */
#define SUM_ROW(total, value)                                                          \
    long double total = 0;                                                             \
    for (int64_t at = 0; at < length; at += BLOCK) {                                   \
        int64_t end = length < at + BLOCK ? length : at + BLOCK;                       \
        vec sum = v_splat(0);                                                          \
        for (int64_t i = at; i < end; i += LANES) {                                    \
            int64_t left = end - i;                                                    \
            sum += value;                                                              \
        }                                                                              \
        total += (long double)v_sum(sum);                                              \
    }

/* e^(x - top), kept in `out` unless that is NULL. Beyond the end of a row x is
 * -infinity, and adds nothing. */
V_INLINE vec
addend(REAL *out, const REAL *x, REAL top, int64_t i, int64_t left)
{
    vec e = v_exp(v_get_or(x + i, left, (REAL)-INFINITY) - top);
    if (out != NULL)
        v_put(out + i, e, left);
    return e;
}

V_INLINE REAL
row_total(REAL *out, const REAL *x, REAL top, int64_t length)
{
    SUM_ROW(total, addend(out, x, top, i, left));
    return (REAL)total;
}

V_INLINE REAL
row_sum(const REAL *g, int64_t length)
{
    SUM_ROW(total, v_get(g + i, left));
    return (REAL)total;
}

V_INLINE REAL
row_dot(const REAL *g, const REAL *y, int64_t length)
{
    SUM_ROW(total, v_get(g + i, left) * v_get(y + i, left));
    return (REAL)total;
}

/* --- a row of a row --- */

V_INLINE void
log_softmax_row(REAL *out, const REAL *x, REAL top, REAL total, int64_t length)
{
    REAL log_total = (REAL)log((double)total);
    for (int64_t i = 0; i < length; i += LANES)
        v_put(out + i, v_get(x + i, length - i) - top - log_total, length - i);
}

V_INLINE void
softmax_grad(REAL *out, const REAL *g, const REAL *y, REAL dot, int64_t length)
{
    for (int64_t i = 0; i < length; i += LANES) {
        vec grad = v_get(g + i, length - i), result = v_get(y + i, length - i);
        v_put(out + i, (grad - dot) * result, length - i);
    }
}

V_INLINE void
log_softmax_grad(REAL *out, const REAL *g, const REAL *y, REAL total, int64_t length)
{
    for (int64_t i = 0; i < length; i += LANES) {
        vec grad = v_get(g + i, length - i), share = v_exp(v_get(y + i, length - i));
        v_put(out + i, grad - total * share, length - i);
    }
}

/* --- all rows: the statement is done for each r, `at` being its first element --- */

#define ROWS(name, statement)                                                          \
    TARGET static void K(name)(void *to, const void *const *in, int64_t rows,          \
                               int64_t length)                                         \
    {                                                                                  \
        REAL *out = to;                                                                \
        const REAL *first = in[0];                                                     \
        for (int64_t r = 0, at = 0; r < rows; r++, at += length)                       \
            statement                                                                  \
    }
#define SECOND ((const REAL *)in[1])
#define THIRD ((const REAL *)in[2])

ROWS(softmax, {
    REAL top = row_max(first + at, length);
    REAL scale = 1 / row_total(out + at, first + at, top, length);
    for (int64_t i = at; i < at + length; i += LANES)
        v_put(out + i, v_get(out + i, at + length - i) * scale, at + length - i);
})

ROWS(log_softmax, {
    REAL top = row_max(first + at, length);
    REAL total = row_total(NULL, first + at, top, length);
    log_softmax_row(out + at, first + at, top, total, length);
})

ROWS(softmax_backward, {
    REAL dot = row_dot(first + at, SECOND + at, length);
    softmax_grad(out + at, first + at, SECOND + at, dot, length);
})

ROWS(log_softmax_backward, {
    REAL total = row_sum(first + at, length);
    log_softmax_grad(out + at, first + at, SECOND + at, total, length);
})

ROWS(logsumexp, {
    REAL top = row_max(first + at, length);
    REAL shift = isinf(top) ? 0 : top;
    out[r] = shift + (REAL)log((double)row_total(NULL, first + at, shift, length));
})

ROWS(sum_exp, {
    REAL shift = isinf(SECOND[r]) ? 0 : SECOND[r];
    out[r] = row_total(NULL, first + at, shift, length);
})

ROWS(row_dots, { out[r] = row_dot(first + at, SECOND + at, length); })

ROWS(softmax_given, {
    REAL scale = isinf(SECOND[r]) ? (REAL)NAN : 1 / THIRD[r];
    for (int64_t i = at; i < at + length; i += LANES) {
        vec e = v_exp(v_get(first + i, at + length - i) - SECOND[r]);
        v_put(out + i, e * scale, at + length - i);
    }
})

ROWS(log_softmax_given, {
    REAL total = isinf(SECOND[r]) ? (REAL)NAN : THIRD[r];
    log_softmax_row(out + at, first + at, SECOND[r], total, length);
})

ROWS(softmax_backward_given,
     { softmax_grad(out + at, first + at, SECOND + at, THIRD[r], length); })

ROWS(log_softmax_backward_given,
     { log_softmax_grad(out + at, first + at, SECOND + at, THIRD[r], length); })

static const loops K(TABLE) = {{
    [DT_SOFTMAX] = K(softmax),
    [DT_LOG_SOFTMAX] = K(log_softmax),
    [DT_SOFTMAX_BACKWARD] = K(softmax_backward),
    [DT_LOG_SOFTMAX_BACKWARD] = K(log_softmax_backward),
    [DT_LOGSUMEXP] = K(logsumexp),
    [DT_SUM_EXP] = K(sum_exp),
    [DT_ROW_DOT] = K(row_dots),
    [DT_SOFTMAX_GIVEN] = K(softmax_given),
    [DT_LOG_SOFTMAX_GIVEN] = K(log_softmax_given),
    [DT_SOFTMAX_BACKWARD_GIVEN] = K(softmax_backward_given),
    [DT_LOG_SOFTMAX_BACKWARD_GIVEN] = K(log_softmax_backward_given),
}};
