/* heard.h: the inside of notes, for note.c (how they go and come) and heard.c (what they
 * say); agreements look only whether there is any. */
#ifndef DT_HEARD_H
#define DT_HEARD_H

#include "comm/talk/note.h"

/* What a note says, but for its text. */
typedef struct {
    uint64_t group;  /* hash of its ranks */
    uint64_t number; /* of the task in the group; FAILED: of the next; RESYNC: epoch;
                        ENDED: how many groups there were; LOCAL: how many are told,
                        0: it goes on */
    uint64_t
        call; /* hash of its name; FAILED: lineage; LOCAL: the name; SETTLED: the first number */
    int32_t kind;  /* a dt_note_kind */
    int32_t reply; /* 1: answers a note, and is not answered */
    int64_t
        status; /* FAILED, LOCAL, SETTLED; WAITS: 1 + the rank it is about, 0: the sender;
                        DIGEST, once it is noted down: whether this rank is in it */
    uint64_t done; /* WAITS: the last task of the group that was not given up */
} dt_note_head;

enum { DT_NOTE_TEXT = 1024 };

typedef struct {
    dt_note_head head;
    char text[DT_NOTE_TEXT]; /* WAITS: the task's name; ENDED: a dt_progress_of[];
                                DIGEST: bits, by place; else: why */
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

/* The last note of a kind from a rank; as long as its text. */
typedef struct {
    dt_note_head note;
    double when; /* it came, on dt_now's clock */
    bool open;   /* WAITS: it is to be answered when this rank waits itself */
    char text[];
} dt_heard;

/* Of a wait in a large group: spread.c's. */
typedef struct {
    double since;  /* when it was told first */
    double next;   /* when to ask more places, or to tell what they have said */
    double pause;  /* until then */
    int asked;     /* places below this one have been asked ... */
    int answered;  /* ... and this one, which collects */
    bool collects; /* it is the first place that waits: the others tell it */
    int told;      /* how many ranks the last digest was about; 0: there was none */
    int relayed;   /* notes of ranks that wait elsewhere */
} dt_spreading;

struct dt_notes {
    dt_world *world;
    dt_heard **last[DT_NOTE_KINDS];  /* by rank */
    uint64_t count;                  /* of notes that have come ... */
    uint64_t of_kind[DT_NOTE_KINDS]; /* ... and of each kind */
    uint64_t sent;                   /* notes, to each rank one */
    struct letter *letters;          /* under way: note.c's */
    bool waiting;                    /* in the task that `own` tells of */
    dt_rank_note own;
    dt_spreading spreading;
    bool receiving;
    int source;
    dt_request request;
    dt_rank_note in;
    unsigned char labels[]; /* by rank; for making sentences */
};

/* Whether any note of a kind has ever come: asked in every agreement. */
static inline bool
dt_notes_have(const dt_notes *notes, dt_note_kind kind)
{
    return notes->of_kind[kind] > 0;
}

/* Sends a note to some ranks, itself left out. False: not to all of them. */
bool dt_notes_send(dt_notes *notes, const dt_rank_note *content, const int *ranks,
                   int count);

/* Whether the rank at a place has said that it waits in this task; and what it has said
 * since then, if it waits in another group. */
bool dt_notes_waits_in(const dt_notes *notes, const dt_task *task, int place);
const dt_heard *dt_notes_elsewhere(const dt_notes *notes, const dt_task *task,
                                   int place, double since);

#endif
