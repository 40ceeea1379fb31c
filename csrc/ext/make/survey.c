/* The layout of parts of which every rank has told the shape. */
#include "ext/make/make.h"

#include <inttypes.h>
#include <string.h>

/* A layout of lengths 0, which numbers the parts; to be freed. */
static dt_status
number_parts(dt_layout **out, const dt_mesh *mesh, const dt_placement *placements,
             const ext_meta *meta, dt_error *err)
{
    static const int64_t zeros[DT_MAX_NDIM];
    return dt_layout_make(out, mesh, placements, meta->ndim, zeros,
                          (dt_dtype)meta->dtype, NULL, 0, NULL, 0, err);
}

/* The sizes of all parts. */
typedef struct {
    const dt_mesh *mesh;
    const dt_placement *placements;
    const ext_meta *metas; /* by place in the mesh */
    const int64_t *shape;  /* that they must make up, or NULL */
    dt_layout *parts;
    int64_t *sizes[DT_MAX_NDIM];  /* of each part of a dimension */
    int64_t *places[DT_MAX_NDIM]; /* who has told it */
} survey;

static dt_status
check_metas(const survey *s, bool compare_grad, dt_error *err)
{
    const dt_mesh *mesh = s->mesh;
    for (int64_t i = 1; i < mesh->size; i++) {
        const ext_meta *a = &s->metas[0], *b = &s->metas[i];
        bool grad = compare_grad && a->requires_grad != b->requires_grad;
        char first[320], other[320];
        if (a->ndim == b->ndim && a->dtype == b->dtype && !grad)
            continue;
        ext_meta_print(first, sizeof first, a);
        ext_meta_print(other, sizeof other, b);
        return dt_fail(
            err, DT_VALUE,
            "Inconsistent tensor metadata (including shape and stride) across "
            "ranks. from_local got %.320s%s on rank %" PRId64
            ", but %.320s%s on rank %" PRId64,
            first, grad && a->requires_grad ? " with requires_grad" : "",
            dt_mesh_rank(mesh, 0), other,
            grad && b->requires_grad ? " with requires_grad" : "",
            dt_mesh_rank(mesh, i));
    }
    return DT_OK;
}

/* Notes what the rank at one place holds: all that hold a part must agree on its size.
 */
static dt_status
note_part(survey *s, int64_t place, dt_error *err)
{
    const dt_mesh *mesh = s->mesh;
    int64_t coordinate[DT_MESH_MAX_NDIM];
    dt_mesh_coordinate(coordinate, mesh, place);
    for (int d = 0; d < s->parts->ndim; d++) {
        int64_t part = dt_layout_part(s->parts, d, coordinate);
        int64_t size = s->metas[place].shape[d];
        if (s->places[d][part] < 0) {
            s->places[d][part] = place;
            s->sizes[d][part] = size;
        } else if (s->sizes[d][part] != size)
            return dt_fail(err, DT_VALUE,
                           "Inconsistent tensor metadata (including shape and stride) "
                           "across ranks. from_local: rank %" PRId64 " has %" PRId64
                           " elements along dimension %d and rank %" PRId64
                           " has %" PRId64 ", but they hold the same part of it",
                           dt_mesh_rank(mesh, s->places[d][part]), s->sizes[d][part], d,
                           dt_mesh_rank(mesh, place), size);
    }
    return DT_OK;
}

/* The sums of the sizes, which must be the shape that was given. */
static dt_status
add_up(int64_t *shape, const survey *s, dt_error *err)
{
    int ndim = s->parts->ndim;
    for (int d = 0; d < ndim; d++) {
        shape[d] = 0;
        for (int64_t p = 0; p < s->parts->dims[d].parts; p++)
            if (__builtin_add_overflow(shape[d], s->sizes[d][p], &shape[d]))
                shape[d] = INT64_MAX;
    }
    if (s->shape == NULL || memcmp(shape, s->shape, sizeof *shape * (size_t)ndim) == 0)
        return DT_OK;
    dt_call sums = {.what = ""}, given = {.what = ""};
    ext_call_shape(&sums, ndim, shape);
    ext_call_shape(&given, ndim, s->shape);
    return dt_fail(
        err, DT_VALUE,
        "from_local: the parts of the ranks make up an array of shape %s, but "
        "shape=%s was given",
        sums.what, given.what);
}

