/* dtensor_methods.c: what DTensor has beside Tensor: its layout, its part, its methods.
 */
#include "ext/face/face.h"

static LayoutObject *
layout_of(PyObject *self)
{
    return ((DTensorObject *)self)->layout;
}

static PyObject *
get_mesh(PyObject *self, void *Py_UNUSED(closure))
{
    return Py_NewRef((PyObject *)layout_of(self)->mesh);
}

static PyObject *
get_placements(PyObject *self, void *Py_UNUSED(closure))
{
    return Py_NewRef(layout_of(self)->placements);
}

static PyObject *
get_layout(PyObject *self, void *Py_UNUSED(closure))
{
    return Py_NewRef((PyObject *)layout_of(self));
}

static PyObject *
get_local(PyObject *self, void *Py_UNUSED(closure))
{
    PyArrayObject *array = ext_local(self);
    if (array == NULL)
        return NULL;
    return ext_in_dialect(ext_tensor(Py_NewRef((PyObject *)array)), self);
}

PyGetSetDef ext_dtensor_attributes[] = {
    {"device_mesh", get_mesh, NULL, "The mesh of ranks that hold the parts; read-only.",
     NULL},
    {"placements", get_placements, NULL,
     "How each mesh dimension holds the tensor: a tuple of Placement; read-only.",
     NULL},
    {"layout", get_layout, NULL,
     "Mesh, placements, shape, dtype, orders and cut points: the Layout.", NULL},
    {"_spec", get_layout, NULL, "The layout, under torch's name.", NULL},
    {"_local_tensor", get_local, NULL,
     "This rank's part, as a Tensor without gradients that shares memory.", NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

/* A part that is under way is not waited for: showing something must not hang. */
PyObject *
ext_dtensor_repr(PyObject *object)
{
    DTensorObject *self = (DTensorObject *)object;
    PyObject *local;
    if (self->pending != NULL && !ext_pending_done(self->pending))
        local = PyUnicode_FromString("<on its way>");
    else {
        PyObject *tensor = get_local(object, NULL);
        local = tensor == NULL ? NULL : PyObject_Repr(tensor);
        Py_XDECREF(tensor);
    }
    if (local == NULL)
        return NULL;
    PyObject *text = PyUnicode_FromFormat(
        "DTensor(local_tensor=%U, device_mesh=%R, placements=%R%s)", local,
        self->layout->mesh, self->layout->placements,
        self->tensor.requires_grad ? ", requires_grad=True" : "");
    Py_DECREF(local);
    return text;
}

static PyObject *
to_local(PyObject *object, PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames)
{
    static const ext_signature signature =
        EXT_SIGNATURE("to_local", 1, 0, 0, "grad_placements");
    PyObject *given;
    dt_placement grad[DT_MESH_MAX_NDIM];
    const dt_mesh *mesh = layout_of(object)->layout->mesh;
    if (ext_arguments(&given, &signature, args, nargs, kwnames) < 0 ||
        ext_placements(grad, mesh, given, "to_local") < 0)
        return NULL;
    PyObject *result = get_local(object, NULL);
    return tape_to_local(result, (DTensorObject *)object, given);
}

PyDoc_STRVAR(
    to_local_doc,
    "to_local($self, /, *, grad_placements=None)\n--\n\n"
    "Return this rank's part; nothing is copied or sent.\n\n"
    "Parameters\n----------\n"
    "grad_placements : sequence of Placement, optional\n"
    "    How the gradients of the parts make up that of the whole; default: as the\n"
    "    placements.\n\n"
    "Returns\n-------\n"
    "Tensor\n"
    "    Of the local shape, which differs between ranks. What is written into it is\n"
    "    written into this DTensor. Of shape (0,) on a rank outside the mesh.\n\n"
    "Raises\n------\n"
    "ValueError\n"
    "    If `grad_placements` has not one entry for each mesh dimension. On this rank\n"
    "    only.\n"
    "RuntimeError\n"
    "    If the data were on their way here and that has failed.\n");

/* [(offsets, sizes), ...] as checkpoints name this rank's boxes. */
static PyObject *
chunks_of(PyObject *boxes, PyObject *type)
{
    PyObject *list = PyList_New(0);
    for (Py_ssize_t i = 0; list != NULL && i < PyList_GET_SIZE(boxes); i++)
        ext_append(&list, PyObject_CallObject(type, PyList_GET_ITEM(boxes, i)));
    return list;
}

static PyObject *
create_chunk_list(PyObject *self, PyObject *Py_UNUSED(ignored))
{
    LayoutObject *layout = layout_of(self);
    if (layout->layout->has_partial)
        return PyErr_Format(
            PyExc_ValueError,
            "Any checkpointing related operations are not supported for "
            "DTensor with partial placements!");
    PyObject *module = PyImport_ImportModule("dtensor.checkpoint.metadata");
    PyObject *type =
        module == NULL ? NULL : PyObject_GetAttrString(module, "ChunkStorageMetadata");
    PyObject *boxes =
        type == NULL ? NULL : PyObject_CallMethod((PyObject *)layout, "boxes", NULL);
    PyObject *chunks = boxes == NULL ? NULL : chunks_of(boxes, type);
    Py_XDECREF(module);
    Py_XDECREF(type);
    Py_XDECREF(boxes);
    return chunks;
}

PyDoc_STRVAR(
    create_chunk_list_doc,
    "__create_chunk_list__($self, /)\n--\n\n"
    "Return which boxes of the whole this rank holds, for checkpoints.\n\n"
    "Returns\n-------\n"
    "list of ChunkStorageMetadata\n"
    "    Offsets and sizes, in elements; as a rule one, empty on a rank outside the\n"
    "    mesh.\n\n"
    "Raises\n------\n"
    "ValueError\n"
    "    If some placement is Partial. On every rank; nothing is sent.\n");

PyMethodDef ext_dtensor_methods[] = {
    {"from_local", EXT_FAST(ext_from_local) | METH_STATIC, ext_from_local_doc},
    {"to_local", EXT_FAST(to_local), to_local_doc},
    {"full_tensor", EXT_FAST(ext_dtensor_full), ext_dtensor_full_doc},
    {"redistribute", EXT_FAST(ext_dtensor_redistribute), ext_dtensor_redistribute_doc},
    {"rebalance", ext_dtensor_rebalance, METH_NOARGS, ext_dtensor_rebalance_doc},
    {"__create_chunk_list__", create_chunk_list, METH_NOARGS, create_chunk_list_doc},
    {NULL, NULL, 0, NULL},
};
