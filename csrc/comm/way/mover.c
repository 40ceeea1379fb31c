#include "comm/way/mover.h"

#include "core/memory/copy.h"
#include "core/memory/memory.h"
#include "kernels/reduce.h"

#include <stdlib.h>
#include <string.h>

/* A message under way. */
typedef struct {
    dt_request request;
    char *buffer;
    size_t bytes;
    dt_cursor from; /* receiving: where its boxes begin */
    bool direct;    /* sent from, or received into, the array itself */
} slot;

struct dt_flow {
    const dt_stream *stream;
    dt_cursor cursor;
    slot slots[DT_PACK_BUFFERS]; /* of a receiving one DT_MESSAGES_AT_ONCE are used */
    int oldest, busy;
};

static int64_t
stream_bytes(const dt_stream *stream)
{
    int64_t bytes = 0;
    for (int k = 0; k < stream->count; k++)
        bytes +=
            stream->parts[k].piece->elements * (int64_t)stream->parts[k].lane->itemsize;
    return bytes;
}

/* Bytes of a pack buffer that suffices for a round. */
static size_t
buffer_bytes(const dt_round *round)
{
    int64_t most = 0;
    for (int64_t k = 0; k < round->send_count + round->receive_count; k++) {
        const dt_stream *stream = k < round->send_count
                                      ? &round->sends[k]
                                      : &round->receives[k - round->send_count];
        int64_t bytes = stream_bytes(stream);
        if (stream->capacity <= round->slice)
            most = bytes > most ? bytes : most;
    }
    size_t bytes = (size_t)most < round->slice ? (size_t)most : round->slice;
    size_t largest = sizeof(long double) * 2; /* a slice has room for one element */
    return ((bytes > largest ? bytes : largest) + 63) & ~(size_t)63;
}

static int
flow_room(const dt_round *round, int64_t streams, bool receiving)
{
    if (streams > DT_STREAMS_AT_ONCE && !(receiving && round->reduced))
        return DT_STREAMS_AT_ONCE;
    return (int)streams;
}

static void
place_buffers(dt_flow *flows, int count, int each, char **at, size_t bytes)
{
    for (int k = 0; k < count; k++)
        for (int s = 0; s < each; s++) {
            flows[k].slots[s].buffer = *at;
            *at += bytes;
        }
}

dt_status
dt_mover_prepare(dt_mover *mover, dt_group *group, const dt_round *rounds,
                 size_t stride, int count, dt_error *err)
{
    *mover = (dt_mover){.group = group};
    size_t bytes = 0;
    for (int k = 0; k < count; k++) {
        const dt_round *round =
            (const dt_round *)((const char *)rounds + stride * (size_t)k);
        int sends = flow_room(round, round->send_count, false);
        int receives = flow_room(round, round->receive_count, true);
        size_t wanted = round->slice > 0 ? buffer_bytes(round) : 0;
        bytes = wanted > bytes ? wanted : bytes;
        mover->send_room = sends > mover->send_room ? sends : mover->send_room;
        mover->receive_room =
            receives > mover->receive_room ? receives : mover->receive_room;
    }
    size_t flows = (size_t)(mover->send_room + mover->receive_room);
    mover->buffer_bytes = bytes;
    if (flows == 0)
        return DT_OK;
    mover->sends = calloc(flows, sizeof *mover->sends);
    mover->addends = calloc(flows + 1, sizeof *mover->addends);
    if (mover->sends == NULL || mover->addends == NULL)
        return dt_fail(err, DT_MEMORY, "no memory to prepare a collective");
    mover->receives = mover->sends + mover->send_room;
    return DT_OK;
}

dt_status
dt_mover_bind(dt_mover *mover, dt_error *err)
{
    size_t flows = (size_t)(mover->send_room + mover->receive_room);
    if (flows == 0)
        return DT_OK;
    size_t buffers = (size_t)(mover->send_room * DT_PACK_BUFFERS) +
                     (size_t)(mover->receive_room * DT_MESSAGES_AT_ONCE) + 2;
    mover->memory = dt_memory_take(mover->buffer_bytes * buffers);
    if (mover->memory == NULL)
        return dt_fail(err, DT_MEMORY, "no memory for the buffers of a collective");
    mover->spare = mover->memory;
    char *at = mover->memory + 2 * mover->buffer_bytes;
    size_t bytes = mover->buffer_bytes;
    place_buffers(mover->sends, mover->send_room, DT_PACK_BUFFERS, &at, bytes);
    place_buffers(mover->receives, mover->receive_room, DT_MESSAGES_AT_ONCE, &at,
                  bytes);
    return DT_OK;
}

