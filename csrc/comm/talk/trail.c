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
