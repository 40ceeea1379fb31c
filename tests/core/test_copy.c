#include "core/facts/hash.h"
#include "core/memory/copy.h"

#include "check.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_NDIM = 6, LARGE = 9 << 20 };

/* One side of a copy: a buffer of exactly the bytes that its elements span, so that a
 * sanitizer sees a read beyond it. */
typedef struct {
    int64_t stride[MAX_NDIM];
    size_t bytes, first; /* of the buffer; where element (0, ..., 0) is */
    unsigned char *data;
} side;

typedef struct {
    int ndim;
    int64_t shape[MAX_NDIM];
    size_t itemsize;
    side to, from;
} sample;

static unsigned char *
make_bytes(size_t bytes, uint64_t *random)
{
    unsigned char *data = aligned_alloc(64, (bytes + 63) / 64 * 64);
    uint64_t word = check_random(random);
    for (size_t i = 0; i < bytes; i++, word = word * 5 + 1)
        data[i] = (unsigned char)(word >> 56);
    return data;
}

static void
shuffle(int *order, int count, uint64_t *random)
{
    for (int i = 0; i < count; i++) {
        int at = (int)check_below(random, i + 1);
        order[i] = order[at];
        order[at] = i;
    }
}

/* Strides of the dimensions in some order, some reversed, some with gaps, and on the
 * source's side some that are 0 or overlap. */
static void
make_side(side *s, const sample *x, bool source, uint64_t *random)
{
    int order[MAX_NDIM];
    shuffle(order, x->ndim, random);
    bool neat = check_below(random, 3) == 0; /* dense, in order: merges */
    int64_t step = (int64_t)x->itemsize, low = 0, high = (int64_t)x->itemsize;
    for (int i = x->ndim - 1; i >= 0; i--) {
        int dim = neat ? i : order[i];
        int64_t stride = step;
        if (!neat)
            stride += check_below(random, 3) * (1 + check_below(random, 9));
        if (source && check_below(random, 8) == 0)
            stride = check_below(random, 4);
        int64_t span = stride * (x->shape[dim] - 1);
        step = stride * x->shape[dim] > step ? stride * x->shape[dim] : step;
        if (check_below(random, 4) == 0)
            stride = -stride;
        s->stride[dim] = stride;
        if (x->shape[dim] > 0)
            *(stride < 0 ? &low : &high) += stride < 0 ? -span : span;
    }
    s->first = (size_t)-low;
    s->bytes = (size_t)(high - low);
    s->data = malloc(s->bytes);
    for (size_t i = 0; i < s->bytes; i++)
        s->data[i] = (unsigned char)check_random(random);
}

static void
copy_one_by_one(unsigned char *to, const unsigned char *from, const sample *x, int dim)
{
    if (dim == x->ndim) {
        memcpy(to, from, x->itemsize);
        return;
    }
    int64_t t = x->to.stride[dim], f = x->from.stride[dim];
    if (dim + 1 == x->ndim && x->itemsize == 1)
        for (int64_t i = 0; i < x->shape[dim]; i++)
            to[i * t] = from[i * f];
    else
        for (int64_t i = 0; i < x->shape[dim]; i++)
            copy_one_by_one(to + i * t, from + i * f, x, dim + 1);
}

/* Copies, and compares every byte of the destination, also those between. */
static void
check_sample(sample *x)
{
    unsigned char *want = malloc(x->to.bytes);
    memcpy(want, x->to.data, x->to.bytes);
    copy_one_by_one(want + x->to.first, x->from.data + x->from.first, x, 0);
    dt_copy_box(x->to.data + x->to.first, x->to.stride, x->from.data + x->from.first,
                x->from.stride, x->ndim, x->shape, x->itemsize);
    CHECK(memcmp(want, x->to.data, x->to.bytes) == 0);
    free(want);
    free(x->to.data);
    free(x->from.data);
}

static void
a_copy_is_the_copy_of_each_element(void)
{
    uint64_t random = 1;
    for (int i = 0; i < 8000; i++) {
        sample x = {.ndim = (int)check_below(&random, MAX_NDIM + 1)};
        x.itemsize = (size_t)(i % 3 == 0 ? 1 + check_below(&random, 70)
                                         : 1 << check_below(&random, 6));
        int64_t longest = x.ndim <= 2 ? 40 : 7;
        for (int dim = 0; dim < x.ndim; dim++)
            x.shape[dim] =
                check_below(&random, 40) == 0 ? 0 : 1 + check_below(&random, longest);
        make_side(&x.to, &x, false, &random);
        make_side(&x.from, &x, true, &random);
        check_sample(&x);
    }
}

