/* What a step sends and copies, in closed form: plan.h's counting half. */
#include "core/plan/plan.h"

static const char *const NAMES[] = {
    [DT_STEP_LOCAL] = "local",           [DT_STEP_ALL_GATHER] = "all_gather",
    [DT_STEP_ALL_TO_ALL] = "all_to_all", [DT_STEP_REDUCE_SCATTER] = "reduce_scatter",
    [DT_STEP_ALL_REDUCE] = "all_reduce", [DT_STEP_BROADCAST] = "broadcast",
    [DT_STEP_SCATTER] = "scatter",       [DT_STEP_GATHER] = "gather",
    [DT_STEP_EXCHANGE] = "exchange",
};

const char *
dt_step_name(dt_step_kind kind)
{
    return NAMES[kind];
}

/* One round sends bytes * (ranks - 1), two send nearly twice the bytes but no more:
 * with two ranks it is the same. Past the caches two rounds are faster all the same. */
bool
dt_in_one_round(int64_t bytes, int64_t ranks, bool reads)
{
    return bytes <= (reads ? DT_ONE_ROUND_READ : DT_ONE_ROUND_BYTES) &&
           bytes * (ranks - 2) <= DT_ONE_ROUND_MORE;
}

int64_t
dt_step_group(const dt_step *step)
{
    int64_t size = 1;
    for (int k = 0; k < step->mesh_dim_count; k++)
        size *= step->to->mesh->shape[step->mesh_dims[k]];
    return size;
}

int
dt_step_grid(int64_t *lengths, const dt_step *step)
{
    int ndim = 0;
    for (int k = 0; k < step->mesh_dim_count; k++) {
        int64_t length = step->to->mesh->shape[step->mesh_dims[k]];
        if (ndim > 0 && (length & (length - 1)) == 0)
            lengths[ndim - 1] *= length;
        else
            lengths[ndim++] = length;
    }
    return ndim;
}

unsigned
dt_step_mask(const dt_step *step)
{
    unsigned mask = 0;
    for (int k = 0; k < step->mesh_dim_count; k++)
        mask |= 1U << step->mesh_dims[k];
    return mask;
}

bool
dt_steps_together(const dt_step *a, const dt_step *b)
{
    return a->kind == b->kind && a->op == b->op && a->divisor == b->divisor &&
           dt_step_mask(a) == dt_step_mask(b) &&
           dt_mesh_same_ranks(a->from->mesh, b->from->mesh) &&
           dt_mesh_same_ranks(a->to->mesh, b->to->mesh);
}

static void
exchange_traffic(dt_traffic *out, const dt_step *step, unsigned reduced, int64_t rank)
{
    dt_exchange exchange = {.from = step->from, .to = step->to, .reduced = reduced};
    int64_t size = (int64_t)dt_dtype_size(step->from->dtype);
    int64_t made = (int64_t)dt_dtype_size(step->to->dtype);
    int64_t elements;
    out->failed = !dt_exchange_count(&out->messages, &elements, &exchange, rank);
    int64_t kept = size * dt_exchange_kept(&exchange, rank);
    out->bytes_sent = size * elements;
    out->bytes_copied = kept;
    out->bytes_received = out->bytes_after - kept;
    if (reduced != 0) {
        int64_t addend = out->bytes_after / made * size;
        out->bytes_received = addend * (dt_step_group(step) - 1);
        out->bytes_copied = addend * dt_step_group(step);
    }
}

/* Elements of the equal chunk that member `index` of a group looks after. */
static int64_t
chunk_bytes(int64_t bytes, int64_t size, int64_t count, int64_t index)
{
    return size * dt_chunk(bytes / size, count, index).size;
}

/* How many members of a group have a chunk that is not empty. */
static int64_t
chunk_owners(int64_t elements, int64_t count)
{
    int64_t chunk = dt_chunk(elements, count, 0).size;
    return chunk == 0 ? 0 : elements / chunk + (elements % chunk != 0);
}

int64_t
dt_step_place(const dt_step *step, const dt_mesh *mesh, int64_t index)
{
    int64_t coordinate[DT_MESH_MAX_NDIM], place = 0;
    dt_mesh_coordinate(coordinate, mesh, index);
    for (int k = 0; k < step->mesh_dim_count; k++) {
        int m = step->mesh_dims[k];
        place = place * mesh->shape[m] + coordinate[m];
    }
    return place;
}

