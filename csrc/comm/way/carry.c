/* The way of the fewest bytes: they go with the messages in which the ranks agree, so a
 * move costs the rounds of its agreement and no more. Each rank gives its whole
 * part, in C order, as its block of a freight (agree.h), gets those of all, and takes what
 * it needs from them as the way by reading does from others' arrays: the same rounds, the
 * same sums. That is for the first step of a plan alone, for what it moves must be there
 * before the ranks agree. Costs: a copy that packs the block, and messages of agreements
 * that are longer, by at most DT_FREIGHT_MOST bytes; like these they are not counted. The
 * bytes that count are those that others take, as by reading. */
#include "comm/way/reading.h"

#include "core/facts/hash.h"
#include "core/memory/copy.h"

#include <stdlib.h>

enum { ALIGNED = 16 };

/* The same on all ranks: those of the largest part. */
static int64_t
block_bytes(const dt_step *step)
{
    const dt_layout *from = step->from;
    int64_t most = 0;
    for (int64_t place = 0; place < from->mesh->size; place++) {
        int64_t coordinate[DT_MESH_MAX_NDIM];
        dt_mesh_coordinate(coordinate, from->mesh, place);
        int64_t bytes = dt_layout_local_bytes(from, coordinate);
        most = bytes > most ? bytes : most;
    }
    return (most + ALIGNED - 1) / ALIGNED * ALIGNED;
}

static bool
carry_fits(const char **why, const dt_world *world, const dt_step *step)
{
    const dt_mesh *mesh = step->from->mesh;
    if (world == NULL || step->kind == DT_STEP_LOCAL || step->to->mesh != mesh ||
        !dt_freight_fits(world, mesh->ranks, mesh->size, ALIGNED) ||
        !dt_freight_fits(world, mesh->ranks, mesh->size, block_bytes(step)))
        return false;
    *why = "so few bytes go with the agreement";
    return true;
}

/* --- preparing --- */

typedef struct {
    dt_reading reading; /* of blocks, as if these were the owners' arrays */
    dt_freight freight;
} carried;

/* Where the block of the rank at a place in the group lies. */
static unsigned char *
block_of(const dt_leg *leg, int place)
{
    const carried *c = leg->state;
    int back = leg->group->index - place;
    return c->freight.blocks +
           (size_t)(back < 0 ? back + leg->group->size : back) * c->freight.block;
}

/* Strides in the block of a rank: of its part, or of a flat row. */
static void
find_owner(dt_leg *leg, int64_t k)
{
    carried *c = leg->state;
    const dt_round *round = &leg->rounds[0];
    const dt_array *array = &round->arrays[0];
    int place = round->receives[k].place;
    int64_t *words =
        (int64_t *)(void *)(c->reading.heard + (size_t)k * c->reading.most);
    words[1] = (int64_t)(intptr_t)block_of(leg, place);
    if (round->flat)
        words[2] = (int64_t)array->itemsize;
    else
        dt_layout_strides_at(words + 2, leg->steps[0]->from, leg->group->ranks[place]);
    c->reading.owners[k].words = words;
}

static dt_status
carry_prepare(dt_leg *leg, int64_t scratch, dt_error *err)
{
    const dt_step *step = leg->steps[0];
    DT_TRY(dt_rounds_make(leg->rounds, &leg->round_count, leg->steps, leg->count,
                          DT_IN_SLICES, leg->group, scratch, err));
    carried *c = leg->state = calloc(1, sizeof *c);
    if (c == NULL)
        return dt_round_no_memory(err);
    const dt_round *round = &leg->rounds[0];
    bool second = leg->round_count > 1 &&
                  leg->rounds[1].send_count + leg->rounds[1].receive_count > 0;
    if (second || leg->count != 1 || leg->group->size != step->from->mesh->size)
        return dt_fail(err, DT_BUG, "a step that does not fit goes with an agreement");
    size_t owners = (size_t)round->receive_count, size = (size_t)leg->group->size;
    dt_reading *r = &c->reading;
    const uint64_t name[] = {step->from->hash, step->to->hash, step->kind};
    c->freight.name = dt_hash(size, name, sizeof name);
    c->freight.block = (size_t)block_bytes(step);
    c->freight.blocks = calloc(size, c->freight.block);
    r->most = (2 + (size_t)round->arrays[0].ndim) * sizeof(int64_t);
    r->heard = calloc(owners + 1, r->most);
    r->owners = calloc(owners + 1, sizeof *r->owners);
    bool made = dt_borrow_make(r, owners + 1);
    if (!made || c->freight.blocks == NULL || r->heard == NULL || r->owners == NULL)
        return dt_round_no_memory(err);
    r->here = true;
    for (int64_t k = 0; k < round->receive_count; k++)
        find_owner(leg, k);
    r->slice = (c->freight.block + 63) / 64 * 64;
    leg->room = round->reduced ? (owners + 3) * r->slice : 0;
    return DT_OK;
}

static void
carry_release(dt_leg *leg)
{
    carried *c = leg->state;
    if (c == NULL)
        return;
    free(c->freight.blocks);
    free(c->reading.heard);
    free(c->reading.owners);
    dt_borrow_free(&c->reading);
    free(c);
}

/* --- running --- */

static const dt_freight *
carry_load(dt_leg *leg)
{
    const carried *c = leg->state;
    const dt_layout *from = leg->steps[0]->from;
    const dt_ends *ends = &leg->ends[0];
    int64_t rank = leg->group->world->transport->rank;
    int64_t shape[DT_MAX_NDIM], stride[DT_MAX_NDIM];
    if (ends->src == NULL)
        return &c->freight;
    dt_layout_shape_at(shape, from, rank);
    dt_layout_strides_at(stride, from, rank);
    dt_copy_box(c->freight.blocks, stride, ends->src, ends->src_stride, from->ndim,
                shape, dt_dtype_size(from->dtype));
    return &c->freight;
}

static dt_status
carry_begin(dt_leg *leg, uint64_t number, dt_error *err)
{
    (void)leg, (void)number, (void)err;
    return DT_OK;
}

static dt_status
carry_advance(bool *done, dt_leg *leg, dt_error *err)
{
    const carried *c = leg->state;
    const dt_round *round = &leg->rounds[0];
    for (int64_t k = 0; k < round->send_count; k++)
        leg->group->world->counters[round->kind].bytes += round->sends[k].bytes;
    if (round->reduced)
        DT_TRY(dt_borrow_sum(leg, &c->reading, err));
    else
        dt_borrow_own(round);
    for (int64_t k = 0; k < round->receive_count && !round->reduced; k++)
        DT_TRY(dt_borrow(leg, &c->reading, k, err));
    *done = true;
    return DT_OK;
}

static bool
carry_abandon(dt_leg *leg)
{
    (void)leg;
    return true;
}

static void
carry_traffic(dt_traffic *out, const dt_step *step, int64_t rank)
{
    dt_step_traffic(out, step, rank);
    out->messages = 0;
    for (int64_t ranks = 1; ranks < step->from->mesh->size; ranks *= 2)
        out->waits++;
}

const dt_way dt_way_carry = {
    .name = "carry",
    .first = true,
    .fits = carry_fits,
    .prepare = carry_prepare,
    .release = carry_release,
    .load = carry_load,
    .begin = carry_begin,
    .advance = carry_advance,
    .abandon = carry_abandon,
    .traffic = carry_traffic,
};
