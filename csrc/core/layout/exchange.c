/* Which boxes two layouts have in common, and who sends them to whom.
 *
 * A rank's part is a product over the dims, so what two ranks have in common is one too:
 * overlap.c finds the parts that meet along each dim, and a walk goes through the product
 * of these lists and from parts to the coordinates that hold them. Of several ranks that
 * hold the same elements one sends: on one mesh turn.c says which, across meshes they take
 * turns. Where replicas take turns a sender walks twice: over those that hold its part
 * themselves, who are served from their own coordinates, and over all others. Counting
 * uses the same walks, but multiplies the lengths of the lists where no dim ties them
 * together. Cost: proportional to the pieces of this rank, not to the number of ranks. */
#include "core/layout/turn.h"

#include <stdlib.h>
#include <string.h>

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
    bool free[DT_MESH_MAX_NDIM]; /* its coordinate takes every value that is wanted */
    dt_overlaps dims[DT_MAX_NDIM];
    int64_t replicas; /* of a part of `from`, across meshes */
    dt_turns turns;   /* on one mesh */
    enum {
        WALK_ALL,
        WALK_LACKING,
        WALK_HOLDING
    } over; /* who has one's part of `from` */
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

/* Along this mesh dimension the other rank is where this one is. */
static void
want_own(walk *w, int m)
{
    w->wanted.every[m] = w->mine->mesh->shape[m];
    w->wanted.at[m] = w->my_coordinate[m];
}

/* Sorts the mesh dimensions of the other side into those whose coordinate the part
 * tells, those that are as one's own, and those that take every value. */
static void
sort_mesh_dims(walk *w)
{
    const dt_exchange *x = w->exchange;
    for (int m = 0; m < w->other->mesh->ndim; m++) {
        bool own = w->one_mesh && !cuts_by(x->from, m) && !is_reduced(x, m);
        w->free[m] = !own && !cuts_by(w->other, m);
        if (!own)
            continue;
        want_own(w, m);
        if (!w->sending)
            w->wanted.at[m] = dt_turns_sender(&w->turns, m, w->my_coordinate);
    }
}

/* Leaves only receivers that have the own part of `from`, or only those that do not.
 * False: there are none. */
