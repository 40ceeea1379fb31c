/* layout.c: Layout. Equal layouts are one object: dt_layout.owner points at it as long
 * as it lives. */
#include "ext/types/types.h"

/* --- one object for one layout --- */

/* Fills the tuples; -1 on error. */
static int
layout_fill(LayoutObject *self)
{
    const dt_layout *layout = self->layout;
    self->shape = ext_tuple(layout->shape, layout->ndim);
    self->placements = PyTuple_New(layout->mesh->ndim);
    for (int m = 0; self->placements != NULL && m < layout->mesh->ndim; m++)
        ext_put(&self->placements, m, ext_placement(dt_layout_placement(layout, m)));
    return self->shape == NULL || self->placements == NULL ? -1 : 0;
}

LayoutObject *
ext_layout(const dt_layout *layout, MeshObject *mesh)
{
    if (layout == NULL)
        return NULL;
    if (layout->owner != NULL) {
        dt_layout_release(ext_context, layout);
        return (LayoutObject *)Py_NewRef((PyObject *)layout->owner);
    }
    LayoutObject *self = PyObject_GC_New(LayoutObject, &ext_layout_type);
    if (self == NULL) {
        dt_layout_release(ext_context, layout);
        return NULL;
    }
    self->layout = layout;
    self->mesh = (MeshObject *)Py_NewRef((PyObject *)mesh);
    self->placements = self->shape = self->weakrefs = NULL;
    if (layout_fill(self) < 0) {
        Py_DECREF(self);
        return NULL;
    }
    /* A collection while the tuples were made may have run code that was faster. */
    if (layout->owner != NULL) {
        PyObject *other = Py_NewRef((PyObject *)layout->owner);
        Py_DECREF(self);
        return (LayoutObject *)other;
    }
    ((dt_layout *)layout)->owner = self;
    PyObject_GC_Track(self);
    return self;
}

static int
layout_traverse(PyObject *object, visitproc visit, void *arg)
{
    LayoutObject *self = (LayoutObject *)object;
    Py_VISIT(self->mesh);
    Py_VISIT(self->placements);
    Py_VISIT(self->shape);
    return 0;
}

/* There is no tp_clear: a cycle goes through the dictionary of the mesh, which has one,
 * and a layout can be found again by its owner pointer until it is freed. */
static void
layout_dealloc(PyObject *object)
{
    LayoutObject *self = (LayoutObject *)object;
    PyObject_GC_UnTrack(self);
    if (self->layout->owner == self)
        ((dt_layout *)self->layout)->owner = NULL;
    if (self->weakrefs != NULL)
        PyObject_ClearWeakRefs(object);
    dt_layout_release(ext_context, self->layout);
    Py_XDECREF(self->mesh);
    Py_XDECREF(self->placements);
    Py_XDECREF(self->shape);
    PyObject_GC_Del(self);
}

/* --- construction --- */

/* The optional arguments of Layout(), as dt_layout_make takes them. */
typedef struct {
    int ndim;
    dt_order orders[DT_MAX_NDIM];
    dt_cuts cuts[DT_MAX_NDIM];
    int64_t *values[DT_MAX_NDIM]; /* memory of cuts */
    int order_count, cuts_count;
} layout_options;

/* The pairs of a dict or a sequence of pairs, as a list or tuple. */
static PyObject *
pairs_of(PyObject *object, const char *name)
{
    if (PyDict_Check(object))
        return PyDict_Items(object);
    if (!PyUnicode_Check(object) && PySequence_Check(object))
        return PySequence_Fast(object, "expected pairs");
    return PyErr_Format(PyExc_TypeError,
                        "Layout: %s must be a dict of tensor dimensions or a sequence "
                        "of pairs, not %R",
                        name, object);
}

/* Splits a pair into a tensor dimension and the rest (borrowed); NULL on error. */
static PyObject *
read_pair(int *dim, PyObject *pair, int ndim, const char *name)
{
    bool is_pair = (PyTuple_Check(pair) || PyList_Check(pair)) &&
                   PySequence_Fast_GET_SIZE(pair) == 2;
    if (!is_pair)
        return PyErr_Format(PyExc_TypeError,
                            "Layout: %s has %R where a pair of a tensor dimension and "
                            "integers is expected",
                            name, pair);
    long value = PyLong_AsLong(PySequence_Fast_GET_ITEM(pair, 0));
    if (value == -1 && PyErr_Occurred())
        return NULL;
    if (value < -ndim || value >= ndim)
        return PyErr_Format(
            PyExc_IndexError,
            "Layout: %s names dimension %ld of a tensor of %d dimensions", name, value,
            ndim);
    *dim = (int)(value < 0 ? value + ndim : value);
    return PySequence_Fast_GET_ITEM(pair, 1);
}

