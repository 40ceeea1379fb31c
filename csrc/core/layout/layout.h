/* The room core/layout: who holds which elements; layouts that are equal are one
 * object; what the parts of two layouts have in common.
 *
 * May use: core/facts, core/memory.
 * Begin with: this header, then parts.c; exchange.h for pairs of layouts. */

/* layout.h: which part of a tensor every rank holds. Arithmetic only: no communication,
 * and the same answer on every rank.
 *
 * A part is a box of the global index space: per tensor dimension one range, or, for a
 * strided shard that is no order, a short ascending list of ranges that lie one behind
 * the other in the local array. Nothing is padded; parts may be empty.
 *
 * A dimension that several mesh dimensions cut is cut in an explicit order: the first
 * cuts the dimension, the second each of these parts, and so on. A part of a dimension
 * has a number, the mixed-radix number of the coordinates in that order, so that parts
 * lie in ascending order of their numbers:
 *
 *     length 10 on a mesh of (2, 2), [Shard(0), Shard(0)]
 *         order (0, 1):  (0,0) [0,3)  (0,1) [3,5)  (1,0) [5,8)  (1,1) [8,10)
 *         order (1, 0):  (0,0) [0,3)  (1,0) [3,5)  (0,1) [5,8)  (1,1) [8,10)
 */
#ifndef DT_LAYOUT_H
#define DT_LAYOUT_H

#include "core/facts/mesh.h"
#include "core/facts/placement.h"

typedef struct {
    int64_t start; /* global index of the first element */
    int64_t size;  /* number of elements; 0 for an empty part */
} dt_range;

/* How one tensor dimension is cut. */
typedef struct {
    int count;                       /* of mesh dimensions that cut it; 0: whole */
    int mesh_dims[DT_MESH_MAX_NDIM]; /* in the order in which they cut */
    int64_t parts;                   /* product of their lengths */
    bool strided;                    /* some placement has split > 1 */
    int64_t *cuts; /* parts + 1 ascending boundaries of the user's own; NULL: chunks */
} dt_cut;

/* Immutable once made. Canonical: layouts that hold the same boxes by the same
 * placements on the same mesh are equal field by field. */
typedef struct {
    const dt_mesh *mesh; /* not owned */
    int ndim;
    dt_dtype dtype;
    uint64_t hash;
    dt_placement placements[DT_MESH_MAX_NDIM]; /* split > 1 only where it is no order */
    int64_t *shape;                            /* ndim */
    dt_cut *dims;                              /* ndim */
    bool has_partial;
    int64_t refs; /* context.c's */
    void *owner;  /* the ext's object for it, or NULL */
} dt_layout;

/* What the user may add to placements and shape. */
typedef struct {
    int dim;   /* tensor dimension */
    int count; /* all mesh dimensions that shard it, in the order of cutting */
    int mesh_dims[DT_MESH_MAX_NDIM];
} dt_order;

typedef struct {
    int dim;             /* tensor dimension */
    int64_t count;       /* boundaries: parts + 1 */
    const int64_t *cuts; /* ascending from 0 to the length of the dimension */
} dt_cuts;

/* Makes a layout. `placements` has mesh->ndim entries, or is NULL: all Replicate.
 * Negative Shard dimensions count from the end. `orders` and `cuts` are optional lists
 * (NULL, 0). A strided shard is read as an order where its split is the product of the
 * lengths of mesh dimensions to its right that cut the same dimension before it; else
 * as the boxes it describes. Cuts equal to torch.chunk's are dropped.
 *
 * DT_INDEX for a Shard dimension out of range. DT_TYPE for a Partial that the dtype has
 * no reduction for. DT_VALUE for a negative length, more than DT_MAX_NDIM dimensions,
 * more than 2^62 bytes, a split below 1, an order that is no permutation of the mesh
 * dimensions that shard the dimension, cuts that are not ascending boundaries of the
 * dimension. DT_MEMORY. */
dt_status dt_layout_make(dt_layout **out, const dt_mesh *mesh,
                         const dt_placement *placements, int ndim, const int64_t *shape,
                         dt_dtype dtype, const dt_order *orders, int order_count,
                         const dt_cuts *cuts, int cuts_count, dt_error *err);
void dt_layout_free(dt_layout *layout); /* may be NULL */

/* The same mesh, boxes, placements and dtype. Meshes are compared by pointer. */
bool dt_layout_equal(const dt_layout *a, const dt_layout *b);

/* Like `from`, with other placements (mesh->ndim of them). Dimensions cut by the same
 * mesh dimensions as in `from` keep their order and cuts. */
dt_status dt_layout_with(dt_layout **out, const dt_layout *from,
                         const dt_placement *placements, dt_error *err);

/* Like `from`, Replicate where that is Partial: how the gradient of a tensor is laid
 * out, for every addend has the whole of it. */
dt_status dt_layout_dual(dt_layout **out, const dt_layout *from, dt_error *err);

