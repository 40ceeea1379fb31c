/* hash.h: the one hash. */
#ifndef DT_HASH_H
#define DT_HASH_H

#include <stddef.h>
#include <stdint.h>

/* Mixes `bytes` into `hash`; start with 0. Equal on every machine of one byte order. */
uint64_t dt_hash(uint64_t hash, const void *data, size_t bytes);

/* The same of one word, where speed counts more than how well its bits are mixed. */
static inline uint64_t
dt_mix(uint64_t hash, uint64_t word)
{
    hash = (hash ^ word) * UINT64_C(0x9e3779b97f4a7c15);
    return hash ^ hash >> 29;
}

#endif
