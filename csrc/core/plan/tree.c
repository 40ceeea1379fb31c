/* Few bytes cost as many latencies as they take messages: n - 1 of them from each to each,
 * log2 n from neighbour to neighbour, at the price of bytes that go a long way round.
 *
 * Gathering and routing are Bruck's algorithms (Bruck et al., IEEE Trans. Parallel
 * Distrib. Syst. 8, 1997), for any number of ranks. Doubling and halving pair places that
 * differ in one bit, the nearest first: what is combined is then always a pair of
 * neighbouring subtrees of the tree of kernels/reduce.h, so the bits are the same as by
 * any other way. That is so for powers of two alone, and where a sum of some addends may
 * be sent; else the addends themselves are gathered, or routed, and combined at the end.
 * Bytes are counted by looking at every block that a rank passes on. */
#include "core/plan/tree.h"

static bool
power_of_two(int64_t n)
{
    return (n & (n - 1)) == 0;
}

static int64_t
least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* The tensor dimension that a gather along one mesh dimension makes whole, if the parts
 * of the members are neighbours along it in the order of their places; else -1. */
static int
gathered_dim(const dt_step *step)
{
    int m = step->mesh_dims[0];
    if (step->kind != DT_STEP_ALL_GATHER || step->mesh_dim_count != 1 ||
        !dt_placement_cuts(step->from->placements[m]))
        return -1;
    int dim = step->from->placements[m].dim;
    const dt_cut *cut = &step->from->dims[dim];
    return cut->strided || cut->mesh_dims[cut->count - 1] != m ? -1 : dim;
}

/* Whether what is gathered from neighbours is one stretch of the result. */
static bool
joins(const dt_step *step)
{
    int dim = gathered_dim(step);
    for (int d = 0; d < dim; d++)
        if (step->to->shape[d] != 1)
            return false;
    return dim >= 0 && power_of_two(dt_step_group(step));
}

static dt_tree
gather_of(const dt_step *step)
{
    int64_t bytes = dt_layout_bytes_at(step->to, dt_mesh_rank(step->to->mesh, 0));
    return bytes >= DT_TREE_JOIN_LEAST && joins(step) ? DT_TREE_JOIN : DT_TREE_GATHER;
}

/* The tensor dimension along which a reduction over one mesh dimension leaves chunks, and
 * nothing else differs between those who get them; else -1. */
static int
halved_dim(const dt_step *step)
{
    int m = step->mesh_dims[0];
    dt_placement p = step->to->placements[m];
    if (step->mesh_dim_count != 1 || !dt_placement_cuts(p))
        return -1;
    const dt_cut *cut = &step->to->dims[p.dim];
    return cut->cuts == NULL && !cut->strided && dt_layout_nested(step->to, step->from)
               ? p.dim
               : -1;
}

/* Whether the bytes of many blocks are known without looking at each. */
static bool
is_counted(dt_tree tree, const dt_step *step)
{
    switch (tree) {
    case DT_TREE_GATHER:
        return step->kind == DT_STEP_ALL_REDUCE || gathered_dim(step) >= 0;
    case DT_TREE_HALVE:
        return halved_dim(step) >= 0;
    case DT_TREE_NONE:
    case DT_TREE_ROUTE:
        return false;
    case DT_TREE_DOUBLE:
    case DT_TREE_SPREAD:
    case DT_TREE_JOIN:
        return true;
    }
    return false;
}

/* The same, if ranks are not too many. */
static dt_tree
if_countable(dt_tree tree, const dt_step *step)
{
    bool few = dt_step_group(step) <= DT_TREE_BLOCKS_MOST;
    return few || is_counted(tree, step) ? tree : DT_TREE_NONE;
}

dt_tree
dt_tree_of(const dt_step *step)
{
    if (!dt_mesh_same_ranks(step->from->mesh, step->to->mesh))
        return step->kind == DT_STEP_BROADCAST ? DT_TREE_SPREAD : DT_TREE_NONE;
    int64_t n = dt_step_group(step);
    bool adds = power_of_two(n) && dt_reduce_op_travels(step->op, step->to->dtype);
    dt_tree route = n <= DT_TREE_ROUTE_MOST ? DT_TREE_ROUTE : DT_TREE_NONE;
    bool widens = step->from->dtype != step->to->dtype;
    if (n < 2 || n > DT_TREE_RANKS_MOST || widens)
        return DT_TREE_NONE;
    switch (step->kind) {
    case DT_STEP_ALL_GATHER:
        return if_countable(gather_of(step), step);
    case DT_STEP_ALL_REDUCE:
        return adds ? DT_TREE_DOUBLE : DT_TREE_GATHER;
    case DT_STEP_REDUCE_SCATTER:
        return adds ? if_countable(DT_TREE_HALVE, step) : route;
    case DT_STEP_ALL_TO_ALL:
    case DT_STEP_EXCHANGE:
        return route;
    case DT_STEP_LOCAL:
    case DT_STEP_BROADCAST:
    case DT_STEP_SCATTER:
    case DT_STEP_GATHER:
        return DT_TREE_NONE;
    }
    return DT_TREE_NONE;
}

