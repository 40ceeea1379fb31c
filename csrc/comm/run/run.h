/* run.h: what execute.c runs and prepare.c prepares. */
#ifndef DT_RUN_H
#define DT_RUN_H

#include "comm/run/execute.h"
#include "comm/way/way.h"

/* One array, and how far its steps are prepared. */
typedef struct {
    dt_transfer move;
    int64_t *stride;        /* of the source */
    const int64_t *ordered; /* strides that it would have in C order */
    void *contiguous;       /* the source in C order, where it must be and was not */
    void *between[2]; /* arrays that are neither the source nor the result, in turn */
    size_t between_bytes[2];
    int step;       /* prepared, or bound, so far */
    const void *at; /* where its data is after these steps */
    const int64_t *at_stride;
} dt_item;

/* A leg with the items that take part in it. */
typedef struct {
    dt_leg leg;
    const int *items;
    const int64_t **strides; /* of the results, array by array: C order */
    double begin, end;       /* of a run that is watched */
} dt_run_leg;

/* What a run does next, in this order. */
typedef enum { DT_RUN_LOAD, DT_RUN_AGREE, DT_RUN_BEGIN, DT_RUN_MOVE } dt_run_state;

struct dt_run {
    dt_task task;
    dt_call call;
    dt_agreement *agreement;
    dt_run_state state;
    int count;
    dt_item *items;
    int leg_count, leg_room, leg;
    dt_run_leg *legs;
    char *buffers; /* of one leg after the other */
    bool poisoned, watched;
    bool plain;     /* only ways that can move all arrays */
    bool anew;      /* some rank has objected: this is agreed on for the second time */
    dt_bump memory; /* of what it is made of */
    int64_t scratch;
    uint64_t serial; /* of the plan, where there is one */
    dt_run *next;    /* in the world's list of runs to be used again */
};

/* Makes the legs of a run whose items have their moves. DT_MEMORY. */
dt_status dt_run_prepare(dt_run *run, dt_error *err);

/* Takes memory and tells all legs where the arrays are. DT_MEMORY. */
dt_status dt_run_bind(dt_run *run, dt_error *err);

/* Whether the ways of all legs can move the arrays of this rank. */
bool dt_run_ready(const dt_run *run);

/* Frees the legs, as before dt_run_prepare; the run is not bound. */
void dt_run_unprepare(dt_run *run);

/* Gives that memory back. */
void dt_run_unbind(dt_run *run);

#endif
