/* layout_attributes.c: what a Layout says of a tensor and of every rank's part. */
#include "ext/types/types.h"

#include <stddef.h>

static PyObject *
get_ndim(PyObject *self, void *Py_UNUSED(closure))
{
    return PyLong_FromLong(ext_layout_in(self)->ndim);
}

static PyObject *
get_dtype(PyObject *self, void *Py_UNUSED(closure))
{
    return (PyObject *)ext_descr(ext_layout_in(self)->dtype);
}

static PyObject *
get_nbytes(PyObject *self, void *Py_UNUSED(closure))
{
    const dt_layout *layout = ext_layout_in(self);
    long long bytes = (long long)dt_dtype_size(layout->dtype);
    for (int d = 0; d < layout->ndim; d++)
        bytes *= layout->shape[d];
    return PyLong_FromLongLong(bytes);
}

static PyObject *
get_is_partial(PyObject *self, void *Py_UNUSED(closure))
{
    return PyBool_FromLong(ext_layout_in(self)->has_partial);
}

static PyObject *
get_is_replicated(PyObject *self, void *Py_UNUSED(closure))
{
    return PyBool_FromLong(dt_layout_replicated(ext_layout_in(self)));
}

/* The mesh dims that cut a dim, in that order. */
static PyObject *
order_of(const dt_cut *cut)
{
    int64_t mesh_dims[DT_MESH_MAX_NDIM];
    for (int k = 0; k < cut->count; k++)
        mesh_dims[k] = cut->mesh_dims[k];
    return ext_tuple(mesh_dims, cut->count);
}

/* (dim, mesh dims in the order in which they cut it) */
static PyObject *
order_entry(const dt_layout *layout, int dim)
{
    PyObject *order = order_of(&layout->dims[dim]);
    return order != NULL ? Py_BuildValue("(iN)", dim, order) : NULL;
}

static PyObject *
get_shard_order(PyObject *self, void *Py_UNUSED(closure))
{
    const dt_layout *layout = ext_layout_in(self);
    PyObject *list = PyList_New(0);
    for (int d = 0; list != NULL && d < layout->ndim; d++)
        if (layout->dims[d].count > 0)
            ext_append(&list, order_entry(layout, d));
    PyObject *tuple = list != NULL ? PyList_AsTuple(list) : NULL;
    Py_XDECREF(list);
    return tuple;
}

static PyObject *
cuts_entry(const dt_cut *cut)
{
    PyObject *tuple = PyTuple_New((Py_ssize_t)(cut->parts + 1));
    for (int64_t k = 0; tuple != NULL && k <= cut->parts; k++)
        ext_put(&tuple, (Py_ssize_t)k, PyLong_FromLongLong(cut->cuts[k]));
    return tuple;
}

static PyObject *
get_cuts(PyObject *self, void *Py_UNUSED(closure))
{
    const dt_layout *layout = ext_layout_in(self);
    PyObject *dict = PyDict_New();
    for (int d = 0; dict != NULL && d < layout->ndim; d++) {
        if (layout->dims[d].cuts == NULL)
            continue;
        PyObject *key = PyLong_FromLong(d);
        PyObject *value = cuts_entry(&layout->dims[d]);
        if (key == NULL || value == NULL || PyDict_SetItem(dict, key, value) < 0)
            Py_CLEAR(dict);
        Py_XDECREF(key);
        Py_XDECREF(value);
    }
    if (dict == NULL || PyDict_GET_SIZE(dict) > 0)
        return dict;
    Py_DECREF(dict);
    Py_RETURN_NONE;
}

#define MEMBER(name, field, doc)                                                       \
    {name, T_OBJECT, offsetof(LayoutObject, field), READONLY, doc}

PyMemberDef ext_layout_members[] = {
    MEMBER("mesh", mesh, "The mesh."),
    MEMBER("device_mesh", mesh, "The mesh."),
    MEMBER(
        "placements", placements,
        "One placement for every mesh dimension. An order of sharding that is not left "
        "to\n"
        "right is told by _StridedShard, as torch tells it."),
    MEMBER("shape", shape, "The global shape."),
    {0},
};

PyGetSetDef ext_layout_attributes[] = {
    {"ndim", get_ndim, NULL, "Number of tensor dimensions.", NULL},
    {"dtype", get_dtype, NULL, "The element type.", NULL},
    {"nbytes", get_nbytes, NULL, "Bytes of the whole array, held once.", NULL},
    {"is_partial", get_is_partial, NULL, "Whether some placement is Partial.", NULL},
    {"is_replicated", get_is_replicated, NULL, "Whether every placement is Replicate.",
     NULL},
    {"shard_order", get_shard_order, NULL,
     "For every sharded tensor dimension a pair of it and of the mesh dimensions that\n"
     "cut it, in that order.",
     NULL},
    {"cuts", get_cuts, NULL,
     "The boundaries of dimensions that are not cut as torch.chunk does, else None.",
     NULL},
    {0},
};

