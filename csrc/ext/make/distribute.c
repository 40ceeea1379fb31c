/* distribute_tensor: one rank's array becomes everybody's. */
#include "ext/make/make.h"

#include <inttypes.h>
#include <string.h>

enum { TENSOR, MESH, PLACEMENTS, SOURCE, ARGUMENTS };

static const char WHAT[] = "distribute_tensor";

typedef struct {
    MeshObject *mesh; /* owned */
    dt_group *group;
    bool inside;     /* of the mesh */
    PyObject *array; /* owned; NULL: this rank passed None */
    ext_meta meta;   /* of this rank's array, then of the source's */
    dt_placement placements[DT_MESH_MAX_NDIM];
    bool own;      /* every rank takes its part of its own data */
    int64_t place; /* of the source in the mesh */
    bool alike;    /* all ranks have passed such an array */
    dt_call call;
} delivery;

/* --- a DTensor is already there --- */

static PyObject *
already_there(DTensorObject *tensor, MeshObject *mesh, PyObject *placements)
{
    const dt_layout *layout = tensor->layout->layout;
    dt_placement wanted[DT_MESH_MAX_NDIM];
    if (layout->mesh != mesh->mesh)
        return PyErr_Format(PyExc_ValueError,
                            "Cannot distribute a DTensor with device mesh %R to a "
                            "different device mesh %R.",
                            tensor->layout->mesh, mesh);
    if (ext_placements(wanted, mesh->mesh, placements, WHAT) < 0)
        return NULL;
    for (int m = 0; m < mesh->mesh->ndim; m++) {
        if (dt_placement_cuts(wanted[m]) && wanted[m].dim < 0)
            wanted[m].dim += layout->ndim;
        if (!dt_placement_equal(wanted[m], dt_layout_placement(layout, m)))
            return PyErr_Format(PyExc_ValueError,
                                "Cannot distribute a DTensor with placements %R to a "
                                "different placements %R. do you want to call "
                                "`redistribute` instead?",
                                tensor->layout->placements,
                                placements == NULL ? Py_None : placements);
    }
    return Py_NewRef((PyObject *)tensor);
}

/* All ranks must find it so: one that brings an array waits for the others. */
static int
agree_there(DTensorObject *tensor)
{
    const dt_layout *layout = tensor->layout->layout;
    dt_group *group = ext_group(layout->mesh, NULL, WHAT);
    dt_call call;
    dt_error err;
    if (group == NULL || group->index < 0)
        return group == NULL ? -1 : 0;
    ext_call_begin(&call, WHAT);
    ext_call_put(&call, "(a DTensor that is there already)");
    ext_call_layout(&call, layout);
    return ext_check(ext_call_agree(group, &call, false, &err), &err);
}

/* --- arguments --- */

dt_group *
ext_join(int64_t *coordinate, bool *inside, const dt_mesh *mesh, const char *what)
{
    int found = ext_coordinate(coordinate, mesh, what);
    *inside = found > 0;
    return found < 0 ? NULL : ext_group(mesh, NULL, what);
}

int
ext_refuse_partial(const dt_mesh *mesh, const dt_placement *placements)
{
    char text[64];
    for (int m = 0; m < mesh->ndim; m++)
        if (dt_placement_pending(placements[m])) {
            dt_placement_print(text, sizeof text, placements[m]);
            return ext_fail(PyExc_RuntimeError,
                            "Trying to distribute tensor with unsupported placements "
                            "%s on device mesh dimension %d!",
                            text, m);
        }
    return 0;
}

static int
read_source(delivery *d, PyObject *source)
{
    const dt_mesh *mesh = d->mesh->mesh;
    int64_t src = 0, coordinate[DT_MESH_MAX_NDIM];
    d->own = source == Py_None;
    if (ext_argument_int(&src, source) < 0)
        return -1;
    for (int m = 0; m < mesh->ndim; m++) {
        if (src < 0 || src >= mesh->shape[m])
            return ext_fail(
                PyExc_ValueError,
                "distribute_tensor: src_data_rank must be a coordinate along every "
                "mesh dimension; dimension %d has length %lld, got %lld",
                m, (long long)mesh->shape[m], (long long)src);
        coordinate[m] = src;
    }
    d->place = dt_mesh_at(mesh, coordinate);
    return 0;
}

