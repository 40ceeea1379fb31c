/* DLPack: a Tensor, or a DTensor that is whole on every rank, shares its memory with
 * other libraries. NumPy makes the capsules. */
#include "ext/face/face.h"

/* The array to be exported: NULL with a BufferError where there is none. */
static PyObject *
array_to_export(TensorObject *tensor)
{
    if (tape_requires((PyObject *)tensor))
        return PyErr_Format(PyExc_BufferError,
                            "Can't export tensors that require gradient, use "
                            "tensor.detach()");
    if (ext_local((PyObject *)tensor) == NULL)
        return NULL;
    PyObject *array = ext_tensor_numpy(tensor, true);
    if (array == NULL && ext_is_dtensor((PyObject *)tensor) &&
        PyErr_ExceptionMatches(PyExc_RuntimeError)) {
        char text[256];
        dt_layout_print(text, sizeof text, ((DTensorObject *)tensor)->layout->layout);
        PyErr_Clear();
        PyErr_Format(PyExc_BufferError,
                     "a DTensor with placements %s is not whole on any rank and cannot "
                     "be exported by DLPack: call x.full_tensor() to gather it on "
                     "every rank, or x.to_local() for this rank's part",
                     text);
    }
    return array;
}

/* Whether who asks, by `max_version`, knows of read-only memory: from DLPack 1.0 on. */
static int
knows_read_only(bool *out, PyObject *max_version)
{
    *out = false;
    if (max_version == NULL || max_version == Py_None)
        return 0;
    PyObject *major = PySequence_GetItem(max_version, 0);
    long number = major != NULL ? PyLong_AsLong(major) : -1;
    Py_XDECREF(major);
    *out = number >= 1;
    return PyErr_Occurred() != NULL ? -1 : 0;
}

/* Read-only memory goes as a copy to those that might write into it, unless they want
 * none: then NumPy refuses. Steals `array`. */
static PyObject *
guarded(PyObject *array, PyObject *max_version, PyObject *copy)
{
    bool knows;
    PyObject *result = array;
    if (knows_read_only(&knows, max_version) < 0)
        result = NULL;
    else if (!knows && !PyArray_ISWRITEABLE((PyArrayObject *)array) && copy != Py_False)
        result = PyArray_NewCopy((PyArrayObject *)array, NPY_KEEPORDER);
    if (result != array)
        Py_DECREF(array);
    return result;
}

PyObject *
ext_tensor_dlpack(PyObject *self, PyObject *const *args, Py_ssize_t nargs,
                  PyObject *kwnames)
{
    static const ext_signature signature = EXT_SIGNATURE(
        "__dlpack__", 4, 0, 0, "stream", "max_version", "dl_device", "copy");
    PyObject *given[4];
    if (ext_arguments(given, &signature, args, nargs, kwnames) < 0)
        return NULL;
    PyObject *array = array_to_export((TensorObject *)self);
    if (array != NULL)
        array = guarded(array, given[1], given[3]);
    if (array == NULL)
        return NULL;
    /* What is None is left out: NumPy 2.0 knows `stream` only. */
    PyObject *result = NULL, *none = PyTuple_New(0), *options = PyDict_New();
    PyObject *method = PyObject_GetAttrString(array, "__dlpack__");
    bool well = none != NULL && options != NULL && method != NULL;
    for (int k = 0; well && k < 4; k++)
        if (given[k] != NULL && given[k] != Py_None)
            well = PyDict_SetItemString(options, signature.names[k], given[k]) == 0;
    if (well)
        result = PyObject_Call(method, none, options);
    Py_XDECREF(method);
    Py_XDECREF(options);
    Py_XDECREF(none);
    Py_DECREF(array);
    return result;
}

const char ext_tensor_dlpack_doc[] =
    "__dlpack__($self, /, *, stream=None, max_version=None, dl_device=None, "
    "copy=None)\n--\n\n"
    "Return a capsule of DLPack, by which another library sees the elements.\n\n"
    "A consumer such as ``numpy.from_dlpack(x)`` or ``torch.from_dlpack(x)`` calls "
    "it.\n"
    "Memory is shared; that of a replicated DTensor is read-only, and goes as a copy\n"
    "to a consumer that knows no read-only memory. Not collective.\n\n"
    "Parameters\n----------\n"
    "stream : None\n    There are no streams on a CPU.\n"
    "max_version : tuple of int, optional\n"
    "    The newest version that the consumer knows; by default one before 1.0.\n"
    "dl_device : tuple of int, optional\n    ``(1, 0)``, the CPU.\n"
    "copy : bool, optional\n    True: always copy, False: never.\n\n"
    "Raises\n------\n"
    "BufferError\n"
    "    If a DTensor is not whole on every rank: ``x.full_tensor()`` gathers it. If\n"
    "    `requires_grad` is set, DLPack lacks the dtype, the device is another one, "
    "or\n"
    "    read-only memory would have to be copied and must not be.\n"
    "RuntimeError, ValueError\n    If `stream` is not None: ValueError with NumPy 2.5 "
    "and newer.";

PyObject *
ext_tensor_dlpack_device(PyObject *Py_UNUSED(self), PyObject *Py_UNUSED(ignored))
{
    enum { DLPACK_CPU = 1 };
    return Py_BuildValue("(ii)", DLPACK_CPU, 0);
}

const char ext_tensor_dlpack_device_doc[] =
    "__dlpack_device__($self, /)\n--\n\n"
    "Return where the elements are, in DLPack's numbers: ``(1, 0)``, the CPU.";
