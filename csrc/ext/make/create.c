/* Tensors from numbers: tensor and as_tensor of this rank, zeros, ones, empty and full
 * spread over a mesh, of which every rank makes its own part only. */
#include "ext/make/make.h"

#include <string.h>

enum { RELEASE_GIL_FROM = 1 << 16 }; /* bytes */

/* --- of this rank --- */

/* A Tensor of this rank's array, which it steals, or NULL with an exception; the others
 * have made theirs. */
static PyObject *
own_tensor(PyObject *array, const char *what)
{
    PyObject *made = array == NULL ? NULL : ext_tensor(array);
    if (made == NULL)
        ext_local_failed(ext_local_name(what), what);
    else
        ext_local_done(ext_local_name(what));
    return made;
}

static PyObject *
tensor(PyObject *Py_UNUSED(module), PyObject *const *args, Py_ssize_t nargs,
       PyObject *kwnames)
{
    static const ext_signature signature =
        EXT_SIGNATURE("tensor", 3, 3, 1, "data", "dtype", "requires_grad");
    PyObject *given[3];
    bool grad = false;
    if (ext_arguments(given, &signature, args, nargs, kwnames) < 0 ||
        ext_argument_bool(&grad, given[2]) < 0)
        return NULL;
    PyObject *array = ext_array_of_numbers(given[0], given[1], "tensor");
    PyObject *copy = NULL;
    if (array != NULL && ext_check_grad(grad, (PyArrayObject *)array) == 0)
        copy = ext_array_copy((PyArrayObject *)array);
    Py_XDECREF(array);
    PyObject *result = own_tensor(copy, "tensor");
    if (result != NULL)
        ((TensorObject *)result)->requires_grad = grad;
    return result;
}

PyDoc_STRVAR(
    tensor_doc,
    "tensor($module, /, data, dtype=None, requires_grad=False)\n--\n\n"
    "Make a Tensor of this rank from a copy of the data.\n\n"
    "Parameters\n----------\n"
    "data : array_like\n"
    "    A Tensor, an array, or numbers. Python's own floats get the default dtype.\n"
    "dtype : dtype_like, optional\n"
    "    The wanted element type; default: that of `data`.\n"
    "requires_grad : bool, default False\n"
    "    Whether operations on it are recorded; float and complex only.\n\n"
    "Returns\n-------\n"
    "Tensor\n    In C order.\n\n"
    "Raises\n------\n"
    "TypeError\n"
    "    If the elements are neither numbers nor booleans. On this rank only.\n"
    "RuntimeError\n"
    "    If gradients of integers or booleans are asked for, or `data` is a DTensor.\n"
    "    On this rank only.\n");

static PyObject *
as_tensor(PyObject *Py_UNUSED(module), PyObject *const *args, Py_ssize_t nargs,
          PyObject *kwnames)
{
    static const ext_signature signature =
        EXT_SIGNATURE("as_tensor", 2, 2, 1, "data", "dtype");
    PyObject *given[2];
    if (ext_arguments(given, &signature, args, nargs, kwnames) < 0)
        return NULL;
    PyObject *array = ext_array_of_numbers(given[0], given[1], "as_tensor");
    if (array != NULL && ext_is_tensor(given[0]) &&
        ((TensorObject *)given[0])->array == array) {
        Py_DECREF(array);
        return Py_NewRef(given[0]);
    }
    return own_tensor(array, "as_tensor");
}

PyDoc_STRVAR(
    as_tensor_doc,
    "as_tensor($module, /, data, dtype=None)\n--\n\n"
    "Make a Tensor of this rank that shares the array, where it is one.\n\n"
    "Parameters\n----------\n"
    "data : array_like\n"
    "    A Tensor, which is returned as it is, an array, or numbers.\n"
    "dtype : dtype_like, optional\n"
    "    The wanted element type; another one than that of `data` makes a copy.\n\n"
    "Returns\n-------\n"
    "Tensor\n    Of the shape of `data`.\n\n"
    "Raises\n------\n"
    "TypeError\n"
    "    If the elements are neither numbers nor booleans. On this rank only.\n"
    "RuntimeError\n"
    "    If `data` is a DTensor. On this rank only.\n");

