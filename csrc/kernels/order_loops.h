/* order_loops.h: what order.c does with keys of type KEY, whose lowest BITS are an index;
 * K(name) is the name of a function of them. */

/* Fills in keys; `flip` turns the order round. */
static void
K(fill)(KEY *keys, const char *from, const dt_line *line)
{
    const int64_t n = line->length;
    const uint64_t flip = line->largest ? most_of(line->dtype) : 0;
    const KEY one = (KEY)1 << BITS;
    switch ((int)line->dtype) {
        FOR_DTYPES(FILL)
    }
}

static void
K(insert)(KEY *keys, int64_t n)
{
    for (int64_t k = 1; k < n; k++) {
        KEY own = keys[k];
        int64_t at = k;
        for (; at > 0 && keys[at - 1] > own; at--)
            keys[at] = keys[at - 1];
        keys[at] = own;
    }
}

/* The least `count` keys come first, in any order. */
static void
K(select)(KEY *keys, int64_t n, int64_t count)
{
    uint64_t state = (uint64_t)n;
    while (n > SHORT && count > 0 && count < n) {
        KEY three[3];
        for (int k = 0; k < 3; k++) {
            state = state * 6364136223846793005u + 1442695040888963407u;
            three[k] = keys[(state >> 33) % (uint64_t)n];
        }
        K(insert)(three, 3);
        KEY pivot = three[1];
        int64_t below = 0;
        for (int64_t k = 0; k < n; k++) { /* without a branch */
            KEY own = keys[k];
            keys[k] = keys[below];
            keys[below] = own;
            below += own <= pivot;
        }
        if (below == n) { /* the pivot is the largest one: it stays behind */
            int64_t at = 0;
            while (keys[at] != pivot)
                at++;
            keys[at] = keys[--n];
            keys[n] = pivot;
        } else if (below >= count)
            n = below;
        else {
            keys += below;
            n -= below;
            count -= below;
        }
    }
    if (n <= SHORT)
        K(insert)(keys, n);
}

/* By digits, the last one first: those of the index only if it does not rise. */
static KEY *
K(sort)(KEY *keys, KEY *other, int64_t n, dt_dtype dtype, bool mixed)
{
    const int end = BITS + 8 * (int)dt_dtype_size(dtype);
    if (n <= SHORT) {
        K(insert)(keys, n);
        return keys;
    }
    for (int shift = mixed ? 0 : BITS; shift < end; shift += RADIX_BITS) {
        int64_t place[RADIX] = {0}, next = 0;
        for (int64_t k = 0; k < n; k++)
            place[(keys[k] >> shift) & (RADIX - 1)]++;
        if (place[(keys[0] >> shift) & (RADIX - 1)] == n)
            continue;
        for (int d = 0; d < RADIX; d++) {
            int64_t count = place[d];
            place[d] = next;
            next += count;
        }
        for (int64_t k = 0; k < n; k++)
            other[place[(keys[k] >> shift) & (RADIX - 1)]++] = keys[k];
        KEY *before = keys;
        keys = other;
        other = before;
    }
    return keys;
}

/* One more key among the first ones, which are in order; the last of them goes. */
static inline void
K(take_in)(KEY *keys, int64_t count, KEY own)
{
    int64_t at = count - 1;
    for (; at > 0 && keys[at - 1] > own; at--)
        keys[at] = keys[at - 1];
    keys[at] = own;
}

/* The first ones of many, in order. */
static void
K(pick)(KEY *keys, const char *from, const dt_line *line, int64_t count)
{
    const int64_t n = line->length;
    const uint64_t flip = line->largest ? most_of(line->dtype) : 0;
    dt_line begin = *line;
    begin.length = count;
    K(fill)(keys, from, &begin);
    K(insert)(keys, count);
    uint64_t last = (uint64_t)(keys[count - 1] >> BITS);
    switch ((int)line->dtype) {
        FOR_DTYPES(PICK)
    }
}

static void
K(first)(int64_t *out, int64_t out_step, const void *x, const dt_line *line,
         int64_t count, void *scratch)
{
    const int64_t n = line->length;
    KEY *keys = scratch, *other = keys + n;
    if (count <= FEW && count < n)
        K(pick)(keys, x, line, count);
    else {
        K(fill)(keys, x, line);
        K(select)(keys, n, count);
        keys = K(sort)(keys, other, count, line->dtype, count < n);
    }
    for (int64_t k = 0; k < count; k++)
        out[k * out_step] = (int64_t)(keys[k] & (((KEY)1 << BITS) - 1));
}

static int64_t
K(at)(const void *x, const dt_line *line, int64_t place, bool nan, void *scratch)
{
    const int64_t n = line->length;
    const KEY most = (KEY)most_of(line->dtype), one = (KEY)1 << BITS;
    KEY *keys = scratch, found = 0;
    K(fill)(keys, x, line);
    for (int64_t k = 0; nan && k < n; k++)
        if (keys[k] >> BITS == most)
            return k;
    K(select)(keys, n, place + 1);
    for (int64_t k = 0; k <= place; k++)
        found = keys[k] > found ? keys[k] : found;
    return (int64_t)(found & (one - 1));
}

static int64_t
K(mode)(const void *x, const dt_line *line, void *scratch)
{
    const int64_t n = line->length;
    const bool floats = dt_dtype_kind(line->dtype) == 'f';
    const KEY most = (KEY)most_of(line->dtype);
    KEY *keys = scratch;
    int64_t best = 0, count = 0, run = 0;
    K(fill)(keys, x, line);
    keys = K(sort)(keys, keys + n, n, line->dtype, false);
    for (int64_t k = 0; k < n; k++) {
        bool same = k > 0 && keys[k] >> BITS == keys[k - 1] >> BITS;
        run = same && !(floats && keys[k] >> BITS == most) ? run + 1 : 1;
        if (run > count) {
            count = run;
            best = k;
        }
    }
    return (int64_t)(keys[best] & (((KEY)1 << BITS) - 1));
}
