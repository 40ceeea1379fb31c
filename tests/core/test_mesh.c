#include "core/facts/mesh.h"

#include "check.h"

#include <stdlib.h>
#include <string.h>

enum { LONG_MESH = 65536 };

static dt_mesh *
make(int ndim, const int64_t *shape, const int64_t *ranks, const char *const *names,
     int world)
{
    dt_mesh *mesh = NULL;
    CHECK(dt_mesh_make(&mesh, ndim, shape, ranks, names, world, NULL) == DT_OK);
    return mesh;
}

static dt_status
refused(int ndim, const int64_t *shape, const int64_t *ranks, const char *const *names)
{
    dt_mesh sentinel, *mesh = &sentinel;
    dt_error err = {.status = DT_OK};
    dt_status status = dt_mesh_make(&mesh, ndim, shape, ranks, names, 1, &err);
    CHECK(status != DT_OK && err.status == status && err.message[0] != '\0');
    CHECK(mesh == &sentinel);
    return status;
}

/* All shapes of up to four dimensions of lengths 1 to 4, ended by a false. */
static bool
next_shape(int *ndim, int64_t *shape)
{
    for (int dim = *ndim - 1; dim >= 0; dim--) {
        if (++shape[dim] <= 4)
            return true;
        shape[dim] = 1;
    }
    if (++*ndim > 4)
        return false;
    for (int dim = 0; dim < *ndim; dim++)
        shape[dim] = 1;
    return true;
}

static void
check_places(const dt_mesh *mesh)
{
    int64_t coordinate[DT_MESH_MAX_NDIM], last[DT_MESH_MAX_NDIM];
    for (int64_t index = 0; index < mesh->size; index++) {
        dt_mesh_coordinate(coordinate, mesh, index);
        for (int dim = 0; dim < mesh->ndim; dim++)
            CHECK(coordinate[dim] >= 0 && coordinate[dim] < mesh->shape[dim]);
        CHECK(dt_mesh_at(mesh, coordinate) == index);
        int64_t rank = dt_mesh_rank(mesh, index), found[DT_MESH_MAX_NDIM];
        size_t bytes = sizeof *found * (size_t)mesh->ndim;
        CHECK(dt_mesh_index(mesh, rank) == index);
        CHECK(dt_mesh_find(found, mesh, rank) && memcmp(found, coordinate, bytes) == 0);
        int dim = 0; /* row-major: the first coordinate that differs is the greater */
        while (index > 0 && dim < mesh->ndim && coordinate[dim] == last[dim])
            dim++;
        CHECK(index == 0 || (dim < mesh->ndim && coordinate[dim] > last[dim]));
        memcpy(last, coordinate, sizeof last);
    }
}

static void
places_coordinates_and_ranks_are_one_to_one(void)
{
    int64_t shape[DT_MESH_MAX_NDIM] = {0}, ranks[256];
    int ndim = 0;
    uint64_t random = 1;
    do {
        dt_mesh *plain = make(ndim, shape, NULL, NULL, 1);
        check_places(plain);
        for (int64_t i = 0; i < plain->size; i++) { /* shuffled, with gaps */
            int64_t at = check_below(&random, i + 1);
            ranks[i] = ranks[at];
            ranks[at] = 3 * i + 1;
        }
        dt_mesh *mesh = make(ndim, shape, ranks, NULL, 1);
        check_places(mesh);
        for (int64_t i = 0; i < plain->size; i++) {
            CHECK(dt_mesh_rank(mesh, i) == ranks[i] && dt_mesh_rank(plain, i) == i);
            CHECK(dt_mesh_index(mesh, 3 * i) == -1 && !dt_mesh_find(NULL, mesh, 3 * i));
        }
        CHECK(dt_mesh_index(plain, plain->size) == -1 &&
              dt_mesh_index(plain, -1) == -1);
        dt_mesh_free(mesh);
        dt_mesh_free(plain);
    } while (next_shape(&ndim, shape));
}

static void
ranks_that_are_their_places_take_no_memory(void)
{
    int64_t shape[] = {256, 256}, *ranks = malloc(LONG_MESH * sizeof *ranks);
    for (int64_t i = 0; i < LONG_MESH; i++)
        ranks[i] = i;
    dt_mesh *listed = make(2, shape, ranks, NULL, 1);
    dt_mesh *implied = make(2, shape, NULL, NULL, 1);
    CHECK(listed->ranks == NULL && dt_mesh_equal(listed, implied));
    CHECK(listed->hash == implied->hash);
    ranks[0] = LONG_MESH;
    dt_mesh *other = make(2, shape, ranks, NULL, 1);
    CHECK(other->ranks != NULL && !dt_mesh_same_ranks(other, implied));
    dt_mesh_free(other);
    dt_mesh_free(implied);
    dt_mesh_free(listed);
    free(ranks);
}

