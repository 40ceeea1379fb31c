/* world_resync.c: World.resync, which brings ranks back in step and compares what they
 * have in common. */
#include "ext/face/face.h"

#include "comm/talk/resync.h"
#include "comm/talk/sentence.h"

#include <float.h>
#include <string.h>

/* What a rank tells of a tensor, which may be on another mesh on each rank. */
typedef struct {
    uint64_t layout; /* a hash of it; 0: this rank is outside its mesh */
    uint64_t digest; /* of this rank's part */
    int64_t origin;  /* the first rank of the mesh ... */
    int64_t first;   /* ... and of those that have the same part as this one */
} telling;

typedef struct {
    PyObject *tensors; /* tuple */
    Py_ssize_t count;
    WorldObject *world;
    const char *why; /* it was called: for ranks that wait */
    dt_group *all;
    dt_call call;
    telling *own, *told; /* by tensor; by rank and tensor */
} resync;

static const dt_layout *
layout_of(const resync *r, Py_ssize_t k)
{
    DTensorObject *tensor = (DTensorObject *)PyTuple_GET_ITEM(r->tensors, k);
    return tensor->layout->layout;
}

/* --- what this rank has --- */

static int
check_tensor(const resync *r, Py_ssize_t k)
{
    PyObject *tensor = PyTuple_GET_ITEM(r->tensors, k);
    if (!ext_is_dtensor(tensor))
        return ext_fail(PyExc_TypeError, "resync takes DTensors, argument %zd is %s", k,
                        Py_TYPE(tensor)->tp_name);
    if (layout_of(r, k)->mesh->world != r->world->number)
        return ext_fail(PyExc_ValueError,
                        "resync: argument %zd is not on these ranks' mesh", k);
    return 0;
}

static int
digest_part(uint64_t *out, PyObject *tensor)
{
    PyArrayObject *array = ext_local(tensor);
    *out = 0;
    if (array == NULL)
        return -1;
    if (!ext_has_data(array))
        return 0;
    bool padded = LDBL_MANT_DIG == 64 && (PyArray_TYPE(array) == NPY_LONGDOUBLE ||
                                          PyArray_TYPE(array) == NPY_CLONGDOUBLE);
    int wanted = NPY_ARRAY_C_CONTIGUOUS | (padded ? NPY_ARRAY_ENSURECOPY : 0);
    PyObject *ordered = PyArray_FromArray(array, NULL, wanted);
    if (ordered == NULL)
        return -1;
    array = (PyArrayObject *)ordered;
    for (npy_intp at = 0; padded && at < PyArray_NBYTES(array); at += 16)
        memset(PyArray_BYTES(array) + at + 10, 0, 6);
    *out = dt_hash(1, PyArray_DATA(array), (size_t)PyArray_NBYTES(array));
    Py_DECREF(ordered);
    return 0;
}

/* The first rank that has the same part of a tensor as the one at a coordinate. */
static int64_t
first_replica(const dt_layout *layout, int64_t *coordinate)
{
    for (int m = 0; m < layout->mesh->ndim; m++)
        if (dt_placement_whole(layout->placements[m]))
            coordinate[m] = 0;
    return dt_mesh_rank(layout->mesh, dt_mesh_at(layout->mesh, coordinate));
}

static int
tell(telling *out, const resync *r, Py_ssize_t k)
{
    int64_t coordinate[DT_MESH_MAX_NDIM];
    if (check_tensor(r, k) < 0)
        return -1;
    const dt_layout *layout = layout_of(r, k);
    int inside = ext_coordinate(coordinate, layout->mesh, "resync");
    if (inside <= 0)
        return inside;
    dt_call layout_alone = {.hash = 1};
    ext_call_layout(&layout_alone, layout);
    out->layout = layout_alone.hash | 1;
    out->origin = dt_mesh_rank(layout->mesh, 0);
    out->first = first_replica(layout, coordinate);
    return digest_part(&out->digest, PyTuple_GET_ITEM(r->tensors, k));
}

/* Takes the memory for all that is told, and says what this rank has. */
static int
prepare(resync *r)
{
    size_t rows = (size_t)r->world->size + 1, count = (size_t)r->count;
    r->own = PyMem_RawCalloc(rows * count + 1, sizeof *r->own);
    if (r->own == NULL)
        return ext_no_memory();
    r->told = r->own + count;
    for (Py_ssize_t k = 0; k < r->count; k++)
        if (tell(&r->own[k], r, k) < 0)
            return -1;
    return 0;
}

/* --- what all ranks have --- */

