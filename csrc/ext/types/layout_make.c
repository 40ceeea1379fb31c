/* layout_make.c: layouts made, of what C or Python gives, and entered into the context. */
#include "ext/types/types.h"

const dt_layout *
ext_layout_made(dt_status status, dt_layout *layout, const dt_error *err)
{
    const dt_layout *entered = NULL;
    dt_error own;
    if (status != DT_OK)
        return ext_raise(err);
    if (dt_context_layout(&entered, ext_context, layout, &own) != DT_OK)
        return ext_raise(&own);
    return entered;
}

const dt_layout *
ext_layout_make(const dt_mesh *mesh, const dt_placement *placements, int ndim,
                const int64_t *shape, dt_dtype dtype)
{
    dt_layout *layout = NULL;
    dt_error err;
    dt_status status = dt_layout_make(&layout, mesh, placements, ndim, shape, dtype,
                                      NULL, 0, NULL, 0, &err);
    return ext_layout_made(status, layout, &err);
}

const dt_layout *
ext_layout_at(const dt_mesh *mesh, int64_t rank, int ndim, const int64_t *shape,
              dt_dtype dtype)
{
    const dt_mesh *point = ext_mesh_made(0, NULL, &rank, NULL, mesh->world);
    if (point == NULL)
        return NULL;
    const dt_layout *layout = ext_layout_make(point, NULL, ndim, shape, dtype);
    dt_mesh_release(ext_context, point);
    return layout;
}

const dt_layout *
ext_layout_outside(const dt_mesh *mesh, const dt_placement *placements, int ndim,
                   const int64_t *shape, dt_dtype dtype)
{
    static const int64_t zeros[DT_MAX_NDIM];
    const dt_layout *layout =
        ndim < 0 ? NULL : ext_layout_make(mesh, placements, ndim, shape, dtype);
    if (layout != NULL)
        return layout;
    PyErr_Clear();
    ndim = 0;
    for (int m = 0; m < mesh->ndim; m++) {
        int dim = placements[m].dim;
        int least = dim < 0 ? -dim : dim + 1;
        if (dt_placement_cuts(placements[m]) && least > ndim)
            ndim = least < DT_MAX_NDIM ? least : DT_MAX_NDIM;
    }
    return ext_layout_make(mesh, placements, ndim, zeros, dtype);
}

/* --- of Python's arguments --- */

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

const dt_layout *
ext_layout_read(MeshObject **out, PyObject *args, PyObject *kwargs)
{
    static char *keywords[] = {"mesh",        "placements", "shape", "dtype",
                               "shard_order", "cuts",       NULL};
    PyObject *mesh, *placements, *shape, *dtype, *order = Py_None, *cuts = Py_None;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "O!OOO|$OO:Layout", keywords,
                                     &ext_mesh_type, &mesh, &placements, &shape, &dtype,
                                     &order, &cuts))
        return NULL;
    *out = (MeshObject *)mesh;
    const dt_mesh *grid = (*out)->mesh;
    dt_placement list[DT_MESH_MAX_NDIM];
    int64_t lengths[DT_MAX_NDIM];
    dt_dtype element;
    int ndim = ext_shape(lengths, shape, "Layout");
    if (ndim < 0 || ext_placements(list, grid, placements, "Layout") < 0 ||
        ext_dtype_like(&element, dtype, DT_FLOAT64, "Layout") < 0)
        return NULL;
    layout_options o = {.ndim = ndim};
    const dt_layout *made = NULL;
    if (read_pairs(&o, order, "shard_order", read_order) == 0 &&
        read_pairs(&o, cuts, "cuts", read_cuts) == 0) {
        dt_layout *layout = NULL;
        dt_error err;
        dt_status status =
            dt_layout_make(&layout, grid, list, ndim, lengths, element, o.orders,
                           o.order_count, o.cuts, o.cuts_count, &err);
        made = ext_layout_made(status, layout, &err);
    }
    for (int k = 0; k < o.cuts_count; k++)
        PyMem_Free(o.values[k]);
    return made;
}
