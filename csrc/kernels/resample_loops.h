/* resample_loops.h: what resample.c compiles for each instruction set (levels.h). */
#define elements K(elements)
#define row_of K(row_of)
#define add_row K(add_row)

/* Rows of one element. */
V_INLINE void
elements(REAL *restrict out, const REAL *restrict x, const dt_resample *of)
{
    const int64_t *index = of->index;
    const REAL *weights = of->weights;
    for (int64_t k = 0; k < of->size; k++)
        out[k] = weights[k] * x[index[k]];
    for (int64_t t = 1; t < of->taps; t++) {
        index += of->size;
        weights += of->size;
        for (int64_t k = 0; k < of->size; k++)
            out[k] += weights[k] * x[index[k]];
    }
}

V_INLINE void
row_of(REAL *out, const REAL *x, int64_t k, const dt_resample *of)
{
    const int64_t inner = of->inner;
    const REAL *weights = of->weights;
    for (int64_t i = 0; i < inner; i += LANES) {
        vec sum = v_get(x + of->index[k] * inner + i, inner - i) * weights[k];
        for (int64_t t = 1, at = k + of->size; t < of->taps; t++, at += of->size)
            sum = V_FMA(v_splat(weights[at]),
                        v_get(x + of->index[at] * inner + i, inner - i), sum);
        v_put(out + i, sum, inner - i);
    }
}

TARGET static void
K(out)(void *work, int64_t begin, int64_t end)
{
    const job *j = work;
    const dt_resample *of = j->of;
    for (int64_t p = begin; p < end; p++) {
        REAL *out = (REAL *)j->to + p * of->size * of->inner;
        const REAL *x = (const REAL *)j->from + p * of->length * of->inner;
        if (of->inner == 1)
            elements(out, x, of);
        else
            for (int64_t k = 0; k < of->size; k++)
                row_of(out + k * of->inner, x, k, of);
    }
}

V_INLINE void
add_row(REAL *x, const REAL *out, REAL weight, int64_t inner)
{
    for (int64_t i = 0; i < inner; i += LANES) {
        vec sum =
            V_FMA(v_splat(weight), v_get(out + i, inner - i), v_get(x + i, inner - i));
        v_put(x + i, sum, inner - i);
    }
}

TARGET static void
K(back)(void *work, int64_t begin, int64_t end)
{
    const job *j = work;
    const dt_resample *of = j->of;
    for (int64_t p = begin; p < end; p++) {
        const REAL *out = (const REAL *)j->from + p * of->size * of->inner;
        REAL *x = (REAL *)j->to + p * of->length * of->inner;
        memset(x, 0, (size_t)(of->length * of->inner) * sizeof *x);
        for (int64_t k = 0; k < of->size; k++)
            for (int64_t t = 0, at = k; t < of->taps; t++, at += of->size) {
                REAL weight = ((const REAL *)of->weights)[at];
                if (of->inner == 1)
                    x[of->index[at]] += weight * out[k];
                else
                    add_row(x + of->index[at] * of->inner, out + k * of->inner, weight,
                            of->inner);
            }
    }
}

static const loops K(TABLE) = {K(out), K(back)};
