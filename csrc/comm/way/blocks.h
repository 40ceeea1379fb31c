/* blocks.h: what the way of few bytes (tree.c) sends in its rounds.
 *
 * What a rank has for others lies as blocks in the buffers of the leg, each the elements
 * of one queue (round.h) in C order, all arrays one behind the other. At the end the
 * blocks for this rank are put where they belong, or combined. All offsets are found once,
 * when the leg is prepared. */
#ifndef DT_BLOCKS_H
#define DT_BLOCKS_H

#include "comm/way/way.h"
#include "core/plan/tree.h"

/* A round: places in the group, and what goes and comes, in the buffers. */
typedef struct {
    int to, from; /* -1: nobody */
    size_t out, out_bytes, in, in_bytes;
    size_t mine; /* of sums: what is combined with that which comes ... */
    bool first;  /* ... and is of lower places */
} dt_tree_round;

typedef struct {
    dt_tree tree;
    dt_members members;
    int *places;     /* in the group, by place among the members */
    int *by_place;   /* and back; -1: no member */
    size_t *offsets; /* of blocks in the buffers: by distance, or bits reversed */
    size_t *sizes;   /* of blocks that are routed: by distance, round for round */
    const void **addends;
    size_t end; /* where the result of a sum is */
    char *base; /* what offsets of messages are from: the buffers, or the result */
    int hop_count, at, phase;
    bool posted;
    dt_request sending, receiving;
    dt_tree_round hops[DT_TREE_ROUNDS_MOST];
} dt_tree_leg;

/* One for each dt_tree: */
typedef struct {
    void (*place)(dt_leg *leg);               /* where blocks and messages lie */
    void (*load)(const dt_leg *leg);          /* the own blocks: at the beginning */
    void (*before)(const dt_leg *leg, int k); /* round k ... */
    void (*after)(const dt_leg *leg, int k);
    void (*finish)(const dt_leg *leg); /* writes the results: at the end */
} dt_tree_row;

extern const dt_tree_row dt_tree_rows[];

#endif
