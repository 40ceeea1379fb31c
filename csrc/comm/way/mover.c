/* Moving the messages of a round: a progress engine that never waits.
 *
 * A channel is a queue of which up to two messages are under way. Sending packs the next
 * slice while the one before is on its way; receiving unpacks one while the next arrives.
 * Channels to the nearest peers come first, on both sides, so pairs meet in the same
 * order and no rank is talked to by all at once. Where addends are summed, a slice of all
 * of them is awaited and combined by one tree, whatever came first: equal bits
 * everywhere. What stays on the rank is copied in between, a box at a time. Costs:
 * nothing is allocated here, buffers are the leg's; each call looks at every message that
 * is under way. */
#include "comm/way/mover.h"

#include "core/memory/copy.h"
#include "kernels/reduce.h"

#include <stdlib.h>
#include <string.h>

enum { SPARE = 3 }; /* a result may be float32, of 16-bit floats */

/* A message under way. */
typedef struct {
    dt_request request;
    char *buffer;
    size_t bytes;
    dt_cursor from; /* receiving: where its boxes begin */
    bool direct;    /* sent from, or received into, the array itself */
} message;

struct dt_channel {
    const dt_queue *queue;
    dt_cursor cursor;
    message
        messages[DT_PACK_BUFFERS]; /* of a receiving one DT_MESSAGES_AT_ONCE are used */
    int oldest, busy;
};

/* Bytes of a pack buffer that suffices for a round. */
static size_t
buffer_bytes(const dt_round *round)
{
    int64_t most = 0;
    for (int64_t k = 0; k < round->send_count + round->receive_count; k++) {
        const dt_queue *queue = k < round->send_count
                                    ? &round->sends[k]
                                    : &round->receives[k - round->send_count];
        int64_t bytes = queue->bytes;
        if (queue->capacity <= round->slice)
            most = bytes > most ? bytes : most;
    }
    size_t bytes = (size_t)most < round->slice ? (size_t)most : round->slice;
    size_t largest = sizeof(long double) * 2; /* a slice has room for one element */
    return ((bytes > largest ? bytes : largest) + 63) & ~(size_t)63;
}

static int
channel_room(const dt_round *round, int64_t queues, bool receiving)
{
    if (queues > DT_CHANNELS_AT_ONCE && !(receiving && round->reduced))
        return DT_CHANNELS_AT_ONCE;
    return (int)queues;
}

static void
place_buffers(dt_mover *mover, char *at)
{
    mover->spare = at;
    at += SPARE * mover->buffer_bytes;
    for (int k = 0; k < mover->send_room; k++)
        for (int s = 0; s < DT_PACK_BUFFERS; s++, at += mover->buffer_bytes)
            mover->sends[k].messages[s].buffer = at;
    for (int k = 0; k < mover->receive_room; k++)
        for (int s = 0; s < DT_MESSAGES_AT_ONCE; s++, at += mover->buffer_bytes)
            mover->receives[k].messages[s].buffer = at;
}

dt_status
dt_mover_prepare(dt_mover *mover, dt_group *group, const dt_round *rounds, int count,
                 dt_error *err)
{
    *mover = (dt_mover){.group = group};
    size_t bytes = 0;
    for (int k = 0; k < count; k++) {
        const dt_round *round = &rounds[k];
        int sends = channel_room(round, round->send_count, false);
        int receives = channel_room(round, round->receive_count, true);
        size_t wanted = buffer_bytes(round);
        bytes = wanted > bytes ? wanted : bytes;
        mover->send_room = sends > mover->send_room ? sends : mover->send_room;
        mover->receive_room =
            receives > mover->receive_room ? receives : mover->receive_room;
    }
    size_t channels = (size_t)(mover->send_room + mover->receive_room);
    if (channels == 0)
        return DT_OK;
    mover->buffer_bytes = bytes;
    mover->room = bytes * ((size_t)(mover->send_room * DT_PACK_BUFFERS) +
                           (size_t)(mover->receive_room * DT_MESSAGES_AT_ONCE) + SPARE);
    mover->sends = calloc(channels, sizeof *mover->sends);
    mover->addends = calloc(channels + 1, sizeof *mover->addends);
    if (mover->sends == NULL || mover->addends == NULL)
        return dt_round_no_memory(err);
    mover->receives = mover->sends + mover->send_room;
    return DT_OK;
}

