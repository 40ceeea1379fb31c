/* run_check of from_local: what replicas hold is made equal. */
#include "ext/make/make.h"

#include <string.h>

static const char WHAT[] = "from_local, run_check";

/* The mesh of the ranks whose parts are replicas of this one, the first in front. */
static const dt_mesh *
replica_mesh(const dt_mesh *mesh, const dt_placement *placements, const int64_t *own)
{
    int dims[DT_MESH_MAX_NDIM], ndim = 0;
    int64_t shape[DT_MESH_MAX_NDIM], coordinate[DT_MESH_MAX_NDIM], size = 1;
    memcpy(coordinate, own, sizeof *own * (size_t)mesh->ndim);
    for (int m = 0; m < mesh->ndim; m++)
        if (dt_placement_whole(placements[m])) {
            dims[ndim] = m;
            shape[ndim++] = mesh->shape[m];
            size *= mesh->shape[m];
        }
    int64_t *ranks = PyMem_New(int64_t, (size_t)size);
    if (ranks == NULL)
        return (const dt_mesh *)PyErr_NoMemory();
    for (int64_t i = 0; i < size; i++) {
        int64_t rest = i;
        for (int k = ndim - 1; k >= 0; k--) {
            coordinate[dims[k]] = rest % shape[k];
            rest /= shape[k];
        }
        ranks[i] = dt_mesh_rank(mesh, dt_mesh_at(mesh, coordinate));
    }
    const dt_mesh *replicas = ext_mesh_made(ndim, shape, ranks, NULL, mesh->world);
    PyMem_Free(ranks);
    return replicas;
}

/* Moves the array of the first of these ranks to all; a new reference. */
static PyObject *
copy_first(PyObject *array, const ext_meta *meta, const dt_mesh *replicas)
{
    dt_dtype dtype = (dt_dtype)meta->dtype;
    const dt_layout *from = ext_layout_at(replicas, dt_mesh_rank(replicas, 0),
                                          meta->ndim, meta->shape, dtype);
    const dt_layout *to =
        ext_layout_make(replicas, NULL, meta->ndim, meta->shape, dtype);
    PyObject *copy =
        from == NULL || to == NULL ? NULL : ext_move_one(array, from, to, WHAT, 0);
    dt_layout_release(ext_context, from);
    dt_layout_release(ext_context, to);
    return copy;
}

int
ext_first_replica(PyObject **array, const ext_meta *meta, const dt_mesh *mesh,
                  const dt_placement *placements, const int64_t *coordinate)
{
    const dt_mesh *replicas = replica_mesh(mesh, placements, coordinate);
    if (replicas == NULL)
        return -1;
    bool alone = replicas->size == 1;
    bool first =
        dt_mesh_rank(replicas, 0) == dt_mesh_rank(mesh, dt_mesh_at(mesh, coordinate));
    PyObject *copy = alone ? NULL : copy_first(*array, meta, replicas);
    dt_mesh_release(ext_context, replicas);
    if (alone)
        return 0;
    if (copy == NULL)
        return -1;
    if (first) /* it keeps its own */
        Py_DECREF(copy);
    else
        Py_SETREF(*array, copy);
    return 0;
}
