/* resync.h: ranks that are not in step any more begin anew, together.
 *
 * Where an error was seen by some ranks only, they may be one call apart, with messages
 * under way that nobody waits for. Each rank then comes here, from wherever it is. After
 * that all ranks are in a new epoch: the numbers of calls begin anew in every group, what
 * was sent before is gone, a broken world is whole, and failures of kernels that were not
 * settled are forgotten. */
#ifndef DT_RESYNC_H
#define DT_RESYNC_H

#include "comm/talk/talk.h"

/* What it needs, taken when the world is made, so that no rank lacks it then. */
dt_status dt_fences_make(dt_fences **out, int size, dt_error *err);
void dt_fences_free(dt_fences *fences); /* may be NULL */

/* Collective over the world. Gives up all tasks of this rank, tells the others `why` ("has
 * called resync()"), and waits for them. Ranks that wait for this one in a task that it has not done its part of give
 * it up at once, with a sentence that says so.
 *
 *   DT_RUNTIME      at the deadline, a sentence that names the ranks that did not come, or
 *                   because a rank has ended;
 *   DT_INTERRUPTED  by a signal.
 * After both this rank stays out of step: it refuses all tasks until a later call ends
 * well, which goes on where this one has stopped.
 *   DT_MPI, or the sentence of dt_threads_abort: the ranks cannot be mended. */
dt_status dt_resync(dt_world *world, const char *why, dt_error *err);

/* Whether another rank waits for an epoch newer than this rank's. */
bool dt_resync_called(dt_world *world);

#endif
