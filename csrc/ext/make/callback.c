/* from_callback: every rank asks a function of the user's for the boxes that it holds.
 */
#include "ext/make/make.h"

#include <string.h>

enum { SHAPE, MESH, PLACEMENTS, FUNCTION, DTYPE, ARGUMENTS };

static const char WHAT[] = "from_callback";

typedef struct {
    MeshObject *mesh; /* owned */
    dt_group *group;
    bool inside; /* of the mesh */
    int64_t coordinate[DT_MESH_MAX_NDIM];
    int ndim;
    int64_t shape[DT_MAX_NDIM];
    dt_placement placements[DT_MESH_MAX_NDIM];
    PyObject *function; /* borrowed */
    bool dtype_given;
    dt_dtype dtype;
    bool agreed;      /* the others make theirs */
    bool dtype_known; /* given, or that of what the function returned here */
    PyObject *array;  /* owned: this rank's part */
    dt_call call;
} request;

/* --- boxes --- */

/* (slice(0, 3), slice(4, 8)) */
static PyObject *
box_slices(const ext_boxes *b)
{
    PyObject *slices = PyTuple_New(b->ndim);
    for (int d = 0; d < b->ndim && slices != NULL; d++) {
        dt_range range = b->ranges[d][b->choice[d]];
        PyObject *start = PyLong_FromLongLong(range.start);
        PyObject *stop = PyLong_FromLongLong(range.start + range.size);
        PyObject *slice =
            start == NULL || stop == NULL ? NULL : PySlice_New(start, stop, NULL);
        Py_XDECREF(start);
        Py_XDECREF(stop);
        ext_put(&slices, d, slice);
    }
    return slices;
}

static int
check_box(const ext_boxes *b, PyArrayObject *array, PyObject *slices)
{
    bool fits = PyArray_NDIM(array) == b->ndim;
    for (int d = 0; fits && d < b->ndim; d++)
        fits = PyArray_DIM(array, d) == b->ranges[d][b->choice[d]].size;
    if (fits)
        return 0;
    PyObject *shape = PyObject_GetAttrString((PyObject *)array, "shape");
    if (shape != NULL)
        PyErr_Format(PyExc_ValueError,
                     "from_callback: the function returned an array of shape %R for %R",
                     shape, slices);
    Py_XDECREF(shape);
    return -1;
}

/* --- the part --- */

/* Copies an array into its box of the part. */
static int
put_box(request *r, const ext_boxes *b, PyArrayObject *array)
{
    PyArrayObject *part = (PyArrayObject *)r->array;
    npy_intp shape[DT_MAX_NDIM];
    char *start = PyArray_BYTES(part);
    for (int d = 0; d < b->ndim; d++) {
        shape[d] = PyArray_DIM(array, d);
        start += b->local[d] * PyArray_STRIDE(part, d);
    }
    PyArray_Descr *descr = (PyArray_Descr *)Py_NewRef((PyObject *)PyArray_DESCR(part));
    PyObject *box = PyArray_NewFromDescr(&PyArray_Type, descr, b->ndim, shape,
                                         PyArray_STRIDES(part), start,
                                         NPY_ARRAY_WRITEABLE | NPY_ARRAY_ALIGNED, NULL);
    if (box == NULL)
        return -1;
    ext_copy_into(box, array);
    Py_DECREF(box);
    return 0;
}

/* Calls the function for one box. The first result decides the dtype. */
static int
fill_box(request *r, const ext_boxes *b, const dt_layout *layout)
{
    PyObject *slices = box_slices(b);
    PyObject *result = slices == NULL ? NULL : PyObject_CallOneArg(r->function, slices);
    PyArray_Descr *wanted =
        result != NULL && r->dtype_known ? ext_descr(r->dtype) : NULL;
    PyObject *array = result == NULL || (r->dtype_known && wanted == NULL)
                          ? NULL
                          : ext_array_of(result, (PyObject *)wanted, WHAT);
    int failed = array == NULL ? -1 : check_box(b, (PyArrayObject *)array, slices);
    if (failed == 0 && !r->dtype_known)
        failed = ext_dtype(&r->dtype, PyArray_DESCR((PyArrayObject *)array), WHAT);
    if (failed == 0 && r->array == NULL) {
        int64_t shape[DT_MAX_NDIM + 1];
        r->dtype_known = true;
        r->array = ext_array(dt_layout_local_shape(shape, layout, r->coordinate), shape,
                             r->dtype);
    }
    if (failed == 0)
        failed = r->array == NULL ? -1 : put_box(r, b, (PyArrayObject *)array);
    Py_XDECREF(slices);
    Py_XDECREF(result);
    Py_XDECREF(wanted);
    Py_XDECREF(array);
    return failed;
}

