#include "core/memory/table.h"

#include <stdlib.h>

enum { FIRST_SLOTS = 64 };

static const char GONE; /* what a removed item leaves, so that others are still found */

typedef bool same_function(const void *item, const void *key);

static dt_hash_table_slot *
find_slot(const dt_hash_table *t, uint64_t hash, same_function *same, const void *key)
{
    if (t->size == 0)
        return NULL;
    uint64_t mask = (uint64_t)t->size - 1;
    for (uint64_t i = hash & mask; t->slots[i].item != NULL; i = (i + 1) & mask)
        if (t->slots[i].hash == hash && t->slots[i].item != &GONE &&
            same(t->slots[i].item, key))
            return &t->slots[i];
    return NULL;
}

const void *
dt_hash_table_find(const dt_hash_table *t, uint64_t hash, same_function *same,
                   const void *key)
{
    const dt_hash_table_slot *found = find_slot(t, hash, same, key);
    return found != NULL ? found->item : NULL;
}

void
dt_hash_table_put(dt_hash_table *t, uint64_t hash, const void *item)
{
    uint64_t mask = (uint64_t)t->size - 1;
    uint64_t i = hash & mask;
    while (t->slots[i].item != NULL)
        i = (i + 1) & mask;
    t->slots[i] = (dt_hash_table_slot){.hash = hash, .item = item};
    t->live++;
    t->used++;
}

bool
dt_hash_table_reserve(dt_hash_table *t)
{
    if (2 * (t->used + 1) <= t->size)
        return true;
    int64_t size = FIRST_SLOTS;
    while (size < 4 * (t->live + 1))
        size *= 2;
    dt_hash_table_slot *slots = calloc((size_t)size, sizeof *slots);
    if (slots == NULL)
        return false;
    dt_hash_table old = *t;
    *t = (dt_hash_table){.slots = slots, .size = size};
    for (int64_t i = 0; i < old.size; i++)
        if (old.slots[i].item != NULL && old.slots[i].item != &GONE)
            dt_hash_table_put(t, old.slots[i].hash, old.slots[i].item);
    free(old.slots);
    return true;
}

static bool
same_pointer(const void *item, const void *key)
{
    return item == key;
}

void
dt_hash_table_remove(dt_hash_table *t, uint64_t hash, const void *item)
{
    dt_hash_table_slot *found = find_slot(t, hash, same_pointer, item);
    if (found != NULL) {
        found->item = &GONE;
        t->live--;
    }
}

void
dt_hash_table_free(dt_hash_table *t)
{
    free(t->slots);
    *t = (dt_hash_table){0};
}
