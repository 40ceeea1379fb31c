#include "core/context.h"

#include "core/plan.h"

#include <stdlib.h>

enum { PLANS_KEPT = 4096, FIRST_SLOTS = 64 };

/* A hash table of pointers, open addressing, linear probing. */
typedef struct {
    uint64_t hash;
    const void *item; /* NULL: never used; &GONE: removed */
} slot;

typedef struct {
    slot *slots;
    int64_t size; /* a power of two, or 0 */
    int64_t live;
    int64_t used; /* live and removed */
} table;

static const char GONE;

struct dt_context {
    table meshes, layouts, plans;
    dt_plan *newest, *oldest;
    int64_t hits, misses;
};

typedef bool (*same_function)(const void *item, const void *key);

static slot *
table_find(const table *t, uint64_t hash, same_function same, const void *key)
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

static void
table_put(table *t, uint64_t hash, const void *item)
{
    uint64_t mask = (uint64_t)t->size - 1;
    uint64_t i = hash & mask;
    while (t->slots[i].item != NULL)
        i = (i + 1) & mask;
    t->slots[i] = (slot){.hash = hash, .item = item};
    t->live++;
    t->used++;
}

/* Makes room for one more; false without memory. */
static bool
table_reserve(table *t)
{
    if (2 * (t->used + 1) <= t->size)
        return true;
    int64_t size = FIRST_SLOTS;
    while (size < 4 * (t->live + 1))
        size *= 2;
    slot *slots = calloc((size_t)size, sizeof *slots);
    if (slots == NULL)
        return false;
    table old = *t;
    *t = (table){.slots = slots, .size = size};
    for (int64_t i = 0; i < old.size; i++)
        if (old.slots[i].item != NULL && old.slots[i].item != &GONE)
            table_put(t, old.slots[i].hash, old.slots[i].item);
    free(old.slots);
    return true;
}

static bool
same_pointer(const void *item, const void *key)
{
    return item == key;
}

static void
table_remove(table *t, uint64_t hash, const void *item)
{
    slot *found = table_find(t, hash, same_pointer, item);
    if (found != NULL) {
        found->item = &GONE;
        t->live--;
    }
}

dt_context *
dt_context_make(void)
{
    return calloc(1, sizeof(dt_context));
}

static void
forget_oldest_plan(dt_context *context)
{
    dt_plan *plan = context->oldest;
    context->oldest = plan->newer;
    if (plan->newer != NULL)
        plan->newer->older = NULL;
    else
        context->newest = NULL;
    plan->newer = plan->older = NULL;
    dt_plan_release(context, plan);
}

void
dt_context_free(dt_context *context)
{
    if (context == NULL)
        return;
    while (context->oldest != NULL)
        forget_oldest_plan(context);
    free(context->meshes.slots);
    free(context->layouts.slots);
    free(context->plans.slots);
    free(context);
}

static bool
same_mesh(const void *item, const void *key)
{
    return dt_mesh_equal(item, key);
}

static bool
same_layout(const void *item, const void *key)
{
    return dt_layout_equal(item, key);
}

dt_status
dt_context_mesh(const dt_mesh **out, dt_context *context, dt_mesh *mesh, dt_error *err)
{
    slot *found = table_find(&context->meshes, mesh->hash, same_mesh, mesh);
    if (found != NULL) {
        dt_mesh_free(mesh);
        dt_mesh_retain(found->item);
        *out = found->item;
        return DT_OK;
    }
    if (!table_reserve(&context->meshes)) {
        dt_mesh_free(mesh);
        return dt_fail(err, DT_MEMORY, "no memory for one more mesh");
    }
    mesh->refs = 1;
    table_put(&context->meshes, mesh->hash, mesh);
    *out = mesh;
    return DT_OK;
}

dt_status
dt_context_layout(const dt_layout **out, dt_context *context, dt_layout *layout,
                  dt_error *err)
{
    slot *found = table_find(&context->layouts, layout->hash, same_layout, layout);
    if (found != NULL) {
        dt_layout_free(layout);
        dt_layout_retain(found->item);
        *out = found->item;
        return DT_OK;
    }
    if (!table_reserve(&context->layouts)) {
        dt_layout_free(layout);
        return dt_fail(err, DT_MEMORY, "no memory for one more layout");
    }
    layout->refs = 1;
    dt_mesh_retain(layout->mesh);
    table_put(&context->layouts, layout->hash, layout);
    *out = layout;
    return DT_OK;
}

