/* Making, comparing and printing layouts. */
#include "core/layout/layout.h"

#include "core/facts/hash.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Mesh dimensions that shard `dim`, left to right. */
static int
sharding_dims(int *out, const dt_mesh *mesh, const dt_placement *placements, int dim)
{
    int count = 0;
    for (int m = 0; m < mesh->ndim; m++)
        if (dt_placement_cuts_dim(placements[m], dim))
            out[count++] = m;
    return count;
}

static int
position_of(const int *list, int count, int value)
{
    for (int k = 0; k < count; k++)
        if (list[k] == value)
            return k;
    return -1;
}

/* torch's split of the mesh dimension at place `k` of an order: the product of the
 * lengths of those to its right that cut before it. */
static int64_t
split_of(const dt_mesh *mesh, const int *order, int k)
{
    int64_t split = 1;
    for (int before = 0; before < k; before++)
        if (order[before] > order[k])
            split *= mesh->shape[order[before]];
    return split;
}

/* Reads splits as an order: from the right, each mesh dimension goes behind as many of
 * those placed so far as give its split. False if some split is no such product. */
static bool
order_of_splits(int *order, const dt_mesh *mesh, const int *dims, const int64_t *splits,
                int count)
{
    int placed = 0;
    for (int k = count - 1; k >= 0; k--) {
        int at = 0;
        int64_t product = 1;
        while (product != splits[k] && at < placed)
            product *= mesh->shape[order[at++]];
        if (product != splits[k])
            return false;
        memmove(order + at + 1, order + at, sizeof *order * (size_t)(placed - at));
        order[at] = dims[k];
        placed++;
    }
    return true;
}

/* The splits of `count` mesh dimensions that the user's order means, which must not
 * contradict splits that are given too. */
static dt_status
splits_of_order(int64_t *splits, const dt_order *order, const dt_mesh *mesh,
                const int *dims, int count, bool split_given, dt_error *err)
{
    bool fits = order->count == count;
    for (int k = 0; fits && k < count; k++)
        fits = position_of(order->mesh_dims, count, dims[k]) >= 0;
    if (!fits)
        return dt_fail(err, DT_VALUE,
                       "the shard order of tensor dimension %d must name each of the "
                       "%d mesh dimensions that shard it once",
                       order->dim, count);
    int64_t wanted[DT_MESH_MAX_NDIM];
    for (int k = 0; k < count; k++) {
        int m = order->mesh_dims[k];
        wanted[position_of(dims, count, m)] =
            mesh->shape[m] > 1 ? split_of(mesh, order->mesh_dims, k) : 1;
    }
    /* Where splits are no order, a layout says its mesh dimensions: as it was given. */
    int other[DT_MESH_MAX_NDIM];
    if (split_given && !order_of_splits(other, mesh, dims, splits, count) &&
        memcmp(order->mesh_dims, dims, sizeof *dims * (size_t)count) == 0)
        return DT_OK;
    if (split_given && memcmp(wanted, splits, sizeof *splits * (size_t)count) != 0)
        return dt_fail(err, DT_VALUE,
                       "the shard order of tensor dimension %d contradicts its "
                       "_StridedShard placements; give one of the two",
                       order->dim);
    memcpy(splits, wanted, sizeof *splits * (size_t)count);
    return DT_OK;
}

/* Fills the order of one dimension's cuts from splits or from the user's order, in a
 * form that is the same for all orders that hold the same boxes. */
static dt_status
resolve_order(dt_cut *cut, dt_placement *placements, const dt_mesh *mesh, int dim,
              const dt_order *order, dt_error *err)
{
    int dims[DT_MESH_MAX_NDIM];
    int64_t splits[DT_MESH_MAX_NDIM];
    int count = sharding_dims(dims, mesh, placements, dim);
    bool split_given = false;
    for (int k = 0; k < count; k++) {
        splits[k] = mesh->shape[dims[k]] > 1 ? placements[dims[k]].split : 1;
        split_given = split_given || splits[k] != 1;
    }
    if (order != NULL)
        DT_TRY(splits_of_order(splits, order, mesh, dims, count, split_given, err));
    cut->count = count;
    cut->strided = !order_of_splits(cut->mesh_dims, mesh, dims, splits, count);
    if (cut->strided)
        memcpy(cut->mesh_dims, dims, sizeof *dims * (size_t)count);
    cut->parts = 1;
    for (int k = 0; k < count; k++) {
        cut->parts *= mesh->shape[dims[k]];
        placements[dims[k]].split = cut->strided ? splits[k] : 1;
    }
    return DT_OK;
}

