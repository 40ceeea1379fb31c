/* The way by reading: a rank copies what it needs straight from the others' arrays.
 *
 * Whoever has a piece for others tells them, in one small message each, where its arrays
 * lie and on which strides: any strides, nothing is packed. A reader copies its boxes
 * from there by one strided copy and answers that it has read. Where addends are summed,
 * it reads all of them, combines them by one tree, and writes the sum once: the same
 * association as by messages, so the same bits. A long all_reduce is two rounds: each
 * rank sums its chunk, then reads the others' sums. A round ends when all that read from
 * this rank have answered: nobody overwrites what others read.
 *
 * Costs: one pass over what is read, where messages take two or three; and two small
 * messages per pair and round, which tell but do not move, and so are not counted. The
 * bytes that others read count as bytes that this rank sends. After a failure between
 * telling and answering a peer may read at any time later: all memory must then stay. */
#include "comm/way/way.h"

#include "core/facts/hash.h"
#include "core/memory/copy.h"
#include "core/memory/memory.h"
#include "kernels/reduce.h"

#include <stdlib.h>
#include <string.h>

enum {
    SUM_BYTES = 1 << 18,   /* of an addend at a time: they stay in the cache */
    STAGE_BYTES = 1 << 18, /* of arrays at most that are copied to where others reach */
    STAGE_LEAST = 1 << 12  /* blocks of so many bytes lie there */
};

/* A rank that has something for this one. */
typedef struct {
    dt_request told, answer;
    const int64_t *words; /* what it tells, as `mine` */
    bool is_told, read;
} owner;

/* A rank that reads from this one. */
typedef struct {
    dt_request telling, answer;
    bool has_read;
    char word; /* its answer */
} reader;

typedef struct {
    int at; /* the round that moves */
    int phase;
    int64_t *mine; /* which arrays move, and for each its address and its strides */
    size_t bytes;  /* of that */
    int64_t *words;
    owner *owners;   /* one for each queue that this rank receives */
    reader *readers; /* one for each that it sends */
    bool copied;     /* what stays on this rank */
    size_t slice;
    const void **addends;
    size_t staged; /* bytes of the arrays to be read from here; 0: too many to copy */
} reading;

static bool
read_fits(const char **why, const dt_world *world, const dt_step *step)
{
    if (world == NULL || world->transport->table->reach == NULL ||
        !world->transport->shared_memory || step->kind == DT_STEP_LOCAL)
        return false;
    *why = world->transport->table->reached;
    return true;
}

/* --- preparing --- */

static size_t
words_of(const dt_leg *leg)
{
    size_t words = 1;
    for (int k = 0; k < leg->count; k++)
        words += 1 + (size_t)leg->rounds[0].arrays[k].ndim;
    return words;
}

/* The same on all ranks, and another one for arrays that lie otherwise: nobody reads
 * past the end of an array of a rank that is in another call (DTENSOR_CHECK=0). */
static int64_t
name_of(const dt_leg *leg)
{
    uint64_t hash = (uint64_t)leg->steps[0]->kind;
    for (int k = 0; k < leg->count; k++) {
        const uint64_t ends[] = {leg->steps[k]->from->hash, leg->steps[k]->to->hash};
        hash = dt_hash(hash, ends, sizeof ends);
    }
    return (int64_t)hash;
}

/* Of a copy of array `k`. */
static size_t
stage_bytes(const dt_leg *leg, int k)
{
    int rank = leg->group->world->transport->rank;
    size_t bytes = (size_t)dt_layout_bytes_at(leg->steps[k]->from, rank);
    return (bytes + 63) / 64 * 64;
}

/* Buffers for sums: for each addend that is not contiguous, and for such a result. */
static void
choose_room(dt_leg *leg, reading *r, int64_t scratch)
{
    const dt_round *round = &leg->rounds[0];
    if (!round->reduced)
        return;
    size_t buffers = (size_t)round->receive_count + 2;
    int64_t most = scratch > 0 ? scratch : DT_SCRATCH_BYTES;
    int64_t share = most / (int64_t)buffers / 64 * 64;
    r->slice = share < 64 ? 64 : share > SUM_BYTES ? SUM_BYTES : (size_t)share;
    leg->room = buffers * r->slice;
}

