#include "core/facts/mesh.h"

#include "core/facts/hash.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static const int64_t SIZE_LIMIT = INT64_C(1) << 40;

static dt_status
check_shape(int64_t *size, int ndim, const int64_t *shape, dt_error *err)
{
    if (ndim < 0 || ndim > DT_MESH_MAX_NDIM)
        return dt_fail(err, DT_VALUE, "a mesh has 0 to %d dimensions, not %d",
                       DT_MESH_MAX_NDIM, ndim);
    int64_t product = 1;
    for (int dim = 0; dim < ndim; dim++) {
        if (shape[dim] < 1)
            return dt_fail(err, DT_VALUE,
                           "mesh dimension %d has length %" PRId64
                           "; the least is 1, for a mesh without ranks holds nothing",
                           dim, shape[dim]);
        if (shape[dim] > SIZE_LIMIT / product)
            return dt_fail(err, DT_VALUE, "a mesh has at most %" PRId64 " ranks",
                           SIZE_LIMIT);
        product *= shape[dim];
    }
    *size = product;
    return DT_OK;
}

static dt_status
check_ranks(const int64_t *ranks, int64_t size, dt_error *err)
{
    if (ranks == NULL)
        return DT_OK;
    for (int64_t i = 0; i < size; i++)
        if (ranks[i] < 0)
            return dt_fail(err, DT_VALUE, "rank %" PRId64 " of the mesh is negative",
                           ranks[i]);
    return DT_OK;
}

static dt_status
check_names(int ndim, const char *const *names, dt_error *err)
{
    if (names == NULL)
        return DT_OK;
    for (int dim = 0; dim < ndim; dim++) {
        size_t length = strlen(names[dim]);
        if (length == 0)
            return dt_fail(err, DT_RUNTIME, "the name of mesh dimension %d is empty",
                           dim);
        if (length >= DT_NAME_MAX)
            return dt_fail(err, DT_RUNTIME,
                           "the name of mesh dimension %d has %zu bytes; at most %d "
                           "are allowed",
                           dim, length, DT_NAME_MAX - 1);
        for (int other = 0; other < dim; other++)
            if (strcmp(names[dim], names[other]) == 0)
                return dt_fail(err, DT_RUNTIME,
                               "mesh dimensions %d and %d are both named '%s'", other,
                               dim, names[dim]);
    }
    return DT_OK;
}

static uint64_t
hash_of(const dt_mesh *mesh)
{
    const int64_t head[] = {mesh->ndim, mesh->world, mesh->named, mesh->ranks != NULL};
    uint64_t hash = dt_hash(0, head, sizeof head);
    hash = dt_hash(hash, mesh->shape, sizeof mesh->shape);
    for (int dim = 0; dim < mesh->ndim && mesh->named; dim++)
        hash = dt_hash(hash, mesh->names[dim], strlen(mesh->names[dim]));
    if (mesh->ranks != NULL)
        hash = dt_hash(hash, mesh->ranks, sizeof *mesh->ranks * (size_t)mesh->size);
    return hash;
}

/* Ranks that are their own places are not stored: a mesh of all ranks then needs no
 * memory and no search, however it was written. */
static bool
own_places(const int64_t *ranks, int64_t size)
{
    if (ranks != NULL)
        for (int64_t i = 0; i < size; i++)
            if (ranks[i] != i)
                return false;
    return true;
}

typedef struct {
    int64_t rank, place;
} entry;

static int
by_rank(const void *a, const void *b)
{
    const entry *x = a, *y = b;
    return (x->rank > y->rank) - (x->rank < y->rank);
}

bool
dt_ranks_sort(int64_t *out, const int64_t *ranks, int64_t size)
{
    bool ascending = true;
    for (int64_t i = 0; i < size; i++) {
        out[i] = i;
        ascending = ascending && (i == 0 || ranks[i - 1] < ranks[i]);
    }
    if (ascending) /* as they mostly do */
        return true;
    entry *entries = malloc(sizeof *entries * (size_t)size);
    if (entries == NULL)
        return false;
    for (int64_t i = 0; i < size; i++)
        entries[i] = (entry){.rank = ranks[i], .place = i};
    qsort(entries, (size_t)size, sizeof *entries, by_rank);
    for (int64_t i = 0; i < size; i++)
        out[i] = entries[i].place;
    free(entries);
    return true;
}

