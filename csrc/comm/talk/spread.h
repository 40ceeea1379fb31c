/* spread.h: how the ranks of a large group learn who of them waits, without a note of each
 * to each. */
#ifndef DT_SPREAD_H
#define DT_SPREAD_H

#include "comm/talk/note.h"

/* This rank has just told that it waits (dt_notes_tell). */
void dt_spread_begin(dt_notes *notes);

/* Every some milliseconds from then on; `late` is after how many seconds of waiting that
 * was, `left` how many are left until the deadline. Does nothing in small groups. */
void dt_spread(dt_notes *notes, const dt_task *task, double late, double left);

/* Whether this rank need not wait for others to give up first. */
bool dt_spread_leads(const dt_notes *notes, const dt_group *group);

#endif
