/* From plans to legs: all that a run needs to know before it begins. */
#include "comm/run/run.h"

#include "core/memory/copy.h"
#include "core/memory/memory.h"

#include <stdlib.h>
#include <string.h>

static dt_status
no_memory(dt_error *err)
{
    return dt_fail(err, DT_MEMORY, "no memory to prepare a collective");
}

/* NULL at the end of the plan. */
static const dt_step *
next_step(const dt_item *item)
{
    const dt_plan *plan = item->move.plan;
    return item->step < plan->step_count ? &plan->steps[item->step] : NULL;
}

/* The local shape of a rank; of a rank outside the mesh zeros. */
static void
shape_of(int64_t *shape, const dt_layout *layout, int64_t rank)
{
    int64_t coordinate[DT_MESH_MAX_NDIM];
    int64_t index = dt_mesh_index(layout->mesh, rank);
    memset(shape, 0, sizeof *shape * (size_t)layout->ndim);
    if (index < 0)
        return;
    dt_mesh_coordinate(coordinate, layout->mesh, index);
    if (layout->ndim > 0)
        dt_layout_local_shape(shape, layout, coordinate);
}

static const int64_t *
c_strides(dt_run *run, const dt_layout *layout, int64_t rank)
{
    int64_t shape[DT_MAX_NDIM];
    int64_t *stride =
        dt_bump_take(&run->memory, (size_t)(layout->ndim + 1), sizeof *stride);
    if (stride == NULL)
        return NULL;
    shape_of(shape, layout, rank);
    int64_t expected = (int64_t)dt_dtype_size(layout->dtype);
    for (int d = layout->ndim - 1; d >= 0; d--) {
        stride[d] = expected;
        expected *= shape[d];
    }
    return stride;
}

static size_t
bytes_of(const dt_layout *layout, int64_t rank)
{
    int64_t coordinate[DT_MESH_MAX_NDIM];
    int64_t index = dt_mesh_index(layout->mesh, rank);
    if (index < 0)
        return 0;
    dt_mesh_coordinate(coordinate, layout->mesh, index);
    return (size_t)dt_layout_local_bytes(layout, coordinate);
}

static dt_leg *
new_leg(dt_run *run)
{
    if (run->leg_count == run->leg_room) {
        int room = run->leg_room > 0 ? 2 * run->leg_room : 4;
        dt_leg *legs = realloc(run->legs, sizeof *legs * (size_t)room);
        if (legs == NULL)
            return NULL;
        run->legs = legs;
        run->leg_room = room;
    }
    dt_leg *out = &run->legs[run->leg_count++];
    *out = (dt_leg){0};
    return out;
}

static bool
is_flat(dt_step_kind kind)
{
    return kind == DT_STEP_ALL_REDUCE || kind == DT_STEP_BROADCAST;
}

/* What a lane knows before its arrays are there. */
static dt_status
fill_lane(dt_lane *lane, dt_run *run, const dt_item *item, int64_t rank, dt_error *err)
{
    const dt_step *step = next_step(item);
    lane->ndim = step->to->ndim;
    lane->dtype = step->to->dtype;
    lane->itemsize = dt_dtype_size(lane->dtype);
    lane->dst_stride = c_strides(run, step->to, rank);
    lane->src_stride = c_strides(run, step->from, rank);
    if (item->step == 0 && item->wanted == NULL)
        lane->src_stride = item->stride;
    if (lane->dst_stride == NULL || lane->src_stride == NULL)
        return no_memory(err);
    return DT_OK;
}

static void
make_flat(dt_lane *lane)
{
    static const int64_t STRIDES[] = {1, 2, 4, 8, 16, 32};
    int k = 0;
    while ((size_t)STRIDES[k] != lane->itemsize)
        k++;
    lane->ndim = 1;
    lane->src_stride = lane->dst_stride = &STRIDES[k];
}

/* The first of two rounds of an all_reduce or broadcast is followed by one that gathers
 * what is in the result already. */
static dt_status
prepare_flat(dt_run *run, int at, const dt_step *const *steps, dt_error *err)
{
    dt_round *first = &run->legs[at].round;
    int lanes = first->lane_count;
    for (int k = 0; k < lanes; k++)
        make_flat(&first->lanes[k]);
    DT_TRY(dt_round_flat(first, steps, false, run->task.group, run->scratch, err));
    dt_leg *second = new_leg(run);
    dt_lane *copies = dt_bump_take(&run->memory, (size_t)lanes, sizeof *copies);
    if (second == NULL || copies == NULL)
        return no_memory(err);
    first = &run->legs[at].round;
    for (int k = 0; k < lanes; k++) {
        copies[k] = first->lanes[k];
        copies[k].sent = copies[k].received = (dt_pieces){0};
    }
    second->items = run->legs[at].items;
    second->gathering = true;
    second->round.lanes = copies;
    second->round.lane_count = lanes;
    return dt_round_flat(&second->round, steps, true, run->task.group, run->scratch,
                         err);
}

