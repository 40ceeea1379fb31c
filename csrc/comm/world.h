/* world.h: makes and ends a world. */
#ifndef DT_WORLD_H
#define DT_WORLD_H

#include "comm/talk/talk.h"

/* Makes a world over a transport, which it then owns (after a failure it does not), and
 * compares its settings (collective; a world of 1 rank sends nothing).
 *
 * DT_VALUE for a DTENSOR_TIMEOUT, DTENSOR_CHECK or DTENSOR_COSTS that cannot be read,
 * DT_RUNTIME if the latter two are not set alike or a rank does not come: on all ranks.
 * DT_MEMORY. */
dt_status dt_world_make(dt_world **out, dt_transport *transport, dt_error *err);
void dt_world_close(dt_world *world); /* collective for MPI; may be NULL */

/* The costs that DTENSOR_COSTS sets. DT_VALUE where it cannot be read. */
dt_status dt_cost_read(dt_cost *out, dt_error *err);

#endif
