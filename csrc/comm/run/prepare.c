/* From plans to legs: all that a run needs to know before it begins.
 *
 * Steps of several plans that do the same between the same ranks are one leg, so that
 * arrays which move together share messages; steps that send nothing are legs of their
 * own. Preparing (legs, queues, cuts) depends on the plans alone, and so is done once for
 * a run that is used again; binding takes the memory and tells the legs where the arrays
 * are, each time. Nothing else takes memory: what cannot be had is known, and agreed on,
 * before anything moves. A source may have any strides; it is copied into C order only
 * where a leg wants that (dt_round_wants_order). Legs run one after the other and share
 * their buffers; arrays in between take turns in two blocks. */
#include "comm/run/run.h"

#include "core/memory/copy.h"
#include "core/memory/memory.h"

#include <stdlib.h>
#include <string.h>

/* NULL at the end of the plan. */
static const dt_step *
next_step(const dt_item *item)
{
    const dt_plan *plan = item->move.plan;
    return item->step < plan->step_count ? &plan->steps[item->step] : NULL;
}

static const int64_t *
c_strides(dt_run *run, const dt_layout *layout, int64_t rank)
{
    int64_t *stride =
        dt_bump_take(&run->memory, (size_t)(layout->ndim + 1), sizeof *stride);
    if (stride != NULL)
        dt_layout_strides_at(stride, layout, rank);
    return stride;
}

/* A leg of `count` items, zeroed but for its lists. */
static dt_run_leg *
new_leg(dt_run *run, int count)
{
    if (run->leg_count == run->leg_room) {
        int room = run->leg_room > 0 ? 2 * run->leg_room : 4;
        dt_run_leg *legs = realloc(run->legs, sizeof *legs * (size_t)room);
        if (legs == NULL)
            return NULL;
        run->legs = legs;
        run->leg_room = room;
    }
    size_t n = (size_t)count;
    dt_run_leg made = {.leg = {.count = count, .group = run->task.group}};
    made.items = dt_bump_take(&run->memory, n, sizeof *made.items);
    made.strides = dt_bump_take(&run->memory, n, sizeof *made.strides);
    made.leg.steps = dt_bump_take(&run->memory, n, sizeof *made.leg.steps);
    made.leg.ends = dt_bump_take(&run->memory, n, sizeof *made.leg.ends);
    if (made.items == NULL || made.strides == NULL || made.leg.steps == NULL ||
        made.leg.ends == NULL)
        return NULL;
    dt_run_leg *out = &run->legs[run->leg_count];
    *out = made;
    return out;
}

/* Prepares the next step of `count` items, which is of one kind, as one leg. */
static dt_status
prepare_leg(dt_run *run, const int *items, int count, int64_t rank, dt_error *err)
{
    dt_run_leg *made = new_leg(run, count);
    if (made == NULL)
        return dt_round_no_memory(err);
    memcpy((int *)made->items, items, sizeof *items * (size_t)count);
    const dt_step **steps = (const dt_step **)made->leg.steps;
    for (int k = 0; k < count; k++) {
        dt_item *item = &run->items[items[k]];
        steps[k] = next_step(item);
        made->strides[k] = c_strides(run, steps[k]->to, rank);
        if (made->strides[k] == NULL)
            return dt_round_no_memory(err);
        item->step++;
    }
    const char *why;
    bool first = run->count == 1 &&
                 dt_way_first(run->items[0].move.plan, run->items[0].step - 1);
    made->leg.way = run->plain
                        ? dt_way_plain(steps[0])
                        : dt_way_of(&why, run->task.group->world, steps[0], first);
    run->leg_count++; /* from here on it is freed with the run */
    return made->leg.way->prepare(&made->leg, run->scratch, err);
}

static dt_status
prepare_local_steps(dt_run *run, int64_t rank, dt_error *err)
{
    for (int k = 0; k < run->count; k++)
        while (next_step(&run->items[k]) != NULL &&
               next_step(&run->items[k])->kind == DT_STEP_LOCAL)
            DT_TRY(prepare_leg(run, &k, 1, rank, err));
    return DT_OK;
}

/* Arrays in between are taken in turn, each large enough for its largest use. */
static void
size_between(dt_item *item, int64_t rank)
{
    const dt_plan *plan = item->move.plan;
    for (int k = 0; k + 1 < plan->step_count; k++) {
        size_t bytes = (size_t)dt_layout_bytes_at(plan->steps[k].to, rank);
        size_t *most = &item->between_bytes[k % 2];
        *most = bytes + 1 > *most ? bytes + 1 : *most;
    }
}

dt_status
dt_run_prepare(dt_run *run, dt_error *err)
{
    int64_t rank = run->task.group->world->transport->rank;
    int *together =
        dt_bump_take(&run->memory, (size_t)(run->count + 1), sizeof *together);
    if (together == NULL)
        return dt_round_no_memory(err);
    for (int k = 0; k < run->count; k++) {
        dt_item *item = &run->items[k];
        item->ordered = c_strides(run, item->move.plan->from, rank);
        if (item->ordered == NULL)
            return dt_round_no_memory(err);
        size_between(item, rank);
    }
    for (;;) {
        DT_TRY(prepare_local_steps(run, rank, err));
        const dt_step *first = NULL;
        int count = 0;
        for (int k = 0; k < run->count; k++) {
            const dt_step *step = next_step(&run->items[k]);
            if (step == NULL || (first != NULL &&
                                 !dt_way_together(run->task.group->world, first, step)))
                continue;
            first = first == NULL ? step : first;
            together[count++] = k;
        }
        if (count == 0)
            break;
        DT_TRY(prepare_leg(run, together, count, rank, err));
    }
    return DT_OK;
}

