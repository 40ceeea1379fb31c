#include "comm/way/round.h"

#include <stdlib.h>
#include <string.h>

enum { OWN_BYTES = 1024 * 1024 }; /* copied between two looks at the messages */

static dt_status
no_memory(dt_error *err)
{
    return dt_fail(err, DT_MEMORY, "no memory to prepare a collective");
}

/* --- flat pieces --- */

static bool
flat_piece(dt_piece *out, dt_bump *memory, int64_t rank, dt_range range, int64_t theirs)
{
    int64_t *numbers = dt_bump_take(memory, 3, sizeof *numbers);
    dt_segment *run = dt_bump_take(memory, 1, sizeof *run);
    const dt_segment **runs = dt_bump_take(memory, 1, sizeof *runs);
    if (numbers == NULL || run == NULL || runs == NULL)
        return false;
    *run = (dt_segment){.offset = range.start, .size = range.size};
    *runs = run;
    numbers[0] = range.size;
    numbers[1] = theirs;
    numbers[2] = 1;
    *out = (dt_piece){.rank = rank,
                      .elements = range.size,
                      .size = &numbers[0],
                      .theirs = &numbers[1],
                      .counts = &numbers[2],
                      .runs = runs};
    return true;
}

/* Who takes part in a flat round, as one rank sees it. */
typedef struct {
    const dt_step *step;
    int64_t rank;     /* one's own */
    int64_t elements; /* of the whole array */
    int64_t count;    /* members that hold chunks */
    int64_t place;    /* one's own among them, or -1 */
    int64_t root;     /* of a broadcast; -1 in an all_reduce */
    bool one_round;
} flat;

/* The rank of a member: of those that the step's mesh dimensions bring together. */
static int64_t
member_rank(const flat *f, int64_t place)
{
    const dt_mesh *mesh = f->step->to->mesh;
    int64_t coordinate[DT_MESH_MAX_NDIM] = {0};
    int64_t index = dt_mesh_index(mesh, f->rank);
    if (index >= 0)
        dt_mesh_coordinate(coordinate, mesh, index);
    for (int k = f->step->mesh_dim_count - 1; k >= 0; k--) {
        int m = f->step->mesh_dims[k];
        coordinate[m] = place % mesh->shape[m];
        place /= mesh->shape[m];
    }
    return dt_mesh_rank(mesh, dt_mesh_at(mesh, coordinate));
}

static flat
flat_begin(const dt_step *step, int64_t rank)
{
    flat f = {.step = step, .rank = rank, .place = -1, .root = -1};
    f.count = dt_step_group(step);
    int64_t index = dt_mesh_index(step->to->mesh, rank);
    int64_t coordinate[DT_MESH_MAX_NDIM] = {0};
    if (step->kind == DT_STEP_BROADCAST)
        f.root = dt_mesh_rank(step->from->mesh, 0);
    if (index >= 0)
        dt_mesh_coordinate(coordinate, step->to->mesh, index);
    int64_t bytes = dt_layout_local_bytes(step->to, coordinate);
    f.elements = bytes / (int64_t)dt_dtype_size(step->to->dtype);
    f.one_round = dt_in_one_round(bytes, f.count);
    for (int64_t place = 0; index >= 0 && place < f.count; place++)
        if (member_rank(&f, place) == rank)
            f.place = place;
    return f;
}

static dt_range
chunk_of(const flat *f, int64_t place)
{
    if (f->one_round)
        return (dt_range){0, f->elements};
    if (place < 0)
        return (dt_range){0, 0};
    return dt_chunk(f->elements, f->count, place);
}

static bool
add_flat(dt_pieces *list, dt_bump *memory, const flat *f, int64_t rank, dt_range range)
{
    return range.size == 0 ||
           flat_piece(&list->pieces[list->count++], memory, rank, range, f->elements);
}

/* The pieces of one rank: scattering sends every member its chunk, gathering sends
 * every member one's own. The root of a broadcast has all and is sent nothing. */