void
dt_mover_unbind(dt_mover *mover)
{
    dt_memory_give(mover->memory);
    mover->memory = NULL;
}

void
dt_mover_free(dt_mover *mover)
{
    free(mover->sends);
    free(mover->addends);
    *mover = (dt_mover){0};
}

static void
flow_begin(dt_flow *flow, const dt_stream *stream)
{
    flow->stream = stream;
    flow->oldest = flow->busy = 0;
    dt_cursor_begin(&flow->cursor, stream);
}

static void
box_strides(int64_t *out, const dt_box *box)
{
    int64_t expected = (int64_t)box->lane->itemsize;
    for (int d = box->lane->ndim - 1; d >= 0; d--) {
        out[d] = expected;
        expected *= box->size[d];
    }
}

static size_t
box_bytes(const dt_box *box)
{
    return (size_t)box->elements * box->lane->itemsize;
}

static void
pack(char *out, const dt_box *box)
{
    const dt_lane *lane = box->lane;
    int64_t stride[DT_MAX_NDIM];
    box_strides(stride, box);
    dt_copy_box(out, stride, lane->src + dt_box_offset(box, lane->src_stride),
                lane->src_stride, lane->ndim, box->size, lane->itemsize);
}

static void
unpack(const dt_box *box, const char *in)
{
    const dt_lane *lane = box->lane;
    int64_t stride[DT_MAX_NDIM];
    box_strides(stride, box);
    dt_copy_box(lane->dst + dt_box_offset(box, lane->dst_stride), lane->dst_stride, in,
                stride, lane->ndim, box->size, lane->itemsize);
}

/* --- sending --- */

static dt_status
send_message(dt_mover *mover, dt_flow *flow, dt_error *err)
{
    slot *s = &flow->slots[(flow->oldest + flow->busy) % DT_PACK_BUFFERS];
    dt_box box, more;
    dt_cursor_next(&box, &flow->cursor, 0, 0);
    size_t itemsize = box.lane->itemsize;
    const char *data = s->buffer;
    s->bytes = box_bytes(&box);
    bool filling = dt_cursor_next(&more, &flow->cursor, s->bytes, itemsize);
    if (!filling && dt_box_contiguous(&box, box.lane->src_stride))
        data = box.lane->src + dt_box_offset(&box, box.lane->src_stride);
    else
        pack(s->buffer, &box);
    while (filling) {
        pack(s->buffer + s->bytes, &more);
        s->bytes += box_bytes(&more);
        filling = dt_cursor_next(&more, &flow->cursor, s->bytes, itemsize);
    }
    flow->busy++;
    mover->group->world->counters[mover->round->kind].bytes += (int64_t)s->bytes;
    return dt_post_send(&s->request, mover->group, data, s->bytes, flow->stream->place,
                        mover->phase, err);
}

/* Ends those of a flow's messages, from the oldest, that are done. */
static dt_status
collect_sent(dt_mover *mover, dt_flow *flow, dt_error *err)
{
    while (flow->busy > 0) {
        bool done;
        DT_TRY(dt_test(&done, mover->group, &flow->slots[flow->oldest].request, err));
        if (!done)
            return DT_OK;
        flow->oldest = (flow->oldest + 1) % DT_PACK_BUFFERS;
        flow->busy--;
    }
    return DT_OK;
}

static dt_status
advance_sends(dt_mover *mover, dt_error *err)
{
    for (int k = 0; k < mover->send_active;) {
        dt_flow *flow = &mover->sends[k];
        DT_TRY(collect_sent(mover, flow, err));
        while (flow->busy < DT_MESSAGES_AT_ONCE && !dt_cursor_ended(&flow->cursor))
            DT_TRY(send_message(mover, flow, err));
        if (flow->busy > 0) {
            k++;
        } else if (mover->send_next < mover->round->send_count) {
            flow_begin(flow, &mover->round->sends[mover->send_next++]);
        } else {
            dt_flow last = mover->sends[--mover->send_active];
            mover->sends[mover->send_active] = *flow; /* keeps its buffers */
            *flow = last;
        }
    }
    return DT_OK;
}

/* --- receiving --- */