/* --- who takes part --- */

void
dt_members_find(dt_members *out, const dt_step *step, int64_t rank)
{
    const dt_mesh *mesh = step->to->mesh;
    int64_t index = dt_mesh_index(mesh, rank);
    *out = (dt_members){.step = step, .own = -1, .root = -1, .root_index = -1};
    if (index >= 0)
        dt_mesh_coordinate(out->origin, mesh, index);
    if (dt_mesh_same_ranks(step->from->mesh, mesh)) {
        out->count = dt_step_group(step);
        out->own = index < 0 ? -1 : dt_step_place(step, mesh, index);
        return;
    }
    out->root = dt_mesh_rank(step->from->mesh, 0);
    out->root_index = dt_mesh_index(mesh, out->root);
    out->count = mesh->size + (out->root_index < 0);
    if (rank == out->root)
        out->own = 0;
    else if (index >= 0)
        out->own = index + (out->root_index < 0 || index < out->root_index);
}

int64_t
dt_member_rank(const dt_members *members, int64_t place)
{
    const dt_step *step = members->step;
    const dt_mesh *mesh = step->to->mesh;
    int64_t coordinate[DT_MESH_MAX_NDIM];
    place = (place % members->count + members->count) % members->count;
    if (members->root >= 0) {
        if (place == 0)
            return members->root;
        bool before = members->root_index < 0 || place <= members->root_index;
        return dt_mesh_rank(mesh, place - before);
    }
    for (int m = 0; m < mesh->ndim; m++)
        coordinate[m] = members->origin[m];
    for (int k = step->mesh_dim_count - 1; k >= 0; k--) {
        int m = step->mesh_dims[k];
        coordinate[m] = place % mesh->shape[m];
        place /= mesh->shape[m];
    }
    return dt_mesh_rank(mesh, dt_mesh_at(mesh, coordinate));
}

int64_t
dt_members_block(const dt_members *members, dt_tree tree, int64_t from, int64_t to)
{
    const dt_step *step = members->step;
    dt_exchange exchange = {.from = step->from, .to = step->to};
    int64_t sender = dt_member_rank(members, from);
    switch (tree) {
    case DT_TREE_NONE:
        return 0;
    case DT_TREE_GATHER:
    case DT_TREE_DOUBLE:
    case DT_TREE_JOIN:
        return dt_layout_bytes_at(step->from, sender);
    case DT_TREE_SPREAD:
        return dt_layout_bytes_at(step->from, members->root);
    case DT_TREE_HALVE:
    case DT_TREE_ROUTE:
        exchange.reduced =
            step->kind == DT_STEP_REDUCE_SCATTER ? dt_step_mask(step) : 0;
        return (int64_t)dt_dtype_size(step->to->dtype) *
               dt_exchange_between(&exchange, sender, dt_member_rank(members, to));
    }
    return 0;
}

/* --- rounds --- */

/* From the rank whose place lacks the highest bit, to those that have one more. */
static bool
spread_hop(dt_hop *out, const dt_members *members, int round)
{
    int64_t own = members->own, distance = INT64_C(1) << round;
    if (distance >= members->count)
        return false;
    *out = (dt_hop){.to = -1, .from = -1};
    if (own < distance && own + distance < members->count)
        out->to = own + distance;
    if (own >= distance && own < 2 * distance)
        out->from = own - distance;
    return true;
}

bool
dt_members_hop(dt_hop *out, const dt_members *members, dt_tree tree, int round)
{
    int64_t n = members->count, own = members->own, distance = INT64_C(1) << round;
    if (own < 0 || distance >= n)
        return false;
    switch (tree) {
    case DT_TREE_NONE:
        return false;
    case DT_TREE_GATHER:
        *out = (dt_hop){.to = (own - distance + n) % n, .from = (own + distance) % n};
        return true;
    case DT_TREE_DOUBLE:
    case DT_TREE_HALVE:
    case DT_TREE_JOIN:
        *out = (dt_hop){.to = own ^ distance, .from = own ^ distance};
        return true;
    case DT_TREE_ROUTE:
        *out = (dt_hop){.to = (own + distance) % n, .from = (own - distance + n) % n};
        return true;
    case DT_TREE_SPREAD:
        return spread_hop(out, members, round);
    }
    return false;
}

