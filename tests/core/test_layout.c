#include "core/layout/context.h"

#include "check.h"

#include <stdlib.h>
#include <string.h>

static dt_context *context;

static const dt_mesh *
mesh_of(int ndim, int64_t a, int64_t b, int64_t c)
{
    dt_mesh *made;
    const dt_mesh *out = NULL;
    CHECK(dt_mesh_make(&made, ndim, (int64_t[]){a, b, c}, NULL, NULL, 0, NULL) ==
          DT_OK);
    CHECK(dt_context_mesh(&out, context, made, NULL) == DT_OK);
    return out;
}

/* A layout of one dimension; `order` NULL: left to right. */
static dt_layout *
line(const dt_mesh *mesh, const dt_placement *placements, int64_t length,
     const dt_order *order)
{
    dt_layout *out = NULL;
    CHECK(dt_layout_make(&out, mesh, placements, 1, &length, DT_FLOAT32, order,
                         order != NULL, NULL, 0, NULL) == DT_OK);
    return out;
}

static void
chunks_tile_the_dimension(void)
{
    for (int64_t length = 0; length <= 40; length++)
        for (int64_t count = 1; count <= 9; count++) {
            int64_t next = 0, chunk = (length + count - 1) / count;
            for (int64_t index = 0; index < count; index++) {
                dt_range r = dt_chunk(length, count, index);
                CHECK(r.start == next && r.size >= 0 && r.size <= chunk);
                CHECK(r.size == chunk || r.start + r.size == length);
                next = r.start + r.size;
            }
            CHECK(next == length);
        }
    CHECK(dt_chunk(INT64_MAX / 2, 3, 2).size > 0);
    CHECK(dt_chunk(5, INT64_C(1) << 40, INT64_C(1) << 39).size == 0);
}

/* What the ranks of a mesh of (a, b) hold, by cutting lists of numbers in the order
 * asked for: the definition, as slowly as can be. */
static int64_t
slow_part(int64_t *out, int64_t length, const int64_t *counts, const int64_t *at, int n)
{
    int64_t size = length;
    for (int64_t i = 0; i < length; i++)
        out[i] = i;
    for (int k = 0; k < n; k++) {
        int64_t chunk = (size + counts[k] - 1) / counts[k];
        int64_t start = at[k] * chunk < size ? at[k] * chunk : size;
        size = size - start < chunk ? size - start : chunk;
        memmove(out, out + start, sizeof *out * (size_t)size);
    }
    return size;
}

static void
nested_cuts_follow_their_order(void)
{
    for (int64_t a = 1; a <= 4; a++)
        for (int64_t b = 1; b <= 4; b++)
            for (int64_t length = 0; length <= 20; length++)
                for (int turned = 0; turned < 2; turned++) {
                    const dt_mesh *mesh = mesh_of(2, a, b, 1);
                    dt_placement both[] = {DT_SHARDED(0), DT_SHARDED(-1)};
                    dt_order order = {.dim = 0, .count = 2, .mesh_dims = {1, 0}};
                    dt_layout *x = line(mesh, both, length, turned ? &order : NULL);
                    for (int64_t i = 0; i < a * b; i++) {
                        int64_t c[2], slow[20];
                        dt_mesh_coordinate(c, mesh, i);
                        int64_t counts[2] = {turned ? b : a, turned ? a : b};
                        int64_t at[2] = {turned ? c[1] : c[0], turned ? c[0] : c[1]};
                        int64_t size = slow_part(slow, length, counts, at, 2);
                        dt_range r;
                        CHECK(dt_layout_ranges(&r, x, 0, dt_layout_part(x, 0, c)) == 1);
                        CHECK(r.size == size && (size == 0 || r.start == slow[0]));
                    }
                    dt_layout_free(x);
                    dt_mesh_release(context, mesh);
                }
}

