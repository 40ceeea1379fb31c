/* Cutting queues into messages: the same cuts on both sides, whatever the strides.
 *
 * A piece is a product of lists of segments, one list per dimension. The trailing
 * dimensions that are one segment each and together fit into a message go whole; the
 * dimension before them is cut into slices, and those before that one by one. So each cut
 * is a box on either side: one strided copy packs it, one unpacks it, and the cut depends
 * only on the sizes of segments and the capacity, which both sides know. The cursor is
 * where the next box begins; it costs as much as a box has dimensions. */
#include "comm/way/round.h"

#include <string.h>

/* The first dimension that is cut: all behind it go whole, in one segment each, and
 * together fit into a message. */
static void
choose_split(dt_cursor *cursor)
{
    const dt_part *part = &cursor->queue->parts[cursor->part];
    const dt_piece *piece = part->piece;
    int64_t room = (int64_t)(cursor->queue->capacity / part->array->itemsize);
    cursor->inner = 1;
    cursor->split = part->array->ndim - 1;
    while (cursor->split >= 0 && piece->counts[cursor->split] == 1 &&
           cursor->inner * piece->size[cursor->split] <= room)
        cursor->inner *= piece->size[cursor->split--];
    memset(cursor->at, 0, sizeof *cursor->at * (size_t)(cursor->split + 1));
    memset(cursor->segment, 0, sizeof *cursor->segment * (size_t)(cursor->split + 1));
}

void
dt_cursor_begin(dt_cursor *cursor, const dt_queue *queue)
{
    cursor->queue = queue;
    cursor->part = 0;
    if (queue->count > 0)
        choose_split(cursor);
}

bool
dt_cursor_ended(const dt_cursor *cursor)
{
    return cursor->part == cursor->queue->count;
}

static void
next_part(dt_cursor *cursor)
{
    if (++cursor->part < cursor->queue->count)
        choose_split(cursor);
}

/* Goes `count` elements on along the split dimension. */
static void
go_on(dt_cursor *cursor, const dt_piece *piece, int64_t count)
{
    int d = cursor->split;
    cursor->at[d] += count;
    while (d >= 0 && cursor->at[d] == piece->segments[d][cursor->segment[d]].size) {
        cursor->at[d] = 0;
        if (++cursor->segment[d] < piece->counts[d])
            return;
        cursor->segment[d--] = 0;
        if (d >= 0)
            cursor->at[d]++;
    }
    if (d < 0)
        next_part(cursor);
}

bool
dt_cursor_next(dt_box *box, dt_box *theirs, dt_cursor *cursor, size_t used,
               size_t itemsize)
{
    if (dt_cursor_ended(cursor))
        return false;
    const dt_part *part = &cursor->queue->parts[cursor->part];
    const dt_piece *piece = part->piece;
    size_t size = part->array->itemsize;
    if (used > 0 && size != itemsize)
        return false; /* elements of a message are all aligned alike */
    size_t capacity = cursor->queue->capacity;
    int64_t room = used < capacity ? (int64_t)((capacity - used) / size) : 0;
    int k = cursor->split;
    int64_t take = room / cursor->inner;
    if (take == 0)
        return false;
    box->array = part->array;
    if (theirs != NULL)
        theirs->array = part->array;
    for (int d = 0; d < part->array->ndim; d++) {
        const dt_segment *segment =
            &piece->segments[d][d <= k ? cursor->segment[d] : 0];
        int64_t at = d <= k ? cursor->at[d] : 0;
        box->start[d] = segment->offset + at;
        box->size[d] = d < k ? 1 : segment->size - at;
        if (d == k && box->size[d] > take)
            box->size[d] = take;
        if (theirs != NULL) {
            theirs->start[d] = segment->theirs + at;
            theirs->size[d] = box->size[d];
        }
    }
    box->elements = k < 0 ? cursor->inner : box->size[k] * cursor->inner;
    if (theirs != NULL)
        theirs->elements = box->elements;
    if (k < 0)
        next_part(cursor);
    else
        go_on(cursor, piece, box->size[k]);
    return true;
}

int64_t
dt_box_run(const dt_box *box, const int64_t *stride)
{
    int64_t run = 1, itemsize = (int64_t)box->array->itemsize;
    for (int d = box->array->ndim - 1; d >= 0; d--) {
        if (box->size[d] != 1 && stride[d] != run * itemsize)
            break;
        run *= box->size[d];
    }
    return run;
}

bool
dt_box_contiguous(const dt_box *box, const int64_t *stride)
{
    return dt_box_run(box, stride) == box->elements;
}

int64_t
dt_box_offset(const dt_box *box, const int64_t *stride)
{
    int64_t offset = 0;
    for (int d = 0; d < box->array->ndim; d++)
        offset += box->start[d] * stride[d];
    return offset;
}

void
dt_box_strides(int64_t *out, const dt_box *box)
{
    int64_t expected = (int64_t)box->array->itemsize;
    for (int d = box->array->ndim - 1; d >= 0; d--) {
        out[d] = expected;
        expected *= box->size[d];
    }
}

size_t
dt_box_bytes(const dt_box *box)
{
    return (size_t)box->elements * box->array->itemsize;
}

bool
dt_round_wants_order(const dt_round *round, int k, const int64_t *stride)
{
    const dt_array *array = &round->arrays[k];
    if (round->flat)
        return true;
    for (int64_t i = 0; i < round->send_count; i++) {
        const dt_queue *queue = &round->sends[i];
        if (queue->capacity <= round->slice || queue->parts[0].array != array)
            continue;
        dt_cursor cursor;
        dt_box box;
        dt_cursor_begin(&cursor, queue);
        while (dt_cursor_next(&box, NULL, &cursor, 0, 0))
            if (!dt_box_contiguous(&box, stride))
                return true;
    }
    return false;
}
