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
#include "comm/way/reading.h"

#include "core/facts/hash.h"

#include <stdlib.h>
#include <string.h>

/* Whether all ranks of a mesh are on the node of `first`. */
static bool
on_node(const dt_mesh *mesh, const uint64_t *nodes, uint64_t first)
{
    for (int64_t place = 0; place < mesh->size; place++)
        if (nodes[dt_mesh_rank(mesh, place)] != first)
            return false;
    return true;
}

/* Whether ranks that the mesh dims of a step bring together are on one node each time. */
static bool
lines_on_nodes(const dt_step *step, const dt_mesh *mesh, const uint64_t *nodes)
{
    for (int64_t place = 0; place < mesh->size; place++) {
        int64_t coordinate[DT_MESH_MAX_NDIM];
        dt_mesh_coordinate(coordinate, mesh, place);
        for (int k = 0; k < step->mesh_dim_count; k++)
            coordinate[step->mesh_dims[k]] = 0;
        int64_t first = dt_mesh_at(mesh, coordinate);
        if (nodes[dt_mesh_rank(mesh, place)] != nodes[dt_mesh_rank(mesh, first)])
            return false;
    }
    return true;
}

static bool
stays_on_nodes(const dt_step *step, const uint64_t *nodes)
{
    const dt_mesh *from = step->from->mesh, *to = step->to->mesh;
    if (nodes == NULL)
        return true;
    uint64_t first = nodes[dt_mesh_rank(from, 0)];
    if (on_node(from, nodes, first) && on_node(to, nodes, first))
        return true;
    bool lines = step->kind == DT_STEP_ALL_GATHER || step->kind == DT_STEP_ALL_TO_ALL ||
                 step->kind == DT_STEP_REDUCE_SCATTER ||
                 step->kind == DT_STEP_ALL_REDUCE;
    return lines && from == to && lines_on_nodes(step, to, nodes);
}

static bool
read_fits(const char **why, const dt_world *world, const dt_step *step)
{
    if (world == NULL || world->transport->table->reach == NULL ||
        step->kind == DT_STEP_LOCAL || !stays_on_nodes(step, world->transport->nodes))
        return false;
    *why = world->transport->table->reached;
    return true;
}

/* --- preparing --- */

