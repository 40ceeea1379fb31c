#include "core/plan/plans.h"

#include "core/memory/table.h"

#include <stdlib.h>

enum { PLANS_KEPT = 4096 };

struct dt_plans {
    dt_context *context;
    dt_hash_table table;
    dt_plan *newest, *oldest; /* of those that are kept */
    int64_t hits, misses;
};

dt_plans *
dt_plans_make(dt_context *context)
{
    dt_plans *plans = calloc(1, sizeof *plans);
    if (plans != NULL)
        plans->context = context;
    return plans;
}

dt_context *
dt_plans_context(const dt_plans *plans)
{
    return plans->context;
}

static void
forget_oldest_plan(dt_plans *plans)
{
    dt_plan *plan = plans->oldest;
    plans->oldest = plan->newer;
    if (plan->newer != NULL)
        plan->newer->older = NULL;
    else
        plans->newest = NULL;
    plan->newer = plan->older = NULL;
    dt_plan_release(plans, plan);
}

void
dt_plans_forget(dt_plans *plans)
{
    while (plans->oldest != NULL)
        forget_oldest_plan(plans);
}

void
dt_plans_free(dt_plans *plans)
{
    if (plans == NULL)
        return;
    dt_plans_forget(plans);
    dt_hash_table_free(&plans->table);
    free(plans);
}

typedef struct {
    const dt_layout *from, *to;
    int64_t max_scratch;
    uint64_t cost;
} plan_key;

static bool
same_plan(const void *item, const void *key)
{
    const dt_plan *plan = item;
    const plan_key *wanted = key;
    return plan->from == wanted->from && plan->to == wanted->to &&
           plan->max_scratch == wanted->max_scratch && plan->cost == wanted->cost;
}

static uint64_t
plan_hash(const plan_key *key)
{
    uint64_t hash = key->from->hash * UINT64_C(0x9e3779b97f4a7c15) ^ key->to->hash;
    hash =
        (hash ^ (uint64_t)key->max_scratch ^ key->cost) * UINT64_C(0xd6e8feb86659fd93);
    return hash ^ hash >> 32;
}

/* The list of kept plans has one reference to each. */
static void
make_newest(dt_plans *plans, dt_plan *plan)
{
    if (plans->newest == plan)
        return;
    if (plan->older == NULL && plan->newer == NULL)
        plan->refs++; /* not in the list: it is not its only one, the newest */
    if (plan->older != NULL)
        plan->older->newer = plan->newer;
    if (plan->newer != NULL)
        plan->newer->older = plan->older;
    if (plans->oldest == plan)
        plans->oldest = plan->newer;
    plan->older = plans->newest;
    plan->newer = NULL;
    if (plans->newest != NULL)
        plans->newest->newer = plan;
    plans->newest = plan;
    if (plans->oldest == NULL)
        plans->oldest = plan;
}

dt_status
dt_plans_find(const dt_plan **out, dt_plans *plans, const dt_layout *from,
              const dt_layout *to, const dt_cost *cost, int64_t max_scratch,
              dt_error *err)
{
    uint64_t known = cost->hash ^ (uint64_t)cost->node * UINT64_C(0x9e3779b97f4a7c15);
    plan_key key = {from, to, max_scratch, known};
    uint64_t hash = plan_hash(&key);
    dt_plan *plan = (dt_plan *)dt_hash_table_find(&plans->table, hash, same_plan, &key);
    if (plan != NULL) {
        plans->hits++;
    } else {
        plans->misses++;
        DT_TRY(dt_plan_make(&plan, plans->context, from, to, cost, max_scratch, err));
        if (!dt_hash_table_reserve(&plans->table)) {
            dt_plan_free(plan, plans->context);
            return dt_fail(err, DT_MEMORY, "no memory for one more plan");
        }
        plan->refs = 0;
        plan->serial = (uint64_t)plans->misses;
        plan->max_scratch = max_scratch;
        plan->cost = known;
        dt_layout_retain(from);
        dt_layout_retain(to);
        dt_hash_table_put(&plans->table, hash, plan);
    }
    make_newest(plans, plan);
    plan->refs++;
    if (plans->table.live > PLANS_KEPT)
        forget_oldest_plan(plans);
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
dt_plan_release(dt_plans *plans, const dt_plan *plan)
{
    dt_plan *own = (dt_plan *)plan;
    if (--own->refs > 0)
        return;
    const dt_layout *from = own->from, *to = own->to;
    plan_key key = {from, to, own->max_scratch, own->cost};
    dt_hash_table_remove(&plans->table, plan_hash(&key), own);
    dt_plan_free(own, plans->context);
    dt_layout_release(plans->context, from);
    dt_layout_release(plans->context, to);
}

dt_plans_info
dt_plans_count(const dt_plans *plans)
{
    return (dt_plans_info){
        .hits = plans->hits, .misses = plans->misses, .plans = plans->table.live};
}
