/* optim.c: a step of an optimizer for a list of parameters. */
#include "ext/kernels/kernels.h"
#include "ext/move/move.h"

#include "kernels/optim.h"

enum { ADAM_STATES = 3 };

/* Lists of as many tensors: parameters, gradients, and what is kept of each parameter;
 * a list may be None. */
typedef struct {
    PyObject *params, *grads, *states[ADAM_STATES];
} lists;

/* The arrays of one parameter, and what they are of. */
typedef struct {
    dt_dtype dtype;
    PyArrayObject *param, *grad, *states[ADAM_STATES]; /* of grad a new reference */
} arrays;

static PyArrayObject *
array_at(PyObject *list, Py_ssize_t k)
{
    if (!PyList_Check(list) || k >= PyList_GET_SIZE(list) ||
        !ext_is_tensor(PyList_GET_ITEM(list, k)))
        return (PyArrayObject *)PyErr_Format(PyExc_TypeError,
                                             "a step takes lists of as many tensors");
    return ext_local(PyList_GET_ITEM(list, k));
}

/* Whether a loop may run through the memory of both arrays at once, and write. */
static bool
goes_along(PyArrayObject *a, PyArrayObject *param)
{
    bool rows = PyArray_IS_C_CONTIGUOUS(a) && PyArray_IS_C_CONTIGUOUS(param);
    bool columns = PyArray_IS_F_CONTIGUOUS(a) && PyArray_IS_F_CONTIGUOUS(param);
    return (rows || columns) && PyArray_TYPE(a) == PyArray_TYPE(param) &&
           PyArray_SAMESHAPE(a, param) && PyArray_ISBEHAVED(a);
}

/* The gradient in the dtype and the order of the parameter: a new reference. */
static PyArrayObject *
grad_for(PyArrayObject *grad, PyArrayObject *param)
{
    int order = PyArray_IS_C_CONTIGUOUS(param) ? NPY_ARRAY_C_CONTIGUOUS
                                               : NPY_ARRAY_F_CONTIGUOUS;
    return (PyArrayObject *)PyArray_FromArray(
        grad, PyArray_DescrFromType(PyArray_TYPE(param)),
        order | NPY_ARRAY_ALIGNED | NPY_ARRAY_NOTSWAPPED | NPY_ARRAY_FORCECAST);
}

/* Whether a kernel is there for the elements of an array. */
static bool
has_kernel(dt_dtype *out, PyArrayObject *array)
{
    static const dt_dtype known[] = {DT_FLOAT32, DT_FLOAT64, DT_FLOAT16, DT_BFLOAT16};
    for (size_t k = 0; k < sizeof known / sizeof *known; k++)
        if (ext_dtype_is(PyArray_DESCR(array), *out = known[k]))
            return true;
    return false;
}

typedef enum { FAILED, LEFT, READY, WITHOUT_DATA } readiness;

/* Reads the arrays of parameter k, and says whether a kernel can do it. */
static readiness
read_arrays(arrays *out, const lists *given, Py_ssize_t k)
{
    *out = (arrays){.param = array_at(given->params, k)};
    PyArrayObject *grad = out->param == NULL ? NULL : array_at(given->grads, k);
    if (grad == NULL)
        return FAILED;
    if (!ext_has_data(out->param) || !ext_has_data(grad))
        return WITHOUT_DATA;
    bool good = has_kernel(&out->dtype, out->param) &&
                goes_along(out->param, out->param) &&
                PyArray_SAMESHAPE(grad, out->param);
    for (int s = 0; s < ADAM_STATES; s++) {
        if (given->states[s] == NULL || given->states[s] == Py_None)
            continue;
        out->states[s] = array_at(given->states[s], k);
        if (out->states[s] == NULL)
            return FAILED;
        good = good && goes_along(out->states[s], out->param);
    }
    if (!good)
        return LEFT;
    out->grad = grad_for(grad, out->param);
    return out->grad == NULL ? FAILED : READY;
}

static void *
data_of(PyArrayObject *array)
{
    return array == NULL ? NULL : PyArray_DATA(array);
}

/* Notes that the tensors at place k of all lists were written, by a step whose numbers
 * are hashed, of its gradient, what it keeps and its count. `text` is what ranks that part
 * here are told of it. */