/* The layout with these sizes of parts: cut points where they are not chunks. */
static dt_status
cut_layout(dt_layout **out, survey *s, dt_error *err)
{
    int64_t shape[DT_MAX_NDIM];
    dt_cuts cuts[DT_MAX_NDIM];
    int count = 0;
    DT_TRY(add_up(shape, s, err));
    for (int d = 0; d < s->parts->ndim; d++) {
        const dt_cut *cut = &s->parts->dims[d];
        if (cut->count == 0 || cut->strided)
            continue;
        int64_t *boundaries =
            s->places[d]; /* no longer needed; has room for one more */
        boundaries[0] = 0;
        for (int64_t p = 0; p < cut->parts; p++)
            boundaries[p + 1] = boundaries[p] + s->sizes[d][p];
        cuts[count++] =
            (dt_cuts){.dim = d, .count = cut->parts + 1, .cuts = boundaries};
    }
    dt_layout *layout;
    DT_TRY(dt_layout_make(&layout, s->mesh, s->placements, s->parts->ndim, shape,
                          s->parts->dtype, NULL, 0, cuts, count, err));
    for (int d = 0; d < layout->ndim; d++)
        for (int64_t p = 0; layout->dims[d].strided && p < layout->dims[d].parts; p++)
            if (dt_layout_part_size(layout, d, p) != s->sizes[d][p]) {
                dt_fail(err, DT_VALUE,
                        "from_local: a _StridedShard of dimension %d of length %" PRId64
                        " gives part %" PRId64 " %" PRId64 " elements, not %" PRId64,
                        d, shape[d], p, dt_layout_part_size(layout, d, p),
                        s->sizes[d][p]);
                dt_layout_free(layout);
                return DT_VALUE;
            }
    *out = layout;
    return DT_OK;
}

/* Room for the sizes, with nobody's yet. */
static dt_status
make_room(survey *s, dt_error *err)
{
    for (int d = 0; d < s->parts->ndim; d++) {
        size_t count = (size_t)s->parts->dims[d].parts + 1;
        s->sizes[d] = PyMem_New(int64_t, count);
        s->places[d] = PyMem_New(int64_t, count);
        if (s->sizes[d] == NULL || s->places[d] == NULL)
            return dt_fail(err, DT_MEMORY, "from_local: no memory for sizes of parts");
        for (size_t p = 0; p < count; p++)
            s->places[d][p] = -1;
    }
    return DT_OK;
}

static dt_status
survey_layout(dt_layout **out, survey *s, dt_error *err)
{
    DT_TRY(make_room(s, err));
    for (int64_t place = 0; place < s->mesh->size; place++)
        DT_TRY(note_part(s, place, err));
    return cut_layout(out, s, err);
}

dt_status
ext_layout_of_parts(dt_layout **out, const dt_mesh *mesh,
                    const dt_placement *placements, const ext_meta *metas,
                    const int64_t *shape, bool compare_grad, dt_error *err)
{
    survey s = {.mesh = mesh, .placements = placements, .metas = metas, .shape = shape};
    DT_TRY(check_metas(&s, compare_grad, err));
    DT_TRY(number_parts(&s.parts, mesh, placements, &metas[0], err));
    dt_status status = survey_layout(out, &s, err);
    for (int d = 0; d < s.parts->ndim; d++) {
        PyMem_Free(s.sizes[d]);
        PyMem_Free(s.places[d]);
    }
    dt_layout_free(s.parts);
    return status;
}
