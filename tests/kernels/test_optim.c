#include "kernels/optim.h"
#include "kernels/level.h"

#include "check.h"

#include <math.h>
#include <string.h>

enum { MOST = 70 };

static void
fill(float *x, uint64_t *state)
{
    for (int k = 0; k < MOST; k++)
        x[k] = (float)check_below(state, 1000) / 256 - 2;
}

/* The formula of optim.h in float, one operation at a time. */
static void
adam_reference(const dt_adam *a, int count, float *x, const float *grad, float *m,
               float *v, float *peak)
{
    float root = (float)sqrt(1 - pow(a->beta2, a->step));
    float size = (float)(a->lr / (1 - pow(a->beta1, a->step)));
    for (int k = 0; k < count; k++) {
        float g = a->maximize ? -grad[k] : grad[k];
        if (a->decoupled)
            x[k] *= (float)(1 - a->lr * a->weight_decay);
        else if (a->weight_decay != 0)
            g += (float)a->weight_decay * x[k];
        m[k] += (float)(1 - a->beta1) * (g - m[k]);
        float kept = (float)a->beta2 * v[k], added = (float)(1 - a->beta2) * (g * g);
        v[k] = kept + added;
        float now = v[k];
        if (peak != NULL)
            now = peak[k] = peak[k] > now ? peak[k] : now;
        x[k] -= size * (m[k] / (sqrtf(now) / root + (float)a->eps));
    }
}

static void
a_step_of_adam_has_the_same_bits_at_every_level(void)
{
    uint64_t state = 3;
    for (int level = 0; level <= 2; level++)
        for (int way = 0; way < 16; way++)
            for (int count = 0; count <= MOST; count += way % 2 ? 1 : 7) {
                float x[2][MOST], m[2][MOST], v[2][MOST], top[2][MOST], grad[MOST];
                dt_adam a = {.lr = 0.1,
                             .beta1 = 0.9,
                             .beta2 = 0.99,
                             .eps = 1e-3,
                             .weight_decay = way & 1 ? 0.25 : 0,
                             .decoupled = (way & 2) != 0,
                             .maximize = (way & 4) != 0,
                             .step = 1 + way};
                fill(x[0], &state), fill(m[0], &state), fill(grad, &state);
                fill(v[0], &state), fill(top[0], &state);
                for (int k = 0; k < MOST; k++)
                    v[0][k] = fabsf(v[0][k]);
                memcpy(x[1], x[0], sizeof *x), memcpy(m[1], m[0], sizeof *m);
                memcpy(v[1], v[0], sizeof *v), memcpy(top[1], top[0], sizeof *top);
                dt_level_set(level);
                bool peak = (way & 8) != 0;
                dt_adam_step(&a, DT_FLOAT32, count, x[0], grad, m[0], v[0],
                             peak ? top[0] : NULL);
                adam_reference(&a, count, x[1], grad, m[1], v[1], peak ? top[1] : NULL);
                CHECK(memcmp(x[0], x[1], sizeof *x) == 0);
                CHECK(memcmp(m[0], m[1], sizeof *m) == 0);
                CHECK(memcmp(v[0], v[1], sizeof *v) == 0);
                CHECK(memcmp(top[0], top[1], sizeof *top) == 0);
            }
    dt_level_set(-1);
}

static void
descent_with_momentum_follows_the_formula(void)
{
    double x = 3, v = NAN, expected_x = 3, expected_v = 0;
    for (int step = 0; step < 5; step++) {
        double grad = 1 + step;
        dt_sgd s = {.lr = 0.5,
                    .momentum = 0.75,
                    .dampening = 0.25,
                    .weight_decay = 0.5,
                    .first = step == 0};
        dt_sgd_step(&s, DT_FLOAT64, 1, &x, &grad, &v);
        double g = grad + 0.5 * expected_x;
        expected_v = step == 0 ? g : 0.75 * expected_v + 0.75 * g;
        expected_x -= 0.5 * expected_v;
        CHECK(x == expected_x && v == expected_v);
    }
}

static void
nesterov_looks_ahead_and_plain_descent_keeps_nothing(void)
{
    double x = 1, v = 2, grad = 4;
    dt_sgd s = {.lr = 0.5, .momentum = 0.5, .nesterov = true, .maximize = true};
    dt_sgd_step(&s, DT_FLOAT64, 1, &x, &grad, &v);
    CHECK(v == 0.5 * 2 - 4 && x == 1 - 0.5 * (-4 + 0.5 * v));
    x = 1;
    dt_sgd_step(&(dt_sgd){.lr = 0.5}, DT_FLOAT64, 1, &x, &grad, NULL);
    CHECK(x == -1);
}

DT_MAIN(TEST(a_step_of_adam_has_the_same_bits_at_every_level),
        TEST(descent_with_momentum_follows_the_formula),
        TEST(nesterov_looks_ahead_and_plain_descent_keeps_nothing))
