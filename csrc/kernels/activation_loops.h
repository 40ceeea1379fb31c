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
#define inverse_erf K(inverse_erf)

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

/* M. Giles, "Approximating the erfinv function", GPU Computing Gems, 2012: x times a
 * polynomial of w = -log(1 - x^2), or of its root farther out. */
#if PRECISION == 32
#define SQRT __builtin_sqrtf
#define INV_NEAR 5
#define INV_MIDDLE 2.5f
#define INV_FAR_MIDDLE 3
static const REAL K(INV_NEAR_TABLE)[] = {
    1.50140941f,      0.246640727f,    -0.00417768164f, -0.00125372503f, 0.00021858087f,
    -4.39150654e-06f, -3.5233877e-06f, 3.43273939e-07f, 2.81022636e-08f};
static const REAL K(INV_FAR_TABLE)[] = {
    2.83297682f,     1.00167406f,    0.00943887047f,  -0.0076224613f,  0.00573950773f,
    -0.00367342844f, 0.00134934322f, 0.000100950558f, -0.000200214257f};
#else
#define SQRT __builtin_sqrt
#define INV_NEAR 6.25
#define INV_MIDDLE 3.125
#define INV_FAR_MIDDLE 5
static const REAL K(INV_NEAR_TABLE)[] = {
    1.6536545626831027356,      0.24015818242558961693,    -0.0060336708714301490533,
    -0.00074070253416626697512, 0.0001867342080340571352,  -1.3882523362786468719e-05,
    -1.3654692000834678645e-06, 4.2347877827932403518e-07, -2.9070369957882005086e-08,
    -4.1126339803469836976e-09, 1.051212273321532285e-09,  -5.4154120542946279317e-11,
    -1.2975133253453532498e-11, 2.6335093153082322977e-12, -8.1519341976054721522e-14,
    -4.0545662729752068639e-14, 6.6376381343583238325e-15, 2.0972767875968561637e-17,
    -1.333171662854620906e-16,  1.115787767802518096e-17,  1.2858480715256400167e-18,
    -1.685059138182016589e-19,  -3.6444120640178196996e-21};
static const REAL K(INV_MIDDLE_TABLE)[] = {
    3.0838856104922207635,     1.0052589676941592334,      0.005370914553590063617,
    -0.0037512085075692412107, 0.0024914420961078508066,   -0.0016882755560235047313,
    0.00095328937973738049703, -0.0003550375203628474796,  2.4031110387097893999e-05,
    6.8284851459573175448e-05, -4.7318229009055733981e-05, 1.2475304481671778723e-05,
    2.9234449089955446044e-06, -4.013867526981545969e-06,  1.5027403968909827627e-06,
    1.8239629214389227755e-08, -2.7517406297064545428e-07, 9.0756561938885390979e-08,
    2.2137376921775787049e-09};
static const REAL K(INV_FAR_TABLE)[] = {
    4.8499064014085844221,      1.0103004648645343977,      -0.00013871931833623122026,
    -0.00021503011930044477347, 7.5995277030017761139e-05,  -1.9681778105531670567e-05,
    4.5260625972231537039e-06,  -9.9298272942317002539e-07, 2.2900482228026654717e-07,
    -6.7711997758452339498e-08, 2.9147953450901080826e-08,  -1.4960026627149240478e-08,
    7.6157012080783393804e-09,  -3.7894654401267369937e-09, 1.5076572693500548083e-09,
    -2.5556418169965252055e-10, -2.7109920616438573243e-11};
#endif

/* What the logarithm loses does not matter: a polynomial is one of w - INV_MIDDLE. */
V_INLINE vec
inverse_erf(vec x)
{
    vec a = v_abs(x), w = -v_log((1 - a) * (1 + a)), root;
    for (int k = 0; k < LANES; k++)
        root[k] = SQRT(w[k]);
    vec far = V_POLY(root - INV_FAR_MIDDLE, INV_FAR_TABLE);
#if PRECISION == 64
    far = v_select(w < 16, V_POLY(root - 3.25, INV_MIDDLE_TABLE), far);
#endif
    vec near = V_POLY(w - INV_MIDDLE, INV_NEAR_TABLE);
    vec factor = v_select(w < INV_NEAR, near, far);
    return x * v_select(a == 1, v_splat((REAL)INFINITY), factor);
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
ACTIVATION(erf, v_erf(x), g * ((REAL)M_2_SQRTPI * v_bell(x)))
ACTIVATION(erfc, v_erfc(x), g * (-(REAL)M_2_SQRTPI * v_bell(x)))
ACTIVATION(erfinv, inverse_erf(x), g * (v_exp(x * x) / (REAL)M_2_SQRTPI))
/* clang-format on */

static const loops K(TABLE) = {
#define FORWARD(name, numbers) [DT_ACTIVATION_##name] = K(name),
#define BACKWARD(name, numbers) [DT_ACTIVATION_##name] = K(name##_backward),
    {DT_ACTIVATIONS(FORWARD)},
    {DT_ACTIVATIONS(BACKWARD)},
};

#undef SQRT
#undef INV_NEAR
#undef INV_MIDDLE
#undef INV_FAR_MIDDLE
