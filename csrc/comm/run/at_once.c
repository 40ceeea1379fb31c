/* Plans of local steps alone: done at once, with nothing agreed on. */
#include "comm/run/execute.h"
#include "comm/way/local.h"

#include "core/memory/copy.h"
#include "core/memory/memory.h"

static dt_status
do_step(const dt_step *step, const void *src, const int64_t *src_stride, void *dst,
        int64_t rank, dt_error *err)
{
    int64_t dst_stride[DT_MAX_NDIM];
    dt_layout_strides_at(dst_stride, step->to, rank);
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
    int64_t coordinate[DT_MESH_MAX_NDIM];
    if (from->mesh != to->mesh || !dt_mesh_find(coordinate, to->mesh, rank))
        return false;
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
    size_t itemsize = dt_dtype_size(to->dtype);
    int64_t stride[DT_MAX_NDIM];
    dt_c_strides(stride, to->ndim, size, itemsize);
    const char *src = move->src;
    for (int d = 0; d < to->ndim; d++)
        src += start[d] * move->src_stride[d];
    dt_copy_box(move->dst, stride, src, move->src_stride, to->ndim, size, itemsize);
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
        if (k + 1 < plan->step_count)
            dst = dt_memory_take((size_t)dt_layout_bytes_at(step->to, rank));
        status = dst == NULL
                     ? dt_fail(err, DT_MEMORY, "no memory for an array in between")
                     : do_step(step, at, at_stride, dst, rank, err);
        dt_memory_give(before);
        before = dst != move->dst ? dst : NULL;
        dt_layout_strides_at(strides, step->to, rank);
        at = dst;
        at_stride = strides;
    }
    dt_memory_give(before);
    return status;
}