void
dt_mover_free(dt_mover *mover)
{
    free(mover->sends);
    free(mover->addends);
    *mover = (dt_mover){0};
}

static void
channel_begin(dt_channel *channel, const dt_queue *queue)
{
    channel->queue = queue;
    channel->oldest = channel->busy = 0;
    dt_cursor_begin(&channel->cursor, queue);
}

/* Where a box is in the source, and where in the result. */
static const char *
box_src(const dt_box *box)
{
    const dt_ends *ends = &box->array->ends;
    return ends->src + dt_box_offset(box, ends->src_stride);
}

static char *
box_dst(const dt_box *box)
{
    const dt_ends *ends = &box->array->ends;
    return ends->dst + dt_box_offset(box, ends->dst_stride);
}

static void
pack(char *out, const dt_box *box)
{
    const dt_array *array = box->array;
    int64_t stride[DT_MAX_NDIM];
    dt_box_strides(stride, box);
    dt_copy_box(out, stride, box_src(box), array->ends.src_stride, array->ndim,
                box->size, array->itemsize);
}

static void
unpack(const dt_box *box, const char *in)
{
    const dt_array *array = box->array;
    int64_t stride[DT_MAX_NDIM];
    dt_box_strides(stride, box);
    dt_copy_box(box_dst(box), array->ends.dst_stride, in, stride, array->ndim,
                box->size, array->itemsize);
}

/* --- sending --- */

static dt_status
send_message(dt_mover *mover, dt_channel *channel, dt_error *err)
{
    message *m =
        &channel->messages[(channel->oldest + channel->busy) % DT_PACK_BUFFERS];
    dt_box box, more;
    dt_cursor_next(&box, NULL, &channel->cursor, 0, 0);
    size_t itemsize = box.array->itemsize;
    const char *data = m->buffer;
    m->bytes = dt_box_bytes(&box);
    bool filling = dt_cursor_next(&more, NULL, &channel->cursor, m->bytes, itemsize);
    if (!filling && dt_box_contiguous(&box, box.array->ends.src_stride))
        data = box_src(&box);
    else
        pack(m->buffer, &box);
    while (filling) {
        pack(m->buffer + m->bytes, &more);
        m->bytes += dt_box_bytes(&more);
        filling = dt_cursor_next(&more, NULL, &channel->cursor, m->bytes, itemsize);
    }
    channel->busy++;
    mover->group->world->counters[mover->round->kind].bytes += (int64_t)m->bytes;
    return dt_post_send(&m->request, mover->group, data, m->bytes,
                        channel->queue->place, mover->phase, err);
}

/* Ends those of a channel's messages, from the oldest, that are done. */
static dt_status
collect_sent(dt_mover *mover, dt_channel *channel, dt_error *err)
{
    while (channel->busy > 0) {
        bool done;
        DT_TRY(dt_test(&done, mover->group, &channel->messages[channel->oldest].request,
                       err));
        if (!done)
            return DT_OK;
        channel->oldest = (channel->oldest + 1) % DT_PACK_BUFFERS;
        channel->busy--;
    }
    return DT_OK;
}

static dt_status
advance_sends(dt_mover *mover, dt_error *err)
{
    for (int k = 0; k < mover->send_active;) {
        dt_channel *channel = &mover->sends[k];
        DT_TRY(collect_sent(mover, channel, err));
        while (channel->busy < DT_MESSAGES_AT_ONCE &&
               !dt_cursor_ended(&channel->cursor))
            DT_TRY(send_message(mover, channel, err));
        if (channel->busy > 0) {
            k++;
        } else if (mover->send_next < mover->round->send_count) {
            channel_begin(channel, &mover->round->sends[mover->send_next++]);
        } else {
            dt_channel last = mover->sends[--mover->send_active];
            mover->sends[mover->send_active] = *channel; /* keeps its buffers */
            *channel = last;
        }
    }
    return DT_OK;
}