static dt_status
check_cuts(const dt_cut *cut, const dt_cuts *given, int64_t length, dt_error *err)
{
    if (cut->count == 0 || cut->strided)
        return dt_fail(err, DT_VALUE,
                       "cut points of tensor dimension %d need a Shard(%d) placement",
                       given->dim, given->dim);
    if (given->count != cut->parts + 1)
        return dt_fail(err, DT_VALUE,
                       "tensor dimension %d has %" PRId64 " parts and needs %" PRId64
                       " cut points, got %" PRId64,
                       given->dim, cut->parts, cut->parts + 1, given->count);
    bool ascending = given->cuts[0] == 0 && given->cuts[cut->parts] == length;
    for (int64_t p = 0; ascending && p < cut->parts; p++)
        ascending = given->cuts[p] <= given->cuts[p + 1];
    if (!ascending)
        return dt_fail(err, DT_VALUE,
                       "cut points of tensor dimension %d must ascend from 0 to its "
                       "length %" PRId64,
                       given->dim, length);
    return DT_OK;
}

/* Takes over the user's cuts unless they are the ones that chunks have. */
static dt_status
take_cuts(dt_layout *layout, const dt_cuts *given, dt_error *err)
{
    if (given->dim < 0 || given->dim >= layout->ndim)
        return dt_fail(err, DT_VALUE, "cut points name tensor dimension %d of %d",
                       given->dim, layout->ndim);
    dt_cut *cut = &layout->dims[given->dim];
    DT_TRY(check_cuts(cut, given, layout->shape[given->dim], err));
    bool chunks = true;
    for (int64_t p = 0; chunks && p < cut->parts; p++)
        chunks = given->cuts[p + 1] - given->cuts[p] ==
                 dt_layout_part_size(layout, given->dim, p);
    if (chunks || cut->cuts != NULL)
        return DT_OK;
    size_t bytes = sizeof(int64_t) * (size_t)(cut->parts + 1);
    cut->cuts = malloc(bytes);
    if (cut->cuts == NULL)
        return dt_fail(err, DT_MEMORY, "no memory for %zu bytes of cut points", bytes);
    memcpy(cut->cuts, given->cuts, bytes);
    return DT_OK;
}

static dt_status
check_shape(int ndim, const int64_t *shape, dt_dtype dtype, dt_error *err)
{
    if (ndim < 0 || ndim > DT_MAX_NDIM)
        return dt_fail(err, DT_VALUE, "an array has 0 to %d dimensions, not %d",
                       DT_MAX_NDIM, ndim);
    int64_t bytes = (int64_t)dt_dtype_size(dtype);
    for (int d = 0; d < ndim; d++)
        if (shape[d] < 0)
            return dt_fail(err, DT_VALUE, "dimension %d has negative length %" PRId64,
                           d, shape[d]);
    /* A length of 0 does not excuse the others: parts multiply them one by one. */
    for (int d = 0; d < ndim; d++)
        if (__builtin_mul_overflow(bytes, shape[d] > 0 ? shape[d] : 1, &bytes) ||
            bytes > (INT64_C(1) << 62))
            return dt_fail(err, DT_VALUE, "an array of this shape has over 2^62 bytes");
    return DT_OK;
}

