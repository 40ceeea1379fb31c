/* mesh.c: Mesh, the base class of dtensor.DeviceMesh. */
#include "ext/types/types.h"

#include <string.h>

static const dt_mesh *
mesh_in(PyObject *self)
{
    return ((MeshObject *)self)->mesh;
}

/* --- construction --- */

/* The arguments of Mesh(), as dt_mesh_make takes them. */
typedef struct {
    int ndim, world;
    int64_t shape[DT_MAX_NDIM];
    PyArrayObject *ranks; /* int64, C order; or NULL */
    PyObject *names;      /* tuple or list of str; or NULL */
    const char *texts[DT_MAX_NDIM];
} mesh_arguments;

/* True if the shape has exactly `count` places. */
static bool
shape_has(const mesh_arguments *a, int64_t count)
{
    int64_t size = 1;
    for (int d = 0; d < a->ndim; d++)
        if (__builtin_mul_overflow(size, a->shape[d], &size))
            return false;
    return size == count;
}

static int
read_ranks(mesh_arguments *a, PyObject *object)
{
    if (object == Py_None)
        return 0;
    PyArrayObject *any = (PyArrayObject *)PyArray_FROM_O(object);
    if (any == NULL)
        return -1;
    if (!PyArray_ISINTEGER(any)) {
        PyErr_Format(PyExc_TypeError, "Mesh: ranks must be integers, not of dtype %S",
                     PyArray_DESCR(any));
        Py_DECREF(any);
        return -1;
    }
    a->ranks = (PyArrayObject *)PyArray_FROMANY((PyObject *)any, NPY_INT64, 0, 0,
                                                NPY_ARRAY_CARRAY | NPY_ARRAY_FORCECAST);
    Py_DECREF(any);
    if (a->ranks == NULL)
        return -1;
    if (shape_has(a, PyArray_SIZE(a->ranks)))
        return 0;
    PyObject *shape = ext_tuple(a->shape, a->ndim);
    if (shape != NULL)
        PyErr_Format(PyExc_ValueError, "Mesh: %zd ranks do not fill a mesh of shape %S",
                     (Py_ssize_t)PyArray_SIZE(a->ranks), shape);
    Py_XDECREF(shape);
    return -1;
}

static int
read_names(mesh_arguments *a, PyObject *object)
{
    if (object == Py_None)
        return 0;
    if (PyUnicode_Check(object) || !PySequence_Check(object))
        return ext_fail(
            PyExc_TypeError,
            "Mesh: names must be a sequence of str, such as ('dp', 'tp'), not %R",
            object);
    a->names = PySequence_Fast(object, "names must be a sequence of str");
    if (a->names == NULL)
        return -1;
    Py_ssize_t count = PySequence_Fast_GET_SIZE(a->names);
    if (count != a->ndim)
        return ext_fail(PyExc_RuntimeError,
                        "mesh_shape and mesh_dim_names should have same length! Found "
                        "len(mesh_dim_names): %zd, len(mesh_shape): %d.",
                        count, a->ndim);
    for (Py_ssize_t d = 0; d < count; d++) {
        PyObject *name = PySequence_Fast_GET_ITEM(a->names, d);
        if (!PyUnicode_Check(name))
            return ext_fail(PyExc_TypeError, "Mesh: a name must be a str, not %R",
                            name);
        a->texts[d] = PyUnicode_AsUTF8(name);
        if (a->texts[d] == NULL)
            return -1;
    }
    return 0;
}

const dt_mesh *
ext_mesh_made(int ndim, const int64_t *shape, const int64_t *ranks,
              const char *const *names, int world)
{
    dt_mesh *mesh;
    const dt_mesh *interned;
    dt_error err;
    if (dt_mesh_make(&mesh, ndim, shape, ranks, names, world, &err) != DT_OK ||
        dt_context_mesh(&interned, ext_context, mesh, &err) != DT_OK)
        return ext_raise(&err);
    return interned;
}

