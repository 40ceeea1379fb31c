/* DTensor.from_local: parts become a whole.
 *
 * Every rank works out the layout that it would be if all parts were as its own. As a
 * rule all come to the same and one small agreement is all that is sent; else the ranks
 * tell each other what they hold. */
#include "ext/make/make.h"

#include <string.h>

enum { LOCAL, MESH, PLACEMENTS, RUN_CHECK, SHAPE, STRIDE, GRAD, ARGUMENTS };

static const char WHAT[] = "from_local";

/* What this rank offers. */
typedef struct {
    MeshObject *mesh;
    dt_group *group;
    bool inside; /* of the mesh */
    int64_t coordinate[DT_MESH_MAX_NDIM];
    PyObject *array; /* owned */
    ext_meta meta;
    dt_placement placements[DT_MESH_MAX_NDIM];
    bool run_check, shape_given;
    int ndim; /* of `shape` */
    int64_t shape[DT_MAX_NDIM];
    dt_call call;
} offer;

/* --- arguments --- */

static int
read_shape(offer *o, PyObject *shape, PyObject *stride)
{
    bool strides = stride != NULL && stride != Py_None;
    int64_t ignored[DT_MAX_NDIM];
    o->shape_given = shape != NULL && shape != Py_None;
    if (strides && !o->shape_given)
        return ext_fail(PyExc_RuntimeError,
                        "Please pass both shape and stride at the same time.");
    if (!o->shape_given)
        return 0;
    o->ndim = ext_shape(o->shape, shape, WHAT);
    int lengths = strides && o->ndim >= 0 ? ext_shape(ignored, stride, WHAT) : o->ndim;
    if (lengths < 0)
        return -1;
    if (o->inside && (o->ndim != o->meta.ndim || lengths != o->ndim))
        return ext_fail(PyExc_ValueError,
                        "from_local: the local array has %d dimensions, but `shape` %d "
                        "and `stride` %d",
                        (int)o->meta.ndim, o->ndim, lengths);
    return 0;
}

static int
read_array(offer *o, PyObject *local)
{
    bool grad = tape_requires(local);
    o->array = ext_array_of(local, NULL, WHAT);
    return o->array == NULL ? -1 : ext_meta_of(&o->meta, o->array, grad, WHAT);
}

static int
read_arguments(offer *o, PyObject *const *given)
{
    dt_placement grad[DT_MESH_MAX_NDIM];
    int failed = read_array(o, given[LOCAL]);
    if (failed < 0 && !o->inside) {
        PyErr_Clear(); /* what a rank outside the mesh passes is of no account */
        o->meta = (ext_meta){.dtype = (int32_t)ext_default_dtype};
        failed = 0;
    }
    if (failed < 0 || ext_argument_bool(&o->run_check, given[RUN_CHECK]) < 0 ||
        ext_placements(o->placements, o->mesh->mesh, given[PLACEMENTS], WHAT) < 0 ||
        ext_placements(grad, o->mesh->mesh, given[GRAD], WHAT) < 0)
        return -1;
    return read_shape(o, given[SHAPE], given[STRIDE]);
}

static void
describe(offer *o)
{
    ext_call_put(&o->call, "(");
    ext_call_meta(&o->call, &o->meta);
    ext_call_put(&o->call, ", ");
    ext_call_placements(&o->call, o->mesh->mesh, o->placements);
    ext_call_mesh(&o->call, o->mesh->mesh);
    if (o->shape_given) {
        ext_call_put(&o->call, ", shape=");
        ext_call_shape(&o->call, o->ndim, o->shape);
        ext_call_hash(&o->call, o->shape, sizeof *o->shape * (size_t)o->ndim);
    }
    ext_call_put(&o->call, o->run_check ? ", run_check=True)" : ", run_check=False)");
    ext_call_hash(&o->call, &o->run_check, sizeof o->run_check);
}

/* --- what was offered last --- */

typedef struct {
    ext_kept of;
    const dt_layout *layout; /* retained */
    uint64_t hash, detail;
    char what[DT_CALL_MAX];
} offered;

static offered offered_last[EXT_KEPT];

static offered *
offered_place(const offer *o)
{
    return &offered_last[ext_kept_place(o->mesh->mesh, o->placements, &o->meta)];
}

/* Only offers of the plain kind are kept. */
static bool
is_plain(const offer *o)
{
    return !o->shape_given && !o->run_check && ext_kept_may(&o->meta);
}

static bool
was_offered(const offered *f, const offer *o)
{
    return is_plain(o) && ext_kept_fits(&f->of, o->mesh->mesh, o->placements, &o->meta);
}