static int
read_order(layout_options *o, PyObject *pair)
{
    dt_order *order = &o->orders[o->order_count];
    int64_t dims[DT_MAX_NDIM];
    PyObject *mesh_dims = read_pair(&order->dim, pair, o->ndim, "shard_order");
    int count = mesh_dims != NULL ? ext_shape(dims, mesh_dims, "shard_order") : -1;
    if (count < 0)
        return -1;
    if (count > DT_MESH_MAX_NDIM)
        return ext_fail(
            PyExc_ValueError,
            "Layout: shard_order has %d mesh dimensions for tensor dimension %d", count,
            order->dim);
    order->count = count;
    for (int k = 0; k < count; k++)
        order->mesh_dims[k] =
            dims[k] < 0 || dims[k] >= DT_MESH_MAX_NDIM ? -1 : (int)dims[k];
    o->order_count++;
    return 0;
}

static int
read_cuts(layout_options *o, PyObject *pair)
{
    dt_cuts *cuts = &o->cuts[o->cuts_count];
    PyObject *boundaries = read_pair(&cuts->dim, pair, o->ndim, "cuts");
    PyObject *items = boundaries != NULL
                          ? PySequence_Fast(boundaries, "Layout: cuts must be integers")
                          : NULL;
    if (items == NULL)
        return -1;
    cuts->count = PySequence_Fast_GET_SIZE(items);
    int64_t *values = PyMem_New(int64_t, (size_t)cuts->count);
    if (values == NULL)
        PyErr_NoMemory();
    for (Py_ssize_t k = 0; values != NULL && k < cuts->count; k++) {
        values[k] = PyLong_AsLongLong(PySequence_Fast_GET_ITEM(items, k));
        if (values[k] == -1 && PyErr_Occurred()) {
            PyMem_Free(values);
            values = NULL;
        }
    }
    Py_DECREF(items);
    if (values == NULL)
        return -1;
    cuts->cuts = o->values[o->cuts_count++] = values;
    return 0;
}

/* Calls `read` for every pair. */
static int
read_pairs(layout_options *o, PyObject *object, const char *name,
           int (*read)(layout_options *, PyObject *))
{
    if (object == Py_None)
        return 0;
    PyObject *pairs = pairs_of(object, name);
    if (pairs == NULL)
        return -1;
    Py_ssize_t count = PySequence_Fast_GET_SIZE(pairs);
    int status = 0;
    if (count > o->ndim) {
        PyErr_Format(PyExc_ValueError,
                     "Layout: %s has %zd entries for a tensor of %d dimensions", name,
                     count, o->ndim);
        status = -1;
    }
    for (Py_ssize_t k = 0; status == 0 && k < count; k++)
        status = read(o, PySequence_Fast_GET_ITEM(pairs, k));
    Py_DECREF(pairs);
    return status;
}

static PyObject *
layout_new(PyTypeObject *Py_UNUSED(type), PyObject *args, PyObject *kwargs)
{
    static char *keywords[] = {"mesh",        "placements", "shape", "dtype",
                               "shard_order", "cuts",       NULL};
    PyObject *mesh, *placements, *shape, *dtype, *order = Py_None, *cuts = Py_None;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "O!OOO|$OO:Layout", keywords,
                                     &ext_mesh_type, &mesh, &placements, &shape, &dtype,
                                     &order, &cuts))
        return NULL;
    const dt_mesh *grid = ((MeshObject *)mesh)->mesh;
    dt_placement list[DT_MESH_MAX_NDIM];
    int64_t lengths[DT_MAX_NDIM];
    dt_dtype element;
    int ndim = ext_shape(lengths, shape, "Layout");
    if (ndim < 0 || ext_placements(list, grid, placements, "Layout") < 0 ||
        ext_dtype_like(&element, dtype, DT_FLOAT64, "Layout") < 0)
        return NULL;
    layout_options o = {.ndim = ndim};
    LayoutObject *self = NULL;
    if (read_pairs(&o, order, "shard_order", read_order) == 0 &&
        read_pairs(&o, cuts, "cuts", read_cuts) == 0) {
        dt_layout *layout = NULL;
        dt_error err;
        dt_status status =
            dt_layout_make(&layout, grid, list, ndim, lengths, element, o.orders,
                           o.order_count, o.cuts, o.cuts_count, &err);
        self = ext_layout(ext_layout_made(status, layout, &err), (MeshObject *)mesh);
    }
    for (int k = 0; k < o.cuts_count; k++)
        PyMem_Free(o.values[k]);
    return (PyObject *)self;
}

/* --- layouts from this one --- */

static PyObject *
derived(PyObject *self, const dt_layout *layout)
{
    return (PyObject *)ext_layout(layout, ((LayoutObject *)self)->mesh);
}

static PyObject *
layout_with_placements(PyObject *self, PyObject *placements)
{
    return derived(self, ext_layout_with_placements(self, placements));
}

