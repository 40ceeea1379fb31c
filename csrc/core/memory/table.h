/* table.h: a hash table of pointers, with open addressing and linear probing. What
 * equal items are and how they are hashed is the caller's; nothing is owned. */
#ifndef DT_TABLE_H
#define DT_TABLE_H

#include <stdbool.h>
#include <stdint.h>

typedef struct {
    uint64_t hash;
    const void *item; /* NULL: never used */
} dt_hash_table_slot;

/* All zero is an empty table. */
typedef struct {
    dt_hash_table_slot *slots;
    int64_t size; /* a power of two, or 0 */
    int64_t live; /* items */
    int64_t used; /* slots of items and of removed ones */
} dt_hash_table;

/* The item of this hash for which same(item, key) holds; NULL: none. */
const void *dt_hash_table_find(const dt_hash_table *table, uint64_t hash,
                               bool (*same)(const void *item, const void *key),
                               const void *key);

/* Makes room for one more; false without memory. */
bool dt_hash_table_reserve(dt_hash_table *table);

/* Enters an item for which there is room. */
void dt_hash_table_put(dt_hash_table *table, uint64_t hash, const void *item);

/* Removes an item, if it is there. */
void dt_hash_table_remove(dt_hash_table *table, uint64_t hash, const void *item);

void dt_hash_table_free(dt_hash_table *table);

#endif
