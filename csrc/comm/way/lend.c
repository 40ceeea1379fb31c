/* What a rank lets others read: arrays that lie where they can reach them as they are, of
 * any strides. Of others, which are the user's own, long rows are fetched from where they
 * are; else small arrays are copied to where others can reach them. */
#include "comm/way/reading.h"

#include "core/memory/copy.h"

enum {
    STAGE_BYTES = 1 << 20, /* of arrays at most that are copied */
    STAGE_LEAST = 1 << 12, /* blocks of so many bytes lie where others can reach them */
    FETCH_RUN = 1 << 12    /* bytes of a row: shorter ones cost more than messages */
};

size_t
dt_lend_words(const dt_leg *leg)
{
    size_t words = 0;
    for (int k = 0; k < leg->count; k++)
        words += 1 + (size_t)leg->rounds[0].arrays[k].ndim;
    return words;
}

/* What others read in a round: the source, or, in the second round, the result. */
static const dt_layout *
read_from(const dt_leg *leg, int round, int k)
{
    return round == 0 ? leg->steps[k]->from : leg->steps[k]->to;
}

/* Whether others read from this rank. */
static bool
lends(const dt_round *round)
{
    for (int64_t k = 0; k < round->send_count; k++)
        if (!dt_enclosed(&round->sends[k]))
            return true;
    return false;
}

/* Of a copy of array `k` in a round. */
static size_t
stage_bytes(const dt_leg *leg, int round, int k)
{
    int rank = leg->group->world->transport->rank;
    if (!lends(&leg->rounds[round]))
        return 0;
    size_t bytes = (size_t)dt_layout_bytes_at(read_from(leg, round, k), rank);
    return (bytes + 63) / 64 * 64;
}

/* Room for a copy of small arrays that others cannot reach. */
void
dt_lend_prepare(dt_leg *leg, dt_reading *r, int64_t scratch)
{
    size_t most = 0, limit = STAGE_BYTES;
    if (scratch > 0 && scratch < STAGE_BYTES)
        limit = (size_t)scratch;
    for (int round = 0; round < leg->round_count; round++) {
        size_t bytes = 0;
        for (int k = 0; k < leg->count; k++)
            bytes += stage_bytes(leg, round, k);
        most = bytes > most ? bytes : most;
    }
    if (most > limit || most == 0)
        return;
    r->staged = most;
    leg->room = leg->room + most < STAGE_LEAST ? STAGE_LEAST : leg->room + most;
}

/* The shortest row that is contiguous here and there, of what goes to others. */
static int64_t
shortest_run(const dt_leg *leg, int round)
{
    int64_t shortest = INT64_MAX;
    const dt_round *of = &leg->rounds[round];
    for (int64_t q = 0; q < of->send_count; q++)
        for (int p = 0; p < of->sends[q].count; p++) {
            const dt_array *array = of->sends[q].parts[p].array;
            const dt_piece *piece = of->sends[q].parts[p].piece;
            int k = (int)(array - of->arrays);
            const int64_t *stride =
                round == 0 ? leg->ends[k].src_stride : leg->ends[k].dst_stride;
            int64_t shape[DT_MAX_NDIM], run = (int64_t)array->itemsize;
            dt_layout_shape_at(shape, read_from(leg, round, k),
                               leg->group->world->transport->rank);
            if (of->flat) /* it is in C order */
                run *= piece->elements;
            for (int d = array->ndim - 1; d >= 0 && !of->flat; d--) {
                if (stride[d] != run)
                    break;
                run *= piece->size[d] / piece->counts[d];
                if (piece->counts[d] > 1 || piece->size[d] != shape[d] ||
                    piece->size[d] != piece->theirs[d])
                    break;
            }
            shortest = run < shortest ? run : shortest;
        }
    return shortest;
}

/* Whether others can copy what they need from wherever it lies: rows are long enough. */
static bool
is_fetched(const dt_leg *leg, int round)
{
    return leg->group->world->transport->table->fetch != NULL &&
           shortest_run(leg, round) >= FETCH_RUN;
}

/* Arrays that are read from here must lie where others can reach them, or be copied to
 * where they can. */
bool
dt_lend_ready(const dt_leg *leg, const dt_reading *r)
{
    dt_transport *t = leg->group->world->transport;
    if (r->staged > 0 && dt_lends(t, leg->buffers))
        return true;
    for (int round = 0; round < leg->round_count; round++)
        for (int k = 0; k < leg->count; k++) {
            const dt_ends *ends = &leg->ends[k];
            const void *at = round == 0 ? ends->src : ends->dst;
            if (stage_bytes(leg, round, k) > 0 && !dt_lends(t, at) &&
                !is_fetched(leg, round))
                return false;
        }
    return true;
}

/* Where an array lies, or its copy that others can reach. */
static const char *
stage(char **at, int64_t *stride, const dt_leg *leg, const dt_reading *r, int k)
{
    dt_transport *t = leg->group->world->transport;
    const dt_array *array = &leg->rounds[r->at].arrays[k];
    const dt_layout *from = read_from(leg, r->at, k);
    const char *src = array->ends.src;
    int64_t shape[DT_MAX_NDIM];
    for (int d = 0; d < array->ndim; d++)
        stride[d] = array->ends.src_stride[d];
    if (r->staged == 0 || src == NULL || dt_lends(t, src) || is_fetched(leg, r->at))
        return src;
    dt_layout_shape_at(shape, from, t->rank);
    if (leg->rounds[r->at].flat)
        shape[0] = dt_layout_bytes_at(from, t->rank) / (int64_t)array->itemsize;
    dt_c_strides(stride, array->ndim, shape, array->itemsize);
    char *copy = *at;
    *at += stage_bytes(leg, r->at, k);
    dt_copy_box(copy, stride, src, array->ends.src_stride, array->ndim, shape,
                array->itemsize);
    return copy;
}

void
dt_lend(int64_t *words, const dt_leg *leg, const dt_reading *r)
{
    const dt_round *round = &leg->rounds[r->at];
    char *at = leg->buffers + (leg->room - r->staged);
    if (!lends(round))
        return;
    for (int k = 0; k < round->array_count; k++) {
        *words = (int64_t)(intptr_t)stage(&at, words + 1, leg, r, k);
        words += 1 + round->arrays[k].ndim;
    }
}

void
dt_lend_enclose(char *out, const dt_queue *queue)
{
    for (int p = 0; p < queue->count; p++) {
        const dt_array *array = queue->parts[p].array;
        const dt_piece *piece = queue->parts[p].piece;
        dt_piece_pack(out, array->ends.src, array->ends.src_stride, piece, array->ndim,
                      array->itemsize);
        out += piece->elements * (int64_t)array->itemsize;
    }
}