static dt_status
receive_message(dt_mover *mover, dt_flow *flow, dt_error *err)
{
    slot *s = &flow->slots[(flow->oldest + flow->busy) % DT_MESSAGES_AT_ONCE];
    dt_box box, more;
    s->from = flow->cursor;
    dt_cursor_next(&box, &flow->cursor, 0, 0);
    size_t itemsize = box.lane->itemsize;
    s->bytes = box_bytes(&box);
    bool filling = dt_cursor_next(&more, &flow->cursor, s->bytes, itemsize);
    s->direct = !filling && !mover->round->reduced &&
                dt_box_contiguous(&box, box.lane->dst_stride);
    while (filling) {
        s->bytes += box_bytes(&more);
        filling = dt_cursor_next(&more, &flow->cursor, s->bytes, itemsize);
    }
    char *data = s->direct ? box.lane->dst + dt_box_offset(&box, box.lane->dst_stride)
                           : s->buffer;
    flow->busy++;
    return dt_post_receive(&s->request, mover->group, data, s->bytes,
                           flow->stream->place, mover->phase, err);
}

static void
unpack_message(slot *s)
{
    dt_box box;
    for (size_t used = 0; !s->direct && used < s->bytes; used += box_bytes(&box)) {
        size_t itemsize = used > 0 ? box.lane->itemsize : 0;
        dt_cursor_next(&box, &s->from, used, itemsize);
        unpack(&box, s->buffer + used);
    }
}

static dt_status
advance_receives(dt_mover *mover, dt_error *err)
{
    for (int k = 0; k < mover->receive_active;) {
        dt_flow *flow = &mover->receives[k];
        while (flow->busy < DT_MESSAGES_AT_ONCE && !dt_cursor_ended(&flow->cursor))
            DT_TRY(receive_message(mover, flow, err));
        bool done = flow->busy > 0;
        while (done && flow->busy > 0) {
            slot *s = &flow->slots[flow->oldest];
            DT_TRY(dt_test(&done, mover->group, &s->request, err));
            if (!done)
                break;
            unpack_message(s);
            flow->oldest = (flow->oldest + 1) % DT_MESSAGES_AT_ONCE;
            flow->busy--;
            if (!dt_cursor_ended(&flow->cursor))
                DT_TRY(receive_message(mover, flow, err));
        }
        if (flow->busy > 0) {
            k++;
        } else if (mover->receive_next < mover->round->receive_count) {
            flow_begin(flow, &mover->round->receives[mover->receive_next++]);
        } else {
            dt_flow last = mover->receives[--mover->receive_active];
            mover->receives[mover->receive_active] = *flow;
            *flow = last;
        }
    }
    return DT_OK;
}

/* --- summing: the same slice of all addends, in the order of the ranks --- */

static bool
aligned(const void *data, const dt_lane *lane)
{
    size_t unit = lane->itemsize < 16 ? lane->itemsize : 16;
    return (uintptr_t)data % unit == 0;
}

static void
combine_box(dt_mover *mover, const dt_box *to, const dt_box *own, int slot_index,
            size_t used)
{
    const dt_round *round = mover->round;
    const dt_lane *lane = to->lane;
    int n = 0;
    const char *mine = lane->src + dt_box_offset(own, lane->src_stride);
    char *spare = mover->spare;
    if (!dt_box_contiguous(own, lane->src_stride) || !aligned(mine, lane)) {
        pack(spare, own);
        mine = spare;
    }
    for (int k = 0; k < mover->receive_active; k++) {
        const dt_flow *flow = &mover->receives[k];
        if (n == k && flow->stream->order > round->order)
            mover->addends[n++] = mine;
        mover->addends[n++] = flow->slots[slot_index].buffer + used;
    }
    if (n == mover->receive_active)
        mover->addends[n++] = mine;
    bool direct = dt_box_contiguous(to, lane->dst_stride);
    char *out = direct ? lane->dst + dt_box_offset(to, lane->dst_stride)
                       : spare + mover->buffer_bytes;
    dt_reduce(lane->dtype, round->op, out, mover->addends, n, round->divisor,
              to->elements);
    if (!direct)
        unpack(to, out);
}

static void
combine_message(dt_mover *mover, int slot_index)
{
    slot *s = &mover->receives[0].slots[slot_index];
    dt_box to, own;
    for (size_t used = 0; used < s->bytes; used += box_bytes(&to)) {
        size_t itemsize = used > 0 ? to.lane->itemsize : 0;
        dt_cursor_next(&to, &s->from, used, itemsize);
        dt_cursor_next(&own, &mover->own_src, used, itemsize);
        combine_box(mover, &to, &own, slot_index, used);
    }
}

