/* hooks.c: what users, and fully_shard, are told of gradients. */
#include "ext/tape/route.h"

#include <string.h>

/* Whether a hook's answer can take the place of a gradient. */
static int
check_answer(PyObject *answer, PyObject *grad)
{
    if (!ext_is_tensor(answer) || ext_is_dtensor(answer) != ext_is_dtensor(grad))
        return ext_fail(PyExc_TypeError, "expected a %s, but hook returned '%s'",
                        ext_is_dtensor(grad) ? "DTensor" : "Tensor",
                        Py_TYPE(answer)->tp_name);
    const char *differs =
        ext_tensor_differs((TensorObject *)answer, (TensorObject *)grad);
    if (differs == NULL)
        return 0;
    return ext_fail(PyExc_RuntimeError, "a hook has changed the %s of value", differs);
}

static PyObject *
answer_of_hook(PyObject *function, PyObject *grad)
{
    PyObject *answer = PyObject_CallOneArg(function, grad);
    if (answer != NULL && answer != Py_None && check_answer(answer, grad) < 0)
        Py_CLEAR(answer);
    return answer;
}

/* What it returns. It may raise on this rank alone. */
static PyObject *
call_hook(PyObject *function, PyObject *grad)
{
    if (!ext_is_dtensor(grad)) {
        ext_local_call local = ext_local_begin("a hook");
        PyObject *made = answer_of_hook(function, grad);
        ext_local_end(&local, made != NULL);
        return made;
    }
    ext_told = false;
    PyObject *answer = answer_of_hook(function, grad);
    const dt_mesh *mesh = ((DTensorObject *)grad)->layout->layout->mesh;
    uint64_t lineage = ext_lineage((DTensorObject *)grad);
    if (answer == NULL && !ext_told && mesh->size > 1 && lineage != 0)
        ext_note_failure(mesh, lineage, "a hook");
    return answer;
}

PyObject *
hooks_call(PyObject *hooks, int output, const char *kind, PyObject *grad)
{
    PyObject *list = hooks == NULL ? NULL : PyList_AsTuple(hooks);
    for (Py_ssize_t k = 0; list != NULL && grad != NULL && k < PyTuple_GET_SIZE(list);
         k++) {
        int place;
        const char *is;
        PyObject *function;
        if (!PyArg_ParseTuple(PyTuple_GET_ITEM(list, k), "isO", &place, &is,
                              &function)) {
            Py_CLEAR(grad);
            break;
        }
        if (place != output || strcmp(is, kind) != 0)
            continue;
        PyObject *answer = call_hook(function, grad);
        if (answer == NULL)
            Py_CLEAR(grad);
        else if (answer == Py_None)
            Py_DECREF(answer);
        else
            Py_SETREF(grad, answer);
    }
    if (hooks != NULL && list == NULL)
        Py_CLEAR(grad);
    Py_XDECREF(list);
    return grad;
}

int
hooks_done(TensorObject *leaf)
{
    PyObject *done = hooks_call(leaf->hooks, 0, "at once", Py_NewRef((PyObject *)leaf));
    if (done != NULL)
        done = hooks_call(leaf->hooks, 0, "accumulated", done);
    Py_XDECREF(done);
    return done == NULL ? -1 : 0;
}

bool
hooks_have(PyObject *hooks, int output, const char *kind)
{
    bool found = false;
    for (Py_ssize_t k = 0; hooks != NULL && !found && k < PyList_GET_SIZE(hooks); k++) {
        int place;
        const char *is;
        PyObject *function;
        found = PyArg_ParseTuple(PyList_GET_ITEM(hooks, k), "isO", &place, &is,
                                 &function) &&
                place == output && strcmp(is, kind) == 0;
    }
    PyErr_Clear();
    return found;
}