static dt_status
check_placement(dt_placement *p, int ndim, dt_dtype dtype, dt_error *err)
{
    switch (p->kind) {
    case DT_REPLICATE:
        *p = DT_REPLICATED;
        return DT_OK;
    case DT_PARTIAL:
        *p = DT_PENDING(p->op);
        return dt_reduce_op_check(p->op, dtype, err);
    case DT_SHARD:
        break;
    }
    int dim = p->dim < 0 ? p->dim + ndim : p->dim;
    if (dim < 0 || dim >= ndim)
        return dt_fail(err, DT_INDEX,
                       "Shard(dim=%d) is out of range for a tensor of %d dimensions",
                       p->dim, ndim);
    if (p->split < 1)
        return dt_fail(err, DT_VALUE, "split_factor must be at least 1, not %" PRId64,
                       p->split);
    *p = DT_STRIDED(dim, p->split);
    return DT_OK;
}

static void
hash_layout(dt_layout *layout)
{
    uint64_t hash = layout->mesh->hash;
    int head[2] = {layout->ndim, (int)layout->dtype};
    hash = dt_hash(hash, head, sizeof head);
    hash = dt_hash(hash, layout->shape, sizeof(int64_t) * (size_t)layout->ndim);
    for (int m = 0; m < layout->mesh->ndim; m++) {
        const dt_placement *p = &layout->placements[m];
        int64_t row[4] = {(int64_t)p->kind, (int64_t)p->op, p->dim, p->split};
        hash = dt_hash(hash, row, sizeof row);
    }
    for (int d = 0; d < layout->ndim; d++) {
        const dt_cut *cut = &layout->dims[d];
        hash = dt_hash(hash, cut->mesh_dims, sizeof(int) * (size_t)cut->count);
        if (cut->cuts != NULL)
            hash = dt_hash(hash, cut->cuts, sizeof(int64_t) * (size_t)(cut->parts + 1));
    }
    layout->hash = hash;
}

static dt_layout *
layout_alloc(const dt_mesh *mesh, int ndim, const int64_t *shape, dt_dtype dtype)
{
    dt_layout *layout = calloc(1, sizeof *layout);
    if (layout == NULL)
        return NULL;
    *layout = (dt_layout){.mesh = mesh, .ndim = ndim, .dtype = dtype};
    size_t n = (size_t)(ndim > 0 ? ndim : 1);
    layout->shape = calloc(n, sizeof *layout->shape);
    layout->dims = calloc(n, sizeof *layout->dims);
    if (layout->shape == NULL || layout->dims == NULL) {
        dt_layout_free(layout);
        return NULL;
    }
    if (ndim > 0)
        memcpy(layout->shape, shape, sizeof *shape * (size_t)ndim);
    return layout;
}

static dt_status
layout_fill(dt_layout *layout, const dt_placement *placements, const dt_order *orders,
            int order_count, const dt_cuts *cuts, int cuts_count, dt_error *err)
{
    const dt_mesh *mesh = layout->mesh;
    for (int m = 0; m < mesh->ndim; m++) {
        layout->placements[m] = placements != NULL ? placements[m] : DT_REPLICATED;
        DT_TRY(
            check_placement(&layout->placements[m], layout->ndim, layout->dtype, err));
        layout->has_partial =
            layout->has_partial || dt_placement_pending(layout->placements[m]);
    }
    for (int k = 0; k < order_count; k++)
        if (orders[k].dim < 0 || orders[k].dim >= layout->ndim)
            return dt_fail(err, DT_VALUE,
                           "a shard order names tensor dimension %d of %d",
                           orders[k].dim, layout->ndim);
    for (int d = 0; d < layout->ndim; d++) {
        const dt_order *order = NULL;
        for (int k = 0; k < order_count; k++)
            if (orders[k].dim == d)
                order = &orders[k];
        DT_TRY(
            resolve_order(&layout->dims[d], layout->placements, mesh, d, order, err));
    }
    for (int k = 0; k < cuts_count; k++)
        DT_TRY(take_cuts(layout, &cuts[k], err));
    hash_layout(layout);
    return DT_OK;
}

