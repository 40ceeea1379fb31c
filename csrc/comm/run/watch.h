/* watch.h: what a run has done, for those who watch it. A run that nobody watches does
 * nothing for it. */
#ifndef DT_WATCH_H
#define DT_WATCH_H

#include "comm/run/execute.h"

/* A collective that a run has done: one call as the counters count them. */
typedef struct {
    dt_step_kind kind;
    double begin, end;       /* on dt_now's clock */
    int64_t bytes, messages; /* that this rank sent */
} dt_event;

/* Has a run, before it is started, note the time. */
void dt_run_watch(dt_run *run);

/* The collective that begins at leg `at` of a watched run, and in `sent`, an array by
 * rank of the world, what it sent to each (added). Local steps are skipped. Returns the
 * leg behind it; 0: no more has ended. */
int dt_run_event(dt_event *out, int64_t *sent, const dt_run *run, int at);

#endif