static void
all_reduce_traffic(dt_traffic *out, const dt_step *step, int64_t rank)
{
    int64_t index = dt_mesh_index(step->to->mesh, rank);
    int64_t n = dt_step_group(step), bytes = out->bytes_after;
    if (index < 0 || bytes == 0)
        return;
    if (dt_in_one_round(bytes, n, false)) {
        out->messages = n - 1;
        out->bytes_sent = out->bytes_received = bytes * (n - 1);
        out->bytes_copied = bytes * n; /* every rank adds up all */
        return;
    }
    int64_t size = (int64_t)dt_dtype_size(step->to->dtype);
    int64_t own =
        chunk_bytes(bytes, size, n, dt_step_place(step, step->to->mesh, index));
    int64_t owners = chunk_owners(bytes / size, n);
    out->messages = owners - (own > 0) + (own > 0 ? n - 1 : 0);
    out->bytes_sent = bytes - own + own * (n - 1);
    out->bytes_received = own * (n - 1) + bytes - own;
    out->bytes_copied = own * n;
}

static void
broadcast_traffic(dt_traffic *out, const dt_step *step, int64_t rank)
{
    int64_t root = dt_mesh_rank(step->from->mesh, 0);
    int64_t n = step->to->mesh->size;
    int64_t size = (int64_t)dt_dtype_size(step->to->dtype);
    int64_t bytes = dt_layout_bytes_at(step->from, root);
    int64_t index = dt_mesh_index(step->to->mesh, rank);
    bool root_inside = dt_mesh_index(step->to->mesh, root) >= 0;
    int64_t others = n - root_inside;
    if (bytes == 0)
        return;
    bool one_round = dt_in_one_round(bytes, n, false);
    int64_t own = index < 0 || one_round ? 0 : chunk_bytes(bytes, size, n, index);
    if (rank == root && one_round) {
        out->messages = others;
        out->bytes_sent = bytes * others;
    } else if (rank == root) {
        out->messages =
            chunk_owners(bytes / size, n) - (own > 0) + (own > 0 ? others : 0);
        out->bytes_sent = bytes - own + own * others;
    } else if (index >= 0 && own > 0) {
        out->messages = others - 1;
        out->bytes_sent = own * (others - 1);
    }
    out->bytes_received = rank == root ? 0 : out->bytes_after;
    out->bytes_copied = rank == root ? out->bytes_after : 0;
}

void
dt_step_traffic(dt_traffic *out, const dt_step *step, int64_t rank)
{
    *out = (dt_traffic){.bytes_before = dt_layout_bytes_at(step->from, rank),
                        .bytes_after = dt_layout_bytes_at(step->to, rank)};
    switch (step->kind) {
    case DT_STEP_LOCAL:
        out->bytes_copied = out->bytes_after;
        return;
    case DT_STEP_ALL_REDUCE:
        all_reduce_traffic(out, step, rank);
        return;
    case DT_STEP_BROADCAST:
        broadcast_traffic(out, step, rank);
        return;
    case DT_STEP_REDUCE_SCATTER:
        exchange_traffic(out, step, dt_step_mask(step), rank);
        return;
    case DT_STEP_ALL_GATHER:
    case DT_STEP_ALL_TO_ALL:
    case DT_STEP_SCATTER:
    case DT_STEP_GATHER:
    case DT_STEP_EXCHANGE:
        exchange_traffic(out, step, 0, rank);
        return;
    }
}

dt_link
dt_step_link(const dt_step *step, const dt_cost *cost)
{
    const dt_mesh *from = step->from->mesh, *to = step->to->mesh;
    if (dt_mesh_same_ranks(from, to))
        return dt_cost_link(cost, to, dt_step_mask(step));
    return dt_link_dearer(dt_cost_link(cost, from, (1U << from->ndim) - 1),
                          dt_cost_link(cost, to, (1U << to->ndim) - 1));
}

double
dt_traffic_seconds(const dt_traffic *t, const dt_cost *cost, dt_link link)
{
    int64_t wire =
        t->bytes_sent > t->bytes_received ? t->bytes_sent : t->bytes_received;
    return link.latency * (double)(t->messages + t->waits) +
           (double)wire / link.bandwidth + (double)t->bytes_copied / cost->copy;
}
