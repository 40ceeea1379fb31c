/* activation_loops.h: what activation.c compiles for each instruction set (levels.h).
 */
#define inner K(inner)
#define soft K(soft)
#define gelu_grad K(gelu_grad)
#define gelu_tanh_grad K(gelu_tanh_grad)
#define silu_grad K(silu_grad)
#define mish_tanh K(mish_tanh)
#define mish_grad K(mish_grad)
#define clip K(clip)

/* --- what takes more than a line --- */

/* x, at least `low` and at most `high`; NaN stays. */
V_INLINE vec
clip(vec x, REAL low, REAL high)
{
    return V_MIN(v_splat(high), V_MAX(v_splat(low), x));
}

/* log(1 + e^x), without overflow. */
V_INLINE vec
soft(vec x)
{
    return V_MAX(v_splat(0), x) + v_log1p(v_exp(-v_abs(x)));
}

#define ROOT_2_BY_PI (REAL)0.79788456080286535588
#define CUBIC (REAL)0.044715

/* (1 + tanh u) / 2 is the sigmoid of 2u: nothing cancels. */
V_INLINE vec
inner(vec x)
{
    return v_sigmoid(2 * ROOT_2_BY_PI * x * (1 + CUBIC * x * x));
}

V_INLINE vec
gelu_grad(vec x)
{
    vec e, below = v_normal(&e, x);
    return below + x * e * (ROOT_2_BY_PI / 2);
}

/* Beyond 100 the slope of what is in the sigmoid does not matter; it would be infinite
 * sooner or later. */
V_INLINE vec
gelu_tanh_grad(vec x)
{
    vec s = inner(x), near = clip(x, -100, 100);
    vec slope = 2 * ROOT_2_BY_PI * (1 + 3 * CUBIC * near * near);
    return s + near * s * (1 - s) * slope;
}

V_INLINE vec
silu_grad(vec x)
{
    vec s = v_sigmoid(x);
    return s * (1 + x * (1 - s));
}

/* tanh(log(1 + e)) = (e^2 + 2e) / (e^2 + 2e + 2); 1 beyond 20. */
V_INLINE vec
mish_tanh(vec x)
{
    vec e = v_exp(V_MIN(v_splat(20), x)), n = e * (e + 2);
    return n / (n + 2);
}

V_INLINE vec
mish_grad(vec x)
{
    vec t = mish_tanh(x);
    return t + x * (1 - t * t) * v_sigmoid(x);
}

/* --- all of them --- */

#define ZERO v_splat(0)
#define P0 (REAL) p[0]
#define P1 (REAL) p[1]
#define P2 (REAL) p[2]

#define ACTIVATION(name, result, gradient)                                             \
    TARGET static void K(name)(void *to, const void *from, const double *p,            \
                               int64_t count)                                          \
    {                                                                                  \
        REAL *out = to;                                                                \
        const REAL *in = from;                                                         \
        (void)p;                                                                       \
        for (int64_t i = 0; i < count; i += LANES) {                                   \
            vec e, x = v_get(in + i, count - i);                                       \
            (void)e;                                                                   \
            v_put(out + i, result, count - i);                                         \
        }                                                                              \
    }                                                                                  \
                                                                                       \
    TARGET static void K(name##_backward)(                                             \
        void *to, const void *grad, const void *from, const double *p, int64_t count)  \
    {                                                                                  \
        REAL *out = to;                                                                \
        const REAL *in = from, *given = grad;                                          \
        (void)p;                                                                       \
        for (int64_t i = 0; i < count; i += LANES) {                                   \
            vec x = v_get(in + i, count - i), g = v_get(given + i, count - i);         \
            v_put(out + i, gradient, count - i);                                       \
        }                                                                              \
    }

/* (clang-format takes products for pointers.) */
/* clang-format off */
ACTIVATION(relu, V_MAX(ZERO, x), v_select(x <= 0, ZERO, g))
ACTIVATION(hardtanh, clip(x, P0, P1), v_select((x > P0) & (x < P1), g, ZERO))
ACTIVATION(leaky_relu, v_select(x > 0, x, P0 * x), v_select(x > 0, g, P0 * g))
ACTIVATION(threshold, v_select(x <= P0, v_splat(P1), x), v_select(x <= P0, ZERO, g))
ACTIVATION(elu, P1 * v_select(x > 0, x, P0 * v_expm1(P2 * x)),
           P1 * v_select(x > 0, g, P0 * P2 * v_exp(P2 * x) * g))
ACTIVATION(gelu, x * v_normal(&e, x), g * gelu_grad(x))
ACTIVATION(gelu_tanh, x * inner(x), g * gelu_tanh_grad(x))
ACTIVATION(silu, x * v_sigmoid(x), g * silu_grad(x))
ACTIVATION(mish, x * mish_tanh(x), g * mish_grad(x))
ACTIVATION(sigmoid, v_sigmoid(x), g * (x * (1 - x)))
ACTIVATION(tanh, v_tanh(x), g * (1 - x * x))
ACTIVATION(logsigmoid, V_MIN(ZERO, x) - v_log1p(v_exp(-v_abs(x))), g * v_sigmoid(-x))
ACTIVATION(softplus, v_select(P0 * x > P1, x, soft(P0 * x) / P0),
           v_select(P0 * x > P1, g, g * v_sigmoid(P0 * x)))
ACTIVATION(hardsigmoid, clip(x + 3, 0, 6) / 6,
           v_select((x > -3) & (x < 3), g / 6, ZERO))
ACTIVATION(hardswish, x * (clip(x + 3, 0, 6) / 6),
           v_select(x <= -3, ZERO, v_select(x >= 3, g, g * (x / 3 + (REAL)0.5))))
ACTIVATION(hardshrink, v_select(v_abs(x) <= P0, ZERO, x),
           v_select(v_abs(x) > P0, g, ZERO))
ACTIVATION(softshrink, x - clip(x, -P0, P0), v_select(v_abs(x) > P0, g, ZERO))
ACTIVATION(softsign, x / (1 + v_abs(x)), g / ((1 + v_abs(x)) * (1 + v_abs(x))))
ACTIVATION(tanhshrink, x - v_tanh(x), g * (v_tanh(x) * v_tanh(x)))
ACTIVATION(erf, v_erf(x), g * ((REAL)M_2_SQRTPI * v_exp(-x * x)))
/* clang-format on */

static const loops K(TABLE) = {
#define FORWARD(name, numbers) [DT_ACTIVATION_##name] = K(name),
#define BACKWARD(name, numbers) [DT_ACTIVATION_##name] = K(name##_backward),
    {DT_ACTIVATIONS(FORWARD)},
    {DT_ACTIVATIONS(BACKWARD)},
};
