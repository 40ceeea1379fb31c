/* redistribute.c: redistribute, of one tensor and of several. */
#include "ext/face/face.h"

static bool
is_list(PyObject *object)
{
    return object != NULL && (PyList_Check(object) || PyTuple_Check(object));
}

/* --- the functions --- */

enum { MESH, PLACEMENTS, ASYNC, FORWARD, BACKWARD, MAX_BYTES, OPTIONS };

static int
read_options(ext_move_options *o, PyObject *const *given)
{
    dt_dtype backward;
    o->mesh = given[MESH];
    o->placements = given[PLACEMENTS];
    o->forward_dtype = given[FORWARD];
    o->backward_dtype = given[BACKWARD];
    if (ext_argument_bool(&o->async, given[ASYNC]) < 0 ||
        ext_argument_int(&o->max_bytes, given[MAX_BYTES]) < 0 ||
        ext_dtype_like(&backward, given[BACKWARD], DT_FLOAT32, o->what) < 0)
        return -1;
    if (given[MAX_BYTES] != NULL && given[MAX_BYTES] != Py_None && o->max_bytes <= 0)
        return ext_fail(PyExc_ValueError,
                        "%s: max_bytes must be a positive number of bytes, not %lld",
                        o->what, (long long)o->max_bytes);
    return 0;
}

PyObject *
ext_dtensor_redistribute(PyObject *self, PyObject *const *args, Py_ssize_t nargs,
                         PyObject *kwnames)
{
    static const ext_signature signature =
        EXT_SIGNATURE("redistribute", OPTIONS, 2, 0, "device_mesh", "placements",
                      "async_op", "forward_dtype", "backward_dtype", "max_bytes");
    PyObject *given[OPTIONS], *moved;
    ext_move_options o = {.what = "redistribute"};
    if (ext_arguments(given, &signature, args, nargs, kwnames) < 0 ||
        read_options(&o, given) < 0)
        return ext_fail_together(((DTensorObject *)self)->layout->layout->mesh, NULL,
                                 o.what);
    return tape_move_tensors(&moved, &self, 1, &o) < 0 ? NULL : moved;
}

/* One tensor or a list; the DTensors, to be released. NULL with an exception. */
static PyObject *
tensors_of(PyObject *object, const char *what)
{
    PyObject *list =
        is_list(object) ? PySequence_Tuple(object) : PyTuple_Pack(1, object);
    for (Py_ssize_t i = 0; list != NULL && i < PyTuple_GET_SIZE(list); i++)
        if (!ext_is_dtensor(PyTuple_GET_ITEM(list, i))) {
            PyErr_Format(PyExc_TypeError,
                         "%s: expected a DTensor or a list of them, got %s", what,
                         Py_TYPE(PyTuple_GET_ITEM(list, i))->tp_name);
            Py_CLEAR(list);
        }
    return list;
}

/* Whether `placements` has an entry for each tensor; -1 if not one for each. */
static int
placements_each(PyObject *placements, Py_ssize_t count, const char *what)
{
    if (!is_list(placements) || PySequence_Fast_GET_SIZE(placements) == 0 ||
        PyObject_TypeCheck(PySequence_Fast_GET_ITEM(placements, 0),
                           &ext_placement_type))
        return 0;
    if (PySequence_Fast_GET_SIZE(placements) == count)
        return 1;
    return ext_fail(PyExc_ValueError, "%s: got %zd lists of placements for %zd tensors",
                    what, PySequence_Fast_GET_SIZE(placements), count);
}

/* Tells the ranks of the first DTensor of a list, if it has one, that this rank's list
 * is no good. */
static PyObject *
refuse_list(PyObject *object, const char *what)
{
    Py_ssize_t count = is_list(object) ? PySequence_Fast_GET_SIZE(object) : 0;
    for (Py_ssize_t i = 0; i < count; i++) {
        PyObject *item = PySequence_Fast_GET_ITEM(object, i);
        if (ext_is_dtensor(item))
            return ext_fail_together(((DTensorObject *)item)->layout->layout->mesh,
                                     NULL, what);
    }
    return NULL;
}

/* A list of the moved tensors. */
static PyObject *
move_list(PyObject *tensors, const ext_move_options *o)
{
    Py_ssize_t count = PyTuple_GET_SIZE(tensors);
    PyObject **moved = PyMem_New(PyObject *, (size_t)count), *list = NULL;
    if (moved == NULL)
        return PyErr_NoMemory();
    if (tape_move_tensors(moved, &PyTuple_GET_ITEM(tensors, 0), (int)count, o) == 0) {
        list = PyList_New(count);
        for (Py_ssize_t k = 0; k < count; k++)
            if (list != NULL)
                PyList_SET_ITEM(list, k, moved[k]);
            else
                Py_DECREF(moved[k]);
    }
    PyMem_Free(moved);
    return list;
}

static PyObject *
redistribute_some(PyObject *object, ext_move_options *o, PyObject *const *given)
{
    PyObject *tensors = tensors_of(object, o->what);
    if (tensors == NULL)
        return refuse_list(object, o->what);
    Py_ssize_t count = PyTuple_GET_SIZE(tensors);
    PyObject *result = NULL;
    if (count == 0)
        result = PyList_New(0);
    else {
        int each = read_options(o, given);
        if (each == 0 && is_list(object))
            each = placements_each(given[PLACEMENTS], count, o->what);
        DTensorObject *first = (DTensorObject *)PyTuple_GET_ITEM(tensors, 0);
        o->each = each > 0;
        result = each < 0
                     ? ext_fail_together(first->layout->layout->mesh, NULL, o->what)
                     : move_list(tensors, o);
    }
    Py_DECREF(tensors);
    if (result != NULL && !is_list(object)) {
        PyObject *one = Py_NewRef(PyList_GET_ITEM(result, 0));
        Py_DECREF(result);
        return one;
    }
    return result;
}

