/* torch_type.c: the types of PyTorch's dialect: their slots are filled here, their
 * methods by dtensor.torch. */
#include "ext/face/face.h"

static PyNumberMethods torch_numbers;
static PyObject *constructor; /* torch.Tensor(...) of other than one array; or NULL */
static PyObject *printer;     /* repr of a Tensor, or NULL */

/* Tensor(array, dtype, requires_grad), as pickles and subclasses say, or torch.Tensor. */
static PyObject *
torch_new(PyTypeObject *type, PyObject *args, PyObject *kwargs)
{
    bool ours = PyTuple_GET_SIZE(args) == 3 && PyArray_Check(PyTuple_GET_ITEM(args, 0));
    if (ours || type != &ext_torch_tensor_type)
        return ext_tensor_type.tp_new(type, args, kwargs);
    if (ext_open_torch() < 0)
        return NULL;
    return constructor != NULL ? PyObject_Call(constructor, args, kwargs)
                               : ext_tensor_type.tp_new(type, args, kwargs);
}

static int
torch_bool(PyObject *self)
{
    int64_t count = ext_tensor_count((TensorObject *)self);
    if (count != 1)
        return ext_fail(PyExc_RuntimeError,
                        "Boolean value of Tensor with %s is ambiguous",
                        count == 0 ? "no values" : "more than one value");
    return ext_tensor_numbers.nb_bool(self);
}

static PyObject *
torch_repr(PyObject *self)
{
    return printer == NULL ? ext_tensor_type.tp_repr(self)
                           : PyObject_CallOneArg(printer, self);
}

void
ext_fill_torch_types(void)
{
    torch_numbers = ext_tensor_numbers;
    ext_fill_torch_slots(&torch_numbers);
    torch_numbers.nb_bool = torch_bool;
    ext_torch_tensor_type.tp_doc = ext_tensor_type.tp_doc;
    ext_torch_tensor_type.tp_new = torch_new;
    ext_torch_tensor_type.tp_repr = torch_repr;
    ext_torch_dtensor_type.tp_doc = ext_dtensor_type.tp_doc;
    ext_torch_dtensor_type.tp_new = ext_dtensor_type.tp_new;
    ext_torch_dtensor_type.tp_repr = ext_dtensor_repr;
    PyTypeObject *types[] = {&ext_torch_tensor_type, &ext_torch_dtensor_type};
    for (int k = 0; k < 2; k++) {
        types[k]->tp_as_number = &torch_numbers;
        types[k]->tp_as_mapping = &ext_tensor_mapping;
        types[k]->tp_as_sequence = &ext_tensor_sequence;
        types[k]->tp_richcompare = ext_torch_compare;
        types[k]->tp_hash = ext_tensor_type.tp_hash;
        types[k]->tp_iter = ext_tensor_iter;
        types[k]->tp_dictoffset = ext_tensor_type.tp_dictoffset;
        types[k]->tp_weaklistoffset = ext_tensor_type.tp_weaklistoffset;
    }
}

/* The garbage collector may look at bases, which must be ready. */
int
ext_give_torch_bases(PyTypeObject *type)
{
    if (type == &ext_torch_dtensor_type)
        type->tp_bases = PyTuple_Pack(2, &ext_torch_tensor_type, &ext_dtensor_type);
    return type == &ext_torch_dtensor_type && type->tp_bases == NULL ? -1 : 0;
}

/* --- what dtensor.torch gives --- */

static PyObject *
install_torch(PyObject *Py_UNUSED(module), PyObject *args, PyObject *kwargs)
{
    static char *names[] = {"slots",       "methods", "whole",
                            "constructor", "printer", NULL};
    PyObject *slots, *methods, *whole, *make, *print;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "O!O!O!OO:install_torch", names,
                                     &PyDict_Type, &slots, &PyDict_Type, &methods,
                                     &PyDict_Type, &whole, &make, &print))
        return NULL;
    if (ext_fill_slots(slots, true) < 0 ||
        ext_add_methods(&ext_torch_tensor_type, methods) < 0 ||
        ext_add_methods(&ext_torch_dtensor_type, whole) < 0)
        return NULL;
    Py_XSETREF(constructor, Py_NewRef(make));
    Py_XSETREF(printer, Py_NewRef(print));
    Py_RETURN_NONE;
}

PyMethodDef ext_torch_methods[] = {
    {"set_torch", ext_set_torch, METH_O,
     "set_torch(opener, /)\n--\n\n"
     "Say what makes the methods of PyTorch's dialect, when they are first needed."},
    {"install_torch", EXT_KEYWORDS(install_torch),
     "install_torch(slots, methods, whole, constructor, printer)\n--\n\n"
     "Give tensors of PyTorch's dialect their operators, methods and attributes;\n"
     "`whole` has those of DTensors alone."},
    {0},
};
