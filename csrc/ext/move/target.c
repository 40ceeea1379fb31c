/* Where a redistribute goes: a layout like the one there is, from the user's arguments.
 */
#include "ext/move/move.h"

#include <string.h>

/* torch's rule: there is no one way to split a value into addends, so users may keep a
 * Partial but not ask for a new one. */
static int
check_partial(const dt_layout *from, const dt_layout *to)
{
    bool same_mesh = from->mesh == to->mesh || dt_mesh_same_ranks(from->mesh, to->mesh);
    for (int m = 0; m < to->mesh->ndim; m++) {
        dt_placement p = to->placements[m];
        if (!dt_placement_pending(p) ||
            (same_mesh && dt_placement_equal(p, from->placements[m])))
            continue;
        char old[64] = "another mesh", new[64];
        if (same_mesh)
            dt_placement_print(old, sizeof old, from->placements[m]);
        dt_placement_print(new, sizeof new, p);
        return ext_fail(PyExc_RuntimeError,
                        "Can not redistribute from %s to %s, redistributing to Partial "
                        "is for internal use only!",
                        old, new);
    }
    return 0;
}

/* The targets that were asked for last: most moves are made again. Like the context's
 * plans it keeps layouts alive, but no more than these. */
typedef struct {
    const dt_layout *from, *to; /* retained */
    const dt_mesh *mesh;
    dt_placement placements[DT_MESH_MAX_NDIM];
} asked;

enum { ASKED = 64 };

static asked asked_last[ASKED];

static asked *
asked_place(const dt_layout *from, const dt_mesh *mesh, const dt_placement *placements)
{
    uint64_t hash = (uint64_t)(uintptr_t)from >> 4;
    for (int m = 0; m < mesh->ndim; m++)
        hash =
            hash * 31 + (uint64_t)placements[m].kind * 8 + (uint64_t)placements[m].dim;
    return &asked_last[(hash ^ hash >> 12) % ASKED];
}

static bool
was_asked(const asked *a, const dt_layout *from, const dt_mesh *mesh,
          const dt_placement *placements)
{
    bool same = a->from == from && a->mesh == mesh;
    for (int m = 0; same && m < mesh->ndim; m++)
        same = dt_placement_equal(a->placements[m], placements[m]);
    return same;
}

static void
release_asked(asked *a)
{
    if (a->from == NULL)
        return;
    dt_layout_release(ext_context, a->from);
    dt_layout_release(ext_context, a->to);
    a->from = NULL;
}

void
move_forget_targets(void)
{
    for (int k = 0; k < ASKED; k++)
        release_asked(&asked_last[k]);
}

static void
remember(asked *a, const dt_layout *from, const dt_layout *to,
         const dt_placement *placements)
{
    release_asked(a);
    dt_layout_retain(from);
    dt_layout_retain(to);
    *a = (asked){.from = from, .to = to, .mesh = to->mesh};
    memcpy(a->placements, placements, sizeof *placements * (size_t)to->mesh->ndim);
}

static const dt_layout *
make_layout(const dt_layout *from, const dt_mesh *mesh, const dt_placement *placements)
{
    if (mesh != from->mesh)
        return ext_layout_make(mesh, placements, from->ndim, from->shape, from->dtype);
    dt_layout *layout = NULL;
    dt_error err;
    dt_status status = dt_layout_with(&layout, from, placements, &err);
    return ext_layout_made(status, layout, &err);
}

static const dt_layout *
layout_with(const dt_layout *from, const dt_mesh *mesh, const dt_placement *placements)
{
    asked *place = asked_place(from, mesh, placements);
    if (was_asked(place, from, mesh, placements)) {
        dt_layout_retain(place->to);
        return place->to;
    }
    const dt_layout *layout = make_layout(from, mesh, placements);
    if (layout != NULL)
        remember(place, from, layout, placements);
    return layout;
}

/* A Layout given as `placements`: cut points and orders included. */
static LayoutObject *
target_layout(const dt_layout *from, PyObject *mesh, PyObject *given, const char *what)
{
    LayoutObject *to = (LayoutObject *)given;
    bool same = from->ndim == to->layout->ndim;
    for (int d = 0; same && d < from->ndim; d++)
        same = from->shape[d] == to->layout->shape[d];
    if (!same) {
        PyObject *shape = ext_tuple(from->shape, from->ndim);
        if (shape != NULL)
            PyErr_Format(PyExc_ValueError,
                         "%s: the layout is of shape %R, but the tensor of shape %R",
                         what, to->shape, shape);
        Py_XDECREF(shape);
        return NULL;
    }
    if (mesh != NULL && mesh != Py_None &&
        !(PyObject_TypeCheck(mesh, &ext_mesh_type) &&
          ((MeshObject *)mesh)->mesh == to->layout->mesh))
        return (LayoutObject *)PyErr_Format(
            PyExc_ValueError,
            "%s: device_mesh is not the mesh of the layout; leave it out", what);
    return (LayoutObject *)Py_NewRef(given);
}

static bool
as_they_are(const dt_layout *layout, const dt_placement *placements)
{
    for (int m = 0; m < layout->mesh->ndim; m++)
        if (!dt_placement_equal(placements[m], dt_layout_placement(layout, m)))
            return false;
    return true;
}

static LayoutObject *
target_placements(const dt_layout *from, MeshObject *mesh, PyObject *given,
                  const char *what)
{
    dt_placement placements[DT_MESH_MAX_NDIM];
    if (ext_placements(placements, mesh->mesh, given, what) < 0)
        return NULL;
    if (mesh->mesh == from->mesh && as_they_are(from, placements)) {
        dt_layout_retain(from);
        return ext_layout(from, mesh);
    }
    LayoutObject *source = from->owner;
    LayoutObject *to = ext_layout(layout_with(from, mesh->mesh, placements), mesh);
    /* The source's object keeps that of the target: the next move wants it again. */
    if (to != NULL && source != NULL && source->next != (PyObject *)to)
        Py_XSETREF(source->next, Py_NewRef((PyObject *)to));
    return to;
}

LayoutObject *
ext_target(const dt_layout *from, MeshObject *from_mesh, PyObject *mesh,
           PyObject *placements, bool any, const char *what)
{
    LayoutObject *to;
    if (placements != NULL && PyObject_TypeCheck(placements, &ext_layout_type))
        to = target_layout(from, mesh, placements, what);
    else {
        bool other = mesh != NULL && mesh != Py_None;
        MeshObject *grid = other ? ext_argument_mesh(mesh, what)
                                 : (MeshObject *)Py_NewRef((PyObject *)from_mesh);
        to = grid == NULL ? NULL : target_placements(from, grid, placements, what);
        Py_XDECREF(grid);
    }
    if (to != NULL && !any && check_partial(from, to->layout) < 0)
        Py_CLEAR(to);
    return to;
}