static PyObject *
get_default_dtype(PyObject *Py_UNUSED(module), PyObject *Py_UNUSED(ignored))
{
    return (PyObject *)ext_descr(ext_default_dtype);
}

PyDoc_STRVAR(get_default_dtype_doc,
             "get_default_dtype($module, /)\n--\n\n"
             "Return the dtype that Python's floats and factories get by default.\n");

static PyObject *
set_default_dtype(PyObject *Py_UNUSED(module), PyObject *object)
{
    dt_dtype dtype;
    if (ext_dtype_like(&dtype, object, ext_default_dtype, "set_default_dtype") < 0)
        return NULL;
    if (dt_dtype_kind(dtype) != 'f')
        return PyErr_Format(
            PyExc_TypeError,
            "set_default_dtype: only floating-point types are supported as "
            "the default type, not %s",
            dt_dtype_name(dtype));
    ext_default_dtype = dtype;
    Py_RETURN_NONE;
}

PyDoc_STRVAR(set_default_dtype_doc,
             "set_default_dtype($module, dtype, /)\n--\n\n"
             "Set the dtype that Python's floats and factories get by default.\n\n"
             "Parameters\n----------\n"
             "dtype : dtype_like\n    A floating-point type; at start float32.\n\n"
             "Raises\n------\n"
             "TypeError\n    If it is no floating-point type.\n");

/* --- spread over a mesh --- */

enum { DTYPE, LAYOUT, REQUIRES_GRAD, MESH, PLACEMENTS, OPTIONS };

typedef struct {
    const char *what;
    MeshObject *mesh; /* owned */
    dt_placement placements[DT_MESH_MAX_NDIM];
    int ndim;
    int64_t shape[DT_MAX_NDIM];
    dt_dtype dtype;
    bool requires_grad;
    PyObject *value; /* what it is filled with, borrowed; NULL: nothing */
    bool infer;      /* the dtype from the value */
} recipe;

/* The dtype that torch gives to an array filled with a value. */
static int
dtype_of_value(dt_dtype *out, PyObject *value, const char *what)
{
    dt_dtype own;
    if (ext_dtype_of(&own, value, what) < 0)
        return -1;
    switch (dt_dtype_kind(own)) {
    case 'b':
        *out = DT_BOOL;
        break;
    case 'f':
        *out = ext_default_dtype;
        break;
    case 'c':
        *out = ext_default_dtype == DT_FLOAT64      ? DT_COMPLEX128
               : ext_default_dtype == DT_LONGDOUBLE ? DT_CLONGDOUBLE
                                                    : DT_COMPLEX64;
        break;
    default:
        *out = DT_INT64;
    }
    return 0;
}

static int
check_strided(PyObject *layout)
{
    if (layout == NULL || layout == Py_None)
        return 0;
    PyObject *text = PyObject_Str(layout);
    if (text == NULL)
        return -1;
    bool strided = PyUnicode_CompareWithASCIIString(text, "strided") == 0 ||
                   PyUnicode_CompareWithASCIIString(text, "torch.strided") == 0;
    if (!strided)
        PyErr_Format(
            PyExc_AssertionError,
            "layout value not supported! Arrays are strided, not %U; a mesh and "
            "placements are given as device_mesh= and placements=",
            text);
    Py_DECREF(text);
    return strided ? 0 : -1;
}

