#include "core/format/random.h"

#include "core/layout/context.h"

#include "check.h"

#include <stdlib.h>
#include <string.h>

/* What numpy.random.Philox(key=key).random_raw() gives: key[1] is the high half. */
static const struct {
    uint64_t key[2], words[9];
} KNOWN[] = {
    {{0, 0},
     {0x02f4ba6408e4d89b, 0x3dd62b0b9ca8c5b2, 0x1c8667a55d902e79, 0x907d7a052fd5b4dc,
      0x809bf322883987c3, 0x471128b9e807f7dd, 0xf250ba0dbec065b7, 0xfc6ed66767a457bc,
      0x40fa86f0f781945d}},
    {{5, 0},
     {0xbbd6c66234fd0c91, 0x972c5c680d78ea48, 0x3532f77bf5c294a3, 0x71803e5d0e6f08fe,
      0x3fbe633223a39c06, 0xad7695b2d5bf33df, 0xbe4eb1b330cefcfd, 0xc522b1ac1df7276f,
      0xd91382dc275883cd}},
    {{UINT64_MAX, UINT64_MAX},
     {0x6d46cc0e71f0be7e, 0x924ea1693f9a8bc0, 0xfdc35f0198c91181, 0xb4a311f17aa6568d,
      0x67e12c1eff8de57e, 0x6877618422b87b0e, 0x0b6af2bc95a81510, 0x941b27e5d2440b04,
      0x1e9fe961fae988ca}},
    {{0xfedcba9876543210, 0x0123456789abcdef},
     {0x4a9f6f3d97557e44, 0xbb94315403d00d3d, 0xab998127789d5219, 0x79371346a2a0df2a,
      0x5ea38f215be0c579, 0x89282f1b1507a0cb, 0x9d8b89be17df772a, 0xfffbc3437a445afe,
      0xe11c40c8ae0a3221}},
};

/* Of key 5: block 2^60, and the second attempt at block 0. */
static const uint64_t FAR[4] = {0x9300a4fbf77537d7, 0xa6b68dfd2546e4a2,
                                0x96b5a4548ab8b96a, 0xbbcfbbedb7008a1b};
static const uint64_t AGAIN[4] = {0xee34c21e08aaf539, 0x182fd12bc466173d,
                                  0x65507c4c7cd0965f, 0x5290a3517e914a1c};

static const uint64_t KEY[2] = {5, 0};

enum { MANY = 300 };

static void
words_are_those_of_numpy(void)
{
    uint64_t words[9];
    for (size_t k = 0; k < sizeof KNOWN / sizeof *KNOWN; k++) {
        dt_random_words(words, KNOWN[k].key, 0, 9);
        CHECK(memcmp(words, KNOWN[k].words, sizeof words) == 0);
    }
    dt_random_words(words, KEY, UINT64_C(1) << 62, 4);
    CHECK(memcmp(words, FAR, sizeof FAR) == 0);
}

static void
any_run_of_words_is_made_alone(void)
{
    uint64_t all[40], some[40];
    dt_random_words(all, KEY, 0, 40);
    for (int first = 0; first < 40; first++)
        for (int count = 0; first + count <= 40; count++) {
            memset(some, 0xab, sizeof some);
            dt_random_words(some, KEY, (uint64_t)first, count);
            CHECK(memcmp(some, all + first, (size_t)count * sizeof *some) == 0);
            CHECK(count == 40 || some[count] == UINT64_C(0xabababababababab));
        }
}

/* As NumPy's next_uint32: low half first, the high one kept. */
static uint32_t
slow_half(dt_stream *stream)
{
    uint64_t word;
    if (stream->half != DT_NO_HALF) {
        dt_random_words(&word, stream->key, stream->half, 1);
        stream->half = DT_NO_HALF;
        return (uint32_t)(word >> 32);
    }
    dt_random_words(&word, stream->key, stream->position, 1);
    stream->half = stream->position++;
    return (uint32_t)word;
}

static void
halves_are_taken_low_first_and_the_high_one_is_kept(void)
{
    static const dt_stream starts[] = {{{5, 0}, 0, DT_NO_HALF},
                                       {{5, 0}, 3, DT_NO_HALF},
                                       {{5, 0}, 7, 2},
                                       {{5, 0}, 3, 2}};
    for (size_t s = 0; s < sizeof starts / sizeof *starts; s++)
        for (int total = 0; total <= MANY; total += 1 + total / 7) {
            dt_stream slow = starts[s], fast = starts[s];
            uint32_t wanted[MANY], made[MANY];
            for (int k = 0; k < total; k++)
                wanted[k] = slow_half(&slow);
            for (int first = 0; first <= total; first += 1 + first / 5) {
                dt_random_halves(made, &fast, first, total - first);
                CHECK(memcmp(made, wanted + first,
                             (size_t)(total - first) * sizeof *made) == 0);
            }
            dt_stream_take_halves(&fast, (uint64_t)total);
            CHECK(memcmp(&fast, &slow, sizeof fast) == 0);
        }
}

