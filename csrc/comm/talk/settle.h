/* settle.h: kernels that failed on some ranks alone.
 *
 * A kernel runs without a word to other ranks. Where it fails, the failure is kept with the
 * lineage of the call, and its group is told by a note. The next agreement of the group
 * compares a hash of these failures: if it is the same on all ranks, all have seen them.
 * Otherwise it ends with DT_UNSETTLED on all ranks, before the call is compared, and they
 * settle what happened: each says of each failure whether its own call of that lineage
 * failed, succeeded or was not made. */
#ifndef DT_SETTLE_H
#define DT_SETTLE_H

#include "comm/talk/talk.h"

/* Keeps a failure of this rank, which `error` has, and tells the others of the first one
 * since the last agreement. A rank without memory for it keeps the hash alone. */
void dt_note_failure(dt_group *group, uint64_t lineage, const dt_error *error);

/* After an agreement has ended with DT_UNSETTLED; blocking, collective over the group.
 *   DT_OK   if no other rank succeeded in a call that failed on some: the agreement is
 *           to be tried again;
 *   else    the status and the sentence of the first failure (lowest rank) of a call that
 *           succeeded elsewhere, "rank 2 failed in power: ...", on all ranks.
 * In both cases all failures are forgotten. */
dt_status dt_settle(dt_group *group, const char *what, dt_error *err);

/* All ranks of the group have the same failures: they are forgotten. */
void dt_settled(dt_group *group);

#endif
