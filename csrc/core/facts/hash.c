#include "core/facts/hash.h"

#include <string.h>

static uint64_t
fold(uint64_t a, uint64_t b)
{
    __extension__ typedef unsigned __int128 wide;
    wide product = (wide)a * b;
    return (uint64_t)product ^ (uint64_t)(product >> 64);
}

static uint64_t
word(const unsigned char *at)
{
    uint64_t value;
    memcpy(&value, at, sizeof value);
    return value;
}

/* Up to 7 bytes as one number; the length is hashed by itself. */
static uint64_t
short_word(const unsigned char *at, size_t bytes)
{
    uint64_t value = 0;
    memcpy(&value, at, bytes);
    return value;
}

/* Multiply and fold, 16 bytes at a time. The odd numbers are the fractions of the
 * square roots of 2, 3 and 5: no pattern of data cancels them but by chance. */
uint64_t
dt_hash(uint64_t hash, const void *data, size_t bytes)
{
    const uint64_t a = UINT64_C(0x6a09e667f3bcc909), b = UINT64_C(0xbb67ae8584caa73b),
                   c = UINT64_C(0x3c6ef372fe94f82b);
    const unsigned char *at = data;
    size_t left = bytes;
    hash = fold(hash ^ a, (uint64_t)bytes ^ b) + a;
    for (; left >= 16; left -= 16, at += 16)
        hash ^= fold(word(at) ^ b, word(at + 8) ^ hash ^ c);
    uint64_t low = 0, high = 0;
    if (left >= 8) {
        low = word(at);
        at += 8;
        left -= 8;
    }
    if (left > 0)
        high = short_word(at, left);
    hash ^= fold(low ^ b, high ^ hash ^ c);
    return fold(hash ^ a, hash + b);
}
