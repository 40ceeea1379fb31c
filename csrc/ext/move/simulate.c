/* simulate.c: moves of a rank that is simulated: planned and counted. What they
 * give has no data. */
#include "ext/move/move.h"

#include "comm/run/count.h"

/* The plan of an item and its result; *plan stays NULL where nothing is to be done. */
static int
simulate_item(const dt_plan **plan, ext_item *item, const dt_world *world,
              int64_t max_bytes)
{
    dt_error err;
    if (item->from != item->to &&
        dt_plans_find(plan, ext_plans, item->from, item->to, &world->cost, max_bytes,
                      &err) != DT_OK) {
        ext_raise(&err);
        return -1;
    }
    bool moves = *plan != NULL && (*plan)->step_count > 0;
    if (*plan != NULL && !moves) {
        dt_plan_release(ext_plans, *plan);
        *plan = NULL;
    }
    if (!moves && item->array != NULL) {
        item->result = Py_NewRef(item->array);
        return 0;
    }
    item->result = ext_part_without_data(item->to, world->transport->rank);
    return item->result == NULL ? -1 : 0;
}

/* Counts moves that go together, and tells who watches. */
static int
count_moves(dt_world *world, const dt_plan *const *plans, int count, int *done,
            PyObject *teller)
{
    dt_event *events = NULL;
    int steps = 1, made;
    for (int i = 0; i < count; i++)
        steps += plans[i]->step_count;
    if (teller != NULL && (events = PyMem_New(dt_event, (size_t)steps)) == NULL)
        return ext_no_memory();
    int64_t between = dt_count_moves(world, plans, count, done, events, &made);
    ext_simulated_peak(world->poll_data, between);
    if (teller != NULL)
        watch_tell_counted(teller, events, made);
    PyMem_Free(events);
    return 0;
}

int
ext_simulate_moves(ext_item *items, int count, dt_world *world, int64_t max_bytes,
                   PyObject *teller)
{
    const dt_plan **plans = PyMem_Calloc((size_t)count, sizeof *plans);
    int *done = PyMem_New(int, (size_t)count);
    int failed = plans == NULL || done == NULL ? (PyErr_NoMemory(), -1) : 0, made = 0;
    for (int i = 0; i < count && failed == 0; i++) {
        failed = simulate_item(&plans[made], &items[i], world, max_bytes);
        made += plans[made] != NULL;
    }
    if (failed == 0)
        failed = count_moves(world, plans, made, done, teller);
    for (int i = 0; i < made; i++)
        dt_plan_release(ext_plans, plans[i]);
    for (int i = 0; i < count && failed < 0; i++)
        Py_CLEAR(items[i].result);
    PyMem_Free(plans);
    PyMem_Free(done);
    return failed;
}
