/* Who exchanges what in a step, as queues of pieces.
 *
 * Of an exchange of boxes core/layout says which pieces two ranks have in common. A sum or
 * a broadcast of whole arrays is cut into flat chunks instead, one a rank, whatever the
 * shapes: first every member gets its chunk (of all addends), then all get all chunks. Up
 * to a size the whole array is one chunk, and the first round is all (dt_in_one_round).
 * The pieces of all arrays for one peer are one queue, so there is one message where
 * there were several. What ranks must know of each other (which pieces, how large a
 * message, whether it goes whole) follows from layouts and fixed sizes alone: nothing is
 * told. Costs: memory and time in proportion to the peers, once for each run that is
 * kept. */
#include "comm/way/round.h"

#include <stdlib.h>
#include <string.h>

enum { OWN_BYTES = 1024 * 1024 }; /* copied between two looks at the messages */

dt_status
dt_round_no_memory(dt_error *err)
{
    return dt_fail(err, DT_MEMORY, "no memory to prepare a collective");
}

/* --- flat pieces --- */

static bool
flat_piece(dt_piece *out, dt_bump *memory, int64_t rank, dt_range range, int64_t theirs)
{
    int64_t *numbers = dt_bump_take(memory, 3, sizeof *numbers);
    dt_segment *segment = dt_bump_take(memory, 1, sizeof *segment);
    const dt_segment **segments = dt_bump_take(memory, 1, sizeof *segments);
    if (numbers == NULL || segment == NULL || segments == NULL)
        return false;
    *segment =
        (dt_segment){.offset = range.start, .theirs = range.start, .size = range.size};
    *segments = segment;
    numbers[0] = range.size;
    numbers[1] = theirs;
    numbers[2] = 1;
    *out = (dt_piece){.rank = rank,
                      .elements = range.size,
                      .size = &numbers[0],
                      .theirs = &numbers[1],
                      .counts = &numbers[2],
                      .segments = segments};
    return true;
}

/* Who takes part in a flat round, as one rank sees it. */
typedef struct {
    const dt_step *step;
    int64_t rank;                     /* one's own, of the world */
    int64_t origin[DT_MESH_MAX_NDIM]; /* one's own coordinate, zeros outside the mesh */
    int64_t elements;                 /* of the whole array */
    int64_t count;                    /* members that hold chunks */
    int64_t place;                    /* one's own among them, or -1 */
    int64_t root;                     /* of a broadcast; -1 in an all_reduce */
    bool one_round;
} members;

/* The rank of a member: of those that the step's mesh dimensions bring together. */
static int64_t
member_rank(const members *f, int64_t place)
{
    const dt_mesh *mesh = f->step->to->mesh;
    int64_t coordinate[DT_MESH_MAX_NDIM];
    memcpy(coordinate, f->origin, sizeof coordinate);
    for (int k = f->step->mesh_dim_count - 1; k >= 0; k--) {
        int m = f->step->mesh_dims[k];
        coordinate[m] = place % mesh->shape[m];
        place /= mesh->shape[m];
    }
    return dt_mesh_rank(mesh, dt_mesh_at(mesh, coordinate));
}

static members
find_members(const dt_step *step, dt_manner manner, int64_t rank)
{
    const dt_mesh *mesh = step->to->mesh;
    members f = {.step = step, .rank = rank, .place = -1, .root = -1};
    f.count = dt_step_group(step);
    if (step->kind == DT_STEP_BROADCAST)
        f.root = dt_mesh_rank(step->from->mesh, 0);
    int64_t index = dt_mesh_index(mesh, rank);
    if (index >= 0) {
        dt_mesh_coordinate(f.origin, mesh, index);
        f.place = dt_step_place(step, mesh, index);
    }
    int64_t bytes = dt_layout_local_bytes(step->to, f.origin);
    f.elements = bytes / (int64_t)dt_dtype_size(step->to->dtype);
    f.one_round = dt_in_one_round(bytes, f.count, manner == DT_BY_READING);
    return f;
}

static dt_range
chunk_of(const members *f, int64_t place)
{
    if (f->one_round)
        return (dt_range){0, f->elements};
    if (place < 0)
        return (dt_range){0, 0};
    return dt_chunk(f->elements, f->count, place);
}