static bool
flat_pieces(dt_lane *lane, dt_bump *memory, const flat *f, bool gathering)
{
    size_t room = (size_t)(f->count + 1);
    lane->sent.pieces = calloc(room, sizeof(dt_piece));
    lane->received.pieces = calloc(room, sizeof(dt_piece));
    bool well = lane->sent.pieces != NULL && lane->received.pieces != NULL;
    bool is_root = f->rank == f->root;
    bool broadcast = f->root >= 0;
    if (f->place < 0 && !is_root)
        return well; /* it looks on */
    bool done = gathering && f->one_round;
    dt_range own = chunk_of(f, f->place);
    for (int64_t place = 0; well && !done && place < f->count; place++) {
        int64_t rank = member_rank(f, place);
        dt_range theirs = chunk_of(f, place);
        if (rank == f->rank)
            continue;
        bool sends =
            gathering ? f->place >= 0 && rank != f->root : !broadcast || is_root;
        if (sends)
            well = add_flat(&lane->sent, memory, f, rank, gathering ? own : theirs);
        bool takes = gathering ? f->place >= 0 && !is_root : !broadcast;
        if (well && takes)
            well = add_flat(&lane->received, memory, f, rank, gathering ? theirs : own);
    }
    if (well && broadcast && !gathering && !is_root && f->place >= 0)
        well = add_flat(&lane->received, memory, f, f->root, own);
    dt_range kept = gathering ? (dt_range){0, 0} : own;
    if (broadcast)
        kept = is_root && f->place >= 0 && !gathering ? (dt_range){0, f->elements}
                                                      : (dt_range){0, 0};
    if (well && kept.size > 0)
        well = flat_piece(&lane->sent.own, memory, f->rank, kept, f->elements) &&
               flat_piece(&lane->received.own, memory, f->rank, kept, f->elements);
    return well;
}

/* --- streams --- */

/* True if a piece is one run of memory in C-ordered arrays of both sides. */
static bool
whole_on_both(const dt_piece *piece, int ndim, const int64_t *mine)
{
    int d = 0;
    while (d < ndim && piece->size[d] == 1)
        d++;
    for (int k = 0; k < ndim; k++)
        if (piece->counts[k] != 1 || (k > d && (piece->size[k] != mine[k] ||
                                                piece->size[k] != piece->theirs[k])))
            return false;
    return true;
}

static size_t
limited(size_t bytes, size_t itemsize)
{
    size_t most = (size_t)INT32_MAX / itemsize;
    if ((int64_t)most > dt_count_limit)
        most = (size_t)dt_count_limit;
    size_t items = bytes / itemsize;
    return (items < 1 ? 1 : items > most ? most : items) * itemsize;
}

typedef struct {
    int64_t rank;
    int64_t distance;
    dt_part part;
} entry;

static int
by_distance(const void *a, const void *b)
{
    const entry *x = a, *y = b;
    if (x->distance != y->distance)
        return x->distance < y->distance ? -1 : 1;
    return (x->part.lane > y->part.lane) - (x->part.lane < y->part.lane);
}

static int
place_of(const dt_group *group, int64_t rank)
{
    if (rank < group->size && group->ranks[rank] == rank)
        return (int)rank;
    for (int k = 0; k < group->size; k++)
        if (group->ranks[k] == rank)
            return k;
    return -1;
}

/* The pieces of all lanes in one list, by distance in the group. */
static entry *
list_entries(int64_t *count, const dt_round *round, const dt_group *group, bool sending)
{
    int64_t total = 0;
    for (int k = 0; k < round->lane_count; k++)
        total += sending ? round->lanes[k].sent.count : round->lanes[k].received.count;
    entry *entries = malloc(sizeof *entries * (size_t)(total + 1));
    if (entries == NULL)
        return NULL;
    *count = 0;
    for (int k = 0; k < round->lane_count; k++) {
        const dt_lane *lane = &round->lanes[k];
        const dt_pieces *pieces = sending ? &lane->sent : &lane->received;
        for (int64_t i = 0; i < pieces->count; i++) {
            const dt_piece *piece = &pieces->pieces[i];
            int place = place_of(group, piece->rank);
            int64_t ahead = sending ? place - group->index : group->index - place;
            entries[(*count)++] =
                (entry){.rank = place, /* from here on: its place */
                        .distance = (ahead + group->size) % group->size,
                        .part = {lane, piece}};
        }
    }
    qsort(entries, (size_t)*count, sizeof *entries, by_distance);
    return entries;
}