static PyObject *
mesh_new(PyTypeObject *type, PyObject *args, PyObject *kwargs)
{
    static char *keywords[] = {"shape", "ranks", "names", "world", NULL};
    PyObject *shape, *ranks = Py_None, *names = Py_None;
    mesh_arguments a = {0};
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "O|OOi:Mesh", keywords, &shape,
                                     &ranks, &names, &a.world))
        return NULL;
    a.ndim = ext_shape(a.shape, shape, "Mesh");
    const dt_mesh *mesh = NULL;
    if (a.ndim >= 0 && read_ranks(&a, ranks) == 0 && read_names(&a, names) == 0)
        mesh = ext_mesh_made(a.ndim, a.shape,
                             a.ranks != NULL ? PyArray_DATA(a.ranks) : NULL,
                             a.names != NULL ? a.texts : NULL, a.world);
    Py_XDECREF(a.ranks);
    Py_XDECREF(a.names);
    if (mesh == NULL)
        return NULL;
    MeshObject *self = (MeshObject *)type->tp_alloc(type, 0);
    if (self == NULL)
        dt_mesh_release(ext_context, mesh);
    else
        self->mesh = mesh;
    return (PyObject *)self;
}

static int
mesh_traverse(PyObject *self, visitproc visit, void *arg)
{
    Py_VISIT(((MeshObject *)self)->dict);
    return 0;
}

static int
mesh_clear(PyObject *self)
{
    Py_CLEAR(((MeshObject *)self)->dict);
    return 0;
}

static void
mesh_dealloc(PyObject *self)
{
    PyObject_GC_UnTrack(self);
    if (((MeshObject *)self)->weakrefs != NULL)
        PyObject_ClearWeakRefs(self);
    mesh_clear(self);
    if (mesh_in(self) != NULL)
        dt_mesh_release(ext_context, mesh_in(self));
    Py_TYPE(self)->tp_free(self);
}

/* --- attributes --- */

static PyObject *
get_shape(PyObject *self, void *Py_UNUSED(closure))
{
    return ext_tuple(mesh_in(self)->shape, mesh_in(self)->ndim);
}

static PyObject *
get_ndim(PyObject *self, void *Py_UNUSED(closure))
{
    return PyLong_FromLong(mesh_in(self)->ndim);
}

static PyObject *
get_ranks(PyObject *self, void *Py_UNUSED(closure))
{
    const dt_mesh *mesh = mesh_in(self);
    PyObject *array = ext_array(mesh->ndim, mesh->shape, DT_INT64);
    if (array == NULL)
        return NULL;
    int64_t *ranks = PyArray_DATA((PyArrayObject *)array);
    for (int64_t k = 0; k < mesh->size; k++)
        ranks[k] = dt_mesh_rank(mesh, k);
    return array;
}

static PyObject *
get_names(PyObject *self, void *Py_UNUSED(closure))
{
    const dt_mesh *mesh = mesh_in(self);
    if (!mesh->named)
        Py_RETURN_NONE;
    PyObject *names = PyTuple_New(mesh->ndim);
    for (int d = 0; names != NULL && d < mesh->ndim; d++)
        ext_put(&names, d, PyUnicode_FromString(mesh->names[d]));
    return names;
}

static PyObject *
get_world(PyObject *self, void *Py_UNUSED(closure))
{
    return PyLong_FromLong(mesh_in(self)->world);
}

static PyObject *
get_size(PyObject *self, void *Py_UNUSED(closure))
{
    return PyLong_FromLongLong(mesh_in(self)->size);
}

/* --- methods --- */

static PyObject *
mesh_index(PyObject *self, PyObject *object)
{
    int64_t rank = PyLong_AsLongLong(object);
    if (rank == -1 && PyErr_Occurred())
        return NULL;
    return PyLong_FromLongLong(dt_mesh_index(mesh_in(self), rank));
}

static PyObject *
mesh_coordinate(PyObject *self, PyObject *object)
{
    int64_t rank = PyLong_AsLongLong(object);
    if (rank == -1 && PyErr_Occurred())
        return NULL;
    const dt_mesh *mesh = mesh_in(self);
    int64_t coordinate[DT_MESH_MAX_NDIM];
    if (!dt_mesh_find(coordinate, mesh, rank))
        Py_RETURN_NONE;
    return ext_tuple(coordinate, mesh->ndim);
}

static PyObject *
mesh_same_ranks(PyObject *self, PyObject *other)
{
    if (!PyObject_TypeCheck(other, &ext_mesh_type))
        return PyErr_Format(PyExc_TypeError, "same_ranks: expected a Mesh, not %R",
                            other);
    return PyBool_FromLong(dt_mesh_same_ranks(mesh_in(self), mesh_in(other)));
}

static PyObject *
mesh_compare(PyObject *a, PyObject *b, int op)
{
    if ((op != Py_EQ && op != Py_NE) || !PyObject_TypeCheck(b, &ext_mesh_type))
        Py_RETURN_NOTIMPLEMENTED;
    return PyBool_FromLong((mesh_in(a) == mesh_in(b)) == (op == Py_EQ));
}

