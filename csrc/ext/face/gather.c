/* gather.c: full_tensor and rebalance, as DTensor has them. */
#include "ext/face/face.h"

/* The options of full_tensor; -1 with an exception. */
static int
read_full_options(int64_t *root, DTensorObject *self, PyObject *const *given)
{
    const dt_mesh *mesh = self->layout->layout->mesh;
    dt_placement grad[DT_MESH_MAX_NDIM];
    *root = -1;
    if (ext_placements(grad, mesh, given[0], "full_tensor") < 0 ||
        ext_argument_int(root, given[1]) < 0)
        return -1;
    if (given[1] == NULL || given[1] == Py_None || (*root >= 0 && *root < mesh->size))
        return 0;
    return ext_fail(
        PyExc_ValueError,
        "full_tensor: root must be one of the %lld places of the mesh, not %lld",
        (long long)mesh->size, (long long)*root);
}

PyObject *
ext_dtensor_full(PyObject *object, PyObject *const *args, Py_ssize_t nargs,
                 PyObject *kwnames)
{
    static const ext_signature signature =
        EXT_SIGNATURE("full_tensor", 2, 0, 0, "grad_placements", "root");
    DTensorObject *self = (DTensorObject *)object;
    PyObject *given[2];
    int64_t root;
    if (ext_arguments(given, &signature, args, nargs, kwnames) < 0 ||
        read_full_options(&root, self, given) < 0)
        return ext_fail_together(self->layout->layout->mesh, NULL, "full_tensor");
    PyObject *array = ext_dtensor_gather(self, root, "full_tensor");
    if (array == NULL || array == Py_None)
        return array;
    PyObject *result = ext_in_dialect(ext_tensor(array), object);
    return root < 0 ? tape_gathered(result, self, given[0]) : result;
}

const char ext_dtensor_full_doc[] =
    "full_tensor($self, /, *, grad_placements=None, root=None)\n--\n\n"
    "Return the whole array, on every rank or on one.\n\n"
    "Collective over the mesh, unless every rank has all of it already.\n\n"
    "Parameters\n----------\n"
    "grad_placements : sequence of Placement, optional\n"
    "    How the gradient of the result will be spread; default: replicated.\n"
    "root : int, optional\n"
    "    A place in the mesh, counted in row-major order: only the rank there gets\n"
    "    the array.\n\n"
    "Returns\n-------\n"
    "Tensor or None\n"
    "    Of the global shape. None on the other ranks where `root` is given; of shape\n"
    "    (0,) on a rank outside the mesh. It shares memory with this tensor where\n"
    "    nothing had to move.\n\n"
    "Raises\n------\n"
    "ValueError\n"
    "    If `root` is no place of the mesh, or `grad_placements` has not one entry "
    "for\n"
    "    each mesh dimension. On every rank.\n"
    "RuntimeError\n"
    "    If the ranks call different things: on every rank, showing both.\n";

PyObject *
ext_dtensor_rebalance(PyObject *object, PyObject *Py_UNUSED(ignored))
{
    DTensorObject *self = (DTensorObject *)object;
    return tape_moved(ext_dtensor_chunked(self), self, NULL);
}

const char ext_dtensor_rebalance_doc[] =
    "rebalance($self, /)\n--\n\n"
    "Return the same tensor with the parts that torch.chunk gives.\n\n"
    "For one made by ``from_local`` of parts of other sizes: `redistribute` to equal\n"
    "placements keeps those. Collective over the mesh, unless the parts are chunks.\n\n"
    "Returns\n-------\n"
    "DTensor\n"
    "    With the same placements and in the same shard order.\n\n"
    "Raises\n------\n"
    "RuntimeError\n"
    "    If the ranks call different things: on every rank, showing both.\n";
