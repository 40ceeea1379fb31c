#include "kernels/depthwise.h"
#include "kernels/level.h"

#include "check.h"

#include <stdlib.h>

/* Calls add(x, weight, out) for every product that a convolution adds up. */
static void
for_products(const dt_depthwise *of, void (*add)(double *, double *, double *),
             double *x, double *weight, double *out)
{
    const dt_kernel_dim *d = of->dims;
    int64_t n[2][3], at[3], filters = of->channels * of->each;
    for (int64_t plane = 0; plane < of->samples * filters; plane++)
        for (n[0][0] = 0; n[0][0] < d[0].places; n[0][0]++)
            for (n[0][1] = 0; n[0][1] < d[1].places; n[0][1]++)
                for (n[0][2] = 0; n[0][2] < d[2].places; n[0][2]++, out++) {
                    double *w =
                        weight + plane % filters * d[0].size * d[1].size * d[2].size;
                    for (n[1][0] = 0; n[1][0] < d[0].size; n[1][0]++)
                        for (n[1][1] = 0; n[1][1] < d[1].size; n[1][1]++)
                            for (n[1][2] = 0; n[1][2] < d[2].size; n[1][2]++, w++) {
                                int inside = 1;
                                for (int k = 0; k < 3; k++) {
                                    at[k] = n[0][k] * d[k].stride - d[k].low +
                                            n[1][k] * d[k].dilation;
                                    inside &= at[k] >= 0 && at[k] < d[k].length;
                                }
                                int64_t place = plane / of->each;
                                for (int k = 0; k < 3; k++)
                                    place = place * d[k].length + at[k];
                                if (inside)
                                    add(x + place, w, out);
                            }
                }
}

static void
add_out(double *x, double *weight, double *out)
{
    *out += *x * *weight;
}

static void
add_x(double *x, double *weight, double *out)
{
    *x += *out * *weight;
}

static void
add_weight(double *x, double *weight, double *out)
{
    *weight += *out * *x;
}

static int64_t
count_of(const dt_depthwise *of, dt_depthwise_kind kind)
{
    int64_t filters = of->channels * of->each;
    int64_t count = kind == DT_DEPTHWISE_OUT ? of->samples * filters
                    : kind == DT_DEPTHWISE_X ? of->samples * of->channels
                                             : filters;
    for (int d = 0; d < DT_COLUMNS_DIMS; d++) {
        const dt_kernel_dim *dim = &of->dims[d];
        count *= kind == DT_DEPTHWISE_OUT ? dim->places
                 : kind == DT_DEPTHWISE_X ? dim->length
                                          : dim->size;
    }
    return count;
}

/* Made in both precisions, in memory that ends where the array does, and compared. */
static void
compare(dt_depthwise of, dt_depthwise_kind kind)
{
    void (*const add[])(double *, double *, double *) = {add_out, add_x, add_weight};
    double *numbers[3], *expected = NULL;
    for (int k = 0; k < 3; k++) {
        int64_t count = count_of(&of, (dt_depthwise_kind)k);
        numbers[k] = malloc((size_t)count * sizeof(double));
        for (int64_t i = 0; i < count; i++)
            numbers[k][i] = (int)kind == k ? 0 : (double)(i * 7919 % 17 - 8);
    }
    for_products(&of, add[kind], numbers[DT_DEPTHWISE_X], numbers[DT_DEPTHWISE_WEIGHT],
                 numbers[DT_DEPTHWISE_OUT]);
    expected = numbers[kind];
    for (int wide = 0; wide < 2; wide++) {
        size_t size = wide ? sizeof(double) : sizeof(float);
        void *arrays[3];
        for (int k = 0; k < 3; k++) {
            int64_t count = count_of(&of, (dt_depthwise_kind)k);
            arrays[k] = malloc((size_t)count * size);
            for (int64_t i = 0; i < count; i++)
                if (wide)
                    ((double *)arrays[k])[i] = numbers[k][i];
                else
                    ((float *)arrays[k])[i] = (float)numbers[k][i];
        }
        of.out = arrays[DT_DEPTHWISE_OUT];
        of.x = arrays[DT_DEPTHWISE_X];
        of.weight = arrays[DT_DEPTHWISE_WEIGHT];
        int64_t room = dt_depthwise_scratch(kind, wide, &of);
        CHECK(room > 0 && room % 64 == 0);
        void *scratch = aligned_alloc(64, (size_t)room);
        dt_depthwise_run(kind, wide, &of, 1, scratch);
        for (int64_t i = 0; i < count_of(&of, kind); i++)
            CHECK((wide ? ((double *)arrays[kind])[i]
                        : (double)((float *)arrays[kind])[i]) == expected[i]);
        free(scratch);
        for (int k = 0; k < 3; k++)
            free(arrays[k]);
    }
    for (int k = 0; k < 3; k++)
        free(numbers[k]);
}

/* Numbers are small integers: sums of them are exact in any order. */
static void
every_array_is_made_of_the_other_two(void)
{
    for (int level = 0; dt_level_set(level) == level && level < 3; level++)
        for (int k = 0; k < 120; k++) {
            dt_depthwise of = {
                .samples = 1 + k % 2, .channels = 1 + k % 3, .each = 1 + k / 3 % 2};
            for (int d = 0; d < DT_COLUMNS_DIMS; d++) {
                int m = k * (d + 3) + d;
                dt_kernel_dim *dim = &of.dims[d];
                *dim = (dt_kernel_dim){1, 1, 1, 1, 0, 1};
                if (d < k % 3)
                    continue;
                dim->size = 1 + m % 4;
                dim->dilation = 1 + m % 2;
                dim->stride = 1 + m / 2 % 3;
                dim->low = m / 3 % 3;
                dim->length = 1 + m % 7 + (d == 2 ? 13 * (m % 3) : 0);
                int64_t rest =
                    dim->length + 2 * dim->low - (dim->size - 1) * dim->dilation;
                if (rest < 1)
                    dim->size = rest = 1;
                dim->places = (rest - 1) / dim->stride + 1;
            }
            for (int kind = 0; kind < 3; kind++)
                compare(of, (dt_depthwise_kind)kind);
        }
    dt_level_set(-1);
}

static void
what_is_larger_than_memory_is_told(void)
{
    dt_depthwise of = {.samples = 1, .channels = 1, .each = 1};
    of.dims[0] = of.dims[1] = (dt_kernel_dim){1, 1, 1, 1, 0, 1};
    of.dims[2] = (dt_kernel_dim){4, 3, 1, 1, (int64_t)1 << 50, (int64_t)1 << 50};
    CHECK(dt_depthwise_scratch(DT_DEPTHWISE_OUT, true, &of) == -1);
}

DT_MAIN(TEST(every_array_is_made_of_the_other_two),
        TEST(what_is_larger_than_memory_is_told))
