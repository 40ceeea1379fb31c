/* Gradients at the borders: where arrays become DTensors, where DTensors move, and
 * where they become arrays again.
 *
 * The layout of a gradient follows PyTorch's newest defaults: that of the tensor it is
 * the gradient of, Replicate where that is Partial, unless the user says otherwise. An
 * averaged addend gets its share of the gradient, which PyTorch leaves whole. */
#include "ext/tape/tape.h"

LayoutObject *
tape_dual(LayoutObject *layout)
{
    if (!layout->layout->has_partial)
        return (LayoutObject *)Py_NewRef((PyObject *)layout);
    return ext_layout_dual(layout);
}

/* The layout in which a gradient is wanted: dual, or as the user says. */
static LayoutObject *
wanted_layout(LayoutObject *layout, PyObject *grad_placements)
{
    dt_placement placements[DT_MESH_MAX_NDIM];
    if (grad_placements == NULL || grad_placements == Py_None)
        return tape_dual(layout);
    if (ext_placements(placements, layout->mesh->mesh, grad_placements,
                       "grad_placements") < 0)
        return NULL;
    return ext_layout_with(layout, placements);
}

/* --- the ways back: functions of (what was known then, gradient) --- */

static PyObject *
in_dtype(PyObject *grad, PyObject *dtype)
{
    return dtype == Py_None ? Py_NewRef(grad)
                            : PyObject_CallMethod(grad, "astype", "O", dtype);
}

/* Like `layout`, of another dtype. New reference. */
static LayoutObject *
of_dtype(LayoutObject *layout, PyObject *grad)
{
    dt_dtype dtype = ((DTensorObject *)grad)->layout->layout->dtype;
    if (dtype == layout->layout->dtype)
        return (LayoutObject *)Py_NewRef((PyObject *)layout);
    return ext_layout_with_dtype(layout, dtype);
}

int
tape_move_tensors(PyObject **out, PyObject *const *tensors, int count,
                  const ext_move_options *o)
{
    int failed = ext_move_tensors(out, tensors, count, o);
    for (int k = 0; k < count && failed == 0; k++) {
        DTensorObject *source = (DTensorObject *)tensors[k];
        ext_in_dialect(out[k], tensors[k]);
        out[k] = tape_moved(out[k], source, o->backward_dtype);
        failed = out[k] == NULL ? -1 : 0;
    }
    for (int k = 0; k < count && failed < 0; k++)
        Py_CLEAR(out[k]);
    return failed;
}

PyObject *
tape_redistribute_to(PyObject *tensor, LayoutObject *to, const char *what)
{
    PyObject *moved;
    ext_move_options o = {.what = what,
                          .mesh = (PyObject *)to->mesh,
                          .placements = (PyObject *)to,
                          .any = true};
    return tape_move_tensors(&moved, &tensor, 1, &o) < 0 ? NULL : moved;
}

/* state: (layout of the source, backward_dtype) */
static PyObject *
back_from_move(PyObject *state, PyObject *grad)
{
    if (!ext_is_dtensor(grad))
        return Py_NewRef(grad);
    PyObject *cast = in_dtype(grad, PyTuple_GET_ITEM(state, 1));
    LayoutObject *to = cast == NULL
                           ? NULL
                           : of_dtype((LayoutObject *)PyTuple_GET_ITEM(state, 0), cast);
    PyObject *moved = to == NULL ? NULL : tape_redistribute_to(cast, to, "backward");
    Py_XDECREF(cast);
    Py_XDECREF((PyObject *)to);
    return moved;
}

/* state: (wanted layout, layout of the DTensor) */
static PyObject *
back_from_local(PyObject *state, PyObject *grad)
{
    LayoutObject *made = (LayoutObject *)PyTuple_GET_ITEM(state, 1);
    int64_t coordinate[DT_MESH_MAX_NDIM];
    double scale;
    dt_error err;
    int inside = made->mesh->mesh->world == 0
                     ? 1
                     : ext_coordinate(coordinate, made->mesh->mesh, "from_local");
    if (inside < 0)
        return NULL;
    if (dt_layout_addend_scale(&scale, made->layout, &err) != DT_OK)
        return ext_raise(&err);
    PyObject *moved = tape_redistribute_to(
        grad, (LayoutObject *)PyTuple_GET_ITEM(state, 0), "backward");
    PyObject *local =
        moved == NULL ? NULL : PyObject_CallMethod(moved, "to_local", NULL);
    Py_XDECREF(moved);
    if (local != NULL && inside == 0) { /* what it gave was not taken */
        Py_DECREF(local);
        Py_RETURN_NONE;
    }
    if (local != NULL && scale != 1) {
        PyObject *number = PyFloat_FromDouble(scale);
        Py_SETREF(local, number == NULL ? NULL : PyNumber_Multiply(local, number));
        Py_XDECREF(number);
    }
    return local;
}

/* The parts as a DTensor of a layout that they fit, without a word to others; recorded.
 */
static PyObject *
wrap_local(PyObject *local, LayoutObject *layout)
{
    PyObject *array = (PyObject *)ext_local(local);
    PyObject *whole =
        ext_arrived(ext_dtensor_checked(&ext_dtensor_type, Py_NewRef(array), layout),
                    layout->mesh->mesh, "a gradient of to_local");
    ext_in_dialect(whole, local);
    return tape_from_local(whole, local, NULL);
}

/* state: (layout that the gradient has, layout that is wanted of it) */
static PyObject *
back_to_local(PyObject *state, PyObject *grad)
{
    PyObject *whole = wrap_local(grad, (LayoutObject *)PyTuple_GET_ITEM(state, 0));
    LayoutObject *wanted = (LayoutObject *)PyTuple_GET_ITEM(state, 1);
    PyObject *moved =
        whole == NULL ? NULL : tape_redistribute_to(whole, wanted, "backward");
    Py_XDECREF(whole);
    return moved;
}

