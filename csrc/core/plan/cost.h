/* cost.h: what plans cost, by constants that never change by themselves.
 *
 * They decide which layouts operators choose and which steps are taken. They are not
 * measured: equal programs would have other layouts, and other last bits, from start to
 * start. The defaults are those of one node of today, whatever carries the messages. */
#ifndef DT_COST_H
#define DT_COST_H

#include "core/facts/mesh.h"

#include <stddef.h>

typedef struct {
    double latency;   /* seconds for a message of no bytes */
    double bandwidth; /* bytes per second into one rank, all ranks receiving at once */
} dt_link;

enum { DT_COST_FAMILIES = 5 }; /* as many as build.h has */

/* Equal on all ranks of a world, so that all of them come to the same plans. */
typedef struct {
    dt_link link;  /* along mesh dimensions that are not named here ... */
    dt_link nodes; /* ... or, if these join ranks of several nodes, this */
    int64_t
        node; /* rank r is on node r / node; 0: it is not known, or all are on one. It
                      decides which steps are taken, never which layouts operators choose */
    double copy; /* bytes per second of a local copy, all ranks at once */
    int named_count;
    struct {
        char name[DT_NAME_MAX]; /* of a mesh dimension */
        dt_link link;
    } named[DT_MESH_MAX_NDIM];
    int family;    /* for tests: 1 + the dt_family that all plans are of; 0: the best */
    uint64_t hash; /* of all that can be set; 0: the defaults */
} dt_cost;

/* The same along all mesh dimensions: an initializer. */
#define DT_COST_EVEN(seconds, bytes, copied)                                           \
    {.link = {.latency = (seconds), .bandwidth = (bytes)},                             \
     .nodes = {.latency = (seconds), .bandwidth = (bytes)},                            \
     .copy = (copied)}

/* 1 us, 10 GB/s, 10 GB/s; between nodes 3 us, 1 GB/s: a link of 100 Gbit/s for a dozen
 * ranks. */
#define DT_COST_DEFAULT                                                                \
    ((dt_cost){.link = {.latency = 1e-6, .bandwidth = 1e10},                           \
               .nodes = {.latency = 3e-6, .bandwidth = 1e9},                           \
               .copy = 1e10})

/* Reads items such as latency=1e-6, bandwidth=1e10, copy=1e10, nodes_latency=3e-6,
 * nodes_bandwidth=1e9, dp.latency=2e-5, node_ranks=8, with commas between them; what is
 * not given is the default, or, of a named mesh dimension, what holds in general.
 * DT_VALUE for all else. */
dt_status dt_cost_parse(dt_cost *out, const char *text, dt_error *err);

/* Takes over, unless it was set, which ranks share a node: a number for each, the same on
 * one node. Only nodes of as many neighbouring ranks each, but for the last, count. */
void dt_cost_find_nodes(dt_cost *cost, const uint64_t *nodes, int64_t size);

/* The mesh dimension along which each node has as many neighbouring ranks, 2, 4, 8 and so
 * on, and there are several nodes; -1: there is none. These ranks are a subtree of a sum,
 * whoever adds first. Dimensions that have costs of their own are left alone. */
int dt_cost_node_dim(int64_t *ranks, const dt_cost *cost, const dt_mesh *mesh);

/* Writes them so that they can be read; cut off at the end of the room. */
void dt_cost_print(char *out, size_t room, const dt_cost *cost);

/* The dearest link along some mesh dimensions, a bit mask. */
dt_link dt_cost_link(const dt_cost *cost, const dt_mesh *mesh, unsigned mesh_dims);

dt_link dt_link_dearer(dt_link a, dt_link b); /* the worse of both, in each respect */

/* No link costs less than this: for bounds. */
dt_link dt_cost_least(const dt_cost *cost);

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
    /* Of 2 ranks that read: in a second one they would write where the other has just
     * read, which takes five times as long while it is in a cache. */
    DT_ONE_ROUND_READ = 1 << 23,
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
