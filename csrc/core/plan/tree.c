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

dt_tree
dt_tree_of(const dt_step *step)
{
    if (!dt_mesh_same_ranks(step->from->mesh, step->to->mesh))
        return step->kind == DT_STEP_BROADCAST ? DT_TREE_SPREAD : DT_TREE_NONE;
    int64_t n = dt_step_group(step);
    bool adds = power_of_two(n) && dt_reduce_op_travels(step->op, step->to->dtype);
    dt_tree route = n <= DT_TREE_ROUTE_MOST ? DT_TREE_ROUTE : DT_TREE_NONE;
    if (n < 2 || n > DT_TREE_RANKS_MOST)
        return DT_TREE_NONE;
    switch (step->kind) {
    case DT_STEP_ALL_GATHER:
        return DT_TREE_GATHER;
    case DT_STEP_ALL_REDUCE:
        return adds ? DT_TREE_DOUBLE : DT_TREE_GATHER;
    case DT_STEP_REDUCE_SCATTER:
        return adds ? DT_TREE_HALVE : route;
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

/* Bytes of the blocks that a place has before round k and passes on in it. */
static int64_t
passed_on(const dt_members *members, dt_tree tree, int64_t place, int round)
{
    int64_t n = members->count, distance = INT64_C(1) << round, bytes = 0;
    switch (tree) {
    case DT_TREE_NONE:
        return 0;
    case DT_TREE_GATHER:
        if (members->step->kind == DT_STEP_ALL_REDUCE)
            return least(distance, n - distance) *
                   dt_members_block(members, tree, place, place);
        for (int64_t k = 0; k < least(distance, n - distance); k++)
            bytes += dt_members_block(members, tree, place + k, place);
        return bytes;
    case DT_TREE_DOUBLE:
    case DT_TREE_SPREAD:
        return dt_members_block(members, tree, place, place);
    case DT_TREE_HALVE: /* to those that differ in bit k, and in none below */
        for (int64_t to = (place ^ distance) & (2 * distance - 1); to < n;
             to += 2 * distance)
            bytes += dt_members_block(members, tree, place, to);
        return bytes;
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
    out->bytes_copied = members.own < 0 ? 0 : out->bytes_before + out->bytes_received;
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

/* Whether there are enough ranks, and few enough bytes in all blocks of one. */
static bool
within(const dt_step *step, int64_t ranks, int64_t bytes)
{
    dt_tree tree = dt_tree_of(step);
    const dt_mesh *from = step->from->mesh, *to = step->to->mesh;
    if (tree == DT_TREE_NONE)
        return false;
    int64_t n = tree == DT_TREE_SPREAD ? to->size : dt_step_group(step);
    int64_t before = dt_layout_bytes_at(step->from, dt_mesh_rank(from, 0));
    int64_t after = dt_layout_bytes_at(step->to, dt_mesh_rank(to, 0));
    int64_t most = before > after ? before : after;
    if (tree == DT_TREE_GATHER || step->kind == DT_STEP_REDUCE_SCATTER)
        most = n * (before < after ? before : after);
    return n >= ranks && most <= bytes;
}

bool
dt_tree_can(const dt_step *step)
{
    return within(step, 2, DT_TREE_BYTES_CAN);
}

bool
dt_tree_pays(const dt_step *step)
{
    const dt_cost cost = DT_COST_DEFAULT;
    return within(step, DT_TREE_RANKS_LEAST, DT_TREE_BYTES_MOST) &&
           seconds(dt_tree_traffic, step, &cost) <
               seconds(dt_step_traffic, step, &cost);
}
