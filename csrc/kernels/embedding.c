#include "kernels/embedding.h"

#include "core/threads/team.h"

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

typedef struct {
    const dt_table *table;
    char *out;
    const char *part;
    const int64_t *index;
    int64_t bytes; /* of a row */
} taking;

static void
take_part(void *work, int64_t begin, int64_t end)
{
    const taking *t = work;
    char *to = t->out + begin * t->bytes;
    for (int64_t i = begin; i < end; i++, to += t->bytes) {
        int64_t place = place_of(t->table, t->index[i]);
        if (place < 0)
            memset(to, 0, (size_t)t->bytes);
        else
            memcpy(to, t->part + place * t->bytes, (size_t)t->bytes);
    }
}

void
dt_table_take(const dt_table *table, void *out, const void *part, const int64_t *index,
              int64_t count)
{
    taking t = {table, out, part, index,
                table->columns * (int64_t)dt_dtype_size(table->dtype)};
    dt_team_run(count, 1 + t.bytes, take_part, &t);
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