static void
an_order_survives_being_written_as_splits(void)
{
    static const int ORDERS[][3] = {{0, 1, 2}, {0, 2, 1}, {1, 0, 2},
                                    {1, 2, 0}, {2, 0, 1}, {2, 1, 0}};
    for (int64_t a = 1; a <= 3; a++)
        for (int64_t b = 1; b <= 3; b++)
            for (int k = 0; k < 6; k++) {
                const dt_mesh *mesh = mesh_of(3, a, b, 2);
                dt_placement all[] = {DT_SHARDED(0), DT_SHARDED(0), DT_SHARDED(0)};
                dt_order order = {.dim = 0, .count = 3};
                memcpy(order.mesh_dims, ORDERS[k], sizeof ORDERS[k]);
                dt_layout *x = line(mesh, all, 29, &order);
                dt_placement written[3];
                for (int m = 0; m < 3; m++)
                    written[m] = dt_layout_placement(x, m);
                dt_layout *y = line(mesh, written, 29, NULL);
                CHECK(dt_layout_equal(x, y));
                dt_layout_free(x);
                dt_layout_free(y);
                dt_mesh_release(context, mesh);
            }
}

/* Every element is held once, and where parts_over says. */
static void
check_tiling(const dt_layout *x, int64_t length)
{
    int64_t owner[64];
    for (int64_t i = 0; i < length; i++)
        owner[i] = -1;
    int64_t limit = dt_layout_range_limit(x, 0);
    dt_range *ranges = malloc(sizeof *ranges * (size_t)limit);
    for (int64_t part = 0; part < x->dims[0].parts; part++) {
        int64_t count = dt_layout_ranges(ranges, x, 0, part), size = 0;
        CHECK(count >= 1 && count <= limit);
        for (int64_t k = 0; k < count; k++) {
            CHECK(k == 0 || ranges[k - 1].start + ranges[k - 1].size < ranges[k].start);
            for (int64_t i = ranges[k].start; i < ranges[k].start + ranges[k].size;
                 i++) {
                CHECK(owner[i] == -1);
                owner[i] = part;
            }
            size += ranges[k].size;
        }
        CHECK(size == dt_layout_part_size(x, 0, part));
    }
    free(ranges);
    for (int64_t i = 0; i < length; i++) {
        int64_t first, last;
        dt_layout_parts_over(&first, &last, x, 0, (dt_range){i, 1});
        CHECK(first <= owner[i] && owner[i] <= last && owner[i] >= 0);
    }
}

static void
parts_tile_the_dimension_whatever_cuts_it(void)
{
    for (int64_t length = 0; length <= 24; length++)
        for (int64_t a = 1; a <= 4; a++)
            for (int64_t split = 1; split <= 7; split++)
                for (int64_t inner = 1; inner <= 3; inner++) {
                    const dt_mesh *mesh = mesh_of(2, a, 2, 1);
                    dt_placement p[] = {DT_SHARDED(0), DT_SHARDED(0)};
                    p[0].split = split;
                    p[1].split = inner;
                    dt_layout *x = line(mesh, p, length, NULL);
                    check_tiling(x, length);
                    dt_layout_free(x);
                    dt_mesh_release(context, mesh);
                }
}

static void
cuts_are_kept_unless_they_are_chunks(void)
{
    const dt_mesh *mesh = mesh_of(1, 3, 1, 1);
    dt_placement shard = DT_SHARDED(0);
    int64_t length = 7, own[] = {0, 0, 5, 7}, chunks[] = {0, 3, 6, 7};
    int64_t bad[][4] = {{0, 5, 4, 7}, {1, 2, 3, 7}, {0, 2, 3, 6}};
    dt_cuts cuts = {.dim = 0, .count = 4, .cuts = own};
    dt_layout *x, *y, *plain = line(mesh, &shard, length, NULL);
    CHECK(dt_layout_make(&x, mesh, &shard, 1, &length, DT_INT8, NULL, 0, &cuts, 1,
                         NULL) == DT_OK);
    CHECK(dt_layout_part_size(x, 0, 0) == 0 && dt_layout_part_size(x, 0, 1) == 5);
    check_tiling(x, length);
    CHECK(!dt_layout_nested(x, plain) && dt_layout_nested(x, x));
    cuts.cuts = chunks;
    CHECK(dt_layout_make(&y, mesh, &shard, 1, &length, DT_FLOAT32, NULL, 0, &cuts, 1,
                         NULL) == DT_OK);
    CHECK(dt_layout_equal(y, plain) && y->dims[0].cuts == NULL);
    for (int k = 0; k < 3; k++) {
        cuts.cuts = bad[k];
        dt_layout *none;
        CHECK(dt_layout_make(&none, mesh, &shard, 1, &length, DT_INT8, NULL, 0, &cuts,
                             1, NULL) == DT_VALUE);
    }
    dt_layout_free(x);
    dt_layout_free(y);
    dt_layout_free(plain);
    dt_mesh_release(context, mesh);
}

