/* trail.h: what a rank has called that sends nothing and has no lineage, such as an
 * operator on Tensors of its own. Where one of these calls fails on one rank, the ranks
 * find out by it whether the others have made that call.
 *
 * It is a ring of the names, as hashes, of the calls that ended well, and a stack of the
 * calls that have not ended. Ranks that run the same program between two agreements have
 * the same names between these, but for what one of them has called for itself. */
#ifndef DT_TRAIL_H
#define DT_TRAIL_H

#include "comm/talk/talk.h"

enum { DT_TRAIL_STEPS = 1 << 14, DT_TRAIL_DEPTH = 32 };

typedef struct dt_trail {
    uint64_t
        steps;   /* calls that ended well, of which the last DT_TRAIL_STEPS are kept */
    bool failed; /* the others were told that one failed, and not that it goes on */
    int depth;   /* calls that have not ended; of these DT_TRAIL_DEPTH are kept */
    uint32_t open[DT_TRAIL_DEPTH];
    uint32_t names[DT_TRAIL_STEPS];
} dt_trail;

/* A call ended well. */
static inline void
dt_trail_add(dt_trail *trail, uint32_t name)
{
    trail->names[trail->steps++ % DT_TRAIL_STEPS] = name;
}

/* A call in which others are made begins; it ends. */
static inline void
dt_trail_begin(dt_trail *trail, uint32_t name)
{
    if (trail->depth < DT_TRAIL_DEPTH)
        trail->open[trail->depth] = name;
    trail->depth++;
}

static inline void
dt_trail_end(dt_trail *trail, uint32_t name, bool well)
{
    trail->depth--;
    if (well)
        dt_trail_add(trail, name);
}

/* How many calls of a name ended well after the first `since` steps, or have not ended.
 * False if that is no longer known. */
bool dt_trail_count(uint64_t *out, const dt_trail *trail, uint32_t name,
                    uint64_t since);

/* How often calls of a name ended well here since the group agreed last: UINT64_MAX if
 * this is not known, as after very many calls. */
uint64_t dt_times_here(const dt_group *group, uint64_t name);
/* Whether they did so more often than `times`, that of a rank on which one failed. */
bool dt_more_here(const dt_group *group, uint64_t name, uint64_t times);

#endif
