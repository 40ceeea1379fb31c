/* tree.h: what a step sends where few bytes go from rank to rank in about log2 n rounds,
 * instead of from each to each. Pure, like plan.h: which steps, who has which place, how
 * many bytes. comm/way/tree.c does the sending. */
#ifndef DT_TREE_H
#define DT_TREE_H

#include "core/plan/plan.h"

/* How a step goes. In all of them but the last, round k is with the rank whose place is
 * 2^k further or less, or differs in bit k. */
typedef enum {
    DT_TREE_NONE,
    DT_TREE_GATHER, /* each gets the blocks of all: after round k those of 2^(k+1)
                       neighbours. Addends are gathered so and combined by each */
    DT_TREE_DOUBLE, /* a sum of whole arrays: after round k that of 2^(k+1) neighbours */
    DT_TREE_HALVE,  /* the same, of those elements alone that the rank itself, or one
                       that it reaches later, wants */
    DT_TREE_ROUTE,  /* a block from each to each; round k carries those whose way has
                       bit k */
    DT_TREE_SPREAD, /* one rank's array to all */
    DT_TREE_JOIN, /* as GATHER, of an array whose parts lie one behind the other in the
                       results: with the place that differs in bit k, and no copies */
} dt_tree;

enum {
    DT_TREE_RANKS_LEAST = 8,    /* fewer send to all at once: one round is faster */
    DT_TREE_RANKS_READING = 24, /* fewer read from all at once, ... */
    DT_TREE_BYTES_READING = 1 << 16, /* ... and so do more, of more blocks than these */
    DT_TREE_RANKS_MOST = 1 << 20,
    DT_TREE_BLOCKS_MOST = 8192, /* where the size of each is looked at ... */
    DT_TREE_ROUTE_MOST = 1024,  /* ... or of each in half of all rounds */
    DT_TREE_BYTES_MOST = 1
        << 18, /* of all blocks of a rank, where it shall be fast ... */
    DT_TREE_BYTES_CAN = 1 << 26, /* ... and at all */
    DT_TREE_LARGE_RANKS = 65,    /* so many save more messages than copies cost, for */
    DT_TREE_BYTES_LARGE = 1
        << 22, /* so many bytes; and for these, where no byte takes a
                                      longer way than by messages, */
    DT_TREE_BYTES_JOINED = 1 << 30,
    DT_TREE_JOIN_LEAST = 1 << 20, /* in place from here on */
    DT_TREE_ROUNDS_MOST = 20,
};

/* How a step goes if it goes so; NONE: it cannot. */
dt_tree dt_tree_of(const dt_step *step);

/* Whether it can; and whether that is faster by the default costs: the same on all ranks,
 * whatever costs are set. */
bool dt_tree_can(const dt_step *step);
bool dt_tree_pays(const dt_step *step);

/* Whether that is known at once: without a look at each block. */
bool dt_tree_quick(const dt_step *step);

/* The same where the ranks can read each other's memory instead. */
bool dt_tree_beats_reading(const dt_step *step);

/* The ranks between which it goes. */
typedef struct {
    const dt_step *step;
    int64_t count;
    int64_t own;                      /* one's own place; -1: it looks on */
    int64_t origin[DT_MESH_MAX_NDIM]; /* one's own coordinate */
    int64_t root;                     /* DT_TREE_SPREAD: its rank ... */
    int64_t root_index; /* ... and its place in the mesh of the others, -1: none */
} dt_members;

void dt_members_find(dt_members *out, const dt_step *step, int64_t rank);

/* The rank at a place; places count round the end. */
int64_t dt_member_rank(const dt_members *members, int64_t place);

/* Bytes of the block from one place to another; of the block of `from` that all get, if
 * the step gathers. */
int64_t dt_members_block(const dt_members *members, dt_tree tree, int64_t from,
                         int64_t to);

/* A message to another place and one from one; -1: none. */
typedef struct {
    int64_t to, from;
} dt_hop;

/* The messages of one's own place in a round; false behind the last round. */
bool dt_members_hop(dt_hop *out, const dt_members *members, dt_tree tree, int round);

void dt_tree_traffic(dt_traffic *out, const dt_step *step, int64_t rank);

#endif