static PyObject *
redistribute_as(bool any, PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames)
{
    static const char what[] = "redistribute";
    ext_signature signature =
        EXT_SIGNATURE(what, OPTIONS + 1, 3, 1, "tensors", "device_mesh", "placements",
                      "async_op", "forward_dtype", "backward_dtype", "max_bytes");
    PyObject *given[OPTIONS + 1];
    ext_move_options o = {.what = what, .any = any};
    if (ext_arguments(given, &signature, args, nargs, kwnames) < 0)
        return NULL;
    return redistribute_some(given[0], &o, given + 1);
}

static PyObject *
redistribute(PyObject *Py_UNUSED(module), PyObject *const *args, Py_ssize_t nargs,
             PyObject *kwnames)
{
    return redistribute_as(false, args, nargs, kwnames);
}

static PyObject *
redistribute_any(PyObject *module, PyObject *const *args, Py_ssize_t nargs,
                 PyObject *kwnames)
{
    if (tape_tracing != NULL) {
        PyObject *self = PyObject_GetAttrString(module, "_redistribute_any");
        PyObject *result =
            self == NULL ? NULL : tape_traced_call(self, args, (size_t)nargs, kwnames);
        Py_XDECREF(self);
        return result;
    }
    return redistribute_as(true, args, nargs, kwnames);
}

#define REDISTRIBUTE_PARAMETERS                                                        \
    "device_mesh : DeviceMesh, optional\n"                                             \
    "    Where to; default: the mesh it is on. It may have another shape or other\n"   \
    "    ranks of the same job; then the ranks of both meshes call this.\n"            \
    "placements : sequence of Placement, or Layout, optional\n"                        \
    "    One placement for each mesh dimension; default: Replicate on all. A Layout\n" \
    "    also says orders and cut points.\n"                                           \
    "async_op : bool, default False\n"                                                 \
    "    Return before the data are here: the first look at them, or ``wait()``,\n"    \
    "    waits. Until then the source must not be written to.\n"                       \
    "forward_dtype : dtype_like, optional\n"                                           \
    "    Cast to it before anything moves; the result has this dtype.\n"               \
    "backward_dtype : dtype_like, optional\n"                                          \
    "    The dtype in which the gradient moves back.\n"                                \
    "max_bytes : int, optional\n"                                                      \
    "    The most bytes of scratch memory beside source and result.\n\n"

#define REDISTRIBUTE_RAISES                                                            \
    "Raises\n------\n"                                                                 \
    "ValueError\n"                                                                     \
    "    If there are more or fewer placements than mesh dimensions, or no plan "      \
    "keeps\n"                                                                          \
    "    to `max_bytes`. On every rank, before data move.\n"                           \
    "IndexError\n"                                                                     \
    "    If a Shard names a dimension that the tensor lacks. On every rank.\n"         \
    "RuntimeError\n"                                                                   \
    "    If a new Partial is asked for: there is no one way to split a value into\n"   \
    "    addends. Or if the ranks call different things: on every rank, showing "      \
    "both.\n"

const char ext_dtensor_redistribute_doc[] =
    "redistribute($self, /, device_mesh=None, placements=None, *, async_op=False, "
    "forward_dtype=None, backward_dtype=None, max_bytes=None)\n--\n\n"
    "Return the same tensor in another layout, moving data where needed.\n\n"
    "Collective over both meshes, unless nothing has to be sent. "
    "``dtensor.debug.explain``\ntells what will be sent.\n\n"
    "Parameters\n----------\n" REDISTRIBUTE_PARAMETERS "Returns\n-------\n"
    "DTensor\n"
    "    Of the same global shape. It shares memory with this one only where its "
    "parts\n"
    "    are the same.\n\n" REDISTRIBUTE_RAISES;

PyDoc_STRVAR(
    redistribute_doc,
    "redistribute($module, /, tensors, device_mesh=None, placements=None, *, "
    "async_op=False, forward_dtype=None, backward_dtype=None, max_bytes=None)\n"
    "--\n\n"
    "Move several tensors at once: one message for each pair of ranks.\n\n"
    "Collective over both meshes, unless nothing has to be sent.\n\n"
    "Parameters\n----------\n"
    "tensors : DTensor or list of DTensor\n"
    "    Of one mesh; of any shapes and dtypes.\n" REDISTRIBUTE_PARAMETERS
    "Returns\n-------\n"
    "DTensor or list of DTensor\n"
    "    As `tensors`. `placements` may then be a list with an entry for "
    "each.\n\n" REDISTRIBUTE_RAISES);

PyDoc_STRVAR(
    redistribute_any_doc,
    "_redistribute_any($module, /, tensors, device_mesh=None, placements=None, *, "
    "async_op=False, forward_dtype=None, backward_dtype=None, max_bytes=None)\n"
    "--\n\n"
    "As `redistribute`, and also to new Partial placements: coordinate 0 keeps\n"
    "the value and the others hold what adds nothing. For tests.\n");

PyMethodDef ext_redistribute_methods[] = {
    {"redistribute", EXT_FAST(redistribute), redistribute_doc},
    {"_redistribute_any", EXT_FAST(redistribute_any), redistribute_any_doc},
    {NULL, NULL, 0, NULL},
};