static PyObject *
layout_with_dtype(PyObject *self, PyObject *dtype)
{
    return derived(self, ext_layout_with_dtype(self, dtype));
}

static PyObject *
layout_like(PyObject *self, PyObject *args, PyObject *kwargs)
{
    return derived(self, ext_layout_like(self, args, kwargs));
}

static PyObject *
layout_whole(PyObject *self, PyObject *dims)
{
    return derived(self, ext_layout_whole(self, dims));
}

static PyObject *
layout_settled(PyObject *self, PyObject *Py_UNUSED(none))
{
    return derived(self, ext_layout_settled(self));
}

/* An immutable object is its own copy. */
static PyObject *
layout_copy(PyObject *self, PyObject *Py_UNUSED(memo))
{
    return Py_NewRef(self);
}

static PyObject *
layout_str(PyObject *self)
{
    char text[DT_MESH_MAX_NDIM * 64];
    dt_layout_print(text, sizeof text, ext_layout_in(self));
    return PyUnicode_FromString(text);
}

static PyObject *
layout_repr(PyObject *object)
{
    LayoutObject *self = (LayoutObject *)object;
    PyObject *placements = layout_str(object);
    if (placements == NULL)
        return NULL;
    PyObject *text = PyUnicode_FromFormat("Layout(%R, %U, shape=%R, dtype=%s)",
                                          self->mesh, placements, self->shape,
                                          dt_dtype_name(self->layout->dtype));
    Py_DECREF(placements);
    return text;
}

static const char layout_doc[] =
    "Layout(mesh, placements, shape, dtype, *, shard_order=None, cuts=None)\n--\n\n"
    "Which part of a tensor every rank of a mesh holds.\n\n"
    "Parameters\n----------\n"
    "mesh : DeviceMesh\n    The ranks; an abstract mesh will do.\n"
    "placements : sequence of Placement, length ``mesh.ndim``, or None\n"
    "    One for every mesh dimension; None: all `Replicate`.\n"
    "shape : int or sequence of int\n    The global shape.\n"
    "dtype : dtype_like\n    A numeric or boolean element type.\n"
    "shard_order : dict or sequence of pairs, optional\n"
    "    For tensor dimensions that several mesh dimensions shard: in which order\n"
    "    these cut, the first one first. By default from left to right.\n"
    "cuts : dict or sequence of pairs, optional\n"
    "    For sharded tensor dimensions: the boundaries of their parts, ascending from\n"
    "    0 to the length of the dimension. By default those of ``torch.chunk``.\n\n"
    "Raises\n------\n"
    "ValueError\n"
    "    If there are more or fewer placements than mesh dimensions, a length is\n"
    "    negative, the array would have over 2**62 bytes, or an order or boundaries\n"
    "    do not fit. As all below, the same on every rank.\n"
    "IndexError\n    If a tensor dimension is out of range.\n"
    "TypeError\n"
    "    If the dtype has no reduction of a `Partial`, or is not numeric.\n\n"
    "Notes\n-----\n"
    "Layouts are immutable, and equal ones are one object: compare with ``is``. They\n"
    "are what torch calls ``DTensorSpec``.\n\n"
    "Examples\n--------\n"
    ">>> mesh = DeviceMesh.abstract((2, 2))\n"
    ">>> x = Layout(mesh, [Shard(0), Replicate()], (5, 3), \"float32\")\n"
    ">>> str(x), x.local_shape((1, 0)), x.boxes(2)\n"
    "('[S(0), R]', (2, 3), [((3, 0), (2, 3))])";

static const char local_shape_doc[] =
    "local_shape($self, coordinate=None)\n--\n\n"
    "Return the shape of the local array of a rank.\n\n"
    "Parameters\n----------\n"
    "coordinate : sequence of int or int, optional\n"
    "    A coordinate of the mesh, or a rank; by default this rank.\n\n"
    "Returns\n-------\n"
    "tuple of int\n    ``(0,)`` for a rank outside the mesh.\n\n"
    "Raises\n------\n"
    "IndexError\n    If the mesh has no such coordinate.\n"
    "RuntimeError\n    If this rank is asked for and the mesh has no ranks.";

static const char boxes_doc[] =
    "boxes($self, rank=None)\n--\n\n"
    "Return which part of the global index space a rank holds.\n\n"
    "Parameters\n----------\n"
    "rank : int or sequence of int, optional\n"
    "    A rank, or a coordinate of the mesh; by default this rank.\n\n"
    "Returns\n-------\n"
    "list of tuple\n"
    "    Pairs of offsets and sizes, one of each per tensor dimension: one box, which\n"
    "    may be empty; several for strided shards, in row-major order; none for a\n"
    "    rank outside the mesh.\n\n"
    "Raises\n------\n"
    "IndexError\n    If the mesh has no such coordinate.\n"
    "RuntimeError\n    If this rank is asked for and the mesh has no ranks.";

