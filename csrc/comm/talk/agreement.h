/* agreement.h: the inside of an agreement, for agree.c (the rounds in which ranks find
 * out whether all is well) and verdict.c (how it is told that it is not). */
#ifndef DT_AGREEMENT_H
#define DT_AGREEMENT_H

#include "comm/talk/agree.h"

/* Phases of its messages. Every message starts with the number of the task. Smaller
 * numbers than the own one come from calls that were given up, and are thrown away. */
enum {
    DT_PHASE_ROUNDS = DT_PHASE_AGREE,
    DT_PHASE_ERROR,
    DT_PHASE_SPEECH,
    DT_PHASE_VERDICT
};

enum { DT_ROUNDS_MAX = 31, DT_CALLS_SHOWN = 3 };

/* What the ranks that were heard of have said, taken together. */
typedef struct {
    uint64_t number;
    uint64_t oldest; /* the smallest number with which one of them came */
    uint64_t hash_min, hash_max;
    uint64_t detail_min, detail_max;
    uint64_t fault_min, fault_max;     /* of the failures that are not settled */
    uint64_t lineage_min, lineage_max; /* of the traced ones: else min > max */
    int64_t failed; /* the lowest place with a local error; INT64_MAX: none */
} dt_summary;

/* A rank's call, for people. */
typedef struct {
    uint64_t number;
    uint64_t came; /* the number with which it came */
    uint64_t hash;
    uint64_t lineage; /* 0: not traced */
    char what[DT_CALL_MAX];
} dt_speech;

/* How it ends. */
typedef struct {
    uint64_t number;
    dt_error error;
} dt_verdict;

/* A stage does what it can without waiting. *on says that it went on, to its next round
 * or to the next stage; else it waits for a message. */
typedef dt_status dt_agreement_stage(bool *on, dt_agreement *a, dt_error *err);

struct dt_agreement {
    dt_task task; /* first: the task is the agreement */
    dt_call call;
    bool silent;               /* nothing to send */
    bool stuck;                /* the transport may touch it for ever */
    bool said;                 /* what this round or stage has to send is sent */
    dt_agreement_stage *stage; /* NULL: it has ended */
    int round;
    int place; /* of those that are told or heard one by one, the next */
    uint64_t number, came;
    uint64_t detail; /* of dt_agree_detail; else 0 */
    uint64_t notes;  /* that were known when it last looked */
    uint32_t heard;  /* bit k: what round k brings is here */
    dt_request send;
    dt_request receive[DT_ROUNDS_MAX]; /* zeroed where none is posted */
    dt_request receive_text;
    dt_summary sum, out, in[DT_ROUNDS_MAX];
    dt_speech speech; /* sent, or heard last */
    dt_verdict verdict;
    int call_count;
    dt_speech calls[DT_CALLS_SHOWN]; /* distinct ones; at place 0 */
    int room;                        /* for labels */
    unsigned char labels[];          /* by place: which of the calls */
};

/* Receives one message of this call or a later one. */
dt_status dt_agreement_hear(bool *on, dt_agreement *a, dt_request *request, void *data,
                            size_t bytes, int place, int phase, dt_error *err);

dt_agreement_stage dt_verdict_tell_error; /* at the rank that failed ... */
dt_agreement_stage dt_verdict_hear_error; /* ... and at all others */
dt_agreement_stage dt_verdict_collect;    /* at place 0, where calls differ ... */
dt_agreement_stage dt_verdict_speak;      /* ... and at all others */

#endif
