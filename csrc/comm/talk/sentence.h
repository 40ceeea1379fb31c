/* sentence.h: puts a sentence together in a buffer that may be too small for it. */
#ifndef DT_SENTENCE_H
#define DT_SENTENCE_H

#include "comm/transport/transport.h"

#include <stddef.h>

typedef struct {
    char *out;
    size_t size; /* of the buffer; what does not fit is cut off */
    size_t used;
} dt_sentence;

void dt_sentence_add(dt_sentence *sentence, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Adds "rank 1" or "ranks 0, 2-5": those of `count` ranks whose label is `wanted`, in
 * the order of the list; of very many, the first ones and how many more. The second one, in
 * jobs of several hosts, adds theirs: "ranks 0, 2-5 (on hosts a, c)". */
void dt_sentence_ranks(dt_sentence *sentence, const int *ranks,
                       const unsigned char *labels, int count, unsigned char wanted);
void dt_sentence_ranks_on(dt_sentence *sentence, const dt_transport *transport,
                          const int *ranks, const unsigned char *labels, int count,
                          unsigned char wanted);

#endif