/* Prepares the next step of `count` items, which is of one kind, as one leg. */
static dt_status
prepare_leg(dt_run *run, const int *items, int count, int64_t rank, dt_error *err)
{
    size_t n = (size_t)count;
    dt_leg *made = new_leg(run);
    dt_lane *lanes = dt_bump_take(&run->memory, n, sizeof *lanes);
    const dt_step **steps = dt_bump_take(&run->memory, n, sizeof *steps);
    int *who = dt_bump_take(&run->memory, n, sizeof *who);
    if (made == NULL || lanes == NULL || steps == NULL || who == NULL)
        return no_memory(err);
    memcpy(who, items, sizeof *who * n);
    made->items = who;
    made->round.lanes = lanes;
    made->round.lane_count = count;
    for (int k = 0; k < count; k++) {
        dt_item *item = &run->items[who[k]];
        steps[k] = next_step(item);
        DT_TRY(fill_lane(&lanes[k], run, item, rank, err));
        item->step++;
    }
    int at = run->leg_count - 1;
    if (steps[0]->kind == DT_STEP_LOCAL) {
        made->is_local = true;
        return dt_local_prepare(&made->local, steps[0], lanes, rank, err);
    }
    if (is_flat(steps[0]->kind))
        return prepare_flat(run, at, steps, err);
    return dt_round_exchange(&made->round, steps, run->task.group, run->scratch, err);
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

/* The source must be in C order where messages are cut from flat memory. */
static dt_status
want_order(dt_run *run, dt_item *item, int64_t rank, dt_error *err)
{
    const dt_plan *plan = item->move.plan;
    if (plan->step_count == 0 || plan->steps[0].kind == DT_STEP_LOCAL ||
        plan->steps[0].kind == DT_STEP_SCATTER)
        return DT_OK;
    item->wanted = c_strides(run, plan->from, rank);
    return item->wanted != NULL ? DT_OK : no_memory(err);
}

/* Arrays in between are taken in turn, each large enough for its largest use. */
static void
size_between(dt_item *item, int64_t rank)
{
    const dt_plan *plan = item->move.plan;
    for (int k = 0; k + 1 < plan->step_count; k++) {
        size_t bytes = bytes_of(plan->steps[k].to, rank);
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
        return no_memory(err);
    for (int k = 0; k < run->count; k++) {
        DT_TRY(want_order(run, &run->items[k], rank, err));
        size_between(&run->items[k], rank);
    }
    for (;;) {
        DT_TRY(prepare_local_steps(run, rank, err));
        const dt_step *first = NULL;
        int count = 0;
        for (int k = 0; k < run->count; k++) {
            const dt_step *step = next_step(&run->items[k]);
            if (first == NULL)
                first = step;
            if (step != NULL && dt_steps_together(first, step))
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

/* Where an item's data begins: its source, or a copy of it in C order. */
static dt_status
bind_source(dt_item *item, int64_t rank, dt_error *err)
{
    const dt_layout *from = item->move.plan->from;
    item->at = item->move.src;
    if (item->wanted == NULL || item->move.src == NULL)
        return DT_OK;
    int64_t shape[DT_MAX_NDIM];
    shape_of(shape, from, rank);
    if (has_strides(item->stride, item->wanted, shape, from->ndim))
        return DT_OK;
    item->contiguous = dt_memory_take(bytes_of(from, rank));
    if (item->contiguous == NULL)
        return dt_fail(err, DT_MEMORY, "no memory for a copy of the local array");
    dt_copy_box(item->contiguous, item->wanted, item->move.src, item->stride,
                from->ndim, shape, dt_dtype_size(from->dtype));
    item->at = item->contiguous;
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
static void
bind_lane(dt_lane *lane, dt_item *item, bool gathering)
{
    if (!gathering) {
        bool last = item->step + 1 == item->move.plan->step_count;
        lane->src = item->at;
        lane->dst = last ? item->move.dst : item->between[item->step % 2];
        item->step++;
    } else {
        lane->dst = (char *)(uintptr_t)item->at;
        lane->src = lane->dst;
    }
    item->at = lane->dst;
}

dt_status
dt_run_bind(dt_run *run, dt_error *err)
{
    int64_t rank = run->task.group->world->transport->rank;
    for (int k = 0; k < run->count; k++) {
        DT_TRY(bind_source(&run->items[k], rank, err));
        DT_TRY(bind_between(&run->items[k], err));
        run->items[k].step = 0;
    }
    for (int k = 0; k < run->leg_count; k++) {
        dt_leg *leg = &run->legs[k];
        for (int j = 0; j < leg->round.lane_count; j++)
            bind_lane(&leg->round.lanes[j], &run->items[leg->items[j]], leg->gathering);
        if (leg->is_local)
            leg->local.lane = leg->round.lanes[0];
    }
    return dt_mover_bind(&run->mover, err);
}

void
dt_run_unbind(dt_run *run)
{
    dt_mover_unbind(&run->mover);
    for (int k = 0; k < run->count; k++) {
        dt_item *item = &run->items[k];
        dt_memory_give(item->contiguous);
        dt_memory_give(item->between[0]);
        dt_memory_give(item->between[1]);
        item->contiguous = item->between[0] = item->between[1] = NULL;
    }
}
