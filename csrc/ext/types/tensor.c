/* tensor.c: Tensor and DTensor as memory: how one is made, lives and dies. What Python
 * can do with them is filled in by ext/face/tensor_type.c, above all operators. */
#include "ext/types/types.h"

#include <stddef.h>
#include <string.h>

/* The memory of Tensors and of DTensors that have died, for new ones: each call makes
 * one. Subclasses may be of any size. */
enum { SPARES = 64 };
typedef struct {
    int count;
    PyObject *objects[SPARES];
} spare_list;

static spare_list *
spares_of(const PyTypeObject *type)
{
    static spare_list lists[2];
    bool ours = ext_type_within(type, TYPE_TENSOR, TYPE_DTENSOR);
    return ours ? &lists[ext_type_within(type, TYPE_TORCH_DTENSOR, TYPE_DTENSOR)]
                : NULL;
}

static PyObject *
alloc(PyTypeObject *type)
{
    spare_list *spares = spares_of(type);
    if (spares == NULL || spares->count == 0)
        return type->tp_alloc(type, 0);
    PyObject *self = spares->objects[--spares->count];
    memset(self + 1, 0, (size_t)type->tp_basicsize - sizeof *self);
    PyObject_Init(self, type);
    PyObject_GC_Track(self);
    return self;
}

static void
release(PyObject *self)
{
    spare_list *spares = spares_of(Py_TYPE(self));
    if (spares != NULL && spares->count < SPARES)
        spares->objects[spares->count++] = self;
    else
        Py_TYPE(self)->tp_free(self);
}

TensorObject *
ext_tensor_alloc(PyTypeObject *type, PyObject *array)
{
    TensorObject *self = array == NULL ? NULL : (TensorObject *)alloc(type);
    if (self == NULL)
        Py_XDECREF(array);
    else
        self->array = array;
    return self;
}

PyObject *
ext_tensor(PyObject *array)
{
    return (PyObject *)ext_tensor_alloc(&ext_tensor_type, array);
}

void
tape_version_release(tape_version *version)
{
    if (version != NULL && --version->refs == 0)
        PyMem_Free(version);
}

void
tape_leave(TensorObject *tensor)
{
    tape_history *history = tensor->history;
    if (history != NULL) {
        if (history->owners[0] == tensor)
            history->owners[0] = NULL;
        if (history->owners[1] == tensor)
            history->owners[1] = NULL;
        if (tensor->apart && --history->refs == 0)
            PyMem_Free(history);
        tensor->history = NULL;
    }
    tape_version_release(tensor->version);
    tensor->version = NULL;
}

static int
tensor_traverse(PyObject *object, visitproc visit, void *arg)
{
    TensorObject *self = (TensorObject *)object;
    Py_VISIT(self->array);
    Py_VISIT(self->grad);
    Py_VISIT(self->node);
    Py_VISIT(self->hooks);
    Py_VISIT(self->base);
    Py_VISIT(self->dict);
    if (ext_is_dtensor(object)) {
        Py_VISIT(((DTensorObject *)self)->layout);
        Py_VISIT(((DTensorObject *)self)->pending);
    }
    return 0;
}

/* The array and the layout form no cycles and stay: a weak reference's callback may
 * still look at them. */
static int
tensor_clear(PyObject *object)
{
    TensorObject *self = (TensorObject *)object;
    Py_CLEAR(self->grad);
    Py_CLEAR(self->node);
    Py_CLEAR(self->hooks);
    Py_CLEAR(self->base);
    Py_CLEAR(self->dict);
    return 0;
}

static void
tensor_dealloc(PyObject *object)
{
    TensorObject *self = (TensorObject *)object;
    PyObject_GC_UnTrack(object);
    if (self->weakrefs != NULL)
        PyObject_ClearWeakRefs(object);
    tensor_clear(object);
    if (self->version != NULL)
        tape_leave(self);
    Py_CLEAR(self->array);
    if (ext_is_dtensor(object)) {
        Py_CLEAR(((DTensorObject *)self)->layout);
        Py_CLEAR(((DTensorObject *)self)->pending);
    }
    release(object);
}

int
ext_tensor_shape(int64_t out[DT_MAX_NDIM], TensorObject *tensor)
{
    if (ext_is_dtensor((PyObject *)tensor)) {
        const dt_layout *layout = ((DTensorObject *)tensor)->layout->layout;
        for (int d = 0; d < layout->ndim; d++)
            out[d] = layout->shape[d];
        return layout->ndim;
    }
    return ext_array_shape(out, (PyArrayObject *)tensor->array);
}

int64_t
ext_tensor_count(TensorObject *tensor)
{
    int64_t shape[DT_MAX_NDIM], count = 1;
    int ndim = ext_tensor_shape(shape, tensor);
    for (int d = 0; d < ndim; d++)
        count *= shape[d];
    return count;
}

const char *
ext_tensor_differs(TensorObject *a, TensorObject *b)
{
    int64_t x[DT_MAX_NDIM], y[DT_MAX_NDIM];
    int ndim = ext_tensor_shape(x, a);
    if (ext_tensor_shape(y, b) != ndim || memcmp(x, y, (size_t)ndim * sizeof *x) != 0)
        return "size";
    return PyArray_EquivTypes(PyArray_DESCR((PyArrayObject *)a->array),
                              PyArray_DESCR((PyArrayObject *)b->array))
               ? NULL
               : "type";
}

/* What all of them have. */
#define TENSOR_TYPE(name, object)                                                      \
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = name, .tp_basicsize = sizeof(object),     \
                                .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | \
                                            Py_TPFLAGS_HAVE_GC,                        \
                                .tp_dealloc = tensor_dealloc,                          \
                                .tp_traverse = tensor_traverse,                        \
                                .tp_clear = tensor_clear

PyTypeObject ext_types[] = {
    [TYPE_TENSOR] = {TENSOR_TYPE("dtensor.Tensor", TensorObject),
                     .tp_dictoffset = offsetof(TensorObject, dict),
                     .tp_weaklistoffset = offsetof(TensorObject, weakrefs)},
    [TYPE_TORCH_TENSOR] = {TENSOR_TYPE("dtensor.torch.Tensor", TensorObject),
                           .tp_base = &ext_tensor_type},
    /* Beside torch's Tensor: face/torch_type.c. */
    [TYPE_TORCH_DTENSOR] = {TENSOR_TYPE("dtensor.torch.distributed.tensor.DTensor",
                                        DTensorObject),
                            .tp_base = &ext_dtensor_type},
    [TYPE_DTENSOR] = {TENSOR_TYPE("dtensor.DTensor", DTensorObject),
                      .tp_base = &ext_tensor_type},
};
