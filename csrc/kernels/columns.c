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

/* A line of columns: element k of the kernel's last dim at all places. `row` is where the
 * line of the plane begins that it is seen in, or -1 where that is outside. */
typedef void each_line(void *work, int64_t row, int64_t k);

/* The lines of a plane, in the order of columns. */
static inline void
walk(const dt_kernel_dim d[DT_COLUMNS_DIMS], each_line *call, void *work)
{
    for (int64_t i = 0; i < d[0].size; i++)
        for (int64_t j = 0; j < d[1].size; j++)
            for (int64_t k = 0; k < d[2].size; k++)
                for (int64_t p = 0; p < d[0].places; p++)
                    for (int64_t q = 0; q < d[1].places; q++) {
                        int64_t a = p * d[0].stride - d[0].low + i * d[0].dilation;
                        int64_t b = q * d[1].stride - d[1].low + j * d[1].dilation;
                        bool is_in =
                            a >= 0 && a < d[0].length && b >= 0 && b < d[1].length;
                        call(work, is_in ? (a * d[1].length + b) * d[2].length : -1, k);
                    }
}

typedef struct {
    const dt_kernel_dim *last;
    char *to; /* one of both is a plane, the other one the next line of columns */
    const char *from;
    size_t size; /* of an element */
} job;

static inline void
put(void *work, int64_t row, int64_t k)
{
    job *j = work;
    const char *from = row < 0 ? NULL : j->from + row * (int64_t)j->size;
    put_line(j->to, from, j->last, k, j->size);
    j->to += (size_t)j->last->places * j->size;
}

static size_t
plane_bytes(const dt_kernel_dim dims[DT_COLUMNS_DIMS], size_t size)
{
    return (size_t)(dims[0].length * dims[1].length * dims[2].length) * size;
}

void
dt_columns(void *out, const void *x, int64_t planes,
           const dt_kernel_dim dims[DT_COLUMNS_DIMS], size_t size)
{
    job j = {&dims[2], out, x, size};
    for (int64_t c = 0; c < planes; c++, j.from += plane_bytes(dims, size))
        walk(dims, put, &j);
}

#define ADD(name, type)                                                                \
    static void name(type *restrict x, const type *restrict from,                      \
                     const dt_kernel_dim *d, int64_t i)                                \
    {                                                                                  \
        int64_t first, end;                                                            \
        inside(&first, &end, d, i);                                                    \
        type *to = x + i * d->dilation - d->low;                                       \
        if (d->stride == 1)                                                            \
            for (int64_t p = first; p < end; p++)                                      \
                to[p] += from[p];                                                      \
        else                                                                           \
            for (int64_t p = first; p < end; p++)                                      \
                to[p * d->stride] += from[p];                                          \
    }

ADD(add_f32, float)
ADD(add_f64, double)

static inline void
add(void *work, int64_t row, int64_t k)
{
    job *j = work;
    void *to = j->to + row * (int64_t)j->size;
    const void *from = j->from;
    j->from += (size_t)j->last->places * j->size;
    if (row >= 0 && j->size == sizeof(float))
        add_f32(to, from, j->last, k);
    else if (row >= 0)
        add_f64(to, from, j->last, k);
}

void
dt_columns_add(void *x, const void *columns, int64_t planes,
               const dt_kernel_dim dims[DT_COLUMNS_DIMS], bool wide)
{
    size_t size = wide ? sizeof(double) : sizeof(float);
    job j = {&dims[2], x, columns, size};
    memset(x, 0, (size_t)planes * plane_bytes(dims, size));
    for (int64_t c = 0; c < planes; c++, j.to += plane_bytes(dims, size))
        walk(dims, add, &j);
}
