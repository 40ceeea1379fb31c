/* redistribute: some tensors on their way. */
#include "ext/tape.h"

/* The arguments, borrowed. */
typedef struct {
    const char *what;
    PyObject *mesh, *placements, *forward_dtype, *backward_dtype;
    int64_t max_bytes;
    bool async, any;
} wishes;

typedef struct {
    DTensorObject *tensor;
    const dt_layout *from; /* in the dtype that travels; retained */
    PyObject *array;       /* the same; owned; NULL: this rank has no memory for it */
    LayoutObject *to;      /* owned */
} passenger;

static PyObject *
cast_part(PyArrayObject *array, dt_dtype dtype)
{
    if (!ext_has_data(array))
        return ext_cast_without_data(array, dtype);
    int64_t shape[DT_MAX_NDIM];
    for (int d = 0; d < PyArray_NDIM(array); d++)
        shape[d] = PyArray_DIM(array, d);
    PyObject *cast = ext_array(PyArray_NDIM(array), shape, dtype);
    if (cast != NULL && PyArray_CopyInto((PyArrayObject *)cast, array) < 0)
        Py_CLEAR(cast);
    return cast;
}

/* Source and target of one tensor; a failure leaves what it has for `leave_board`. What
 * goes wrong with the cast is this rank's own affair, unless data must move. */
static int
board(passenger *p, DTensorObject *tensor, PyObject *placements, const wishes *w,
      dt_error *local)
{
    const dt_layout *from = tensor->layout->layout;
    PyArrayObject *array = ext_local((PyObject *)tensor);
    dt_dtype dtype;
    *p = (passenger){.tensor = tensor};
    if (array == NULL ||
        ext_dtype_like(&dtype, w->forward_dtype, from->dtype, w->what) < 0)
        return -1;
    if (dtype == from->dtype) {
        dt_layout_retain(from);
        p->from = from;
        p->array = Py_NewRef((PyObject *)array);
    } else {
        dt_layout *cast;
        dt_error err;
        if (dt_layout_with_dtype(&cast, from, dtype, &err) != DT_OK) {
            ext_raise(&err);
            return -1;
        }
        p->from = ext_layout_enter(cast);
        p->array = p->from == NULL ? NULL : cast_part(array, dtype);
    }
    if (p->from == NULL)
        return -1;
    if (p->array == NULL)
        ext_catch(local);
    p->to =
        ext_target(p->from, tensor->layout->mesh, w->mesh, placements, w->any, w->what);
    return p->to == NULL ? -1 : 0;
}

static void
leave_board(passenger *p)
{
    if (p->from != NULL)
        dt_layout_release(ext_context, p->from);
    Py_XDECREF(p->array);
    Py_XDECREF(p->to);
}

/* The new tensor; steals `array`. */
static PyObject *
arrive(const passenger *p, const wishes *w, PyObject *array, PyObject *pending)
{
    PyObject *result = ext_dtensor(array, p->to);
    if (result == NULL)
        return NULL;
    ((DTensorObject *)result)->pending = Py_XNewRef(pending);
    return tape_moved(result, p->tensor, w->backward_dtype);
}

/* Moves all of them together; a list of new tensors. */
static PyObject *
ride(passenger *p, int count, const wishes *w, const dt_error *local)
{
    ext_item *items = PyMem_Calloc((size_t)count, sizeof *items);
    if (items == NULL)
        return PyErr_NoMemory();
    for (int i = 0; i < count; i++)
        items[i] =
            (ext_item){.array = p[i].array, .from = p[i].from, .to = p[i].to->layout};
    PyObject *pending = NULL, *list = NULL;
    if (ext_move_items(items, count, w->what, w->max_bytes, local,
                       w->async ? &pending : NULL) == 0)
        list = PyList_New(count);
    for (int i = 0; i < count && list != NULL; i++) {
        PyObject *array = items[i].result;
        items[i].result = NULL;
        PyObject *result = arrive(&p[i], w, array, pending);
        if (result == NULL)
            Py_CLEAR(list);
        else
            PyList_SET_ITEM(list, i, result);
    }
    for (int i = 0; i < count; i++)
        Py_XDECREF(items[i].result);
    Py_XDECREF(pending);
    PyMem_Free(items);
    return list;
}