static int
read_placements(recipe *r, PyObject *placements)
{
    const dt_mesh *mesh = r->mesh->mesh;
    if (placements != NULL && placements != Py_None && PySequence_Check(placements) &&
        PySequence_Size(placements) != mesh->ndim)
        return ext_fail(PyExc_AssertionError,
                        "mesh dimension does not match the length of placements: %s "
                        "got %zd placements for a mesh of %d dimensions",
                        r->what, PySequence_Size(placements), mesh->ndim);
    return ext_placements(r->placements, mesh, placements, r->what);
}

static int
read_options(recipe *r, PyObject *const *given)
{
    r->mesh = ext_argument_mesh(given[MESH], r->what);
    if (r->mesh == NULL || check_strided(given[LAYOUT]) < 0 ||
        read_placements(r, given[PLACEMENTS]) < 0 ||
        ext_argument_bool(&r->requires_grad, given[REQUIRES_GRAD]) < 0)
        return -1;
    bool dtype_given = given[DTYPE] != NULL && given[DTYPE] != Py_None;
    if (dtype_given)
        return ext_dtype_like(&r->dtype, given[DTYPE], ext_default_dtype, r->what);
    return r->infer ? dtype_of_value(&r->dtype, r->value, r->what) : 0;
}

/* Fills an array of the library's own with one value. */
static int
fill(PyArrayObject *array, PyObject *value)
{
    PyArray_Descr *descr = (PyArray_Descr *)Py_NewRef((PyObject *)PyArray_DESCR(array));
    PyObject *element = PyArray_FromAny(
        value, descr, 0, 0, NPY_ARRAY_CARRAY_RO | NPY_ARRAY_FORCECAST, NULL);
    if (element == NULL)
        return -1;
    if (PyArray_SIZE((PyArrayObject *)element) != 1) {
        PyErr_SetString(PyExc_ValueError, "full: fill_value must be a single number");
        Py_DECREF(element);
        return -1;
    }
    const void *source = PyArray_DATA((PyArrayObject *)element);
    void *target = PyArray_DATA(array);
    size_t itemsize = (size_t)PyArray_ITEMSIZE(array);
    int64_t count = PyArray_SIZE(array);
    PyThreadState *state =
        PyArray_NBYTES(array) >= RELEASE_GIL_FROM ? PyEval_SaveThread() : NULL;
    dt_fill(target, source, itemsize, count);
    if (state != NULL)
        PyEval_RestoreThread(state);
    Py_DECREF(element);
    return 0;
}

/* This rank's part, all of one value. */
static PyObject *
filled_part(const recipe *r, const dt_layout *layout, int64_t rank)
{
    PyObject *array = ext_part(layout, rank);
    if (array != NULL && r->value != NULL && fill((PyArrayObject *)array, r->value) < 0)
        Py_CLEAR(array);
    return array;
}

/* This rank's addend: made of the value without Partial, as redistribute does it. */
static PyObject *
partial_part(const recipe *r, const dt_layout *layout, int64_t rank)
{
    dt_placement placements[DT_MESH_MAX_NDIM];
    for (int m = 0; m < layout->mesh->ndim; m++)
        placements[m] = dt_placement_dual(r->placements[m]);
    const dt_layout *whole =
        ext_layout_make(layout->mesh, placements, r->ndim, r->shape, r->dtype);
    PyObject *array = whole == NULL ? NULL : filled_part(r, whole, rank);
    PyObject *part =
        array == NULL ? NULL : ext_move_one(array, whole, layout, r->what, 0);
    Py_XDECREF(array);
    dt_layout_release(ext_context, whole);
    return part;
}

/* Who makes it says what it holds: it may be made by one rank alone. */
static uint64_t
lineage_of(const recipe *r)
{
    uint64_t hash =
        dt_hash((uint64_t)r->dtype, r->shape, sizeof *r->shape * (size_t)r->ndim);
    if (r->value != NULL)
        hash = ext_lineage_add(hash, r->value);
    if (r->mesh->mesh->size > 1)
        ext_journal_note(hash, PyUnicode_FromString(r->what), r->value, hash, true, 0);
    return hash;
}

