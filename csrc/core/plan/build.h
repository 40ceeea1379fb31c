/* build.h: one way from a layout to another, as steps. plan.c takes the cheapest. */
#ifndef DT_BUILD_H
#define DT_BUILD_H

#include "core/plan/plan.h"

typedef enum {
    DT_DIRECT,   /* reduce, then one exchange */
    DT_MERGED,   /* reduce, slice, exchange, gather; mesh dimensions taken together */
    DT_STEPWISE, /* the same, reducing and gathering one mesh dimension at a time, the
                    last first */
    DT_NESTED,   /* as DT_STEPWISE, but what must be whole is scattered too, all but the
                    first mesh dimension of a sum, and gathered at the end */
    DT_SPREAD, /* the same, shared out before among ranks that hold the same addends */
} dt_family;

enum { DT_FAMILIES = DT_SPREAD + 1 };

/* Fills plan->steps, which is empty, with steps from plan->start to `to`; each holds a
 * reference to its `to`. After a failure the steps so far are there. DT_MEMORY. */
dt_status dt_build(dt_plan *plan, dt_context *context, dt_family family,
                   const dt_layout *to, dt_error *err);

#endif