/* One run has messages between the ranks of one pair of meshes. */
static int
check_meshes(const passenger *p, int count, const char *what)
{
    for (int i = 1; i < count; i++)
        if (p[i].from->mesh != p[0].from->mesh ||
            p[i].to->layout->mesh != p[0].to->layout->mesh) {
            PyErr_Format(PyExc_ValueError,
                         "%s: tensors that move together must be on one mesh and go to "
                         "one mesh; call it once for each mesh",
                         what);
            return -1;
        }
    return 0;
}

/* The placements for tensor i: the same for all, or one entry for each. */
static PyObject *
placements_for(PyObject *placements, bool each, Py_ssize_t i)
{
    return each ? PySequence_Fast_GET_ITEM(placements, i) : placements;
}

static bool
is_list(PyObject *object)
{
    return object != NULL && (PyList_Check(object) || PyTuple_Check(object));
}

/* A list of new tensors. Errors of arguments, which may be this rank's alone, are told
 * to the other ranks. */
static PyObject *
move_tensors(PyObject *const *tensors, Py_ssize_t count, bool each, const wishes *w)
{
    passenger *p = PyMem_Calloc((size_t)count + 1, sizeof *p);
    if (p == NULL)
        return PyErr_NoMemory();
    int failed = 0, boarded = 0;
    dt_error local = {.status = DT_OK};
    while (failed == 0 && boarded < count) {
        PyObject *wanted = placements_for(w->placements, each, boarded);
        failed =
            board(&p[boarded], (DTensorObject *)tensors[boarded], wanted, w, &local);
        boarded++;
    }
    if (failed == 0)
        failed = check_meshes(p, boarded, w->what);
    PyObject *list;
    if (failed == 0)
        list = ride(p, boarded, w, &local);
    else {
        const dt_mesh *mesh = ((DTensorObject *)tensors[0])->layout->layout->mesh;
        const dt_mesh *other =
            w->mesh != NULL && PyObject_TypeCheck(w->mesh, &ext_mesh_type)
                ? ((MeshObject *)w->mesh)->mesh
                : NULL;
        list = ext_fail_together(mesh, other, w->what);
    }
    for (int i = 0; i < boarded; i++)
        leave_board(&p[i]);
    PyMem_Free(p);
    return list;
}

PyObject *
ext_move(PyObject *array, LayoutObject *from, LayoutObject *to, const char *what,
         int64_t max_bytes, bool async)
{
    ext_item item = {.array = array, .from = from->layout, .to = to->layout};
    PyObject *pending = NULL;
    if (ext_move_items(&item, 1, what, max_bytes, NULL, async ? &pending : NULL) < 0)
        return NULL;
    PyObject *result = ext_dtensor(item.result, to);
    if (result == NULL)
        Py_XDECREF(pending);
    else
        ((DTensorObject *)result)->pending = pending;
    return result;
}

/* --- the functions --- */

enum { MESH, PLACEMENTS, ASYNC, FORWARD, BACKWARD, MAX_BYTES, OPTIONS };

static int
read_options(wishes *w, PyObject *const *given)
{
    dt_dtype backward;
    w->mesh = given[MESH];
    w->placements = given[PLACEMENTS];
    w->forward_dtype = given[FORWARD];
    w->backward_dtype = given[BACKWARD];
    if (ext_argument_bool(&w->async, given[ASYNC]) < 0 ||
        ext_argument_int(&w->max_bytes, given[MAX_BYTES]) < 0 ||
        ext_dtype_like(&backward, given[BACKWARD], DT_FLOAT32, w->what) < 0)
        return -1;
    if (given[MAX_BYTES] != NULL && given[MAX_BYTES] != Py_None && w->max_bytes <= 0) {
        PyErr_Format(PyExc_ValueError,
                     "%s: max_bytes must be a positive number of bytes, not %lld",
                     w->what, (long long)w->max_bytes);
        return -1;
    }
    return 0;
}