static void
remember(const offer *o, const dt_layout *layout, uint64_t detail)
{
    offered *f = offered_place(o);
    dt_layout_release(ext_context, f->layout);
    dt_layout_retain(layout);
    *f = (offered){.of = ext_kept_of(layout->mesh, o->placements, &o->meta),
                   .layout = layout,
                   .hash = o->call.hash,
                   .detail = detail};
    memcpy(f->what, o->call.what, sizeof f->what);
}

void
ext_forget_offered(void)
{
    for (int k = 0; k < EXT_KEPT; k++)
        dt_layout_release(ext_context, offered_last[k].layout);
    memset(offered_last, 0, sizeof offered_last);
}

/* --- the layout --- */

/* The layout of parts that are all like this one; NULL with an exception. */
static const dt_layout *
even_layout(const offer *o)
{
    const dt_mesh *mesh = o->mesh->mesh;
    int64_t shape[DT_MAX_NDIM];
    memcpy(shape, o->shape_given ? o->shape : o->meta.shape, sizeof shape);
    for (int m = 0; m < mesh->ndim && !o->shape_given; m++) {
        const dt_placement *p = &o->placements[m];
        int dim = p->dim < 0 ? p->dim + o->meta.ndim : p->dim;
        if (dt_placement_cuts(*p) && dim >= 0 && dim < o->meta.ndim &&
            __builtin_mul_overflow(shape[dim], mesh->shape[m], &shape[dim]))
            shape[dim] = INT64_MAX; /* which layouts refuse with a sentence */
    }
    return ext_layout_make(o->mesh->mesh, o->placements, o->meta.ndim, shape,
                           (dt_dtype)o->meta.dtype);
}

static bool
fits(const offer *o, const dt_layout *layout)
{
    int64_t shape[DT_MAX_NDIM + 1];
    int ndim = dt_layout_local_shape(shape, layout, o->coordinate);
    return ndim == o->meta.ndim &&
           memcmp(shape, o->meta.shape, sizeof *shape * (size_t)ndim) == 0;
}

static const dt_layout *
uneven_layout(const offer *o)
{
    ext_meta *metas = ext_meta_share(o->group, o->mesh->mesh, &o->meta, o->call.what);
    if (metas == NULL)
        return NULL;
    dt_layout *layout = NULL;
    dt_error err;
    dt_status status =
        ext_layout_of_parts(&layout, o->mesh->mesh, o->placements, metas,
                            o->shape_given ? o->shape : NULL, o->run_check, &err);
    PyMem_RawFree(metas);
    return ext_layout_made(status, layout, &err);
}

/* What the ranks compare of their layouts; without one an exception is set, which they
 * get. */
static uint64_t
detail_of(offer *o, const dt_layout *even, bool fit)
{
    dt_call detail = {.hash = fit};
    if (even == NULL)
        ext_catch(&o->call.local);
    else
        ext_call_layout(&detail, even);
    if (o->run_check)
        ext_call_hash(&detail, &o->meta.requires_grad, sizeof o->meta.requires_grad);
    return detail.hash;
}

/* The layout that all ranks of the mesh agree on; `failed`: an exception is set, which
 * they all get. */
static const dt_layout *
agreed_layout(offer *o, bool failed)
{
    const offered *known = failed ? NULL : offered_place(o);
    const dt_layout *even;
    bool fit;
    uint64_t hash;
    if (known != NULL && was_offered(known, o) && fits(o, known->layout)) {
        fit = true;
        even = known->layout;
        hash = known->detail;
        dt_layout_retain(even);
        o->call.hash = known->hash;
        memccpy(o->call.what, known->what, '\0', sizeof o->call.what);
    } else {
        if (!failed)
            describe(o);
        even = failed ? NULL : even_layout(o);
        fit = even != NULL && fits(o, even);
        hash = detail_of(o, even, fit);
        if (fit && is_plain(o))
            remember(o, even, hash);
    }
    bool equal = false;
    int status = ext_call_compare(&equal, o->group, &o->call, hash);
    if (status == 0 && equal && fit)
        return even;
    dt_layout_release(ext_context, even);
    return status < 0 ? NULL : uneven_layout(o);
}

/* --- the function --- */

/* A rank outside the mesh holds nothing and is told nothing; it takes the shape that is
 * given, or the one that its own argument would be a part of. */
static const dt_layout *
outside_layout(offer *o)
{
    const dt_layout *layout = NULL;
    if (!o->shape_given && o->meta.given && (layout = even_layout(o)) == NULL)
        PyErr_Clear();
    if (layout == NULL)
        layout = ext_layout_outside(o->mesh->mesh, o->placements,
                                    o->shape_given ? o->ndim : -1, o->shape,
                                    (dt_dtype)o->meta.dtype);
    if (layout != NULL)
        Py_XSETREF(o->array, ext_part(layout, -1));
    return layout;
}

