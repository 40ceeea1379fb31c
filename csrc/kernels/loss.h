/* loss.h: how far numbers x are from their targets t. After torch.nn.functional. */
#ifndef DT_LOSS_H
#define DT_LOSS_H

#include <stdbool.h>
#include <stdint.h>

/* name, whether it takes a number p; with d = x - t:
 *
 *     mse          d^2
 *     l1           |d|
 *     smooth_l1    |d| < p ? d^2 / 2p : |d| - p/2
 *     huber        |d| <= p ? d^2 / 2 : p (|d| - p/2)
 *     bce          -t log x - (1 - t) log(1 - x), no logarithm being less than -100
 *     bce_logits   the same of 1 / (1 + e^-x), and without a limit
 *     kl_div       t (log t - x), or 0 where t is 0
 *     kl_div_log   e^t (t - x) */
#define DT_LOSSES(X)                                                                   \
    X(mse, 0)                                                                          \
    X(l1, 0)                                                                           \
    X(smooth_l1, 1)                                                                    \
    X(huber, 1)                                                                        \
    X(bce, 0)                                                                          \
    X(bce_logits, 0)                                                                   \
    X(kl_div, 0)                                                                       \
    X(kl_div_log, 0)

typedef enum {
#define DT_LOSS_ENUM(name, numbers) DT_LOSS_##name,
    DT_LOSSES(DT_LOSS_ENUM)
#undef DT_LOSS_ENUM
        DT_LOSS_COUNT
} dt_loss;

/* Numbers are of float32, or float64 where `wide`. */
void dt_loss_run(dt_loss which, bool wide, void *out, const void *x, const void *t,
                 double p, int64_t count);
/* The sum of all. */
double dt_loss_sum(dt_loss which, bool wide, const void *x, const void *t, double p,
                   int64_t count);
/* out[i] = factor * g[i] * the derivative by x; `single`: g is one number for all. */
void dt_loss_backward(dt_loss which, bool wide, void *out, const void *g, bool single,
                      double factor, const void *x, const void *t, double p,
                      int64_t count);

#endif
