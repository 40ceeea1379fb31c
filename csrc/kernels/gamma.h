/* gamma.h: the gamma function's logarithm, and its derivatives. */
#ifndef DT_GAMMA_H
#define DT_GAMMA_H

#include <stdbool.h>
#include <stdint.h>

enum { DT_POLYGAMMA_MAX = 170 }; /* the largest n whose factorial is a double */

/* Both are of float32, or float64 where `wide`; they are computed in double and rounded
 * once. `out` may be `x`. */

/* out = log |gamma(x)|: infinite at 0, -1, -2, ... */
void dt_lgamma(bool wide, void *out, const void *x, int64_t count);

/* out = derivative n of digamma, which is the first one of log |gamma(x)|; 0 <= n <=
 * DT_POLYGAMMA_MAX. At -1, -2, ... NaN for n = 0, and else infinite. */
void dt_polygamma(int n, bool wide, void *out, const void *x, int64_t count);

#endif
