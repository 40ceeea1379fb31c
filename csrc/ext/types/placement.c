/* placement.c: Placement, Shard, Replicate, Partial, _StridedShard. */
#include "ext/types/types.h"

#include <string.h>

/* Common placements are made once: shards of dimensions -8 .. 7, and all others. */
enum { SHARED_DIMS = 8 };

static PyObject *shared_shards[2 * SHARED_DIMS];
static PyObject *shared_partials[DT_REDUCE_OP_COUNT];
static PyObject *shared_replicate;

static PyObject **
replicate_place(dt_placement Py_UNUSED(p))
{
    return &shared_replicate;
}

static PyObject **
shard_place(dt_placement p)
{
    bool common = p.split == 1 && p.dim >= -SHARED_DIMS && p.dim < SHARED_DIMS;
    return common ? &shared_shards[p.dim + SHARED_DIMS] : NULL;
}

static PyObject **
partial_place(dt_placement p)
{
    return &shared_partials[p.op];
}

/* The classes of each kind, and where the one object of a placement is kept, or NULL.
 */
static const struct {
    PyTypeObject *type, *strided;
    PyObject **(*place)(dt_placement);
} KINDS[] = {
    [DT_REPLICATE] = {&ext_replicate_type, NULL, replicate_place},
    [DT_SHARD] = {&ext_shard_type, &ext_strided_type, shard_place},
    [DT_PARTIAL] = {&ext_partial_type, NULL, partial_place},
};

_Static_assert(sizeof KINDS / sizeof *KINDS == DT_PLACEMENT_KIND_COUNT,
               "every kind of placement has a class");

static PyTypeObject *
type_of(dt_placement p)
{
    return p.split != 1 ? KINDS[p.kind].strided : KINDS[p.kind].type;
}

static PyObject *
placement_make(PyTypeObject *type, dt_placement placement)
{
    PlacementObject *self = (PlacementObject *)type->tp_alloc(type, 0);
    if (self != NULL)
        self->placement = placement;
    return (PyObject *)self;
}

PyObject *
ext_placement(dt_placement placement)
{
    PyObject **place = KINDS[placement.kind].place(placement);
    if (place != NULL && *place != NULL)
        return Py_NewRef(*place);
    PyObject *self = placement_make(type_of(placement), placement);
    if (place != NULL)
        *place = Py_XNewRef(self);
    return self;
}

/* A new object of a subclass, else of those that are shared. */
static PyObject *
placement_of(PyTypeObject *type, dt_placement placement)
{
    return type == type_of(placement) ? ext_placement(placement)
                                      : placement_make(type, placement);
}

static dt_placement
placement_in(PyObject *self)
{
    return ((PlacementObject *)self)->placement;
}

/* --- construction --- */

static PyObject *
placement_new(PyTypeObject *type, PyObject *Py_UNUSED(args),
              PyObject *Py_UNUSED(kwargs))
{
    dt_placement own = DT_REPLICATED;
    own.split = 0; /* of a class of the user's: equal to itself alone */
    return placement_make(type, own);
}

static PyObject *
shard_new(PyTypeObject *type, PyObject *args, PyObject *kwargs)
{
    static char *keywords[] = {"dim", NULL};
    PyObject *given;
    int dim;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "O:Shard", keywords, &given) ||
        ext_int(&dim, given, "Shard: `dim`") < 0)
        return NULL;
    return placement_of(type, DT_SHARDED(dim));
}

static PyObject *
strided_new(PyTypeObject *type, PyObject *args, PyObject *kwargs)
{
    static char *keywords[] = {"dim", "split_factor", NULL};
    int dim;
    long long split;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "i$L:_StridedShard", keywords, &dim,
                                     &split))
        return NULL;
    if (split < 1)
        return PyErr_Format(PyExc_ValueError,
                            "_StridedShard: split_factor must be at least 1, not %lld",
                            split);
    return placement_of(type, DT_STRIDED(dim, (int64_t)split));
}

static PyObject *
replicate_new(PyTypeObject *type, PyObject *args, PyObject *kwargs)
{
    static char *keywords[] = {NULL};
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, ":Replicate", keywords))
        return NULL;
    return placement_of(type, DT_REPLICATED);
}