static Py_hash_t
mesh_hash(PyObject *self)
{
    Py_hash_t hash = (Py_hash_t)mesh_in(self)->hash;
    return hash == -1 ? -2 : hash;
}

static PyObject *
mesh_repr(PyObject *self)
{
    PyObject *shape = get_shape(self, NULL);
    PyObject *names = get_names(self, NULL);
    PyObject *text = NULL;
    if (shape != NULL && names != NULL)
        text = names == Py_None
                   ? PyUnicode_FromFormat("Mesh(%R)", shape)
                   : PyUnicode_FromFormat("Mesh(%R, names=%R)", shape, names);
    Py_XDECREF(shape);
    Py_XDECREF(names);
    return text;
}

static const char mesh_doc[] =
    "Mesh(shape, ranks=None, names=None, world=0)\n--\n\n"
    "A grid of ranks: geometry only. The base of `DeviceMesh`.\n\n"
    "Parameters\n----------\n"
    "shape : int or sequence of int\n    Lengths of the dimensions, at least 1.\n"
    "ranks : array_like of int, optional\n"
    "    Distinct ranks in row-major order; by default 0, 1, 2, ...\n"
    "names : sequence of str, optional\n    Distinct names of the dimensions.\n"
    "world : int, default 0\n"
    "    Number of the world that the ranks belong to; 0: none, for planning only.\n\n"
    "Raises\n------\n"
    "ValueError\n"
    "    If a length is below 1, or the ranks do not fill the shape, are negative or\n"
    "    repeat.\n"
    "RuntimeError\n"
    "    If names repeat, are empty or too long, or are not one per dimension.\n\n"
    "Notes\n-----\n"
    "Meshes are equal if their shape, ranks, names and world are.";

static PyMethodDef mesh_methods[] = {
    {"index", mesh_index, METH_O,
     "index($self, rank, /)\n--\n\n"
     "Return the place of a rank in row-major order, -1 if the mesh lacks it."},
    {"coordinate", mesh_coordinate, METH_O,
     "coordinate($self, rank, /)\n--\n\n"
     "Return the coordinate of a rank, None if the mesh lacks it."},
    {"same_ranks", mesh_same_ranks, METH_O,
     "same_ranks($self, other, /)\n--\n\n"
     "Return whether another mesh has the same shape, ranks and world; names may "
     "differ."},
    {0},
};

static PyGetSetDef mesh_attributes[] = {
    {"shape", get_shape, NULL, "Lengths of the dimensions.", NULL},
    {"ndim", get_ndim, NULL, "Number of dimensions.", NULL},
    {"ranks", get_ranks, NULL, "The ranks, as a new int64 array of the mesh's shape.",
     NULL},
    {"names", get_names, NULL, "Names of the dimensions, or None.", NULL},
    {"world", get_world, NULL, "Number of the world of the ranks; 0: none.", NULL},
    {"_size", get_size, NULL, "Number of ranks.", NULL},
    {0},
};

PyTypeObject ext_mesh_type = {
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = "dtensor._C.Mesh",
    .tp_basicsize = sizeof(MeshObject),
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_HAVE_GC,
    .tp_doc = mesh_doc,
    .tp_new = mesh_new,
    .tp_dealloc = mesh_dealloc,
    .tp_traverse = mesh_traverse,
    .tp_clear = mesh_clear,
    .tp_methods = mesh_methods,
    .tp_getset = mesh_attributes,
    .tp_richcompare = mesh_compare,
    .tp_hash = mesh_hash,
    .tp_repr = mesh_repr,
    .tp_dictoffset = offsetof(MeshObject, dict),
    .tp_weaklistoffset = offsetof(MeshObject, weakrefs),
};

MeshObject *
ext_argument_mesh(PyObject *object, const char *what)
{
    PyObject *mesh;
    if (object == NULL || object == Py_None) {
        static PyObject *current;
        if (ext_import(&current, "dtensor._core.open_meshes", "current_mesh") == NULL)
            return NULL;
        mesh = PyObject_CallFunction(current, "s", what);
        if (mesh == NULL)
            return NULL;
    } else {
        mesh = Py_NewRef(object);
    }
    if (!PyObject_TypeCheck(mesh, &ext_mesh_type)) {
        PyErr_Format(PyExc_TypeError,
                     "%s: `device_mesh` must be a DeviceMesh, not %s (placements "
                     "go by name: placements=[...])",
                     what, Py_TYPE(mesh)->tp_name);
        Py_DECREF(mesh);
        return NULL;
    }
    return (MeshObject *)mesh;
}