/* Room for a copy of small arrays that others cannot reach. */
static void
choose_stage(dt_leg *leg, reading *r)
{
    size_t bytes = 0;
    for (int k = 0; k < leg->count; k++)
        bytes += stage_bytes(leg, k);
    if (bytes > STAGE_BYTES || leg->rounds[0].send_count == 0)
        return;
    r->staged = bytes;
    leg->room = leg->room + bytes < STAGE_LEAST ? STAGE_LEAST : leg->room + bytes;
}

static dt_status
read_prepare(dt_leg *leg, int64_t scratch, dt_error *err)
{
    DT_TRY(dt_rounds_make(leg->rounds, &leg->round_count, leg->steps, leg->count, false,
                          leg->group, scratch, err));
    reading *r = leg->state = calloc(1, sizeof *r);
    if (r == NULL)
        return dt_round_no_memory(err);
    int64_t owners = 0, readers = 0;
    for (int k = 0; k < leg->round_count; k++) {
        const dt_round *round = &leg->rounds[k];
        owners = round->receive_count > owners ? round->receive_count : owners;
        readers = round->send_count > readers ? round->send_count : readers;
    }
    size_t words = words_of(leg), count = (size_t)owners + 1;
    r->bytes = words * sizeof *r->mine;
    r->mine = calloc(words * count, sizeof *r->mine);
    r->owners = calloc(count, sizeof *r->owners);
    r->readers = calloc((size_t)readers + 1, sizeof *r->readers);
    r->addends = calloc(count, sizeof *r->addends);
    if (r->mine == NULL || r->owners == NULL || r->readers == NULL ||
        r->addends == NULL)
        return dt_round_no_memory(err);
    r->words = r->mine + words;
    r->mine[0] = name_of(leg);
    choose_room(leg, r, scratch);
    choose_stage(leg, r);
    return DT_OK;
}

/* Arrays that are read from here must lie where others can reach them, or be copied there:
 * those of the first round. The second reads the results. */
static bool
read_ready(const dt_leg *leg)
{
    const reading *r = leg->state;
    dt_transport *t = leg->group->world->transport;
    bool staged = r->staged > 0 && t->table->lends(t, leg->buffers);
    for (int k = 0; k < leg->count; k++) {
        const dt_ends *ends = &leg->ends[k];
        if (leg->rounds[0].send_count > 0 && ends->src != NULL && !staged &&
            !t->table->lends(t, ends->src))
            return false;
        if (leg->round_count > 1 && ends->dst != NULL && !t->table->lends(t, ends->dst))
            return false;
    }
    return true;
}

static void
read_release(dt_leg *leg)
{
    reading *r = leg->state;
    if (r == NULL)
        return;
    free(r->mine);
    free(r->owners);
    free(r->readers);
    free(r->addends);
    free(r);
}

/* --- telling --- */

/* Where an array lies, or its copy that others can reach. */
static const char *
stage(char **at, int64_t *stride, const dt_leg *leg, int k)
{
    const reading *r = leg->state;
    dt_transport *t = leg->group->world->transport;
    const dt_array *array = &leg->rounds[r->at].arrays[k];
    const dt_layout *from = leg->steps[k]->from;
    const char *src = array->ends.src;
    int64_t shape[DT_MAX_NDIM];
    for (int d = 0; d < array->ndim; d++)
        stride[d] = array->ends.src_stride[d];
    if (r->at > 0 || r->staged == 0 || src == NULL || t->table->lends(t, src))
        return src;
    dt_layout_shape_at(shape, from, t->rank);
    if (leg->rounds[0].flat)
        shape[0] = dt_layout_bytes_at(from, t->rank) / (int64_t)array->itemsize;
    dt_c_strides(stride, array->ndim, shape, array->itemsize);
    char *copy = *at;
    *at += stage_bytes(leg, k);
    dt_copy_box(copy, stride, src, array->ends.src_stride, array->ndim, shape,
                array->itemsize);
    return copy;
}

static void
write_words(int64_t *out, const dt_leg *leg)
{
    const reading *r = leg->state;
    const dt_round *round = &leg->rounds[r->at];
    char *at = leg->buffers + (leg->room - r->staged);
    for (int k = 0; k < round->array_count; k++) {
        *out = (int64_t)(intptr_t)stage(&at, out + 1, leg, k);
        out += 1 + round->arrays[k].ndim;
    }
}

/* What every rank says first in a round is where its arrays are; what it may say later
 * is that it has read. So the one is received before the other. */