/* --- memory --- */

static bool
has_strides(const int64_t *stride, const int64_t *wanted, const int64_t *shape,
            int ndim)
{
    bool same = true, empty = false;
    for (int d = 0; d < ndim; d++) {
        same = same && (shape[d] == 1 || stride[d] == wanted[d]);
        empty = empty || shape[d] == 0;
    }
    return same || empty;
}

static bool
leg_wants_order(const dt_leg *leg, int k, const int64_t *stride)
{
    for (int r = 0; r < leg->round_count; r++)
        if (dt_round_wants_order(&leg->rounds[r], k, stride))
            return true;
    return false;
}

/* Copies the source of an item into C order, if its first leg, as array `k` of which it
 * moves, wants that and it is not. */
static dt_status
order_source(dt_item *item, const dt_leg *leg, int k, int64_t rank, dt_error *err)
{
    const dt_layout *from = item->move.plan->from;
    size_t strides = sizeof *item->stride * (size_t)from->ndim;
    if (strides == 0 || memcmp(item->stride, item->ordered, strides) == 0)
        return DT_OK;
    int64_t shape[DT_MAX_NDIM];
    dt_layout_shape_at(shape, from, rank);
    if (has_strides(item->stride, item->ordered, shape, from->ndim) ||
        !leg_wants_order(leg, k, item->stride))
        return DT_OK;
    item->contiguous = dt_memory_take((size_t)dt_layout_bytes_at(from, rank));
    if (item->contiguous == NULL)
        return dt_fail(err, DT_MEMORY, "no memory for a copy of the local array");
    dt_copy_box(item->contiguous, item->ordered, item->move.src, item->stride,
                from->ndim, shape, dt_dtype_size(from->dtype));
    item->at = item->contiguous;
    item->at_stride = item->ordered;
    return DT_OK;
}

static dt_status
bind_between(dt_item *item, dt_error *err)
{
    for (int k = 0; k < 2; k++) {
        if (item->between_bytes[k] == 0)
            continue;
        item->between[k] = dt_memory_take(item->between_bytes[k]);
        if (item->between[k] == NULL)
            return dt_fail(err, DT_MEMORY, "no memory for %zu bytes in between",
                           item->between_bytes[k]);
    }
    return DT_OK;
}

/* Hands the arrays from leg to leg. */
static dt_status
bind_leg(dt_run *run, dt_run_leg *now, int64_t rank, dt_error *err)
{
    for (int k = 0; k < now->leg.count; k++) {
        dt_item *item = &run->items[now->items[k]];
        if (item->step == 0 && item->move.src != NULL)
            DT_TRY(order_source(item, &now->leg, k, rank, err));
        bool last = item->step + 1 == item->move.plan->step_count;
        dt_ends *ends = &now->leg.ends[k];
        *ends = (dt_ends){.src = item->at,
                          .src_stride = item->at_stride,
                          .dst = last ? item->move.dst : item->between[item->step % 2],
                          .dst_stride = now->strides[k]};
        item->at = ends->dst;
        item->at_stride = ends->dst_stride;
        item->step++;
    }
    return DT_OK;
}

dt_status
dt_run_bind(dt_run *run, dt_error *err)
{
    int64_t rank = run->task.group->world->transport->rank;
    size_t room = 0;
    for (int k = 0; k < run->count; k++) {
        dt_item *item = &run->items[k];
        DT_TRY(bind_between(item, err));
        item->step = 0;
        item->at = item->move.src;
        item->at_stride = item->stride;
    }
    for (int k = 0; k < run->leg_count; k++) {
        DT_TRY(bind_leg(run, &run->legs[k], rank, err));
        room = run->legs[k].leg.room > room ? run->legs[k].leg.room : room;
    }
    if (room == 0)
        return DT_OK;
    run->buffers = dt_memory_take_buffer(room);
    if (run->buffers == NULL)
        return dt_fail(err, DT_MEMORY, "no memory for the buffers of a collective");
    for (int k = 0; k < run->leg_count; k++)
        run->legs[k].leg.buffers = run->buffers;
    return DT_OK;
}

bool
dt_run_ready(const dt_run *run)
{
    for (int k = 0; k < run->leg_count; k++) {
        const dt_leg *leg = &run->legs[k].leg;
        if (leg->way->ready != NULL && !leg->way->ready(leg))
            return false;
    }
    return true;
}

void
dt_run_unprepare(dt_run *run)
{
    for (int k = 0; k < run->leg_count; k++)
        dt_leg_free(&run->legs[k].leg);
    run->leg_count = 0;
    for (int k = 0; k < run->count; k++)
        run->items[k].step = 0;
}

void
dt_run_unbind(dt_run *run)
{
    dt_memory_give(run->buffers);
    run->buffers = NULL;
    for (int k = 0; k < run->count; k++) {
        dt_item *item = &run->items[k];
        dt_memory_give(item->contiguous);
        dt_memory_give(item->between[0]);
        dt_memory_give(item->between[1]);
        item->contiguous = item->between[0] = item->between[1] = NULL;
    }
}