static int
fill_part(request *r, const dt_layout *layout)
{
    ext_boxes b;
    if (ext_boxes_make(&b, layout, r->coordinate) < 0)
        return -1;
    int failed = 0;
    if (!b.empty)
        do
            failed = fill_box(r, &b, layout);
        while (failed == 0 && ext_boxes_next(&b));
    PyMem_Free(b.ranges[0]);
    return failed;
}

/* --- the dtype --- */

static dt_status
common_dtype(request *r, const ext_meta *metas, dt_error *err)
{
    const dt_mesh *mesh = r->mesh->mesh;
    int64_t first = -1;
    r->dtype = ext_default_dtype;
    for (int64_t i = 0; i < mesh->size; i++) {
        dt_dtype dtype = (dt_dtype)metas[i].dtype;
        if (!metas[i].given)
            continue;
        if (first >= 0 && dtype != r->dtype)
            return dt_fail(
                err, DT_TYPE,
                "from_callback: the function returned %s on rank %lld, but %s "
                "on rank %lld; pass dtype=",
                dt_dtype_name(r->dtype), (long long)dt_mesh_rank(mesh, first),
                dt_dtype_name(dtype), (long long)dt_mesh_rank(mesh, i));
        if (first < 0)
            first = i;
        r->dtype = dtype;
    }
    return DT_OK;
}

static const dt_layout *
layout_as_known(const request *r)
{
    return ext_layout_make(r->mesh->mesh, r->placements, r->ndim, r->shape, r->dtype);
}

/* A part without elements, of the dtype that is known. */
static int
make_empty_part(request *r)
{
    const dt_layout *layout = layout_as_known(r);
    if (layout != NULL)
        r->array = ext_part(layout, r->inside ? r->group->world->transport->rank : -1);
    dt_layout_release(ext_context, layout);
    return r->array == NULL ? -1 : 0;
}

/* Makes the dtype that of all ranks; `failed`: an exception is set, which all get. Then
 * this rank has its part. Ranks for which the function was not called learn the dtype
 * from the others, and agree once more when they have made theirs. */
static int
agree_on_dtype(request *r, bool failed)
{
    ext_meta mine;
    memset(&mine, 0, sizeof mine);
    mine.given = r->dtype_known;
    mine.dtype = r->dtype_known ? (int32_t)r->dtype : 0;
    if (failed)
        ext_catch(&r->call.local);
    bool equal;
    if (ext_call_compare(&equal, r->group, &r->call, dt_hash(0, &mine, sizeof mine)) <
        0)
        return -1;
    if (equal && r->dtype_known)
        return 0;
    ext_meta *metas = ext_meta_share(r->group, r->mesh->mesh, &mine, r->call.what);
    if (metas == NULL)
        return -1;
    dt_error err;
    dt_status status = common_dtype(r, metas, &err);
    PyMem_RawFree(metas);
    if (ext_check(status, &err) < 0)
        return -1;
    if (r->array == NULL && make_empty_part(r) < 0)
        ext_catch(&r->call.local);
    return ext_agree(r->group, &r->call, true);
}

/* --- the function --- */

static int
read_arguments(request *r, PyObject *const *given)
{
    const dt_mesh *mesh = r->mesh->mesh;
    r->function = given[FUNCTION];
    r->ndim = ext_shape(r->shape, given[SHAPE], WHAT);
    r->dtype_given = given[DTYPE] != NULL && given[DTYPE] != Py_None;
    r->dtype_known = r->dtype_given;
    if (r->ndim < 0 ||
        ext_dtype_like(&r->dtype, given[DTYPE], ext_default_dtype, WHAT) < 0 ||
        ext_placements(r->placements, mesh, given[PLACEMENTS], WHAT) < 0 ||
        ext_refuse_partial(mesh, r->placements) < 0)
        return -1;
    if (PyCallable_Check(r->function))
        return 0;
    return ext_fail(PyExc_TypeError, "from_callback: %R is not a function",
                    r->function);
}

