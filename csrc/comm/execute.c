#include "comm/execute.h"

#include "comm/mover.h"
#include "core/memory.h"

#include <stdlib.h>
#include <string.h>

typedef struct {
    dt_move move;
    int64_t *stride;     /* of the source */
    void *contiguous;    /* the source in C order, where a round needs that */
    void *between[2];    /* arrays that are neither the source nor the result, in turn */
    int step;            /* prepared so far */
    const char *at;      /* where the data will be after the prepared steps */
    const int64_t *at_stride;
} item;

/* What the run does next, in this order. */
typedef enum { AGREE, BEGIN, MOVE } stage;

/* A round, or a local step of one item. */
typedef struct {
    dt_round round;
    dt_local local;
    bool is_local;
} leg;

struct dt_run {
    dt_task task;
    dt_call call;
    dt_agreement *agreement;
    stage stage;
    int count;
    item *items;
    int leg_count, leg_room, leg;
    leg *legs;
    dt_mover mover;
    bool poisoned;
    dt_block *blocks;
};

/* --- preparing --- */

/* NULL at the end of the plan. */
static const dt_step *
next_step(const item *it)
{
    const dt_plan *plan = it->move.plan;
    return it->step < plan->step_count ? &plan->steps[it->step] : NULL;
}

static const int64_t *
c_strides(dt_run *run, const dt_layout *layout, int64_t rank)
{
    int64_t shape[DT_MAX_NDIM] = {0};
    int64_t index = dt_mesh_index(layout->mesh, rank);
    int64_t coordinate[DT_MESH_MAX_NDIM];
    if (index >= 0) {
        dt_mesh_coordinate(coordinate, layout->mesh, index);
        dt_layout_local_shape(shape, layout, coordinate);
    }
    int64_t *stride =
        dt_block_take(&run->blocks, sizeof *stride * (size_t)(layout->ndim + 1));
    if (stride == NULL)
        return NULL;
    int64_t expected = (int64_t)dt_dtype_size(layout->dtype);
    for (int d = layout->ndim - 1; d >= 0; d--) {
        stride[d] = expected;
        expected *= shape[d];
    }
    return stride;
}

static int64_t
local_bytes(const dt_layout *layout, int64_t rank)
{
    int64_t index = dt_mesh_index(layout->mesh, rank);
    if (index < 0)
        return 0;
    int64_t coordinate[DT_MESH_MAX_NDIM];
    dt_mesh_coordinate(coordinate, layout->mesh, index);
    return dt_layout_local_bytes(layout, coordinate);
}

static leg *
new_leg(dt_run *run)
{
    if (run->leg_count == run->leg_room) {
        int room = run->leg_room > 0 ? 2 * run->leg_room : 4;
        leg *legs = realloc(run->legs, sizeof *legs * (size_t)room);
        if (legs == NULL)
            return NULL;
        run->legs = legs;
        run->leg_room = room;
    }
    leg *out = &run->legs[run->leg_count++];
    *out = (leg){0};
    return out;
}

static dt_status
no_memory(dt_error *err)
{
    return dt_fail(err, DT_MEMORY, "no memory to prepare a collective");
}

/* Where the result of an item's next step goes: to the end, or to one of two arrays in
 * between that are used in turn. */
static dt_status
target_of(void **out, item *it, int64_t rank, dt_error *err)
{
    const dt_plan *plan = it->move.plan;
    *out = it->move.dst;
    if (it->step + 1 == plan->step_count)
        return DT_OK;
    int64_t most = 0;
    for (int k = it->step % 2; k + 1 < plan->step_count; k += 2) {
        int64_t bytes = local_bytes(plan->steps[k].to, rank);
        most = bytes > most ? bytes : most;
    }
    void **between = &it->between[it->step % 2];
    if (*between == NULL)
        *between = dt_memory_take((size_t)most);
    *out = *between;
    return *between != NULL ? DT_OK
                            : dt_fail(err, DT_MEMORY,
                                      "no memory for %lld bytes in between",
                                      (long long)most);
}

static bool
is_flat(dt_step_kind kind)
{
    return kind == DT_STEP_ALL_REDUCE || kind == DT_STEP_BROADCAST;
}