static PyObject *
partial_new(PyTypeObject *type, PyObject *args, PyObject *kwargs)
{
    static char *keywords[] = {"reduce_op", NULL};
    const char *name = "sum";
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "|s:Partial", keywords, &name))
        return NULL;
    dt_reduce_op op;
    dt_error err;
    if (dt_reduce_op_parse(&op, name, &err) != DT_OK)
        return ext_raise(&err);
    return placement_of(type, DT_PENDING(op));
}

/* --- what all have --- */

static PyObject *
placement_is_shard(PyObject *self, PyObject *args, PyObject *kwargs)
{
    static char *keywords[] = {"dim", NULL};
    PyObject *dim = Py_None;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "|O:is_shard", keywords, &dim))
        return NULL;
    bool is = PyObject_TypeCheck(self, &ext_shard_type);
    if (is && dim != Py_None) {
        Py_ssize_t wanted = PyNumber_AsSsize_t(dim, NULL);
        if (wanted == -1 && PyErr_Occurred())
            return NULL;
        is = wanted == placement_in(self).dim;
    }
    return PyBool_FromLong(is);
}

static PyObject *
placement_is_replicate(PyObject *self, PyObject *Py_UNUSED(none))
{
    return PyBool_FromLong(PyObject_TypeCheck(self, &ext_replicate_type));
}

static PyObject *
placement_is_partial(PyObject *self, PyObject *args, PyObject *kwargs)
{
    static char *keywords[] = {"reduce_op", NULL};
    const char *name = NULL;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "|z:is_partial", keywords, &name))
        return NULL;
    bool is = PyObject_TypeCheck(self, &ext_partial_type);
    dt_reduce_op op;
    if (is && name != NULL)
        is =
            dt_reduce_op_parse(&op, name, NULL) == DT_OK && op == placement_in(self).op;
    return PyBool_FromLong(is);
}

/* For copy and pickle. */
static PyObject *
placement_new_arguments(PyObject *self, PyObject *Py_UNUSED(none))
{
    dt_placement p = placement_in(self);
    if (PyObject_TypeCheck(self, &ext_strided_type))
        return Py_BuildValue("(i){s:L}", p.dim, "split_factor", (long long)p.split);
    if (PyObject_TypeCheck(self, &ext_shard_type))
        return Py_BuildValue("(i){}", p.dim);
    if (PyObject_TypeCheck(self, &ext_partial_type))
        return Py_BuildValue("(s){}", dt_reduce_op_name(p.op));
    return Py_BuildValue("(){}");
}

static PyObject *
placement_compare(PyObject *a, PyObject *b, int op)
{
    if ((op != Py_EQ && op != Py_NE) || Py_TYPE(a) != Py_TYPE(b) ||
        placement_in(a).split == 0)
        Py_RETURN_NOTIMPLEMENTED;
    bool equal = dt_placement_equal(placement_in(a), placement_in(b));
    return PyBool_FromLong(equal == (op == Py_EQ));
}

static Py_hash_t
placement_hash(PyObject *self)
{
    dt_placement p = placement_in(self);
    if (p.split == 0)
        return PyBaseObject_Type.tp_hash(self);
    int64_t row[] = {(int64_t)p.kind, (int64_t)p.op, p.dim, p.split};
    Py_hash_t hash = (Py_hash_t)dt_hash(0, row, sizeof row);
    return hash == -1 ? -2 : hash;
}

static PyObject *
placement_repr(PyObject *self)
{
    dt_placement p = placement_in(self);
    const char *name = Py_TYPE(self)->tp_name;
    const char *dot = strrchr(name, '.');
    name = dot != NULL ? dot + 1 : name;
    if (PyObject_TypeCheck(self, &ext_strided_type))
        return PyUnicode_FromFormat("%s(dim=%d, sf=%lld)", name, p.dim,
                                    (long long)p.split);
    if (PyObject_TypeCheck(self, &ext_shard_type))
        return PyUnicode_FromFormat("%s(dim=%d)", name, p.dim);
    if (PyObject_TypeCheck(self, &ext_partial_type))
        return PyUnicode_FromFormat("%s(%s)", name, dt_reduce_op_name(p.op));
    return PyUnicode_FromFormat("%s()", name);
}

