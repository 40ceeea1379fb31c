/* plans.h: plans that are kept, so that the same move is planned once. */
#ifndef DT_PLANS_H
#define DT_PLANS_H

#include "core/plan/plan.h"

typedef struct dt_plans dt_plans;

/* Plans over the layouts of a context, which must live longer. All calls under the
 * context's lock. NULL: no memory. */
dt_plans *dt_plans_make(dt_context *context);
void dt_plans_free(dt_plans *plans); /* may be NULL; forgets what nobody retains */

void dt_plans_forget(dt_plans *plans); /* those that nobody else retains */

dt_context *dt_plans_context(const dt_plans *plans);

/* The plan from -> to, made at first use (see dt_plan_make for errors) and kept with
 * the 4096 last used ones. One reference is the caller's. */
dt_status dt_plans_find(const dt_plan **out, dt_plans *plans, const dt_layout *from,
                        const dt_layout *to, const dt_cost *cost, int64_t max_scratch,
                        dt_error *err);
void dt_plan_retain(const dt_plan *plan);
void dt_plan_release(dt_plans *plans, const dt_plan *plan);

typedef struct {
    int64_t hits, misses, plans;
} dt_plans_info;

dt_plans_info dt_plans_count(const dt_plans *plans);

#endif