/* The same of a replicated leaf, where nobody has said what its gradient is: ranks that
 * use their replicas with different data have different ones, and each would keep its
 * own. */
static PyObject *
back_to_replicas(PyObject *state, PyObject *grad)
{
    if (PyErr_WarnFormat(PyExc_UserWarning, 3,
                         "to_local of a replicated leaf, %R: its gradient is taken to "
                         "be the same on all ranks. If they use it with different "
                         "data, say grad_placements=[Partial()] (in local_map: "
                         "in_grad_placements), else [Replicate()]",
                         PyTuple_GET_ITEM(state, 0)) < 0)
        return NULL;
    return back_to_local(state, grad);
}

/* --- recording --- */

/* A move to where it was already leaves the gradient as it comes. */
static PyObject *
back_unmoved(PyObject *Py_UNUSED(state), PyObject *grad)
{
    return Py_NewRef(grad);
}

static PyMethodDef back_unmoved_def = {"redistribute", back_unmoved, METH_O, NULL},
                   back_from_move_def = {"redistribute", back_from_move, METH_O, NULL},
                   back_from_local_def = {"from_local", back_from_local, METH_O, NULL},
                   back_to_local_def = {"to_local", back_to_local, METH_O, NULL},
                   back_to_replicas_def = {"to_local", back_to_replicas, METH_O, NULL};

/* Records `result` as made of `source`; steals the result and `state`. */
static PyObject *
record(PyObject *result, PyObject *source, PyMethodDef *back, PyObject *state)
{
    PyObject *backward = state == NULL ? NULL : PyCFunction_New(back, state);
    PyObject *name =
        backward == NULL ? NULL : PyUnicode_InternFromString(back->ml_name);
    int failed = name == NULL
                     ? -1
                     : tape_record_function(name, backward, &source, 1, &result, 1);
    Py_XDECREF(name);
    Py_XDECREF(backward);
    Py_XDECREF(state);
    if (failed < 0)
        Py_CLEAR(result);
    return result;
}

static bool
wants(PyObject *result, PyObject *source)
{
    return result != NULL && !tape_off && tape_requires(source);
}

/* A pair of layouts; steals both. */
static PyObject *
pair(LayoutObject *a, LayoutObject *b)
{
    PyObject *made = a == NULL || b == NULL ? NULL : PyTuple_Pack(2, a, b);
    Py_XDECREF((PyObject *)a);
    Py_XDECREF((PyObject *)b);
    return made;
}

/* What is not recorded shows the memory of its source: a write into it counts for both.
 * Steals the result and gives it back. */
static PyObject *
unrecorded(PyObject *result, PyObject *source)
{
    if (result != NULL && ext_is_tensor(source) &&
        tape_shows((TensorObject *)result, (TensorObject *)source) &&
        tape_share_view((TensorObject *)result, (TensorObject *)source) < 0)
        Py_CLEAR(result);
    return result;
}

PyObject *
tape_moved(PyObject *result, DTensorObject *source, PyObject *backward_dtype)
{
    if (!wants(result, (PyObject *)source))
        return unrecorded(result, (PyObject *)source);
    if (((DTensorObject *)result)->layout == source->layout) {
        result =
            record(result, (PyObject *)source, &back_unmoved_def, Py_NewRef(Py_None));
        return tape_follow(result, &source->tensor);
    }
    LayoutObject *to = tape_dual(source->layout);
    PyObject *dtype = backward_dtype == NULL ? Py_None : backward_dtype;
    PyObject *state = to == NULL ? NULL : PyTuple_Pack(2, to, dtype);
    Py_XDECREF((PyObject *)to);
    return record(result, (PyObject *)source, &back_from_move_def, state);
}

PyObject *
tape_from_local(PyObject *result, PyObject *source, PyObject *grad_placements)
{
    if (!wants(result, source))
        return unrecorded(result, source);
    LayoutObject *layout = ((DTensorObject *)result)->layout;
    LayoutObject *wanted = wanted_layout(layout, grad_placements);
    return record(result, source, &back_from_local_def,
                  pair(wanted, (LayoutObject *)Py_NewRef((PyObject *)layout)));
}

PyObject *
tape_to_local(PyObject *result, DTensorObject *source, PyObject *grad_placements)
{
    if (!wants(result, (PyObject *)source))
        return unrecorded(result, (PyObject *)source);
    PyObject *state = pair(wanted_layout(source->layout, grad_placements),
                           wanted_layout(source->layout, grad_placements));
    bool told = grad_placements != NULL && grad_placements != Py_None;
    bool leaf = source->tensor.node == NULL;
    bool open = !told && leaf && dt_layout_has_replicas(source->layout->layout);
    result = record(result, (PyObject *)source,
                    open ? &back_to_replicas_def : &back_to_local_def, state);
    return tape_follow(result, &source->tensor);
}

PyObject *
tape_gathered(PyObject *result, DTensorObject *source, PyObject *grad_placements)
{
    if (!wants(result, (PyObject *)source))
        return result;
    const dt_layout *layout = source->layout->layout;
    const dt_layout *made =
        ext_layout_make(layout->mesh, NULL, layout->ndim, layout->shape, layout->dtype);
    LayoutObject *whole = ext_layout(made, source->layout->mesh);
    LayoutObject *given = whole == NULL ? NULL : wanted_layout(whole, grad_placements);
    Py_XDECREF((PyObject *)whole);
    return record(result, (PyObject *)source, &back_to_local_def,
                  pair(given, tape_dual(source->layout)));
}