static PyObject *
make_whole(recipe *r)
{
    dt_world *world = ext_world(r->mesh->mesh, r->what);
    const dt_layout *layout = world == NULL
                                  ? NULL
                                  : ext_layout_make(r->mesh->mesh, r->placements,
                                                    r->ndim, r->shape, r->dtype);
    if (layout == NULL)
        return NULL;
    int64_t rank = world->transport->rank;
    PyObject *array = layout->has_partial && r->value != NULL
                          ? partial_part(r, layout, rank)
                          : filled_part(r, layout, rank);
    if (array != NULL && ext_check_grad(r->requires_grad, (PyArrayObject *)array) < 0)
        Py_CLEAR(array);
    PyObject *made = ext_dtensor_new(array, layout, r->mesh, r->requires_grad);
    if (made != NULL)
        return ext_with_lineage(made, lineage_of(r));
    if (PyErr_ExceptionMatches(PyExc_MemoryError) && r->mesh->mesh->size > 1) {
        dt_error error;
        ext_catch(&error);
        uint64_t lineage = lineage_of(r);
        ext_raise(&error);
        ext_note_failure(r->mesh->mesh, lineage, r->what);
    }
    return NULL;
}

/* `*size` or a sequence; -1 with an exception. */
static int
read_size(recipe *r, PyObject *const *args, Py_ssize_t nargs)
{
    if (nargs == 1)
        r->ndim = ext_shape(r->shape, args[0], r->what);
    else {
        PyObject *sizes = ext_tuple_of(args, nargs);
        r->ndim = sizes == NULL ? -1 : ext_shape(r->shape, sizes, r->what);
        Py_XDECREF(sizes);
    }
    return r->ndim < 0 ? -1 : 0;
}

static PyObject *
make(recipe *r, PyObject *const *given)
{
    r->dtype = ext_default_dtype;
    PyObject *result = read_options(r, given) < 0 ? NULL : make_whole(r);
    Py_XDECREF(r->mesh);
    return result;
}

/* zeros, ones and empty: all positional arguments are lengths. */
static PyObject *
make_sized(const char *what, PyObject *value, PyObject *const *args, Py_ssize_t nargs,
           PyObject *kwnames)
{
    ext_signature signature =
        EXT_SIGNATURE(what, OPTIONS, 0, 0, "dtype", "layout", "requires_grad",
                      "device_mesh", "placements");
    PyObject *given[OPTIONS];
    recipe r = {.what = what, .value = value};
    if (read_size(&r, args, nargs) < 0 ||
        ext_arguments(given, &signature, args + nargs, 0, kwnames) < 0)
        return NULL;
    return make(&r, given);
}

static PyObject *
zeros(PyObject *Py_UNUSED(module), PyObject *const *args, Py_ssize_t nargs,
      PyObject *kwnames)
{
    return make_sized("zeros", Py_False, args, nargs, kwnames);
}

static PyObject *
ones(PyObject *Py_UNUSED(module), PyObject *const *args, Py_ssize_t nargs,
     PyObject *kwnames)
{
    return make_sized("ones", Py_True, args, nargs, kwnames);
}

static PyObject *
empty(PyObject *Py_UNUSED(module), PyObject *const *args, Py_ssize_t nargs,
      PyObject *kwnames)
{
    return make_sized("empty", NULL, args, nargs, kwnames);
}

static PyObject *
full(PyObject *Py_UNUSED(module), PyObject *const *args, Py_ssize_t nargs,
     PyObject *kwnames)
{
    static const ext_signature signature =
        EXT_SIGNATURE("full", OPTIONS + 2, 2, 2, "size", "fill_value", "dtype",
                      "layout", "requires_grad", "device_mesh", "placements");
    PyObject *given[OPTIONS + 2];
    recipe r = {.what = "full", .infer = true};
    if (ext_arguments(given, &signature, args, nargs, kwnames) < 0 ||
        read_size(&r, given, 1) < 0)
        return NULL;
    r.value = given[1];
    return make(&r, given + 2);
}

