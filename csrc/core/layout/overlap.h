/* overlap.h: along one dimension, the parts of another layout that a part meets.
 * exchange.c multiplies these over the dimensions. */
#ifndef DT_OVERLAP_H
#define DT_OVERLAP_H

#include "core/layout/exchange.h"

/* A part of the other layout, and what it has in common with one's own. */
typedef struct {
    int64_t part;
    int64_t size;   /* elements that both have, at least 1 */
    int64_t theirs; /* elements of the other part */
    int64_t count;  /* segments */
    dt_segment *segments;
} dt_overlap;

typedef struct {
    dt_overlap *items; /* to be freed by the caller */
    int64_t count, room;
} dt_overlaps;

/* What is known of the other rank's coordinates: along a mesh dimension one is `at`, or
 * `every` so many from there on. 0: any. */
typedef struct {
    int64_t every[DT_MESH_MAX_NDIM];
    int64_t at[DT_MESH_MAX_NDIM]; /* less than `every` */
} dt_constraint;

/* Appends the parts of `other` that meet part `my_part` of `mine` along `dim` and whose
 * coordinates are as wanted, ascending. Segments come from `memory`; with NULL they are
 * left out. False: no memory. */
bool dt_overlaps_find(dt_overlaps *out, dt_bump *memory, const dt_layout *mine,
                      const dt_layout *other, const dt_constraint *wanted, int dim,
                      int64_t my_part);

/* How many parts of a chunked dimension are not empty, without listing them. */
int64_t dt_parts_filled(const dt_layout *layout, int dim);

#endif