/* --- receiving --- */

static dt_status
receive_message(dt_mover *mover, dt_channel *channel, dt_error *err)
{
    message *m =
        &channel->messages[(channel->oldest + channel->busy) % DT_MESSAGES_AT_ONCE];
    dt_box box, more;
    m->from = channel->cursor;
    dt_cursor_next(&box, NULL, &channel->cursor, 0, 0);
    size_t itemsize = box.array->itemsize;
    m->bytes = dt_box_bytes(&box);
    bool filling = dt_cursor_next(&more, NULL, &channel->cursor, m->bytes, itemsize);
    m->direct = !filling && !mover->round->reduced &&
                dt_box_contiguous(&box, box.array->ends.dst_stride);
    while (filling) {
        m->bytes += dt_box_bytes(&more);
        filling = dt_cursor_next(&more, NULL, &channel->cursor, m->bytes, itemsize);
    }
    char *data = m->direct ? box_dst(&box) : m->buffer;
    channel->busy++;
    return dt_post_receive(&m->request, mover->group, data, m->bytes,
                           channel->queue->place, mover->phase, err);
}

static void
unpack_message(message *m)
{
    dt_box box;
    for (size_t used = 0; !m->direct && used < m->bytes; used += dt_box_bytes(&box)) {
        size_t itemsize = used > 0 ? box.array->itemsize : 0;
        dt_cursor_next(&box, NULL, &m->from, used, itemsize);
        unpack(&box, m->buffer + used);
    }
}

static dt_status
advance_receives(dt_mover *mover, dt_error *err)
{
    for (int k = 0; k < mover->receive_active;) {
        dt_channel *channel = &mover->receives[k];
        while (channel->busy < DT_MESSAGES_AT_ONCE &&
               !dt_cursor_ended(&channel->cursor))
            DT_TRY(receive_message(mover, channel, err));
        bool done = channel->busy > 0;
        while (done && channel->busy > 0) {
            message *m = &channel->messages[channel->oldest];
            DT_TRY(dt_test(&done, mover->group, &m->request, err));
            if (!done)
                break;
            unpack_message(m);
            channel->oldest = (channel->oldest + 1) % DT_MESSAGES_AT_ONCE;
            channel->busy--;
            if (!dt_cursor_ended(&channel->cursor))
                DT_TRY(receive_message(mover, channel, err));
        }
        if (channel->busy > 0) {
            k++;
        } else if (mover->receive_next < mover->round->receive_count) {
            channel_begin(channel, &mover->round->receives[mover->receive_next++]);
        } else {
            dt_channel last = mover->receives[--mover->receive_active];
            mover->receives[mover->receive_active] = *channel;
            *channel = last;
        }
    }
    return DT_OK;
}

/* --- summing: the same slice of all addends, by one tree --- */

static bool
aligned(const void *data, const dt_array *array)
{
    size_t unit = array->itemsize < 16 ? array->itemsize : 16;
    return (uintptr_t)data % unit == 0;
}

static void
combine_box(dt_mover *mover, dt_box *to, const dt_box *own, int which, size_t used)
{
    const dt_round *round = mover->round;
    const dt_array *array = to->array;
    int n = 0;
    const char *mine = box_src(own);
    char *spare = mover->spare;
    if (!dt_box_contiguous(own, array->ends.src_stride) || !aligned(mine, array)) {
        pack(spare, own);
        mine = spare;
    }
    for (int k = 0; k < mover->receive_active; k++) {
        const dt_channel *channel = &mover->receives[k];
        if (n == k && channel->queue->order > round->order)
            mover->addends[n++] = mine;
        mover->addends[n++] = channel->messages[which].buffer + used;
    }
    if (n == mover->receive_active)
        mover->addends[n++] = mine;
    to->array = array->made;
    bool direct = dt_box_contiguous(to, array->ends.dst_stride);
    char *out = direct ? box_dst(to) : spare + mover->buffer_bytes;
    const dt_reduction how = dt_round_reduction(round, array, to->elements);
    dt_reduce(&how, out, mover->addends);
    if (!direct)
        unpack(to, out);
    to->array = array;
}

