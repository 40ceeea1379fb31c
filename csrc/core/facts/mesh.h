/* mesh.h: a grid of ranks. Pure geometry: no communicator, no rank of one's own. */
#ifndef DT_MESH_H
#define DT_MESH_H

#include "core/facts/status.h"

#include <stdbool.h>
#include <stdint.h>

enum { DT_MESH_MAX_NDIM = 16, DT_NAME_MAX = 64 };

/* Immutable. Ranks lie in row-major order of the coordinates. */
typedef struct {
    int ndim;
    int64_t shape[DT_MESH_MAX_NDIM];
    int64_t stride[DT_MESH_MAX_NDIM]; /* row-major, in ranks */
    int64_t size;                     /* product of the shape; a mesh of ndim 0 has 1 */
    int64_t *ranks;   /* `size` ranks of the world, or NULL: 0, 1, 2, ... */
    int64_t *by_rank; /* the places in ascending order of their ranks; NULL without */
    int world;        /* 0: no ranks behind it (for planning only) */
    bool named;
    char names[DT_MESH_MAX_NDIM][DT_NAME_MAX]; /* of the dimensions, where named */
    uint64_t hash;
    int64_t refs; /* context.c's */
} dt_mesh;

/* Makes a mesh.
 *
 * `ranks`  `size` distinct ranks, copied; NULL for 0, 1, 2, ...
 * `names`  `ndim` names, or NULL.
 * `world`  0 for a mesh without ranks, else the number of the world they are ranks of.
 *
 * DT_VALUE for more than DT_MESH_MAX_NDIM dimensions, a length below 1, more than 2^40
 * ranks, a negative or repeated rank. DT_RUNTIME for a repeated, empty or too long
 * name. DT_MEMORY. */
dt_status dt_mesh_make(dt_mesh **out, int ndim, const int64_t *shape,
                       const int64_t *ranks, const char *const *names, int world,
                       dt_error *err);
void dt_mesh_free(dt_mesh *mesh); /* may be NULL */

/* Same shape, ranks, names and world. */
bool dt_mesh_equal(const dt_mesh *a, const dt_mesh *b);

/* Same shape, ranks and world; names may differ. */
bool dt_mesh_same_ranks(const dt_mesh *a, const dt_mesh *b);

/* The rank at place `index` of the row-major order. */
int64_t dt_mesh_rank(const dt_mesh *mesh, int64_t index);

/* The place of `rank` in the row-major order, or -1 if the mesh lacks it; a binary
 * search where ranks are listed. */
int64_t dt_mesh_index(const dt_mesh *mesh, int64_t rank);

/* Writes the places of a list of ranks in ascending order of the ranks, for searches.
 * False: no memory. */
bool dt_ranks_sort(int64_t *out, const int64_t *ranks, int64_t size);

/* Coordinate of a place, and back. */
void dt_mesh_coordinate(int64_t *out, const dt_mesh *mesh, int64_t index);
int64_t dt_mesh_at(const dt_mesh *mesh, const int64_t *coordinate);

/* Coordinate of `rank`; false if the mesh lacks it, nothing is written then. */
bool dt_mesh_find(int64_t *out, const dt_mesh *mesh, int64_t rank);

#endif