static bool
add_flat(dt_pieces *list, dt_bump *memory, const members *f, int64_t rank,
         dt_range range)
{
    return range.size == 0 ||
           flat_piece(&list->pieces[list->count++], memory, rank, range, f->elements);
}

/* The pieces of one rank: scattering sends every member its chunk, gathering sends
 * every member one's own. The root of a broadcast has all and is sent nothing. */
static bool
flat_pieces(dt_array *array, dt_bump *memory, const members *f, bool gathering)
{
    size_t room = (size_t)(f->count + 1);
    array->sent.pieces = calloc(room, sizeof(dt_piece));
    array->received.pieces = calloc(room, sizeof(dt_piece));
    bool well = array->sent.pieces != NULL && array->received.pieces != NULL;
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
            well = add_flat(&array->sent, memory, f, rank, gathering ? own : theirs);
        bool takes = gathering ? f->place >= 0 && !is_root : !broadcast;
        if (well && takes)
            well =
                add_flat(&array->received, memory, f, rank, gathering ? theirs : own);
    }
    if (well && broadcast && !gathering && !is_root && f->place >= 0)
        well = add_flat(&array->received, memory, f, f->root, own);
    dt_range kept = gathering ? (dt_range){0, 0} : own;
    if (broadcast)
        kept = is_root && f->place >= 0 && !gathering ? (dt_range){0, f->elements}
                                                      : (dt_range){0, 0};
    if (well && kept.size > 0)
        well = flat_piece(&array->sent.own, memory, f->rank, kept, f->elements) &&
               flat_piece(&array->received.own, memory, f->rank, kept, f->elements);
    return well;
}

/* --- queues --- */

/* True if a piece is contiguous in C-ordered arrays of both sides. */
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
    int place;
    int64_t distance;
    dt_part part;
} entry;

static int
by_distance(const void *a, const void *b)
{
    const entry *x = a, *y = b;
    if (x->distance != y->distance)
        return x->distance < y->distance ? -1 : 1;
    return (x->part.array > y->part.array) - (x->part.array < y->part.array);
}

/* The pieces of all arrays in one list, by distance in the group. */
static entry *
list_entries(int64_t *count, const dt_round *round, const dt_group *group, bool sending)
{
    int64_t total = 0;
    for (int k = 0; k < round->array_count; k++)
        total +=
            sending ? round->arrays[k].sent.count : round->arrays[k].received.count;
    entry *entries = malloc(sizeof *entries * (size_t)(total + 1));
    if (entries == NULL)
        return NULL;
    *count = 0;
    for (int k = 0; k < round->array_count; k++) {
        const dt_array *array = &round->arrays[k];
        const dt_pieces *pieces = sending ? &array->sent : &array->received;
        for (int64_t i = 0; i < pieces->count; i++) {
            const dt_piece *piece = &pieces->pieces[i];
            int place = dt_group_place(group, piece->rank);
            int64_t ahead = sending ? place - group->index : group->index - place;
            entries[(*count)++] =
                (entry){.place = place,
                        .distance = (ahead + group->size) % group->size,
                        .part = {array, piece}};
        }
    }
    qsort(entries, (size_t)*count, sizeof *entries, by_distance);
    return entries;
}