/* Gives a lane the arrays of an item's next step. */
static dt_status
fill_lane(dt_lane *lane, dt_run *run, item *it, int64_t rank, dt_error *err)
{
    const dt_step *step = &it->move.plan->steps[it->step];
    void *dst;
    DT_TRY(target_of(&dst, it, rank, err));
    lane->ndim = step->to->ndim;
    lane->dtype = step->to->dtype;
    lane->itemsize = dt_dtype_size(lane->dtype);
    lane->src = it->at;
    lane->src_stride = it->at_stride;
    lane->dst = dst;
    lane->dst_stride = c_strides(run, step->to, rank);
    if (lane->dst_stride == NULL)
        return no_memory(err);
    it->at = dst;
    it->at_stride = lane->dst_stride;
    it->step++;
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
prepare_flat(dt_run *run, leg *first, const dt_step *const *steps, int64_t scratch,
             dt_error *err)
{
    int lanes = first->round.lane_count;
    int at = run->leg_count - 1;
    for (int k = 0; k < lanes; k++)
        make_flat(&first->round.lanes[k]);
    DT_TRY(dt_round_flat(&first->round, steps, false, run->task.group, scratch, err));
    leg *second = new_leg(run);
    if (second == NULL)
        return no_memory(err);
    first = &run->legs[at];
    dt_lane *copies = dt_block_take(&run->blocks, sizeof *copies * (size_t)lanes);
    if (copies == NULL)
        return no_memory(err);
    for (int k = 0; k < lanes; k++) {
        copies[k] = first->round.lanes[k];
        copies[k].src = copies[k].dst;
        copies[k].sent = copies[k].received = (dt_pieces){0};
    }
    second->round.lanes = copies;
    second->round.lane_count = lanes;
    return dt_round_flat(&second->round, steps, true, run->task.group, scratch, err);
}

/* Prepares the next step of `count` items, which is of one kind, as one leg. */
static dt_status
prepare_leg(dt_run *run, item **items, int count, int64_t rank, int64_t scratch,
            dt_error *err)
{
    leg *made = new_leg(run);
    dt_lane *lanes = dt_block_take(&run->blocks, sizeof *lanes * (size_t)count);
    const dt_step **steps = dt_block_take(&run->blocks, sizeof *steps * (size_t)count);
    if (made == NULL || lanes == NULL || steps == NULL)
        return no_memory(err);
    memset(lanes, 0, sizeof *lanes * (size_t)count);
    made->round.lanes = lanes;
    made->round.lane_count = count;
    for (int k = 0; k < count; k++) {
        steps[k] = next_step(items[k]);
        DT_TRY(fill_lane(&lanes[k], run, items[k], rank, err));
    }
    if (steps[0]->kind == DT_STEP_LOCAL) {
        made->is_local = true;
        return dt_local_prepare(&made->local, steps[0], &lanes[0], rank, err);
    }
    if (is_flat(steps[0]->kind))
        return prepare_flat(run, made, steps, scratch, err);
    return dt_round_exchange(&made->round, steps, run->task.group, scratch, err);
}

/* Whether two steps can be one: the same ranks do the same. */
static bool
go_together(const dt_step *x, const dt_step *y)
{
    return y != NULL && x->kind == y->kind && x->op == y->op &&
           dt_step_mask(x) == dt_step_mask(y) &&
           dt_mesh_same_ranks(x->from->mesh, y->from->mesh) &&
           dt_mesh_same_ranks(x->to->mesh, y->to->mesh);
}

static dt_status
prepare_local_steps(dt_run *run, int64_t rank, int64_t scratch, dt_error *err)
{
    for (int k = 0; k < run->count; k++) {
        item *it = &run->items[k];
        while (next_step(it) != NULL && next_step(it)->kind == DT_STEP_LOCAL)
            DT_TRY(prepare_leg(run, &it, 1, rank, scratch, err));
    }
    return DT_OK;
}

/* All legs: what needs no message first, then the next step of the first item that has
 * one, together with those of all others that do the same. */
static dt_status
prepare_legs(dt_run *run, int64_t rank, int64_t scratch, dt_error *err)
{
    item **together =
        dt_block_take(&run->blocks, sizeof *together * (size_t)(run->count + 1));
    if (together == NULL)
        return no_memory(err);
    for (;;) {
        DT_TRY(prepare_local_steps(run, rank, scratch, err));
        int count = 0;
        for (int k = 0; k < run->count; k++) {
            item *it = &run->items[k];
            if (next_step(it) != NULL &&
                (count == 0 || go_together(next_step(together[0]), next_step(it))))
                together[count++] = it;
        }
        if (count == 0)
            return DT_OK;
        DT_TRY(prepare_leg(run, together, count, rank, scratch, err));
    }
}

/* The source must be in C order where messages are cut from flat memory. */
static dt_status
take_source(dt_run *run, item *it, int64_t rank, dt_error *err)
{
    const dt_plan *plan = it->move.plan;
    it->at = it->move.src;
    it->at_stride = it->stride;
    if (it->move.src == NULL || plan->step_count == 0 ||
        plan->steps[0].kind == DT_STEP_LOCAL || plan->steps[0].kind == DT_STEP_SCATTER)
        return DT_OK;
    const int64_t *wanted = c_strides(run, plan->from, rank);
    if (wanted == NULL)
        return no_memory(err);
    int64_t shape[DT_MAX_NDIM], coordinate[DT_MESH_MAX_NDIM];
    dt_mesh_coordinate(coordinate, plan->from->mesh,
                       dt_mesh_index(plan->from->mesh, rank));
    int ndim = dt_layout_local_shape(shape, plan->from, coordinate);
    bool ordered = true, empty = false;
    for (int d = 0; d < ndim; d++) {
        ordered = ordered && (shape[d] == 1 || it->stride[d] == wanted[d]);
        empty = empty || shape[d] == 0;
    }
    it->at_stride = wanted;
    if (ordered || empty)
        return DT_OK;
    it->contiguous = dt_memory_take((size_t)dt_layout_local_bytes(plan->from, coordinate));
    if (it->contiguous == NULL)
        return dt_fail(err, DT_MEMORY, "no memory for a copy of the local array");
    dt_copy_box(it->contiguous, wanted, it->move.src, it->stride, ndim, shape,
                dt_dtype_size(plan->from->dtype));
    it->at = it->contiguous;
    return DT_OK;
}

static dt_status
prepare(dt_run *run, const dt_move *moves, int64_t scratch, dt_error *err)
{
    int64_t rank = run->task.group->world->transport->rank;
    for (int k = 0; k < run->count; k++) {
        item *it = &run->items[k];
        it->move = moves[k];
        int ndim = moves[k].plan->from->ndim;
        it->stride = dt_block_take(&run->blocks, sizeof(int64_t) * (size_t)(ndim + 1));
        if (it->stride == NULL)
            return no_memory(err);
        if (moves[k].src != NULL && ndim > 0)
            memcpy(it->stride, moves[k].src_stride, sizeof(int64_t) * (size_t)ndim);
        DT_TRY(take_source(run, it, rank, err));
    }
    DT_TRY(prepare_legs(run, rank, scratch, err));
    if (run->leg_count == 0)
        return DT_OK;
    return dt_mover_prepare(&run->mover, run->task.group, &run->legs[0].round,
                            sizeof(leg), run->leg_count, err);
}

/* --- running --- */

static dt_status
begin_leg(dt_run *run, dt_error *err)
{
    leg *now = &run->legs[run->leg];
    if (now->is_local)
        return DT_OK;
    return dt_mover_begin(&run->mover, &now->round, run->task.number, err);
}

static dt_status
advance_legs(bool *done, dt_run *run, dt_error *err)
{
    while (run->leg < run->leg_count) {
        leg *now = &run->legs[run->leg];
        bool ended = true;
        if (run->stage == BEGIN)
            DT_TRY(begin_leg(run, err));
        run->stage = MOVE;
        if (now->is_local)
            dt_local_do(&now->local);
        else
            DT_TRY(dt_mover_advance(&ended, &run->mover, err));
        if (!ended)
            return DT_OK;
        run->stage = BEGIN;
        run->leg++;
    }
    *done = true;
    return DT_OK;
}

static dt_status
advance(bool *done, dt_task *task, dt_error *err)
{
    dt_run *run = (dt_run *)task; /* the task is its first member */
    if (run->stage == AGREE) {
        dt_task *agreement = dt_agreement_task(run->agreement);
        bool agreed = false;
        agreement->number = task->number;
        DT_TRY(agreement->advance(&agreed, agreement, err));
        if (!agreed)
            return DT_OK;
        run->stage = BEGIN;
    }
    return advance_legs(done, run, err);
}

static void
abandon(dt_task *task)
{
    dt_run *run = (dt_run *)task;
    dt_task *agreement = run->agreement != NULL ? dt_agreement_task(run->agreement) : NULL;
    if (run->stage == AGREE && agreement != NULL && agreement->abandon != NULL)
        agreement->abandon(agreement);
    if (run->stage == MOVE)
        run->poisoned = !dt_mover_abandon(&run->mover);
}

dt_run *
dt_run_make(dt_group *group, const dt_move *moves, int count, int64_t scratch,
            const dt_call *call)
{
    dt_run *run = calloc(1, sizeof *run);
    if (run == NULL)
        return NULL;
    run->call = *call;
    run->task = (dt_task){
        .advance = advance, .abandon = abandon, .group = group, .what = run->call.what};
    run->items = calloc((size_t)(count > 0 ? count : 1), sizeof *run->items);
    if (run->items == NULL) {
        free(run);
        return NULL;
    }
    dt_error *local = &run->call.local;
    if (local->status == DT_OK) {
        run->count = count;
        local->status = prepare(run, moves, scratch, local);
    }
    dt_error err;
    if (dt_agreement_make(&run->agreement, group, &run->call, false, &err) != DT_OK) {
        dt_run_free(run);
        return NULL;
    }
    return run;
}

dt_task *
dt_run_task(dt_run *run)
{
    return &run->task;
}

bool
dt_run_poisoned(const dt_run *run)
{
    return run->poisoned;
}

void
dt_run_free(dt_run *run)
{
    if (run == NULL)
        return;
    if (run->agreement != NULL)
        dt_agreement_free(run->agreement);
    for (int k = 0; k < run->leg_count; k++) {
        if (run->legs[k].is_local)
            dt_local_free(&run->legs[k].local);
        dt_round_free(&run->legs[k].round);
    }
    /* What messages under way may still touch is never freed. */
    if (!run->poisoned) {
        dt_mover_free(&run->mover);
        for (int k = 0; k < run->count; k++) {
            dt_memory_give(run->items[k].contiguous);
            dt_memory_give(run->items[k].between[0]);
            dt_memory_give(run->items[k].between[1]);
        }
    }
    dt_block_free(run->blocks);
    free(run->legs);
    free(run->items);
    free(run);
}

dt_status
dt_run_local(const dt_move *move, int64_t rank, dt_error *err)
{
    const void *at = move->src;
    const int64_t *stride = move->src_stride;
    const dt_plan *plan = move->plan;
    dt_run holder = {0};
    void *between[2] = {NULL, NULL};
    dt_status status = DT_OK;
    for (int k = 0; k < plan->step_count && status == DT_OK; k++) {
        const dt_step *step = &plan->steps[k];
        void *dst = move->dst;
        if (k + 1 < plan->step_count) {
            dt_memory_give(between[k % 2]);
            between[k % 2] = dst =
                dt_memory_take((size_t)local_bytes(step->to, rank));
        }
        dt_lane lane = {.ndim = step->to->ndim,
                        .dtype = step->to->dtype,
                        .itemsize = dt_dtype_size(step->to->dtype),
                        .src = at,
                        .src_stride = stride,
                        .dst = dst,
                        .dst_stride = c_strides(&holder, step->to, rank)};
        dt_local local;
        if (dst == NULL || lane.dst_stride == NULL) {
            status = no_memory(err);
            break;
        }
        status = dt_local_prepare(&local, step, &lane, rank, err);
        if (status == DT_OK) {
            dt_local_do(&local);
            dt_local_free(&local);
        }
        at = dst;
        stride = lane.dst_stride;
    }
    dt_memory_give(between[0]);
    dt_memory_give(between[1]);
    dt_block_free(holder.blocks);
    return status;
}