static size_t
told_bytes(const dt_queue *queue, size_t words)
{
    return dt_enclosed(queue) ? sizeof(int64_t) + (size_t)queue->bytes : words;
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

/* Bytes that a rank is told at most, and whether this one encloses anything. */
static size_t
most_told(bool *encloses, const dt_leg *leg, size_t words)
{
    size_t most = words;
    *encloses = false;
    for (int k = 0; k < leg->round_count; k++) {
        const dt_round *round = &leg->rounds[k];
        for (int64_t q = 0; q < round->send_count + round->receive_count; q++) {
            bool sends = q < round->send_count;
            const dt_queue *queue =
                sends ? &round->sends[q] : &round->receives[q - round->send_count];
            size_t bytes = told_bytes(queue, words);
            *encloses = *encloses || (sends && dt_enclosed(queue));
            most = bytes > most ? bytes : most;
        }
    }
    return (most + 15) / 16 * 16;
}

static dt_status
read_prepare(dt_leg *leg, int64_t scratch, dt_error *err)
{
    DT_TRY(dt_rounds_make(leg->rounds, &leg->round_count, leg->steps, leg->count,
                          DT_BY_READING, leg->group, scratch, err));
    dt_reading *r = leg->state = calloc(1, sizeof *r);
    if (r == NULL)
        return dt_round_no_memory(err);
    int64_t owners = 0, readers = 0;
    for (int k = 0; k < leg->round_count; k++) {
        const dt_round *round = &leg->rounds[k];
        owners = round->receive_count > owners ? round->receive_count : owners;
        readers = round->send_count > readers ? round->send_count : readers;
    }
    size_t count = (size_t)owners + 1;
    bool encloses;
    r->bytes = (1 + dt_lend_words(leg)) * sizeof *r->mine;
    r->most = most_told(&encloses, leg, r->bytes);
    r->mine = calloc(1, r->bytes);
    r->heard = calloc(count, r->most);
    r->told = encloses ? calloc((size_t)readers, r->most) : NULL;
    r->owners = calloc(count, sizeof *r->owners);
    r->readers = calloc((size_t)readers + 1, sizeof *r->readers);
    bool made = dt_borrow_make(r, count);
    if (!made || r->mine == NULL || r->heard == NULL || (encloses && r->told == NULL) ||
        r->owners == NULL || r->readers == NULL)
        return dt_round_no_memory(err);
    r->name = r->mine[0] = name_of(leg);
    dt_borrow_prepare(leg, r, scratch);
    dt_lend_prepare(leg, r, scratch);
    return DT_OK;
}

static bool
read_ready(const dt_leg *leg)
{
    return dt_lend_ready(leg, leg->state);
}

static void
read_release(dt_leg *leg)
{
    dt_reading *r = leg->state;
    if (r == NULL)
        return;
    free(r->mine);
    free(r->heard);
    free(r->told);
    free(r->owners);
    free(r->readers);
    dt_borrow_free(r);
    free(r);
}

/* --- telling --- */

/* What every rank says first in a round is where its arrays are; what it may say later
 * is that it has read. So the one is received before the other. */
static dt_status
begin_round(dt_leg *leg, dt_error *err)
{
    dt_reading *r = leg->state;
    const dt_round *round = &leg->rounds[r->at];
    dt_lend(r->mine + 1, leg, r);
    r->copied = false;
    memset(r->owners, 0, sizeof *r->owners * (size_t)round->receive_count);
    memset(r->readers, 0, sizeof *r->readers * (size_t)round->send_count);
    for (int64_t k = 0; k < round->receive_count; k++) {
        const dt_queue *queue = &round->receives[k];
        char *theirs = r->heard + (size_t)k * r->most;
        r->owners[k].words = (const int64_t *)(void *)theirs;
        r->owners[k].enclosed = dt_enclosed(queue);
        DT_TRY(dt_post_receive(&r->owners[k].told, leg->group, theirs,
                               told_bytes(queue, r->bytes), queue->place, r->phase,
                               err));
    }
    dt_counter *counter = &leg->group->world->counters[round->kind];
    for (int64_t k = 0; k < round->send_count; k++) {
        const dt_queue *queue = &round->sends[k];
        const void *told = r->mine;
        counter->bytes += queue->bytes;
        r->readers[k].has_read = dt_enclosed(queue);
        if (dt_enclosed(queue)) {
            char *own = r->told + (size_t)k * r->most;
            memcpy(own, &r->name, sizeof r->name);
            dt_lend_enclose(own + sizeof r->name, queue);
            told = own;
        }
        DT_TRY(dt_post_send(&r->readers[k].telling, leg->group, told,
                            told_bytes(queue, r->bytes), queue->place, r->phase, err));
    }
    for (int64_t k = 0; k < round->send_count; k++)
        if (!r->readers[k].has_read)
            DT_TRY(dt_post_receive(&r->readers[k].answer, leg->group,
                                   &r->readers[k].word, 1, round->sends[k].place,
                                   r->phase, err));
    return DT_OK;
}

static dt_status
read_begin(dt_leg *leg, uint64_t number, dt_error *err)
{
    dt_reading *r = leg->state;
    r->at = 0;
    r->phase = DT_PHASE_DATA + (int)(number & 7);
    return begin_round(leg, err);
}

/* --- advancing --- */

static dt_status
answer(const dt_leg *leg, int64_t k, dt_error *err)
{
    static const char word = 1;
    dt_reading *r = leg->state;
    r->owners[k].read = true;
    if (r->owners[k].enclosed)
        return DT_OK;
    return dt_post_send(&r->owners[k].answer, leg->group, &word, 1,
                        leg->rounds[r->at].receives[k].place, r->phase, err);
}

static dt_status
hear_owner(const dt_leg *leg, int64_t k, dt_error *err)
{
    dt_reading *r = leg->state;
    dt_owner *o = &r->owners[k];
    if (o->is_told)
        return DT_OK;
    DT_TRY(dt_test(&o->is_told, leg->group, &o->told, err));
    if (o->is_told && o->words[0] != r->name)
        return dt_fail(err, DT_RUNTIME,
                       "rank %d moves other arrays: the ranks are in different calls",
                       leg->group->ranks[leg->rounds[r->at].receives[k].place]);
    return DT_OK;
}

/* Reads from those who have told where their arrays are; sums when all have. */
static dt_status
read_told(bool *all, const dt_leg *leg, dt_error *err)
{
    dt_reading *r = leg->state;
    const dt_round *round = &leg->rounds[r->at];
    int64_t told = 0;
    for (int64_t k = 0; k < round->receive_count; k++) {
        const dt_owner *o = &r->owners[k];
        DT_TRY(hear_owner(leg, k, err));
        told += o->is_told;
        if (!o->is_told || o->read || round->reduced)
            continue;
        DT_TRY(dt_borrow(leg, r, k, err));
        DT_TRY(answer(leg, k, err));
    }
    *all = told == round->receive_count;
    if (!*all || !round->reduced || r->copied)
        return DT_OK;
    DT_TRY(dt_borrow_sum(leg, r, err));
    r->copied = true;
    for (int64_t k = 0; k < round->receive_count; k++)
        DT_TRY(answer(leg, k, err));
    return DT_OK;
}

static dt_status
hear_answers(bool *all, const dt_leg *leg, dt_error *err)
{
    dt_reading *r = leg->state;
    const dt_round *round = &leg->rounds[r->at];
    for (int64_t k = 0; k < round->receive_count; k++) {
        bool sent;
        DT_TRY(dt_test(&sent, leg->group, &r->owners[k].answer, err));
        *all = *all && sent;
    }
    for (int64_t k = 0; k < round->send_count; k++) {
        dt_reader *to = &r->readers[k];
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
    dt_reading *r = leg->state;
    for (;;) {
        const dt_round *round = &leg->rounds[r->at];
        bool all;
        if (!r->copied && !round->reduced) {
            dt_borrow_own(round);
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
    dt_reading *r = leg->state;
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
