/* world.h: makes and ends a world. */
#ifndef DT_WORLD_H
#define DT_WORLD_H

#include "comm/talk/talk.h"

/* Makes a world over a transport, which it then owns (after a failure it does not), and
 * measures `cost` (collective, some milliseconds; a world of 1 rank sends nothing).
 *
 * DT_VALUE for a DTENSOR_TIMEOUT or DTENSOR_CHECK that cannot be read, DT_RUNTIME if
 * DTENSOR_CHECK is not set alike or a rank does not come: on all ranks. DT_MEMORY. */
dt_status dt_world_make(dt_world **out, dt_transport *transport, dt_error *err);
void dt_world_close(dt_world *world); /* collective for MPI; may be NULL */

#endif
