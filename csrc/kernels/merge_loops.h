/* merge_loops.h: two runs of numbers of type T, which may be NaN, become one; M(name) is
 * the name of a function of them. */

/* Returns how many numbers of a run come before NaN. */
static int64_t
M(before_nan)(const T *x, int64_t n)
{
    int64_t low = 0, high = n;
    while (low < high) {
        int64_t k = low + (high - low) / 2;
        if (IS_NAN(x[k]))
            high = k;
        else
            low = k + 1;
    }
    return low;
}

/* Returns how many of the first k numbers of the result are a's. */
static int64_t
M(first_of)(const T *a, int64_t n, const T *b, int64_t m, int64_t k)
{
    int64_t low = k > m ? k - m : 0, high = k < n ? k : n;
    while (low < high) {
        int64_t i = low + (high - low) / 2;
        if (b[k - i - 1] < a[i])
            high = i;
        else
            low = i + 1;
    }
    return low;
}

/* Steps of a lane, without a branch that depends on numbers: which comes first is not to
 * be foreseen. */
static inline void
M(step)(lane *l, const T *a, const T *b, T *out)
{
    T p = a[l->i], q = b[l->j];
    bool second = q < p;
    out[l->k++] = second ? q : p;
    l->j += second;
    l->i += !second;
}

static inline void
M(placed_step)(lane *l, const T *a, const T *b, T *out, const places *of)
{
    bool second = b[l->j] < a[l->i];
    of->out[l->k] = second ? of->b[l->j] : of->a[l->i];
    M(step)(l, a, b, out);
}

/* Merges a range of each run until one of both has ended. */
static void
M(finish)(lane *l, const T *a, const T *b, T *out, const places *of)
{
    while (l->i < l->i_end && l->j < l->j_end)
        if (of != NULL)
            M(placed_step)(l, a, b, out, of);
        else
            M(step)(l, a, b, out);
    append(l, a, b, out, sizeof(T), of);
}

/* Several ranges side by side: a step waits for the one before it in its own alone. */
static void
M(two)(const void *first, int64_t n, const void *second, int64_t m, void *result,
       const places *of)
{
    const T *a = first, *b = second;
    T *out = result;
    const int64_t as = M(before_nan)(a, n), bs = M(before_nan)(b, m);
    lane lanes[LANES];
    for (int64_t l = 0, i = 0, k = 0; l < LANES; l++) {
        int64_t stop = (as + bs) * (l + 1) / LANES;
        int64_t i_stop = M(first_of)(a, as, b, bs, stop);
        lanes[l] = (lane){i, i_stop, k - i, stop - i_stop, k};
        i = i_stop;
        k = stop;
    }
    lane l0 = lanes[0], l1 = lanes[1], l2 = lanes[2], l3 = lanes[3];
    for (;;) {
        lanes[0] = l0, lanes[1] = l1, lanes[2] = l2, lanes[3] = l3;
        int64_t steps = common_steps(lanes);
        if (steps == 0)
            break;
        if (of == NULL)
            for (; steps > 0; steps--) {
                M(step)(&l0, a, b, out);
                M(step)(&l1, a, b, out);
                M(step)(&l2, a, b, out);
                M(step)(&l3, a, b, out);
            }
        else
            for (; steps > 0; steps--) {
                M(placed_step)(&l0, a, b, out, of);
                M(placed_step)(&l1, a, b, out, of);
                M(placed_step)(&l2, a, b, out, of);
                M(placed_step)(&l3, a, b, out, of);
            }
    }
    for (int l = 0; l < LANES; l++)
        M(finish)(&lanes[l], a, b, out, of);
    lane nan = {as, n, bs, bs, as + bs};
    append(&nan, a, b, out, sizeof(T), of);
    nan = (lane){n, n, bs, m, n + bs};
    append(&nan, a, b, out, sizeof(T), of);
}

#undef T
#undef M
