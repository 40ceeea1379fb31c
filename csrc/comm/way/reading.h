/* reading.h: the inside of the way by reading: read.c (what ranks tell each other, and
 * when), lend.c (what a rank lets others read) and borrow.c (reading and summing). */
#ifndef DT_READING_H
#define DT_READING_H

#include "comm/way/way.h"

/* What ranks tell each other: dt_reading.name, and then words by which arrays are found;
 * or, where a queue is short, its elements, packed. Both ends know which. */
enum { DT_ENCLOSED_MOST = 1024 };

static inline bool
dt_enclosed(const dt_queue *queue)
{
    return queue->bytes <= DT_ENCLOSED_MOST;
}

/* A rank that has something for this one. */
typedef struct {
    dt_request told, answer;
    const int64_t *words; /* what it tells */
    bool enclosed, is_told, read;
} dt_owner;

/* A rank that reads from this one. */
typedef struct {
    dt_request telling, answer;
    bool has_read;
    char word; /* its answer */
} dt_reader;

/* Of a box that is summed: where it begins, and strides. */
typedef struct {
    const char *at;
    const int64_t *stride;
} dt_addend;

typedef struct {
    int at; /* the round that moves */
    int phase;
    int64_t name;
    int64_t *mine; /* what most readers are told */
    size_t bytes;  /* of that */
    size_t most;   /* bytes that a rank is told at most */
    char *heard;   /* `most` for each owner */
    char *told;    /* `most` for each reader, where something is enclosed; else NULL */
    dt_owner *owners;   /* one for each queue that this rank receives */
    dt_reader *readers; /* one for each that it sends */
    bool copied;        /* what stays on this rank */
    bool here;          /* what the words tell of lies in memory of this process */
    size_t slice;       /* bytes of an addend that are summed at a time */
    dt_addend *addends;
    const void **rows;    /* of each addend: where its next rows are ... */
    int64_t *row_strides; /* ... and bytes from one to the next */
    size_t staged; /* bytes of the arrays to be read from here; 0: too many to copy */
} dt_reading;

/* --- lend.c --- */

/* Chooses how much is copied where others can reach it, and its room in the leg. */
void dt_lend_prepare(dt_leg *leg, dt_reading *r, int64_t scratch);

/* Whether others can read what this rank has for them, now that the leg is bound. */
bool dt_lend_ready(const dt_leg *leg, const dt_reading *r);

/* Words by which others find the arrays of a leg, and writing them for the round that
 * begins: for each its address and its strides. */
size_t dt_lend_words(const dt_leg *leg);
void dt_lend(int64_t *words, const dt_leg *leg, const dt_reading *r);

/* Packs a short queue. */
void dt_lend_enclose(char *out, const dt_queue *queue);

/* --- borrow.c --- */

/* Lists for so many addends; false: there is no memory. */
bool dt_borrow_make(dt_reading *r, size_t addends);
void dt_borrow_free(dt_reading *r);

/* Chooses the room of sums, at the beginning of the leg's. */
void dt_borrow_prepare(dt_leg *leg, dt_reading *r, int64_t scratch);

/* Copies what owner `k` of the round has for this rank; sums what all have. DT_BUG,
 * DT_RUNTIME. */
dt_status dt_borrow(const dt_leg *leg, const dt_reading *r, int64_t k, dt_error *err);
dt_status dt_borrow_sum(const dt_leg *leg, const dt_reading *r, dt_error *err);

/* Copies what stays on this rank. */
void dt_borrow_own(const dt_round *round);

#endif