static bool
narrow(walk *w, bool holding)
{
    w->over = holding ? WALK_HOLDING : WALK_LACKING;
    if (!holding)
        return dt_turns_receivers(&w->wanted, &w->turns, w->my_coordinate);
    for (int m = 0; m < w->mine->mesh->ndim; m++)
        if (cuts_by(w->mine, m))
            want_own(w, m);
    return true;
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
    w->turns.count = 0;
    if (w->one_mesh)
        dt_turns_find(&w->turns, exchange->from, exchange->to);
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

/* Whoever has the part keeps it, or gets another addend of it from where it is itself. */
static void
stay(walk *w, int64_t *coordinate)
{
    for (int m = 0; m < w->other->mesh->ndim; m++)
        if (w->turns.taken[m] > 1)
            coordinate[m] = w->my_coordinate[m];
}

/* Calls `visit` for the other rank at a coordinate, if it is a peer. */
static bool
visit_coordinate(walk *w, const int64_t *at, const dt_overlap *const *chosen,
                 visitor visit, void *data)
{
    int64_t coordinate[DT_MESH_MAX_NDIM];
    memcpy(coordinate, at, sizeof coordinate);
    if (w->turns.count > 0 && w->over != WALK_HOLDING &&
        dt_turns_same_part(w->exchange->from, coordinate, w->my_coordinate)) {
        if (w->sending)
            return true; /* they are in another walk */
        stay(w, coordinate);
    }
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
            coordinate[m] = w->wanted.every[m] > 0 ? w->wanted.at[m] : 0;
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
                bool some = w->wanted.every[m] > 0;
                coordinate[m] += some ? w->wanted.every[m] : 1;
                if (coordinate[m] < w->other->mesh->shape[m])
                    break;
                coordinate[m] = some ? w->wanted.at[m] : 0;
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

/* Takes in the pieces of one walk; false: no memory. */
static bool
collect_walk(dt_pieces *found, int64_t *room, walk *w)
{
    collector c = {.out = found, .room = *room, .rank = w->rank, .ndim = w->mine->ndim};
    bool well = walk_overlaps(w, &found->memory) && walk_all(w, collect, &c);
    *room = c.room;
    walk_end(w);
    return well;
}

static dt_status
find_pieces(dt_pieces *out, const dt_exchange *exchange, int64_t rank, bool sending,
            dt_error *err)
{
    walk w;
    dt_pieces found = {0};
    int64_t room = 0;
    bool well = true;
    if (walk_begin(&w, exchange, rank, sending)) {
        walk own = w;
        bool twice = sending && w.turns.count > 0;
        if (!twice || narrow(&w, false))
            well = collect_walk(&found, &room, &w);
        if (twice && well && narrow(&own, true))
            well = collect_walk(&found, &room, &own);
    }
    if (!well) {
        dt_pieces_free(&found);
        return dt_fail(err, DT_MEMORY, "no memory for the pieces of an exchange");
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

/* --- counting --- */

static bool
pinned(const walk *w, int dim)
{
    const dt_cut *cut = &w->other->dims[dim];
    for (int k = 0; k < cut->count; k++)
        if (w->wanted.every[cut->mesh_dims[k]] > 0)
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

/* Values that are wanted of a coordinate that nothing else tells. */
static int64_t
count_values(const walk *w, int m)
{
    int64_t n = w->other->mesh->shape[m], every = w->wanted.every[m];
    return every == 0 ? n : (n - w->wanted.at[m] + every - 1) / every;
}

/* Adds the peers of a walk on one mesh, and what they get, times `sign`. */
static void
count_product(int64_t *peers, int64_t *elements, walk *w, int sign)
{
    int64_t count = sign, volume = sign;
    for (int m = 0; m < w->other->mesh->ndim; m++)
        if (w->free[m])
            count *= count_values(w, m);
    volume = count;
    for (int d = 0; d < w->mine->ndim; d++) {
        int64_t parts = 0, size = 0;
        count_dim(&parts, &size, w, d);
        free(w->dims[d].items);
        w->dims[d] = (dt_overlaps){0};
        count *= parts;
        volume *= size;
    }
    *peers += count;
    *elements += volume;
}

/* Those that lack the part are all that take turns at this rank, but those of them that
 * hold it: who do so if this rank's turn is its own. */
static void
count_turns(int64_t *peers, int64_t *elements, walk *w)
{
    walk lacking = *w, own = *w;
    narrow(&own, true);
    count_product(peers, elements, &own, 1);
    if (!narrow(&lacking, false))
        return;
    count_product(peers, elements, &lacking, 1);
    for (int m = 0; m < w->mine->mesh->ndim; m++) {
        if (!cuts_by(w->mine, m))
            continue;
        int64_t every = lacking.wanted.every[m];
        if (every > 0 && w->my_coordinate[m] % every != lacking.wanted.at[m])
            return;
        want_own(&lacking, m);
    }
    count_product(peers, elements, &lacking, -1);
}

bool
dt_exchange_count(int64_t *messages, int64_t *elements, const dt_exchange *exchange,
                  int64_t rank)
{
    walk w;
    *messages = *elements = 0;
    if (!walk_begin(&w, exchange, rank, true))
        return true;
    bool counted = w.one_mesh || walk_overlaps(&w, NULL);
    if (w.one_mesh) {
        int64_t peers = 0, volume = 0;
        if (w.turns.count > 0)
            count_turns(&peers, &volume, &w);
        else
            count_product(&peers, &volume, &w, 1);
        int64_t kept = dt_exchange_kept(exchange, rank);
        *messages = peers - (kept > 0);
        *elements = volume - kept;
    } else if (counted) {
        tally t = {.rank = rank, .ndim = w.mine->ndim};
        walk_all(&w, add_to_tally, &t);
        *messages = t.messages;
        *elements = t.elements;
    }
    walk_end(&w);
    return counted;
}
