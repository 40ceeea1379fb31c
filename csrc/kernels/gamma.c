#include "kernels/gamma.h"

#include "core/threads/team.h"

#include <math.h>
#include <stddef.h>

#define COUNT(table) ((int)(sizeof(table) / sizeof *(table)))

/* --- polygamma: Abramowitz and Stegun, 6.3 and 6.4 ---
 *
 * A recurrence leads from x > 0 to where the asymptotic series has converged:
 *
 *     psi(n, x) = psi(n, x + 1) + sign n! / x^(n + 1),    sign = (-1)^(n + 1)
 *     psi(n, x) ~ sign ((n - 1)! / x^n + n! / (2 x^(n + 1))
 *                       + sum of B(2k) (2k + n - 1)! / ((2k)! x^(2k + n)))
 *
 * where -log x stands for (n - 1)! if n is 0. A reflection leads from x < 0 to 1 - x:
 *
 *     psi(n, x) = -sign psi(n, 1 - x) - pi d^n/dx^n cot(pi x)
 *
 * What is differentiated is a polynomial P of c = cot(pi x), and gets -pi (1 + c^2) P'. */

/* B(2k) */
static const double BERNOULLI[] = {
    1.0 / 6,  -1.0 / 30,     1.0 / 42, -1.0 / 30,
    5.0 / 66, -691.0 / 2730, 7.0 / 6,  -3617.0 / 510,
};

enum { TERMS = COUNT(BERNOULLI), CONVERGED = 8, DEGREE = DT_POLYGAMMA_MAX + 1 };

/* psi(n, .): what does not depend on x. */
typedef struct {
    int n;
    double sign, before, factorial; /* `before`: (n - 1)! */
    double series[TERMS];           /* the numbers beside x^-(2k + n) */
    double turned[DEGREE + 1];      /* P */
} polygamma;

static void
polygamma_of(polygamma *f, int n)
{
    *f = (polygamma){.n = n, .sign = n % 2 ? 1 : -1, .before = 1, .turned = {0, M_PI}};
    for (int k = 2; k < n; k++)
        f->before *= k;
    f->factorial = n == 0 ? 1 : n * f->before;
    double ratio = f->factorial * (n + 1) / 2; /* (2k + n - 1)! / (2k)! */
    for (int k = 1; k <= TERMS; k++) {
        f->series[k - 1] = BERNOULLI[k - 1] * ratio;
        ratio *= (double)(2 * k + n) * (2 * k + n + 1);
        ratio /= (double)(2 * k + 1) * (2 * k + 2);
    }
    for (int degree = 2; degree <= n + 1; degree++) {
        double below = 0; /* what stood beside c^(k - 1) */
        for (int k = 0; k <= degree; k++) {
            double here = f->turned[k], above = k < degree ? f->turned[k + 1] : 0;
            f->turned[k] = -M_PI * ((k + 1) * above + (k - 1) * below);
            below = here;
        }
    }
}

static double
power(double x, int n)
{
    double product = 1;
    for (; n > 0; n--)
        product *= x;
    return product;
}

static double
polygamma_right(const polygamma *f, double x)
{
    double steps = 0, series = 0;
    for (; x < CONVERGED + f->n; x++)
        steps += power(1 / x, f->n + 1);
    double by = 1 / x, head = f->n == 0 ? -log(x) : f->before;
    for (int k = TERMS - 1; k >= 0; k--)
        series = (series + f->series[k]) * by * by;
    double far = power(by, f->n) * (head + f->factorial * by / 2 + series);
    return f->sign * (far + f->factorial * steps);
}

static double
polygamma_at(const polygamma *f, double x)
{
    if (!(x < 0))
        return polygamma_right(f, x);
    if (x == floor(x))
        return f->n == 0 || isinf(x) ? NAN : f->sign * INFINITY;
    double at = x - rint(x), turned = 0;
    double c =
        fabs(at) < 0.25 ? 1 / tan(M_PI * at) : tan(M_PI * (copysign(0.5, at) - at));
    for (int k = f->n + 1; k >= 0; k--)
        turned = turned * c + f->turned[k];
    return -f->sign * polygamma_right(f, 1 - x) - turned;
}

/* --- arrays --- */

enum { EACH = 128 }; /* for dt_team_run */

typedef struct {
    const polygamma *f; /* NULL for lgamma */
    bool wide;
    void *out;
    const void *x;
} arrays;

static double
gamma_at(const polygamma *f, double x)
{
    int sign; /* lgamma() writes a variable of the process */
    return f == NULL ? lgamma_r(x, &sign) : polygamma_at(f, x);
}

static void
run_part(void *work, int64_t begin, int64_t end)
{
    const arrays *a = work;
    for (int64_t i = begin; i < end; i++)
        if (a->wide)
            ((double *)a->out)[i] = gamma_at(a->f, ((const double *)a->x)[i]);
        else
            ((float *)a->out)[i] = (float)gamma_at(a->f, ((const float *)a->x)[i]);
}

void
dt_lgamma(bool wide, void *out, const void *x, int64_t count)
{
    arrays a = {.wide = wide, .out = out, .x = x};
    dt_team_run(count, EACH, run_part, &a);
}

void
dt_polygamma(int n, bool wide, void *out, const void *x, int64_t count)
{
    polygamma f;
    polygamma_of(&f, n);
    arrays a = {.f = &f, .wide = wide, .out = out, .x = x};
    dt_team_run(count, EACH, run_part, &a);
}
