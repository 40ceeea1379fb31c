/* Which boxes two layouts have in common, and who sends them to whom.
 *
 * A rank's part is a product over the dims, so what two ranks have in common is one too:
 * overlap.c finds the parts that meet along each dim, and a walk goes through the product
 * of these lists and from parts to the coordinates that hold them. Of several ranks that
 * hold the same elements one sends: on one mesh the replica at the receiver's own
 * coordinates, across meshes they take turns. Counting uses the same walk, but multiplies
 * the lengths of the lists where no dim ties them together. Cost: proportional to the
 * pieces of this rank, not to the number of ranks. */
#include "core/layout/overlap.h"

#include "core/memory/copy.h"

#include <stdlib.h>
#include <string.h>

void
dt_pieces_free(dt_pieces *pieces)
{
    dt_bump_free(&pieces->memory);
    free(pieces->pieces);
    *pieces = (dt_pieces){0};
}

/* --- the product over dimensions and over the coordinates that stay free --- */

/* What is known of the walk over one rank's peers. */
typedef struct {
    const dt_exchange *exchange;
    bool sending;
    bool one_mesh;
    int64_t rank;
    const dt_layout *mine, *other;
    int64_t my_index; /* in mine's mesh */
    int64_t my_coordinate[DT_MESH_MAX_NDIM];
    dt_constraint wanted;        /* of the other rank's coordinate */
    bool free[DT_MESH_MAX_NDIM]; /* its coordinate takes every value */
    dt_overlaps dims[DT_MAX_NDIM];
    int64_t replicas; /* of a part of `from`, across meshes */
} walk;

static bool
cuts_by(const dt_layout *layout, int m)
{
    return dt_placement_cuts(layout->placements[m]);
}

static bool
is_reduced(const dt_exchange *exchange, int m)
{
    return (exchange->reduced >> m & 1) != 0;
}

/* Sorts the mesh dimensions of the other side into those whose coordinate the part
 * tells, those that are as one's own, and those that take every value. */
static void
sort_mesh_dims(walk *w)
{
    const dt_exchange *x = w->exchange;
    for (int m = 0; m < w->other->mesh->ndim; m++) {
        bool sharded = cuts_by(w->other, m);
        if (w->one_mesh) {
            /* A copy is sent where the receiver's coordinates are the sender's own,
             * unless the mesh dimension cuts `from` or is summed over. */
            bool own = !cuts_by(x->from, m) && !is_reduced(x, m);
            w->wanted.fixed[m] = own;
            w->wanted.at[m] = w->my_coordinate[m];
            w->free[m] = !own && !sharded;
        } else {
            w->free[m] = !sharded;
        }
    }
}

static int64_t
count_replicas(const dt_layout *layout)
{
    int64_t count = 1;
    for (int m = 0; m < layout->mesh->ndim; m++)
        if (!cuts_by(layout, m))
            count *= layout->mesh->shape[m];
    return count;
}

/* The number of a coordinate among the replicas of its part. */
static int64_t
replica_number(const dt_layout *layout, const int64_t *coordinate)
{
    int64_t number = 0;
    for (int m = 0; m < layout->mesh->ndim; m++)
        if (!cuts_by(layout, m))
            number = number * layout->mesh->shape[m] + coordinate[m];
    return number;
}

/* False if the rank has no part in the exchange. */
static bool
walk_begin(walk *w, const dt_exchange *exchange, int64_t rank, bool sending)
{
    *w = (walk){.exchange = exchange, .sending = sending, .rank = rank};
    w->mine = sending ? exchange->from : exchange->to;
    w->other = sending ? exchange->to : exchange->from;
    w->one_mesh = dt_mesh_same_ranks(exchange->from->mesh, exchange->to->mesh);
    w->my_index = dt_mesh_index(w->mine->mesh, rank);
    if (w->my_index < 0)
        return false;
    dt_mesh_coordinate(w->my_coordinate, w->mine->mesh, w->my_index);
    w->replicas = count_replicas(exchange->from);
    sort_mesh_dims(w);
    return true;
}

static void
walk_end(walk *w)
{
    for (int d = 0; d < DT_MAX_NDIM; d++)
        free(w->dims[d].items);
}

