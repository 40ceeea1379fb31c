/* optim_loops.h: the loops of optim.c. Compilers make vectors of them; what does not
 * depend on the element they take out of the loop. */
#if PRECISION == 32
#define SQRT __builtin_sqrtf
#else
#define SQRT __builtin_sqrt
#endif

TARGET static void
K(adam)(const adam_factors *f, int64_t count, void *param, const void *grad, void *mean,
        void *square, void *peak)
{
    REAL *restrict x = param, *restrict m = mean, *restrict v = square;
    REAL *restrict top = peak;
    const REAL *restrict given = grad;
    REAL decay = (REAL)f->decay, shrink = (REAL)f->shrink, sign = (REAL)f->sign;
    REAL blend = (REAL)f->blend, keep = (REAL)f->keep, add = (REAL)f->add;
    REAL root = (REAL)f->root, eps = (REAL)f->eps, size = (REAL)f->size;
    for (int64_t k = 0; k < count; k++) {
        REAL g = sign * given[k], p = x[k];
        if (decay != 1)
            p *= decay;
        if (shrink != 0)
            g += shrink * p;
        REAL average = m[k] + blend * (g - m[k]), now = keep * v[k] + add * (g * g);
        m[k] = average;
        v[k] = now;
        if (top != NULL)
            top[k] = now = now > top[k] || now != now ? now : top[k];
        x[k] = p - size * (average / (SQRT(now) / root + eps));
    }
}

TARGET static void
K(sgd)(const sgd_factors *f, int64_t count, void *param, const void *grad,
       void *velocity)
{
    REAL *restrict x = param, *restrict v = velocity;
    const REAL *restrict given = grad;
    REAL lr = (REAL)f->lr, keep = (REAL)f->keep, add = (REAL)f->add;
    REAL shrink = (REAL)f->shrink, sign = (REAL)f->sign, ahead = (REAL)f->ahead;
    for (int64_t k = 0; k < count; k++) {
        REAL g = sign * given[k];
        if (shrink != 0)
            g += shrink * x[k];
        if (v != NULL) {
            REAL now = keep == 0 ? add * g : keep * v[k] + add * g;
            v[k] = now;
            g = ahead != 0 ? g + ahead * now : now;
        }
        x[k] -= lr * g;
    }
}

#undef SQRT

static const loops K(TABLE) = {K(adam), K(sgd)};
