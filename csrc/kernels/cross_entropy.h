/* cross_entropy.h: minus the logarithm of the probability of the right class.
 *
 * x is (outer, classes, inner) in C order; a row is one (outer, inner), and has a
 * target, the number of its class, and perhaps lse, its log sum e^x. The loss of a row
 * is
 *
 *     (1 - smoothing) w[t] (lse - x[t])
 *         + smoothing / all * (sum over c of w[c] (lse - x[c]))
 *
 * or 0 where the target is `ignore`. Where the classes are cut, x has the `classes`
 * from number `first` on, of `all`; the loss is the sum of what the parts give:
 *
 *     4 rows of 1000 classes, the second of 4 ranks: outer 4, classes 250, inner 1,
 *                                                    first 250, all 1000 */
#ifndef DT_CROSS_ENTROPY_H
#define DT_CROSS_ENTROPY_H

#include <stdbool.h>
#include <stdint.h>

typedef struct {
    int64_t outer, classes, inner, first, all, ignore;
    double smoothing;
    const void *x;      /* logarithms of probabilities, or with lse any numbers */
    const void *lse;    /* outer * inner numbers; NULL: 0 */
    const void *weight; /* of all classes; NULL: 1 */
    const int64_t *target;
} dt_classes;

/* The first target that is no class and not ignored; 0 where all are right. */
int64_t dt_classes_wrong(const dt_classes *c);

/* Numbers are of float32, or float64 where `wide`. The loss of each row; their sum. */
void dt_classes_run(bool wide, void *out, const dt_classes *c);
double dt_classes_sum(bool wide, const dt_classes *c);

/* The sum of the weights of all targets that are classes and not ignored. */
double dt_classes_total(bool wide, const dt_classes *c);

/* The gradient of x, where row r has the gradient factor * g[r], or with `single`
 * factor * g[0]. `scratch` has room for 2 * outer * inner numbers. */
void dt_classes_backward(bool wide, void *dx, void *scratch, const void *g, bool single,
                         double factor, const dt_classes *c);

#endif
