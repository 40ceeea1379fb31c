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
name_of(PyObject *function)
{
    PyObject *name = PyObject_GetAttrString(function, "__name__");
    if (name != NULL)
        return name;
    PyErr_Clear();
    return PyUnicode_FromString(Py_TYPE(function)->tp_name);
}

/* Whether a hook's tuple can take the place of gradients, some of which are None. */
static int
check_answers(PyObject *function, PyObject *answers, PyObject *grads)
{
    if (!PyTuple_Check(answers))
        return ext_fail(PyExc_TypeError, "expected tuple, but hook returned '%s'",
                        Py_TYPE(answers)->tp_name);
    Py_ssize_t count = PyTuple_GET_SIZE(grads);
    if (PyTuple_GET_SIZE(answers) != count) {
        PyObject *name = name_of(function);
        PyErr_Format(PyExc_RuntimeError,
                     "hook '%S' has returned an incorrect number of values (got %zd, "
                     "but expected %zd)",
                     name, PyTuple_GET_SIZE(answers), count);
        Py_XDECREF(name);
        return -1;
    }
    for (Py_ssize_t k = 0; k < count; k++) {
        PyObject *answer = PyTuple_GET_ITEM(answers, k);
        PyObject *grad = PyTuple_GET_ITEM(grads, k);
        if (answer == Py_None)
            continue;
        if (grad == Py_None)
            return ext_fail(PyExc_RuntimeError,
                            "can't replace a None gradient with a non-None value");
        if (check_answer(answer, grad) < 0)
            return -1;
    }
    return 0;
}

/* `have`: a gradient, or a tuple of these, of which the hook may give others. */
static PyObject *
answer_of_hook(PyObject *function, PyObject *args, PyObject *have)
{
    PyObject *answer = PyObject_CallObject(function, args);
    if (answer != NULL && answer != Py_None &&
        (PyTuple_Check(have) ? check_answers(function, answer, have)
                             : check_answer(answer, have)) < 0)
        Py_CLEAR(answer);
    return answer;
}

/* What it returns; steals `args`. It may raise on this rank alone. */
static PyObject *
call_hook(PyObject *function, PyObject *args, PyObject *have, PyObject *grad)
{
    if (args == NULL)
        return NULL;
    if (!ext_is_dtensor(grad)) {
        ext_local_call local = ext_local_begin("a hook");
        PyObject *made = answer_of_hook(function, args, have);
        ext_local_end(&local, made != NULL);
        Py_DECREF(args);
        return made;
    }
    ext_told = false;
    PyObject *answer = answer_of_hook(function, args, have);
    Py_DECREF(args);
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
        PyObject *answer = call_hook(function, PyTuple_Pack(1, grad), grad, grad);
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

/* Calls the hooks of a node of one kind. `have`: what they may give others of, a tuple;
 * stolen, and the new one returned. `second`: their other argument, or NULL. `grad`: one
 * of the gradients. */
static PyObject *
call_all(NodeObject *node, const char *kind, PyObject *have, PyObject *second,
         PyObject *grad)
{
    PyObject *list = have == NULL ? NULL : PyList_AsTuple(node->hooks);
    for (Py_ssize_t k = 0; list != NULL && have != NULL && k < PyTuple_GET_SIZE(list);
         k++) {
        PyObject *entry = PyTuple_GET_ITEM(list, k);
        PyObject *function = PyTuple_GET_ITEM(entry, 2);
        if (PyUnicode_CompareWithASCIIString(PyTuple_GET_ITEM(entry, 1), kind) != 0)
            continue;
        PyObject *args =
            second == NULL ? PyTuple_Pack(1, have) : PyTuple_Pack(2, have, second);
        PyObject *answer = call_hook(function, args, have, grad);
        if (answer == NULL)
            Py_CLEAR(have);
        else if (answer == Py_None)
            Py_DECREF(answer);
        else
            Py_SETREF(have, answer);
    }
    if (list == NULL)
        Py_CLEAR(have);
    Py_XDECREF(list);
    return have;
}

static PyObject *
first_of(PyObject *const *grads, int count)
{
    int k = 0;
    while (k < count - 1 && grads[k] == NULL)
        k++;
    return grads[k];
}

int
hooks_before(NodeObject *node, PyObject **grads)
{
    int count = node->output_count;
    if (!hooks_have(node->hooks, -1, "before"))
        return 0;
    PyObject *first = Py_NewRef(first_of(grads, count));
    PyObject *now = call_all(node, "before", ext_tuple_of(grads, count), NULL, first);
    for (int k = 0; now != NULL && k < count; k++) {
        PyObject *grad = PyTuple_GET_ITEM(now, k);
        Py_XSETREF(grads[k], grad == Py_None ? NULL : Py_NewRef(grad));
    }
    Py_DECREF(first);
    Py_XDECREF(now);
    return now == NULL ? -1 : 0;
}

PyObject *
hooks_after(NodeObject *node, PyObject *const *grads, PyObject *results)
{
    int count = node->output_count;
    if (results == NULL || !hooks_have(node->hooks, -1, "after"))
        return results;
    PyObject *given = ext_tuple_of(grads, count);
    PyObject *now = given == NULL ? NULL : Py_NewRef(results);
    now = call_all(node, "after", now, given, first_of(grads, count));
    Py_XDECREF(given);
    Py_DECREF(results);
    return now;
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
