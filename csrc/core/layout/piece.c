/* Pieces that have been found: copying, packing and freeing them. */
#include "core/layout/exchange.h"

#include "core/memory/copy.h"

#include <stdlib.h>
#include <string.h>

void
dt_pieces_free(dt_pieces *pieces)
{
    dt_bump_free(&pieces->memory);
    free(pieces->pieces);
    *pieces = (dt_pieces){0};
}

/* Goes to the next choice of one segment along each dimension; false behind the last. */
static bool
next_choice(int64_t *at, const dt_piece *piece, int ndim)
{
    for (int d = ndim - 1; d >= 0; d--) {
        if (++at[d] < piece->counts[d])
            return true;
        at[d] = 0;
    }
    return false;
}

void
dt_piece_copy(char *dst, const int64_t *dst_stride, const char *src,
              const int64_t *src_stride, const dt_piece *piece, int ndim,
              size_t itemsize)
{
    int64_t at[DT_MAX_NDIM], size[DT_MAX_NDIM];
    memset(at, 0, sizeof *at * (size_t)ndim);
    do {
        const char *from = src;
        char *to = dst;
        for (int d = 0; d < ndim; d++) {
            const dt_segment *segment = &piece->segments[d][at[d]];
            from += segment->theirs * src_stride[d];
            to += segment->offset * dst_stride[d];
            size[d] = segment->size;
        }
        dt_copy_box(to, dst_stride, from, src_stride, ndim, size, itemsize);
    } while (next_choice(at, piece, ndim));
}

/* Where the chosen segments lie in the local array and in the packed one, and their box. */
static void
find_box(int64_t *here, int64_t *there, int64_t *size, const int64_t *at,
         const int64_t *stride, const int64_t *packed, const dt_piece *piece, int ndim)
{
    *here = *there = 0;
    for (int d = 0; d < ndim; d++) {
        const dt_segment *segments = piece->segments[d];
        *here += segments[at[d]].offset * stride[d];
        size[d] = segments[at[d]].size;
        for (int64_t k = 0; k < at[d]; k++)
            *there += segments[k].size * packed[d];
    }
}

void
dt_piece_pack(char *packed, const char *array, const int64_t *stride,
              const dt_piece *piece, int ndim, size_t itemsize)
{
    int64_t at[DT_MAX_NDIM], size[DT_MAX_NDIM], own[DT_MAX_NDIM];
    int64_t here, there;
    memset(at, 0, sizeof *at * (size_t)ndim);
    dt_c_strides(own, ndim, piece->size, itemsize);
    do {
        find_box(&here, &there, size, at, stride, own, piece, ndim);
        dt_copy_box(packed + there, own, array + here, stride, ndim, size, itemsize);
    } while (next_choice(at, piece, ndim));
}

void
dt_piece_unpack(char *array, const int64_t *stride, const char *packed,
                const dt_piece *piece, int ndim, size_t itemsize)
{
    int64_t at[DT_MAX_NDIM], size[DT_MAX_NDIM], own[DT_MAX_NDIM];
    int64_t here, there;
    memset(at, 0, sizeof *at * (size_t)ndim);
    dt_c_strides(own, ndim, piece->size, itemsize);
    do {
        find_box(&here, &there, size, at, stride, own, piece, ndim);
        dt_copy_box(array + here, stride, packed + there, own, ndim, size, itemsize);
    } while (next_choice(at, piece, ndim));
}