PyObject *
ext_dtensor_redistribute(PyObject *self, PyObject *const *args, Py_ssize_t nargs,
                         PyObject *kwnames)
{
    static const char *const names[] = {"device_mesh",   "placements",     "async_op",
                                        "forward_dtype", "backward_dtype", "max_bytes"};
    static const ext_signature signature = {"redistribute", names, OPTIONS, 2, 0};
    PyObject *given[OPTIONS];
    wishes w = {.what = "redistribute"};
    if (ext_arguments(given, &signature, args, nargs, kwnames) < 0 ||
        read_options(&w, given) < 0)
        return ext_fail_together(((DTensorObject *)self)->layout->layout->mesh, NULL,
                                 w.what);
    PyObject *list = move_tensors(&self, 1, false, &w);
    PyObject *result = list == NULL ? NULL : Py_NewRef(PyList_GET_ITEM(list, 0));
    Py_XDECREF(list);
    return result;
}

PyObject *
ext_redistribute_to(PyObject *tensor, LayoutObject *to, const char *what)
{
    wishes w = {.what = what,
                .mesh = (PyObject *)to->mesh,
                .placements = (PyObject *)to,
                .any = true};
    PyObject *list = move_tensors(&tensor, 1, false, &w);
    PyObject *result = list == NULL ? NULL : Py_NewRef(PyList_GET_ITEM(list, 0));
    Py_XDECREF(list);
    return result;
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
    PyErr_Format(PyExc_ValueError, "%s: got %zd lists of placements for %zd tensors",
                 what, PySequence_Fast_GET_SIZE(placements), count);
    return -1;
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

static PyObject *
redistribute_some(PyObject *object, wishes *w, PyObject *const *given)
{
    PyObject *tensors = tensors_of(object, w->what);
    if (tensors == NULL)
        return refuse_list(object, w->what);
    Py_ssize_t count = PyTuple_GET_SIZE(tensors);
    PyObject *result = NULL;
    if (count == 0)
        result = PyList_New(0);
    else {
        int each = read_options(w, given);
        if (each == 0 && is_list(object))
            each = placements_each(given[PLACEMENTS], count, w->what);
        DTensorObject *first = (DTensorObject *)PyTuple_GET_ITEM(tensors, 0);
        result = each < 0
                     ? ext_fail_together(first->layout->layout->mesh, NULL, w->what)
                     : move_tensors(&PyTuple_GET_ITEM(tensors, 0), count, each > 0, w);
    }
    Py_DECREF(tensors);
    if (result != NULL && !is_list(object)) {
        PyObject *one = Py_NewRef(PyList_GET_ITEM(result, 0));
        Py_DECREF(result);
        return one;
    }
    return result;
}

static const char *const some_names[] = {"tensors",  "device_mesh",   "placements",
                                         "async_op", "forward_dtype", "backward_dtype",
                                         "max_bytes"};

static PyObject *
redistribute(PyObject *Py_UNUSED(module), PyObject *const *args, Py_ssize_t nargs,
             PyObject *kwnames)
{
    static const ext_signature signature = {"redistribute", some_names, OPTIONS + 1, 3,
                                            1};
    PyObject *given[OPTIONS + 1];
    wishes w = {.what = "redistribute"};
    if (ext_arguments(given, &signature, args, nargs, kwnames) < 0)
        return NULL;
    return redistribute_some(given[0], &w, given + 1);
}

static PyObject *
redistribute_any(PyObject *Py_UNUSED(module), PyObject *const *args, Py_ssize_t nargs,
                 PyObject *kwnames)
{
    static const ext_signature signature = {"_redistribute_any", some_names,
                                            OPTIONS + 1, 3, 1};
    PyObject *given[OPTIONS + 1];
    wishes w = {.what = "_redistribute_any", .any = true};
    if (ext_arguments(given, &signature, args, nargs, kwnames) < 0)
        return NULL;
    return redistribute_some(given[0], &w, given + 1);
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
    {"redistribute", (PyCFunction)(void (*)(void))redistribute,
     METH_FASTCALL | METH_KEYWORDS, redistribute_doc},
    {"_redistribute_any", (PyCFunction)(void (*)(void))redistribute_any,
     METH_FASTCALL | METH_KEYWORDS, redistribute_any_doc},
    {NULL, NULL, 0, NULL},
};