static void
describe(request *r)
{
    int dtype = r->dtype_given ? (int)r->dtype : -1;
    ext_call_text(&r->call, "(");
    ext_call_shape(&r->call, r->ndim, r->shape);
    ext_call_text(&r->call, ", ");
    ext_call_placements(&r->call, r->mesh->mesh, r->placements);
    ext_call_text(&r->call, r->dtype_given ? ", dtype=%s)" : ")",
                  dt_dtype_name(r->dtype));
    ext_call_mesh(&r->call, r->mesh->mesh);
    ext_call_hash(&r->call, r->shape, sizeof *r->shape * (size_t)r->ndim);
    ext_call_hash(&r->call, &dtype, sizeof dtype);
}

/* The layout; this rank's part is then in r->array. */
static const dt_layout *
ask(request *r, PyObject *const *given)
{
    bool failed = read_arguments(r, given) < 0;
    if (!failed)
        describe(r);
    const dt_layout *layout = failed ? NULL : layout_as_known(r);
    failed = layout == NULL || (r->inside && fill_part(r, layout) < 0);
    dt_layout_release(ext_context, layout);
    if (!failed && r->dtype_known && r->array == NULL)
        failed = make_empty_part(r) < 0;
    if (r->inside ? agree_on_dtype(r, failed) < 0 : failed)
        return NULL;
    r->agreed = true;
    if (r->array == NULL && make_empty_part(r) < 0) /* outside of the mesh */
        return NULL;
    return layout_as_known(r);
}

PyObject *
ext_from_callback(PyObject *Py_UNUSED(module), PyObject *const *args, Py_ssize_t nargs,
                  PyObject *kwnames)
{
    static const ext_signature signature = EXT_SIGNATURE(
        WHAT, ARGUMENTS, 4, 4, "shape", "device_mesh", "placements", "f", "dtype");
    PyObject *given[ARGUMENTS];
    if (ext_arguments(given, &signature, args, nargs, kwnames) < 0)
        return NULL;
    request r = {.mesh = ext_argument_mesh(given[MESH], WHAT)};
    if (r.mesh == NULL)
        return NULL;
    ext_call_begin(&r.call, WHAT);
    r.group = ext_join(r.coordinate, &r.inside, r.mesh->mesh, WHAT);
    const dt_layout *layout = r.group == NULL ? NULL : ask(&r, given);
    PyObject *result =
        layout == NULL ? NULL
                       : ext_dtensor_new(Py_XNewRef(r.array), layout, r.mesh, false);
    if (r.agreed)
        result = ext_arrived(result, r.mesh->mesh, WHAT);
    Py_XDECREF(r.array);
    Py_DECREF(r.mesh);
    return result;
}

const char ext_from_callback_doc[] =
    "from_callback($module, /, shape, device_mesh, placements, f, *, "
    "dtype=None)\n--\n\n"
    "Make a DTensor of what a function returns for the boxes that each rank holds.\n\n"
    "Collective over the mesh: one small agreement, no data.\n\n"
    "Parameters\n----------\n"
    "shape : int or sequence of int\n"
    "    The global shape, in elements.\n"
    "device_mesh : DeviceMesh or None\n"
    "    None: the one of the ``with mesh:`` block.\n"
    "placements : sequence of Placement or None, length ``device_mesh.ndim``\n"
    "    Shard or Replicate for each mesh dimension; None: Replicate on all.\n"
    "f : callable\n"
    "    Gets a tuple of slices of the whole array, one for each dimension, and "
    "returns\n"
    "    an array of that box. Called once for each box of this rank that has "
    "elements:\n"
    "    as a rule one.\n"
    "dtype : dtype_like, optional\n"
    "    What the boxes are cast to; default: the dtype that `f` returns "
    "everywhere.\n\n"
    "Returns\n-------\n"
    "DTensor\n"
    "    With memory of its own.\n\n"
    "Raises\n------\n"
    "ValueError\n"
    "    If there is not one placement for each mesh dimension, or `f` returns an "
    "array\n"
    "    of another shape than its box. On every rank.\n"
    "TypeError\n"
    "    If `f` is no function, or returns different dtypes. On every rank.\n"
    "IndexError\n"
    "    If a Shard names a dimension that the array lacks. On every rank.\n"
    "RuntimeError\n"
    "    If there is no mesh, a placement is Partial, or the ranks call different\n"
    "    things. On every rank. What `f` raises on one rank is raised on it, and an\n"
    "    exception of the same kind on the others.\n";
