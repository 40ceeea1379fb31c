/* measure.h: what messages and copies cost on this machine. */
#ifndef DT_MEASURE_H
#define DT_MEASURE_H

#include "comm/talk/talk.h"

enum { DT_MEASURE_BYTES = 1 << 20 };

/* Measures, collectively over all ranks of the world; the slowest rank counts, so all
 * get the same numbers. Where the world's costs say which ranks share a node, the links
 * of a node are measured, and then those between nodes, all ranks sending at once; else
 * all links are the same. What has no messages (one rank in all, or on each node) keeps
 * the default. `scratch` has dt_measure_scratch bytes;
 * after a failure it must not be freed, for messages may be under way. */
size_t dt_measure_scratch(int size); /* in a world of `size` ranks */
dt_status dt_measure(dt_cost *out, dt_world *world, void *scratch, dt_error *err);

#endif
