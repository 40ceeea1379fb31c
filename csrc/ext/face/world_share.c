/* world_share.c: World.agree and World.share, by which Python files talk to each other
 * across ranks. */
#include "ext/face/face.h"

#include <string.h>

/* The group of a mesh, None: of all ranks; NULL on error. */
static dt_group *
group_of(WorldObject *self, PyObject *mesh, const char *what)
{
    if (ext_world_check(self, what) < 0)
        return NULL;
    if (mesh == Py_None) {
        dt_group *all = NULL;
        dt_world_group(&all, self->world, NULL, 0, NULL);
        return all;
    }
    if (!PyObject_TypeCheck(mesh, &ext_mesh_type))
        return (dt_group *)PyErr_Format(PyExc_TypeError, "%s: expected a mesh, not %R",
                                        what, mesh);
    return ext_group(((MeshObject *)mesh)->mesh, NULL, what);
}

/* The values of the composite that this is done in, on the ranks of a mesh. */
static void
trace(dt_call *call, PyObject *mesh)
{
    call->lineage = ext_trace.scope.lineage;
    call->traced = mesh != Py_None && call->lineage != 0;
}

PyObject *
ext_world_agree(PyObject *object, PyObject *args, PyObject *kwargs)
{
    static char *keywords[] = {"token", "what", "error", "mesh", "force", NULL};
    Py_buffer token;
    const char *what;
    PyObject *error = Py_None, *mesh = Py_None;
    int force = 1;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "y*s|OOp:agree", keywords, &token,
                                     &what, &error, &mesh, &force))
        return NULL;
    dt_call call = {.hash = dt_hash(0, token.buf, (size_t)token.len)};
    PyBuffer_Release(&token);
    snprintf(call.what, sizeof call.what, "%s", what);
    trace(&call, mesh);
    if (error != Py_None && !PyExceptionInstance_Check(error))
        return PyErr_Format(PyExc_TypeError,
                            "agree: error must be an exception, not %R", error);
    dt_group *group = group_of((WorldObject *)object, mesh, "agree");
    if (group == NULL)
        return NULL;
    if (error != Py_None) {
        PyErr_SetObject((PyObject *)Py_TYPE(error), error);
        ext_catch(&call.local);
    }
    if (ext_agree(group, &call, force != 0) < 0)
        return NULL;
    Py_RETURN_NONE;
}

/* Gathers blocks of equal sizes into `all`. */
static int
share(void *all, dt_group *group, const void *mine, size_t bytes, const char *what)
{
    dt_error err;
    PyThreadState *state = ext_world_enter(group->world);
    dt_status status = dt_share(all, group, mine, bytes, what, &err);
    ext_world_leave(group->world, state);
    return ext_check(status, &err);
}

/* What a rank needs for sharing: all lengths, its own data padded, everybody's. */
typedef struct {
    int64_t *lengths;
    char *mine, *all;
    size_t most;
} share_room;

static void
room_free(share_room *room)
{
    PyMem_RawFree(room->lengths);
    PyMem_RawFree(room->mine);
    PyMem_RawFree(room->all);
}

/* Two rounds: lengths, then blocks of the largest length. A rank without memory for one
 * of them tells the others before it. */
static int
share_data(share_room *room, dt_group *group, PyObject *mesh, const Py_buffer *data,
           const char *what)
{
    size_t ranks = (size_t)group->size;
    dt_call call;
    ext_call_begin(&call, what);
    ext_call_hash(&call, what, strlen(what)); /* for what, in what the user calls */
    trace(&call, mesh);
    room->lengths = PyMem_RawMalloc(ranks * sizeof *room->lengths);
    if (room->lengths == NULL)
        dt_fail(&call.local, DT_MEMORY, "no memory for %zu lengths", ranks);
    int64_t length = data->len;
    if (ext_agree(group, &call, false) < 0 ||
        share(room->lengths, group, &length, sizeof length, call.what) < 0)
        return -1;
    for (size_t k = 0; k < ranks; k++)
        if ((size_t)room->lengths[k] > room->most)
            room->most = (size_t)room->lengths[k];
    room->mine = PyMem_RawCalloc(1, room->most);
    room->all = PyMem_RawMalloc(ranks * room->most);
    if (room->mine == NULL || room->all == NULL)
        dt_fail(&call.local, DT_MEMORY, "no memory for sharing %zu times %zu bytes",
                ranks, room->most);
    if (ext_agree(group, &call, true) < 0)
        return -1;
    memcpy(room->mine, data->buf, (size_t)data->len);
    return share(room->all, group, room->mine, room->most, call.what);
}

PyObject *
ext_world_share(PyObject *object, PyObject *args, PyObject *kwargs)
{
    static char *keywords[] = {"data", "mesh", "what", NULL};
    Py_buffer data;
    PyObject *mesh = Py_None;
    const char *what = "share";
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "y*|Os:share", keywords, &data,
                                     &mesh, &what))
        return NULL;
    share_room room = {0};
    PyObject *list = NULL;
    dt_group *group = group_of((WorldObject *)object, mesh, "share");
    if (group != NULL && group->index < 0)
        list = PyList_New(0);
    else if (group != NULL && share_data(&room, group, mesh, &data, what) == 0)
        list = PyList_New(group->size);
    const dt_mesh *of = mesh == Py_None ? NULL : ((MeshObject *)mesh)->mesh;
    for (Py_ssize_t k = 0; list != NULL && k < PyList_GET_SIZE(list); k++) {
        size_t place = ext_group_place(group, of, k);
        ext_put(&list, k,
                PyBytes_FromStringAndSize(room.all + place * room.most,
                                          (Py_ssize_t)room.lengths[place]));
    }
    room_free(&room);
    PyBuffer_Release(&data);
    return list;
}

const char ext_world_share_doc[] =
    "share($self, data, mesh=None, what='share')\n--\n\n"
    "Give some bytes to all ranks and return everybody's, in the order of the mesh.\n\n"
    "Collective over the ranks of the mesh (None: of the world); others get an empty\n"
    "list. Lengths may differ. For small things. `what`: who asks, and for what; the\n"
    "ranks compare it.\n\n"
    "Raises\n------\n"
    "RuntimeError\n    If ranks call different things or do not come: on all ranks.\n"
    "MemoryError\n    If some rank has no memory for it: on all ranks.";

const char ext_world_agree_doc[] =
    "agree($self, token, what, error=None, mesh=None, force=True)\n--\n\n"
    "Go on if all ranks come with equal tokens and no error, else raise on all.\n\n"
    "Collective over the ranks of the mesh (None: of the world).\n\n"
    "Parameters\n----------\n"
    "token : bytes\n    What must be equal on all ranks.\n"
    "what : str\n    The call, for people.\n"
    "error : BaseException, optional\n"
    "    What went wrong on this rank. It is raised here; the other ranks raise one\n"
    "    of the same class, or RuntimeError, that names this rank.\n"
    "mesh : Mesh, optional\n    Whose ranks agree; by default all.\n"
    "force : bool, default True\n    Compare also where ``check`` is off.\n\n"
    "Raises\n------\n"
    "RuntimeError\n"
    "    If ranks come with different tokens, or do not come: on all ranks.\n"
    "BaseException\n    `error`, of the lowest rank that has one.";
