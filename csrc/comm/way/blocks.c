/* Where blocks lie, so that what goes in a round is one stretch of memory, or few: those
 * that are gathered from the own one on; sums in two arrays by turns, by places with
 * reversed bits where they are halved; those that are routed by distance, packed for each
 * round. */
#include "comm/way/blocks.h"

#include "core/memory/copy.h"
#include "kernels/reduce.h"

#include <string.h>

/* --- where blocks lie --- */

static size_t
aligned(size_t bytes)
{
    return (bytes + 63) & ~(size_t)63;
}

/* Bytes of a block: of all arrays. */
static size_t
block(const dt_leg *leg, int64_t from, int64_t to)
{
    const dt_tree_leg *t = leg->state;
    dt_members members = t->members;
    int64_t bytes = 0;
    for (int k = 0; k < leg->count; k++) {
        members.step = leg->steps[k];
        bytes += dt_members_block(&members, t->tree, from, to);
    }
    return (size_t)bytes;
}

/* The own block first, then those of the places behind it. */
static void
place_gathered(dt_leg *leg)
{
    dt_tree_leg *t = leg->state;
    int64_t n = t->members.count, own = t->members.own;
    t->offsets[0] = 0;
    for (int64_t k = 0; k < n; k++)
        t->offsets[k + 1] = t->offsets[k] + block(leg, own + k, own);
    for (int k = 0; k < t->hop_count; k++) {
        int64_t have = INT64_C(1) << k, more = have < n - have ? have : n - have;
        t->hops[k].out_bytes = t->offsets[more];
        t->hops[k].in = t->offsets[have];
        t->hops[k].in_bytes = t->offsets[have + more] - t->offsets[have];
    }
    leg->room = t->offsets[n];
}

/* Two arrays in turn: the one of lower places is where the sum goes. */
static void
place_doubled(dt_leg *leg)
{
    dt_tree_leg *t = leg->state;
    size_t bytes = block(leg, t->members.own, t->members.own), half = aligned(bytes);
    for (int k = 0; k < t->hop_count; k++) {
        dt_tree_round *h = &t->hops[k];
        h->first = (t->members.own >> k & 1) == 0;
        h->out = h->mine = t->end;
        h->in = half - t->end;
        h->out_bytes = h->in_bytes = bytes;
        t->end = h->first ? h->mine : h->in;
    }
    leg->room = 2 * half;
}

static int64_t
reversed(int64_t place, int bits)
{
    int64_t out = 0;
    for (int k = 0; k < bits; k++)
        out |= (place >> k & 1) << (bits - 1 - k);
    return out;
}

/* By places with reversed bits: what goes in a round, and what stays, are neighbours. Two
 * arrays in turn, as above. */
static void
place_halved(dt_leg *leg)
{
    dt_tree_leg *t = leg->state;
    int bits = t->hop_count;
    int64_t n = t->members.count, own = t->members.own, low = 0;
    t->offsets[0] = 0;
    for (int64_t k = 0; k < n; k++)
        t->offsets[k + 1] = t->offsets[k] + block(leg, own, reversed(k, bits));
    size_t half = aligned(t->offsets[n]), side = 0;
    for (int k = 0; k < bits; k++) {
        dt_tree_round *h = &t->hops[k];
        int64_t part = n >> (k + 1);
        h->first = (own >> k & 1) == 0;
        int64_t goes = low + (h->first ? part : 0);
        low += h->first ? 0 : part;
        h->out = side + t->offsets[goes];
        h->out_bytes = t->offsets[goes + part] - t->offsets[goes];
        h->mine = side + t->offsets[low];
        h->in = half - side + t->offsets[low];
        h->in_bytes = t->offsets[low + part] - t->offsets[low];
        side = h->first ? side : half - side;
    }
    t->end = side + t->offsets[low];
    leg->room = 2 * half;
}

/* By distance, each with room for the largest that is ever there; behind them the
 * messages. */
