#include "core/memory/copy.h"

#include "core/memory/copy_loops.h"
#include "core/threads/team.h"

#include <string.h>

/* From it a destination is written past the caches: it would push out all they hold. */
static const size_t LARGE_BYTES = (size_t)8 << 20;

enum {
    FEW_BYTES = 256,  /* that are copied as they come */
    LINE = 64,        /* bytes of a cache line */
    FILL_BYTES = 4096 /* what a fill repeats */
};

typedef struct {
    char *to;
    const char *from;
    size_t run; /* bytes that are contiguous on both sides */
    int ndim;
    dt_axis axes[DT_MAX_NDIM]; /* the destination's slowest first */
} box;

static int64_t
magnitude(int64_t x)
{
    return x < 0 ? -x : x;
}

static void
add_axis(box *b, dt_axis axis)
{
    if (axis.to < 0) { /* ascending in the destination */
        b->to += axis.to * (axis.count - 1);
        b->from += axis.from * (axis.count - 1);
        axis.to = -axis.to;
        axis.from = -axis.from;
    }
    int at = b->ndim++;
    for (; at > 0 && b->axes[at - 1].to < axis.to; at--)
        b->axes[at] = b->axes[at - 1];
    b->axes[at] = axis;
}

static void
merge_axes(box *b)
{
    dt_axis *axes = b->axes;
    int64_t run = (int64_t)b->run;
    while (b->ndim > 0 && axes[b->ndim - 1].to == run && axes[b->ndim - 1].from == run)
        run *= axes[--b->ndim].count;
    b->run = (size_t)run;

    int last = b->ndim - 1; /* axes[last ...] are merged */
    for (int i = last - 1; i >= 0; i--)
        if (axes[i].to == axes[last].to * axes[last].count &&
            axes[i].from == axes[last].from * axes[last].count)
            axes[last].count *= axes[i].count;
        else
            axes[--last] = axes[i];
    if (b->ndim > 0) {
        memmove(axes, axes + last, sizeof *axes * (size_t)(b->ndim - last));
        b->ndim -= last;
    }
}

/* If the source's fastest axis is another than the destination's and neighbours along
 * it share cache lines, makes it the last but one. */
static bool
cross_axes(box *b)
{
    int last = b->ndim - 1, fastest = last;
    for (int i = 0; i < last; i++) {
        int64_t step = magnitude(b->axes[i].from);
        if (step != 0 && step < magnitude(b->axes[fastest].from))
            fastest = i;
    }
    dt_axis axis = b->axes[fastest];
    if (fastest == last || magnitude(axis.from) >= LINE || b->run >= LINE)
        return false;
    memmove(b->axes + fastest, b->axes + fastest + 1,
            sizeof axis * (size_t)(last - 1 - fastest));
    b->axes[last - 1] = axis;
    return true;
}

static void
move_repeated(char *to, const char *from, dt_axis outer, dt_axis inner, size_t run)
{
    for (int64_t i = 0; i < outer.count; i++)
        dt_fill(to + i * outer.to, from + i * outer.from, run, inner.count);
}

static dt_loop *
choose_move(box *b, size_t bytes)
{
    dt_axis outer = b->axes[b->ndim - 2], inner = b->axes[b->ndim - 1];
    bool large = bytes >= LARGE_BYTES;
    if (inner.from == 0 && inner.to == (int64_t)b->run)
        return move_repeated;
    if (cross_axes(b))
        return large ? dt_loop_crossed_streamed : dt_loop_crossed;
    if (large && dt_loop_streams(b->to, outer, inner, b->run))
        return dt_loop_streamed;
    return dt_loop_rows(b->run);
}

/* Runs the loop over the two last axes for each place of the others. */
static void
run_box(const box *b, dt_loop *move)
{
    int64_t place[DT_MAX_NDIM];
    int outer = b->ndim - 2;
    char *to = b->to;
    const char *from = b->from;
    for (int i = 0; i < outer; i++)
        place[i] = 0;
    for (;;) {
        move(to, from, b->axes[outer], b->axes[outer + 1], b->run);
        int i = outer - 1;
        for (; i >= 0; i--) {
            const dt_axis *axis = &b->axes[i];
            to += axis->to;
            from += axis->from;
            if (++place[i] < axis->count)
                break;
            place[i] = 0;
            to -= axis->to * axis->count;
            from -= axis->from * axis->count;
        }
        if (i < 0)
            return;
    }
}

/* --- by several threads --- */

typedef struct {
    const box *box;
    dt_loop *move;
    int axis; /* that is shared */
} copying;

static void
copy_part(void *work, int64_t begin, int64_t end)
{
    const copying *c = work;
    box b = *c->box;
    dt_axis *axis = &b.axes[c->axis];
    b.to += begin * axis->to;
    b.from += begin * axis->from;
    axis->count = end - begin;
    run_box(&b, c->move);
}

