/* gather.c: moves with a fixed target: everything to everybody or to one rank, and
 * the parts that torch.chunk gives. Not recorded. */
#include "ext/move/move.h"

/* Moves one tensor; the new part, NULL with an exception. */
static PyObject *
move_to(DTensorObject *self, const dt_layout *to, const char *what)
{
    PyArrayObject *array = ext_local((PyObject *)self);
    if (array == NULL)
        return NULL;
    ext_item item = {.array = (PyObject *)array,
                     .from = self->layout->layout,
                     .to = to,
                     .lineage = ext_lineage(self)};
    Py_INCREF(array);
    int failed = ext_move_items(&item, 1, what, 0, NULL, NULL);
    Py_DECREF(array);
    return failed < 0 ? NULL : item.result;
}

PyObject *
ext_dtensor_gather(DTensorObject *self, int64_t root, const char *what)
{
    const dt_layout *layout = self->layout->layout;
    dt_world *world = ext_world(layout->mesh, what);
    if (world == NULL)
        return NULL;
    int64_t rank = root < 0 ? -1 : dt_mesh_rank(layout->mesh, root);
    const dt_layout *to = root < 0 ? ext_layout_make(layout->mesh, NULL, layout->ndim,
                                                     layout->shape, layout->dtype)
                                   : ext_layout_at(layout->mesh, rank, layout->ndim,
                                                   layout->shape, layout->dtype);
    if (to == NULL)
        return NULL;
    PyObject *array = move_to(self, to, what);
    dt_layout_release(ext_context, to);
    if (array == NULL || root < 0 || rank == world->transport->rank)
        return array;
    Py_DECREF(array);
    Py_RETURN_NONE;
}

/* The same placements and orders, cut as torch.chunk does. */
static const dt_layout *
chunked(const dt_layout *layout)
{
    dt_placement placements[DT_MESH_MAX_NDIM];
    for (int m = 0; m < layout->mesh->ndim; m++)
        placements[m] = dt_layout_placement(layout, m);
    return ext_layout_make(layout->mesh, placements, layout->ndim, layout->shape,
                           layout->dtype);
}

PyObject *
ext_dtensor_chunked(DTensorObject *self)
{
    const dt_layout *to = chunked(self->layout->layout);
    if (to == NULL)
        return NULL;
    PyObject *made =
        ext_dtensor_new(move_to(self, to, "rebalance"), to, self->layout->mesh, false);
    return ext_in_dialect(ext_with_lineage(made, ext_lineage(self)), (PyObject *)self);
}
