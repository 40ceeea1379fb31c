/* optim.h: one step of an optimizer, in one pass over a parameter and its state.
 *
 * The formulas, and the order of their operations, are those of torch.optim. Every
 * level gives the same bits. */
#ifndef DT_OPTIM_H
#define DT_OPTIM_H

#include "core/facts/dtype.h"

#include <stdbool.h>
#include <stdint.h>

/* Adam (Kingma and Ba 2015, arXiv:1412.6980), with g the gradient:
 *
 *     mean   += (g - mean) (1 - beta1)
 *     square  = beta2 square + (1 - beta2) g^2
 *     param  -= lr / (1 - beta1^step) mean / (sqrt(square / (1 - beta2^step)) + eps)
 *
 * Weight decay adds weight_decay param to g first; or, `decoupled` (AdamW, Loshchilov
 * and Hutter 2019, arXiv:1711.05101), makes param smaller by lr weight_decay param. */
typedef struct {
    double lr, beta1, beta2, eps, weight_decay;
    bool decoupled;
    bool maximize; /* g is minus the gradient */
    double step;   /* 1 for the first one */
} dt_adam;

/* Arrays of `count` float32, float64, float16 or bfloat16, one after the other; none
 * overlaps another. Those of 16 bits are computed in float32 and rounded once.
 * `peak`: the greatest `square` so far, which is then used for it (AMSGrad, Reddi et
 * al. 2018); or NULL. */
void dt_adam_step(const dt_adam *adam, dt_dtype dtype, int64_t count, void *param,
                  const void *grad, void *mean, void *square, void *peak);

/* Gradient descent, with g the gradient plus weight_decay param:
 *
 *     velocity = momentum velocity + (1 - dampening) g        (at `first`: g)
 *     param   -= lr velocity                     nesterov: lr (g + momentum velocity)
 */
typedef struct {
    double lr, momentum, dampening, weight_decay;
    bool nesterov, maximize;
    bool first;
} dt_sgd;

/* `velocity` may be NULL where momentum is 0. Arrays as above. */
void dt_sgd_step(const dt_sgd *sgd, dt_dtype dtype, int64_t count, void *param,
                 const void *grad, void *velocity);

#endif