/* Shares the destination's slowest axis that has a length. */
static void
share_box(const box *b, dt_loop *move, size_t bytes)
{
    copying c = {.box = b, .move = move};
    while (c.axis < b->ndim - 1 && b->axes[c.axis].count == 1)
        c.axis++;
    int64_t count = b->axes[c.axis].count;
    dt_team_run(count, 1 + (int64_t)bytes / count, copy_part, &c);
}

typedef struct {
    char *to;
    const char *from;
    bool streamed;
} bytes_copied;

static void
copy_bytes_part(void *work, int64_t begin, int64_t end)
{
    const bytes_copied *c = work;
    size_t bytes = (size_t)(end - begin);
    if (c->streamed)
        dt_loop_run_streamed(c->to + begin, c->from + begin, bytes);
    else
        dt_loop_run(c->to + begin, c->from + begin, bytes);
}

void
dt_c_strides(int64_t *stride, int ndim, const int64_t *shape, size_t itemsize)
{
    int64_t bytes = (int64_t)itemsize;
    for (int d = ndim - 1; d >= 0; d--) {
        stride[d] = bytes;
        bytes *= shape[d];
    }
}

/* Few bytes in rows at one distance: to find out what is best would cost more than it
 * saves. False: it is no such box. */
static bool
copy_few(char *dst, const int64_t *dst_stride, const char *src,
         const int64_t *src_stride, int ndim, const int64_t *shape, size_t itemsize)
{
    size_t run = itemsize;
    int64_t rows = 1, to = 0, from = 0;
    for (int d = ndim - 1; d >= 0; d--) {
        if (shape[d] == 1)
            continue;
        if (rows == 1 && dst_stride[d] == (int64_t)run &&
            src_stride[d] == dst_stride[d])
            run *= (size_t)shape[d];
        else if (rows > 1)
            return false;
        else {
            rows = shape[d];
            to = dst_stride[d];
            from = src_stride[d];
        }
    }
    for (int64_t row = 0; row < rows; row++, dst += to, src += from)
        if (run == 8)
            memcpy(dst, src, 8);
        else if (run == 16)
            memcpy(dst, src, 16);
        else if (run == 4)
            memcpy(dst, src, 4);
        else
            memcpy(dst, src, run);
    return true;
}

void
dt_copy_box(void *dst, const int64_t *dst_stride, const void *src,
            const int64_t *src_stride, int ndim, const int64_t *shape, size_t itemsize)
{
    size_t bytes = itemsize;
    for (int i = 0; i < ndim; i++)
        bytes *= (size_t)shape[i];
    if (bytes == 0)
        return;
    if (bytes <= FEW_BYTES &&
        copy_few(dst, dst_stride, src, src_stride, ndim, shape, itemsize))
        return;
    box b;
    b.to = dst;
    b.from = src;
    b.run = itemsize;
    b.ndim = 0;
    for (int i = 0; i < ndim; i++)
        if (shape[i] != 1)
            add_axis(&b, (dt_axis){shape[i], dst_stride[i], src_stride[i]});
    merge_axes(&b);
    if (b.ndim == 0) {
        dt_copy_bytes(b.to, b.from, bytes);
        return;
    }
    if (b.ndim == 1) {
        b.axes[1] = b.axes[0];
        b.axes[0] = (dt_axis){1, 0, 0};
        b.ndim = 2;
    }
    dt_loop *move = choose_move(&b, bytes);
    if (dt_team_shares((int64_t)bytes))
        share_box(&b, move, bytes);
    else
        run_box(&b, move);
}

void
dt_copy_bytes(void *dst, const void *src, size_t bytes)
{
    bytes_copied c = {dst, src, bytes >= LARGE_BYTES};
    if (dt_team_shares((int64_t)bytes))
        dt_team_run((int64_t)bytes, 1, copy_bytes_part, &c);
    else
        copy_bytes_part(&c, 0, (int64_t)bytes);
}

static bool
equal_bytes(const char *value, size_t itemsize)
{
    for (size_t i = 1; i < itemsize; i++)
        if (value[i] != value[0])
            return false;
    return true;
}

void
dt_fill(void *dst, const void *value, size_t itemsize, int64_t count)
{
    size_t bytes = itemsize * (size_t)count;
    if (bytes == 0)
        return;
    if (equal_bytes(value, itemsize)) {
        memset(dst, *(const unsigned char *)value, bytes);
        return;
    }
    /* Doubles up to a piece that stays in the nearest cache, then repeats that. */
    char *to = dst;
    memcpy(to, value, itemsize);
    size_t piece = itemsize, done = itemsize;
    while (done < bytes) {
        size_t next = piece < bytes - done ? piece : bytes - done;
        memcpy(to + done, to, next);
        done += next;
        if (piece < FILL_BYTES)
            piece = done;
    }
}
