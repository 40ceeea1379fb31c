/* heard.h: the inside of notes, for note.c (how they go and come) and heard.c (what they
 * say). */
#ifndef DT_HEARD_H
#define DT_HEARD_H

#include "comm/talk/note.h"

typedef struct {
    uint64_t group;  /* hash of its ranks */
    uint64_t number; /* of the task in the group; FAILED: of the next; RESYNC: epoch;
                        ENDED: how many groups there were; LOCAL: how many are told,
                        0: it goes on */
    uint64_t call;   /* hash of its name; FAILED: lineage; LOCAL: the name; SETTLED: the first number */
    int32_t kind;    /* a dt_note_kind */
    int32_t reply;   /* 1: answers a note, and is not answered */
    int64_t status;  /* FAILED, LOCAL, SETTLED */
    uint64_t done;   /* WAITS: the last task of the group that was not given up */
    char text[1024]; /* WAITS: the task's name; ENDED: a dt_progress_of[]; LOCAL: dt_local_of[]
                        and, behind DT_LOCALS of them, why; else: why */
} dt_rank_note;

/* How far a rank has come in a group when it ends. */
typedef struct {
    uint64_t group;   /* hash of its ranks */
    uint64_t started; /* tasks */
} dt_progress_of;

enum { DT_PROGRESSES = 63 }; /* in a text, of which the last byte is lost */

/* A local failure, as the next task of a group is to settle it. */
typedef struct {
    uint64_t group;  /* hash of its ranks */
    uint64_t number; /* of the task */
    uint64_t times;  /* dt_times_here */
} dt_local_of;

enum { DT_LOCALS = 16, DT_LOCAL_TEXT = DT_LOCALS * sizeof(dt_local_of) };

typedef struct {
    dt_rank_note note;
    double when; /* it came, on dt_now's clock */
    bool open;   /* WAITS: it is to be answered when this rank waits itself */
} dt_heard;

struct dt_notes {
    dt_world *world;
    dt_heard **last[DT_NOTE_KINDS];  /* by rank */
    uint64_t count;                  /* of notes that have come ... */
    uint64_t of_kind[DT_NOTE_KINDS]; /* ... and of each kind */
    struct letter *letters;          /* under way: note.c's */
    bool waiting;                    /* in the task that `own` tells of */
    dt_rank_note own;
    bool receiving;
    int source;
    dt_request request;
    dt_rank_note in;
    unsigned char labels[]; /* by rank; for making sentences */
};

#endif
