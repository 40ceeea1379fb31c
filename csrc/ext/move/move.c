/* move.c: from layout to layout. Here it is asked, once, whether a move is watched and
 * whether there are data: a mesh may have no ranks, a rank may be simulated, and
 * tensors may be without data. What moves data is transfer.c. */
#include "ext/move/move.h"

/* Where there is no data only the layouts change. */
static int
move_nothing(ext_item *items, int count, int64_t rank)
{
    for (int i = 0; i < count; i++) {
        items[i].result = ext_part_without_data(items[i].to, rank);
        if (items[i].result == NULL)
            return -1;
    }
    return 0;
}

/* Whether all items, or none, are without data; -1: some are. */
static int
without_data(const ext_item *items, int count)
{
    int hollow = 0;
    for (int i = 0; i < count; i++)
        hollow +=
            items[i].array != NULL && !ext_has_data((PyArrayObject *)items[i].array);
    if (hollow == 0 || hollow == count)
        return hollow > 0;
    return ext_fail(PyExc_NotImplementedError,
                    "tensors with data and tensors without do not move together");
}

static int
move_by(ext_item *items, int count, const transfer_options *o, PyObject **pending)
{
    const dt_layout *from = items[0].from, *to = items[0].to;
    if (from->mesh->world == 0 && to->mesh->world == 0)
        return move_nothing(items, count, -1);
    dt_world *world = ext_world(from->mesh, o->what);
    if (world == NULL)
        return -1;
    bool good = o->local == NULL || o->local->status == DT_OK;
    if (world->transport->alone && good)
        return ext_simulate_moves(items, count, world, o->max_bytes, o->teller);
    int hollow = without_data(items, count);
    if (hollow != 0)
        return hollow < 0 ? -1 : move_nothing(items, count, world->transport->rank);
    return move_transfer(items, count, world, o, pending);
}

static int
move_all(ext_item *items, int count, transfer_options *o, PyObject **pending)
{
    if (pending != NULL)
        *pending = NULL;
    for (int i = 0; i < count; i++)
        items[i].result = NULL;
    o->teller = watch_on_move == NULL ? NULL : watch_move(items, count, o->what);
    int failed = count == 0 ? 0 : move_by(items, count, o, pending);
    Py_XDECREF(o->teller);
    for (int i = 0; i < count && failed < 0; i++)
        Py_CLEAR(items[i].result);
    return failed;
}

int
ext_move_items(ext_item *items, int count, const char *what, int64_t max_bytes,
               const dt_error *local, PyObject **pending)
{
    transfer_options o = {.what = what, .max_bytes = max_bytes, .local = local};
    bool simple = count == 1 && max_bytes == 0 && pending == NULL &&
                  watch_on_move == NULL && (local == NULL || local->status == DT_OK);
    int done = simple ? move_again(items, what) : 0;
    return done > 0 ? 0 : done < 0 ? -1 : move_all(items, count, &o, pending);
}

PyObject *
ext_move_one(PyObject *array, const dt_layout *from, const dt_layout *to,
             const char *what, uint64_t lineage)
{
    ext_item item = {.array = array, .from = from, .to = to, .lineage = lineage};
    return ext_move_items(&item, 1, what, 0, NULL, NULL) < 0 ? NULL : item.result;
}

int
ext_move_operands(ext_item *items, int count, const char *what, uint64_t detail,
                  uint64_t lineage)
{
    transfer_options o = {.what = what, .detail = detail, .lineage = lineage};
    return move_all(items, count, &o, NULL);
}

int
ext_move_here(ext_item *item, const dt_plan *plan, const char *what)
{
    dt_world *world = ext_world(item->from->mesh, what);
    if (world == NULL)
        return -1;
    if (world->transport->alone)
        return ext_simulate_moves(item, 1, world, 0, NULL);
    if (plan->step_count == 0) {
        item->result = Py_NewRef(item->array);
        return 0;
    }
    item->result = ext_part(item->to, world->transport->rank);
    if (item->result == NULL || move_locally(item, plan, world->transport->rank) < 0) {
        Py_CLEAR(item->result);
        return -1;
    }
    return 0;
}