#define FACTORY_OPTIONS                                                                \
    "dtype : dtype_like, optional\n"                                                   \
    "    The element type; default: `get_default_dtype`, for full that of the "        \
    "value.\n"                                                                         \
    "layout : optional\n"                                                              \
    "    For torch's sake: only ``'strided'``.\n"                                      \
    "requires_grad : bool, default False\n"                                            \
    "    Whether operations on it are recorded; float and complex only.\n"             \
    "device_mesh : DeviceMesh, optional\n"                                             \
    "    Default: the one of the ``with mesh:`` block.\n"                              \
    "placements : sequence of Placement, length ``device_mesh.ndim``, optional\n"      \
    "    How each mesh dimension holds it; default: Replicate on all. Of a Partial\n"  \
    "    coordinate 0 has the value and the others what adds nothing.\n\n"             \
    "Returns\n-------\n"                                                               \
    "DTensor\n"                                                                        \
    "    Only this rank's part is allocated, and nothing is sent.\n\n"                 \
    "Raises\n------\n"                                                                 \
    "AssertionError\n"                                                                 \
    "    If there is not one placement for each mesh dimension.\n"                     \
    "IndexError\n"                                                                     \
    "    If a Shard names a dimension that the tensor lacks.\n"                        \
    "ValueError\n"                                                                     \
    "    If a length is negative.\n"                                                   \
    "RuntimeError\n"                                                                   \
    "    If there is no mesh, or gradients of integers or booleans are asked for.\n\n" \
    "Notes\n-----\n"                                                                   \
    "All of these are raised on every rank that makes the same call.\n"

#define SIZED_DOC(name, contents)                                                      \
    name "($module, /, *size, dtype=None, layout=None, requires_grad=False, "          \
         "device_mesh=None, placements=None)\n--\n\n"                                  \
         "Make a DTensor " contents ".\n\n"                                            \
         "Parameters\n----------\n"                                                    \
         "*size : int, or one sequence of int\n"                                       \
         "    The global shape, in elements.\n" FACTORY_OPTIONS

PyDoc_STRVAR(zeros_doc, SIZED_DOC("zeros", "full of zeros"));
PyDoc_STRVAR(ones_doc, SIZED_DOC("ones", "full of ones"));
PyDoc_STRVAR(empty_doc, SIZED_DOC("empty", "whose elements are arbitrary"));
PyDoc_STRVAR(full_doc, "full($module, /, size, fill_value, *, dtype=None, layout=None, "
                       "requires_grad=False, device_mesh=None, placements=None)\n--\n\n"
                       "Make a DTensor full of one value.\n\n"
                       "Parameters\n----------\n"
                       "size : int or sequence of int\n"
                       "    The global shape, in elements.\n"
                       "fill_value : scalar\n"
                       "    The value of every element.\n" FACTORY_OPTIONS);

PyMethodDef ext_create_methods[] = {
    {"tensor", EXT_FAST(tensor), tensor_doc},
    {"as_tensor", EXT_FAST(as_tensor), as_tensor_doc},
    {"get_default_dtype", get_default_dtype, METH_NOARGS, get_default_dtype_doc},
    {"set_default_dtype", set_default_dtype, METH_O, set_default_dtype_doc},
    {"zeros", EXT_FAST(zeros), zeros_doc},
    {"ones", EXT_FAST(ones), ones_doc},
    {"empty", EXT_FAST(empty), empty_doc},
    {"full", EXT_FAST(full), full_doc},
    {"distribute_tensor", EXT_FAST(ext_distribute_tensor), ext_distribute_tensor_doc},
    {"from_callback", EXT_FAST(ext_from_callback), ext_from_callback_doc},
    {NULL, NULL, 0, NULL},
};
