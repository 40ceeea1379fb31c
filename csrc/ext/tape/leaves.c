/* leaves.c: small gradients that are to be reduced wait for one another, and move
 * together: one message to each peer instead of one for each gradient. */
#include "ext/tape/route.h"

/* Of the whole array, so that all ranks decide alike. A larger one gains nothing. */
static const int64_t SMALL_BYTES = (int64_t)1 << 20;

/* With their sums they take as much memory again: not of more than these at once. */
static const int64_t TOGETHER_BYTES = (int64_t)1 << 24;

static int64_t
bytes_of(const dt_layout *layout)
{
    int64_t bytes = (int64_t)dt_dtype_size(layout->dtype);
    for (int d = 0; d < layout->ndim && bytes <= SMALL_BYTES; d++)
        bytes *= layout->shape[d];
    return bytes;
}

bool
leaf_may_wait(const journey *j, TensorObject *leaf, PyObject *grad)
{
    if (j->inputs != NULL || !tape_off || hooks_have(leaf->hooks, 0, "at once") ||
        !ext_is_dtensor((PyObject *)leaf) || !ext_is_dtensor(grad))
        return false;
    const dt_layout *from = ((DTensorObject *)grad)->layout->layout;
    return from->has_partial && !((DTensorObject *)leaf)->layout->layout->has_partial &&
           from->mesh == ((DTensorObject *)leaf)->layout->layout->mesh &&
           bytes_of(from) <= SMALL_BYTES;
}

int
leaf_wait(journey *j, TensorObject *leaf, PyObject *grad)
{
    PyObject *pair = PyTuple_Pack(2, (PyObject *)leaf, grad);
    Py_DECREF(grad);
    if (j->late == NULL)
        j->late = PyList_New(0);
    int failed = pair == NULL || j->late == NULL ? -1 : PyList_Append(j->late, pair);
    Py_XDECREF(pair);
    return failed;
}

static TensorObject *
leaf_at(PyObject *list, Py_ssize_t k)
{
    return (TensorObject *)PyTuple_GET_ITEM(PyList_GET_ITEM(list, k), 0);
}

static PyObject *
grad_at(PyObject *list, Py_ssize_t k)
{
    return PyTuple_GET_ITEM(PyList_GET_ITEM(list, k), 1);
}

/* Whether what waits at k may move with what waits at 0. */
static bool
goes_along(PyObject *list, Py_ssize_t k)
{
    const dt_layout *a = ((DTensorObject *)grad_at(list, 0))->layout->layout;
    const dt_layout *b = ((DTensorObject *)grad_at(list, k))->layout->layout;
    return a->mesh == b->mesh && a->dtype == b->dtype;
}

/* Takes what moves together off the list, the first and those that go along. */
static PyObject *
take_group(PyObject *list)
{
    PyObject *group = PyList_New(0), *rest = PyList_New(0);
    int64_t bytes = 0;
    int failed = group == NULL || rest == NULL ? -1 : 0;
    for (Py_ssize_t k = 0; failed == 0 && k < PyList_GET_SIZE(list); k++) {
        bool along = bytes <= TOGETHER_BYTES && goes_along(list, k);
        bytes +=
            along ? bytes_of(((DTensorObject *)grad_at(list, k))->layout->layout) : 0;
        failed = PyList_Append(along ? group : rest, PyList_GET_ITEM(list, k));
    }
    if (failed == 0)
        failed = PyList_SetSlice(list, 0, PyList_GET_SIZE(list), rest);
    Py_XDECREF(rest);
    if (failed < 0)
        Py_CLEAR(group);
    return group;
}

/* The gradients of a group in the layouts of their leaves. */
static int
move_group(PyObject **out, PyObject *group)
{
    Py_ssize_t count = PyList_GET_SIZE(group);
    PyObject **grads = PyMem_New(PyObject *, (size_t)count);
    PyObject *layouts = PyList_New(count);
    MeshObject *mesh = ((DTensorObject *)grad_at(group, 0))->layout->mesh;
    ext_move_options o = {.what = "backward",
                          .mesh = (PyObject *)mesh,
                          .placements = layouts,
                          .any = true,
                          .each = true};
    int failed = grads == NULL || layouts == NULL ? -1 : 0;
    for (Py_ssize_t k = 0; failed == 0 && k < count; k++) {
        DTensorObject *leaf = (DTensorObject *)leaf_at(group, k);
        grads[k] = grad_at(group, k);
        PyList_SET_ITEM(layouts, k, Py_NewRef((PyObject *)leaf->layout));
    }
    if (failed == 0)
        failed = ext_move_tensors(out, grads, (int)count, &o);
    Py_XDECREF(layouts);
    PyMem_Free(grads);
    return failed;
}

int
leaves_settle(journey *j)
{
    while (j->late != NULL && PyList_GET_SIZE(j->late) > 0) {
        PyObject *group = take_group(j->late);
        if (group == NULL)
            return -1;
        Py_ssize_t count = PyList_GET_SIZE(group);
        PyObject **moved = PyMem_Calloc((size_t)count, sizeof *moved);
        int failed = moved == NULL ? ext_no_memory() : move_group(moved, group);
        for (Py_ssize_t k = 0; k < count && moved != NULL; k++) {
            if (failed == 0)
                failed = tape_accumulate(leaf_at(group, k), moved[k]);
            else
                Py_XDECREF(moved[k]);
            if (failed == 0)
                failed = hooks_done(leaf_at(group, k));
        }
        PyMem_Free(moved);
        Py_DECREF(group);
        if (failed < 0)
            return -1;
    }
    return 0;
}
