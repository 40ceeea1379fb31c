/* attention.h: out = softmax(scale q k^T + mask) v for one head, and its gradient.
 *
 * Neither holds the scores: a tile of queries meets a chunk of keys at a time, and the
 * gradient makes the probabilities again from the logarithms that the forward pass
 * gives. After FlashAttention (Dao et al. 2022, arXiv:2205.14135). */
#ifndef DT_ATTENTION_H
#define DT_ATTENTION_H

#include "core/facts/dtype.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A matrix in an array; distances are in elements and may be 0. */
typedef struct {
    void *data; /* aligned to the element; NULL: there is none */
    int64_t row, column;
} dt_matrix;

typedef struct {
    dt_dtype dtype;        /* of all matrices: DT_FLOAT32 or DT_FLOAT64 */
    int64_t queries, keys; /* rows of q; of k and v */
    int64_t width, depth;  /* columns of q and k; of v and the result */
    double scale;
    bool causal;       /* query i sees the keys 0 .. i only */
    bool flags;        /* the mask is of bytes: 0 hides a key. Else it is added */
    dt_matrix q, k, v; /* (queries, width), (keys, width), (keys, depth) */
    dt_matrix mask;    /* (queries, keys), or none */
    dt_matrix out;     /* (queries, depth) */
    void *logsumexp;   /* (queries): log of the sum of exp of a query's scores */
    /* What only the gradient has. */
    dt_matrix grad;       /* of `out` */
    const void *grad_sum; /* of `logsumexp`; or NULL: none */
    dt_matrix dq, dk, dv; /* gradients to be written; of dk and dv: added to */
    dt_matrix dmask;      /* added to; or none */
} dt_attention;

/* Bytes that the calls below need at `scratch`, aligned to 64; an upper bound for all
 * levels. They do not depend on the number of queries. */
size_t dt_attention_scratch(const dt_attention *a, bool gradient);

/* Writes `out` and `logsumexp`. A query that sees no key has a row of zeros, and -inf.
 */
void dt_attention_forward(const dt_attention *a, void *scratch);

/* Writes dq and adds to dk, dv and dmask; `out` and `logsumexp` are what the forward
 * pass wrote. */
void dt_attention_backward(const dt_attention *a, void *scratch);

#endif