static int
read_tensor(delivery *d, PyObject *tensor)
{
    d->meta = (ext_meta){.dtype = (int32_t)ext_default_dtype};
    if (tensor == Py_None && !d->own)
        return 0;
    if (tensor == Py_None)
        return ext_fail(PyExc_ValueError,
                        "distribute_tensor: with src_data_rank=None every rank needs a "
                        "tensor of its own, not None");
    bool is_tensor = ext_is_tensor(tensor);
    if (is_tensor && tape_check_fresh((TensorObject *)tensor) < 0)
        return -1;
    if (is_tensor && ((TensorObject *)tensor)->node != NULL)
        return ext_fail(PyExc_RuntimeError,
                        "`distribute_tensor` should be used to distribute leaf "
                        "tensors! but found non-leaf tensor!");
    bool grad = is_tensor && ((TensorObject *)tensor)->requires_grad;
    d->array = ext_array_of(tensor, NULL, WHAT);
    return d->array == NULL ? -1 : ext_meta_of(&d->meta, d->array, grad, WHAT);
}

static int
read_arguments(delivery *d, PyObject *const *given)
{
    const dt_mesh *mesh = d->mesh->mesh;
    if (read_source(d, given[SOURCE]) < 0 ||
        ext_placements(d->placements, mesh, given[PLACEMENTS], WHAT) < 0)
        return -1;
    if (read_tensor(d, given[TENSOR]) == 0)
        return 0;
    if (d->inside)
        return -1;
    PyErr_Clear(); /* what a rank outside the mesh passes is of no account */
    return 0;
}

static void
describe_anew(delivery *d)
{
    ext_call_put(&d->call, "(");
    ext_call_meta(&d->call, &d->meta);
    ext_call_put(&d->call, ", ");
    ext_call_placements(&d->call, d->mesh->mesh, d->placements);
    ext_call_mesh(&d->call, d->mesh->mesh);
    ext_call_put(&d->call, ", from rank ");
    ext_call_number(&d->call, dt_mesh_rank(d->mesh->mesh, d->place));
    ext_call_put(&d->call, ")");
    ext_call_hash(&d->call, &d->place, sizeof d->place);
}

/* --- what was made last --- */

ext_kept
ext_kept_of(const dt_mesh *mesh, const dt_placement *placements, const ext_meta *meta)
{
    ext_kept kept = {.mesh = mesh, .meta = *meta};
    memcpy(kept.placements, placements, sizeof kept.placements);
    return kept;
}

int
ext_kept_place(const dt_mesh *mesh, const dt_placement *placements,
               const ext_meta *meta)
{
    uint64_t hash = (uint64_t)(uintptr_t)mesh >> 4;
    for (int d = 0; d < meta->ndim; d++)
        hash = hash * 31 + (uint64_t)meta->shape[d];
    for (int m = 0; m < mesh->ndim; m++)
        hash =
            hash * 31 + (uint64_t)placements[m].kind * 8 + (uint64_t)placements[m].dim;
    return (int)((hash ^ hash >> 8) % EXT_KEPT);
}

bool
ext_kept_may(const ext_meta *meta)
{
    return meta->given == META_GIVEN && ext_trace.scope.name == NULL;
}

bool
ext_kept_fits(const ext_kept *kept, const dt_mesh *mesh, const dt_placement *placements,
              const ext_meta *meta)
{
    if (kept->mesh != mesh || !ext_kept_may(meta) || kept->meta.ndim != meta->ndim ||
        kept->meta.dtype != meta->dtype)
        return false;
    for (int d = 0; d < meta->ndim; d++)
        if (kept->meta.shape[d] != meta->shape[d])
            return false;
    for (int m = 0; m < mesh->ndim; m++)
        if (!dt_placement_equal(kept->placements[m], placements[m]))
            return false;
    return true;
}