/* The new tensor, from an offer whose mesh is there. */
static PyObject *
accept(offer *o, PyObject *const *given)
{
    ext_call_begin(&o->call, WHAT);
    o->group = ext_join(o->coordinate, &o->inside, o->mesh->mesh, WHAT);
    if (o->group == NULL)
        return NULL;
    bool failed = read_arguments(o, given) < 0;
    if (failed && !o->inside)
        return NULL;
    const dt_layout *layout = o->inside ? agreed_layout(o, failed) : outside_layout(o);
    if (layout == NULL)
        return NULL;
    if (o->inside && o->run_check && o->meta.given != META_WITHOUT_DATA &&
        ext_first_replica(&o->array, &o->meta, o->mesh->mesh, o->placements,
                          o->coordinate) < 0)
        Py_CLEAR(o->array);
    PyObject *result =
        ext_arrived(ext_dtensor_new(Py_XNewRef(o->array), layout, o->mesh, false),
                    o->mesh->mesh, WHAT);
    ext_in_dialect(result, given[LOCAL]);
    return tape_from_local(result, given[LOCAL], given[GRAD]);
}

PyObject *
ext_from_local(PyObject *Py_UNUSED(ignored), PyObject *const *args, Py_ssize_t nargs,
               PyObject *kwnames)
{
    static const ext_signature signature =
        EXT_SIGNATURE(WHAT, ARGUMENTS, 3, 1, "local_tensor", "device_mesh",
                      "placements", "run_check", "shape", "stride", "grad_placements");
    PyObject *given[ARGUMENTS];
    if (ext_arguments(given, &signature, args, nargs, kwnames) < 0)
        return NULL;
    offer o; /* field by field: most of its kilobytes are rarely used */
    o.mesh = ext_argument_mesh(given[MESH], WHAT);
    if (o.mesh == NULL)
        return NULL;
    o.array = NULL;
    o.run_check = false;
    o.meta.given = META_NONE;
    PyObject *result = accept(&o, given);
    Py_DECREF(o.mesh);
    Py_XDECREF(o.array);
    return result;
}

const char ext_from_local_doc[] =
    "from_local(local_tensor, device_mesh=None, placements=None, *, run_check=False, "
    "shape=None, stride=None, grad_placements=None)\n--\n\n"
    "Make a DTensor of the parts that the ranks hold.\n\n"
    "Collective over the mesh: one small agreement, in which sizes that do not fit "
    "are\n"
    "always found. The array is shared, not copied.\n\n"
    "Parameters\n----------\n"
    "local_tensor : Tensor or array_like\n"
    "    This rank's part. On a rank outside the mesh nothing of it is kept, but its\n"
    "    shape and dtype tell those of the whole, which later moves to other meshes "
    "need.\n"
    "device_mesh : DeviceMesh, optional\n"
    "    Default: the one of the ``with mesh:`` block.\n"
    "placements : sequence of Placement, length ``device_mesh.ndim``, optional\n"
    "    How each mesh dimension holds the whole; default: Replicate on all.\n"
    "run_check : bool, default False\n"
    "    Also compare `requires_grad`, and copy the data of the first rank along "
    "every\n"
    "    Replicate mesh dimension to the others, which then hold a copy of their own.\n"
    "shape : int or sequence of int, optional\n"
    "    The global shape, in elements, if it is known: it is checked. Default: the\n"
    "    sizes of the parts are added up; those that are not torch.chunk's become cut\n"
    "    points.\n"
    "stride : sequence of int, optional\n"
    "    The global strides, in elements; only with `shape`. The order of the local\n"
    "    array's dimensions is what counts.\n"
    "grad_placements : sequence of Placement, optional\n"
    "    How the gradient of `local_tensor` is to be spread.\n\n"
    "Returns\n-------\n"
    "DTensor\n"
    "    It requires gradients if `local_tensor` does.\n\n"
    "Raises\n------\n"
    "ValueError\n"
    "    If the parts do not fit together or make up another shape than `shape`, or\n"
    "    there is not one placement for each mesh dimension. On every rank.\n"
    "TypeError\n"
    "    If a part is of no numeric dtype, or a Partial has no reduction for it. On\n"
    "    every rank.\n"
    "IndexError\n"
    "    If a Shard names a dimension that the parts lack. On every rank.\n"
    "RuntimeError\n"
    "    If there is no mesh, `local_tensor` is a DTensor, `stride` comes without\n"
    "    `shape`, or the ranks call different things. On every rank.\n";