static const char with_placements_doc[] =
    "with_placements($self, placements, /)\n--\n\n"
    "Return this layout with other placements.\n\n"
    "Dimensions that the same mesh dimensions cut keep their order and boundaries.\n\n"
    "Raises\n------\n"
    "ValueError, IndexError, TypeError\n    As for a new layout.";

static const char with_dtype_doc[] = "with_dtype($self, dtype, /)\n--\n\n"
                                     "Return this layout with another element type.\n\n"
                                     "Raises\n------\n"
                                     "TypeError\n    As for a new layout.";

static const char like_doc[] =
    "like($self, shape, dims, dtype=None, *, partial=False)\n--\n\n"
    "Return the layout of another tensor that is cut as this one is.\n\n"
    "Parameters\n----------\n"
    "shape : int or sequence of int\n    Of the other tensor.\n"
    "dims : dict of int to int\n"
    "    Dimension of this tensor -> dimension of the other, of the same length. What\n"
    "    cuts a dimension that is not among them replicates the other tensor.\n"
    "dtype : dtype_like, optional\n    Of the other tensor; default: the same.\n"
    "partial : bool, default False\n"
    "    Whether the other is Partial where this one is; else it is replicated there.\n"
    "\n"
    "Raises\n------\n"
    "ValueError, TypeError\n    As for a new layout.\n"
    "IndexError\n    If one of the two has no such dimension.\n\n"
    "Examples\n--------\n"
    ">>> mesh = DeviceMesh.abstract((2, 2))\n"
    ">>> x = Layout(mesh, [Shard(0), Shard(1)], (4, 6), \"float32\")\n"
    ">>> str(x.like((6,), {1: 0}))\n"
    "'[R, S(0)]'";

static const char whole_doc[] =
    "whole($self, dims, /)\n--\n\n"
    "Return this layout with nothing that cuts some dimensions.\n\n"
    "Parameters\n----------\n"
    "dims : int or sequence of int\n    From 0 on.\n\n"
    "Raises\n------\n"
    "IndexError\n    If there is no such dimension.";

static const char cut_by_doc[] =
    "cut_by($self, dim, /)\n--\n\n"
    "Return the mesh dimensions that cut a dimension, in the order of cutting.\n\n"
    "Raises\n------\n"
    "IndexError\n    If there is no such dimension.";

static const char is_cut_doc[] =
    "is_cut($self, dim, /)\n--\n\n"
    "Return whether a dimension has more than one part.\n\n"
    "Raises\n------\n"
    "IndexError\n    If there is no such dimension.";

static const char is_strided_doc[] = "is_strided($self, dim, /)\n--\n\n"
                                     "Return whether the parts of a dimension may be "
                                     "several ranges each, which no order\n"
                                     "of mesh dimensions describes.\n\n"
                                     "Raises\n------\n"
                                     "IndexError\n    If there is no such dimension.";

static PyMethodDef layout_methods[] = {
    {"like", EXT_KEYWORDS(layout_like), like_doc},
    {"whole", layout_whole, METH_O, whole_doc},
    {"settled", layout_settled, METH_NOARGS,
     "settled($self, /)\n--\n\n"
     "Return this layout with Replicate where it is Partial."},
    {"cut_by", ext_layout_cut_by, METH_O, cut_by_doc},
    {"is_cut", ext_layout_is_cut, METH_O, is_cut_doc},
    {"is_strided", ext_layout_is_strided, METH_O, is_strided_doc},
    {"local_shape", EXT_KEYWORDS(ext_layout_local_shape), local_shape_doc},
    {"boxes", EXT_KEYWORDS(ext_layout_boxes), boxes_doc},
    {"with_placements", layout_with_placements, METH_O, with_placements_doc},
    {"with_dtype", layout_with_dtype, METH_O, with_dtype_doc},
    {"__copy__", layout_copy, METH_NOARGS,
     "__copy__($self)\n--\n\nReturn this layout: it is immutable."},
    {"__deepcopy__", layout_copy, METH_O,
     "__deepcopy__($self, memo, /)\n--\n\nReturn this layout: it is immutable."},
    {0},
};

PyTypeObject ext_layout_type = {
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = "dtensor.Layout",
    .tp_basicsize = sizeof(LayoutObject),
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC,
    .tp_doc = layout_doc,
    .tp_new = layout_new,
    .tp_dealloc = layout_dealloc,
    .tp_traverse = layout_traverse,
    .tp_methods = layout_methods,
    .tp_members = ext_layout_members,
    .tp_getset = ext_layout_attributes,
    .tp_str = layout_str,
    .tp_repr = layout_repr,
    .tp_weaklistoffset = offsetof(LayoutObject, weakrefs),
};
