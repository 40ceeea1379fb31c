#include "core/facts/hash.h"

#include "check.h"

#include <stdlib.h>
#include <string.h>

/* Words as calls have them: small integers of both signs, floats that differ in a few
 * bits, powers of two, and what a hash has made of them. */
enum { EACH = 16, MANY = 8 * EACH, PAIRS = MANY * MANY };

static int
ascending(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

/* All different. */
static int
words_of(uint64_t *out)
{
    int count = 0;
    for (int k = 1; k <= EACH; k++) {
        const double floats[] = {k, -k, 1.0 / k, k + 1e-15 * k};
        out[count++] = (uint64_t)k;
        out[count++] = (uint64_t)-k;
        out[count++] = UINT64_C(1) << (4 * k - 1);
        for (int f = 0; f < 4; f++)
            memcpy(&out[count++], &floats[f], sizeof floats[f]);
        out[count++] = dt_hash(0, &k, sizeof k);
    }
    qsort(out, (size_t)count, sizeof *out, ascending);
    int others = 1; /* 1 is 1 / 1, and some integers are powers of two */
    for (int k = 1; k < count; k++)
        if (out[k] != out[k - 1])
            out[others++] = out[k];
    return others;
}

static int
twice(uint64_t *hashes, int count)
{
    int found = 0;
    qsort(hashes, (size_t)count, sizeof *hashes, ascending);
    for (int k = 1; k < count; k++)
        found += hashes[k] == hashes[k - 1];
    return found;
}

/* Words one after another, and in the shape of an expression: an operator with a constant
 * of an operator with a number. No two pairs of words give one hash. */
int
main(void)
{
    static uint64_t words[MANY], chains[PAIRS], calls[PAIRS];
    int count = words_of(words), made = 0;
    CHECK(count > MANY * 3 / 4);
    for (int a = 0; a < count; a++)
        for (int b = 0; b < count; b++, made++) {
            uint64_t inner = dt_mix(dt_mix(17, 4711), words[a]);
            chains[made] = dt_mix(dt_mix(0, words[a]), words[b]);
            calls[made] = dt_mix(dt_mix(12, words[b]), inner);
        }
    CHECK(twice(chains, made) == 0);
    CHECK(twice(calls, made) == 0);
    return 0;
}
