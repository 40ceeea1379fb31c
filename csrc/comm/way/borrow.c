/* Reading what others have for this rank, straight from their arrays, and summing it. */
#include "comm/way/reading.h"

#include "core/memory/copy.h"
#include "kernels/reduce.h"

enum {
    SUM_BYTES = 1 << 18,  /* of an addend at a time: they stay in the cache */
    FETCH_BYTES = 4 << 20 /* of a box that is fetched at a time */
};

/* Buffers for sums: for each addend that is not contiguous, and two for such a result,
 * which may be float32 of 16-bit floats. */
void
dt_borrow_prepare(dt_leg *leg, dt_reading *r, int64_t scratch)
{
    const dt_round *round = &leg->rounds[0];
    if (!round->reduced)
        return;
    size_t buffers = (size_t)round->receive_count + 3;
    int64_t most = scratch > 0 ? scratch : DT_SCRATCH_BYTES;
    int64_t share = most / (int64_t)buffers / 64 * 64;
    r->slice = share < 64 ? 64 : share > SUM_BYTES ? SUM_BYTES : (size_t)share;
    leg->room = buffers * r->slice;
}

/* Array of an owner of the round. */
typedef struct {
    dt_transport *transport;
    int rank;
    const char *address; /* there */
    const char *here;    /* where it can be read; NULL: it must be fetched */
    const int64_t *stride;
} source;

static dt_status
look_up(source *out, const dt_leg *leg, const dt_reading *r, int64_t k,
        const dt_array *array, dt_error *err)
{
    const dt_round *round = &leg->rounds[r->at];
    dt_transport *t = leg->group->world->transport;
    const int64_t *word = r->owners[k].words + 1;
    for (const dt_array *before = round->arrays; before < array; before++)
        word += 1 + before->ndim;
    out->transport = t;
    out->rank = leg->group->ranks[round->receives[k].place];
    out->address = (const char *)(intptr_t)word[0];
    out->here = r->here ? out->address : t->table->reach(t, out->rank, out->address);
    out->stride = word + 1;
    if (out->here == NULL && t->table->fetch == NULL)
        return dt_fail(err, DT_BUG, "memory of rank %d cannot be read", out->rank);
    return DT_OK;
}

static dt_status
fetch(void *dst, const int64_t *dst_stride, const source *from, const dt_box *box,
      dt_error *err)
{
    dt_transport *t = from->transport;
    const dt_array *array = box->array;
    return t->table->fetch(t, from->rank, dst, dst_stride,
                           from->address + dt_box_offset(box, from->stride),
                           from->stride, array->ndim, box->size, array->itemsize, err);
}

/* The parts of a queue of one array, box by box. */
static dt_status
fetch_part(const source *from, const dt_part *part, dt_error *err)
{
    dt_queue queue = {.count = 1, .parts = part, .capacity = FETCH_BYTES};
    const dt_ends *ends = &part->array->ends;
    dt_cursor cursor;
    dt_box to, there;
    dt_cursor_begin(&cursor, &queue);
    while (dt_cursor_next(&to, &there, &cursor, 0, 0))
        DT_TRY(fetch(ends->dst + dt_box_offset(&to, ends->dst_stride), ends->dst_stride,
                     from, &there, err));
    return DT_OK;
}

/* What comes with the words is packed: the elements of a queue, part after part. */
static void
unpack(const dt_queue *queue, const char *packed)
{
    for (int p = 0; p < queue->count; p++) {
        const dt_array *array = queue->parts[p].array;
        const dt_piece *piece = queue->parts[p].piece;
        dt_piece_unpack(array->ends.dst, array->ends.dst_stride, packed, piece,
                        array->ndim, array->itemsize);
        packed += piece->elements * (int64_t)array->itemsize;
    }
}

dt_status
dt_borrow(const dt_leg *leg, const dt_reading *r, int64_t k, dt_error *err)
{
    const dt_queue *queue = &leg->rounds[r->at].receives[k];
    if (r->owners[k].enclosed) {
        unpack(queue, (const char *)(r->owners[k].words + 1));
        return DT_OK;
    }
    for (int p = 0; p < queue->count; p++) {
        const dt_part *part = &queue->parts[p];
        const dt_array *array = part->array;
        source from;
        DT_TRY(look_up(&from, leg, r, k, array, err));
        if (from.here == NULL)
            DT_TRY(fetch_part(&from, part, err));
        else
            dt_piece_copy(array->ends.dst, array->ends.dst_stride, from.here,
                          from.stride, part->piece, array->ndim, array->itemsize);
    }
    return DT_OK;
}