static void
place_routed(dt_leg *leg)
{
    dt_tree_leg *t = leg->state;
    int64_t n = t->members.count, own = t->members.own;
    size_t at = 0, out = 0, in = 0;
    for (int64_t way = 0; way < n; way++) {
        size_t most = 0;
        for (int k = 0; k <= t->hop_count; k++) {
            int64_t gone = way & ((INT64_C(1) << k) - 1);
            bool changed = k == 0 || (way >> (k - 1) & 1);
            size_t *size = &t->sizes[k * n + way];
            *size = changed ? block(leg, own - gone, own - gone + way) : size[-n];
            most = *size > most ? *size : most;
        }
        t->offsets[way] = at;
        at += aligned(most);
    }
    for (int k = 0; k < t->hop_count; k++) {
        dt_tree_round *h = &t->hops[k];
        for (int64_t way = 0; way < n; way++)
            if (way >> k & 1) {
                h->out_bytes += t->sizes[k * n + way];
                h->in_bytes += t->sizes[(k + 1) * n + way];
            }
        out = h->out_bytes > out ? h->out_bytes : out;
        in = h->in_bytes > in ? h->in_bytes : in;
    }
    for (int k = 0; k < t->hop_count; k++) {
        t->hops[k].out = at;
        t->hops[k].in = at + aligned(out);
    }
    leg->room = at + aligned(out) + aligned(in);
}

static void
place_spread(dt_leg *leg)
{
    dt_tree_leg *t = leg->state;
    leg->room = block(leg, 0, 0);
    for (int k = 0; k < t->hop_count; k++) {
        t->hops[k].out_bytes = t->hops[k].to < 0 ? 0 : leg->room;
        t->hops[k].in_bytes = t->hops[k].from < 0 ? 0 : leg->room;
    }
}

/* By place, in the result: what the pair has so far are aligned stretches of it. */
static void
place_joined(dt_leg *leg)
{
    dt_tree_leg *t = leg->state;
    int64_t n = t->members.count, own = t->members.own;
    t->offsets[0] = 0;
    for (int64_t k = 0; k < n; k++)
        t->offsets[k + 1] = t->offsets[k] + block(leg, k, own);
    for (int k = 0; k < t->hop_count; k++) {
        dt_tree_round *h = &t->hops[k];
        int64_t count = INT64_C(1) << k, mine = own & ~(count - 1),
                theirs = mine ^ count;
        h->out = t->offsets[mine];
        h->out_bytes = t->offsets[mine + count] - h->out;
        h->in = t->offsets[theirs];
        h->in_bytes = t->offsets[theirs + count] - h->in;
    }
}

/* --- what queues say --- */

/* The elements of a queue, one behind the other: of the sources or into the results. */
static void
pack(char *out, const dt_queue *queue, bool own)
{
    dt_queue whole = *queue;
    dt_cursor cursor;
    dt_box box, theirs;
    int64_t stride[DT_MAX_NDIM];
    whole.capacity = INT32_MAX;
    dt_cursor_begin(&cursor, &whole);
    while (dt_cursor_next(&box, &theirs, &cursor, 0, 0)) {
        const dt_box *from = own ? &theirs : &box;
        const dt_array *array = box.array;
        dt_box_strides(stride, &box);
        dt_copy_box(out, stride,
                    array->ends.src + dt_box_offset(from, array->ends.src_stride),
                    array->ends.src_stride, array->ndim, box.size, array->itemsize);
        out += dt_box_bytes(&box);
    }
}

static void
unpack(const dt_queue *queue, const char *in)
{
    dt_queue whole = *queue;
    dt_cursor cursor;
    dt_box box;
    int64_t stride[DT_MAX_NDIM];
    whole.capacity = INT32_MAX;
    dt_cursor_begin(&cursor, &whole);
    while (dt_cursor_next(&box, NULL, &cursor, 0, 0)) {
        const dt_array *array = box.array;
        dt_box_strides(stride, &box);
        dt_copy_box(array->ends.dst + dt_box_offset(&box, array->ends.dst_stride),
                    array->ends.dst_stride, in, stride, array->ndim, box.size,
                    array->itemsize);
        in += dt_box_bytes(&box);
    }
}

