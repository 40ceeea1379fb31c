/* Steps without messages: slices, copies, and becoming Partial. */
#include "comm/way/mover.h"

#include "core/memory/copy.h"
#include "kernels/reduce.h"

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
        if (b.kind != DT_PARTIAL || b.op == DT_AVG || coordinate[m] == 0)
            continue;
        if (a.kind == DT_SHARD)
            continue; /* its own box is the value */
        newly_other = newly_other || a.kind == DT_REPLICATE;
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
            step->to->placements[m].kind == DT_PARTIAL &&
            step->from->placements[m].kind == DT_SHARD)
            return step->to->placements[m].op;
    return DT_SUM;
}

dt_status
dt_local_prepare(dt_local *out, const dt_step *step, const dt_lane *lane, int64_t rank,
                 dt_error *err)
{
    *out = (dt_local){.lane = *lane};
    int64_t index = dt_mesh_index(step->to->mesh, rank);
    if (index < 0)
        return DT_OK;
    int64_t coordinate[DT_MESH_MAX_NDIM];
    dt_mesh_coordinate(coordinate, step->to->mesh, index);
    out->elements =
        dt_layout_local_bytes(step->to, coordinate) / (int64_t)lane->itemsize;
    out->identity = embedding_op(step);
    out->keeps = holds_value(&out->identity, step, coordinate);
    dt_exchange exchange = {.from = step->from, .to = step->to};
    DT_TRY(dt_pieces_sent(&out->sent, &exchange, rank, err));
    dt_status status = dt_pieces_received(&out->received, &exchange, rank, err);
    if (status != DT_OK) {
        dt_local_free(out);
        return status;
    }
    out->keeps = out->keeps && out->sent.own.elements > 0;
    out->fills = !out->keeps || out->sent.own.elements < out->elements;
    return DT_OK;
}

void
dt_local_do(const dt_local *local)
{
    const dt_lane *lane = &local->lane;
    if (local->fills && local->elements > 0) {
        char identity[2 * sizeof(long double)];
        dt_reduce_identity(lane->dtype, local->identity, identity);
        dt_fill(lane->dst, identity, lane->itemsize, local->elements);
    }
    if (!local->keeps)
        return;
    dt_part from_part = {lane, &local->sent.own},
            to_part = {lane, &local->received.own};
    dt_stream from = {.count = 1, .parts = &from_part, .capacity = SIZE_MAX / 2};
    dt_stream to = {.count = 1, .parts = &to_part, .capacity = SIZE_MAX / 2};
    dt_cursor a, b;
    dt_cursor_begin(&a, &from);
    dt_cursor_begin(&b, &to);
    dt_box x, y;
    while (dt_cursor_next(&x, &a, 0, 0) && dt_cursor_next(&y, &b, 0, 0))
        dt_copy_box(lane->dst + dt_box_offset(&y, lane->dst_stride), lane->dst_stride,
                    lane->src + dt_box_offset(&x, lane->src_stride), lane->src_stride,
                    lane->ndim, x.size, lane->itemsize);
}

void
dt_local_free(dt_local *local)
{
    dt_pieces_free(&local->sent);
    dt_pieces_free(&local->received);
}
