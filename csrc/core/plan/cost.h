/* cost.h: what the planner must know of machines. */
#ifndef DT_COST_H
#define DT_COST_H

#include <stdint.h>

/* What two ranks have between them. */
typedef enum {
    DT_LINK_NODE,    /* they are of one node: processes or threads that share memory */
    DT_LINK_NETWORK, /* they are of different nodes */
} dt_link_kind;

enum { DT_LINK_KINDS = DT_LINK_NETWORK + 1 };

typedef struct {
    double latency;   /* seconds for a message of no bytes */
    double bandwidth; /* bytes per second into one rank, all ranks receiving at once */
} dt_link;

/* Equal on all ranks of a world, so that all of them come to the same plans. */
typedef struct {
    dt_link links[DT_LINK_KINDS];
    double copy; /* bytes per second of a local copy, all ranks at once */
    int64_t
        node; /* ranks k * node ... (k + 1) * node - 1 are of one node; 0: all are */
} dt_cost;

/* The same between all ranks: an initializer. */
#define DT_COST_EVEN(latency, bandwidth, copy)                                         \
    {{{latency, bandwidth}, {latency, bandwidth}}, copy, 0}

/* For meshes without ranks: 1 us, 10 GB/s, 10 GB/s. */
#define DT_COST_DEFAULT ((dt_cost)DT_COST_EVEN(1e-6, 1e10, 1e10))

/* No link costs less than this: for bounds. */
static inline dt_link
dt_cost_least(const dt_cost *cost)
{
    dt_link least = cost->links[0];
    for (int k = 1; k < DT_LINK_KINDS; k++) {
        dt_link link = cost->links[k];
        least.latency = link.latency < least.latency ? link.latency : least.latency;
        least.bandwidth =
            link.bandwidth > least.bandwidth ? link.bandwidth : least.bandwidth;
    }
    return least;
}

/* Sizes by which ranks cut steps into rounds and rounds into messages. All ranks cut
 * alike without a word, and what is predicted is what is sent: so these are never
 * measured. They follow from the default costs, where a latency is worth 10 KB, and
 * from caches, of which 1 MiB or more is each core's own on the machines of today. */
enum {
    /* An all_reduce goes whole, in one round, up to this many bytes: what all ranks
     * send is then still in a cache when it is added up ... */
    DT_ONE_ROUND_BYTES = 1 << 20,
    /* ... and if that sends at most this much more than two rounds do, whose second one
     * costs a latency. */
    DT_ONE_ROUND_MORE = 1 << 14,
    /* A message that must be packed has at most this many bytes ... */
    DT_SLICE_MOST = 1 << 20,
    /* ... but at least these, however many peers share the scratch memory; where the
     * user bounds that, these: a cache line. */
    DT_SLICE_LEAST = 1 << 12,
    DT_SLICE_LEAST_BOUND = 64,
    DT_SCRATCH_BYTES = 12 << 20, /* of all pack buffers, unless the user bounds them */
    DT_CHANNELS_AT_ONCE =
        16, /* peers that a rank sends to, and receives from, at once */
    DT_MESSAGES_AT_ONCE = 2, /* messages under way to, and from, each */
    /* Pack buffers for each peer that is sent to, used in turn. More than are under way:
     * to write is slow where the receiver has just read, since the cache lines are its. */
    DT_PACK_BUFFERS = 4,
};

#endif