static void
combine_message(dt_mover *mover, int which)
{
    message *m = &mover->receives[0].messages[which];
    dt_box to, own;
    for (size_t used = 0; used < m->bytes; used += dt_box_bytes(&to)) {
        size_t itemsize = used > 0 ? to.array->itemsize : 0;
        dt_cursor_next(&to, &own, &mover->own, used, itemsize);
        combine_box(mover, &to, &own, which, used);
    }
}

static dt_status
advance_sums(dt_mover *mover, dt_error *err)
{
    int n = mover->receive_active;
    if (n == 0)
        return DT_OK;
    dt_channel *first = &mover->receives[0];
    for (;;) {
        while (first->busy < DT_MESSAGES_AT_ONCE && !dt_cursor_ended(&first->cursor))
            for (int k = n - 1; k >= 0; k--) /* the first one last: it is looked at */
                DT_TRY(receive_message(mover, &mover->receives[k], err));
        if (first->busy == 0) {
            mover->receive_active = 0;
            return DT_OK;
        }
        for (; mover->arrived < n; mover->arrived++) {
            dt_channel *channel = &mover->receives[mover->arrived];
            bool done;
            DT_TRY(dt_test(&done, mover->group,
                           &channel->messages[channel->oldest].request, err));
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
        dt_channel *channel = &mover->receives[k];
        while (channel->busy < DT_MESSAGES_AT_ONCE &&
               !dt_cursor_ended(&channel->cursor))
            DT_TRY(receive_message(mover, channel, err));
    }
    return DT_OK;
}

/* Copies the next box of what stays on this rank. */
static void
advance_own(dt_mover *mover)
{
    dt_box to, from;
    if (!dt_cursor_next(&to, &from, &mover->own, 0, 0))
        return;
    const dt_array *array = to.array;
    dt_copy_box(box_dst(&to), array->ends.dst_stride, box_src(&from),
                array->ends.src_stride, array->ndim, to.size, array->itemsize);
}

dt_status
dt_mover_begin(dt_mover *mover, const dt_round *round, char *buffers, uint64_t number,
               dt_error *err)
{
    place_buffers(mover, buffers);
    mover->round = round;
    mover->phase = DT_PHASE_DATA + (int)(number & 7);
    mover->arrived = 0;
    mover->send_active = channel_room(round, round->send_count, false);
    mover->receive_active = channel_room(round, round->receive_count, true);
    mover->send_next = mover->send_active;
    mover->receive_next = mover->receive_active;
    for (int k = 0; k < mover->send_active; k++)
        channel_begin(&mover->sends[k], &round->sends[k]);
    for (int k = 0; k < mover->receive_active; k++)
        channel_begin(&mover->receives[k], &round->receives[k]);
    dt_cursor_begin(&mover->own, &round->own);
    mover->group->world->counters[round->kind].messages += round->send_count;
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
    bool own_ended = reduced || dt_cursor_ended(&mover->own);
    if (!own_ended)
        advance_own(mover);
    *done = own_ended && mover->receive_active == 0 && mover->send_active == 0;
    return DT_OK;
}

static bool
abandon_channels(dt_mover *mover, dt_channel *channels, int count)
{
    bool free_now = true;
    for (int k = 0; k < count; k++)
        for (int s = 0; s < DT_PACK_BUFFERS; s++)
            if (channels[k].messages[s].request.handle != NULL &&
                !dt_cancel(mover->group, &channels[k].messages[s].request))
                free_now = false;
    return free_now;
}

bool
dt_mover_abandon(dt_mover *mover)
{
    bool sent = abandon_channels(mover, mover->sends, mover->send_room);
    bool received = abandon_channels(mover, mover->receives, mover->receive_room);
    return sent && received;
}