/* The counts are the context's own and change under its lock, so that a `const` object
 * of the world outside can still be retained. */
void
dt_mesh_retain(const dt_mesh *mesh)
{
    ((dt_mesh *)mesh)->refs++;
}

void
dt_mesh_release(dt_context *context, const dt_mesh *mesh)
{
    dt_mesh *own = (dt_mesh *)mesh;
    if (--own->refs > 0)
        return;
    table_remove(&context->meshes, own->hash, own);
    dt_mesh_free(own);
}

void
dt_layout_retain(const dt_layout *layout)
{
    ((dt_layout *)layout)->refs++;
}

void
dt_layout_release(dt_context *context, const dt_layout *layout)
{
    dt_layout *own = (dt_layout *)layout;
    if (--own->refs > 0)
        return;
    const dt_mesh *mesh = own->mesh;
    table_remove(&context->layouts, own->hash, own);
    dt_layout_free(own);
    dt_mesh_release(context, mesh);
}

typedef struct {
    const dt_layout *from, *to;
    int64_t max_scratch;
} plan_key;

static bool
same_plan(const void *item, const void *key)
{
    const dt_plan *plan = item;
    const plan_key *wanted = key;
    return plan->from == wanted->from && plan->to == wanted->to &&
           plan->max_scratch == wanted->max_scratch;
}

static uint64_t
plan_hash(const dt_layout *from, const dt_layout *to, int64_t max_scratch)
{
    uint64_t hash = from->hash * UINT64_C(0x9e3779b97f4a7c15) ^ to->hash;
    hash = (hash ^ (uint64_t)max_scratch) * UINT64_C(0xd6e8feb86659fd93);
    return hash ^ hash >> 32;
}

/* The list of kept plans has one reference to each. */
static void
make_newest(dt_context *context, dt_plan *plan)
{
    if (context->newest == plan)
        return;
    if (plan->older == NULL && plan->newer == NULL)
        plan->refs++; /* not in the list: it is not its only one, the newest */
    if (plan->older != NULL)
        plan->older->newer = plan->newer;
    if (plan->newer != NULL)
        plan->newer->older = plan->older;
    if (context->oldest == plan)
        context->oldest = plan->newer;
    plan->older = context->newest;
    plan->newer = NULL;
    if (context->newest != NULL)
        context->newest->newer = plan;
    context->newest = plan;
    if (context->oldest == NULL)
        context->oldest = plan;
}

dt_status
dt_context_plan(const dt_plan **out, dt_context *context, const dt_layout *from,
                const dt_layout *to, const dt_cost *cost, int64_t max_scratch,
                dt_error *err)
{
    plan_key key = {from, to, max_scratch};
    uint64_t hash = plan_hash(from, to, max_scratch);
    slot *found = table_find(&context->plans, hash, same_plan, &key);
    dt_plan *plan;
    if (found != NULL) {
        plan = (dt_plan *)found->item;
        context->hits++;
    } else {
        context->misses++;
        DT_TRY(dt_plan_make(&plan, context, from, to, cost, max_scratch, err));
        if (!table_reserve(&context->plans)) {
            dt_plan_free(plan, context);
            return dt_fail(err, DT_MEMORY, "no memory for one more plan");
        }
        plan->refs = 0;
        plan->serial = (uint64_t)context->misses;
        plan->max_scratch = max_scratch;
        dt_layout_retain(from);
        dt_layout_retain(to);
        table_put(&context->plans, hash, plan);
    }
    make_newest(context, plan);
    plan->refs++;
    if (context->plans.live > PLANS_KEPT)
        forget_oldest_plan(context);
    *out = plan;
    return DT_OK;
}

void
dt_plan_retain(const dt_plan *plan)
{
    ((dt_plan *)plan)->refs++;
}

/* A plan that was forgotten but is still in use stays in the table until released. */
void
dt_plan_release(dt_context *context, const dt_plan *plan)
{
    dt_plan *own = (dt_plan *)plan;
    if (--own->refs > 0)
        return;
    const dt_layout *from = own->from, *to = own->to;
    table_remove(&context->plans, plan_hash(from, to, own->max_scratch), own);
    dt_plan_free(own, context);
    dt_layout_release(context, from);
    dt_layout_release(context, to);
}

dt_context_info
dt_context_count(const dt_context *context)
{
    return (dt_context_info){.hits = context->hits,
                             .misses = context->misses,
                             .plans = context->plans.live,
                             .layouts = context->layouts.live,
                             .meshes = context->meshes.live};
}