dt_status
dt_layout_make(dt_layout **out, const dt_mesh *mesh, const dt_placement *placements,
               int ndim, const int64_t *shape, dt_dtype dtype, const dt_order *orders,
               int order_count, const dt_cuts *cuts, int cuts_count, dt_error *err)
{
    DT_TRY(check_shape(ndim, shape, dtype, err));
    dt_layout *layout = layout_alloc(mesh, ndim, shape, dtype);
    if (layout == NULL)
        return dt_fail(err, DT_MEMORY, "no memory for a layout");
    dt_status status =
        layout_fill(layout, placements, orders, order_count, cuts, cuts_count, err);
    if (status != DT_OK) {
        dt_layout_free(layout);
        return status;
    }
    *out = layout;
    return DT_OK;
}

void
dt_layout_free(dt_layout *layout)
{
    if (layout == NULL)
        return;
    for (int d = 0; layout->dims != NULL && d < layout->ndim; d++)
        free(layout->dims[d].cuts);
    free(layout->dims);
    free(layout->shape);
    free(layout);
}

static bool
cut_equal(const dt_cut *a, const dt_cut *b)
{
    if (a->count != b->count || (a->cuts == NULL) != (b->cuts == NULL))
        return false;
    if (memcmp(a->mesh_dims, b->mesh_dims, sizeof(int) * (size_t)a->count) != 0)
        return false;
    return a->cuts == NULL ||
           memcmp(a->cuts, b->cuts, sizeof(int64_t) * (size_t)(a->parts + 1)) == 0;
}

bool
dt_layout_equal(const dt_layout *a, const dt_layout *b)
{
    if (a == b)
        return true;
    if (a->hash != b->hash || a->mesh != b->mesh || a->ndim != b->ndim ||
        a->dtype != b->dtype)
        return false;
    for (int m = 0; m < a->mesh->ndim; m++)
        if (!dt_placement_equal(a->placements[m], b->placements[m]))
            return false;
    for (int d = 0; d < a->ndim; d++)
        if (a->shape[d] != b->shape[d] || !cut_equal(&a->dims[d], &b->dims[d]))
            return false;
    return true;
}

/* Whether a user's placement says of a mesh dimension that shards what `from` says: its
 * split may stand for the order. */
static bool
shards_alike(const dt_layout *from, int m, dt_placement placement)
{
    return placement.kind == from->placements[m].kind &&
           (placement.split == from->placements[m].split ||
            placement.split == dt_layout_placement(from, m).split);
}

/* Orders and cuts of `from` for the dimensions that `placements` cut alike. */
static dt_status
copy_with(dt_layout **out, const dt_layout *from, const dt_mesh *mesh,
          const dt_placement *placements, dt_dtype dtype, dt_error *err)
{
    dt_placement plain[DT_MESH_MAX_NDIM];
    dt_order orders[DT_MAX_NDIM];
    dt_cuts cuts[DT_MAX_NDIM];
    int order_count = 0, cuts_count = 0;
    memcpy(plain, placements, sizeof *plain * (size_t)mesh->ndim);
    for (int d = 0; d < from->ndim; d++) {
        const dt_cut *cut = &from->dims[d];
        bool same = true;
        for (int m = 0; m < from->mesh->ndim; m++) {
            dt_placement a = from->placements[m], b = placements[m];
            int dim = b.dim < 0 ? b.dim + from->ndim : b.dim;
            bool was = dt_placement_cuts_dim(a, d);
            bool is = dt_placement_cuts(b) && dim == d;
            same = same && was == is && (!is || shards_alike(from, m, b));
        }
        if (!same || cut->count == 0 || cut->strided)
            continue;
        dt_order *order = &orders[order_count++];
        *order = (dt_order){.dim = d, .count = cut->count};
        for (int k = 0; k < cut->count; k++)
            plain[cut->mesh_dims[k]] = from->placements[cut->mesh_dims[k]];
        memcpy(order->mesh_dims, cut->mesh_dims, sizeof cut->mesh_dims);
        if (cut->cuts != NULL)
            cuts[cuts_count++] =
                (dt_cuts){.dim = d, .count = cut->parts + 1, .cuts = cut->cuts};
    }
    return dt_layout_make(out, mesh, plain, from->ndim, from->shape, dtype, orders,
                          order_count, cuts, cuts_count, err);
}

