#include "kernels/columns.h"

#include <string.h>

typedef struct {
    uint64_t a, b;
} sixteen;

/* The places from `first` to before `end` whose element i is inside. */
static void
inside(int64_t *first, int64_t *end, const dt_kernel_dim *d, int64_t i)
{
    int64_t offset = i * d->dilation - d->low, last = d->length - 1 - offset;
    *first = offset >= 0 ? 0 : (-offset + d->stride - 1) / d->stride;
    *end = last < 0 ? 0 : last / d->stride + 1;
    *end = *end > d->places ? d->places : *end;
    *first = *first > *end ? *end : *first;
}

#define LINE(name, type)                                                               \
    static void name(type *restrict out, const type *restrict x,                       \
                     const dt_kernel_dim *d, int64_t i)                                \
    {                                                                                  \
        int64_t first, end;                                                            \
        inside(&first, &end, d, i);                                                    \
        const type *from = x + i * d->dilation - d->low;                               \
        memset(out, 0, (size_t)d->places * sizeof *out);                               \
        if (d->stride == 1)                                                            \
            memcpy(out + first, from + first, (size_t)(end - first) * sizeof *out);    \
        else                                                                           \
            for (int64_t p = first; p < end; p++)                                      \
                out[p] = from[p * d->stride];                                          \
    }

LINE(line_2, uint16_t)
LINE(line_4, uint32_t)
LINE(line_8, uint64_t)
LINE(line_16, sixteen)

/* A line of places, or zeros where its row is outside. */
static void
put_line(char *out, const char *row, const dt_kernel_dim *d, int64_t i, size_t size)
{
    if (row == NULL)
        memset(out, 0, (size_t)d->places * size);
    else if (size == 2)
        line_2((uint16_t *)(void *)out, (const uint16_t *)(const void *)row, d, i);
    else if (size == 4)
        line_4((uint32_t *)(void *)out, (const uint32_t *)(const void *)row, d, i);
    else if (size == 8)
        line_8((uint64_t *)(void *)out, (const uint64_t *)(const void *)row, d, i);
    else
        line_16((sixteen *)(void *)out, (const sixteen *)(const void *)row, d, i);
}

static char *
put_plane(char *out, const char *x, const dt_kernel_dim d[DT_COLUMNS_DIMS], size_t size)
{
    const size_t line = (size_t)d[2].places * size;
    for (int64_t i = 0; i < d[0].size; i++)
        for (int64_t j = 0; j < d[1].size; j++)
            for (int64_t k = 0; k < d[2].size; k++)
                for (int64_t p = 0; p < d[0].places; p++)
                    for (int64_t q = 0; q < d[1].places; q++, out += line) {
                        int64_t a = p * d[0].stride - d[0].low + i * d[0].dilation;
                        int64_t b = q * d[1].stride - d[1].low + j * d[1].dilation;
                        int64_t row = (a * d[1].length + b) * d[2].length;
                        int is_in =
                            a >= 0 && a < d[0].length && b >= 0 && b < d[1].length;
                        put_line(out, is_in ? x + row * (int64_t)size : NULL, &d[2], k,
                                 size);
                    }
    return out;
}

void
dt_columns(void *out, const void *x, int64_t planes,
           const dt_kernel_dim dims[DT_COLUMNS_DIMS], size_t size)
{
    const int64_t bytes =
        dims[0].length * dims[1].length * dims[2].length * (int64_t)size;
    char *to = out;
    for (int64_t c = 0; c < planes; c++)
        to = put_plane(to, (const char *)x + c * bytes, dims, size);
}
