/* loop_half.c: loops of our own in the place of NumPy's for arrays of float16, with the same
 * bits and flags (kernels/half_ops.h). What they do not take as it lies NumPy's does. */
#include "ext/dispatch/loop.h"

#include "kernels/half_ops.h"

#define OWNER "dtensor half loop"

typedef struct {
    op_loop loop;
    const op_loop *numpy;
    PyObject *capsule; /* that has it */
    const dt_half_op *op;
} half_loop;

enum { STEP = sizeof(npy_half) };

static int
run(PyArrayMethod_Context *context, char *const *data, const npy_intp *dimensions,
    const npy_intp *strides, NpyAuxData *auxdata)
{
    const half_loop *self = (const half_loop *)(void *)auxdata;
    const op_loop *numpy = self->numpy;
    const npy_half *x[DT_HALF_OPERANDS];
    int step[DT_HALF_OPERANDS], count = dt_half_op_operands(self->op);
    bool fits = strides[count] == (dt_half_op_compares(self->op) ? 1 : STEP);
    for (int k = 0; k < count; k++) {
        x[k] = (const npy_half *)(const void *)data[k];
        step[k] = strides[k] != 0;
        fits = fits && (strides[k] == STEP || strides[k] == 0);
    }
    if (!fits)
        return numpy->call(context, data, dimensions, strides, numpy->auxdata);
    dt_half_op_run(self->op, DT_FLOAT16, data[count], x, step, dimensions[0]);
    return 0;
}

bool
op_loop_is_half(PyObject *const *argv, int count)
{
    bool found = false;
    for (int k = 0; k < count; k++) {
        if (!PyArray_CheckExact(argv[k]))
            continue;
        if (PyArray_TYPE((PyArrayObject *)argv[k]) != NPY_HALF)
            return false;
        found = true;
    }
    return found;
}

static void
release(PyObject *capsule)
{
    half_loop *self = PyCapsule_GetPointer(capsule, OWNER);
    Py_XDECREF(self->capsule);
    PyMem_Free(self);
}

PyObject *
op_loop_of_halves(const op_loop **out, const op_loop *numpy, PyObject *capsule,
                  const op_entry *entry, PyObject *const *argv)
{
    PyObject *name = PyObject_GetAttrString(entry->kernel, "__name__");
    const char *text = name == NULL ? NULL : PyUnicode_AsUTF8(name);
    const dt_half_op *op = text == NULL ? NULL : dt_half_op_of(text);
    Py_XDECREF(name);
    int count = (int)entry->positional;
    PyArray_Descr *const *dtypes = numpy->context->descriptors;
    if (op == NULL || !op_loop_is_half(argv, count) ||
        count != dt_half_op_operands(op) ||
        dtypes[count]->type_num != (dt_half_op_compares(op) ? NPY_BOOL : NPY_HALF))
        return NULL;
    half_loop *self = PyMem_Malloc(sizeof *self);
    PyObject *owner = self == NULL ? NULL : PyCapsule_New(self, OWNER, release);
    if (owner == NULL) {
        PyMem_Free(self);
        return NULL;
    }
    *self = (half_loop){
        .loop = *numpy, .numpy = numpy, .capsule = Py_NewRef(capsule), .op = op};
    self->loop.call = run;
    self->loop.auxdata = (NpyAuxData *)(void *)self;
    *out = &self->loop;
    return owner;
}