static void
meshes_are_equal_where_every_field_is(void)
{
    const char *const xy[] = {"x", "y"}, *const xz[] = {"x", "z"};
    const int64_t wide[] = {2, 3}, tall[] = {3, 2};
    const int64_t ranks[] = {5, 4, 3, 2, 1, 0}, others[] = {5, 4, 3, 2, 0, 1};
    const struct {
        const int64_t *shape, *ranks;
        const char *const *names;
        int world;
    } row[] = {
        {wide, NULL, NULL, 1}, {tall, NULL, NULL, 1},   {wide, NULL, NULL, 0},
        {wide, NULL, xy, 1},   {wide, NULL, xz, 1},     {wide, ranks, NULL, 1},
        {wide, ranks, xy, 1},  {wide, others, NULL, 1},
    };
    int count = sizeof row / sizeof *row;
    for (int i = 0; i < count; i++)
        for (int j = 0; j < count; j++) {
            dt_mesh *a =
                make(2, row[i].shape, row[i].ranks, row[i].names, row[i].world);
            dt_mesh *b =
                make(2, row[j].shape, row[j].ranks, row[j].names, row[j].world);
            bool same = row[i].shape == row[j].shape && row[i].ranks == row[j].ranks &&
                        row[i].world == row[j].world;
            CHECK(dt_mesh_same_ranks(a, b) == same);
            CHECK(dt_mesh_equal(a, b) == (i == j));
            CHECK((a->hash == b->hash) == (i == j));
            dt_mesh_free(a);
            dt_mesh_free(b);
        }
}

static void
a_mesh_keeps_no_pointer_of_the_callers(void)
{
    char name[] = "x";
    const char *names[] = {name};
    int64_t shape[] = {2}, ranks[] = {7, 3};
    dt_mesh *mesh = make(1, shape, ranks, names, 1);
    name[0] = 'q';
    shape[0] = ranks[0] = ranks[1] = 0;
    CHECK(strcmp(mesh->names[0], "x") == 0 && mesh->shape[0] == 2);
    CHECK(mesh->ranks[0] == 7 && mesh->ranks[1] == 3);
    dt_mesh_free(mesh);
    dt_mesh_free(NULL);
}

static void
a_mesh_without_dimensions_has_one_rank(void)
{
    const int64_t rank = 4;
    dt_mesh *mesh = make(0, NULL, &rank, NULL, 1);
    CHECK(mesh->size == 1 && dt_mesh_at(mesh, NULL) == 0 && dt_mesh_rank(mesh, 0) == 4);
    dt_mesh_free(mesh);
}

static void
every_repeated_or_negative_rank_is_found(void)
{
    enum { SIZE = 12 };
    const int64_t shape[] = {SIZE};
    int64_t ranks[SIZE];
    for (int i = 0; i < SIZE; i++)
        for (int j = 0; j < SIZE; j++) {
            for (int k = 0; k < SIZE; k++)
                ranks[k] = (5 * k) % SIZE;
            ranks[i] = i == j ? -1 : ranks[j];
            CHECK(refused(1, shape, ranks, NULL) == DT_VALUE);
        }
}

static void
what_is_no_mesh_is_refused(void)
{
    int64_t shape[DT_MESH_MAX_NDIM + 1];
    for (int dim = 0; dim <= DT_MESH_MAX_NDIM; dim++)
        shape[dim] = 1;
    CHECK(refused(DT_MESH_MAX_NDIM + 1, shape, NULL, NULL) == DT_VALUE);
    CHECK(refused(-1, shape, NULL, NULL) == DT_VALUE);
    dt_mesh_free(make(DT_MESH_MAX_NDIM, shape, NULL, NULL, 0));

    const int64_t none[] = {2, 0}, negative[] = {-1, -1};
    CHECK(refused(2, none, NULL, NULL) == DT_VALUE);
    CHECK(refused(2, negative, NULL, NULL) == DT_VALUE);
    for (int64_t first = 1; first <= INT64_C(1) << 40; first *= 2) {
        const int64_t limit[] = {first, (INT64_C(1) << 40) / first};
        const int64_t over[] = {first, limit[1] + 1}, far[] = {first, INT64_MAX};
        dt_mesh_free(make(2, limit, NULL, NULL, 0));
        CHECK(refused(2, over, NULL, NULL) == DT_VALUE);
        CHECK(refused(2, far, NULL, NULL) == DT_VALUE);
    }
}

static void
names_are_distinct_and_of_1_to_63_bytes(void)
{
    char name[DT_NAME_MAX + 2] = "";
    const char *const names[] = {"x", name, "z"};
    const int64_t shape[] = {2, 2, 2};
    for (size_t length = 0; length <= DT_NAME_MAX + 1; length++) {
        memset(name, 'n', length);
        if (length >= 1 && length < DT_NAME_MAX) {
            dt_mesh *mesh = make(3, shape, NULL, names, 0);
            CHECK(strcmp(mesh->names[1], name) == 0);
            dt_mesh_free(mesh);
        } else {
            CHECK(refused(3, shape, NULL, names) == DT_RUNTIME);
        }
    }
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) {
            const char *twice[] = {"x", "y", "z"};
            twice[i] = twice[j];
            CHECK(i == j || refused(3, shape, NULL, twice) == DT_RUNTIME);
        }
}

DT_MAIN(TEST(places_coordinates_and_ranks_are_one_to_one),
        TEST(ranks_that_are_their_places_take_no_memory),
        TEST(meshes_are_equal_where_every_field_is),
        TEST(a_mesh_keeps_no_pointer_of_the_callers),
        TEST(a_mesh_without_dimensions_has_one_rank),
        TEST(every_repeated_or_negative_rank_is_found),
        TEST(what_is_no_mesh_is_refused), TEST(names_are_distinct_and_of_1_to_63_bytes))