static bool
walk_overlaps(walk *w, dt_bump *memory)
{
    for (int d = 0; d < w->mine->ndim; d++) {
        int64_t part = dt_layout_part(w->mine, d, w->my_coordinate);
        if (!dt_overlaps_find(&w->dims[d], memory, w->mine, w->other, &w->wanted, d,
                              part))
            return false;
    }
    return true;
}

/* Whether `receiver` already holds the part of `from` at a coordinate. */
static bool
holds_part(const dt_layout *from, const int64_t *coordinate, int64_t receiver)
{
    int64_t own[DT_MESH_MAX_NDIM];
    if (!dt_mesh_find(own, from->mesh, receiver))
        return false;
    for (int m = 0; m < from->mesh->ndim; m++)
        if (cuts_by(from, m) && own[m] != coordinate[m])
            return false;
    return true;
}

/* Across meshes: of all ranks that hold the part of `from`, the one that serves the
 * rank at place `index` of to's mesh. */
static bool
serves(const walk *w, const int64_t *from_coordinate, int64_t receiver, int64_t index)
{
    if (holds_part(w->exchange->from, from_coordinate, receiver))
        return w->sending ? receiver == w->rank
                          : dt_mesh_rank(w->exchange->from->mesh,
                                         dt_mesh_at(w->exchange->from->mesh,
                                                    from_coordinate)) == receiver;
    return replica_number(w->exchange->from, from_coordinate) == index % w->replicas;
}

typedef bool (*visitor)(void *data, int64_t rank, const dt_overlap *const *chosen);

/* Calls `visit` for the other rank at a coordinate, if it is a peer. */
static bool
visit_coordinate(walk *w, const int64_t *coordinate, const dt_overlap *const *chosen,
                 visitor visit, void *data)
{
    int64_t index = dt_mesh_at(w->other->mesh, coordinate);
    int64_t rank = dt_mesh_rank(w->other->mesh, index);
    if (!w->one_mesh) {
        bool yes = w->sending ? serves(w, w->my_coordinate, rank, index)
                              : serves(w, coordinate, w->rank, w->my_index);
        if (!yes)
            return true;
    }
    return visit(data, rank, chosen);
}

/* Every choice of one option per dimension, times every value of the free coordinates.
 * False if a visit said so. */
static bool
walk_all(walk *w, visitor visit, void *data)
{
    int ndim = w->mine->ndim;
    int64_t at[DT_MAX_NDIM] = {0};
    const dt_overlap *chosen[DT_MAX_NDIM];
    int64_t coordinate[DT_MESH_MAX_NDIM];
    for (int d = 0; d < ndim; d++)
        if (w->dims[d].count == 0)
            return true;
    for (;;) {
        for (int m = 0; m < w->other->mesh->ndim; m++)
            coordinate[m] = w->free[m] ? 0 : w->my_coordinate[m];
        for (int d = 0; d < ndim; d++) {
            chosen[d] = &w->dims[d].items[at[d]];
            const dt_cut *cut = &w->other->dims[d];
            int64_t part = chosen[d]->part;
            for (int k = cut->count - 1; k >= 0; k--) {
                int64_t n = w->other->mesh->shape[cut->mesh_dims[k]];
                coordinate[cut->mesh_dims[k]] = part % n;
                part /= n;
            }
        }
        for (;;) {
            if (!visit_coordinate(w, coordinate, chosen, visit, data))
                return false;
            int m = w->other->mesh->ndim - 1;
            for (; m >= 0; m--) {
                if (!w->free[m])
                    continue;
                if (++coordinate[m] < w->other->mesh->shape[m])
                    break;
                coordinate[m] = 0;
            }
            if (m < 0)
                break;
        }
        int d = ndim - 1;
        while (d >= 0 && ++at[d] == w->dims[d].count)
            at[d--] = 0;
        if (d < 0)
            return true;
    }
}

/* --- pieces --- */

typedef struct {
    dt_pieces *out;
    int64_t room;
    int64_t rank;
    int ndim;
    bool failed;
} collector;

