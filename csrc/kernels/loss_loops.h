/* loss_loops.h: what loss.c compiles for each instruction set (levels.h). */
#define smooth K(smooth)
#define clipped_log K(clipped_log)
#define cross K(cross)
#define entropy K(entropy)
#define signed_one K(signed_one)

/* --- what takes more than a line --- */

V_INLINE vec
signed_one(vec x)
{
    return v_select(x > 0, v_splat(1), v_select(x < 0, v_splat(-1), x));
}

/* |d| - width/2, with a square within the width; a width of 0 has none. */
V_INLINE vec
smooth(vec d, REAL width)
{
    vec far = v_abs(d), square = far * far * (REAL)0.5 / width;
    return v_select(far < width, square, far - (REAL)0.5 * width);
}

V_INLINE vec
clipped_log(vec x)
{
    return V_MAX(v_splat(-100), v_log(x)); /* NaN stays */
}

/* max(x, 0) - x t + log(1 + e^-|x|) */
V_INLINE vec
cross(vec x, vec t)
{
    return V_MAX(v_splat(0), x) - x * t + v_log1p(v_exp(-v_abs(x)));
}

V_INLINE vec
entropy(vec t)
{
    return v_select(t == 0, v_splat(0), t * v_log(t));
}

/* --- all of them --- */

#define LOSS(name, value, slope)                                                       \
    TARGET static void K(name)(void *to, const void *from, const void *target,         \
                               double number, int64_t count)                           \
    {                                                                                  \
        REAL *out = to, p = (REAL)number;                                              \
        const REAL *in = from, *aim = target;                                          \
        (void)p;                                                                       \
        for (int64_t i = 0; i < count; i += LANES) {                                   \
            vec x = v_get(in + i, count - i), t = v_get(aim + i, count - i);           \
            v_put(out + i, value, count - i);                                          \
        }                                                                              \
    }                                                                                  \
                                                                                       \
    TARGET static double K(name##_sum)(const void *from, const void *target,           \
                                       double number, int64_t count)                   \
    {                                                                                  \
        REAL p = (REAL)number;                                                         \
        const REAL *in = from, *aim = target;                                          \
        long double total = 0;                                                         \
        (void)p;                                                                       \
        for (int64_t at = 0; at < count; at += BLOCK) {                                \
            int64_t end = count < at + BLOCK ? count : at + BLOCK;                     \
            vec sum = v_splat(0);                                                      \
            for (int64_t i = at; i < end; i += LANES) {                                \
                vec x = v_get(in + i, end - i), t = v_get(aim + i, end - i);           \
                sum += v_part(value, end - i);                                         \
            }                                                                          \
            total += (long double)v_sum(sum);                                          \
        }                                                                              \
        return (double)total;                                                          \
    }                                                                                  \
                                                                                       \
    TARGET static void K(name##_backward)(                                             \
        void *to, const void *grad, bool single, double factor, const void *from,      \
        const void *target, double number, int64_t count)                              \
    {                                                                                  \
        REAL *out = to, p = (REAL)number, times = (REAL)factor;                        \
        const REAL *in = from, *aim = target, *given = grad;                           \
        (void)p;                                                                       \
        for (int64_t i = 0; i < count; i += LANES) {                                   \
            vec x = v_get(in + i, count - i), t = v_get(aim + i, count - i);           \
            vec g = single ? v_splat(given[0]) : v_get(given + i, count - i);          \
            (void)x;                                                                   \
            v_put(out + i, times * g * (slope), count - i);                            \
        }                                                                              \
    }

/* (clang-format takes products for pointers.) */
/* clang-format off */
LOSS(mse, (x - t) * (x - t), 2 * (x - t))
LOSS(l1, v_abs(x - t), signed_one(x - t))
LOSS(smooth_l1, smooth(x - t, p),
     v_select(v_abs(x - t) < p, (x - t) / p, signed_one(x - t)))
LOSS(huber,
     v_select(v_abs(x - t) <= p, (REAL)0.5 * (x - t) * (x - t),
              p * (v_abs(x - t) - (REAL)0.5 * p)),
     v_select(v_abs(x - t) <= p, x - t, p * signed_one(x - t)))
LOSS(bce, (t - 1) * clipped_log(1 - x) - t * clipped_log(x),
     (x - t) / V_MAX(v_splat((REAL)1e-12), (1 - x) * x))
LOSS(bce_logits, cross(x, t), v_sigmoid(x) - t)
LOSS(kl_div, entropy(t) - t * x, -t)
LOSS(kl_div_log, v_exp(t) * (t - x), -v_exp(t))
/* clang-format on */

static const loops K(TABLE) = {
#define RUN(name, numbers) [DT_LOSS_##name] = K(name),
#define SUM(name, numbers) [DT_LOSS_##name] = K(name##_sum),
#define BACKWARD(name, numbers) [DT_LOSS_##name] = K(name##_backward),
    {DT_LOSSES(RUN)},
    {DT_LOSSES(SUM)},
    {DT_LOSSES(BACKWARD)},
};