typedef struct {
    ext_kept of;
    const dt_layout *from, *to; /* retained */
    bool own;
    int64_t place;
    uint64_t hash;
    char what[DT_CALL_MAX];
} delivered;

static delivered delivered_last[EXT_KEPT];

static delivered *
delivered_place(const delivery *d)
{
    return &delivered_last[ext_kept_place(d->mesh->mesh, d->placements, &d->meta)];
}

/* The same from the same rank, or NULL. */
static const delivered *
delivered_before(const delivery *d)
{
    const delivered *f = delivered_place(d);
    bool same = f->own == d->own && f->place == d->place &&
                ext_kept_fits(&f->of, d->mesh->mesh, d->placements, &d->meta);
    return same ? f : NULL;
}

static void
describe(delivery *d)
{
    const delivered *f = delivered_before(d);
    if (f == NULL) {
        describe_anew(d);
        return;
    }
    d->call.hash = f->hash;
    memccpy(d->call.what, f->what, '\0', sizeof d->call.what);
}

void
ext_forget_delivered(void)
{
    for (int k = 0; k < EXT_KEPT; k++) {
        dt_layout_release(ext_context, delivered_last[k].from);
        dt_layout_release(ext_context, delivered_last[k].to);
    }
    memset(delivered_last, 0, sizeof delivered_last);
}

/* What this rank has described in the call must be what it has now. */
static void
remember(const delivery *d, const dt_layout *from, const dt_layout *to)
{
    delivered *f = delivered_place(d);
    dt_layout_release(ext_context, f->from);
    dt_layout_release(ext_context, f->to);
    dt_layout_retain(from);
    dt_layout_retain(to);
    *f = (delivered){.of = ext_kept_of(to->mesh, d->placements, &d->meta),
                     .from = from,
                     .to = to,
                     .own = d->own,
                     .place = d->place,
                     .hash = d->call.hash};
    memcpy(f->what, d->call.what, sizeof f->what);
}

/* --- what the source has --- */

/* The others' arrays, where they pass one, must be as the source's. */
static dt_status
check_metas(const ext_meta *metas, const delivery *d, dt_error *err)
{
    const dt_mesh *mesh = d->mesh->mesh;
    const ext_meta *source = &metas[d->place];
    int64_t rank = dt_mesh_rank(mesh, d->place);
    char wanted[320], other[320];
    if (!source->given)
        return dt_fail(err, DT_VALUE,
                       "distribute_tensor: rank %" PRId64
                       " is the source and must pass the tensor, not None",
                       rank);
    ext_meta_print(wanted, sizeof wanted, source);
    for (int64_t i = 0; i < mesh->size; i++) {
        const ext_meta *m = &metas[i];
        if (!m->given || (m->ndim == source->ndim && m->dtype == source->dtype &&
                          memcmp(m->shape, source->shape, sizeof m->shape) == 0))
            continue;
        ext_meta_print(other, sizeof other, m);
        return dt_fail(err, DT_VALUE,
                       "distribute_tensor: rank %" PRId64
                       ", the source, has an array %.320s, but rank %" PRId64
                       " passes one %.320s; it may pass None",
                       rank, wanted, dt_mesh_rank(mesh, i), other);
    }
    return DT_OK;
}

/* Makes d->meta that of the source; `failed`: an exception is set, which all ranks get.
 */