static char *
block_at(const dt_leg *leg, int64_t distance)
{
    const dt_tree_leg *t = leg->state;
    int64_t n = t->members.count;
    return leg->buffers + t->offsets[((distance % n) + n) % n];
}

/* --- at the beginning: the own blocks --- */

static void
load_arrays(const dt_leg *leg, char *out)
{
    int64_t rank = leg->group->world->transport->rank;
    for (int k = 0; k < leg->count; k++) {
        const dt_layout *from = leg->steps[k]->from;
        int64_t shape[DT_MAX_NDIM], stride[DT_MAX_NDIM];
        if (leg->ends[k].src == NULL)
            continue;
        dt_layout_shape_at(shape, from, rank);
        dt_layout_strides_at(stride, from, rank);
        dt_copy_box(out, stride, leg->ends[k].src, leg->ends[k].src_stride, from->ndim,
                    shape, dt_dtype_size(from->dtype));
        out += dt_layout_bytes_at(from, rank);
    }
}

static void
load_whole(const dt_leg *leg)
{
    load_arrays(leg, leg->buffers);
}

static void
load_joined(const dt_leg *leg)
{
    const dt_tree_leg *t = leg->state;
    load_arrays(leg, t->base + t->offsets[t->members.own]);
}

static void
load_own(const dt_leg *leg)
{
    if (leg->round_count == 0)
        load_whole(leg);
    else
        pack(leg->buffers, &leg->rounds[0].own, true);
}

static void
load_halved(const dt_leg *leg)
{
    const dt_tree_leg *t = leg->state;
    const dt_round *round = &leg->rounds[0];
    int bits = t->hop_count;
    for (int64_t k = 0; k < round->send_count; k++) {
        const dt_queue *queue = &round->sends[k];
        int64_t to = t->by_place[queue->place];
        pack(block_at(leg, reversed(to, bits)), queue, false);
    }
    pack(block_at(leg, reversed(t->members.own, bits)), &round->own, true);
}

static void
load_routed(const dt_leg *leg)
{
    const dt_tree_leg *t = leg->state;
    const dt_round *round = &leg->rounds[0];
    for (int64_t k = 0; k < round->send_count; k++) {
        const dt_queue *queue = &round->sends[k];
        pack(block_at(leg, t->by_place[queue->place] - t->members.own), queue, false);
    }
    pack(block_at(leg, 0), &round->own, true);
}

/* --- before and after a round --- */

static void
leave(const dt_leg *leg, int k)
{
    (void)leg;
    (void)k;
}

static void
add(const dt_leg *leg, int k)
{
    static const int64_t TWO = 2;
    const dt_tree_leg *t = leg->state;
    const dt_tree_round *h = &t->hops[k];
    const dt_step *step = leg->steps[0];
    char *mine = leg->buffers + h->mine, *in = leg->buffers + h->in;
    const void *const addends[] = {h->first ? mine : in, h->first ? in : mine};
    bool averages = dt_reduce_op_get(step->op)->law == DT_LAW_AVERAGES;
    dt_dtype dtype = step->to->dtype;
    dt_reduction how = {.dtype = dtype,
                        .op = averages ? DT_SUM : step->op,
                        .lengths = &TWO,
                        .ndim = 1,
                        .rows = 1,
                        .count = (int64_t)(h->in_bytes / dt_dtype_size(dtype))};
    dt_reduce(&how, h->first ? mine : in, addends);
}

static void
collect(const dt_leg *leg, int k)
{
    const dt_tree_leg *t = leg->state;
    char *out = leg->buffers + t->hops[k].out;
    int64_t n = t->members.count;
    for (int64_t way = 0; way < n; way++) {
        size_t bytes = t->sizes[k * n + way];
        if (!(way >> k & 1) || bytes == 0)
            continue;
        memcpy(out, block_at(leg, way), bytes);
        out += bytes;
    }
}

