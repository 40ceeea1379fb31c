/* local.h: steps in which every rank makes its new part of its old one. */
#ifndef DT_LOCAL_H
#define DT_LOCAL_H

#include "comm/way/round.h"

typedef struct {
    int ndim;
    dt_dtype dtype;
    size_t itemsize;
    dt_pieces pieces; /* whose own one is copied */
    int64_t elements; /* of the new part */
    bool keeps;       /* the own piece is copied */
    bool fills;       /* the rest holds the identity of: */
    dt_reduce_op identity;
    bool rounds; /* the parts stay, float32 becomes the dtype */
} dt_local;

dt_status dt_local_prepare(dt_local *out, const dt_step *step, int64_t rank,
                           dt_error *err);
void dt_local_do(const dt_local *local, const dt_ends *ends);
void dt_local_free(dt_local *local); /* zeroed, or prepared, also where that failed */

#endif