/* A matrix with rows of `to_pitch` bytes that is the transpose of the source. */
static void
check_transpose(int64_t rows, int64_t columns, size_t itemsize, size_t offset,
                int64_t pitch, uint64_t *random)
{
    int64_t item = (int64_t)itemsize;
    sample x = {.ndim = 2, .shape = {rows, columns}, .itemsize = itemsize};
    x.to = (side){.stride = {columns * item + pitch, item}, .first = offset};
    x.from = (side){.stride = {item, rows * item}};
    x.to.bytes = (size_t)(rows * x.to.stride[0]) + offset;
    x.from.bytes = (size_t)(rows * columns * item);
    x.to.data = make_bytes(x.to.bytes, random);
    x.from.data = make_bytes(x.from.bytes, random);
    check_sample(&x);
}

static void
a_transpose_of_any_shape_is_one(void)
{
    uint64_t random = 2;
    for (size_t itemsize = 1; itemsize <= 24; itemsize++)
        for (int i = 0; i < 40; i++)
            check_transpose(1 + check_below(&random, i < 20 ? 80 : 300),
                            1 + check_below(&random, i < 20 ? 300 : 80), itemsize,
                            (size_t)check_below(&random, 70), check_below(&random, 70),
                            &random);
}

static void
a_large_transpose_is_one(void)
{
    uint64_t random = 3;
    for (int64_t item = 1; item <= 16; item *= 2) {
        int64_t rows = 2053, columns = LARGE / item / rows + 1;
        int64_t pitch = (64 - columns * item % 64) % 64; /* rows that start lines */
        check_transpose(rows, columns, (size_t)item, 0, pitch, &random);
        check_transpose(rows, columns, (size_t)item, (size_t)item, pitch, &random);
        check_transpose(rows, columns, (size_t)item, 1, pitch, &random);
        check_transpose(rows, columns, (size_t)item, 0, pitch + 1, &random);
    }
}

static void
large_rows_are_copied_at_any_alignment(void)
{
    uint64_t random = 4;
    for (int64_t run = 7; run <= LARGE; run *= 8)
        for (int64_t odd = 0; odd < 3; odd++) {
            int64_t length = odd == 2 ? run + 1 : run;
            sample x = {.ndim = 2, .shape = {LARGE / run, length}, .itemsize = 1};
            for (int s = 0; s < 2; s++) {
                side *half = s == 0 ? &x.to : &x.from;
                half->stride[1] = 1;
                half->stride[0] = length + (odd == 0 ? 64 * s : 3);
                half->first = (size_t)odd;
                half->bytes = (size_t)(half->stride[0] * x.shape[0] + odd);
                half->data = make_bytes(half->bytes, &random);
            }
            check_sample(&x);
        }
}

static void
a_run_of_any_length_is_copied(void)
{
    enum { PAD = 80 };
    uint64_t random = 5;
    unsigned char *from = make_bytes(LARGE + 2 * PAD, &random);
    unsigned char *to = malloc(LARGE + 2 * PAD);
    const size_t around[] = {0, 1 << 19, (8 << 20) - 64, LARGE - 1024};
    for (size_t a = 0; a < sizeof around / sizeof *around; a++)
        for (size_t i = 0; i < 140; i += a == 0 ? 1 : 61) {
            size_t bytes = around[a] + i, shift = i * 7 % PAD, other = i * 3 % PAD;
            memset(to, 0, bytes + 2 * PAD);
            dt_copy_bytes(to + shift, from + other, bytes);
            CHECK(memcmp(to + shift, from + other, bytes) == 0);
            for (size_t j = 0; j < PAD; j++)
                CHECK((j >= shift || to[j] == 0) && to[shift + bytes + j] == 0);
        }
    free(from);
    free(to);
}

static void
a_fill_repeats_its_value(void)
{
    unsigned char value[70], to[70 * 300 + 1];
    for (size_t itemsize = 1; itemsize <= sizeof value; itemsize++)
        for (int64_t count = 0; count <= 300; count += 1 + count / 4)
            for (int same = 0; same < 2; same++) {
                for (size_t i = 0; i < itemsize; i++)
                    value[i] = (unsigned char)(same ? 3 : 11 * i + 1);
                size_t bytes = itemsize * (size_t)count;
                to[bytes] = 99;
                dt_fill(to, value, itemsize, count);
                for (size_t i = 0; i < bytes; i++)
                    CHECK(to[i] == value[i % itemsize]);
                CHECK(to[bytes] == 99);
            }
}

