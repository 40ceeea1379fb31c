#include "comm/way/way.h"

#include <string.h>

/* In the order in which they are tried; the first and the last fit all steps. */
static const dt_way *const WAYS[] = {&dt_way_local, &dt_way_carry, &dt_way_tree,
                                     &dt_way_read, &dt_way_messages};
enum { WAY_COUNT = sizeof WAYS / sizeof *WAYS };

static bool
fits(const char **why, const dt_way *way, const dt_world *world, const dt_step *step,
     bool first)
{
    return (first || !way->first) && way->fits(why, world, step);
}

const dt_way *
dt_way_of(const char **why, const dt_world *world, const dt_step *step, bool first)
{
    const dt_way *forced = world == NULL ? NULL : world->way;
    if (forced != NULL && fits(why, forced, world, step, first)) {
        *why = "by DTENSOR_WAY";
        return forced;
    }
    int k = 0;
    while (!fits(why, WAYS[k], world, step, first && forced == NULL))
        k++;
    return WAYS[k];
}

bool
dt_way_first(const dt_plan *plan, int step)
{
    return step == 0 && plan->from->mesh == plan->to->mesh;
}

bool
dt_way_together(const dt_world *world, const dt_step *a, const dt_step *b)
{
    const char *why;
    if (!dt_steps_together(a, b))
        return false;
    const dt_way *way = dt_way_of(&why, world, a, false);
    return way == dt_way_of(&why, world, b, false) &&
           (way->together == NULL || way->together(a, b));
}

const dt_way *
dt_way_plain(const dt_step *step)
{
    const char *why;
    int k = 0;
    while (WAYS[k]->ready != NULL || WAYS[k]->together != NULL ||
           !WAYS[k]->fits(&why, NULL, step))
        k++;
    return WAYS[k];
}

const dt_way *
dt_way_named(const char *name)
{
    for (int k = 0; k < WAY_COUNT; k++)
        if (strcmp(WAYS[k]->name, name) == 0)
            return WAYS[k];
    return NULL;
}

void
dt_leg_free(dt_leg *leg)
{
    leg->way->release(leg);
    for (int k = 0; k < leg->round_count; k++)
        dt_round_free(&leg->rounds[k]);
}