/* --- bytes --- */

/* Where the part of a place begins along a dimension, and where it ends. */
static int64_t
part_edge(const dt_members *members, int dim, int64_t place, bool end)
{
    const dt_layout *from = members->step->from;
    int64_t coordinate[DT_MESH_MAX_NDIM];
    dt_range range;
    dt_mesh_find(coordinate, from->mesh, dt_member_rank(members, place));
    dt_layout_ranges(&range, from, dim, dt_layout_part(from, dim, coordinate));
    return range.start + (end ? range.size : 0);
}

/* Bytes of the blocks of `count` places from `first` on, going round the end, that are
 * neighbours along a dimension. */
static int64_t
neighbours(const dt_members *members, int dim, int64_t first, int64_t count)
{
    const dt_layout *from = members->step->from;
    int64_t n = members->count, elements = 0;
    int64_t straight = least(count, n - first);
    elements = part_edge(members, dim, first + straight - 1, true) -
               part_edge(members, dim, first, false);
    if (count > straight)
        elements += part_edge(members, dim, count - straight - 1, true) -
                    part_edge(members, dim, 0, false);
    for (int d = 0; d < from->ndim; d++)
        if (d != dim)
            elements *=
                dt_layout_part_size(from, d, dt_layout_part(from, d, members->origin));
    return elements * (int64_t)dt_dtype_size(from->dtype);
}

static int64_t
gathered(const dt_members *members, int64_t first, int64_t count)
{
    const dt_step *step = members->step;
    int dim = gathered_dim(step);
    int64_t bytes = 0;
    if (dim >= 0)
        return neighbours(members, dim, first, count);
    if (step->kind == DT_STEP_ALL_REDUCE)
        return count * dt_members_block(members, DT_TREE_GATHER, first, first);
    for (int64_t k = 0; k < count; k++)
        bytes += dt_members_block(members, DT_TREE_GATHER, first + k, first);
    return bytes;
}

/* Bytes of the blocks for the places first, first + every, ... */
static int64_t
halved(const dt_members *members, int dim, int64_t first, int64_t every)
{
    const dt_layout *to = members->step->to;
    const dt_cut *cut = &to->dims[dim];
    int64_t coordinate[DT_MESH_MAX_NDIM], length = to->shape[dim], others = 1;
    int m = members->step->mesh_dims[0];
    for (int k = 0; k < to->mesh->ndim; k++)
        coordinate[k] = members->origin[k];
    for (int k = 0; cut->mesh_dims[k] != m; k++) {
        int before = cut->mesh_dims[k];
        length = dt_chunk(length, to->mesh->shape[before], coordinate[before]).size;
    }
    for (int d = 0; d < to->ndim; d++)
        if (d != dim)
            others *= dt_layout_part_size(to, d, dt_layout_part(to, d, coordinate));
    int64_t chunk = dt_chunk(length, members->count, 0).size;
    int64_t full =
        chunk == 0 ? 0 : length / chunk; /* then one that is short, or none */
    coordinate[m] = 0;
    int64_t size = dt_layout_part_size(to, dim, dt_layout_part(to, dim, coordinate));
    int64_t elements = full > first ? (full - first + every - 1) / every * size : 0;
    if (full >= first && full < members->count && (full - first) % every == 0) {
        coordinate[m] = full;
        elements += dt_layout_part_size(to, dim, dt_layout_part(to, dim, coordinate));
    }
    return elements * others * (int64_t)dt_dtype_size(to->dtype);
}

/* Bytes of the blocks that a place has before round k and passes on in it. */
static int64_t
passed_on(const dt_members *members, dt_tree tree, int64_t place, int round)
{
    int64_t n = members->count, distance = INT64_C(1) << round, bytes = 0;
    switch (tree) {
    case DT_TREE_NONE:
        return 0;
    case DT_TREE_GATHER:
        return gathered(members, place, least(distance, n - distance));
    case DT_TREE_JOIN:
        return gathered(members, place & ~(distance - 1), distance);
    case DT_TREE_DOUBLE:
    case DT_TREE_SPREAD:
        return dt_members_block(members, tree, place, place);
    case DT_TREE_HALVE: { /* to those that differ in bit k, and in none below */
        int64_t first = (place ^ distance) & (2 * distance - 1);
        int dim = halved_dim(members->step);
        if (dim >= 0)
            return halved(members, dim, first, 2 * distance);
        for (int64_t to = first; to < n; to += 2 * distance)
            bytes += dt_members_block(members, tree, place, to);
        return bytes;
    }
    case DT_TREE_ROUTE:
        for (int64_t way = distance; way < n; way++) {
            int64_t gone = way & (distance - 1);
            if (way & distance)
                bytes +=
                    dt_members_block(members, tree, place - gone, place - gone + way);
        }
        return bytes;
    }
    return 0;
}