static void
equal_layouts_are_one_and_go_with_their_last_user(void)
{
    const dt_mesh *mesh = mesh_of(1, 3, 1, 1), *same = mesh_of(1, 3, 1, 1);
    CHECK(mesh == same);
    dt_placement shard = DT_SHARDED(0);
    const dt_layout *a, *b, *c;
    CHECK(dt_context_layout(&a, context, line(mesh, &shard, 7, NULL), NULL) == DT_OK);
    CHECK(dt_context_layout(&b, context, line(mesh, &shard, 7, NULL), NULL) == DT_OK);
    CHECK(dt_context_layout(&c, context, line(mesh, &shard, 8, NULL), NULL) == DT_OK);
    CHECK(a == b && a != c && dt_context_count(context).layouts == 2);
    dt_layout_release(context, a);
    CHECK(dt_context_count(context).layouts == 2);
    dt_layout_release(context, b);
    dt_layout_release(context, c);
    dt_mesh_release(context, mesh);
    dt_mesh_release(context, same);
    CHECK(dt_context_count(context).layouts == 0);
    CHECK(dt_context_count(context).meshes == 0);
}

static void
a_replicated_value_leaves_identities_but_where_it_stays(void)
{
    const dt_mesh *mesh = mesh_of(2, 2, 3, 1);
    int64_t shape[] = {4};
    const dt_placement rows[][2] = {{DT_REPLICATED, DT_REPLICATED},
                                    {DT_PENDING(DT_SUM), DT_SHARDED(0)},
                                    {DT_PENDING(DT_AVG), DT_REPLICATED},
                                    {DT_PENDING(DT_MAX), DT_PENDING(DT_MIN)},
                                    {DT_PENDING(DT_AVG), DT_PENDING(DT_SUM)}};
    /* at (0, 0), (0, 1), (1, 0), (1, 1): the operator, or -1 for the value */
    const int wanted[][4] = {{-1, -1, -1, -1},
                             {-1, -1, DT_SUM, DT_SUM},
                             {-1, -1, -1, -1},
                             {-1, DT_MIN, DT_MAX, DT_MAX},
                             {-1, DT_SUM, -1, DT_SUM}};
    for (int k = 0; k < 5; k++) {
        dt_layout *layout;
        CHECK(dt_layout_make(&layout, mesh, rows[k], 1, shape, DT_FLOAT32, NULL, 0,
                             NULL, 0, NULL) == DT_OK);
        for (int place = 0; place < 4; place++) {
            int64_t coordinate[] = {place / 2, place % 2};
            dt_reduce_op op;
            bool leaves = dt_layout_leaves_identity(&op, layout, coordinate);
            CHECK((leaves ? (int)op : -1) == wanted[k][place]);
        }
        dt_layout_free(layout);
    }
    dt_mesh_release(context, mesh);
}