static int
note_written(const lists *given, Py_ssize_t k, uint64_t numbers, PyObject *steps,
             PyObject *text)
{
    uint64_t call = ext_lineage_add(numbers, PyList_GET_ITEM(given->grads, k));
    for (int s = 0; s < ADAM_STATES; s++)
        if (given->states[s] != NULL && given->states[s] != Py_None)
            call = ext_lineage_add(call, PyList_GET_ITEM(given->states[s], k));
    PyObject *count = steps == NULL ? Py_NewRef(Py_None) : PySequence_GetItem(steps, k);
    if (count == NULL)
        return -1;
    call = ext_lineage_add(call, count);
    Py_DECREF(count);
    ext_journal_note(call, Py_NewRef(text), NULL, call, true, 0);
    int failed = tape_written((TensorObject *)PyList_GET_ITEM(given->params, k), call);
    for (int s = 0; s < ADAM_STATES && failed == 0; s++)
        if (given->states[s] != NULL && given->states[s] != Py_None)
            failed = tape_written((TensorObject *)PyList_GET_ITEM(given->states[s], k),
                                  call);
    return failed;
}

typedef int step_of(const void *how, PyObject *steps, Py_ssize_t k, const arrays *x);

/* "a step of SGD with lr=0.1", or NULL. */
static PyObject *
text_of(const char *optimizer, double lr)
{
    PyObject *number = PyFloat_FromDouble(lr);
    PyObject *text = number == NULL ? NULL
                                    : PyUnicode_FromFormat("a step of %s with lr=%R",
                                                           optimizer, number);
    Py_XDECREF(number);
    return text;
}

/* Calls `step` for each parameter; a list of the places that it cannot do, and the caller
 * does at once: where elements lie may differ between ranks, but not what is written.
 * Steals `text`, which may be NULL. */
static PyObject *
run_steps(const lists *given, step_of *step, const void *how, PyObject *steps,
          PyObject *args, PyObject *text)
{
    if (text == NULL)
        return NULL;
    uint64_t numbers = 0;
    for (Py_ssize_t k = 0; k < PyTuple_GET_SIZE(args); k++)
        if (PyNumber_Check(PyTuple_GET_ITEM(args, k)))
            numbers = ext_lineage_add(numbers, PyTuple_GET_ITEM(args, k));
    PyObject *left = PyList_New(0);
    for (Py_ssize_t k = 0; left != NULL && k < PyList_GET_SIZE(given->params); k++) {
        arrays x;
        readiness ready = read_arrays(&x, given, k);
        int failed = ready == FAILED ? -1 : 0;
        if (ready == READY) {
            failed = step(how, steps, k, &x);
            Py_DECREF(x.grad);
        } else if (ready == LEFT)
            ext_append(&left, PyLong_FromSsize_t(k));
        if (failed == 0 && ready != WITHOUT_DATA)
            failed = note_written(given, k, numbers, steps, text);
        if (failed < 0)
            Py_CLEAR(left);
    }
    Py_DECREF(text);
    return left;
}

static int
step_adam(const void *how, PyObject *steps, Py_ssize_t k, const arrays *x)
{
    dt_adam adam = *(const dt_adam *)how;
    PyObject *count = PySequence_GetItem(steps, k);
    adam.step = count == NULL ? -1 : PyFloat_AsDouble(count);
    Py_XDECREF(count);
    if (PyErr_Occurred())
        return -1;
    int64_t size = PyArray_SIZE(x->param);
    PyThreadState *state = ext_kernel_begin(size);
    dt_adam_step(&adam, x->dtype, size, data_of(x->param), data_of(x->grad),
                 data_of(x->states[0]), data_of(x->states[1]), data_of(x->states[2]));
    ext_kernel_end(state);
    return 0;
}

static int
step_sgd(const void *how, PyObject *Py_UNUSED(steps), Py_ssize_t Py_UNUSED(k),
         const arrays *x)
{
    int64_t size = PyArray_SIZE(x->param);
    PyThreadState *state = ext_kernel_begin(size);
    dt_sgd_step(how, x->dtype, size, data_of(x->param), data_of(x->grad),
                data_of(x->states[0]));
    ext_kernel_end(state);
    return 0;
}

