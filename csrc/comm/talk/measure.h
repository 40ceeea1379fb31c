/* measure.h: what messages and copies cost on this machine. */
#ifndef DT_MEASURE_H
#define DT_MEASURE_H

#include "comm/talk/talk.h"

enum { DT_MEASURE_BYTES = 1 << 20 };

/* Measures, collectively over all ranks of the world; the slowest rank counts, so all
 * get the same numbers. `scratch` has 2 * DT_MEASURE_BYTES bytes and a dt_cost for
 * each rank; after a failure it must not be freed, for messages may be under way. */
dt_status dt_measure(dt_cost *out, dt_world *world, void *scratch, dt_error *err);

#endif
