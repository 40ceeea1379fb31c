/* plans.h: meshes, layouts and plans for tests, in few words. */
#ifndef TEST_PLANS_H
#define TEST_PLANS_H

#include "core/plan/plans.h"

#include "check.h"

static dt_context *context;
static dt_plans *plans;

static const dt_mesh *
mesh_of(int ndim, int64_t a, int64_t b, int64_t c, const int64_t *ranks)
{
    dt_mesh *made;
    const dt_mesh *out = NULL;
    const char *const names[] = {"rows", "columns", "layers"};
    CHECK(dt_mesh_make(&made, ndim, (int64_t[]){a, b, c}, ranks, names, 0, NULL) ==
          DT_OK);
    CHECK(dt_context_mesh(&out, context, made, NULL) == DT_OK);
    return out;
}

/* "R0P": one letter per mesh dimension; a capital M is Partial(max). */
static const dt_layout *
typed_layout_of(const dt_mesh *mesh, const char *text, int64_t rows, int64_t columns,
                dt_dtype dtype)
{
    dt_placement placements[DT_MESH_MAX_NDIM];
    for (int m = 0; m < mesh->ndim; m++)
        placements[m] = text[m] == 'R'   ? DT_REPLICATED
                        : text[m] == 'P' ? DT_PENDING(DT_SUM)
                        : text[m] == 'M' ? DT_PENDING(DT_MAX)
                                         : DT_SHARDED(text[m] - '0');
    dt_layout *made;
    const dt_layout *out = NULL;
    int64_t shape[] = {rows, columns};
    CHECK(dt_layout_make(&made, mesh, placements, 2, shape, dtype, NULL, 0, NULL, 0,
                         NULL) == DT_OK);
    CHECK(dt_context_layout(&out, context, made, NULL) == DT_OK);
    return out;
}

/* The same of float32. */
static const dt_layout *
layout_of(const dt_mesh *mesh, const char *text, int64_t rows, int64_t columns)
{
    return typed_layout_of(mesh, text, rows, columns, DT_FLOAT32);
}

#endif
