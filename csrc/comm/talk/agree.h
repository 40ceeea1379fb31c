/* agree.h: prepare, agree, communicate, publish - the second of the four.
 *
 * Before data moves every rank says which call it is in and whether its own part of the
 * preparation went well. Then all go on, or all fail with the same sentence. */
#ifndef DT_AGREE_H
#define DT_AGREE_H

#include "comm/talk/talk.h"

enum { DT_CALL_MAX = 480 }; /* bytes of a description, with its terminating NUL */

/* What a rank says. */
typedef struct {
    uint64_t hash;          /* of everything that must be equal on all ranks */
    uint64_t lineage;       /* of the values that it is called with; if `traced` */
    bool traced;            /* else this rank has none that others would have too */
    uint32_t name;          /* a hash of the function alone; 0: `what` up to its "(" */
    char what[DT_CALL_MAX]; /* the call with its arguments, for people */
    dt_error local;         /* status DT_OK unless the preparation failed here */
} dt_call;

/* Compares calls over the group; a task of its own that ends
 *   DT_OK       if all ranks said the same hash and none has a local error;
 *   the local error's own status and sentence, with "rank 1: " before it on the other
 *               ranks, if some rank has one (the lowest such rank's);
 *   DT_RUNTIME  if hashes differ: a sentence that shows two different calls and which
 *               ranks made which;
 *   DT_PARTED   if only lineages differ, of those ranks that are traced.
 * The same status on all ranks. Before all that, failures of kernels that some ranks have
 * noted and others have not are settled (settle.h), which may end it as well.
 * Costs log2(size) small messages of each rank when all is well; in a group that is direct
 * one to each of the others, all at once. A group of one rank sends nothing.
 * Where world->check is off, calls are compared only with `force` (what only communication
 * can know), and lineages never. */
typedef struct dt_agreement dt_agreement;

/* The call lives as long as the agreement. */
dt_status dt_agreement_make(dt_agreement **out, dt_group *group, const dt_call *call,
                            bool force, dt_error *err);
dt_task *dt_agreement_task(dt_agreement *agreement);
void dt_agreement_free(dt_agreement *agreement); /* ended or never started */

/* Says, before it is started, that this rank cannot do the call as it is meant to be done,
 * and, when it has ended well, whether any rank has said so: no error. */
void dt_agreement_object(dt_agreement *agreement);
bool dt_agreement_objected(const dt_agreement *agreement);

/* A block of bytes that each rank gives to all with the agreement's own messages. All have
 * all of them when it ends well. */
typedef struct {
    uint64_t name;         /* of what is in them, the same on all ranks: compared */
    size_t block;          /* bytes of one, the same on all ranks */
    unsigned char *blocks; /* the own one, then that of the place before it, ... */
} dt_freight;

/* Whether blocks of so many bytes are few enough for a group of these ranks, as
 * dt_world_direct has them. */
bool dt_freight_fits(const dt_world *world, const int64_t *ranks, int64_t count,
                     int64_t block);

/* Before the agreement is started; `freight` lives as long as it. */
void dt_agreement_carry(dt_agreement *agreement, const dt_freight *freight);

/* make, start, wait, free. */
dt_status dt_agree(dt_group *group, const dt_call *call, bool force, dt_error *err);

/* As dt_agree with `force`, and says in the same messages whether all ranks have the
 * same `detail`, such as a hash of what each of them holds. It is no error if not: all
 * ranks know it then, and may tell each other more. */
dt_status dt_agree_detail(bool *equal, dt_group *group, const dt_call *call,
                          uint64_t detail, dt_error *err);

/* Every rank gives `bytes` bytes (equal on all) and gets everybody's, in the group's
 * order: all has size * bytes. For sizes, names and other small things; log2(size)
 * rounds. Blocking. Ranks must have agreed on the call before. */
dt_status dt_share(void *all, dt_group *group, const void *mine, size_t bytes,
                   const char *what, dt_error *err);

#endif
