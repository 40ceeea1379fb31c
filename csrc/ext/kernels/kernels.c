/* kernels.c: the callables that C kernels are for operators. */
#include "ext/kernels/kernels.h"

#include "kernels/level.h"

#include <stddef.h>
#include <string.h>

extern const ext_kernel ext_softmax_kernels[], ext_attention_kernels[],
    ext_embedding_kernels[], ext_activation_kernels[], ext_norm_kernels[],
    ext_channel_kernels[], ext_loss_kernels[], ext_pool_kernels[], ext_total_kernels[],
    ext_depthwise_kernels[], ext_resample_kernels[], ext_gamma_kernels[],
    ext_ctc_kernels[];

static const ext_kernel *const TABLES[] = {
    ext_softmax_kernels,   ext_activation_kernels, ext_norm_kernels,
    ext_channel_kernels,   ext_attention_kernels,  ext_embedding_kernels,
    ext_loss_kernels,      ext_pool_kernels,       ext_total_kernels,
    ext_depthwise_kernels, ext_resample_kernels,   ext_gamma_kernels,
    ext_ctc_kernels,
};

typedef struct {
    PyObject_HEAD
    vectorcallfunc vectorcall;
    const ext_kernel *kernel;
} KernelObject;

/* --- arguments --- */

/* The array that a kernel reads: a new reference, itself where it can be. */
static PyArrayObject *
readable(PyObject *object, int type, bool strided)
{
    int flags = NPY_ARRAY_ALIGNED | NPY_ARRAY_NOTSWAPPED | NPY_ARRAY_FORCECAST;
    if (!strided)
        flags |= NPY_ARRAY_C_CONTIGUOUS;
    return (PyArrayObject *)PyArray_FromAny(object, PyArray_DescrFromType(type), 0, 0,
                                            flags, NULL);
}

/* The dtype of the first array: 0 for float32, 1 for float64. */
static int
read_dtype(const ext_kernel *kernel, PyObject *object)
{
    int type = NPY_NOTYPE;
    if (PyArray_Check(object))
        type = PyArray_TYPE((PyArrayObject *)object);
    else if (PyArray_IsScalar(object, Float))
        type = NPY_FLOAT;
    else if (PyArray_IsScalar(object, Double))
        type = NPY_DOUBLE;
    if (type == NPY_FLOAT || type == NPY_DOUBLE)
        return type == NPY_DOUBLE;
    return ext_fail(PyExc_TypeError, "%s takes arrays of float32 or float64, not %R",
                    kernel->name, object);
}

static int
read_argument(ext_argument *out, char letter, PyObject *object, bool wide)
{
    int type = wide ? NPY_DOUBLE : NPY_FLOAT;
    switch (letter) {
    case 'n':
        out->number = PyFloat_AsDouble(object);
        return PyErr_Occurred() ? -1 : 0;
    case 'k':
        out->integer = PyLong_AsLongLong(object);
        return PyErr_Occurred() ? -1 : 0;
    case 'o':
        out->array = object == Py_None ? NULL : readable(object, type, false);
        return object != Py_None && out->array == NULL ? -1 : 0;
    case 'm':
        if (PyArray_Check(object) && PyArray_ISBOOL((PyArrayObject *)object))
            type = NPY_BOOL;
        out->array = object == Py_None ? NULL : readable(object, type, true);
        return object != Py_None && out->array == NULL ? -1 : 0;
    case 'i':
        out->array = readable(object, NPY_INT64, false);
        return out->array == NULL ? -1 : 0;
    default:
        out->array = readable(object, type, letter == 's');
        return out->array == NULL ? -1 : 0;
    }
}

static bool
is_array(char letter)
{
    return strchr("xsomi", letter) != NULL;
}

static PyObject *
kernel_call(PyObject *self, PyObject *const *args, size_t flags, PyObject *kwnames)
{
    const ext_kernel *kernel = ((KernelObject *)self)->kernel;
    ext_argument given[EXT_KERNEL_ARGUMENTS] = {{NULL}};
    Py_ssize_t count = (Py_ssize_t)strlen(kernel->takes), read = 0;
    if (PyVectorcall_NARGS(flags) != count || kwnames != NULL)
        return PyErr_Format(PyExc_TypeError, "%s takes %zd arguments by place",
                            kernel->name, count);
    int wide = read_dtype(kernel, args[0]);
    if (wide < 0)
        return NULL;
    while (read < count &&
           read_argument(&given[read], kernel->takes[read], args[read], wide > 0) == 0)
        read++;
    PyObject *result = read < count ? NULL : kernel->run(kernel, given, wide > 0);
    for (Py_ssize_t k = 0; k < read; k++)
        if (is_array(kernel->takes[k]))
            Py_XDECREF(given[k].array);
    return result;
}

/* --- the type --- */

static PyObject *
kernel_repr(PyObject *self)
{
    return PyUnicode_FromFormat("<kernel %s>", ((KernelObject *)self)->kernel->name);
}

PyTypeObject ext_kernel_type = {
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = "dtensor._C.Kernel",
    .tp_basicsize = sizeof(KernelObject),
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_VECTORCALL |
                Py_TPFLAGS_DISALLOW_INSTANTIATION,
    .tp_repr = kernel_repr,
    .tp_call = PyVectorcall_Call,
    .tp_vectorcall_offset = offsetof(KernelObject, vectorcall),
};

/* The kernel of this name, or NULL. */
static const ext_kernel *
find_kernel(const char *name)
{
    for (size_t t = 0; t < sizeof TABLES / sizeof *TABLES; t++)
        for (const ext_kernel *row = TABLES[t]; row->name != NULL; row++)
            if (strcmp(row->name, name) == 0)
                return row;
    return NULL;
}

static PyObject *
kernel_named(PyObject *Py_UNUSED(module), PyObject *name)
{
    const char *text = PyUnicode_AsUTF8(name);
    const ext_kernel *row = text == NULL ? NULL : find_kernel(text);
    if (row == NULL)
        return text == NULL ? NULL : PyErr_Format(PyExc_KeyError, "%R", name);
    KernelObject *self = PyObject_New(KernelObject, &ext_kernel_type);
    if (self == NULL)
        return NULL;
    self->vectorcall = kernel_call;
    self->kernel = row;
    return (PyObject *)self;
}

static PyObject *
set_level(PyObject *Py_UNUSED(module), PyObject *level)
{
    long wanted = PyLong_AsLong(level);
    return wanted == -1 && PyErr_Occurred()
               ? NULL
               : PyLong_FromLong(dt_level_set((int)wanted));
}

PyMethodDef ext_kernel_methods[] = {
    {"kernel", kernel_named, METH_O,
     "kernel(name, /)\n--\n\n"
     "Return the C kernel of this name, a callable; KeyError if there is none."},
    {"_set_kernel_level", set_level, METH_O,
     "_set_kernel_level(level, /)\n--\n\n"
     "Let kernels use an instruction set (0 is the plainest; -1 the best of this\n"
     "machine); return the one that is used."},
    {0},
};
