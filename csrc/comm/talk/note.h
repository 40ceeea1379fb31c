/* note.h: what ranks that wait long tell each other, so that an error can say who is
 * missing. Notes are sent at best effort: whatever fails here fails silently. */
#ifndef DT_NOTE_H
#define DT_NOTE_H

#include "comm/talk/sentence.h"
#include "comm/talk/talk.h"

typedef enum {
    DT_NOTE_WAITS,   /* in a task, for long */
    DT_NOTE_LEFT,    /* has given a task up that had begun; the text says why */
    DT_NOTE_ENDED,   /* has closed its world: it will come to no task any more */
    DT_NOTE_FAILED,  /* its kernel has failed; the text says how */
    DT_NOTE_LOCAL,   /* a call of its own has failed, or it goes on after that */
    DT_NOTE_SETTLED, /* has ended a task by what another rank's FAILED told */
    DT_NOTE_RESYNC,  /* waits for all ranks to begin anew */
    DT_NOTE_DIGEST,  /* waits, and has heard who else does: bits */
} dt_note_kind;

enum { DT_NOTE_KINDS = DT_NOTE_DIGEST + 1 };

dt_status dt_notes_make(dt_notes **out, dt_world *world, dt_error *err);
void dt_notes_free(dt_notes *notes); /* may be NULL */

/* In larger groups not all who wait tell all others: spread.c. */
enum { DT_NOTES_TO_ALL = 5 };

/* Sends a note about a task that runs to all other ranks of its group; in a large one, if
 * this rank waits, only to those who have called dt_resync. */
void dt_notes_tell(dt_notes *notes, const dt_task *task, dt_note_kind kind,
                   const char *text);

/* Takes in what has come. Ranks that wait for this one in another group are told what
 * it is in, if it waits itself. */
void dt_notes_collect(dt_notes *notes);

/* The wait that dt_notes_tell told of is over. */
void dt_notes_wait_ended(dt_notes *notes);

/* Why a rank has left this task: its text, or NULL where none has. *to_all: one that was
 * in a call that reads like this one has told all ranks of the group. */
const char *dt_notes_left(bool *to_all, const dt_notes *notes, const dt_task *task);

/* Tells all ranks of the world that this one has ended. */
void dt_notes_farewell(dt_notes *notes);

/* A rank that has told its end at least `seconds` ago; -1: none. */
int dt_notes_gone(const dt_notes *notes, double seconds);

/* A rank of the task's group that has ended before it came to the task, or, as it may
 * have done its part before, has ended at least `seconds` ago; -1: none. */
int dt_notes_ended(const dt_notes *notes, const dt_task *task, double seconds);

/* The number under which the others go on, where some of them have left the task of
 * this number; else the same number. *same_call says that one of those was in a call
 * that reads like this one. */
uint64_t dt_notes_next(bool *same_call, const dt_notes *notes, const dt_task *task);

/* How many notes have come so far, and the largest number of a task of this one's group
 * that a rank waits in that has given this one up; 0 if none. One that has done its part
 * and gone on needs nothing more of this rank, and this one nothing more of it. */
uint64_t dt_notes_count(const dt_notes *notes);
uint64_t dt_notes_newest(const dt_notes *notes, const dt_task *task);

/* Tells the other ranks of a group that the call of a lineage failed here, since its last
 * task. */
void dt_notes_tell_failure(dt_notes *notes, const dt_group *group, uint64_t lineage,
                           const dt_error *error);

/* The same of a local failure, in all groups of this rank, to all ranks but those of a
 * group that has ended by it (NULL: none has); and that the rank goes on after it, so
 * that nobody ends a call without it. */
void dt_notes_tell_local(dt_notes *notes, const dt_group *ended, uint32_t name,
                         const dt_error *error);
void dt_notes_tell_recovered(dt_notes *notes);

/* Looks for such a note that the task of this number is to settle, about a call that
 * succeeded here: who failed how. Returns when it came, on dt_now's clock; 0: there is
 * none. */
double dt_notes_failure(dt_error *out, const dt_notes *notes, const dt_group *group,
                        uint64_t number);

/* Tells the others that this rank has ended the tasks settled_from to settled_to so, the
 * last one with this error; whether one of them has ended a task so. */
void dt_notes_tell_settled(dt_notes *notes, const dt_group *group,
                           const dt_error *verdict);
bool dt_notes_settled(dt_error *out, const dt_notes *notes, const dt_group *group,
                      uint64_t number);

/* Tells all ranks of the world that this one waits for them in dt_resync, for the epoch
 * after the world's, and why. False: it could not be told yet. */
bool dt_notes_tell_resync(dt_notes *notes, const char *why);

/* How many other ranks have said this of an epoch after the world's. */
int dt_notes_resync_count(const dt_notes *notes);

/* Adds which ranks wait in dt_resync for a newer epoch than the world's, and why, or which
 * of the others do not. Returns how many. */
int dt_notes_resyncing(dt_sentence *out, dt_notes *notes, bool wait);

/* Takes in a note that was received elsewhere: `data` has dt_note_bytes() bytes. */
size_t dt_note_bytes(void);
void dt_notes_take(dt_notes *notes, const void *data, int source);

/* True if all other ranks of the group have said that they wait in this task. */
bool dt_notes_all_wait(const dt_notes *notes, const dt_task *task);

/* "rank 0 has waited 30 s in X #5: rank 1 did not come", if this rank is the first of the
 * group that waits in it; false: another one says so. */
bool dt_notes_waited(char *out, size_t size, dt_notes *notes, const dt_task *task,
                     double since);

/* "X #5 was given up after 0.3 s: rank 1 did not come; ...". `since` is when this rank
 * began to wait, on dt_now's clock. */
void dt_notes_verdict(char *out, size_t size, dt_notes *notes, const dt_task *task,
                      double since);

#endif