static dt_status
make_streams(dt_round *round, const dt_group *group, bool sending, bool may_go_whole,
             const int64_t *const *mine, dt_error *err)
{
    int64_t count = 0;
    entry *entries = list_entries(&count, round, group, sending);
    dt_stream *streams = calloc((size_t)(count + 1), sizeof *streams);
    dt_part *parts = dt_bump_take(&round->memory, (size_t)(count + 1), sizeof *parts);
    if (entries == NULL || streams == NULL || parts == NULL) {
        free(entries);
        free(streams);
        return no_memory(err);
    }
    int64_t made = 0;
    for (int64_t i = 0; i < count; i++) {
        parts[i] = entries[i].part;
        dt_stream *last = made > 0 ? &streams[made - 1] : NULL;
        if (last != NULL && last->place == (int)entries[i].rank) {
            last->count++;
            last->capacity = limited(round->slice, parts[i].lane->itemsize);
            continue;
        }
        streams[made] =
            (dt_stream){.place = (int)entries[i].rank, .count = 1, .parts = &parts[i]};
        const dt_lane *lane = parts[i].lane;
        bool whole =
            may_go_whole && round->lane_count == 1 && !round->reduced &&
            whole_on_both(parts[i].piece, lane->ndim, mine[lane - round->lanes]);
        streams[made++].capacity =
            limited(whole ? (size_t)INT32_MAX : round->slice, lane->itemsize);
    }
    free(entries);
    if (sending) {
        round->sends = streams;
        round->send_count = made;
    } else {
        round->receives = streams;
        round->receive_count = made;
    }
    return DT_OK;
}

/* A share of the scratch for each buffer; the same on all ranks. */
static void
choose_slice(dt_round *round, int64_t ranks, int64_t scratch)
{
    const int64_t each = DT_PACK_BUFFERS + DT_MESSAGES_AT_ONCE;
    int64_t peers = ranks > 1 ? ranks - 1 : 1;
    if (peers > DT_STREAMS_AT_ONCE && !round->reduced)
        peers = DT_STREAMS_AT_ONCE;
    int64_t share = (scratch > 0 ? scratch : DT_SCRATCH_BYTES) / (each * peers);
    int64_t least = scratch > 0 ? DT_SLICE_LEAST_BOUND : DT_SLICE_LEAST;
    int64_t slice = DT_SLICE_MOST;
    while (slice > least && slice > share)
        slice /= 2;
    round->slice = (size_t)slice;
}

static int64_t
order_of(const dt_step *step, int64_t rank)
{
    int64_t coordinate[DT_MESH_MAX_NDIM], order = 0;
    int64_t index = dt_mesh_index(step->from->mesh, rank);
    if (index < 0)
        return -1;
    dt_mesh_coordinate(coordinate, step->from->mesh, index);
    for (int k = 0; k < step->mesh_dim_count; k++) {
        int m = step->mesh_dims[k];
        order = order * step->from->mesh->shape[m] + coordinate[m];
    }
    return order;
}

static int
by_order(const void *a, const void *b)
{
    const dt_stream *x = a, *y = b;
    return (x->order > y->order) - (x->order < y->order);
}

/* All addends of a slice are awaited together, so they can be listed as they are
 * combined. */
static void
set_reduction(dt_round *round, const dt_step *step, const dt_group *group)
{
    if (!round->reduced)
        return;
    round->op = step->op;
    round->divisor = dt_step_group(step);
    round->order = group->index < 0 ? -1 : order_of(step, group->ranks[group->index]);
    for (int64_t k = 0; k < round->receive_count; k++)
        round->receives[k].order =
            order_of(step, group->ranks[round->receives[k].place]);
    qsort(round->receives, (size_t)round->receive_count, sizeof *round->receives,
          by_order);
}

/* What stays on the rank, as a stream on either side; cut like the addends that it is
 * combined with. */
static dt_status
make_own(dt_round *round, dt_error *err)
{
    size_t room = (size_t)round->lane_count;
    dt_part *from = dt_bump_take(&round->memory, room, sizeof *from);
    dt_part *to = dt_bump_take(&round->memory, room, sizeof *to);
    if (from == NULL || to == NULL)
        return no_memory(err);
    int count = 0;
    for (int k = 0; k < round->lane_count; k++) {
        const dt_lane *lane = &round->lanes[k];
        if (lane->sent.own.elements == 0)
            continue;
        from[count] = (dt_part){lane, &lane->sent.own};
        to[count++] = (dt_part){lane, &lane->received.own};
    }
    size_t capacity = OWN_BYTES;
    if (round->reduced && round->receive_count > 0)
        capacity = round->receives[0].capacity;
    round->own_src = (dt_stream){.count = count, .parts = from, .capacity = capacity};
    round->own_dst = (dt_stream){.count = count, .parts = to, .capacity = capacity};
    return DT_OK;
}