static dt_status
begin_round(dt_leg *leg, dt_error *err)
{
    reading *r = leg->state;
    const dt_round *round = &leg->rounds[r->at];
    size_t words = r->bytes / sizeof *r->mine;
    if (round->send_count > 0)
        write_words(r->mine + 1, leg);
    r->copied = false;
    memset(r->owners, 0, sizeof *r->owners * (size_t)round->receive_count);
    memset(r->readers, 0, sizeof *r->readers * (size_t)round->send_count);
    for (int64_t k = 0; k < round->receive_count; k++) {
        int64_t *theirs = r->words + (size_t)k * words;
        r->owners[k].words = theirs;
        DT_TRY(dt_post_receive(&r->owners[k].told, leg->group, theirs, r->bytes,
                               round->receives[k].place, r->phase, err));
    }
    dt_counter *counter = &leg->group->world->counters[round->kind];
    for (int64_t k = 0; k < round->send_count; k++) {
        const dt_queue *queue = &round->sends[k];
        counter->bytes += dt_queue_bytes(queue);
        DT_TRY(dt_post_send(&r->readers[k].telling, leg->group, r->mine, r->bytes,
                            queue->place, r->phase, err));
    }
    for (int64_t k = 0; k < round->send_count; k++)
        DT_TRY(dt_post_receive(&r->readers[k].answer, leg->group, &r->readers[k].word,
                               1, round->sends[k].place, r->phase, err));
    return DT_OK;
}

static dt_status
read_begin(dt_leg *leg, uint64_t number, dt_error *err)
{
    reading *r = leg->state;
    r->at = 0;
    r->phase = DT_PHASE_DATA + (int)(number & 7);
    return begin_round(leg, err);
}

/* --- reading --- */

/* Where an array of an owner can be read, and its strides there. */
static dt_status
look_up(const char **src, const int64_t **stride, const dt_leg *leg, int64_t k,
        const dt_array *array, dt_error *err)
{
    const reading *r = leg->state;
    const dt_round *round = &leg->rounds[r->at];
    dt_transport *t = leg->group->world->transport;
    int rank = leg->group->ranks[round->receives[k].place];
    const int64_t *word = r->owners[k].words + 1;
    for (const dt_array *before = round->arrays; before < array; before++)
        word += 1 + before->ndim;
    *src = t->table->reach(t, rank, (const void *)(intptr_t)word[0]);
    *stride = word + 1;
    if (*src == NULL)
        return dt_fail(err, DT_BUG, "memory of rank %d cannot be read", rank);
    return DT_OK;
}

static dt_status
read_queue(const dt_leg *leg, int64_t k, dt_error *err)
{
    const reading *r = leg->state;
    const dt_queue *queue = &leg->rounds[r->at].receives[k];
    for (int p = 0; p < queue->count; p++) {
        const dt_array *array = queue->parts[p].array;
        const char *src;
        const int64_t *stride;
        DT_TRY(look_up(&src, &stride, leg, k, array, err));
        dt_piece_copy(array->ends.dst, array->ends.dst_stride, src, stride,
                      queue->parts[p].piece, array->ndim, array->itemsize);
    }
    return DT_OK;
}

static void
copy_own(const dt_round *round)
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

/* Sums a box: it lies alike on all ranks, as `there`, but for the strides. */
static dt_status
sum_box(const dt_leg *leg, const dt_box *to, const dt_box *there, dt_error *err)
{
    const reading *r = leg->state;
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
        const char *src;
        const int64_t *stride;
        DT_TRY(look_up(&src, &stride, leg, k, array, err));
        r->addends[n++] = addend_of(buffer, there, src, stride);
        buffer += r->slice;
    }
    char *out = ends->dst + dt_box_offset(to, ends->dst_stride);
    bool direct = dt_box_contiguous(to, ends->dst_stride);
    dt_reduce(array->dtype, round->op, direct ? out : buffer, r->addends,
              round->reduced_lengths, round->reduced_ndim, round->divisor,
              to->elements);
    if (!direct) {
        int64_t packed[DT_MAX_NDIM];
        dt_box_strides(packed, to);
        dt_copy_box(out, ends->dst_stride, buffer, packed, array->ndim, to->size,
                    array->itemsize);
    }
    return DT_OK;
}

static dt_status
sum_all(const dt_leg *leg, dt_error *err)
{
    const reading *r = leg->state;
    dt_queue own = leg->rounds[r->at].own;
    own.capacity = r->slice;
    dt_cursor cursor;
    dt_box to, there;
    dt_cursor_begin(&cursor, &own);
    while (dt_cursor_next(&to, &there, &cursor, 0, 0))
        DT_TRY(sum_box(leg, &to, &there, err));
    return DT_OK;
}

