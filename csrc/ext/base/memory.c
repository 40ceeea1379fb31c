/* memory.c: arrays whose memory is the library's own. */
#include "ext/base/base.h"

#include "core/memory/memory.h"

enum { SMALL = 1 << 10 /* bytes: NumPy keeps its own small blocks for reuse, too */ };

/* What owns the block of an array, as its base. */
typedef struct {
    PyObject_HEAD
    void *block;
} BlockObject;

static void
block_dealloc(PyObject *object)
{
    dt_memory_give(((BlockObject *)object)->block);
    PyObject_Free(object);
}

static PyTypeObject block_type = {
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = "dtensor._C._Block",
    .tp_basicsize = sizeof(BlockObject),
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION,
    .tp_doc = "Memory of an array.",
    .tp_dealloc = block_dealloc,
};

bool
ext_has_own_memory(PyArrayObject *array)
{
    PyObject *base = PyArray_BASE(array);
    return base == NULL ? PyArray_CHKFLAGS(array, NPY_ARRAY_OWNDATA)
                        : Py_TYPE(base) == &block_type && Py_REFCNT(base) == 1;
}

PyArrayObject *
ext_owner(PyArrayObject *array)
{
    PyObject *base = PyArray_BASE(array);
    while (base != NULL && PyArray_Check(base)) {
        array = (PyArrayObject *)base;
        base = PyArray_BASE(array);
    }
    return array;
}

static BlockObject *
take_block(size_t bytes)
{
    bool ready = block_type.tp_base != NULL || PyType_Ready(&block_type) == 0;
    void *block = ready ? dt_memory_take(bytes) : NULL;
    if (block == NULL)
        return ready
                   ? (BlockObject *)PyErr_Format(PyExc_MemoryError,
                                                 "no memory for an array of %zu bytes",
                                                 bytes)
                   : NULL;
    BlockObject *self = PyObject_New(BlockObject, &block_type);
    if (self == NULL)
        dt_memory_give(block);
    else
        self->block = block;
    return self;
}

PyObject *
ext_array(int ndim, const int64_t *shape, dt_dtype dtype)
{
    npy_intp lengths[DT_MAX_NDIM];
    size_t bytes = dt_dtype_size(dtype);
    for (int d = 0; d < ndim; d++) {
        lengths[d] = (npy_intp)shape[d];
        if (__builtin_mul_overflow(bytes, (size_t)shape[d], &bytes)) {
            PyErr_SetString(PyExc_ValueError, /* as NumPy */
                            "an array of this shape is too big");
            return NULL;
        }
    }
    PyArray_Descr *descr = ext_descr(dtype);
    if (descr == NULL)
        return NULL;
    /* NumPy's arrays without elements have strides of 0. */
    if (0 < bytes && bytes < SMALL && !dt_memory_observed())
        return PyArray_NewFromDescr(&PyArray_Type, descr, ndim, lengths, NULL, NULL, 0,
                                    NULL);
    BlockObject *owner = take_block(bytes);
    if (owner == NULL) {
        Py_DECREF(descr);
        return NULL;
    }
    PyObject *array = PyArray_NewFromDescr(&PyArray_Type, descr, ndim, lengths, NULL,
                                           owner->block, NPY_ARRAY_CARRAY, NULL);
    if (array == NULL) {
        Py_DECREF(owner);
        return NULL;
    }
    if (PyArray_SetBaseObject((PyArrayObject *)array, (PyObject *)owner) < 0)
        Py_CLEAR(array);
    return array;
}

PyObject *
ext_array_like(PyArrayObject *array, dt_dtype dtype)
{
    int64_t shape[DT_MAX_NDIM];
    return ext_array(ext_array_shape(shape, array), shape, dtype);
}

static PyObject *
memory_info(PyObject *Py_UNUSED(module), PyObject *Py_UNUSED(none))
{
    return Py_BuildValue("{s:n,s:n,s:L}", "used", (Py_ssize_t)dt_memory_used(), "kept",
                         (Py_ssize_t)dt_memory_kept(), "blocks", ext_blocks());
}

static PyObject *
set_memory_limit(PyObject *Py_UNUSED(module), PyObject *bytes)
{
    size_t limit = PyLong_AsSize_t(bytes);
    if (limit == (size_t)-1 && PyErr_Occurred())
        return NULL;
    dt_memory_set_limit(limit);
    Py_RETURN_NONE;
}

/* While memory is counted, NumPy's large arrays come from the pool whoever makes them. */
static PyObject *
count_memory(PyObject *Py_UNUSED(module), PyObject *on)
{
    int begin = PyObject_IsTrue(on);
    if (begin < 0 || (begin && ext_handler_install() < 0))
        return NULL;
    size_t most = dt_memory_watched();
    ext_computing = begin;
    if (begin && !dt_memory_watch())
        return PyErr_NoMemory();
    return PyLong_FromSize_t(most);
}

PyMethodDef ext_memory_methods[] = {
    {"_memory_info", memory_info, METH_NOARGS,
     "_memory_info()\n--\n\n"
     "Return the bytes of blocks that are `used` by arrays and `kept` for reuse, and "
     "how\n"
     "many `blocks` of other memory the C code holds."},
    {"_count_memory", count_memory, METH_O,
     "_count_memory(on, /)\n--\n\n"
     "Count the memory of arrays that this thread makes from now on, or end that. "
     "Return the\n"
     "most bytes that they had at one time until now: arrays of the library, and large "
     "ones of\n"
     "NumPy's; not what NumPy's functions themselves hold while they run."},
    {"_set_memory_limit", set_memory_limit, METH_O,
     "_set_memory_limit(bytes, /)\n--\n\n"
     "Keep at most `bytes` bytes of freed blocks; what is over is freed at once."},
    {0},
};
