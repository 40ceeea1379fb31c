/* without_data.c: tensors that have a shape, a dtype and perhaps a layout, and
 * no elements. */
#include "ext/make/make.h"

static PyObject *
of_layout(LayoutObject *layout)
{
    const dt_mesh *mesh = layout->mesh->mesh;
    int64_t rank = -1;
    if (mesh->world != 0) {
        dt_world *world = ext_world(mesh, "without_data");
        if (world == NULL)
            return NULL;
        rank = world->transport->rank;
    }
    PyObject *array = ext_part_without_data(layout->layout, rank);
    return array == NULL ? NULL : ext_dtensor(array, layout);
}

static PyObject *
without_data(PyObject *Py_UNUSED(module), PyObject *args)
{
    PyObject *what, *wanted = Py_None;
    int64_t shape[DT_MAX_NDIM];
    dt_dtype dtype;
    if (!PyArg_ParseTuple(args, "O|O:without_data", &what, &wanted))
        return NULL;
    if (Py_TYPE(what) == &ext_layout_type)
        return of_layout((LayoutObject *)what);
    int ndim = ext_shape(shape, what, "without_data");
    if (ndim < 0 || ext_dtype_like(&dtype, wanted, ext_default_dtype, "empty") < 0)
        return NULL;
    PyObject *array = ext_array_without_data(ndim, shape, dtype);
    return array == NULL ? NULL : ext_tensor(array);
}

PyMethodDef ext_without_data_methods[] = {
    {"without_data", without_data, METH_VARARGS,
     "without_data(shape_or_layout, dtype=None, /)\n--\n\n"
     "Return a Tensor of a shape, or a DTensor of a layout, that has no elements:\n"
     "operators give such ones of it."},
    {0},
};
