/* as_dialect.c: from one dialect of tensors into the other. */
#include "ext/face/face.h"

static PyObject *opener; /* callable that makes torch's methods; NULL: they are there */

int
ext_open_torch(void)
{
    if (opener == NULL)
        return 0;
    PyObject *done = PyObject_CallNoArgs(opener);
    if (done == NULL)
        return -1;
    Py_DECREF(done);
    Py_CLEAR(opener);
    return 0;
}

PyObject *
ext_set_torch(PyObject *Py_UNUSED(module), PyObject *function)
{
    Py_XSETREF(opener, Py_NewRef(function));
    Py_RETURN_NONE;
}

/* A leaf that requires a gradient gets it through a recorded view. */
static PyObject *
recorded_view(PyObject *self)
{
    PyObject *shape = PyObject_GetAttrString(self, "shape");
    PyObject *view =
        shape == NULL ? NULL : PyObject_CallMethod(self, "reshape", "O", shape);
    Py_XDECREF(shape);
    return view;
}

static PyObject *
in_other_dialect(PyObject *self, PyTypeObject *own, PyTypeObject *whole)
{
    const TensorObject *tensor = (TensorObject *)self;
    PyObject *source = tensor->requires_grad && tensor->node == NULL
                           ? recorded_view(self)
                           : Py_NewRef(self);
    PyObject *alias =
        source == NULL ? NULL : ext_alias(source, ext_is_dtensor(self) ? whole : own);
    Py_XDECREF(source);
    return alias;
}

PyObject *
ext_tensor_as_torch(PyObject *self, PyObject *Py_UNUSED(ignored))
{
    if (ext_open_torch() < 0)
        return NULL;
    if (ext_is_torch(self))
        return Py_NewRef(self);
    return in_other_dialect(self, &ext_torch_tensor_type, &ext_torch_dtensor_type);
}

PyObject *
ext_tensor_as_numpy(PyObject *self, PyObject *Py_UNUSED(ignored))
{
    if (!ext_is_torch(self))
        return Py_NewRef(self);
    return in_other_dialect(self, &ext_tensor_type, &ext_dtensor_type);
}

const char ext_tensor_as_torch_doc[] =
    "as_torch($self, /)\n--\n\n"
    "Return the tensor with PyTorch's methods, promotion and printing.\n\n"
    "Nothing is copied or sent: memory and recorded operations are shared. Results of\n"
    "operations on it are in that dialect, too.\n\n"
    "Returns\n-------\n"
    "dtensor.torch.Tensor or dtensor.torch.distributed.tensor.DTensor\n"
    "    This one if it is in PyTorch's dialect already.\n";
const char ext_tensor_as_numpy_doc[] =
    "as_numpy($self, /)\n--\n\n"
    "Return the tensor with NumPy's methods and promotion: see `as_torch`.\n\n"
    "Returns\n-------\n"
    "Tensor or DTensor\n"
    "    This one if it is in NumPy's dialect already. For an array, see `numpy`.\n";