static int
agree_on_meta(delivery *d, bool failed)
{
    bool equal;
    if (failed)
        ext_catch(&d->call.local);
    size_t rest = (size_t)(DT_MAX_NDIM - d->meta.ndim) * sizeof *d->meta.shape;
    uint64_t detail = dt_hash(0, &d->meta, sizeof d->meta - rest); /* of zeros */
    if (ext_call_compare(&equal, d->group, &d->call, detail) < 0)
        return -1;
    d->alike = equal;
    if (equal && d->meta.given)
        return 0;
    ext_meta *metas = ext_meta_share(d->group, d->mesh->mesh, &d->meta, d->call.what);
    if (metas == NULL)
        return -1;
    dt_error err;
    dt_status status = check_metas(metas, d, &err);
    d->meta = metas[d->place];
    PyMem_RawFree(metas);
    return ext_check(status, &err);
}

/* --- the parts --- */

static const dt_layout *
source_layout(const delivery *d)
{
    const dt_mesh *mesh = d->mesh->mesh;
    dt_dtype dtype = (dt_dtype)d->meta.dtype;
    const delivered *f = delivered_before(d);
    if (f != NULL) {
        dt_layout_retain(f->from);
        return f->from;
    }
    if (d->own)
        return ext_layout_make(mesh, NULL, d->meta.ndim, d->meta.shape, dtype);
    return ext_layout_at(mesh, dt_mesh_rank(mesh, d->place), d->meta.ndim,
                         d->meta.shape, dtype);
}

/* This rank's part: always memory of its own. */
static PyObject *
receive_part(const delivery *d, const dt_layout *to)
{
    const dt_transport *t = d->group->world->transport;
    if (d->meta.given == META_WITHOUT_DATA && !t->alone)
        return ext_part_without_data(to, t->rank);
    const dt_layout *from = source_layout(d);
    if (from == NULL)
        return NULL;
    if ((d->own || d->alike) && ext_kept_may(&d->meta) && delivered_before(d) == NULL)
        remember(d, from, to);
    PyObject *part = ext_move_one(d->array, from, to, WHAT, 0);
    dt_layout_release(ext_context, from);
    if (part != NULL && part == d->array)
        Py_SETREF(part, ext_array_copy((PyArrayObject *)d->array));
    return part;
}

static const dt_layout *
target_layout(delivery *d, bool failed)
{
    const dt_mesh *mesh = d->mesh->mesh;
    dt_dtype dtype = (dt_dtype)d->meta.dtype;
    if (!d->inside && !failed)
        return ext_layout_outside(mesh, d->placements,
                                  d->meta.given ? d->meta.ndim : -1, d->meta.shape,
                                  dtype);
    if (!d->inside || (d->own && failed) || (!d->own && agree_on_meta(d, failed) < 0))
        return NULL;
    const delivered *f = delivered_before(d);
    if (f == NULL) /* the dtype is the source's by now */
        return ext_layout_make(mesh, d->placements, d->meta.ndim, d->meta.shape,
                               (dt_dtype)d->meta.dtype);
    dt_layout_retain(f->to);
    return f->to;
}

/* DTENSOR_CHECK=2: the others' arrays do not count, but were they meant to? */
static int
warn_of_others(const delivery *d)
{
    bool equal = true, checks = d->group->world->check == DT_CHECK_ARRAYS;
    if (!checks || d->own || !d->alike || d->meta.given == META_WITHOUT_DATA)
        return 0;
    if (d->array == NULL || ext_compare_arrays(&equal, d->array, d->group, WHAT) < 0)
        return d->array == NULL ? 0 : -1;
    if (equal)
        return 0;
    int rank = d->group->ranks[d->place];
    return PyErr_WarnFormat(
        PyExc_UserWarning, 1,
        "distribute_tensor: the ranks pass arrays that differ, and only that of rank "
        "%d counts; if each rank has its own rows, use DTensor.from_local(rows, mesh, "
        "placements) (found with DTENSOR_CHECK=2)",
        rank);
}