/* --- advancing --- */

static dt_status
answer(const dt_leg *leg, int64_t k, dt_error *err)
{
    static const char word = 1;
    reading *r = leg->state;
    r->owners[k].read = true;
    return dt_post_send(&r->owners[k].answer, leg->group, &word, 1,
                        leg->rounds[r->at].receives[k].place, r->phase, err);
}

static dt_status
hear_owner(const dt_leg *leg, int64_t k, dt_error *err)
{
    reading *r = leg->state;
    owner *o = &r->owners[k];
    if (o->is_told)
        return DT_OK;
    DT_TRY(dt_test(&o->is_told, leg->group, &o->told, err));
    if (o->is_told && o->words[0] != r->mine[0])
        return dt_fail(err, DT_RUNTIME,
                       "rank %d moves other arrays: the ranks are in different calls",
                       leg->group->ranks[leg->rounds[r->at].receives[k].place]);
    return DT_OK;
}

/* Reads from those who have told where their arrays are; sums when all have. */
static dt_status
read_told(bool *all, const dt_leg *leg, dt_error *err)
{
    reading *r = leg->state;
    const dt_round *round = &leg->rounds[r->at];
    int64_t told = 0;
    for (int64_t k = 0; k < round->receive_count; k++) {
        const owner *o = &r->owners[k];
        DT_TRY(hear_owner(leg, k, err));
        told += o->is_told;
        if (!o->is_told || o->read || round->reduced)
            continue;
        DT_TRY(read_queue(leg, k, err));
        DT_TRY(answer(leg, k, err));
    }
    *all = told == round->receive_count;
    if (!*all || !round->reduced || r->copied)
        return DT_OK;
    DT_TRY(sum_all(leg, err));
    r->copied = true;
    for (int64_t k = 0; k < round->receive_count; k++)
        DT_TRY(answer(leg, k, err));
    return DT_OK;
}

static dt_status
hear_answers(bool *all, const dt_leg *leg, dt_error *err)
{
    reading *r = leg->state;
    const dt_round *round = &leg->rounds[r->at];
    for (int64_t k = 0; k < round->receive_count; k++) {
        bool sent;
        DT_TRY(dt_test(&sent, leg->group, &r->owners[k].answer, err));
        *all = *all && sent;
    }
    for (int64_t k = 0; k < round->send_count; k++) {
        reader *to = &r->readers[k];
        bool sent;
        DT_TRY(dt_test(&sent, leg->group, &to->telling, err));
        if (!to->has_read)
            DT_TRY(dt_test(&to->has_read, leg->group, &to->answer, err));
        *all = *all && sent && to->has_read;
    }
    return DT_OK;
}

static dt_status
read_advance(bool *done, dt_leg *leg, dt_error *err)
{
    reading *r = leg->state;
    for (;;) {
        const dt_round *round = &leg->rounds[r->at];
        bool all;
        if (!r->copied && !round->reduced) {
            copy_own(round);
            r->copied = true;
        }
        DT_TRY(read_told(&all, leg, err));
        DT_TRY(hear_answers(&all, leg, err));
        if (!all)
            return DT_OK;
        if (r->at + 1 == leg->round_count)
            break;
        r->at++;
        DT_TRY(begin_round(leg, err));
    }
    *done = true;
    return DT_OK;
}

static bool
read_abandon(dt_leg *leg)
{
    reading *r = leg->state;
    const dt_round *round = &leg->rounds[r->at];
    bool ours = true;
    for (int64_t k = 0; k < round->receive_count; k++) {
        ours = dt_cancel(leg->group, &r->owners[k].told) && ours;
        ours = dt_cancel(leg->group, &r->owners[k].answer) && ours;
    }
    for (int64_t k = 0; k < round->send_count; k++) {
        ours = dt_cancel(leg->group, &r->readers[k].telling) && ours;
        ours = dt_cancel(leg->group, &r->readers[k].answer) && ours;
        ours = ours && r->readers[k].has_read;
    }
    return ours;
}

static void
read_traffic(dt_traffic *out, const dt_step *step, int64_t rank)
{
    dt_step_traffic(out, step, rank);
    out->messages = 0;
}

const dt_way dt_way_read = {
    .name = "read",
    .fits = read_fits,
    .prepare = read_prepare,
    .release = read_release,
    .ready = read_ready,
    .begin = read_begin,
    .advance = read_advance,
    .abandon = read_abandon,
    .traffic = read_traffic,
};
