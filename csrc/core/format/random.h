/* The room core/format: bits that others have fixed: the Philox stream, CRC-32C,
 * headers of safetensors files.
 *
 * May use: core/facts, core/memory, core/layout.
 * Begin with: any of the three headers: they know nothing of each other. */

/* random.h: the stream of random bits that every random array is cut out of, and where
 * in it a part of an array lies.
 *
 * Philox4x64-10 of Salmon et al. (SC 2011): four words of 64 bits are a function of a
 * key and of the number of the block, and of nothing before them. So any element of an
 * array is made alone, and every rank makes its own. Word w of a key is word w % 4 of
 * block w / 4; block b has the counter (b + 1, 0, 0, 0). These are the words that
 * numpy.random.Philox(key=key) gives, in its order. */
#ifndef DT_RANDOM_H
#define DT_RANDOM_H

#include "core/layout/layout.h"

/* What is left of the words of a key. Draws of 32 bits take the low half of a word
 * first; the high half is kept for the next such draw, as NumPy does. */
typedef struct {
    uint64_t key[2];
    uint64_t position; /* the next word that nobody has taken */
    uint64_t half;     /* the word whose high half is kept; DT_NO_HALF: none */
} dt_stream;

#define DT_NO_HALF UINT64_MAX

/* Words first ... first + count - 1 of a key. */
void dt_random_words(uint64_t *out, const uint64_t key[2], uint64_t first,
                     int64_t count);

/* The draws of 32 bits first ... first + count - 1 that a stream would give next. */
void dt_random_halves(uint32_t *out, const dt_stream *stream, int64_t first,
                      int64_t count);

/* Numbers 0 ... span - 1, all equally likely, from the same words; span 0 means 2^64.
 * Lemire's multiplication (ACM TOMACS 29:3, 2019): a word that would favour some number
 * is drawn again, at the same place of a stream of its own, so that no other element
 * moves: attempt a has the counter (b + 1, a, 0, 0). */
void dt_random_below(uint64_t *out, const uint64_t key[2], uint64_t first,
                     int64_t count, uint64_t span);

/* The numbers 0 ... count - 1 in an order that words position ... position + count - 1
 * decide: all orders are equally likely, as far as the key is random. */
void dt_random_permutation(int64_t *out, const dt_stream *stream, int64_t count);

/* Takes as many words, or draws of 32 bits, out of a stream. */
void dt_stream_take_words(dt_stream *stream, uint64_t count);
void dt_stream_take_halves(dt_stream *stream, uint64_t count);

/* Visits the part of a layout at a coordinate in stretches: `count` elements that lie
 * one behind the other both in the part, from element `local` of it on, and in the
 * whole array, from its element `global` on (both in C order). In ascending order of
 * `local`; dimensions that the part has whole after the last one that is cut are one
 * stretch with it. A part without elements has none.
 *
 *     shape (4, 6), [Shard(1)] on 2 ranks, coordinate 1:  (0, 3, 3) (3, 9, 3) ...
 *     shape (4, 6), [Shard(0)] on 2 ranks, coordinate 1:  (0, 12, 12)
 *
 * DT_MEMORY. */
typedef void dt_stretch_visit(void *data, int64_t local, int64_t global, int64_t count);
dt_status dt_stretches(const dt_layout *layout, const int64_t *coordinate,
                       dt_stretch_visit *visit, void *data, dt_error *err);

#endif
