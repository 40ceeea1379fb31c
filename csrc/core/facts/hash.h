/* hash.h: the one hash. */
#ifndef DT_HASH_H
#define DT_HASH_H

#include <stddef.h>
#include <stdint.h>

/* Mixes `bytes` into `hash`; start with 0. Equal on every machine of one byte order. */
uint64_t dt_hash(uint64_t hash, const void *data, size_t bytes);

#endif