static PyObject *
placement_str(PyObject *self)
{
    char text[64];
    dt_placement p = placement_in(self);
    if (p.split == 0)
        return PyObject_Repr(self);
    if (PyObject_TypeCheck(self, &ext_strided_type))
        return PyUnicode_FromFormat("_S(%d, %lld)", p.dim, (long long)p.split);
    dt_placement_print(text, sizeof text, p);
    return PyUnicode_FromString(text);
}

static PyObject *
get_cut_dim(PyObject *self, void *Py_UNUSED(closure))
{
    int dim = dt_placement_cut(placement_in(self));
    if (dim == DT_NO_CUT)
        Py_RETURN_NONE;
    return PyLong_FromLong(dim);
}

static PyObject *
get_is_whole(PyObject *self, void *Py_UNUSED(closure))
{
    return PyBool_FromLong(dt_placement_whole(placement_in(self)));
}

static PyObject *
get_is_pending(PyObject *self, void *Py_UNUSED(closure))
{
    return PyBool_FromLong(dt_placement_pending(placement_in(self)));
}

static PyObject *
get_pending_op(PyObject *self, void *Py_UNUSED(closure))
{
    dt_placement p = placement_in(self);
    if (!dt_placement_pending(p))
        Py_RETURN_NONE;
    return PyUnicode_FromString(dt_reduce_op_name(p.op));
}

static PyGetSetDef placement_attributes[] = {
    {"_cut_dim", get_cut_dim, NULL,
     "The tensor dimension that is cut, whatever the kind; None: none is.", NULL},
    {"_is_whole", get_is_whole, NULL,
     "Whether every coordinate holds the whole, whatever the kind.", NULL},
    {"_is_pending", get_is_pending, NULL,
     "Whether every coordinate holds an addend, whatever the kind.", NULL},
    {"_pending_op", get_pending_op, NULL,
     "The name of the pending reduction, whatever the kind; None: none is.", NULL},
    {0},
};

static const char placement_doc[] =
    "Placement()\n--\n\n"
    "How one dimension of a mesh holds a tensor: the base of the three ways.\n\n"
    "See Also\n--------\n"
    "Shard : Every coordinate of the mesh dimension holds a chunk.\n"
    "Replicate : Every coordinate holds the whole.\n"
    "Partial : Every coordinate holds an addend.\n\n"
    "Notes\n-----\n"
    "Placements are immutable, hashable and equal by value; they are those of\n"
    "``torch.distributed.tensor``.";

static PyMethodDef placement_methods[] = {
    {"is_shard", EXT_KEYWORDS(placement_is_shard),
     "is_shard($self, dim=None)\n--\n\n"
     "Return whether this is a `Shard`, and of tensor dimension `dim` if that is "
     "given."},
    {"is_replicate", placement_is_replicate, METH_NOARGS,
     "is_replicate($self)\n--\n\nReturn whether this is a `Replicate`."},
    {"is_partial", EXT_KEYWORDS(placement_is_partial),
     "is_partial($self, reduce_op=None)\n--\n\n"
     "Return whether this is a `Partial`, and of `reduce_op` if that is given."},
    {"__getnewargs_ex__", placement_new_arguments, METH_NOARGS,
     "__getnewargs_ex__($self)\n--\n\nReturn what copies are made of."},
    {0},
};

PyTypeObject ext_placement_type = {
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = "dtensor.placement_types.Placement",
    .tp_basicsize = sizeof(PlacementObject),
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE,
    .tp_doc = placement_doc,
    .tp_new = placement_new,
    .tp_methods = placement_methods,
    .tp_getset = placement_attributes,
    .tp_richcompare = placement_compare,
    .tp_hash = placement_hash,
    .tp_repr = placement_repr,
    .tp_str = placement_str,
};

/* What the types of all kinds begin with. */
#define KIND(name)                                                                     \
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = "dtensor.placement_types." name,          \
                                .tp_base = &ext_placement_type,                        \
                                .tp_basicsize = sizeof(PlacementObject),               \
                                .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE

/* --- Shard --- */