/* --- how one dimension is cut --- */

/* The cut of a dimension that Python names; NULL with an exception. */
static const dt_cut *
cut_of(PyObject *self, PyObject *object)
{
    const dt_layout *layout = ext_layout_in(self);
    long dim = PyLong_AsLong(object);
    if (dim == -1 && PyErr_Occurred())
        return NULL;
    if (dim < -layout->ndim || dim >= layout->ndim)
        return (const dt_cut *)PyErr_Format(
            PyExc_IndexError, "a tensor of %d dimensions has no dimension %ld",
            layout->ndim, dim);
    return &layout->dims[dim < 0 ? dim + layout->ndim : dim];
}

PyObject *
ext_layout_cut_by(PyObject *self, PyObject *dim)
{
    const dt_cut *cut = cut_of(self, dim);
    return cut == NULL ? NULL : order_of(cut);
}

PyObject *
ext_layout_is_cut(PyObject *self, PyObject *dim)
{
    const dt_cut *cut = cut_of(self, dim);
    return cut == NULL ? NULL : PyBool_FromLong(cut->parts > 1);
}

PyObject *
ext_layout_is_strided(PyObject *self, PyObject *dim)
{
    const dt_cut *cut = cut_of(self, dim);
    return cut == NULL ? NULL : PyBool_FromLong(cut->strided);
}

/* --- parts --- */

/* A coordinate from None (this rank's own), a rank or a coordinate: 1; 0 for a rank
 * outside the mesh; -1 on error. */
static int
read_place(int64_t out[DT_MESH_MAX_NDIM], const dt_mesh *mesh, PyObject *object,
           const char *what)
{
    if (object == Py_None && mesh->world == 0 && mesh->size == 1) {
        dt_mesh_coordinate(out, mesh, 0); /* all of it is here */
        return 1;
    }
    if (object == Py_None)
        return ext_coordinate(out, mesh, what);
    if (PyIndex_Check(object) && !PyArray_Check(object)) {
        int64_t rank = PyLong_AsLongLong(object);
        if (rank == -1 && PyErr_Occurred())
            return -1;
        return dt_mesh_find(out, mesh, rank);
    }
    int64_t values[DT_MAX_NDIM];
    int count = ext_shape(values, object, what);
    if (count < 0)
        return -1;
    bool inside = count == mesh->ndim;
    for (int m = 0; inside && m < count; m++) {
        inside = values[m] >= 0 && values[m] < mesh->shape[m];
        out[m] = values[m];
    }
    if (!inside) {
        PyObject *shape = ext_tuple(mesh->shape, mesh->ndim);
        PyErr_Format(PyExc_IndexError, "%s: a mesh of shape %S has no coordinate %R",
                     what, shape, object);
        Py_XDECREF(shape);
        return -1;
    }
    return 1;
}

PyObject *
ext_layout_local_shape(PyObject *self, PyObject *args, PyObject *kwargs)
{
    static char *keywords[] = {"coordinate", NULL};
    PyObject *place = Py_None;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "|O:local_shape", keywords, &place))
        return NULL;
    const dt_layout *layout = ext_layout_in(self);
    int64_t coordinate[DT_MESH_MAX_NDIM], shape[DT_MAX_NDIM];
    int inside = read_place(coordinate, layout->mesh, place, "local_shape");
    if (inside < 0)
        return NULL;
    int ndim = dt_layout_local_shape(shape, layout, inside ? coordinate : NULL);
    return ext_tuple(shape, ndim);
}

/* The chosen box as (offsets, sizes). */
static PyObject *
box_of(const ext_boxes *b)
{
    int64_t offsets[DT_MAX_NDIM], sizes[DT_MAX_NDIM];
    for (int d = 0; d < b->ndim; d++) {
        offsets[d] = b->ranges[d][b->choice[d]].start;
        sizes[d] = b->ranges[d][b->choice[d]].size;
    }
    return Py_BuildValue("(NN)", ext_tuple(offsets, b->ndim),
                         ext_tuple(sizes, b->ndim));
}

PyObject *
ext_layout_boxes(PyObject *self, PyObject *args, PyObject *kwargs)
{
    static char *keywords[] = {"rank", NULL};
    PyObject *place = Py_None;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "|O:boxes", keywords, &place))
        return NULL;
    const dt_layout *layout = ext_layout_in(self);
    int64_t coordinate[DT_MESH_MAX_NDIM];
    int inside = read_place(coordinate, layout->mesh, place, "boxes");
    PyObject *list = inside >= 0 ? PyList_New(0) : NULL;
    if (list == NULL || !inside)
        return list;
    ext_boxes b;
    if (ext_boxes_make(&b, layout, coordinate) < 0)
        Py_CLEAR(list);
    else
        do
            ext_append(&list, box_of(&b));
        while (list != NULL && ext_boxes_next(&b));
    PyMem_Free(b.ranges[0]);
    return list;
}