static PyObject *
deliver(delivery *d, PyObject *const *given)
{
    int64_t coordinate[DT_MESH_MAX_NDIM];
    d->group = ext_join(coordinate, &d->inside, d->mesh->mesh, WHAT);
    if (d->group == NULL)
        return NULL;
    ext_call_begin(&d->call, WHAT);
    bool failed = read_arguments(d, given) < 0;
    if (!failed)
        describe(d);
    const dt_layout *layout = target_layout(d, failed);
    if (layout == NULL) /* of its own array a rank has told nobody yet */
        return d->own && d->inside ? ext_fail_together(d->mesh->mesh, NULL, WHAT)
                                   : NULL;
    PyObject *part = d->inside ? receive_part(d, layout) : ext_part(layout, -1);
    if (part != NULL && d->inside && warn_of_others(d) < 0)
        Py_CLEAR(part);
    PyObject *made =
        ext_arrived(ext_dtensor_new(part, layout, d->mesh, d->meta.requires_grad != 0),
                    d->mesh->mesh, WHAT);
    return ext_in_dialect(made, given[TENSOR]);
}

PyObject *
ext_distribute_tensor(PyObject *Py_UNUSED(module), PyObject *const *args,
                      Py_ssize_t nargs, PyObject *kwnames)
{
    static const ext_signature signature = EXT_SIGNATURE(
        WHAT, ARGUMENTS, 3, 1, "tensor", "device_mesh", "placements", "src_data_rank");
    PyObject *given[ARGUMENTS];
    if (ext_arguments(given, &signature, args, nargs, kwnames) < 0)
        return NULL;
    delivery d = {.mesh = ext_argument_mesh(given[MESH], WHAT)};
    if (d.mesh == NULL)
        return NULL;
    PyObject *result =
        ext_is_dtensor(given[TENSOR])
            ? already_there((DTensorObject *)given[TENSOR], d.mesh, given[PLACEMENTS])
            : deliver(&d, given);
    if (result == NULL && ext_is_dtensor(given[TENSOR]))
        ext_fail_together(d.mesh->mesh, NULL, WHAT);
    else if (result == given[TENSOR] && agree_there((DTensorObject *)result) < 0)
        Py_CLEAR(result);
    Py_DECREF(d.mesh);
    Py_XDECREF(d.array);
    return result;
}

const char ext_distribute_tensor_doc[] =
    "distribute_tensor($module, /, tensor, device_mesh=None, placements=None, *, "
    "src_data_rank=0)\n--\n\n"
    "Spread one rank's array over a mesh.\n\n"
    "Collective over the mesh, unless `src_data_rank` is None. The slices go straight\n"
    "from the source array, which may be a memory map, to their ranks.\n\n"
    "Parameters\n----------\n"
    "tensor : Tensor, array_like or None\n"
    "    The whole array. Only the source's elements count; the other ranks may pass\n"
    "    None, else an array of the same shape and dtype. A DTensor of this mesh and\n"
    "    these placements is returned as it is.\n"
    "device_mesh : DeviceMesh, optional\n"
    "    Default: the one of the ``with mesh:`` block.\n"
    "placements : sequence of Placement, length ``device_mesh.ndim``, optional\n"
    "    One for each mesh dimension; default: Replicate on all. The parts are those\n"
    "    of torch.chunk: the last may be short or empty. Partial: the addends combine\n"
    "    to the array.\n"
    "src_data_rank : int or None, default 0\n"
    "    The source's place along every mesh dimension. None: nothing is sent, and\n"
    "    every rank takes its part of its own array.\n\n"
    "Returns\n-------\n"
    "DTensor\n"
    "    A leaf with memory of its own, which requires gradients if the source's "
    "does.\n\n"
    "Raises\n------\n"
    "ValueError\n"
    "    If there is not one placement for each mesh dimension, the source passes "
    "None,\n"
    "    another rank an array of other shape or dtype, or a DTensor is in another\n"
    "    layout. On every rank.\n"
    "TypeError\n"
    "    If some rank passes an array of no numeric dtype. On every rank.\n"
    "IndexError\n"
    "    If a Shard names a dimension that the array lacks. On every rank.\n"
    "RuntimeError\n"
    "    If there is no mesh, the tensor is the result of a recorded operation, or\n"
    "    the ranks call different things. On every rank.\n";
