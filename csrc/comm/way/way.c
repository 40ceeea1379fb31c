#include "comm/way/way.h"

#include <string.h>

/* In the order in which they are tried; the first and the last fit all steps. */
static const dt_way *const WAYS[] = {&dt_way_local, &dt_way_tree, &dt_way_read,
                                     &dt_way_messages};
enum { WAY_COUNT = sizeof WAYS / sizeof *WAYS };

const dt_way *
dt_way_of(const char **why, const dt_world *world, const dt_step *step)
{
    if (world != NULL && world->way != NULL && world->way->fits(why, world, step)) {
        *why = "by DTENSOR_WAY";
        return world->way;
    }
    int k = 0;
    while (!WAYS[k]->fits(why, world, step))
        k++;
    return WAYS[k];
}

bool
dt_way_together(const dt_world *world, const dt_step *a, const dt_step *b)
{
    const char *why;
    if (!dt_steps_together(a, b))
        return false;
    const dt_way *way = dt_way_of(&why, world, a);
    return way == dt_way_of(&why, world, b) &&
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
