/* embedding.h: rows of a table by number, and what is added to them. */
#ifndef DT_EMBEDDING_H
#define DT_EMBEDDING_H

#include "core/facts/dtype.h"

#include <stdbool.h>
#include <stdint.h>

/* Which rows of a whole table a part of it has: ranges, as they lie in the part. */
typedef struct {
    int64_t start, count;
} dt_rows;

typedef struct {
    dt_dtype dtype; /* DT_FLOAT32 or DT_FLOAT64 */
    int64_t columns;
    const dt_rows *ranges;
    int64_t range_count;
} dt_table;

/* Whether every index is at least 0 and below `length`. */
bool dt_index_check(const int64_t *index, int64_t count, int64_t length);

/* out[i] = the row of number index[i]; zeros where the part does not have it. */
void dt_table_take(const dt_table *table, void *out, const void *part,
                   const int64_t *index, int64_t count);

/* Adds add[i] to the row of number index[i], in the order of i, where the part has it
 * and the number is not `skip`. */
void dt_table_add(const dt_table *table, void *part, const void *add,
                  const int64_t *index, int64_t count, int64_t skip);

#endif
