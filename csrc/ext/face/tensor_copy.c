/* Copies of a Tensor: its NumPy view, copy, deepcopy, pickle. */
#include "ext/face/face.h"

/* Whether every rank of the mesh has all elements. */
static bool
is_whole(const dt_layout *layout)
{
    for (int m = 0; m < layout->mesh->ndim; m++) {
        dt_placement p = layout->placements[m];
        if (dt_placement_pending(p) ||
            (dt_placement_cuts(p) && layout->mesh->shape[m] > 1))
            return false;
    }
    return true;
}

/* NumPy's functions that take any exception of __array__ for "not equal". */
static bool
is_taken_for_an_answer(void)
{
    PyFrameObject *frame = PyEval_GetFrame();
    if (frame == NULL)
        return false;
    PyCodeObject *code = PyFrame_GetCode(frame);
    PyObject *globals = PyFrame_GetGlobals(frame);
    PyObject *module = PyDict_GetItemString(globals, "__name__");
    bool is_numpy =
        module != NULL && PyUnicode_Check(module) &&
        PyUnicode_CompareWithASCIIString(module, "numpy._core.numeric") == 0;
    bool found = is_numpy &&
                 (PyUnicode_CompareWithASCIIString(code->co_name, "array_equal") == 0 ||
                  PyUnicode_CompareWithASCIIString(code->co_name, "array_equiv") == 0);
    Py_DECREF(globals);
    Py_DECREF(code);
    return found;
}

/* Raises RuntimeError, or what is heard there: what to do instead, for a number and for
 * an array. */
static PyObject *
refuse_cut(const dt_layout *layout)
{
    static PyObject *unheard;
    char text[256];
    if (is_taken_for_an_answer()) {
        if (ext_import(&unheard, "dtensor._core.unheard", "ListOfDTensorsError") !=
            NULL)
            PyErr_SetString(unheard,
                            "array_equal and array_equiv of lists that hold DTensors "
                            "would say False: compare the members, as in "
                            "all(map(np.array_equal, a, b)), or np.stack(a)");
        return NULL;
    }
    dt_layout_print(text, sizeof text, layout);
    return PyErr_Format(
        PyExc_RuntimeError,
        "a DTensor with placements %s is not whole on any rank and is no NumPy array: "
        "call x.full_tensor() to gather it on every rank, or x.to_local() for this "
        "rank's part. %s",
        text,
        layout->ndim == 0
            ? "Instead of np.array([x, y]) write np.stack([x, y]), or float(x), on all "
              "ranks."
            : "To fill an array with it, begin with np.zeros_like of a DTensor; for "
              "a[x], write dtensor.take(a, x); for functions that take arrays alone, "
              "see docs/troubleshooting.md.");
}

PyObject *
ext_tensor_numpy(TensorObject *tensor, bool force)
{
    if (tape_requires((PyObject *)tensor) && !force)
        return PyErr_Format(PyExc_RuntimeError,
                            "Can't call numpy() on Tensor that requires grad. Use "
                            "tensor.detach().numpy() instead.");
    if (ext_refuse_without_data((PyArrayObject *)tensor->array) < 0)
        return NULL;
    bool global = ext_is_dtensor((PyObject *)tensor);
    const dt_layout *layout = global ? ((DTensorObject *)tensor)->layout->layout : NULL;
    if (global && !is_whole(layout))
        return refuse_cut(layout);
    PyArrayObject *array = ext_local((PyObject *)tensor);
    if (array == NULL)
        return NULL;
    PyObject *view = PyArray_View(array, NULL, &PyArray_Type);
    if (view != NULL && global)
        PyArray_CLEARFLAGS((PyArrayObject *)view, NPY_ARRAY_WRITEABLE);
    return view;
}

/* A new object of the same type with another array and none of the rest. */
static TensorObject *
like(TensorObject *self, PyObject *array)
{
    TensorObject *copy = ext_tensor_alloc(Py_TYPE(self), array);
    if (copy == NULL)
        return NULL;
    copy->requires_grad = self->requires_grad;
    copy->parameter = self->parameter;
    if (ext_is_dtensor((PyObject *)self)) {
        ((DTensorObject *)copy)->layout =
            (LayoutObject *)Py_NewRef((PyObject *)((DTensorObject *)self)->layout);
        ext_with_lineage((PyObject *)copy, ext_lineage((DTensorObject *)self));
    }
    return copy;
}

