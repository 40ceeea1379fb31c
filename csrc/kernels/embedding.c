#include "kernels/embedding.h"

#include <stddef.h>
#include <string.h>

bool
dt_index_check(const int64_t *index, int64_t count, int64_t length)
{
    bool good = true;
    for (int64_t i = 0; i < count; i++)
        good &= index[i] >= 0 && index[i] < length;
    return good;
}

/* Where a row of the whole table lies in the part; -1 if nowhere. */
static int64_t
place_of(const dt_table *table, int64_t row)
{
    int64_t before = 0;
    for (int64_t k = 0; k < table->range_count; k++) {
        const dt_rows *range = &table->ranges[k];
        if (row >= range->start && row < range->start + range->count)
            return before + row - range->start;
        before += range->count;
    }
    return -1;
}

void
dt_table_take(const dt_table *table, void *out, const void *part, const int64_t *index,
              int64_t count)
{
    int64_t bytes = table->columns * (int64_t)dt_dtype_size(table->dtype);
    char *to = out;
    for (int64_t i = 0; i < count; i++, to += bytes) {
        int64_t place = place_of(table, index[i]);
        if (place < 0)
            memset(to, 0, (size_t)bytes);
        else
            memcpy(to, (const char *)part + place * bytes, (size_t)bytes);
    }
}

#define ADD_ROW(name, real)                                                            \
    static void name(void *part, int64_t to, const void *add, int64_t from,            \
                     int64_t columns)                                                  \
    {                                                                                  \
        real *sum = (real *)part + to * columns;                                       \
        const real *addend = (const real *)add + from * columns;                       \
        for (int64_t k = 0; k < columns; k++)                                          \
            sum[k] += addend[k];                                                       \
    }

ADD_ROW(add_float32, float)
ADD_ROW(add_float64, double)

void
dt_table_add(const dt_table *table, void *part, const void *add, const int64_t *index,
             int64_t count, int64_t skip)
{
    bool wide = table->dtype == DT_FLOAT64;
    for (int64_t i = 0; i < count; i++) {
        int64_t place = index[i] == skip ? -1 : place_of(table, index[i]);
        if (place >= 0)
            (wide ? add_float64 : add_float32)(part, place, add, i, table->columns);
    }
}
