/* The geometry of layout.h: from placements to ranges, in closed form. */
#include "core/layout/layout.h"

#include "core/memory/copy.h"

#include <string.h>

static int64_t
min64(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static int64_t
ceil_div(int64_t a, int64_t b)
{
    return a / b + (a % b != 0);
}

dt_range
dt_chunk(int64_t length, int64_t count, int64_t index)
{
    int64_t chunk = ceil_div(length, count);
    int64_t start = length;
    /* index * chunk cannot overflow where it matters: it is beyond length then */
    if (chunk == 0 || index <= length / chunk)
        start = min64(index * chunk, length);
    return (dt_range){.start = start, .size = min64(chunk, length - start)};
}

int64_t
dt_layout_part(const dt_layout *layout, int dim, const int64_t *coordinate)
{
    const dt_cut *cut = &layout->dims[dim];
    int64_t part = 0;
    for (int k = 0; k < cut->count; k++) {
        int m = cut->mesh_dims[k];
        part = part * layout->mesh->shape[m] + coordinate[m];
    }
    return part;
}

/* How many chunks a mesh dimension makes of what it cuts. */
static int64_t
chunks_by(const dt_layout *layout, int m)
{
    return dt_placement_parts(layout->placements[m], layout->mesh->shape[m]);
}

/* One cut of a dimension: what the coordinate `index` of `count` keeps of `length`
 * elements that are first cut into `split` pieces. */
typedef struct {
    int64_t length, split, count, index;
} cut_level;

/* How many elements a level keeps. */
static int64_t
level_size(const cut_level *level)
{
    int64_t piece = ceil_div(level->length, level->split);
    if (piece == 0)
        return 0;
    int64_t whole = level->length / piece;
    int64_t rest = level->length % piece;
    return whole * dt_chunk(piece, level->count, level->index).size +
           dt_chunk(rest, level->count, level->index).size;
}

/* Where element x of what the level keeps was before, and how many follow it there. */
static dt_range
level_source(const cut_level *level, int64_t x)
{
    int64_t piece = ceil_div(level->length, level->split);
    int64_t kept = dt_chunk(piece, level->count, level->index).size;
    int64_t whole = level->length / piece;
    int64_t p = kept > 0 ? min64(x / kept, whole) : whole;
    dt_range in =
        dt_chunk(min64(piece, level->length - p * piece), level->count, level->index);
    int64_t offset = x - p * kept;
    return (dt_range){.start = p * piece + in.start + offset, .size = in.size - offset};
}

/* The levels of a part, outermost first; returns how many elements the last one keeps.
 */
static int64_t
part_levels(cut_level *out, const dt_layout *layout, int dim, int64_t part)
{
    const dt_cut *cut = &layout->dims[dim];
    int64_t length = layout->shape[dim];
    int64_t radix = cut->parts;
    for (int k = 0; k < cut->count; k++) {
        int m = cut->mesh_dims[k];
        radix /= layout->mesh->shape[m];
        out[k] = (cut_level){.length = length,
                             .split = layout->placements[m].split,
                             .count = chunks_by(layout, m),
                             .index = part / radix};
        part %= radix;
        length = level_size(&out[k]);
    }
    return length;
}

int64_t
dt_layout_part_size(const dt_layout *layout, int dim, int64_t part)
{
    const dt_cut *cut = &layout->dims[dim];
    if (cut->count == 0) /* these two are most of all */
        return layout->shape[dim];
    if (cut->cuts != NULL)
        return cut->cuts[part + 1] - cut->cuts[part];
    if (cut->count == 1 && !cut->strided)
        return dt_chunk(layout->shape[dim], chunks_by(layout, cut->mesh_dims[0]), part)
            .size;
    cut_level levels[DT_MESH_MAX_NDIM];
    return part_levels(levels, layout, dim, part);
}

int64_t
dt_layout_range_limit(const dt_layout *layout, int dim)
{
    const dt_cut *cut = &layout->dims[dim];
    int64_t limit = 1;
    for (int k = 0; k < cut->count; k++)
        limit +=
            min64(layout->placements[cut->mesh_dims[k]].split - 1, layout->shape[dim]);
    return limit;
}

int64_t
dt_layout_ranges(dt_range *out, const dt_layout *layout, int dim, int64_t part)
{
    const dt_cut *cut = &layout->dims[dim];
    if (cut->cuts != NULL) {
        int64_t start = cut->cuts[part];
        *out = (dt_range){.start = start, .size = cut->cuts[part + 1] - start};
        return 1;
    }
    cut_level levels[DT_MESH_MAX_NDIM];
    int64_t size = part_levels(levels, layout, dim, part);
    if (!cut->strided || size == 0) {
        int64_t start = 0;
        for (int k = 0; k < cut->count; k++)
            start += dt_chunk(levels[k].length, levels[k].count, levels[k].index).start;
        *out = (dt_range){.start = start, .size = size};
        return 1;
    }
    int64_t count = 0;
    for (int64_t x = 0; x < size;) {
        dt_range run = {.start = x, .size = size - x};
        for (int k = cut->count - 1; k >= 0; k--) {
            dt_range source = level_source(&levels[k], run.start);
            run.start = source.start;
            run.size = min64(run.size, source.size);
        }
        x += run.size;
        if (count > 0 && out[count - 1].start + out[count - 1].size == run.start)
            out[count - 1].size += run.size;
        else
            out[count++] = run;
    }
    return count;
}

/* The part that holds element `index` of a dimension that is not strided. */
static int64_t
part_at(const dt_layout *layout, int dim, int64_t index)
{
    const dt_cut *cut = &layout->dims[dim];
    if (cut->cuts != NULL) {
        int64_t low = 0, high = cut->parts; /* cuts[low] <= index < cuts[high] */
        while (high - low > 1) {
            int64_t middle = low + (high - low) / 2;
            if (cut->cuts[middle] <= index)
                low = middle;
            else
                high = middle;
        }
        return low;
    }
    int64_t part = 0;
    int64_t length = layout->shape[dim];
    for (int k = 0; k < cut->count; k++) {
        int m = cut->mesh_dims[k];
        int64_t count = chunks_by(layout, m);
        int64_t chunk = ceil_div(length, count);
        int64_t digit = index / chunk;
        index -= digit * chunk;
        length = dt_chunk(length, count, digit).size;
        part = part * layout->mesh->shape[m] + digit;
    }
    return part;
}

void
dt_layout_parts_over(int64_t *first, int64_t *last, const dt_layout *layout, int dim,
                     dt_range range)
{
    if (layout->dims[dim].strided) {
        *first = 0;
        *last = layout->dims[dim].parts - 1;
        return;
    }
    *first = part_at(layout, dim, range.start);
    *last = part_at(layout, dim, range.start + range.size - 1);
}

int
dt_layout_local_shape(int64_t *out, const dt_layout *layout, const int64_t *coordinate)
{
    if (coordinate == NULL) {
        memset(out, 0, sizeof *out * (size_t)(layout->ndim > 0 ? layout->ndim : 1));
        return 1;
    }
    for (int d = 0; d < layout->ndim; d++)
        out[d] = dt_layout_part_size(layout, d, dt_layout_part(layout, d, coordinate));
    return layout->ndim;
}

int64_t
dt_layout_local_bytes(const dt_layout *layout, const int64_t *coordinate)
{
    int64_t bytes = (int64_t)dt_dtype_size(layout->dtype);
    for (int d = 0; d < layout->ndim; d++)
        bytes *= dt_layout_part_size(layout, d, dt_layout_part(layout, d, coordinate));
    return bytes;
}

int
dt_layout_shape_at(int64_t *out, const dt_layout *layout, int64_t rank)
{
    int64_t coordinate[DT_MESH_MAX_NDIM];
    bool inside = dt_mesh_find(coordinate, layout->mesh, rank);
    return dt_layout_local_shape(out, layout, inside ? coordinate : NULL);
}

int64_t
dt_layout_bytes_at(const dt_layout *layout, int64_t rank)
{
    int64_t coordinate[DT_MESH_MAX_NDIM];
    bool inside = dt_mesh_find(coordinate, layout->mesh, rank);
    return inside ? dt_layout_local_bytes(layout, coordinate) : 0;
}

void
dt_layout_strides_at(int64_t *out, const dt_layout *layout, int64_t rank)
{
    int64_t shape[DT_MAX_NDIM];
    dt_layout_shape_at(shape, layout, rank);
    dt_c_strides(out, layout->ndim, shape, dt_dtype_size(layout->dtype));
}

/* The cuts of a dimension without those by a mesh dimension of length 1. */
static int
real_cuts(int *out, const dt_layout *layout, int dim)
{
    const dt_cut *cut = &layout->dims[dim];
    int count = 0;
    for (int k = 0; k < cut->count; k++)
        if (layout->mesh->shape[cut->mesh_dims[k]] > 1)
            out[count++] = cut->mesh_dims[k];
    return count;
}

int
dt_layout_first_cut(const dt_layout *layout, int m)
{
    int cuts[DT_MESH_MAX_NDIM], dim = layout->placements[m].dim;
    if (!dt_placement_cuts(layout->placements[m]))
        return -1;
    const dt_cut *cut = &layout->dims[dim];
    bool even =
        !cut->strided && cut->cuts == NULL && layout->shape[dim] % cut->parts == 0;
    bool second = real_cuts(cuts, layout, dim) == 2 && cuts[1] == m;
    return even && second ? cuts[0] : -1;
}

/* Whether `outer` is `inner` without the first of two cuts. */
static bool
lacks_first_cut(const dt_layout *inner, const dt_layout *outer, int dim, int m)
{
    dt_placement p = outer->placements[m];
    int first = dt_layout_first_cut(inner, m);
    return first >= 0 && outer->dims[dim].strided && inner->placements[m].dim == dim &&
           p.split == inner->mesh->shape[first];
}

static bool
dim_nested(const dt_layout *inner, const dt_layout *outer, int dim)
{
    int a[DT_MESH_MAX_NDIM], b[DT_MESH_MAX_NDIM];
    int inner_count = real_cuts(a, inner, dim);
    int outer_count = real_cuts(b, outer, dim);
    if (outer_count == 0)
        return true;
    if (outer_count > inner_count)
        return false;
    if (outer_count == 1 && lacks_first_cut(inner, outer, dim, b[0]))
        return true;
    for (int k = 0; k < outer_count; k++)
        if (a[k] != b[k] ||
            !dt_placement_equal(inner->placements[a[k]], outer->placements[b[k]]))
            return false;
    const dt_cut *x = &inner->dims[dim], *y = &outer->dims[dim];
    if (x->cuts == NULL && y->cuts == NULL)
        return true;
    return x->cuts != NULL && y->cuts != NULL && inner_count == outer_count &&
           memcmp(x->cuts, y->cuts, sizeof(int64_t) * (size_t)(x->parts + 1)) == 0;
}

bool
dt_layout_nested(const dt_layout *inner, const dt_layout *outer)
{
    for (int d = 0; d < inner->ndim; d++)
        if (!dim_nested(inner, outer, d))
            return false;
    return true;
}

bool
dt_layout_leaves_identity(dt_reduce_op *out, const dt_layout *layout,
                          const int64_t *coordinate)
{
    for (int m = 0; m < layout->mesh->ndim; m++) {
        dt_placement p = layout->placements[m];
        if (!dt_placement_leaves_identity(p, coordinate[m]))
            continue;
        *out = p.op;
        return true;
    }
    return false;
}
