/* Plans of local steps alone: done at once, with nothing agreed on. */
#include "comm/run/execute.h"
#include "comm/way/local.h"

#include "core/memory/copy.h"
#include "core/memory/memory.h"

/* The strides of a rank's part in C order. */
static void
ordered_strides(int64_t *stride, const dt_layout *layout, int64_t rank)
{
    int64_t shape[DT_MAX_NDIM] = {0}, coordinate[DT_MESH_MAX_NDIM];
    int64_t index = dt_mesh_index(layout->mesh, rank);
    if (index >= 0) {
        dt_mesh_coordinate(coordinate, layout->mesh, index);
        dt_layout_local_shape(shape, layout, coordinate);
    }
    int64_t expected = (int64_t)dt_dtype_size(layout->dtype);
    for (int d = layout->ndim - 1; d >= 0; d--) {
        stride[d] = expected;
        expected *= shape[d];
    }
}

static dt_status
do_step(const dt_step *step, const void *src, const int64_t *src_stride, void *dst,
        int64_t rank, dt_error *err)
{
    int64_t dst_stride[DT_MAX_NDIM];
    ordered_strides(dst_stride, step->to, rank);
    dt_ends ends = {src, src_stride, dst, dst_stride};
    dt_local local;
    dt_status status = dt_local_prepare(&local, step, rank, err);
    if (status == DT_OK)
        dt_local_do(&local, &ends);
    dt_local_free(&local);
    return status;
}

/* A rank's new part where it is one box within its old one: the common case, which
 * needs no pieces. */
static bool
box_of(int64_t *start, int64_t *size, const dt_step *step, int64_t rank)
{
    const dt_layout *from = step->from, *to = step->to;
    int64_t index = dt_mesh_index(to->mesh, rank), coordinate[DT_MESH_MAX_NDIM];
    if (index < 0 || from->mesh != to->mesh)
        return false;
    dt_mesh_coordinate(coordinate, to->mesh, index);
    for (int m = 0; m < to->mesh->ndim; m++)
        if (dt_placement_pending(to->placements[m]) &&
            !dt_placement_pending(from->placements[m]))
            return false;
    for (int d = 0; d < to->ndim; d++) {
        dt_range old, new;
        if (dt_layout_range_limit(from, d) > 1 || dt_layout_range_limit(to, d) > 1)
            return false;
        dt_layout_ranges(&old, from, d, dt_layout_part(from, d, coordinate));
        dt_layout_ranges(&new, to, d, dt_layout_part(to, d, coordinate));
        start[d] = new.start - old.start;
        size[d] = new.size;
        if (start[d] < 0 || start[d] + size[d] > old.size)
            return false;
    }
    return true;
}

/* Copies such a box into a C-ordered array. */
static void
copy_box(const dt_transfer *move, const dt_layout *to, const int64_t *start,
         const int64_t *size)
{
    int64_t stride[DT_MAX_NDIM];
    int64_t expected = (int64_t)dt_dtype_size(to->dtype);
    const char *src = move->src;
    for (int d = to->ndim - 1; d >= 0; d--) {
        stride[d] = expected;
        expected *= size[d];
        src += start[d] * move->src_stride[d];
    }
    dt_copy_box(move->dst, stride, src, move->src_stride, to->ndim, size,
                dt_dtype_size(to->dtype));
}

dt_status
dt_run_local(const dt_transfer *move, int64_t rank, dt_error *err)
{
    const dt_plan *plan = move->plan;
    int64_t start[DT_MAX_NDIM], size[DT_MAX_NDIM];
    if (plan->step_count == 1 && box_of(start, size, &plan->steps[0], rank)) {
        copy_box(move, plan->steps[0].to, start, size);
        return DT_OK;
    }
    const void *at = move->src;
    const int64_t *at_stride = move->src_stride;
    int64_t strides[DT_MAX_NDIM];
    void *before = NULL;
    dt_status status = DT_OK;
    for (int k = 0; k < plan->step_count && status == DT_OK; k++) {
        const dt_step *step = &plan->steps[k];
        void *dst = move->dst;
        if (k + 1 < plan->step_count) {
            dt_traffic t;
            dt_step_traffic(&t, step, rank);
            dst = dt_memory_take((size_t)t.bytes_after);
        }
        status = dst == NULL
                     ? dt_fail(err, DT_MEMORY, "no memory for an array in between")
                     : do_step(step, at, at_stride, dst, rank, err);
        dt_memory_give(before);
        before = dst != move->dst ? dst : NULL;
        ordered_strides(strides, step->to, rank);
        at = dst;
        at_stride = strides;
    }
    dt_memory_give(before);
    return status;
}