static int64_t
ranks_of(const dt_step *step)
{
    if (dt_mesh_same_ranks(step->from->mesh, step->to->mesh))
        return dt_step_group(step);
    int64_t a = step->from->mesh->size, b = step->to->mesh->size;
    return a > b ? a : b;
}

/* The local shapes of a rank on one side, lane by lane. */
static const int64_t **
local_shapes(dt_round *round, const dt_step *const *steps, int64_t rank, bool sending)
{
    const int64_t **out =
        dt_bump_take(&round->memory, (size_t)round->lane_count, sizeof *out);
    for (int k = 0; out != NULL && k < round->lane_count; k++) {
        const dt_layout *layout = sending ? steps[k]->from : steps[k]->to;
        int64_t *shape =
            dt_bump_take(&round->memory, (size_t)(layout->ndim + 1), sizeof *shape);
        if (shape == NULL)
            return NULL;
        int64_t index = dt_mesh_index(layout->mesh, rank);
        int64_t coordinate[DT_MESH_MAX_NDIM];
        if (index >= 0) {
            dt_mesh_coordinate(coordinate, layout->mesh, index);
            dt_layout_local_shape(shape, layout, coordinate);
        }
        out[k] = shape;
    }
    return out;
}

dt_status
dt_round_exchange(dt_round *round, const dt_step *const *steps, dt_group *group,
                  int64_t scratch, dt_error *err)
{
    int64_t rank = group->world->transport->rank;
    round->kind = steps[0]->kind;
    round->reduced = round->kind == DT_STEP_REDUCE_SCATTER;
    round->counts = true;
    choose_slice(round, ranks_of(steps[0]), scratch);
    for (int k = 0; k < round->lane_count; k++) {
        dt_exchange exchange = {.from = steps[k]->from, .to = steps[k]->to};
        exchange.reduced = round->reduced ? dt_step_mask(steps[k]) : 0;
        DT_TRY(dt_pieces_sent(&round->lanes[k].sent, &exchange, rank, err));
        DT_TRY(dt_pieces_received(&round->lanes[k].received, &exchange, rank, err));
    }
    const int64_t *const *before = local_shapes(round, steps, rank, true);
    const int64_t *const *after = local_shapes(round, steps, rank, false);
    if (before == NULL || after == NULL)
        return no_memory(err);
    /* The source of a scatter may have any strides and be larger than memory: slices.
     */
    bool whole = round->kind != DT_STEP_SCATTER;
    DT_TRY(make_streams(round, group, true, whole, before, err));
    DT_TRY(make_streams(round, group, false, whole, after, err));
    set_reduction(round, steps[0], group);
    return make_own(round, err);
}

dt_status
dt_round_flat(dt_round *round, const dt_step *const *steps, bool gathering,
              dt_group *group, int64_t scratch, dt_error *err)
{
    int64_t rank = group->world->transport->rank;
    round->kind = steps[0]->kind;
    round->reduced = round->kind == DT_STEP_ALL_REDUCE && !gathering;
    round->counts = !gathering;
    choose_slice(round, ranks_of(steps[0]), scratch);
    int64_t **shapes =
        dt_bump_take(&round->memory, (size_t)round->lane_count, sizeof *shapes);
    if (shapes == NULL)
        return no_memory(err);
    for (int k = 0; k < round->lane_count; k++) {
        flat f = flat_begin(steps[k], rank);
        shapes[k] = dt_bump_take(&round->memory, 1, sizeof **shapes);
        if (shapes[k] == NULL ||
            !flat_pieces(&round->lanes[k], &round->memory, &f, gathering))
            return no_memory(err);
        *shapes[k] = f.elements;
    }
    const int64_t *const *mine = (const int64_t *const *)shapes;
    DT_TRY(make_streams(round, group, true, true, mine, err));
    DT_TRY(make_streams(round, group, false, true, mine, err));
    set_reduction(round, steps[0], group);
    return make_own(round, err);
}

void
dt_round_free(dt_round *round)
{
    for (int k = 0; round->lanes != NULL && k < round->lane_count; k++) {
        dt_pieces_free(&round->lanes[k].sent);
        dt_pieces_free(&round->lanes[k].received);
    }
    free(round->sends);
    free(round->receives);
    dt_bump_free(&round->memory);
    *round = (dt_round){0};
}
