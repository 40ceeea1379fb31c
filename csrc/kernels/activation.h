/* activation.h: functions of single numbers between the layers of a model, and their
 * derivatives. After the definitions of torch.nn.functional. */
#ifndef DT_ACTIVATION_H
#define DT_ACTIVATION_H

#include <stdbool.h>
#include <stdint.h>

/* name, how many numbers p it takes:
 *
 *     relu         max(x, 0)
 *     hardtanh     x, at least p0 and at most p1
 *     leaky_relu   x > 0 ? x : p0 x
 *     threshold    x > p0 ? x : p1
 *     elu          p1 (x > 0 ? x : p0 (e^(p2 x) - 1))
 *     gelu         x P(X <= x) of the normal distribution
 *     gelu_tanh    x (1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3))) / 2
 *     silu         x / (1 + e^-x)
 *     mish         x tanh(log(1 + e^x))
 *     sigmoid      1 / (1 + e^-x)
 *     tanh
 *     logsigmoid   -log(1 + e^-x)
 *     softplus     log(1 + e^(p0 x)) / p0, or x where p0 x > p1
 *     hardsigmoid  (x + 3) / 6, at least 0 and at most 1
 *     hardswish    x hardsigmoid(x)
 *     hardshrink   |x| > p0 ? x : 0
 *     softshrink   x, by p0 closer to 0, or 0
 *     softsign     x / (1 + |x|)
 *     tanhshrink   x - tanh x
 *     erf          2 / sqrt(pi) times the integral of e^(-t^2) from 0 to x
 *     erfc         1 - erf(x), and what is left of that where it is small
 *     erfinv       the inverse of erf; NaN beyond -1 and 1 */
#define DT_ACTIVATIONS(X)                                                              \
    X(relu, 0)                                                                         \
    X(hardtanh, 2)                                                                     \
    X(leaky_relu, 1)                                                                   \
    X(threshold, 2)                                                                    \
    X(elu, 3)                                                                          \
    X(gelu, 0)                                                                         \
    X(gelu_tanh, 0)                                                                    \
    X(silu, 0)                                                                         \
    X(mish, 0)                                                                         \
    X(sigmoid, 0)                                                                      \
    X(tanh, 0)                                                                         \
    X(logsigmoid, 0)                                                                   \
    X(softplus, 2)                                                                     \
    X(hardsigmoid, 0)                                                                  \
    X(hardswish, 0)                                                                    \
    X(hardshrink, 1)                                                                   \
    X(softshrink, 1)                                                                   \
    X(softsign, 0)                                                                     \
    X(tanhshrink, 0)                                                                   \
    X(erf, 0)                                                                          \
    X(erfc, 0)                                                                         \
    X(erfinv, 0)

typedef enum {
#define DT_ACTIVATION_ENUM(name, numbers) DT_ACTIVATION_##name,
    DT_ACTIVATIONS(DT_ACTIVATION_ENUM)
#undef DT_ACTIVATION_ENUM
        DT_ACTIVATION_COUNT
} dt_activation;

/* out[i] = f(x[i]) of float32, or float64 where `wide`. `out` may be `x`. */
void dt_activation_run(dt_activation which, bool wide, void *out, const void *x,
                       const double *p, int64_t count);

/* out[i] = g[i] f'(x[i]); of relu, sigmoid, tanh and erfinv `x` is the result f(x).
 * `out` may be one of both. */
void dt_activation_backward(dt_activation which, bool wide, void *out, const void *g,
                            const void *x, const double *p, int64_t count);

#endif
