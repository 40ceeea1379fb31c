/* count.h: what moves would send, taken down as if they had been made. */
#ifndef DT_COUNT_H
#define DT_COUNT_H

#include "comm/run/watch.h"

/* Adds moves that go together to the counters of the world: calls, bytes and messages
 * of its own rank as dt_run_make's run would have them, and the seconds of this rank by
 * the cost model. Returns the bytes of arrays between steps, that only live during the
 * move.
 *
 * `done`   room for `count` numbers.
 * `events`  NULL, or room for as many as the plans have steps: the collectives, each
 *          taking the seconds of the cost model from now on; `*event_count` of them. */
int64_t dt_count_moves(dt_world *world, const dt_plan *const *plans, int count,
                       int *done, dt_event *events, int *event_count);

#endif
