#include "core/plan.h"

#include "core/build.h"

#include <inttypes.h>
#include <stdlib.h>

static void
drop_steps(dt_plan *plan, dt_context *context)
{
    for (int k = 0; k < plan->step_count; k++)
        dt_layout_release(context, plan->steps[k].to);
    plan->step_count = 0;
}

/* The most bytes of arrays that are neither the source nor the result. */
static int64_t
between_bytes(const dt_plan *plan)
{
    int64_t most = 0;
    for (int k = 0; k < plan->step_count; k++) {
        dt_traffic t;
        dt_step_traffic(&t, &plan->steps[k], dt_mesh_rank(plan->steps[k].to->mesh, 0));
        int64_t bytes = (k > 0 ? t.bytes_before : 0) +
                        (k + 1 < plan->step_count ? t.bytes_after : 0);
        most = bytes > most ? bytes : most;
    }
    return most;
}

static dt_status
check_ends(const dt_layout *from, const dt_layout *to, dt_error *err)
{
    if (from->dtype != to->dtype)
        return dt_fail(err, DT_TYPE, "cannot move %s into a layout of %s",
                       dt_dtype_name(from->dtype), dt_dtype_name(to->dtype));
    bool same = from->ndim == to->ndim;
    for (int d = 0; same && d < from->ndim; d++)
        same = from->shape[d] == to->shape[d];
    if (!same)
        return dt_fail(err, DT_VALUE, "the two layouts have different global shapes");
    if (from->mesh->world != to->mesh->world)
        return dt_fail(err, DT_VALUE,
                       "the two meshes are not of one world: one of them was made from "
                       "another communicator, or has no ranks behind it");
    return DT_OK;
}

dt_status
dt_plan_make(dt_plan **out, dt_context *context, const dt_layout *from,
             const dt_layout *to, const dt_cost *cost, int64_t max_scratch, dt_error *err)
{
    DT_TRY(check_ends(from, to, err));
    dt_plan *best = calloc(2, sizeof *best);
    if (best == NULL)
        return dt_fail(err, DT_MEMORY, "no memory for a plan");
    dt_plan *trial = best + 1;
    dt_status status = DT_OK;
    int64_t least = INT64_MAX;
    bool found = false;
    for (int way = 0; way < DT_FAMILIES && status == DT_OK; way++) {
        *trial = (dt_plan){.from = from, .to = to};
        status = dt_build(trial, context, (dt_family)way, err);
        for (int k = 0; k < trial->step_count; k++)
            trial->seconds += dt_step_seconds(&trial->steps[k], cost);
        int64_t bytes = between_bytes(trial);
        least = bytes < least ? bytes : least;
        bool fits = max_scratch == 0 || bytes <= max_scratch;
        if (status == DT_OK && fits && (!found || trial->seconds < best->seconds)) {
            dt_plan old = *best;
            *best = *trial;
            *trial = old;
            found = true;
        }
        drop_steps(trial, context);
        if (found && dt_plan_local(best))
            break;
    }
    if (status == DT_OK && !found)
        status = dt_fail(err, DT_VALUE,
                         "max_bytes=%" PRId64 " is too little: this move needs %" PRId64
                         " bytes for arrays in between",
                         max_scratch, least);
    if (status != DT_OK) {
        drop_steps(best, context);
        free(best);
        return status;
    }
    *out = best;
    return DT_OK;
}

void
dt_plan_free(dt_plan *plan, dt_context *context)
{
    drop_steps(plan, context);
    free(plan);
}

bool
dt_plan_local(const dt_plan *plan)
{
    for (int k = 0; k < plan->step_count; k++)
        if (plan->steps[k].kind != DT_STEP_LOCAL)
            return false;
    return true;
}
