/* tensors.c: tensors that move together, each to a layout of its own. What is made
 * here is not recorded: ext/tape/border.c does that. */
#include "ext/move/move.h"

typedef struct {
    uint64_t lineage;
    const dt_layout *from; /* in the dtype that is moved; retained */
    PyObject *array;       /* the same; owned; NULL: this rank has no memory for it */
    LayoutObject *to;      /* owned */
} moving;

static PyObject *
cast_part(PyArrayObject *array, dt_dtype dtype)
{
    if (!ext_has_data(array))
        return ext_cast_without_data(array, dtype);
    PyObject *cast = ext_array_like(array, dtype);
    if (cast != NULL && PyArray_CopyInto((PyArrayObject *)cast, array) < 0)
        Py_CLEAR(cast);
    return cast;
}

/* What moves in another dtype has other elements. */
static uint64_t
cast_lineage(uint64_t lineage, dt_dtype dtype)
{
    uint64_t cast = dt_mix(dt_mix(dt_hash(0, "cast", 4), (uint64_t)dtype), lineage);
    PyObject *text = PyUnicode_FromFormat("a cast to %s", dt_dtype_name(dtype));
    ext_journal_note(cast, text, NULL, lineage, false, 0);
    return cast;
}

/* Source and target of one tensor; a failure leaves what it has for `moving_clear`.
 * What goes wrong with the cast is this rank's own affair, unless data must move. */
static int
moving_make(moving *p, DTensorObject *tensor, PyObject *placements,
            const ext_move_options *o, dt_error *local)
{
    const dt_layout *from = tensor->layout->layout;
    PyArrayObject *array = ext_local((PyObject *)tensor);
    dt_dtype dtype;
    *p = (moving){.lineage = ext_lineage(tensor)};
    if (array == NULL ||
        ext_dtype_like(&dtype, o->forward_dtype, from->dtype, o->what) < 0)
        return -1;
    if (dtype == from->dtype) {
        dt_layout_retain(from);
        p->from = from;
        p->array = Py_NewRef((PyObject *)array);
    } else {
        dt_layout *cast = NULL;
        dt_error err;
        p->lineage = cast_lineage(p->lineage, dtype);
        dt_status status = dt_layout_with_dtype(&cast, from, dtype, &err);
        p->from = ext_layout_made(status, cast, &err);
        p->array = p->from == NULL ? NULL : cast_part(array, dtype);
    }
    if (p->from == NULL)
        return -1;
    if (p->array == NULL)
        ext_catch(local);
    p->to =
        ext_target(p->from, tensor->layout->mesh, o->mesh, placements, o->any, o->what);
    return p->to == NULL ? -1 : 0;
}

static void
moving_clear(moving *p)
{
    dt_layout_release(ext_context, p->from);
    Py_XDECREF(p->array);
    Py_XDECREF(p->to);
}

/* The lineage of what has moved: on another mesh are ranks that do not know the old one.
 */
static int
lineage_there(uint64_t *out, const ext_item *item, const char *what)
{
    uint64_t number;
    *out = item->lineage;
    return item->to->mesh == item->from->mesh
               ? 0
               : ext_lineage_next(out, &number, item->to->mesh, what);
}

/* Moves all of them together, and makes new tensors of what comes. */
static int
move_together(PyObject **out, moving *p, int count, const ext_move_options *o,
              const dt_error *local)
{
    ext_item few[MOVE_FEW], *items = EXT_SOME(few, count);
    if (items == NULL)
        return ext_no_memory();
    for (int i = 0; i < count; i++)
        items[i] = (ext_item){.array = p[i].array,
                              .from = p[i].from,
                              .to = p[i].to->layout,
                              .lineage = p[i].lineage};
    PyObject *pending = NULL;
    int failed = ext_move_items(items, count, o->what, o->max_bytes, local,
                                o->async ? &pending : NULL);
    for (int i = 0; i < count && failed == 0; i++) {
        uint64_t lineage;
        failed = lineage_there(&lineage, &items[i], o->what);
        out[i] = ext_with_lineage(ext_dtensor(items[i].result, p[i].to), lineage);
        items[i].result = NULL;
        if (out[i] == NULL)
            failed = -1;
        else
            ((DTensorObject *)out[i])->pending = Py_XNewRef(pending);
    }
    for (int i = 0; i < count && failed < 0; i++) {
        Py_CLEAR(out[i]);
        Py_XDECREF(items[i].result);
    }
    Py_XDECREF(pending);
    EXT_SOME_FREE(items, few);
    return failed;
}

/* One run has messages between the ranks of one pair of meshes. */
static int
check_meshes(const moving *p, int count, const char *what)
{
    for (int i = 1; i < count; i++)
        if (p[i].from->mesh != p[0].from->mesh ||
            p[i].to->layout->mesh != p[0].to->layout->mesh)
            return ext_fail(PyExc_ValueError,
                            "%s: tensors that move together must be on one mesh and go "
                            "to one mesh; call it once for each mesh",
                            what);
    return 0;
}

/* The placements for tensor i: the same for all, or one entry for each. */
static PyObject *
placements_for(const ext_move_options *o, Py_ssize_t i)
{
    return o->each ? PySequence_Fast_GET_ITEM(o->placements, i) : o->placements;
}

int
ext_move_tensors(PyObject **out, PyObject *const *tensors, int count,
                 const ext_move_options *o)
{
    moving few[MOVE_FEW], *p = EXT_SOME(few, count);
    if (p == NULL)
        return ext_no_memory();
    int failed = 0, ready = 0;
    dt_error local; /* its text is not read */
    local.status = DT_OK;
    for (int i = 0; i < count; i++)
        out[i] = NULL;
    while (failed == 0 && ready < count) {
        PyObject *wanted = placements_for(o, ready);
        failed =
            moving_make(&p[ready], (DTensorObject *)tensors[ready], wanted, o, &local);
        ready++;
    }
    if (failed == 0)
        failed = check_meshes(p, ready, o->what);
    if (failed == 0)
        failed = move_together(out, p, ready, o, &local);
    else {
        const dt_mesh *mesh = ((DTensorObject *)tensors[0])->layout->layout->mesh;
        const dt_mesh *other =
            o->mesh != NULL && PyObject_TypeCheck(o->mesh, &ext_mesh_type)
                ? ((MeshObject *)o->mesh)->mesh
                : NULL;
        ext_fail_together(mesh, other, o->what);
    }
    for (int i = 0; i < ready; i++)
        moving_clear(&p[i]);
    EXT_SOME_FREE(p, few);
    return failed;
}
