/* board.h: a page that says what this process does, for `python -m dtensor.top`.
 *
 * The counters of a world lie in it, and what it waits for is written into it after some
 * milliseconds, so nothing is done for whoever may look. It is an unnamed file, which the
 * system shows to the same user under /proc and which ends with the process. */
#ifndef DT_BOARD_H
#define DT_BOARD_H

#include "comm/talk/talk.h"

#include <stdatomic.h>

enum { DT_BOARD_RANKS = 1024, DT_BOARD_WORDS = 256, DT_BOARD_NAME = 16 };

/* python/dtensor/top.py has the same fields. */
typedef struct dt_board {
    char magic[8]; /* "dtboard1" */
    int32_t pid, rank, size, kinds;
    int32_t file; /* its descriptor; -1: it is no file */
    char names[DT_STEP_KINDS][DT_BOARD_NAME];
    dt_counter counters[DT_STEP_KINDS]; /* since the world was made */
    _Atomic uint64_t turn;              /* odd while what follows is written */
    double since; /* when the wait began, by the monotonic clock; 0: it does not wait */
    uint64_t group;  /* a hash of the ranks that it waits with */
    uint64_t number; /* of the task in that group */
    int32_t members;
    int32_t ranks[DT_BOARD_RANKS]; /* the first of them */
    char what[DT_BOARD_WORDS];
} dt_board;

/* A board for this rank: shown if it is a process among others, else its own memory, as
 * where there is no page. DT_MEMORY. */
dt_status dt_board_make(dt_board **out, const dt_transport *transport, dt_error *err);
void dt_board_free(dt_board *board); /* may be NULL */

/* The rank has waited in a task since then; NULL: it waits no more. */
void dt_board_show(dt_board *board, const dt_task *task, double since);

#endif