void
dt_tree_traffic(dt_traffic *out, const dt_step *step, int64_t rank)
{
    dt_tree tree = dt_tree_of(step);
    dt_members members;
    dt_hop hop;
    *out = (dt_traffic){.bytes_before = dt_layout_bytes_at(step->from, rank),
                        .bytes_after = dt_layout_bytes_at(step->to, rank)};
    dt_members_find(&members, step, rank);
    for (int k = 0; dt_members_hop(&hop, &members, tree, k); k++) {
        int64_t sent = hop.to < 0 ? 0 : passed_on(&members, tree, members.own, k);
        if (hop.from >= 0)
            out->bytes_received += passed_on(&members, tree, hop.from, k);
        out->bytes_sent += sent;
        out->messages += sent > 0;
    }
    if (members.own >= 0)
        out->bytes_copied =
            out->bytes_before + (tree == DT_TREE_JOIN ? 0 : out->bytes_received);
    if (tree == DT_TREE_ROUTE)
        out->bytes_copied += out->bytes_sent;
}

/* --- whether it pays --- */

/* Of places that say it of all ranks alike. */
static double
seconds(void (*traffic)(dt_traffic *out, const dt_step *step, int64_t rank),
        const dt_step *step, const dt_cost *cost)
{
    const dt_mesh *mesh = step->to->mesh;
    const int64_t ranks[] = {dt_mesh_rank(step->from->mesh, 0), dt_mesh_rank(mesh, 0),
                             dt_mesh_rank(mesh, mesh->size - 1)};
    double most = 0;
    for (int k = 0; k < 3; k++) {
        dt_traffic t;
        traffic(&t, step, ranks[k]);
        double now = dt_traffic_seconds(&t, cost, cost->link);
        most = now > most ? now : most;
    }
    return most;
}

/* Bytes of all blocks of a rank, at most. */
static int64_t
all_blocks(const dt_step *step, dt_tree tree)
{
    const dt_mesh *from = step->from->mesh, *to = step->to->mesh;
    int64_t before = dt_layout_bytes_at(step->from, dt_mesh_rank(from, 0));
    int64_t after = dt_layout_bytes_at(step->to, dt_mesh_rank(to, 0));
    if (tree == DT_TREE_HALVE)
        return before;
    bool addends = step->kind == DT_STEP_REDUCE_SCATTER || tree == DT_TREE_GATHER;
    if (addends)
        return dt_step_group(step) * least(before, after);
    return before > after ? before : after;
}

bool
dt_tree_can(const dt_step *step)
{
    dt_tree tree = dt_tree_of(step);
    return tree != DT_TREE_NONE && all_blocks(step, tree) <= DT_TREE_BYTES_CAN;
}

bool
dt_tree_pays(const dt_step *step)
{
    const dt_cost cost = DT_COST_DEFAULT;
    bool spreads = !dt_mesh_same_ranks(step->from->mesh, step->to->mesh);
    int64_t n = spreads ? step->to->mesh->size : dt_step_group(step);
    if (n < DT_TREE_RANKS_LEAST)
        return false;
    dt_tree tree = dt_tree_of(step);
    if (tree == DT_TREE_NONE)
        return false;
    int64_t most = n < DT_TREE_LARGE_RANKS ? DT_TREE_BYTES_MOST
                   : tree == DT_TREE_JOIN  ? DT_TREE_BYTES_JOINED
                   : tree == DT_TREE_HALVE ? DT_TREE_BYTES_CAN
                                           : DT_TREE_BYTES_LARGE;
    return all_blocks(step, tree) <= most && seconds(dt_tree_traffic, step, &cost) <
                                                 seconds(dt_step_traffic, step, &cost);
}

bool
dt_tree_quick(const dt_step *step)
{
    return step->kind != DT_STEP_LOCAL && dt_step_group(step) >= DT_TREE_RANKS_LEAST &&
           is_counted(dt_tree_of(step), step);
}

bool
dt_tree_beats_reading(const dt_step *step)
{
    dt_tree tree = dt_tree_of(step);
    int64_t n = tree == DT_TREE_SPREAD ? step->to->mesh->size : dt_step_group(step);
    return dt_tree_pays(step) && n >= DT_TREE_RANKS_READING &&
           all_blocks(step, tree) <= DT_TREE_BYTES_READING;
}