static void
a_rank_has_the_bytes_and_strides_of_its_part(void)
{
    const dt_mesh *mesh = mesh_of(2, 2, 2, 1);
    dt_placement placements[] = {DT_SHARDED(0), DT_SHARDED(2)};
    int64_t lengths[] = {3, 5, 4}, outside[] = {4, -1};
    int64_t shape[3], stride[3];
    dt_layout *layout;
    CHECK(dt_layout_make(&layout, mesh, placements, 3, lengths, DT_FLOAT32, NULL, 0,
                         NULL, 0, NULL) == DT_OK);
    for (int64_t rank = 0; rank < 4; rank++) {
        int64_t rows = rank < 2 ? 2 : 1;
        CHECK(dt_layout_shape_at(shape, layout, rank) == 3);
        CHECK(shape[0] == rows && shape[1] == 5 && shape[2] == 2);
        CHECK(dt_layout_bytes_at(layout, rank) == rows * 40);
        dt_layout_strides_at(stride, layout, rank);
        CHECK(stride[0] == 40 && stride[1] == 8 && stride[2] == 4);
    }
    for (int k = 0; k < 2; k++) {
        CHECK(dt_layout_shape_at(shape, layout, outside[k]) == 1);
        CHECK(shape[0] == 0 && shape[1] == 0 && shape[2] == 0);
        CHECK(dt_layout_bytes_at(layout, outside[k]) == 0);
    }
    dt_layout_free(layout);
    dt_mesh_release(context, mesh);
}

static void
what_cannot_be_is_refused_with_a_sentence(void)
{
    const dt_mesh *mesh = mesh_of(2, 2, 2, 1);
    int64_t shape[] = {4, 4}, negative[] = {4, -1},
            huge[] = {INT64_C(1) << 40, INT64_C(1) << 40};
    dt_placement good[] = {DT_SHARDED(0), DT_REPLICATED};
    dt_placement far[] = {DT_SHARDED(2), DT_REPLICATED};
    dt_placement split[] = {{.kind = DT_SHARD, .split = 0}, DT_REPLICATED};
    dt_placement average[] = {DT_PENDING(DT_AVG), DT_REPLICATED};
    dt_order order = {.dim = 0, .count = 1, .mesh_dims = {1}};
    dt_error err = {DT_OK, ""};
    dt_layout *none = NULL;
    CHECK(dt_layout_make(&none, mesh, far, 2, shape, DT_INT8, NULL, 0, NULL, 0, &err) ==
          DT_INDEX);
    CHECK(strstr(err.message, "dim=2") != NULL);
    CHECK(dt_layout_make(&none, mesh, split, 2, shape, DT_INT8, NULL, 0, NULL, 0,
                         &err) == DT_VALUE);
    CHECK(dt_layout_make(&none, mesh, average, 2, shape, DT_INT8, NULL, 0, NULL, 0,
                         &err) == DT_TYPE);
    CHECK(dt_layout_make(&none, mesh, good, 2, negative, DT_INT8, NULL, 0, NULL, 0,
                         &err) == DT_VALUE);
    CHECK(dt_layout_make(&none, mesh, good, 2, huge, DT_INT8, NULL, 0, NULL, 0, &err) ==
          DT_VALUE);
    CHECK(dt_layout_make(&none, mesh, good, 65, shape, DT_INT8, NULL, 0, NULL, 0,
                         &err) == DT_VALUE);
    CHECK(dt_layout_make(&none, mesh, good, 2, shape, DT_INT8, &order, 1, NULL, 0,
                         &err) == DT_VALUE);
    CHECK(none == NULL);
    dt_mesh_release(context, mesh);
}

int
main(void)
{
    context = dt_context_make();
    const check_test tests[] = {
        TEST(chunks_tile_the_dimension),
        TEST(nested_cuts_follow_their_order),
        TEST(an_order_survives_being_written_as_splits),
        TEST(parts_tile_the_dimension_whatever_cuts_it),
        TEST(cuts_are_kept_unless_they_are_chunks),
        TEST(equal_layouts_are_one_and_go_with_their_last_user),
        TEST(a_replicated_value_leaves_identities_but_where_it_stays),
        TEST(a_rank_has_the_bytes_and_strides_of_its_part),
        TEST(what_cannot_be_is_refused_with_a_sentence),
    };
    int failed = check_run(tests, sizeof tests / sizeof *tests);
    dt_context_free(context);
    return failed;
}