/* The layout of another tensor that is cut as `from` is. Dimension d of `from` is
 * dimension dims[d] of the other; where dims[d] is -1 the other lacks it, and what cuts
 * it replicates. Orders go along, and cuts do between dimensions of the same length. A
 * Partial stays one if `partial`, else it is Replicate.
 *
 *     [S(0), S(1)] of (4, 6), dims {-1, 0}, shape (6,):  [R, S(0)]
 *
 * Errors are those of dt_layout_make. */
dt_status dt_layout_like(dt_layout **out, const dt_layout *from, const int *dims,
                         int ndim, const int64_t *shape, dt_dtype dtype, bool partial,
                         dt_error *err);

/* Like `from`, Replicate where that cuts a dimension d with whole[d]. */
dt_status dt_layout_whole(dt_layout **out, const dt_layout *from, const bool *whole,
                          dt_error *err);

/* True if every placement is Replicate. */
bool dt_layout_replicated(const dt_layout *layout);
/* Whether several ranks have the same part. */
bool dt_layout_has_replicas(const dt_layout *layout);

/* What the gradient of the whole is multiplied by to be that of this rank's addend: 1,
 * or 1/n where n addends are averaged. DT_NOT_IMPLEMENTED for other reductions. */
dt_status dt_layout_addend_scale(double *out, const dt_layout *layout, dt_error *err);

/* Whether the addend of a rank is all identity, where a replicated value is laid out
 * so, and then of which operator: of the pending mesh dimensions that leave it without
 * the value the leftmost decides, for what is reduced first must yield what comes next.
 */
bool dt_layout_leaves_identity(dt_reduce_op *out, const dt_layout *layout,
                               const int64_t *coordinate);

/* Like `from`, with another dtype. */
dt_status dt_layout_with_dtype(dt_layout **out, const dt_layout *from, dt_dtype dtype,
                               dt_error *err);

/* Like `from`, on another mesh of the same shape. */
dt_status dt_layout_on(dt_layout **out, const dt_layout *from, const dt_mesh *mesh,
                       dt_error *err);

/* The placement of a mesh dimension as a user writes it: an order that is not left to
 * right is told by a split, as torch's _StridedShard tells it. */
dt_placement dt_layout_placement(const dt_layout *layout, int mesh_dim);

/* The elements of a dimension of `length` that chunk `index` of `count` holds.
 *
 * As torch.chunk does: every chunk takes ceil(length / count) elements until they run
 * out, so the last chunks may be short or empty.
 *
 *     length 10, count 4:  [0,3) [3,6) [6,9) [9,10)
 *     length  2, count 4:  [0,1) [1,2) [2,2) [2,2)
 */
dt_range dt_chunk(int64_t length, int64_t count, int64_t index);

/* The number of the part of tensor dimension `dim` held at `coordinate`. */
int64_t dt_layout_part(const dt_layout *layout, int dim, const int64_t *coordinate);

/* The most ranges that a part of dimension `dim` can have: 1 unless strided. */
int64_t dt_layout_range_limit(const dt_layout *layout, int dim);

/* Writes the ranges of part number `part` of dimension `dim`, ascending, not touching,
 * none empty, except that an empty part is one range of size 0. Returns how many. */
int64_t dt_layout_ranges(dt_range *out, const dt_layout *layout, int dim, int64_t part);

/* The number of elements of a part along a dimension. */
int64_t dt_layout_part_size(const dt_layout *layout, int dim, int64_t part);

/* Writes into first and last the parts that can overlap [start, start + size), size >
 * 0; parts between them may be empty. For a strided dimension: all parts. */
void dt_layout_parts_over(int64_t *first, int64_t *last, const dt_layout *layout,
                          int dim, dt_range range);

/* The shape of the local array at a coordinate: writes ndim lengths, returns how many
 * dimensions the local array has. NULL: a rank outside the mesh, which holds an array
 * of torch's shape (0,); all lengths, at least one, are 0. */
int dt_layout_local_shape(int64_t *out, const dt_layout *layout,
                          const int64_t *coordinate);

/* Bytes of the local array at a coordinate (not NULL). */
int64_t dt_layout_local_bytes(const dt_layout *layout, const int64_t *coordinate);

/* The same for a rank, which may be outside the mesh: 0 bytes there. */
int dt_layout_shape_at(int64_t *out, const dt_layout *layout, int64_t rank);
int64_t dt_layout_bytes_at(const dt_layout *layout, int64_t rank);

/* The ndim strides in bytes that a rank's local array has in C order. */
void dt_layout_strides_at(int64_t *out, const dt_layout *layout, int64_t rank);

/* True if at every coordinate the box of `inner` lies inside that of `outer` (same
 * mesh; judged symbolically, so false may be said of a nesting that is accidental). */
bool dt_layout_nested(const dt_layout *inner, const dt_layout *outer);

/* If mesh dimension m is the second of two that cut a dimension into equal parts, the
 * first; else -1. Without that, m cuts it with a stride: split is the first one's length. */
int dt_layout_first_cut(const dt_layout *layout, int m);

/* Writes "[S(0), R]" or, where an order matters, "[S(0)[1], S(0)[0]]"; with the user's
 * cuts: "[S(0)*]". Returns the length, as snprintf does. */
int dt_layout_print(char *out, size_t size, const dt_layout *layout);

#endif