static bool
fill_piece(dt_piece *piece, dt_bump *memory, int ndim, const dt_overlap *const *chosen)
{
    size_t n = (size_t)(ndim > 0 ? ndim : 1);
    int64_t *numbers = dt_bump_take(memory, 3 * n, sizeof *numbers);
    const dt_segment **segments = dt_bump_take(memory, n, sizeof *segments);
    if (numbers == NULL || segments == NULL)
        return false;
    piece->elements = 1;
    piece->size = numbers;
    piece->theirs = numbers + n;
    piece->counts = numbers + 2 * n;
    piece->segments = segments;
    for (int d = 0; d < ndim; d++) {
        numbers[d] = chosen[d]->size;
        numbers[n + (size_t)d] = chosen[d]->theirs;
        numbers[2 * n + (size_t)d] = chosen[d]->count;
        segments[d] = chosen[d]->segments;
        piece->elements *= chosen[d]->size;
    }
    return true;
}

static bool
collect(void *data, int64_t rank, const dt_overlap *const *chosen)
{
    collector *c = data;
    dt_pieces *out = c->out;
    dt_piece *piece = &out->own;
    if (rank != c->rank) {
        if (out->count == c->room) {
            int64_t room = c->room > 0 ? 2 * c->room : 8;
            dt_piece *pieces = realloc(out->pieces, sizeof *pieces * (size_t)room);
            if (pieces == NULL) {
                c->failed = true;
                return false;
            }
            out->pieces = pieces;
            c->room = room;
        }
        piece = &out->pieces[out->count++];
    }
    *piece = (dt_piece){.rank = rank};
    c->failed = !fill_piece(piece, &out->memory, c->ndim, chosen);
    return !c->failed;
}

static dt_status
find_pieces(dt_pieces *out, const dt_exchange *exchange, int64_t rank, bool sending,
            dt_error *err)
{
    walk w;
    dt_pieces found = {0};
    if (walk_begin(&w, exchange, rank, sending)) {
        bool well = walk_overlaps(&w, &found.memory);
        collector c = {.out = &found, .rank = rank, .ndim = w.mine->ndim};
        if (well)
            well = walk_all(&w, collect, &c);
        walk_end(&w);
        if (!well) {
            dt_pieces_free(&found);
            return dt_fail(err, DT_MEMORY, "no memory for the pieces of an exchange");
        }
    }
    *out = found;
    return DT_OK;
}

dt_status
dt_pieces_sent(dt_pieces *out, const dt_exchange *exchange, int64_t rank, dt_error *err)
{
    return find_pieces(out, exchange, rank, true, err);
}

dt_status
dt_pieces_received(dt_pieces *out, const dt_exchange *exchange, int64_t rank,
                   dt_error *err)
{
    return find_pieces(out, exchange, rank, false, err);
}

/* Goes to the next choice of one segment along each dimension; false behind the last. */
static bool
next_choice(int64_t *at, const dt_piece *piece, int ndim)
{
    for (int d = ndim - 1; d >= 0; d--) {
        if (++at[d] < piece->counts[d])
            return true;
        at[d] = 0;
    }
    return false;
}

void
dt_piece_copy(char *dst, const int64_t *dst_stride, const char *src,
              const int64_t *src_stride, const dt_piece *piece, int ndim,
              size_t itemsize)
{
    int64_t at[DT_MAX_NDIM], size[DT_MAX_NDIM];
    memset(at, 0, sizeof *at * (size_t)ndim);
    do {
        const char *from = src;
        char *to = dst;
        for (int d = 0; d < ndim; d++) {
            const dt_segment *segment = &piece->segments[d][at[d]];
            from += segment->theirs * src_stride[d];
            to += segment->offset * dst_stride[d];
            size[d] = segment->size;
        }
        dt_copy_box(to, dst_stride, from, src_stride, ndim, size, itemsize);
    } while (next_choice(at, piece, ndim));
}

static bool
pinned(const walk *w, int dim)
{
    const dt_cut *cut = &w->other->dims[dim];
    for (int k = 0; k < cut->count; k++)
        if (w->wanted.fixed[cut->mesh_dims[k]])
            return true;
    return false;
}

/* Parts met along one dimension, and elements in common with all of them. */
static bool
count_dim(int64_t *parts, int64_t *elements, walk *w, int dim)
{
    const dt_cut *cut = &w->other->dims[dim];
    bool chunks = cut->cuts == NULL && !cut->strided;
    if (w->mine->dims[dim].count == 0 && chunks && !pinned(w, dim)) {
        *parts = dt_parts_filled(w->other, dim);
        *elements = w->mine->shape[dim];
        return true;
    }
    int64_t part = dt_layout_part(w->mine, dim, w->my_coordinate);
    if (!dt_overlaps_find(&w->dims[dim], NULL, w->mine, w->other, &w->wanted, dim,
                          part))
        return false;
    *parts = w->dims[dim].count;
    *elements = 0;
    for (int64_t k = 0; k < *parts; k++)
        *elements += w->dims[dim].items[k].size;
    return true;
}