static const char shard_doc[] =
    "Shard(dim)\n--\n\n"
    "Every coordinate of the mesh dimension holds one chunk of a tensor dimension.\n\n"
    "Parameters\n----------\n"
    "dim : int\n"
    "    The tensor dimension; negative ones count from the last.\n\n"
    "Notes\n-----\n"
    "Chunks are those of ``torch.chunk``: ``ceil(n / count)`` elements each until\n"
    "they run out, so the last may be short or empty. Nothing is padded. Where\n"
    "several mesh dimensions shard one tensor dimension, the leftmost cuts first.\n\n"
    "Examples\n--------\n"
    ">>> Shard(0)\n"
    "Shard(dim=0)\n"
    ">>> [Shard.local_shard_size_and_offset(10, 4, r) for r in range(4)]\n"
    "[(3, 0), (3, 3), (3, 6), (1, 9)]";

static PyMemberDef shard_members[] = {
    {"dim", T_INT, offsetof(PlacementObject, placement.dim), READONLY,
     "The tensor dimension that is sharded."},
    {0},
};

PyTypeObject ext_shard_type = {
    KIND("Shard"),
    .tp_doc = shard_doc,
    .tp_new = shard_new,
    .tp_methods = ext_shard_methods,
    .tp_members = shard_members,
};

/* --- _StridedShard --- */

static const char strided_doc[] =
    "_StridedShard(dim, *, split_factor)\n--\n\n"
    "A shard of pieces: the dimension is cut into pieces, and each is sharded.\n\n"
    "Parameters\n----------\n"
    "dim : int\n    The tensor dimension.\n"
    "split_factor : int\n"
    "    The number of pieces; every coordinate holds its chunk of each.\n\n"
    "Raises\n------\n"
    "ValueError\n    If `split_factor` is below 1.\n\n"
    "Notes\n-----\n"
    "This is how a tensor is described that was sharded from right to left, as by\n"
    "tensor parallelism first and FSDP second: `split_factor` is then the product of\n"
    "the lengths of the mesh dimensions to the right that shard `dim`. It is no\n"
    "`Shard`: ``is_shard()`` is False.";

static PyMemberDef strided_members[] = {
    {"dim", T_INT, offsetof(PlacementObject, placement.dim), READONLY,
     "The tensor dimension that is sharded."},
    {"split_factor", T_LONGLONG, offsetof(PlacementObject, placement.split), READONLY,
     "The number of pieces."},
    {0},
};

PyTypeObject ext_strided_type = {
    KIND("_StridedShard"),
    .tp_doc = strided_doc,
    .tp_new = strided_new,
    .tp_members = strided_members,
};

/* --- Replicate --- */

static const char replicate_doc[] =
    "Replicate()\n--\n\n"
    "Every coordinate of the mesh dimension holds the whole tensor.\n\n"
    "Examples\n--------\n"
    ">>> Replicate()\n"
    "Replicate()";

PyTypeObject ext_replicate_type = {
    KIND("Replicate"),
    .tp_doc = replicate_doc,
    .tp_new = replicate_new,
};

/* --- Partial --- */

static PyObject *
get_reduce_op(PyObject *self, void *Py_UNUSED(closure))
{
    return PyUnicode_FromString(dt_reduce_op_name(placement_in(self).op));
}

#define NAME(op, name, ...) "'" name "', "
#define NAMES DT_REDUCE_OPS(NAME)

static const char partial_doc[] =
    "Partial(reduce_op='sum')\n--\n\n"
    "Every coordinate of the mesh dimension holds an addend of the tensor.\n\n"
    "Parameters\n----------\n"
    "reduce_op : str, default 'sum'\n"
    "    How the addends become the value: " NAMES "or torch's name of one.\n\n"
    "Raises\n------\n"
    "ValueError\n    If there is no such reduction.\n\n"
    "Examples\n--------\n"
    ">>> Partial()\n"
    "Partial(sum)";

static PyGetSetDef partial_attributes[] = {
    {"reduce_op", get_reduce_op, NULL, "How the addends become the value.", NULL},
    {0},
};

PyTypeObject ext_partial_type = {
    KIND("Partial"),
    .tp_doc = partial_doc,
    .tp_new = partial_new,
    .tp_getset = partial_attributes,
};
