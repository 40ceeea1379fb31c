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
 * Ranks that wait in that agreement for the one that failed end it alone, after a moment,
 * by what the note says; all others find their verdict when they come to it. */
#ifndef DT_SETTLE_H
#define DT_SETTLE_H

#include "comm/talk/talk.h"

/* Keeps a failure of this rank, which `error` has, and tells the others of the first one
 * since the last agreement. Of more than DT_FAILURES_KEPT it keeps the hash alone. */
void dt_note_failure(dt_group *group, uint64_t lineage, const dt_error *error);

/* All ranks of the group know of all failures: they are forgotten. */
void dt_settled(dt_group *group);

#endif
