/* settle.h: kernels that failed on some ranks alone.
 *
 * A kernel runs without a word to other ranks. Where it fails, the failure is kept with the
 * lineage of the call, and its group is told by a note. The next agreement of the group
 * compares a hash of these failures: if it is the same on all ranks, all have seen them.
 * Otherwise each rank says of each failure whether its own call of that lineage failed,
 * succeeded or was not made. If one succeeded elsewhere, the agreement ends with the
 * failure's status on all ranks, "rank 2 failed in power: ..." (the lowest rank's first);
 * else it goes on. In both cases all failures are forgotten.
 *
 * A call without a DTensor has no lineage: its failure is local. It is kept for all groups
 * of the rank, with the name of the call. The rank says how often calls of that name ended
 * well on it since the group agreed last. If they did so more often elsewhere, one succeeded
 * there that is missing here; else it was that rank's own affair, or has been made up for.
 *
 * Ranks that wait in that agreement for the one that failed end it alone, after a moment,
 * by what the note says; all others find their verdict when they come to it.
 *
 * All this is about what had failed when the agreement was started, at one place of the
 * program on all ranks: a move that goes on meanwhile ends somewhere else on each. */
#ifndef DT_SETTLE_H
#define DT_SETTLE_H

#include "comm/talk/talk.h"

/* Keeps a failure of this rank, which `error` has, and tells the others of the first one
 * since the last agreement. Of more than DT_FAILURES_KEPT it keeps the hash alone. */
void dt_note_failure(dt_group *group, uint64_t lineage, const dt_error *error);

/* Keeps a local failure, for all groups of this rank. Returns whether the others were told:
 * they are told of a few between agreements. */
bool dt_note_local_failure(dt_world *world, uint32_t name, const dt_error *error);

/* All ranks of the group know of its failures of until then: they are forgotten. */
void dt_settled(dt_group *group, uint64_t faults, uint64_t steps);

#endif
