/* cost.h: what the planner must know of the machine. */
#ifndef DT_COST_H
#define DT_COST_H

#include <stdint.h>

/* Measured once when a world is made (comm/talk/talk.h) and equal on all of its ranks.
 */
typedef struct {
    double latency;   /* seconds for a message of no bytes */
    double bandwidth; /* bytes per second into one rank, all ranks receiving at once */
    double copy;      /* bytes per second of a local copy, all ranks at once */
} dt_cost;

/* For meshes without ranks: 1 us, 10 GB/s, 10 GB/s. */
#define DT_COST_DEFAULT ((dt_cost){.latency = 1e-6, .bandwidth = 1e10, .copy = 1e10})

#endif
