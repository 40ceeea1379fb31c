/* layout_like.c: layouts that are made of others, for layout.c to wrap. */
#include "ext/types/types.h"

const dt_layout *
ext_layout_with_placements(PyObject *self, PyObject *placements)
{
    const dt_layout *layout = ext_layout_in(self);
    dt_placement list[DT_MESH_MAX_NDIM];
    if (ext_placements(list, layout->mesh, placements, "with_placements") < 0)
        return NULL;
    dt_layout *with = NULL;
    dt_error err;
    dt_status status = dt_layout_with(&with, layout, list, &err);
    return ext_layout_made(status, with, &err);
}

const dt_layout *
ext_layout_with_dtype(PyObject *self, PyObject *dtype)
{
    const dt_layout *layout = ext_layout_in(self);
    dt_dtype element;
    if (ext_dtype_like(&element, dtype, layout->dtype, "with_dtype") < 0)
        return NULL;
    dt_layout *with = NULL;
    dt_error err;
    dt_status status = dt_layout_with_dtype(&with, layout, element, &err);
    return ext_layout_made(status, with, &err);
}

const dt_layout *
ext_layout_settled(PyObject *self)
{
    dt_layout *settled = NULL;
    dt_error err;
    dt_status status = dt_layout_dual(&settled, ext_layout_in(self), &err);
    return ext_layout_made(status, settled, &err);
}

const dt_layout *
ext_layout_whole(PyObject *self, PyObject *dims)
{
    const dt_layout *layout = ext_layout_in(self);
    int64_t named[DT_MAX_NDIM];
    bool whole[DT_MAX_NDIM] = {false};
    int count = ext_shape(named, dims, "whole");
    if (count < 0)
        return NULL;
    for (int k = 0; k < count; k++) {
        if (named[k] < 0 || named[k] >= layout->ndim)
            return (const dt_layout *)PyErr_Format(
                PyExc_IndexError,
                "whole: a tensor of %d dimensions has no dimension %R", layout->ndim,
                dims);
        whole[named[k]] = true;
    }
    dt_layout *with = NULL;
    dt_error err;
    dt_status status = dt_layout_whole(&with, layout, whole, &err);
    return ext_layout_made(status, with, &err);
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

const dt_layout *
ext_layout_like(PyObject *self, PyObject *args, PyObject *kwargs)
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
    return ext_layout_made(status, like, &err);
}
