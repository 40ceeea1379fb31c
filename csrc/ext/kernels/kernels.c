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

static bool
is_array(char letter)
{
    return strchr("xsomi", letter) != NULL;
}

/* Whether a kernel may read an array where it lies. */
static bool
is_ready(PyObject *object, int type, bool strided)
{
    PyArrayObject *array = (PyArrayObject *)object;
    return PyArray_CheckExact(object) && PyArray_TYPE(array) == type &&
           (strided ? PyArray_ISBEHAVED_RO(array) : PyArray_ISCARRAY_RO(array));
}

/* The array that a kernel reads: a new reference, itself where it can be. */
static PyArrayObject *
readable(PyObject *object, int type, bool strided)
{
    if (is_ready(object, type, strided))
        return (PyArrayObject *)Py_NewRef(object);
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

/* The dtype of an array that stands where `letter` does. */
static int
type_at(char letter, PyObject *object, bool wide)
{
    bool mask = letter == 'm' && PyArray_Check(object) &&
                PyArray_ISBOOL((PyArrayObject *)object);
    return letter == 'i' ? NPY_INT64 : mask ? NPY_BOOL : wide ? NPY_DOUBLE : NPY_FLOAT;
}

/* An array or None, where `letter` stands for an array. */
static bool
may_be_none(char letter)
{
    return letter == 'o' || letter == 'm';
}

static bool
is_strided(char letter)
{
    return letter == 's' || letter == 'm';
}

static int
read_argument(ext_argument *out, char letter, PyObject *object, bool wide)
{
    if (!is_array(letter)) {
        if (letter == 'n')
            out->number = PyFloat_AsDouble(object);
        else
            out->integer = PyLong_AsLongLong(object);
        return PyErr_Occurred() ? -1 : 0;
    }
    out->array = NULL;
    if (may_be_none(letter) && object == Py_None)
        return 0;
    out->array = readable(object, type_at(letter, object, wide), is_strided(letter));
    return out->array == NULL ? -1 : 0;
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

/* --- a call that comes again --- */

static void
known_free(PyObject *capsule)
{
    PyMem_Free(PyCapsule_GetPointer(capsule, NULL));
}

/* -1, maybe with an exception: there is no such call. */
static int
know(ext_kernel_known *known, const ext_kernel *kernel, PyObject *const *args)
{
    int wide = read_dtype(kernel, args[0]);
    *known = (ext_kernel_known){.kernel = kernel, .wide = wide > 0};
    for (int k = 0; wide >= 0 && kernel->takes[k] != 0; k++) {
        char letter = kernel->takes[k];
        if (!is_array(letter)) {
            if (read_argument(&known->given[k], letter, args[k], false) < 0)
                return -1;
        } else if (!may_be_none(letter) || args[k] != Py_None)
            known->arrays[known->count++] = (ext_kernel_array_of){
                k, type_at(letter, args[k], wide > 0), is_strided(letter)};
    }
    return wide < 0 ? -1 : 0;
}

PyObject *
ext_kernel_know(PyObject *callable, PyObject *const *args, Py_ssize_t count)
{
    const ext_kernel *kernel = ((KernelObject *)callable)->kernel;
    ext_kernel_known *known = PyMem_Malloc(sizeof *known);
    bool good = known != NULL && (Py_ssize_t)strlen(kernel->takes) == count &&
                know(known, kernel, args) == 0;
    PyObject *capsule = good ? PyCapsule_New(known, NULL, known_free) : NULL;
    if (capsule == NULL)
        PyMem_Free(known);
    return capsule;
}

PyObject *
ext_kernel_again(const ext_kernel_known *known, PyObject *const *arrays)
{
    ext_argument given[EXT_KERNEL_ARGUMENTS];
    memcpy(given, known->given, sizeof given);
    for (int j = 0; j < known->count; j++) {
        const ext_kernel_array_of *which = &known->arrays[j];
        PyArrayObject *array = (PyArrayObject *)arrays[j];
        if (!is_ready(arrays[j], which->type, which->strided) ||
            PyArray_SIZE(array) > EXT_KERNEL_SMALL)
            return NULL;
        given[which->at].array = array;
    }
    return known->kernel->run(known->kernel, given, known->wide);
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