/* The number that a tensor, or whatever it is, has; -1 with an exception. */
static double
number_of(PyObject *object)
{
    PyArrayObject *array = !ext_is_tensor(object) || ext_is_dtensor(object)
                               ? NULL
                               : (PyArrayObject *)((TensorObject *)object)->array;
    if (array != NULL && PyArray_NDIM(array) == 0 && PyArray_TYPE(array) == NPY_FLOAT &&
        PyArray_ISBEHAVED_RO(array) && ext_has_data(array) && ext_put_off == NULL)
        return *(const float *)PyArray_DATA(array);
    PyObject *number = PyNumber_Float(object);
    double value = number == NULL ? -1 : PyFloat_AS_DOUBLE(number);
    Py_XDECREF(number);
    return value;
}

static PyObject *
counted(PyObject *Py_UNUSED(module), PyObject *steps)
{
    if (!PyTuple_Check(steps))
        return PyErr_Format(PyExc_TypeError, "counted takes a tuple");
    Py_ssize_t count = PyTuple_GET_SIZE(steps);
    PyObject *numbers = PyList_New(count), *tensors = PyList_New(count);
    for (Py_ssize_t k = 0; k < count && numbers != NULL && tensors != NULL; k++) {
        PyObject *before = PyTuple_GET_ITEM(steps, k);
        double number = number_of(before) + 1;
        PyObject *array = PyErr_Occurred() ? NULL : ext_array(0, NULL, DT_FLOAT32);
        if (array != NULL)
            *(float *)PyArray_DATA((PyArrayObject *)array) = (float)number;
        ext_put(&tensors, k,
                array == NULL ? NULL : ext_in_dialect(ext_tensor(array), before));
        ext_put(&numbers, k, tensors == NULL ? NULL : PyFloat_FromDouble(number));
    }
    PyObject *both =
        numbers == NULL || tensors == NULL ? NULL : PyTuple_Pack(2, numbers, tensors);
    Py_XDECREF(numbers);
    Py_XDECREF(tensors);
    return both;
}

static PyObject *
adam_steps(PyObject *Py_UNUSED(module), PyObject *args)
{
    lists given;
    dt_adam adam;
    PyObject *steps;
    int decoupled, maximize;
    if (!PyArg_ParseTuple(args, "O!OOOOOdddddpp:adam_steps", &PyList_Type,
                          &given.params, &given.grads, &given.states[0],
                          &given.states[1], &given.states[2], &steps, &adam.lr,
                          &adam.beta1, &adam.beta2, &adam.eps, &adam.weight_decay,
                          &decoupled, &maximize))
        return NULL;
    adam.decoupled = decoupled != 0;
    adam.maximize = maximize != 0;
    PyObject *text = text_of(adam.decoupled ? "AdamW" : "Adam", adam.lr);
    return run_steps(&given, step_adam, &adam, steps, args, text);
}

static PyObject *
sgd_steps(PyObject *Py_UNUSED(module), PyObject *args)
{
    lists given = {0};
    dt_sgd sgd;
    int nesterov, maximize, first;
    if (!PyArg_ParseTuple(args, "O!OOddddppp:sgd_steps", &PyList_Type, &given.params,
                          &given.grads, &given.states[0], &sgd.lr, &sgd.momentum,
                          &sgd.dampening, &sgd.weight_decay, &nesterov, &maximize,
                          &first))
        return NULL;
    sgd.nesterov = nesterov != 0;
    sgd.maximize = maximize != 0;
    sgd.first = first != 0;
    return run_steps(&given, step_sgd, &sgd, NULL, args, text_of("SGD", sgd.lr));
}

PyMethodDef ext_optim_methods[] = {
    {"counted", counted, METH_O,
     "counted(steps, /)\n--\n\n"
     "Return, for a tuple of numbers of steps, those after one more: as floats, and as "
     "new\n"
     "Tensors."},
    {"adam_steps", adam_steps, METH_VARARGS,
     "adam_steps(params, grads, means, squares, peaks, steps, lr, beta1, beta2, eps,\n"
     "           weight_decay, decoupled, maximize, /)\n--\n\n"
     "Do a step of Adam for lists of tensors, in place; `peaks` may be None. Return "
     "the\n"
     "places of those that are left: not floats of 16, 32 or 64 bits, or in pieces."},
    {"sgd_steps", sgd_steps, METH_VARARGS,
     "sgd_steps(params, grads, velocities, lr, momentum, dampening, weight_decay,\n"
     "          nesterov, maximize, first, /)\n--\n\n"
     "Do a step of gradient descent for lists of tensors, as `adam_steps`; without\n"
     "momentum `velocities` is None."},
    {0},
};
