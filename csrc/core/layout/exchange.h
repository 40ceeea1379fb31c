/* exchange.h: which boxes two ranks exchange when an array goes from one layout to
 * another. Along every dimension a rank's part meets some parts of the other layout;
 * its peers are the product of those. Senders of what several ranks hold are chosen so
 * that the load is shared: on one mesh a rank is served from its own coordinates. */
#ifndef DT_EXCHANGE_H
#define DT_EXCHANGE_H

#include "core/memory/bump.h"
#include "core/layout/layout.h"

/* Which parts take part: mesh dimensions on which addends are summed on arrival, as a
 * bit mask of mesh dimensions of `from`, which are Partial there. Every rank that holds
 * an addend sends it. */
typedef struct {
    const dt_layout *from, *to;
    unsigned reduced;
} dt_exchange;

/* A contiguous segment of one dimension: where it begins in the local array of the asking
 * rank, and where in that of the other one. */
typedef struct {
    int64_t offset, theirs, size;
} dt_segment;

/* What one pair of ranks exchanges: a product of lists of segments, one per dimension,
 * in ascending order. Both sides have lists of the same sizes. */
typedef struct {
    int64_t rank;          /* the other rank, of the world */
    int64_t elements;      /* product of size[] */
    const int64_t *size;   /* elements along each dimension */
    const int64_t *theirs; /* length of the other rank's local array */
    const int64_t *counts; /* segments along each dimension */
    const dt_segment *const *segments;
} dt_piece;

typedef struct {
    int64_t count;
    dt_piece *pieces; /* in no order, without the own one and empty ones */
    dt_piece own;     /* what the rank keeps; elements 0: nothing */
    dt_bump memory;   /* of all of it */
} dt_pieces;

/* The pieces that `rank` sends, or receives. Where addends are summed the rank's own
 * addend is `own`. DT_MEMORY. */
dt_status dt_pieces_sent(dt_pieces *out, const dt_exchange *exchange, int64_t rank,
                         dt_error *err);
dt_status dt_pieces_received(dt_pieces *out, const dt_exchange *exchange, int64_t rank,
                             dt_error *err);
void dt_pieces_free(dt_pieces *pieces); /* zeroed, or filled by the above */

/* Copies a piece from the other rank's local array, `src`, into the asking rank's, `dst`.
 * Strides are in bytes. */
void dt_piece_copy(char *dst, const int64_t *dst_stride, const char *src,
                   const int64_t *src_stride, const dt_piece *piece, int ndim,
                   size_t itemsize);

/* The elements of a piece, one behind the other as in an array of its own in C order: taken
 * from, or put into, the asking rank's local array. */
void dt_piece_pack(char *packed, const char *array, const int64_t *stride,
                   const dt_piece *piece, int ndim, size_t itemsize);
void dt_piece_unpack(char *array, const int64_t *stride, const char *packed,
                     const dt_piece *piece, int ndim, size_t itemsize);

/* How many messages of how many elements a rank sends in all, itself left out: without
 * making the pieces, where both layouts are on one mesh. False for want of memory, which
 * only two meshes take. */
bool dt_exchange_count(int64_t *messages, int64_t *elements,
                       const dt_exchange *exchange, int64_t rank);

/* How many elements one rank sends another, or keeps; on one mesh, which has both. */
int64_t dt_exchange_between(const dt_exchange *exchange, int64_t from_rank,
                            int64_t to_rank);

/* Elements that a rank holds both before and after. */
int64_t dt_exchange_kept(const dt_exchange *exchange, int64_t rank);

#endif