static void
deliver(const dt_leg *leg, int k)
{
    const dt_tree_leg *t = leg->state;
    const char *in = leg->buffers + t->hops[k].in;
    int64_t n = t->members.count;
    for (int64_t way = 0; way < n; way++) {
        size_t bytes = t->sizes[(k + 1) * n + way];
        if (!(way >> k & 1) || bytes == 0)
            continue;
        memcpy(block_at(leg, way), in, bytes);
        in += bytes;
    }
}

/* --- at the end: blocks go where they belong --- */

/* Combines addends of all arrays, or divides what is combined. */
static void
reduce(const dt_leg *leg, const int64_t *lengths, int ndim, int64_t count)
{
    const dt_tree_leg *t = leg->state;
    int64_t rank = leg->group->world->transport->rank;
    for (int k = 0; k < leg->count; k++) {
        const dt_step *step = leg->steps[k];
        int64_t bytes = dt_layout_bytes_at(step->to, rank);
        dt_dtype dtype = step->to->dtype;
        dt_reduction how = {.dtype = dtype,
                            .op = step->op,
                            .lengths = lengths,
                            .ndim = ndim,
                            .divisor = step->divisor,
                            .rows = 1,
                            .count = bytes / (int64_t)dt_dtype_size(dtype)};
        if (how.count > 0)
            dt_reduce(&how, leg->ends[k].dst, t->addends);
        for (int64_t i = 0; i < count; i++)
            t->addends[i] = (const char *)t->addends[i] + bytes;
    }
}

static void
finish_added(const dt_leg *leg)
{
    static const int64_t ONE = 1;
    const dt_tree_leg *t = leg->state;
    t->addends[0] = leg->buffers + t->end;
    reduce(leg, &ONE, 1, 1);
}

/* What came from a place lies at its distance, counted the one way or the other. */
static void
finish_blocks(const dt_leg *leg, int sign)
{
    const dt_tree_leg *t = leg->state;
    int64_t own = t->members.own, n = t->members.count;
    const dt_step *step = leg->steps[0];
    if (step->kind == DT_STEP_ALL_REDUCE || step->kind == DT_STEP_REDUCE_SCATTER) {
        int64_t lengths[DT_MESH_MAX_NDIM];
        int ndim = dt_step_grid(lengths, step);
        for (int64_t k = 0; k < n; k++)
            t->addends[k] = block_at(leg, sign * (k - own));
        reduce(leg, lengths, ndim, n);
        return;
    }
    const dt_round *round = &leg->rounds[0];
    for (int64_t k = 0; k < round->receive_count; k++) {
        const dt_queue *queue = &round->receives[k];
        unpack(queue, block_at(leg, sign * (t->by_place[queue->place] - own)));
    }
    unpack(&round->own, block_at(leg, 0));
}

static void
finish_gathered(const dt_leg *leg)
{
    finish_blocks(leg, 1);
}

static void
finish_routed(const dt_leg *leg)
{
    finish_blocks(leg, -1);
}

static void
finish_spread(const dt_leg *leg)
{
    const char *in = leg->buffers;
    int64_t rank = leg->group->world->transport->rank;
    for (int k = 0; k < leg->count; k++) {
        size_t bytes = (size_t)dt_layout_bytes_at(leg->steps[k]->to, rank);
        if (bytes == 0)
            continue;
        memcpy(leg->ends[k].dst, in, bytes);
        in += bytes;
    }
}

static void
finish_joined(const dt_leg *leg)
{
    (void)leg;
}

const dt_tree_row dt_tree_rows[] = {
    [DT_TREE_GATHER] = {place_gathered, load_own, leave, leave, finish_gathered},
    [DT_TREE_DOUBLE] = {place_doubled, load_whole, leave, add, finish_added},
    [DT_TREE_HALVE] = {place_halved, load_halved, leave, add, finish_added},
    [DT_TREE_ROUTE] = {place_routed, load_routed, collect, deliver, finish_routed},
    [DT_TREE_SPREAD] = {place_spread, load_whole, leave, leave, finish_spread},
    [DT_TREE_JOIN] = {place_joined, load_joined, leave, leave, finish_joined},
};
