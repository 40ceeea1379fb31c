/* turn.h: on one mesh, which of the ranks that hold the same elements sends them.
 *
 * A rank that holds what it needs keeps it. Else the sender has the receiver's own
 * coordinates along mesh dimensions that replicate; but where such a dimension, `taker`,
 * comes to cut what another one, `giver`, cut before, all that need the same part would
 * ask the same replica. They take turns instead: the giver's coordinate of the receiver
 * says which of them.
 *
 *     [R, S(1)] -> [S(1), R] on (n, n): (a, b) needs part a. Rank (a, a) would serve all
 *     of (a, *); instead (b, a) serves (a, b), one sends to one.
 *
 * Coordinates are taken apart into digits where the lengths differ, so that either side
 * knows the others by arithmetic. */
#ifndef DT_TURN_H
#define DT_TURN_H

#include "core/layout/overlap.h"

/* A digit of the receiver's coordinate along `giver` that is a digit of the sender's
 * along `taker`: (coordinate / unit) % size. */
typedef struct {
    int taker, giver;
    int64_t taker_unit, giver_unit, size;
} dt_turn;

typedef struct {
    int count; /* 0: each is served from its own coordinates */
    dt_turn turns[DT_MESH_MAX_NDIM];
    int64_t taken[DT_MESH_MAX_NDIM]; /* product of the digits of a taker; 1: none */
    int64_t given[DT_MESH_MAX_NDIM]; /* ... of a giver */
    int64_t rest[DT_MESH_MAX_NDIM];  /* of a taker: what the receiver's own coordinate
                                        along it says */
} dt_turns;

void dt_turns_find(dt_turns *out, const dt_layout *from, const dt_layout *to);

/* Where the sender of a receiver stands along a mesh dimension that replicates, unless the
 * receiver holds the part itself. */
int64_t dt_turns_sender(const dt_turns *turns, int mesh_dim, const int64_t *receiver);

/* Adds what a sender knows of its receivers, but for those that hold its part. False: it
 * has none. */
bool dt_turns_receivers(dt_constraint *wanted, const dt_turns *turns,
                        const int64_t *sender);

/* Whether two coordinates have the same part of a layout. */
bool dt_turns_same_part(const dt_layout *layout, const int64_t *a, const int64_t *b);

#endif