static dt_mesh *
allocate(const int64_t *ranks, int64_t size)
{
    dt_mesh *mesh = calloc(1, sizeof *mesh); /* so that unused fields compare equal */
    if (mesh == NULL || own_places(ranks, size))
        return mesh;
    size_t bytes = sizeof *ranks * (size_t)size;
    mesh->ranks = malloc(2 * bytes);
    if (mesh->ranks == NULL) {
        free(mesh);
        return NULL;
    }
    memcpy(mesh->ranks, ranks, bytes);
    mesh->by_rank = mesh->ranks + size;
    if (!dt_ranks_sort(mesh->by_rank, ranks, size)) {
        dt_mesh_free(mesh);
        return NULL;
    }
    return mesh;
}

static dt_status
check_distinct(const dt_mesh *mesh, dt_error *err)
{
    for (int64_t i = 1; mesh->ranks != NULL && i < mesh->size; i++)
        if (mesh->ranks[mesh->by_rank[i]] == mesh->ranks[mesh->by_rank[i - 1]])
            return dt_fail(err, DT_VALUE, "rank %" PRId64 " is twice in the mesh",
                           mesh->ranks[mesh->by_rank[i]]);
    return DT_OK;
}

dt_status
dt_mesh_make(dt_mesh **out, int ndim, const int64_t *shape, const int64_t *ranks,
             const char *const *names, int world, dt_error *err)
{
    int64_t size = 1;
    DT_TRY(check_shape(&size, ndim, shape, err));
    DT_TRY(check_ranks(ranks, size, err));
    DT_TRY(check_names(ndim, names, err));
    dt_mesh *mesh = allocate(ranks, size);
    if (mesh == NULL)
        return dt_fail(err, DT_MEMORY, "no memory for a mesh of %" PRId64 " ranks",
                       size);

    mesh->size = size;
    dt_status status = check_distinct(mesh, err);
    if (status != DT_OK) {
        dt_mesh_free(mesh);
        return status;
    }
    mesh->ndim = ndim;
    mesh->world = world;
    mesh->named = names != NULL;
    int64_t stride = 1;
    for (int dim = ndim - 1; dim >= 0; dim--) {
        mesh->shape[dim] = shape[dim];
        mesh->stride[dim] = stride;
        stride *= shape[dim];
        if (names != NULL)
            memcpy(mesh->names[dim], names[dim], strlen(names[dim]));
    }
    mesh->hash = hash_of(mesh);
    *out = mesh;
    return DT_OK;
}

void
dt_mesh_free(dt_mesh *mesh)
{
    if (mesh == NULL)
        return;
    free(mesh->ranks);
    free(mesh);
}

bool
dt_mesh_same_ranks(const dt_mesh *a, const dt_mesh *b)
{
    if (a == b)
        return true;
    if (a->ndim != b->ndim || a->world != b->world ||
        memcmp(a->shape, b->shape, sizeof a->shape) != 0)
        return false;
    if (a->ranks == NULL || b->ranks == NULL)
        return a->ranks == b->ranks;
    return memcmp(a->ranks, b->ranks, sizeof *a->ranks * (size_t)a->size) == 0;
}

bool
dt_mesh_equal(const dt_mesh *a, const dt_mesh *b)
{
    if (a == b)
        return true;
    return a->hash == b->hash && a->named == b->named &&
           memcmp(a->names, b->names, sizeof a->names) == 0 && dt_mesh_same_ranks(a, b);
}

int64_t
dt_mesh_rank(const dt_mesh *mesh, int64_t index)
{
    return mesh->ranks == NULL ? index : mesh->ranks[index];
}

int64_t
dt_mesh_index(const dt_mesh *mesh, int64_t rank)
{
    if (mesh->ranks == NULL)
        return rank >= 0 && rank < mesh->size ? rank : -1;
    int64_t low = 0, high = mesh->size;
    while (low < high) {
        int64_t middle = low + (high - low) / 2;
        if (mesh->ranks[mesh->by_rank[middle]] < rank)
            low = middle + 1;
        else
            high = middle;
    }
    bool found = low < mesh->size && mesh->ranks[mesh->by_rank[low]] == rank;
    return found ? mesh->by_rank[low] : -1;
}

void
dt_mesh_coordinate(int64_t *out, const dt_mesh *mesh, int64_t index)
{
    for (int dim = 0; dim < mesh->ndim; dim++) {
        out[dim] = index / mesh->stride[dim];
        index %= mesh->stride[dim];
    }
}

int64_t
dt_mesh_at(const dt_mesh *mesh, const int64_t *coordinate)
{
    int64_t index = 0;
    for (int dim = 0; dim < mesh->ndim; dim++)
        index += coordinate[dim] * mesh->stride[dim];
    return index;
}

bool
dt_mesh_find(int64_t *out, const dt_mesh *mesh, int64_t rank)
{
    int64_t index = dt_mesh_index(mesh, rank);
    if (index >= 0)
        dt_mesh_coordinate(out, mesh, index);
    return index >= 0;
}