typedef struct {
    int64_t rank, messages, elements;
    int ndim;
} tally;

static bool
add_to_tally(void *data, int64_t rank, const dt_overlap *const *chosen)
{
    tally *t = data;
    int64_t elements = 1;
    for (int d = 0; d < t->ndim; d++)
        elements *= chosen[d]->size;
    t->messages += rank != t->rank;
    t->elements += rank != t->rank ? elements : 0;
    return true;
}

void
dt_exchange_count(int64_t *messages, int64_t *elements, const dt_exchange *exchange,
                  int64_t rank)
{
    walk w;
    *messages = *elements = 0;
    if (!walk_begin(&w, exchange, rank, true))
        return;
    if (w.one_mesh) {
        int64_t peers = 1, volume = 1;
        for (int m = 0; m < w.other->mesh->ndim; m++)
            peers *= w.free[m] ? w.other->mesh->shape[m] : 1;
        volume = peers;
        for (int d = 0; d < w.mine->ndim; d++) {
            int64_t parts = 0, size = 0;
            count_dim(&parts, &size, &w, d);
            peers *= parts;
            volume *= size;
        }
        int64_t kept = dt_exchange_kept(exchange, rank);
        *messages = peers - (kept > 0);
        *elements = volume - kept;
    } else if (walk_overlaps(&w, NULL)) {
        tally t = {.rank = rank, .ndim = w.mine->ndim};
        walk_all(&w, add_to_tally, &t);
        *messages = t.messages;
        *elements = t.elements;
    }
    walk_end(&w);
}

/* Elements of one dimension that two parts share. */
static int64_t
shared(const dt_layout *a, int64_t a_part, const dt_layout *b, int64_t b_part, int dim)
{
    if (!a->dims[dim].strided && !b->dims[dim].strided) {
        dt_range x, y;
        dt_layout_ranges(&x, a, dim, a_part);
        dt_layout_ranges(&y, b, dim, b_part);
        int64_t start = x.start > y.start ? x.start : y.start;
        int64_t x_end = x.start + x.size, y_end = y.start + y.size;
        int64_t end = x_end < y_end ? x_end : y_end;
        return end > start ? end - start : 0;
    }
    dt_overlaps found = {0};
    dt_constraint any = {0};
    int64_t size = 0;
    dt_overlaps_find(&found, NULL, a, b, &any, dim, a_part);
    for (int64_t k = 0; k < found.count; k++)
        if (found.items[k].part == b_part)
            size = found.items[k].size;
    free(found.items);
    return size;
}

int64_t
dt_exchange_kept(const dt_exchange *exchange, int64_t rank)
{
    const dt_layout *from = exchange->from, *to = exchange->to;
    int64_t x[DT_MESH_MAX_NDIM], y[DT_MESH_MAX_NDIM];
    if (!dt_mesh_find(x, from->mesh, rank) || !dt_mesh_find(y, to->mesh, rank))
        return 0;
    int64_t kept = 1;
    for (int d = 0; d < from->ndim; d++)
        kept *=
            shared(from, dt_layout_part(from, d, x), to, dt_layout_part(to, d, y), d);
    return kept;
}

int64_t
dt_exchange_between(const dt_exchange *exchange, int64_t from_rank, int64_t to_rank)
{
    const dt_layout *from = exchange->from, *to = exchange->to;
    int64_t x[DT_MESH_MAX_NDIM], y[DT_MESH_MAX_NDIM], elements = 1;
    if (!dt_mesh_find(x, from->mesh, from_rank) || !dt_mesh_find(y, to->mesh, to_rank))
        return 0;
    for (int m = 0; m < from->mesh->ndim; m++)
        if (!cuts_by(from, m) && !is_reduced(exchange, m) && x[m] != y[m])
            return 0;
    for (int d = 0; d < from->ndim && elements > 0; d++)
        elements *=
            shared(from, dt_layout_part(from, d, x), to, dt_layout_part(to, d, y), d);
    return elements;
}
