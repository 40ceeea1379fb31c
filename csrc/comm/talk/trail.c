/* A count is only asked for after a failure: then the ring is read. */
#include "comm/talk/trail.h"

bool
dt_trail_count(uint64_t *out, const dt_trail *trail, uint32_t name, uint64_t since)
{
    if (trail->steps - since > DT_TRAIL_STEPS)
        return false;
    uint64_t count = 0;
    for (uint64_t step = since; step < trail->steps; step++)
        count += trail->names[step % DT_TRAIL_STEPS] == name;
    for (int k = 0; k < trail->depth && k < DT_TRAIL_DEPTH; k++)
        count += trail->open[k] == name;
    *out = count;
    return true;
}

uint64_t
dt_times_here(const dt_group *group, uint64_t name)
{
    const dt_trail *trail = group->world->trail;
    uint64_t times;
    if (trail != NULL && dt_trail_count(&times, trail, (uint32_t)name, group->mark))
        return times;
    return UINT64_MAX;
}

bool
dt_more_here(const dt_group *group, uint64_t name, uint64_t times)
{
    uint64_t here = dt_times_here(group, name);
    return here != UINT64_MAX && here > times;
}