/* The high half of a product, in pieces of 32 bits. */
static uint64_t
high_product(uint64_t a, uint64_t b)
{
    uint64_t al = (uint32_t)a, ah = a >> 32, bl = (uint32_t)b, bh = b >> 32;
    uint64_t middle = ah * bl + (al * bl >> 32);
    uint64_t low = al * bh + (uint32_t)middle;
    return ah * bh + (middle >> 32) + (low >> 32);
}

static void
numbers_below_a_span_are_drawn_again_where_they_must_be(void)
{
    uint64_t words[MANY], numbers[MANY], one;
    dt_random_words(words, KEY, 0, MANY);
    dt_random_below(numbers, KEY, 0, MANY, 0);
    CHECK(memcmp(numbers, words, sizeof words) == 0);
    dt_random_below(numbers, KEY, 0, MANY, UINT64_C(1) << 32);
    for (int k = 0; k < MANY; k++)
        CHECK(numbers[k] == words[k] >> 32);

    const uint64_t span = (UINT64_C(1) << 63) + 1; /* every other word is too much */
    const uint64_t surplus = (0 - span) % span;
    int drawn_again = 0;
    dt_random_below(numbers, KEY, 0, MANY, span);
    for (int k = 0; k < MANY; k++) {
        bool kept = words[k] * span >= surplus;
        CHECK(numbers[k] < span);
        CHECK(!kept || numbers[k] == high_product(words[k], span));
        if (!kept && k < 4 && AGAIN[k] * span >= surplus)
            CHECK(numbers[k] == high_product(AGAIN[k], span));
        dt_random_below(&one, KEY, (uint64_t)k, 1, span);
        CHECK(one == numbers[k]);
        drawn_again += !kept;
    }
    CHECK(drawn_again > MANY / 3 && drawn_again < 2 * MANY / 3);
}

static void
numbers_below_a_span_are_all_equally_likely(void)
{
    enum { SPAN = 7, DRAWS = 70000 };
    static uint64_t numbers[DRAWS];
    int64_t seen[SPAN] = {0};
    dt_random_below(numbers, KEY, 0, DRAWS, SPAN);
    for (int k = 0; k < DRAWS; k++)
        seen[numbers[k]]++;
    for (int k = 0; k < SPAN; k++)
        CHECK(llabs(seen[k] - DRAWS / SPAN) < 500); /* 5 standard deviations */
}

static void
permutations_are_all_equally_likely(void)
{
    enum { TRIALS = 24000 };
    int64_t seen[256] = {0}, order[4];
    for (int trial = 0; trial < TRIALS; trial++) {
        dt_stream stream = {{5, 0}, (uint64_t)trial * 4, DT_NO_HALF};
        dt_random_permutation(order, &stream, 4);
        seen[order[0] << 6 | order[1] << 4 | order[2] << 2 | order[3]]++;
    }
    int orders = 0;
    for (int k = 0; k < 256; k++) {
        orders += seen[k] > 0;
        CHECK(seen[k] == 0 || llabs(seen[k] - TRIALS / 24) < 160);
    }
    CHECK(orders == 24);
}

static void
a_permutation_has_every_number_once(void)
{
    static int64_t order[1000];
    dt_stream stream = {{5, 0}, 9, DT_NO_HALF};
    for (int count = 0; count <= 1000; count += 1 + count / 3) {
        bool seen[1000] = {false};
        dt_random_permutation(order, &stream, count);
        for (int k = 0; k < count; k++) {
            CHECK(order[k] >= 0 && order[k] < count && !seen[order[k]]);
            seen[order[k]] = true;
        }
    }
}

/* --- stretches --- */

typedef struct {
    int64_t next, count;
    int64_t found[4096]; /* global index by local one */
} found_part;

static void
note_stretch(void *data, int64_t local, int64_t global, int64_t count)
{
    found_part *part = data;
    CHECK(local == part->next && count > 0);
    for (int64_t k = 0; k < count; k++)
        part->found[local + k] = global + k;
    part->next += count;
    part->count++;
}

