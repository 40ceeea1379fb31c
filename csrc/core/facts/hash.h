/* hash.h: the one hash. */
#ifndef DT_HASH_H
#define DT_HASH_H

#include <stddef.h>
#include <stdint.h>

/* Mixes `bytes` into `hash`; start with 0. Equal on every machine of one byte order. */
uint64_t dt_hash(uint64_t hash, const void *data, size_t bytes);

/* The same of one word, in as few instructions as it can be had. Both halves of the
 * product count: of the low one alone, a word and the one of the other sign give hashes
 * that differ in the same bits whatever came before, and two such changes cancel. */
static inline uint64_t
dt_mix(uint64_t hash, uint64_t word)
{
    __extension__ typedef unsigned __int128 wide;
    wide product = (wide)(hash ^ word ^ UINT64_C(0x6a09e667f3bcc909)) *
                   UINT64_C(0x9e3779b97f4a7c15);
    return (uint64_t)product ^ (uint64_t)(product >> 64);
}

#endif