static dt_status
make_queues(dt_round *round, const dt_group *group, bool sending, bool may_go_whole,
            const int64_t *const *mine, dt_error *err)
{
    int64_t count = 0;
    entry *entries = list_entries(&count, round, group, sending);
    dt_queue *queues = calloc((size_t)(count + 1), sizeof *queues);
    dt_part *parts = dt_bump_take(&round->memory, (size_t)(count + 1), sizeof *parts);
    if (entries == NULL || queues == NULL || parts == NULL) {
        free(entries);
        free(queues);
        return dt_round_no_memory(err);
    }
    int64_t made = 0;
    for (int64_t i = 0; i < count; i++) {
        parts[i] = entries[i].part;
        const dt_array *array = parts[i].array;
        dt_queue *last = made > 0 ? &queues[made - 1] : NULL;
        int64_t bytes = parts[i].piece->elements * (int64_t)array->itemsize;
        if (last != NULL && last->place == entries[i].place) {
            last->count++;
            last->bytes += bytes;
            last->capacity = limited(round->slice, array->itemsize);
            continue;
        }
        bool whole =
            may_go_whole && round->array_count == 1 && !round->reduced &&
            whole_on_both(parts[i].piece, array->ndim, mine[array - round->arrays]);
        queues[made++] =
            (dt_queue){.place = entries[i].place,
                       .count = 1,
                       .parts = &parts[i],
                       .bytes = bytes,
                       .capacity = limited(whole ? (size_t)INT32_MAX : round->slice,
                                           array->itemsize)};
    }
    free(entries);
    if (sending) {
        round->sends = queues;
        round->send_count = made;
    } else {
        round->receives = queues;
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
    if (peers > DT_CHANNELS_AT_ONCE && !round->reduced)
        peers = DT_CHANNELS_AT_ONCE;
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
    int64_t index = dt_mesh_index(step->from->mesh, rank);
    return index < 0 ? -1 : dt_step_place(step, step->from->mesh, index);
}

static int
by_order(const void *a, const void *b)
{
    const dt_queue *x = a, *y = b;
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
    round->divisor = step->divisor;
    round->reduced_ndim = dt_step_grid(round->reduced_lengths, step);
    round->order = group->index < 0 ? -1 : order_of(step, group->ranks[group->index]);
    for (int64_t k = 0; k < round->receive_count; k++)
        round->receives[k].order =
            order_of(step, group->ranks[round->receives[k].place]);
    qsort(round->receives, (size_t)round->receive_count, sizeof *round->receives,
          by_order);
}

/* What stays on the rank, as a queue; cut like the addends that it is combined with. */
static dt_status
make_own(dt_round *round, dt_error *err)
{
    dt_part *parts =
        dt_bump_take(&round->memory, (size_t)round->array_count, sizeof *parts);
    if (parts == NULL)
        return dt_round_no_memory(err);
    round->own = (dt_queue){.parts = parts, .capacity = OWN_BYTES};
    if (round->reduced && round->receive_count > 0)
        round->own.capacity = round->receives[0].capacity;
    for (int k = 0; k < round->array_count; k++) {
        const dt_array *array = &round->arrays[k];
        if (array->received.own.elements > 0)
            parts[round->own.count++] = (dt_part){array, &array->received.own};
    }
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

/* The local shapes of a rank on one side, array by array. */
static const int64_t **
local_shapes(dt_round *round, const dt_step *const *steps, int64_t rank, bool sending)
{
    const int64_t **out =
        dt_bump_take(&round->memory, (size_t)round->array_count, sizeof *out);
    for (int k = 0; out != NULL && k < round->array_count; k++) {
        const dt_layout *layout = sending ? steps[k]->from : steps[k]->to;
        int64_t *shape =
            dt_bump_take(&round->memory, (size_t)(layout->ndim + 1), sizeof *shape);
        if (shape == NULL)
            return NULL;
        dt_layout_shape_at(shape, layout, rank);
        out[k] = shape;
    }
    return out;
}

static dt_status
make_exchange(dt_round *round, const dt_step *const *steps, dt_manner manner,
              dt_group *group, dt_error *err)
{
    int64_t rank = group->world->transport->rank;
    for (int k = 0; k < round->array_count; k++) {
        dt_exchange exchange = {.from = steps[k]->from, .to = steps[k]->to};
        exchange.reduced = round->reduced ? dt_step_mask(steps[k]) : 0;
        DT_TRY(dt_pieces_sent(&round->arrays[k].sent, &exchange, rank, err));
        DT_TRY(dt_pieces_received(&round->arrays[k].received, &exchange, rank, err));
    }
    const int64_t *const *before = local_shapes(round, steps, rank, true);
    const int64_t *const *after = local_shapes(round, steps, rank, false);
    if (before == NULL || after == NULL)
        return dt_round_no_memory(err);
    DT_TRY(make_queues(round, group, true, manner == DT_IN_WHOLE, before, err));
    return make_queues(round, group, false, manner == DT_IN_WHOLE, after, err);
}

static dt_status
make_flat(dt_round *round, const dt_step *const *steps, dt_manner manner,
          dt_group *group, dt_error *err)
{
    int64_t rank = group->world->transport->rank;
    int64_t **shapes =
        dt_bump_take(&round->memory, (size_t)round->array_count, sizeof *shapes);
    if (shapes == NULL)
        return dt_round_no_memory(err);
    for (int k = 0; k < round->array_count; k++) {
        members f = find_members(steps[k], manner, rank);
        shapes[k] = dt_bump_take(&round->memory, 1, sizeof **shapes);
        if (shapes[k] == NULL ||
            !flat_pieces(&round->arrays[k], &round->memory, &f, round->gathering))
            return dt_round_no_memory(err);
        *shapes[k] = f.elements;
    }
    const int64_t *const *mine = (const int64_t *const *)shapes;
    DT_TRY(make_queues(round, group, true, manner == DT_IN_WHOLE, mine, err));
    return make_queues(round, group, false, manner == DT_IN_WHOLE, mine, err);
}

static dt_status
make_arrays(dt_round *round, const dt_step *const *steps, int count, dt_error *err)
{
    round->arrays = dt_bump_take(&round->memory, (size_t)count, sizeof *round->arrays);
    if (round->arrays == NULL)
        return dt_round_no_memory(err);
    round->array_count = count;
    for (int k = 0; k < count; k++) {
        dt_array *array = &round->arrays[k];
        dt_dtype made = steps[k]->to->dtype;
        array->ndim = round->flat ? 1 : steps[k]->to->ndim;
        array->dtype = steps[k]->from->dtype;
        array->itemsize = dt_dtype_size(array->dtype);
        array->made = array;
        if (made == array->dtype)
            continue;
        array->made = dt_bump_take(&round->memory, 1, sizeof *array);
        if (array->made == NULL)
            return dt_round_no_memory(err);
        array->made->ndim = array->ndim;
        array->made->dtype = made;
        array->made->itemsize = dt_dtype_size(made);
    }
    return DT_OK;
}

dt_status
dt_rounds_make(dt_round *rounds, int *count, const dt_step *const *steps, int arrays,
               dt_manner manner, dt_group *group, int64_t scratch, dt_error *err)
{
    dt_step_kind kind = steps[0]->kind;
    bool flat = kind == DT_STEP_ALL_REDUCE || kind == DT_STEP_BROADCAST;
    *count = flat ? 2 : 1;
    for (int k = 0; k < *count; k++) {
        dt_round *round = &rounds[k];
        bool gathering = k == 1;
        round->kind = kind;
        round->flat = flat;
        round->gathering = gathering;
        round->reduced = kind == DT_STEP_REDUCE_SCATTER ||
                         (kind == DT_STEP_ALL_REDUCE && !gathering);
        choose_slice(round, ranks_of(steps[0]), scratch);
        DT_TRY(make_arrays(round, steps, arrays, err));
        DT_TRY((flat ? make_flat : make_exchange)(round, steps, manner, group, err));
        set_reduction(round, steps[0], group);
        DT_TRY(make_own(round, err));
    }
    return DT_OK;
}

void
dt_round_place(dt_round *round, const dt_ends *ends)
{
    static const int64_t STRIDES[] = {1, 2, 4, 8, 16, 32};
    for (int k = 0; k < round->array_count; k++) {
        dt_array *array = &round->arrays[k];
        array->ends = ends[k];
        if (round->gathering)
            array->ends.src = array->ends.dst;
        array->made->ends = array->ends;
        if (!round->flat)
            continue;
        int power = 0;
        while ((size_t)STRIDES[power] != array->itemsize)
            power++;
        array->ends.src_stride = array->ends.dst_stride = &STRIDES[power];
    }
}

dt_reduction
dt_round_reduction(const dt_round *round, const dt_array *array, int64_t count)
{
    return (dt_reduction){.dtype = array->dtype,
                          .op = round->op,
                          .lengths = round->reduced_lengths,
                          .ndim = round->reduced_ndim,
                          .divisor = round->divisor,
                          .wide = array->made != array,
                          .rows = 1,
                          .count = count};
}

void
dt_round_free(dt_round *round)
{
    for (int k = 0; k < round->array_count; k++) {
        dt_pieces_free(&round->arrays[k].sent);
        dt_pieces_free(&round->arrays[k].received);
    }
    free(round->sends);
    free(round->receives);
    dt_bump_free(&round->memory);
    *round = (dt_round){0};
}