/* What is wrong with a tensor on a rank, and compared with which: NULL if nothing is. */
static const char *
judge(int64_t *other, const resync *r, int64_t rank, Py_ssize_t k)
{
    const telling *mine = &r->told[rank * r->count + k];
    *other = mine->origin;
    if (mine->layout == 0)
        return NULL;
    if (r->told[mine->origin * r->count + k].layout != mine->layout)
        return "is another tensor on";
    *other = mine->first;
    return r->told[mine->first * r->count + k].digest != mine->digest
               ? "has other elements on"
               : NULL;
}

/* The same sentence on all ranks. */
static dt_status
compare(const resync *r, dt_error *err)
{
    enum { SHOWN = 8 };
    char text[sizeof err->message];
    dt_sentence s = {.out = text, .size = sizeof text};
    int count = 0;
    for (Py_ssize_t k = 0; k < r->count; k++)
        for (int64_t rank = 0; rank < r->world->size; rank++) {
            int64_t other;
            const char *what = judge(&other, r, rank, k);
            if (what == NULL || count++ >= SHOWN)
                continue;
            dt_sentence_add(&s, "%s argument %lld %s rank %lld than on rank %lld",
                            count == 1 ? "" : ";", (long long)k, what, (long long)rank,
                            (long long)other);
        }
    if (count == 0)
        return DT_OK;
    if (count > SHOWN)
        dt_sentence_add(&s, "; and %d more", count - SHOWN);
    return dt_fail(err, DT_RUNTIME, "resync: the ranks are in step again, but%s", text);
}

/* What was made of what, and written into it, counts no more. */
static int
begin_lineages(const resync *r)
{
    for (Py_ssize_t k = 0; k < r->count; k++) {
        PyObject *tensor = PyTuple_GET_ITEM(r->tensors, k);
        tape_version *version = ((TensorObject *)tensor)->version;
        if (version != NULL)
            version->writes = 0;
        const dt_mesh *mesh = ((DTensorObject *)tensor)->layout->mesh->mesh;
        if (ext_arrived(Py_NewRef(tensor), mesh, "resync") == NULL)
            return -1;
        Py_DECREF(tensor);
    }
    return 0;
}

/* --- the call --- */

static dt_status
meet(resync *r, dt_error *err)
{
    PyThreadState *state = ext_world_enter(r->world->world);
    dt_status status = dt_resync(r->world->world, r->why, err);
    ext_world_leave(r->world->world, state);
    ext_pending_sweep(r->world->world);
    return status;
}

static dt_status
agree_and_compare(resync *r, dt_error *err)
{
    ext_call_begin(&r->call, "resync");
    r->call.traced = false;
    ext_call_text(&r->call, "(%zd tensors)", r->count);
    ext_call_hash(&r->call, &r->count, sizeof r->count);
    PyMem_RawFree(r->own);
    if (prepare(r) < 0)
        ext_catch(&r->call.local);
    *err = r->call.local;
    DT_TRY(ext_call_agree(r->all, &r->call, true, err));
    PyThreadState *state = ext_world_enter(r->world->world);
    dt_status status = dt_share(r->told, r->all, r->own,
                                (size_t)r->count * sizeof *r->own, "resync", err);
    ext_world_leave(r->world->world, state);
    return status == DT_OK ? compare(r, err) : status;
}

PyObject *
ext_world_resync(PyObject *object, PyObject *args)
{
    resync r = {.world = (WorldObject *)object};
    if (!PyArg_ParseTuple(args, "sO!:resync", &r.why, &PyTuple_Type, &r.tensors))
        return NULL;
    r.count = PyTuple_GET_SIZE(r.tensors);
    if (ext_world_check(r.world, "resync") < 0)
        return NULL;
    dt_world *world = r.world->world;
    dt_error err;
    dt_world_group(&r.all, world, NULL, 0, NULL);
    ext_trace.scope = (ext_scope){.lineage = 0};
    dt_status status;
    do { /* where others have given this epoch up, and wait for the next one: again */
        status = meet(&r, &err);
        if (status == DT_OK)
            status = agree_and_compare(&r, &err);
    } while (status == DT_RUNTIME && !world->left && r.all->reached < r.all->started &&
             dt_resync_called(world));
    PyMem_RawFree(r.own);
    if (status != DT_OK)
        return ext_raise(&err);
    if (begin_lineages(&r) < 0)
        return NULL;
    Py_RETURN_NONE;
}

const char ext_world_resync_doc[] =
    "resync($self, why, tensors, /)\n--\n\n"
    "Bring the ranks back in step; see `dtensor.resync`. Collective over all ranks.\n\n"
    "A rank that waits for this one is told that \"rank 1 `why`\".";
