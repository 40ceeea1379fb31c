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
    self->placements = self->shape = self->weakrefs = self->next = NULL;
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
    Py_VISIT(self->next);
    return 0;
}

/* All else stays: another cycle goes through the dictionary of the mesh, which has a
 * tp_clear, and a layout can be found again by its owner pointer until it is freed. */
static int
layout_clear(PyObject *object)
{
    Py_CLEAR(((LayoutObject *)object)->next);
    return 0;
}

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
    Py_XDECREF(self->next);
    PyObject_GC_Del(self);
}

static PyObject *
layout_new(PyTypeObject *Py_UNUSED(type), PyObject *args, PyObject *kwargs)
{
    MeshObject *mesh = NULL;
    const dt_layout *layout = ext_layout_read(&mesh, args, kwargs);
    return (PyObject *)ext_layout(layout, mesh);
}

/* --- layouts from this one --- */

/* The object of what a function of core has made, or its error raised. */
static LayoutObject *
derived(LayoutObject *self, dt_status status, dt_layout *layout, const dt_error *err)
{
    return ext_layout(ext_layout_made(status, layout, err), self->mesh);
}

LayoutObject *
ext_layout_with_dtype(LayoutObject *layout, dt_dtype dtype)
{
    dt_layout *with = NULL;
    dt_error err;
    dt_status status = dt_layout_with_dtype(&with, layout->layout, dtype, &err);
    return derived(layout, status, with, &err);
}

LayoutObject *
ext_layout_with(LayoutObject *layout, const dt_placement *placements)
{
    dt_layout *with = NULL;
    dt_error err;
    dt_status status = dt_layout_with(&with, layout->layout, placements, &err);
    return derived(layout, status, with, &err);
}

LayoutObject *
ext_layout_dual(LayoutObject *layout)
{
    dt_layout *dual = NULL;
    dt_error err;
    dt_status status = dt_layout_dual(&dual, layout->layout, &err);
    return derived(layout, status, dual, &err);
}

static PyObject *
layout_with_placements(PyObject *self, PyObject *placements)
{
    dt_placement list[DT_MESH_MAX_NDIM];
    if (ext_placements(list, ext_layout_in(self)->mesh, placements, "with_placements") <
        0)
        return NULL;
    return (PyObject *)ext_layout_with((LayoutObject *)self, list);
}

static PyObject *
layout_with_dtype(PyObject *self, PyObject *dtype)
{
    dt_dtype element;
    if (ext_dtype_like(&element, dtype, ext_layout_in(self)->dtype, "with_dtype") < 0)
        return NULL;
    return (PyObject *)ext_layout_with_dtype((LayoutObject *)self, element);
}

static PyObject *
layout_settled(PyObject *self, PyObject *Py_UNUSED(none))
{
    return (PyObject *)ext_layout_dual((LayoutObject *)self);
}

static PyObject *
layout_whole(PyObject *self, PyObject *dims)
{
    const dt_layout *layout = ext_layout_in(self);
    int64_t named[DT_MAX_NDIM];
    bool whole[DT_MAX_NDIM] = {false};
    int count = ext_shape(named, dims, "whole");
    if (count < 0)
        return NULL;
    for (int k = 0; k < count; k++) {
        if (named[k] < 0 || named[k] >= layout->ndim)
            return PyErr_Format(PyExc_IndexError,
                                "whole: a tensor of %d dimensions has no dimension %R",
                                layout->ndim, dims);
        whole[named[k]] = true;
    }
    dt_layout *with = NULL;
    dt_error err;
    dt_status status = dt_layout_whole(&with, layout, whole, &err);
    return (PyObject *)derived((LayoutObject *)self, status, with, &err);
}

/* Reads {dim: dim of the other} into dims, -1 where there is none; -1 on error. */
static int
read_dims(int *dims, int ndim, int other_ndim, PyObject *dict)
{
    for (int d = 0; d < ndim; d++)
        dims[d] = -1;
    PyObject *key, *value;
    Py_ssize_t place = 0;
    while (PyDict_Next(dict, &place, &key, &value)) {
        long from = PyLong_AsLong(key);
        long to = from == -1 && PyErr_Occurred() ? -1 : PyLong_AsLong(value);
        if (PyErr_Occurred())
            return -1;
        if (from < 0 || from >= ndim || to < 0 || to >= other_ndim)
            return ext_fail(PyExc_IndexError,
                            "like: a tensor of %d dimensions has no dimension %ld, or "
                            "one of %d none that is %ld",
                            ndim, from, other_ndim, to);
        dims[from] = (int)to;
    }
    return 0;
}

static PyObject *
layout_like(PyObject *self, PyObject *args, PyObject *kwargs)
{
    static char *keywords[] = {"shape", "dims", "dtype", "partial", NULL};
    const dt_layout *layout = ext_layout_in(self);
    PyObject *shape, *pairs, *dtype = Py_None;
    int partial = 0, dims[DT_MAX_NDIM];
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "OO!|O$p:like", keywords, &shape,
                                     &PyDict_Type, &pairs, &dtype, &partial))
        return NULL;
    int64_t lengths[DT_MAX_NDIM];
    dt_dtype element;
    int ndim = ext_shape(lengths, shape, "like");
    if (ndim < 0 || read_dims(dims, layout->ndim, ndim, pairs) < 0 ||
        ext_dtype_like(&element, dtype, layout->dtype, "like") < 0)
        return NULL;
    dt_layout *like = NULL;
    dt_error err;
    dt_status status =
        dt_layout_like(&like, layout, dims, ndim, lengths, element, partial != 0, &err);
    return (PyObject *)derived((LayoutObject *)self, status, like, &err);
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
    "    Dimension of this tensor -> dimension of the other. Cut points go along if "
    "the\n"
    "    two have the same length. What cuts a dimension that is not among them\n"
    "    replicates the other tensor.\n"
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

/* For pickle: what the constructor is to be called with. */
static PyObject *
layout_new_arguments(PyObject *self, PyObject *Py_UNUSED(none))
{
    static const char *names[] = {"mesh",  "placements",  "shape",
                                  "dtype", "shard_order", "cuts"};
    PyObject *values[6];
    int found = 0;
    while (found < 6 &&
           (values[found] = PyObject_GetAttrString(self, names[found])) != NULL)
        found++;
    if (found == 6)
        return Py_BuildValue("(NNNN){sNsN}", values[0], values[1], values[2], values[3],
                             names[4], values[4], names[5], values[5]);
    while (found-- > 0)
        Py_DECREF(values[found]);
    return NULL;
}

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
    {"__getnewargs_ex__", layout_new_arguments, METH_NOARGS,
     "__getnewargs_ex__($self)\n--\n\nReturn the arguments that make it again."},
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
    .tp_clear = layout_clear,
    .tp_methods = layout_methods,
    .tp_members = ext_layout_members,
    .tp_getset = ext_layout_attributes,
    .tp_str = layout_str,
    .tp_repr = layout_repr,
    .tp_weaklistoffset = offsetof(LayoutObject, weakrefs),
};
