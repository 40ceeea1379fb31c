/* Reading what others have for this rank, straight from their arrays, and summing it. */
#include "comm/way/reading.h"

#include "core/memory/copy.h"
#include "kernels/reduce.h"

#include <stdlib.h>
#include <string.h>

enum {
    SUM_BYTES = 1 << 18,  /* of an addend at a time: they stay in the cache */
    ROW_BYTES = 256,      /* shorter rows are copied before they are summed */
    FETCH_BYTES = 4 << 20 /* of a box that is fetched at a time */
};

/* Buffers for sums: for each addend that is copied, and two for such a result, which may
 * be float32 of 16-bit floats. */
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

bool
dt_borrow_make(dt_reading *r, size_t addends)
{
    r->addends = calloc(addends, sizeof *r->addends);
    r->rows = calloc(addends, sizeof *r->rows);
    r->row_strides = calloc(addends, sizeof *r->row_strides);
    return r->addends != NULL && r->rows != NULL && r->row_strides != NULL;
}

void
dt_borrow_free(dt_reading *r)
{
    free(r->addends);
    free(r->rows);
    free(r->row_strides);
}

/* Whether a box is summed from, or to, where it lies: in rows that are not short. */
static bool
in_rows(const dt_box *box, const char *at, const int64_t *stride)
{
    const dt_array *array = box->array;
    size_t unit = array->itemsize < 16 ? array->itemsize : 16;
    uint64_t bits = (uintptr_t)at;
    for (int d = 0; d < array->ndim; d++)
        bits |= box->size[d] == 1 ? 0 : (uint64_t)stride[d];
    int64_t run = dt_box_run(box, stride);
    return bits % unit == 0 &&
           (run == box->elements || run * (int64_t)array->itemsize >= ROW_BYTES);
}

/* A box that is being summed. */
typedef struct {
    const dt_leg *leg;
    const dt_reading *r;
    const dt_box *box;           /* in the arrays of the addends */
    size_t done;                 /* bytes of the queue before it */
    int64_t packed[DT_MAX_NDIM]; /* strides of a copy */
    int count;                   /* of addends that are listed */
    char *buffer;                /* for the next copy */
} summing;

static void
list(summing *s, const char *at, const int64_t *stride)
{
    s->r->addends[s->count++] = (dt_addend){at, stride};
    s->buffer += s->r->slice;
}

/* Lists an addend of this rank, or of one whose memory can be read. */
static void
list_here(summing *s, const char *src, const int64_t *stride)
{
    const dt_box *box = s->box;
    src += dt_box_offset(box, stride);
    if (in_rows(box, src, stride)) {
        list(s, src, stride);
        return;
    }
    dt_copy_box(s->buffer, s->packed, src, stride, box->array->ndim, box->size,
                box->array->itemsize);
    list(s, s->buffer, s->packed);
}

static dt_status
list_owner(summing *s, int64_t k, dt_error *err)
{
    const dt_owner *owner = &s->r->owners[k];
    source from;
    if (owner->enclosed) {
        const char *packed = (const char *)(owner->words + 1) + s->done;
        list_here(s, packed - dt_box_offset(s->box, s->packed), s->packed);
        return DT_OK;
    }
    DT_TRY(look_up(&from, s->leg, s->r, k, s->box->array, err));
    if (from.here != NULL) {
        list_here(s, from.here, from.stride);
        return DT_OK;
    }
    DT_TRY(fetch(s->buffer, s->packed, &from, s->box, err));
    list(s, s->buffer, s->packed);
    return DT_OK;
}

/* Combines what is listed, in the rows that all have, for each place of the dimensions
 * before them. */
static void
combine(dt_reduction *how, const summing *s, char *out, const int64_t *stride)
{
    const dt_box *box = s->box;
    const dt_reading *r = s->r;
    int64_t place[DT_MAX_NDIM];
    int outer = box->array->ndim;
    if (box->elements == 0)
        return;
    for (int64_t run = 1; run < how->count;)
        run *= box->size[--outer];
    while (outer > 0 && box->size[outer - 1] == 1)
        outer--;
    how->rows = outer == 0 ? 1 : box->size[--outer];
    how->out_stride = how->rows == 1 ? 0 : stride[outer];
    how->strides = r->row_strides;
    for (int k = 0; k < s->count; k++) {
        r->row_strides[k] = how->rows == 1 ? 0 : r->addends[k].stride[outer];
        r->rows[k] = r->addends[k].at;
    }
    memset(place, 0, sizeof *place * (size_t)outer);
    for (;;) {
        dt_reduce(how, out, r->rows);
        int d = outer - 1;
        for (; d >= 0; d--) {
            bool back = ++place[d] == box->size[d];
            int64_t by = back ? 1 - box->size[d] : 1;
            place[d] = back ? 0 : place[d];
            out += by * stride[d];
            for (int k = 0; k < s->count; k++)
                r->rows[k] = (const char *)r->rows[k] + by * r->addends[k].stride[d];
            if (!back)
                break;
        }
        if (d < 0)
            return;
    }
}

static int64_t
least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* Sums a box: it lies alike on all ranks, as s->box, but for the strides. */
static dt_status
sum_box(summing *s, dt_box *to, dt_error *err)
{
    const dt_reading *r = s->r;
    const dt_round *round = &s->leg->rounds[r->at];
    const dt_array *array = to->array;
    const dt_ends *ends = &array->ends;
    bool own = false;
    s->buffer = s->leg->buffers;
    s->count = 0;
    dt_box_strides(s->packed, s->box);
    for (int64_t k = 0; k <= round->receive_count; k++) {
        bool last = k == round->receive_count;
        if (!own && (last || round->receives[k].order > round->order)) {
            list_here(s, ends->src, ends->src_stride);
            own = true;
        }
        if (!last)
            DT_TRY(list_owner(s, k, err));
    }
    to->array = array->made;
    char *out = ends->dst + dt_box_offset(to, ends->dst_stride);
    bool direct = in_rows(to, out, ends->dst_stride);
    int64_t packed[DT_MAX_NDIM];
    dt_box_strides(packed, to);
    int64_t run = direct ? dt_box_run(to, ends->dst_stride) : to->elements;
    for (int k = 0; k < s->count; k++)
        run = least(run, dt_box_run(s->box, r->addends[k].stride));
    dt_reduction how = dt_round_reduction(round, array, run);
    combine(&how, s, direct ? out : s->buffer, direct ? ends->dst_stride : packed);
    if (!direct)
        dt_copy_box(out, ends->dst_stride, s->buffer, packed, array->ndim, to->size,
                    array->made->itemsize);
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
    summing s = {.leg = leg, .r = r, .box = &there};
    dt_cursor_begin(&cursor, &own);
    while (dt_cursor_next(&to, &there, &cursor, 0, 0)) {
        DT_TRY(sum_box(&s, &to, err));
        s.done += dt_box_bytes(&to);
    }
    return DT_OK;
}
