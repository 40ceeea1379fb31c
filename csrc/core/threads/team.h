/* The room core/threads: long loops, of kernels, copies and NumPy's functions, that
 * several threads share.
 *
 * May use: libc alone.
 * Begin with: team.h. */

/* team.h: the threads of this process that share a loop over a long array.
 *
 * A team sleeps until a thread has a loop, and then takes pieces of it. That thread takes
 * pieces, too, and waits for nobody who has not begun: where the processors are busy, it
 * does all of it. What is computed of an element depends on the element alone, so that
 * the number of threads changes no bit of a result. There is one team: a second thread
 * that has a loop meanwhile, and a loop within a loop, are done by the thread that has
 * them. A child of fork begins with a team of its own, of the same size. */
#ifndef DT_TEAM_H
#define DT_TEAM_H

#include <stdbool.h>
#include <stdint.h>

enum { DT_TEAM_MOST = 256 };

/* Does the elements, or rows, from `begin` to before `end`. It allocates nothing and
 * waits for no other thread. */
typedef void dt_team_part(void *work, int64_t begin, int64_t end);

/* How many threads, the one that has the loop among them: at first 1. Those that are
 * missing start with the next loop; if the system gives fewer, so many it is. Those that are too many
 * end, at the latest when they are set again after the loop that they share. */
void dt_team_set(int threads);
int dt_team_size(void);

/* Which of the threads of a loop this is; the one that has the loop is 0. A part has
 * memory of its own by it. */
int dt_team_place(void);

/* Whether a loop that does as much as copying so many bytes is shared. */
bool dt_team_shares(int64_t bytes);

/* Calls `part` for the elements 0 to before `count`; returns when all are done. Pieces
 * begin at multiples of 64 elements if one is little work. `each`: how many bytes could be
 * copied in the time that one element takes.
 *
 * Another thread has the floating-point environment of the caller, but its own flags of
 * exceptions: `part` looks at them, if anybody does. */
void dt_team_run(int64_t count, int64_t each, dt_team_part *part, void *work);

/* The same by so many threads at most. */
void dt_team_run_by(int threads, int64_t count, int64_t each, dt_team_part *part,
                    void *work);

#endif
