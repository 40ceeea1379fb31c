#include "kernels/ctc.h"

#include "core/threads/team.h"

#include <math.h>
#include <stddef.h>

/* A sample's labels with a blank before, between and behind them are its states, of
 * which there are 2 length + 1. From one time to the next a path stays, goes on to the
 * next state, or leaves out a blank between two labels that differ. */

typedef struct {
    const dt_ctc *of;
    void *out;
    const void *grad; /* NULL for losses */
    bool zero_infinity;
    double *scratch;
    int64_t room; /* of a sample in scratch */
} job;

typedef struct {
    const dt_ctc *of;
    int64_t n, times, states;
    const int64_t *targets;
} sample;

static int64_t
label(const sample *s, int64_t state)
{
    return state % 2 ? s->targets[state / 2] : s->of->blank;
}

static bool
skips(const sample *s, int64_t from, int64_t to)
{
    return to % 2 && label(s, from) != label(s, to);
}

static double
number(const void *array, bool wide, int64_t at)
{
    return wide ? ((const double *)array)[at] : (double)((const float *)array)[at];
}

static int64_t
place(const sample *s, int64_t t, int64_t class)
{
    return (t * s->of->samples + s->n) * s->of->classes + class;
}

static double
log_prob(const sample *s, int64_t t, int64_t state)
{
    return number(s->of->log_probs, s->of->wide, place(s, t, label(s, state)));
}

/* log(e^a + e^b) */
static double
either(double a, double b)
{
    if (a == b)
        return a + M_LN2;
    return a > b ? a + log1p(exp(b - a)) : b + log1p(exp(a - b));
}

/* One time more: `to` of `from`, which is NULL at the first time. `step` 1: paths from
 * the first states on; -1: from the last ones, back in time. */
static void
advance(const sample *s, double *to, const double *from, int64_t t, int step)
{
    int64_t last = step > 0 ? 0 : s->states - 1; /* where paths begin */
    for (int64_t k = 0; k < s->states; k++) {
        int64_t state = last + step * k, before = state - step;
        double sum;
        if (from == NULL) {
            sum = k < 2 ? 0 : -INFINITY;
        } else {
            sum = from[state];
            if (k >= 1)
                sum = either(sum, from[before]);
            if (k >= 2 && skips(s, before - step, state))
                sum = either(sum, from[before - step]);
        }
        to[state] = sum + log_prob(s, t, state);
    }
}

/* The loss, of the states at the last time. */
static double
loss_of(const sample *s, const double *last)
{
    if (s->times == 0)
        return s->states == 1 ? 0 : INFINITY;
    int64_t end = s->states - 1;
    return -(end == 0 ? last[0] : either(last[end], last[end - 1]));
}

static void
put(void *array, bool wide, int64_t at, double x)
{
    if (wide)
        ((double *)array)[at] = x;
    else
        ((float *)array)[at] = (float)x;
}

static void
losses(const job *j, const sample *s, double *scratch)
{
    double *rows[] = {scratch, scratch + s->states};
    for (int64_t t = 0; t < s->times; t++)
        advance(s, rows[t % 2], t == 0 ? NULL : rows[(t + 1) % 2], t, 1);
    put(j->out, s->of->wide, s->n, loss_of(s, rows[(s->times + 1) % 2]));
}

/* What of a class's probability at a time lies on paths: `found`, a number for each. */
static void
gather(const sample *s, double *found, const double *begun, const double *ended)
{
    for (int64_t c = 0; c < s->of->classes; c++)
        found[c] = -INFINITY;
    for (int64_t state = 0; state < s->states; state++) {
        double *at = &found[label(s, state)];
        *at = either(*at, begun[state] + ended[state]);
    }
}

static void
gradient(const job *j, const sample *s, double *scratch)
{
    const dt_ctc *of = s->of;
    double *begun = scratch, *ended = begun + s->times * s->states;
    double *rows[] = {ended, ended + s->states}, *found = rows[1] + s->states;
    for (int64_t t = 0; t < s->times; t++)
        advance(s, begun + t * s->states, t == 0 ? NULL : begun + (t - 1) * s->states,
                t, 1);
    double loss = loss_of(s, begun + (s->times - 1) * s->states);
    double scale = number(j->grad, of->wide, s->n);
    bool none = j->zero_infinity && loss == (double)INFINITY;
    for (int64_t t = of->times - 1; t >= 0; t--) {
        bool inside = t < s->times && !none;
        if (inside) {
            bool first = t == s->times - 1;
            advance(s, rows[t % 2], first ? NULL : rows[(t + 1) % 2], t, -1);
            gather(s, found, begun + t * s->states, rows[t % 2]);
        }
        for (int64_t c = 0; c < of->classes; c++) {
            int64_t at = place(s, t, c);
            double log_p = number(of->log_probs, of->wide, at), slope = 0;
            if (inside) {
                bool off = found[c] == (double)-INFINITY && isfinite(loss);
                slope = exp(log_p) - (off ? 0 : exp(found[c] + loss - log_p));
            }
            put(j->out, of->wide, at, inside ? slope * scale : 0);
        }
    }
}

static void
run_part(void *work, int64_t begin, int64_t end)
{
    const job *j = work;
    for (int64_t n = begin; n < end; n++) {
        sample s = {.of = j->of,
                    .n = n,
                    .times = j->of->input_lengths[n],
                    .states = 2 * j->of->target_lengths[n] + 1,
                    .targets = j->of->targets + n * j->of->most};
        double *scratch = j->scratch + n * j->room;
        if (j->grad == NULL)
            losses(j, &s, scratch);
        else
            gradient(j, &s, scratch);
    }
}

/* --- all samples --- */

static int64_t
room(const dt_ctc *of, bool gradient)
{
    int64_t states = 2 * of->most + 1;
    return gradient ? (of->times + 2) * states + of->classes : 2 * states;
}

int64_t
dt_ctc_scratch(const dt_ctc *of, bool gradient)
{
    return of->samples * room(of, gradient);
}

enum { EACH = 256 }; /* for dt_team_run, of a state at a time */

static void
run(job *j)
{
    j->room = room(j->of, j->grad != NULL);
    dt_team_run(j->of->samples, 1 + EACH * j->of->times * (2 * j->of->most + 1),
                run_part, j);
}

void
dt_ctc_losses(const dt_ctc *of, void *losses, double *scratch)
{
    run(&(job){.of = of, .out = losses, .scratch = scratch});
}

void
dt_ctc_gradient(const dt_ctc *of, void *out, const void *grad, bool zero_infinity,
                double *scratch)
{
    run(&(job){.of = of,
               .out = out,
               .grad = grad,
               .zero_infinity = zero_infinity,
               .scratch = scratch});
}
