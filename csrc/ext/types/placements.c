/* placements.c: a sequence of Placement objects, one for each mesh dimension, as core
 * has them. */
#include "ext/types/types.h"

static bool
read_placement(dt_placement *out, PyObject *object, const char *what)
{
    if (!PyObject_TypeCheck(object, &ext_placement_type)) {
        PyErr_Format(PyExc_TypeError,
                     "%s: expected a Placement (Shard, Replicate or Partial), not %R",
                     what, object);
        return false;
    }
    *out = ((PlacementObject *)object)->placement;
    if (out->split == 0)
        PyErr_Format(PyExc_TypeError,
                     "%s: %R is a placement of another kind than Shard, Replicate and "
                     "Partial, which layouts are made of",
                     what, object);
    return out->split != 0;
}

int
ext_placements(dt_placement out[DT_MESH_MAX_NDIM], const dt_mesh *mesh,
               PyObject *object, const char *what)
{
    if (object == NULL || object == Py_None) {
        for (int m = 0; m < mesh->ndim; m++)
            out[m] = DT_REPLICATED;
        return 0;
    }
    if (!PyList_CheckExact(object) && !PyTuple_CheckExact(object) &&
        !PySequence_Check(object))
        return ext_fail(PyExc_TypeError,
                        "%s: placements must be a sequence with one placement for each "
                        "mesh dimension, such as [Shard(0)], not %R",
                        what, object);
    PyObject *items = PySequence_Fast(object, "placements must be a sequence");
    if (items == NULL)
        return -1;
    Py_ssize_t count = PySequence_Fast_GET_SIZE(items);
    if (count != mesh->ndim)
        PyErr_Format(PyExc_ValueError,
                     "`placements` must have the same length as `device_mesh.ndim`! "
                     "Found placements length: %zd, and device_mesh.ndim: %d.",
                     count, mesh->ndim);
    bool good = count == mesh->ndim;
    for (Py_ssize_t k = 0; good && k < count; k++)
        good = read_placement(&out[k], PySequence_Fast_GET_ITEM(items, k), what);
    Py_DECREF(items);
    return good ? 0 : -1;
}
