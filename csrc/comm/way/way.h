/* The room comm/way: how one step of a plan moves data between ranks, or on one
 * of them.
 *
 * May use: core, kernels, comm/transport, comm/talk.
 * Begin with: this header, then round.h (who exchanges what) and messages.c. */

/* way.h: the table of ways. What a step does is the plan's; how it is done is a way's:
 * by messages, by reading the other ranks' memory, with the agreement, or on this rank
 * alone. All ways give the same bits. */
#ifndef DT_WAY_H
#define DT_WAY_H

#include "comm/talk/agree.h"
#include "comm/way/round.h"

typedef struct dt_way dt_way;

/* A message of a leg. */
typedef struct {
    int place; /* in the group: who gets it */
    int64_t bytes;
} dt_sent;

/* Steps of some plans that are done together, or one that sends nothing. */
typedef struct {
    const dt_way *way;
    dt_group *group;
    int count;                   /* of arrays */
    const dt_step *const *steps; /* array by array; alike: dt_steps_together */
    dt_ends *ends;               /* where the arrays are: known when it begins */
    int round_count;
    dt_round rounds[2]; /* what it exchanges, one after the other; none: nothing */
    int64_t messages;   /* that this rank sends; bytes that are read take none */
    int sent_count;     /* of messages that are not what the rounds say ... */
    dt_sent *sent;      /* ... NULL: they are */
    void *state;        /* the way's own */
    size_t room;        /* bytes of buffers that it needs while it runs ... */
    char *buffers;      /* ... and these, aligned to 64 */
} dt_leg;

struct dt_way {
    const char *name;
    bool first; /* only for the first step of a plan: dt_way_first */
    /* Whether it can do a step, and why, in a few words for people. The same on all
     * ranks. `world` may be NULL: nothing is known of the ranks. */
    bool (*fits)(const char **why, const dt_world *world, const dt_step *step);
    /* Whether it does two steps as one leg that are alike (dt_steps_together) and that it
     * fits. NULL: all. */
    bool (*together)(const dt_step *a, const dt_step *b);
    /* Takes all memory but the buffers, and does all arithmetic: group, count and steps
     * are there. `scratch` bounds the bytes of buffers, 0: a default. DT_MEMORY; what
     * was made until then, dt_leg_free frees. */
    dt_status (*prepare)(dt_leg *leg, int64_t scratch, dt_error *err);
    void (*release)(dt_leg *leg); /* what `prepare` took */
    /* Whether the arrays of this rank, which are known now, can be moved so. If those of
     * some rank cannot, all go by messages. NULL: they can. */
    bool (*ready)(const dt_leg *leg);
    /* Before the ranks agree, what goes with the agreement; the rounds know no arrays yet.
     * NULL: nothing. */
    const dt_freight *(*load)(dt_leg *leg);
    /* Starts as part of the task of this number; the rounds know their arrays. */
    dt_status (*begin)(dt_leg *leg, uint64_t number, dt_error *err);
    /* Does what can be done without waiting; sets *done at the end, when no other rank
     * touches the arrays any more. */
    dt_status (*advance)(bool *done, dt_leg *leg, dt_error *err);
    /* Gives up. False if others, or messages, may still touch the memory of the leg, its
     * buffers and arrays: then none of it must ever be freed. */
    bool (*abandon)(dt_leg *leg);
    /* What one rank sends and copies in a step: what the counters will say. What others
     * read of a rank's memory counts as bytes that it sends, by no message. */
    void (*traffic)(dt_traffic *out, const dt_step *step, int64_t rank);
};

extern const dt_way dt_way_local, dt_way_carry, dt_way_read, dt_way_tree,
    dt_way_messages;

/* Whether what a step of a plan moves is there before the ranks agree, and these are the
 * ranks of its mesh: so that it can go with the agreement, if it is one array. */
bool dt_way_first(const dt_plan *plan, int step);

/* The first of the ways that fits a step, and why; `world` may be NULL. */
const dt_way *dt_way_of(const char **why, const dt_world *world, const dt_step *step,
                        bool first);

/* The same, but only of those that can move all arrays, and all that go together. */
const dt_way *dt_way_plain(const dt_step *step);

/* Whether steps of two plans are done as one: they do the same between the same ranks, by
 * the same way. */
bool dt_way_together(const dt_world *world, const dt_step *a, const dt_step *b);

/* The way of this name; NULL: there is none. */
const dt_way *dt_way_named(const char *name);

void dt_leg_free(dt_leg *leg);

#endif