PyObject *
ext_tensor_copy(PyObject *object, PyObject *Py_UNUSED(ignored))
{
    TensorObject *self = (TensorObject *)object;
    PyArrayObject *array = ext_local(object);
    TensorObject *copy =
        array == NULL ? NULL : like(self, Py_NewRef((PyObject *)array));
    if (copy == NULL)
        return NULL;
    copy->grad = Py_XNewRef(self->grad);
    copy->node = Py_XNewRef(self->node);
    copy->output = self->output;
    copy->leaf_view = self->leaf_view;
    if (tape_share_view(copy, self) < 0)
        Py_CLEAR(copy);
    else
        copy->fresh = self->fresh;
    if (copy != NULL && self->dict != NULL &&
        (copy->dict = PyDict_Copy(self->dict)) == NULL)
        Py_CLEAR(copy);
    return (PyObject *)copy;
}

const char ext_tensor_copy_doc[] = "__copy__($self, /)\n--\n\n"
                                   "Return a new object that shares the array.\n";

/* copy.deepcopy of what may be NULL. */
static int
deep(PyObject **out, PyObject *object, PyObject *memo)
{
    if (object == NULL)
        return 0;
    static PyObject *deepcopy;
    if (ext_import(&deepcopy, "copy", "deepcopy") == NULL)
        return -1;
    *out = PyObject_CallFunctionObjArgs(deepcopy, object, memo, NULL);
    return *out == NULL ? -1 : 0;
}

PyObject *
ext_tensor_deepcopy(PyObject *object, PyObject *memo)
{
    TensorObject *self = (TensorObject *)object;
    if (tape_check_fresh(self) < 0)
        return NULL;
    if (self->node != NULL)
        return PyErr_Format(
            PyExc_RuntimeError,
            "Only Tensors created explicitly by the user (graph leaves) "
            "support the deepcopy protocol at the moment");
    PyArrayObject *array = ext_local(object);
    TensorObject *copy = array == NULL ? NULL : like(self, ext_array_copy(array));
    PyObject *key = copy == NULL ? NULL : PyLong_FromVoidPtr(self);
    if (key == NULL ||
        (memo != Py_None && PyObject_SetItem(memo, key, (PyObject *)copy) < 0) ||
        deep(&copy->grad, self->grad, memo) < 0 ||
        deep(&copy->dict, self->dict, memo) < 0)
        Py_CLEAR(copy);
    Py_XDECREF(key);
    return (PyObject *)copy;
}

const char ext_tensor_deepcopy_doc[] = "__deepcopy__($self, memo, /)\n--\n\n"
                                       "Return a new object with an array of its own; "
                                       "of a DTensor local, nothing is sent.\n";

PyObject *
ext_tensor_reduce(PyObject *object, PyObject *Py_UNUSED(protocol))
{
    TensorObject *self = (TensorObject *)object;
    if (ext_is_dtensor(object))
        return PyErr_Format(PyExc_TypeError,
                            "cannot pickle a DTensor: its parts are on several ranks. "
                            "Pickle x.full_tensor(), or x.to_local() on each rank; "
                            "saving parts is what dtensor.checkpoint is for");
    if (ext_refuse_without_data((PyArrayObject *)self->array) < 0 || ext_catch_up() < 0)
        return NULL;
    PyObject *state =
        self->dict != NULL && PyDict_Size(self->dict) > 0 ? self->dict : Py_None;
    return Py_BuildValue("O(OOO)O", Py_TYPE(self), self->array, Py_None,
                         self->requires_grad ? Py_True : Py_False, state);
}

const char ext_tensor_reduce_doc[] = "__reduce_ex__($self, protocol, /)\n--\n\n"
                                     "Pickle a Tensor of this rank.\n\n"
                                     "Raises\n------\n"
                                     "TypeError\n"
                                     "    For a DTensor, whose parts are on several "
                                     "ranks; dtensor.checkpoint is for those.\n";