static int
bit_count(uint64_t x)
{
    return __builtin_popcountll(x);
}

static void
a_hash_depends_on_the_bytes_and_not_on_where_they_are(void)
{
    unsigned char data[200], moved[264];
    for (size_t bytes = 0; bytes <= sizeof data; bytes++) {
        for (size_t i = 0; i < bytes; i++)
            data[i] = (unsigned char)(i * 37 + bytes);
        for (size_t shift = 0; shift < 64; shift++) {
            memset(moved, (int)shift, sizeof moved);
            memcpy(moved + shift, data, bytes);
            CHECK(dt_hash(5, moved + shift, bytes) == dt_hash(5, data, bytes));
        }
    }
    CHECK(dt_hash(0, NULL, 0) == dt_hash(0, data, 0));
}

/* Flips every bit of the data and of the hash that goes in, and counts the bits that
 * change in what comes out. */
static void
every_bit_changes_half_of_the_hash(void)
{
    unsigned char data[64];
    long flips = 0, changed = 0;
    for (size_t bytes = 1; bytes <= sizeof data; bytes++) {
        for (size_t i = 0; i < bytes; i++)
            data[i] = (unsigned char)(bytes % 3 == 0 ? 0 : i * 41 + bytes);
        uint64_t hash = dt_hash(bytes, data, bytes);
        for (size_t bit = 0; bit < 8 * bytes + 64; bit++) {
            uint64_t start = bytes;
            if (bit < 8 * bytes)
                data[bit / 8] ^= (unsigned char)(1 << bit % 8);
            else
                start ^= UINT64_C(1) << (bit - 8 * bytes);
            int count = bit_count(hash ^ dt_hash(start, data, bytes));
            CHECK(count >= 8 && count <= 56);
            changed += count;
            flips++;
            if (bit < 8 * bytes)
                data[bit / 8] ^= (unsigned char)(1 << bit % 8);
        }
    }
    double mean = (double)changed / (double)flips;
    CHECK(mean > 31.8 && mean < 32.2);
}

static int
compare_hashes(const void *a, const void *b)
{
    const uint64_t *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

/* Small numbers in short arrays, as shapes and ranks are; zeros of every length. */
static void
hashes_of_small_numbers_are_distinct(void)
{
    enum { COUNT = 40 * 40 * 40 + 1000 };
    uint64_t *hashes = malloc(COUNT * sizeof *hashes);
    unsigned char zeros[1000] = {0};
    size_t count = 0;
    for (int64_t a = 0; a < 40; a++)
        for (int64_t b = 0; b < 40; b++)
            for (int64_t c = 1; c <= 40; c++) { /* never what is in zeros */
                int64_t data[] = {a, b, c};
                hashes[count++] = dt_hash(0, data, sizeof data);
            }
    for (size_t bytes = 0; bytes < sizeof zeros; bytes++)
        hashes[count++] = dt_hash(0, zeros, bytes);
    for (int shift = 0; shift < 64; shift += 32) { /* also in either half: for tables */
        uint64_t *half = malloc(COUNT * sizeof *half);
        for (size_t i = 0; i < COUNT; i++)
            half[i] = hashes[i] >> shift & 0xffffffff;
        qsort(half, COUNT, sizeof *half, compare_hashes);
        int same = 0; /* 65000 of 2^32: a half is expected */
        for (size_t i = 1; i < COUNT; i++)
            same += half[i] == half[i - 1];
        CHECK(same <= 5);
        free(half);
    }
    qsort(hashes, COUNT, sizeof *hashes, compare_hashes);
    for (size_t i = 1; i < COUNT; i++)
        CHECK(hashes[i] != hashes[i - 1]);
    free(hashes);
}

DT_MAIN(TEST(a_copy_is_the_copy_of_each_element), TEST(a_transpose_of_any_shape_is_one),
        TEST(a_large_transpose_is_one), TEST(large_rows_are_copied_at_any_alignment),
        TEST(a_run_of_any_length_is_copied), TEST(a_fill_repeats_its_value),
        TEST(a_hash_depends_on_the_bytes_and_not_on_where_they_are),
        TEST(every_bit_changes_half_of_the_hash),
        TEST(hashes_of_small_numbers_are_distinct))