static int64_t
global_index(const dt_layout *layout, const int64_t *coordinate, int64_t local)
{
    int64_t global = 0, stride = 1;
    for (int d = layout->ndim - 1; d >= 0; d--) {
        int64_t part = dt_layout_part(layout, d, coordinate);
        int64_t size = dt_layout_part_size(layout, d, part), at = local % size;
        dt_range ranges[64];
        int64_t k = 0;
        dt_layout_ranges(ranges, layout, d, part);
        for (; at >= ranges[k].size; k++)
            at -= ranges[k].size;
        global += (ranges[k].start + at) * stride;
        stride *= layout->shape[d];
        local /= size;
    }
    return global;
}

static void
check_layout(const dt_layout *layout)
{
    static found_part part;
    for (int64_t index = 0; index < layout->mesh->size; index++) {
        int64_t coordinate[DT_MESH_MAX_NDIM];
        dt_mesh_coordinate(coordinate, layout->mesh, index);
        part.next = part.count = 0;
        CHECK(dt_stretches(layout, coordinate, note_stretch, &part, NULL) == DT_OK);
        int64_t count = 1;
        for (int d = 0; d < layout->ndim; d++)
            count *=
                dt_layout_part_size(layout, d, dt_layout_part(layout, d, coordinate));
        CHECK(part.next == count);
        for (int64_t k = 0; k < count; k++)
            CHECK(part.found[k] == global_index(layout, coordinate, k));
    }
}

static void
stretches_are_all_of_a_part_in_order(void)
{
    dt_context *context = dt_context_make();
    dt_mesh *made;
    const dt_mesh *mesh;
    uint64_t state = 1;
    for (int trial = 0; trial < 3000; trial++) {
        int64_t sides[2] = {1 + check_below(&state, 4), 1 + check_below(&state, 3)};
        int64_t shape[4];
        int ndim = (int)check_below(&state, 5);
        CHECK(dt_mesh_make(&made, 2, sides, NULL, NULL, 0, NULL) == DT_OK);
        CHECK(dt_context_mesh(&mesh, context, made, NULL) == DT_OK);
        for (int d = 0; d < ndim; d++)
            shape[d] = check_below(&state, 8);
        dt_placement placements[2];
        for (int m = 0; m < 2; m++) {
            placements[m] = DT_REPLICATED;
            if (ndim > 0 && check_below(&state, 4) > 0)
                placements[m] = (dt_placement){.kind = DT_SHARD,
                                               .dim = (int)check_below(&state, ndim),
                                               .split = 1 + check_below(&state, 3)};
        }
        dt_layout *layout;
        CHECK(dt_layout_make(&layout, mesh, placements, ndim, shape, DT_FLOAT32, NULL,
                             0, NULL, 0, NULL) == DT_OK);
        check_layout(layout);
        dt_layout_free(layout);
        dt_mesh_release(context, mesh);
    }
    dt_context_free(context);
}

static void
whole_trailing_dimensions_are_one_stretch(void)
{
    static const struct {
        int dim;
        int64_t stretches;
    } cases[] = {{0, 1}, {1, 4}, {2, 24}};
    static found_part part;
    dt_mesh *mesh;
    CHECK(dt_mesh_make(&mesh, 1, (int64_t[]){2}, NULL, NULL, 0, NULL) == DT_OK);
    for (int k = 0; k < 3; k++) {
        dt_layout *layout;
        dt_placement placement = DT_SHARDED(cases[k].dim);
        CHECK(dt_layout_make(&layout, mesh, &placement, 3, (int64_t[]){4, 6, 10},
                             DT_FLOAT32, NULL, 0, NULL, 0, NULL) == DT_OK);
        part.next = part.count = 0;
        CHECK(dt_stretches(layout, (int64_t[]){1}, note_stretch, &part, NULL) == DT_OK);
        CHECK(part.next == 120 && part.count == cases[k].stretches);
        dt_layout_free(layout);
    }
    dt_mesh_free(mesh);
}

DT_MAIN(TEST(words_are_those_of_numpy), TEST(any_run_of_words_is_made_alone),
        TEST(halves_are_taken_low_first_and_the_high_one_is_kept),
        TEST(numbers_below_a_span_are_drawn_again_where_they_must_be),
        TEST(numbers_below_a_span_are_all_equally_likely),
        TEST(permutations_are_all_equally_likely),
        TEST(a_permutation_has_every_number_once),
        TEST(stretches_are_all_of_a_part_in_order),
        TEST(whole_trailing_dimensions_are_one_stretch))
