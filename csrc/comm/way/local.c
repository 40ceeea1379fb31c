/* The way of steps for which every rank has all that it needs: slices, copies, and
 * becoming Partial.
 *
 * A rank's new part is a piece of its old one, which is copied, or the identity of an
 * operator, or a piece amid identities. Who holds the value of a new Partial: of sum,
 * product, max and min the ranks at coordinate 0, the others the identity, which is
 * exact for every dtype; of avg all. Costs: one pass over the new part. */
#include "comm/way/local.h"

#include "comm/way/way.h"
#include "core/memory/copy.h"
#include "kernels/reduce.h"
#include "kernels/widen.h"

#include <stdlib.h>

/* Whether a rank holds the value of a new Partial, and else the operator whose identity
 * it holds. Of all pending mesh dimensions the leftmost on which the rank is not the
 * first one decides: what is reduced first must yield the identity of what comes next.
 * Averages are held by all. */
static bool
holds_value(dt_reduce_op *identity, const dt_step *step, const int64_t *coordinate)
{
    bool newly_other = false;
    int first = -1;
    for (int m = step->to->mesh->ndim - 1; m >= 0; m--) {
        dt_placement a = step->from->placements[m], b = step->to->placements[m];
        if (!dt_placement_leaves_identity(b, coordinate[m]))
            continue;
        if (dt_placement_cuts(a))
            continue; /* its own box is the value */
        newly_other = newly_other || dt_placement_whole(a);
        first = m;
    }
    if (newly_other)
        *identity = step->to->placements[first].op;
    return !newly_other;
}

/* The operator around an own box that becomes the value among identities. */
static dt_reduce_op
embedding_op(const dt_step *step)
{
    for (int m = 0; m < step->to->mesh->ndim; m++)
        if (step->to->mesh->shape[m] > 1 && /* else its box is all that there is */
            dt_placement_pending(step->to->placements[m]) &&
            dt_placement_cuts(step->from->placements[m]))
            return step->to->placements[m].op;
    return DT_SUM;
}

dt_status
dt_local_prepare(dt_local *out, const dt_step *step, int64_t rank, dt_error *err)
{
    const dt_layout *to = step->to;
    int64_t coordinate[DT_MESH_MAX_NDIM];
    *out = (dt_local){
        .ndim = to->ndim, .dtype = to->dtype, .itemsize = dt_dtype_size(to->dtype)};
    if (!dt_mesh_find(coordinate, to->mesh, rank))
        return DT_OK;
    out->elements = dt_layout_local_bytes(to, coordinate) / (int64_t)out->itemsize;
    out->rounds = step->from->dtype != to->dtype;
    if (out->rounds)
        return DT_OK;
    out->identity = embedding_op(step);
    out->keeps = holds_value(&out->identity, step, coordinate);
    dt_exchange exchange = {.from = step->from, .to = to};
    DT_TRY(dt_pieces_received(&out->pieces, &exchange, rank, err));
    int64_t kept = out->pieces.own.elements;
    out->keeps = out->keeps && kept > 0;
    out->fills = !out->keeps || kept < out->elements;
    return DT_OK;
}

void
dt_local_do(const dt_local *local, const dt_ends *ends)
{
    if (local->rounds) /* sums on the way are in C order */
        dt_narrow(local->dtype, (uint16_t *)(void *)ends->dst,
                  (const float *)(const void *)ends->src, local->elements);
    if (local->fills && local->elements > 0) {
        char identity[2 * sizeof(long double)];
        dt_reduce_identity(local->dtype, local->identity, identity);
        dt_fill(ends->dst, identity, local->itemsize, local->elements);
    }
    if (local->keeps)
        dt_piece_copy(ends->dst, ends->dst_stride, ends->src, ends->src_stride,
                      &local->pieces.own, local->ndim, local->itemsize);
}

void
dt_local_free(dt_local *local)
{
    dt_pieces_free(&local->pieces);
}

/* --- the way --- */

static bool
local_fits(const char **why, const dt_world *world, const dt_step *step)
{
    (void)world;
    *why = "each rank has what it needs";
    return step->kind == DT_STEP_LOCAL;
}

static dt_status
local_prepare(dt_leg *leg, int64_t scratch, dt_error *err)
{
    (void)scratch;
    dt_local *locals = leg->state = calloc((size_t)leg->count, sizeof *locals);
    if (locals == NULL)
        return dt_fail(err, DT_MEMORY, "no memory to prepare a local step");
    int64_t rank = leg->group->world->transport->rank;
    for (int k = 0; k < leg->count; k++)
        DT_TRY(dt_local_prepare(&locals[k], leg->steps[k], rank, err));
    return DT_OK;
}

static void
local_release(dt_leg *leg)
{
    dt_local *locals = leg->state;
    for (int k = 0; locals != NULL && k < leg->count; k++)
        dt_local_free(&locals[k]);
    free(locals);
}

static dt_status
local_begin(dt_leg *leg, uint64_t number, dt_error *err)
{
    (void)leg;
    (void)number;
    (void)err;
    return DT_OK;
}

static dt_status
local_advance(bool *done, dt_leg *leg, dt_error *err)
{
    (void)err;
    const dt_local *locals = leg->state;
    for (int k = 0; k < leg->count; k++)
        dt_local_do(&locals[k], &leg->ends[k]);
    *done = true;
    return DT_OK;
}

static bool
local_abandon(dt_leg *leg)
{
    (void)leg;
    return true;
}

const dt_way dt_way_local = {
    .name = "local",
    .fits = local_fits,
    .prepare = local_prepare,
    .release = local_release,
    .begin = local_begin,
    .advance = local_advance,
    .abandon = local_abandon,
    .traffic = dt_step_traffic,
};
