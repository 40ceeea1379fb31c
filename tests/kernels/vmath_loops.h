/* vmath_loops.h: every function of vmath.h over an array (levels.h). */
#define APPLY(name, value)                                                             \
    TARGET static void K(name)(void *to, const void *from, int64_t count)              \
    {                                                                                  \
        REAL *out = to;                                                                \
        const REAL *in = from;                                                         \
        for (int64_t i = 0; i < count; i += LANES) {                                   \
            vec e, x = v_get(in + i, count - i);                                       \
            (void)e;                                                                   \
            v_put(out + i, value, count - i);                                          \
        }                                                                              \
    }

APPLY(exp, v_exp(x))
APPLY(expm1, v_expm1(x))
APPLY(tanh, v_tanh(x))
APPLY(sigmoid, v_sigmoid(x))
APPLY(log, v_log(x))
APPLY(log1p, v_log1p(x))
APPLY(erf, v_erf(x))
APPLY(erfc, v_erfc(x))
APPLY(normal, v_normal(&e, x))

static const loops K(TABLE) = {{K(exp), K(expm1), K(tanh), K(sigmoid), K(log), K(log1p),
                                K(erf), K(erfc), K(normal)}};

#undef APPLY