dt_status
dt_layout_with(dt_layout **out, const dt_layout *from, const dt_placement *placements,
               dt_error *err)
{
    return copy_with(out, from, from->mesh, placements, from->dtype, err);
}

dt_status
dt_layout_dual(dt_layout **out, const dt_layout *from, dt_error *err)
{
    dt_placement placements[DT_MESH_MAX_NDIM];
    for (int m = 0; m < from->mesh->ndim; m++)
        placements[m] = dt_placement_dual(from->placements[m]);
    return dt_layout_with(out, from, placements, err);
}

dt_status
dt_layout_addend_scale(double *out, const dt_layout *layout, dt_error *err)
{
    double scale = 1;
    for (int m = 0; m < layout->mesh->ndim; m++) {
        dt_placement placement = layout->placements[m];
        if (!dt_placement_pending(placement))
            continue;
        if (!dt_reduce_op_linear(placement.op))
            return dt_fail(err, DT_NOT_IMPLEMENTED,
                           "the gradient of the addends of a Partial('%s') is not "
                           "implemented: only of sum and avg",
                           dt_reduce_op_name(placement.op));
        if (dt_reduce_op_get(placement.op)->law == DT_LAW_AVERAGES)
            scale /= (double)layout->mesh->shape[m];
    }
    *out = scale;
    return DT_OK;
}

dt_status
dt_layout_with_dtype(dt_layout **out, const dt_layout *from, dt_dtype dtype,
                     dt_error *err)
{
    return copy_with(out, from, from->mesh, from->placements, dtype, err);
}

dt_status
dt_layout_on(dt_layout **out, const dt_layout *from, const dt_mesh *mesh, dt_error *err)
{
    return copy_with(out, from, mesh, from->placements, from->dtype, err);
}

dt_placement
dt_layout_placement(const dt_layout *layout, int mesh_dim)
{
    dt_placement placement = layout->placements[mesh_dim];
    if (!dt_placement_cuts(placement) || layout->dims[placement.dim].strided)
        return placement;
    const dt_cut *cut = &layout->dims[placement.dim];
    if (cut->count == 1)
        return placement;
    int k = position_of(cut->mesh_dims, cut->count, mesh_dim);
    placement.split = split_of(layout->mesh, cut->mesh_dims, k);
    return placement;
}

/* True where the order of some dimension is not left to right. */
static bool
is_ordered(const dt_layout *layout)
{
    for (int d = 0; d < layout->ndim; d++)
        for (int k = 1; k < layout->dims[d].count; k++)
            if (layout->dims[d].mesh_dims[k] < layout->dims[d].mesh_dims[k - 1])
                return true;
    return false;
}

int
dt_layout_print(char *out, size_t size, const dt_layout *layout)
{
    bool ordered = is_ordered(layout);
    size_t used = 0;
    char item[64];
    for (int m = 0; m <= layout->mesh->ndim; m++) {
        int n = 0;
        if (m < layout->mesh->ndim) {
            dt_placement p = layout->placements[m];
            n = snprintf(item, sizeof item, "%s", m == 0 ? "[" : ", ");
            n += dt_placement_print(item + n, sizeof item - (size_t)n, p);
            const dt_cut *cut = dt_placement_cuts(p) ? &layout->dims[p.dim] : NULL;
            if (cut != NULL && ordered && cut->count > 1)
                n += snprintf(item + n, sizeof item - (size_t)n, "[%d]",
                              position_of(cut->mesh_dims, cut->count, m));
            if (cut != NULL && cut->cuts != NULL)
                n += snprintf(item + n, sizeof item - (size_t)n, "*");
        } else {
            n = snprintf(item, sizeof item, "%s", m == 0 ? "[]" : "]");
        }
        if (used < size)
            snprintf(out + used, size - used, "%s", item);
        used += (size_t)n;
    }
    return (int)used;
}
