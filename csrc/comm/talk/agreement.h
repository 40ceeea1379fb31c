/* agreement.h: the inside of an agreement, for agree.c (the rounds in which ranks find
 * out whether all is well) and verdict.c (how it is told that it is not). */
#ifndef DT_AGREEMENT_H
#define DT_AGREEMENT_H

#include "comm/talk/agree.h"
#include "comm/talk/walk.h"

/* Phases of its messages. Every message starts with the number of the task. Smaller
 * numbers than the own one come from calls that were given up, and are thrown away. */
enum {
    DT_PHASE_ROUNDS = DT_PHASE_AGREE,
    DT_PHASE_ERROR,
    DT_PHASE_SPEECH,
    DT_PHASE_VERDICT
};

enum { DT_ROUNDS_MAX = 31, DT_CALLS_SHOWN = 3, DT_PLACES_SHOWN = 6 };
enum { DT_PLACE_MAX = 64 }; /* bytes of a line of a program */

/* A rank's call, for people. */
typedef struct {
    uint64_t number;
    uint64_t came; /* the number with which it came */
    uint64_t hash;
    uint64_t lineage; /* 0: not traced */
    char what[DT_CALL_MAX];
    char place[DT_PLACE_MAX]; /* of the program; empty: it is not known */
} dt_speech;

/* How it ends. */
typedef struct {
    uint64_t number;
    dt_error error;
} dt_verdict;

/* What a rank tells of its failures. */
typedef struct {
    uint64_t number;
    int32_t count;
    int32_t status[DT_FAILURES_KEPT];
    uint64_t lineage[DT_FAILURES_KEPT];
    bool local[DT_FAILURES_KEPT];
    uint64_t times[DT_FAILURES_KEPT]; /* such calls here, where it is local */
    char text[DT_FAILURES_KEPT][400];
} dt_confession;

enum { DT_FAILURES_ASKED = 8 };

/* Failures of all ranks: what became of these calls on yours? And the answer of one. */
typedef struct {
    uint64_t number;
    int32_t count;
    uint64_t lineage[DT_FAILURES_ASKED];
    bool local[DT_FAILURES_ASKED];
    uint64_t times[DT_FAILURES_ASKED];
} dt_question;

typedef struct {
    uint64_t number;
    unsigned char known[DT_FAILURES_ASKED];
} dt_answer;

/* settle.c's; the last three at place 0 only. */
typedef struct {
    dt_confession confession; /* sent, or heard last */
    dt_question question;
    dt_answer answer; /* sent, or heard last */
    bool succeeded[DT_FAILURES_ASKED];
    dt_error errors[DT_FAILURES_ASKED];
} dt_settling;

/* With which operand of its call each rank goes on; -1: with none. */
typedef struct {
    uint64_t number;
    uint64_t call; /* ranks that made another one have no such operand */
    int32_t operand;
} dt_walk_turn;

/* A stage does what it can without waiting. *on says that it went on, to its next round
 * or to the next stage; else it waits for a message. */
typedef dt_status dt_agreement_stage(bool *on, dt_agreement *a, dt_error *err);

/* walk.c's. What is counted and kept of what was said, at place 0 only. */
typedef struct {
    uint64_t lineage; /* of the value that it has come to; if `traced` */
    bool traced;
    int step;
    dt_testimony own, heard;   /* `heard`: sent, or heard last */
    dt_testimony first, other; /* of two values that differ; if they are `traced` */
    dt_walk_turn turn;
    dt_agreement_stage *after;
    int text_count, place_count;
    char texts[DT_CALLS_SHOWN][sizeof((dt_testimony *)NULL)->text];
    char places[DT_PLACES_SHOWN][sizeof((dt_testimony *)NULL)->place];
} dt_walk;

struct dt_agreement {
    dt_task task;        /* first: the task is the agreement */
    const dt_call *call; /* whose text, name, lineage and error are its own ... */
    uint64_t hash;       /* ... and what is compared of the rest */
    bool traced;
    bool silent;               /* nothing to send */
    bool stuck;                /* the transport may touch it for ever */
    bool said;                 /* what this round or stage has to send is sent */
    dt_agreement_stage *stage; /* NULL: it has ended */
    int round;
    int told;  /* ranks that the own words have gone to, where all are told at once */
    int place; /* of those that are told or heard one by one, the next */
    uint64_t number, came;
    uint64_t detail; /* of dt_agree_detail; else 0 */
    uint64_t notes;  /* that were known when it last looked */
    uint32_t heard;  /* bit k: what round k brings is here */
    dt_request send;
    dt_request receive[DT_ROUNDS_MAX]; /* zeroed where none is posted */
    dt_request receive_text;
    const dt_freight *freight; /* NULL: none */
    dt_summary sum;
    dt_parcel out, *in; /* `in`: by round */
    dt_speech speech;   /* sent, or heard last */
    dt_verdict verdict;
    dt_settling settling;
    dt_walk walk;
    int call_count;
    dt_speech calls[DT_CALLS_SHOWN]; /* distinct ones; at place 0 */
    unsigned char *labels; /* by place: which of the calls; walk.c: of places */
    size_t room;
    dt_parcel memory[]; /* for `in` and then `labels` */
};

/* Receives one message of this call or a later one. */
dt_status dt_agreement_hear(bool *on, dt_agreement *a, dt_request *request, void *data,
                            size_t bytes, int place, int phase, dt_error *err);

/* Receives one of this call; DT_RUNTIME if the rank is in a later one already, so that it
 * will not come. */
dt_status dt_agreement_hear_now(bool *on, dt_agreement *a, void *data, size_t bytes,
                                int place, int phase, dt_error *err);

/* Receives the verdict of place 0. */
dt_status dt_agreement_hear_verdict(bool *on, dt_agreement *a, dt_error *err);

/* Sends one message and waits until it is gone; sends it to all other places, one by one,
 * and goes to the stage `next`. */
dt_status dt_agreement_say(bool *on, dt_agreement *a, const void *data, size_t bytes,
                           int place, int phase, dt_error *err);
dt_status dt_agreement_tell_all(bool *on, dt_agreement *a, const void *data,
                                size_t bytes, int phase, dt_agreement_stage *next,
                                dt_error *err);

/* Chooses what is to be said of what was gathered, where that is not well. */
void dt_verdict_choose(dt_agreement *a);

/* Goes on with the walk to where the values parted, and then to the stage `after`. */
void dt_walk_begin(dt_agreement *a, dt_agreement_stage *after);

/* Where kernels failed on some ranks only: at place 0, and at all others. The end is
 * an error on all ranks, or dt_verdict_choose. */
dt_agreement_stage dt_settle_collect, dt_settle_confess;

/* A hash of the failures that this rank had noted when the agreement was started; 0: none. */
uint64_t dt_faults(const dt_agreement *a);

/* No rank of the group had failed alone when the agreement was started: it was in step, and
 * local failures of until then are forgotten in all groups. */
void dt_settle_well(dt_agreement *a);

/* Ends the agreement if others have ended it by such a failure, of which they have heard
 * while they waited; or if this one has waited for long, and heard of one. */
bool dt_settle_heard(dt_agreement *a);
bool dt_settle_wake(dt_agreement *a);

#endif