static dt_status
advance_sums(dt_mover *mover, dt_error *err)
{
    int n = mover->receive_active;
    if (n == 0)
        return DT_OK;
    dt_flow *first = &mover->receives[0];
    for (;;) {
        while (first->busy < DT_MESSAGES_AT_ONCE && !dt_cursor_ended(&first->cursor))
            for (int k = n - 1; k >= 0; k--) /* the first one last: it is looked at */
                DT_TRY(receive_message(mover, &mover->receives[k], err));
        if (first->busy == 0) {
            mover->receive_active = 0;
            return DT_OK;
        }
        for (; mover->arrived < n; mover->arrived++) {
            dt_flow *flow = &mover->receives[mover->arrived];
            bool done;
            DT_TRY(
                dt_test(&done, mover->group, &flow->slots[flow->oldest].request, err));
            if (!done)
                return DT_OK;
        }
        combine_message(mover, first->oldest);
        mover->arrived = 0;
        for (int k = 0; k < n; k++) {
            mover->receives[k].oldest =
                (mover->receives[k].oldest + 1) % DT_MESSAGES_AT_ONCE;
            mover->receives[k].busy--;
        }
    }
}

/* --- the whole --- */

static dt_status
post_receives(dt_mover *mover, dt_error *err)
{
    for (int k = mover->receive_active - 1; k >= 0; k--) {
        dt_flow *flow = &mover->receives[k];
        while (flow->busy < DT_MESSAGES_AT_ONCE && !dt_cursor_ended(&flow->cursor))
            DT_TRY(receive_message(mover, flow, err));
    }
    return DT_OK;
}

/* Copies the next box of what stays on this rank. */
static void
advance_own(dt_mover *mover)
{
    dt_box from, to;
    if (!dt_cursor_next(&from, &mover->own_src, 0, 0) ||
        !dt_cursor_next(&to, &mover->own_dst, 0, 0))
        return;
    const dt_lane *lane = from.lane;
    dt_copy_box(lane->dst + dt_box_offset(&to, lane->dst_stride), lane->dst_stride,
                lane->src + dt_box_offset(&from, lane->src_stride), lane->src_stride,
                lane->ndim, from.size, lane->itemsize);
}

dt_status
dt_mover_begin(dt_mover *mover, const dt_round *round, uint64_t number, dt_error *err)
{
    mover->round = round;
    mover->phase = DT_PHASE_DATA + (int)(number & 7);
    mover->arrived = 0;
    mover->send_active = flow_room(round, round->send_count, false);
    mover->receive_active = flow_room(round, round->receive_count, true);
    mover->send_next = mover->send_active;
    mover->receive_next = mover->receive_active;
    for (int k = 0; k < mover->send_active; k++)
        flow_begin(&mover->sends[k], &round->sends[k]);
    for (int k = 0; k < mover->receive_active; k++)
        flow_begin(&mover->receives[k], &round->receives[k]);
    dt_cursor_begin(&mover->own_src, &round->own_src);
    dt_cursor_begin(&mover->own_dst, &round->own_dst);
    dt_counter *counter = &mover->group->world->counters[round->kind];
    counter->calls += round->counts;
    counter->messages += round->send_count;
    /* All is posted before MPI is asked for what has come: it would copy that first,
     * while the others wait for what this rank sends. */
    DT_TRY(post_receives(mover, err));
    return advance_sends(mover, err);
}

dt_status
dt_mover_advance(bool *done, dt_mover *mover, dt_error *err)
{
    bool reduced = mover->round->reduced;
    if (mover->receive_active > 0)
        DT_TRY(reduced ? advance_sums(mover, err) : advance_receives(mover, err));
    if (mover->send_active > 0)
        DT_TRY(advance_sends(mover, err));
    bool own_ended = reduced || dt_cursor_ended(&mover->own_src);
    if (!own_ended)
        advance_own(mover);
    *done = own_ended && mover->receive_active == 0 && mover->send_active == 0;
    return DT_OK;
}

static bool
abandon_flows(dt_mover *mover, dt_flow *flows, int count)
{
    bool free_now = true;
    for (int k = 0; k < count; k++)
        for (int s = 0; s < DT_PACK_BUFFERS; s++)
            if (flows[k].slots[s].request.handle != NULL &&
                !dt_cancel(mover->group, &flows[k].slots[s].request))
                free_now = false;
    return free_now;
}

bool
dt_mover_abandon(dt_mover *mover)
{
    bool sent = abandon_flows(mover, mover->sends, mover->send_room);
    bool received = abandon_flows(mover, mover->receives, mover->receive_room);
    return sent && received;
}