void
dt_borrow_own(const dt_round *round)
{
    for (int p = 0; p < round->own.count; p++) {
        const dt_array *array = round->own.parts[p].array;
        const dt_ends *ends = &array->ends;
        dt_piece_copy(ends->dst, ends->dst_stride, ends->src, ends->src_stride,
                      round->own.parts[p].piece, array->ndim, array->itemsize);
    }
}

/* --- summing --- */

/* An addend of a box: where it lies, or a copy of it that is contiguous. */
static const void *
addend_of(char *buffer, const dt_box *box, const char *src, const int64_t *stride)
{
    const dt_array *array = box->array;
    size_t unit = array->itemsize < 16 ? array->itemsize : 16;
    int64_t packed[DT_MAX_NDIM];
    src += dt_box_offset(box, stride);
    if (dt_box_contiguous(box, stride) && (uintptr_t)src % unit == 0)
        return src;
    dt_box_strides(packed, box);
    dt_copy_box(buffer, packed, src, stride, array->ndim, box->size, array->itemsize);
    return buffer;
}

/* `done`: bytes of the queue before this box. */
static dt_status
borrow_addend(const void **out, char *buffer, const dt_leg *leg, const dt_reading *r,
              int64_t k, const dt_box *box, size_t done, dt_error *err)
{
    source from;
    if (r->owners[k].enclosed) {
        int64_t stride[DT_MAX_NDIM];
        const char *packed = (const char *)(r->owners[k].words + 1) + done;
        dt_box_strides(stride, box);
        *out = addend_of(buffer, box, packed - dt_box_offset(box, stride), stride);
        return DT_OK;
    }
    DT_TRY(look_up(&from, leg, r, k, box->array, err));
    *out = buffer;
    if (from.here != NULL) {
        *out = addend_of(buffer, box, from.here, from.stride);
        return DT_OK;
    }
    int64_t packed[DT_MAX_NDIM];
    dt_box_strides(packed, box);
    return fetch(buffer, packed, &from, box, err);
}

/* Sums a box: it lies alike on all ranks, as `there`, but for the strides. */
static dt_status
sum_box(const dt_leg *leg, const dt_reading *r, dt_box *to, const dt_box *there,
        size_t done, dt_error *err)
{
    const dt_round *round = &leg->rounds[r->at];
    const dt_array *array = to->array;
    const dt_ends *ends = &array->ends;
    char *buffer = leg->buffers;
    int n = 0;
    bool own = false;
    for (int64_t k = 0; k <= round->receive_count; k++) {
        bool last = k == round->receive_count;
        if (!own && (last || round->receives[k].order > round->order)) {
            r->addends[n++] = addend_of(buffer, there, ends->src, ends->src_stride);
            buffer += r->slice;
            own = true;
        }
        if (last)
            break;
        DT_TRY(borrow_addend(&r->addends[n++], buffer, leg, r, k, there, done, err));
        buffer += r->slice;
    }
    to->array = array->made;
    char *out = ends->dst + dt_box_offset(to, ends->dst_stride);
    bool direct = dt_box_contiguous(to, ends->dst_stride);
    (array->made != array ? dt_reduce_wide : dt_reduce)(
        array->dtype, round->op, direct ? out : buffer, r->addends,
        round->reduced_lengths, round->reduced_ndim, round->divisor, to->elements);
    if (!direct) {
        int64_t packed[DT_MAX_NDIM];
        dt_box_strides(packed, to);
        dt_copy_box(out, ends->dst_stride, buffer, packed, array->ndim, to->size,
                    array->made->itemsize);
    }
    to->array = array;
    return DT_OK;
}

dt_status
dt_borrow_sum(const dt_leg *leg, const dt_reading *r, dt_error *err)
{
    dt_queue own = leg->rounds[r->at].own;
    own.capacity = r->slice;
    dt_cursor cursor;
    dt_box to, there;
    size_t done = 0;
    dt_cursor_begin(&cursor, &own);
    while (dt_cursor_next(&to, &there, &cursor, 0, 0)) {
        DT_TRY(sum_box(leg, r, &to, &there, done, err));
        done += dt_box_bytes(&to);
    }
    return DT_OK;
}
