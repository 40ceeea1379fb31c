/* ctc.h: connectionist temporal classification (Graves et al. 2006): how likely a sequence
 * of labels is, wherever in time they are. */
#ifndef DT_CTC_H
#define DT_CTC_H

#include <stdbool.h>
#include <stdint.h>

/* Logarithms of probabilities are of float32, or float64 where `wide`; sums of them are
 * made in double. */
typedef struct {
    bool wide;
    int64_t times, samples, classes; /* the shape of log_probs */
    const void *log_probs;
    int64_t most; /* the row length of targets: (samples, most) */
    const int64_t *targets;
    const int64_t *input_lengths, *target_lengths; /* of each sample */
    int64_t blank;
} dt_ctc;

/* How many doubles of `scratch` the functions below need. */
int64_t dt_ctc_scratch(const dt_ctc *of, bool gradient);

/* losses[n] = -log P(targets of sample n); infinite where they take more time. */
void dt_ctc_losses(const dt_ctc *of, void *losses, double *scratch);

/* The gradient of what a softmax makes the probabilities of, times grad[n]; 0 where the
 * loss is infinite, if `zero_infinity`. `out` is as log_probs. */
void dt_ctc_gradient(const dt_ctc *of, void *out, const void *grad, bool zero_infinity,
                     double *scratch);

#endif
