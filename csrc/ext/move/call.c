/* What the ranks compare before data move: the text and the hash of a call, and what
 * each of them knows of an array. */
#include "ext/move/move.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* Without a format: what is said of every call must be said fast. */
void
ext_call_put(dt_call *call, const char *text)
{
    size_t used = strlen(call->what), size = strlen(text);
    size_t room = sizeof call->what - 1 - used;
    memcpy(call->what + used, text, size < room ? size : room);
    call->what[used + (size < room ? size : room)] = '\0';
}

void
ext_call_number(dt_call *call, int64_t number)
{
    char digits[24];
    char *first = digits + sizeof digits - 1;
    uint64_t rest = number < 0 ? -(uint64_t)number : (uint64_t)number;
    *first = '\0';
    do
        *--first = (char)('0' + rest % 10);
    while ((rest /= 10) != 0);
    if (number < 0)
        *--first = '-';
    ext_call_put(call, first);
}

/* Of a function that is composed of others: that is what the user has called. */
static const char *
outermost(const char *function)
{
    return ext_trace.scope.name == NULL ? function : ext_trace.scope.name;
}

void
ext_call_begin(dt_call *call, const char *function)
{
    function = outermost(function);
    call->hash = dt_hash(0, function, strlen(function));
    call->name = (uint32_t)call->hash; /* as ext_local_name gives it */
    call->lineage = ext_trace.scope.lineage;
    call->traced = call->lineage != 0;
    call->local.status = DT_OK;
    call->local.message[0] = '\0';
    call->what[0] = '\0';
    ext_call_put(call, function);
}

void
ext_call_text(dt_call *call, const char *format, ...)
{
    size_t used = strlen(call->what);
    va_list args;
    va_start(args, format);
    vsnprintf(call->what + used, sizeof call->what - used, format, args);
    va_end(args);
}

void
ext_call_hash(dt_call *call, const void *data, size_t bytes)
{
    call->hash = dt_hash(call->hash, data, bytes);
}

void
ext_call_shape(dt_call *call, int ndim, const int64_t *shape)
{
    for (int d = 0; d < ndim; d++) {
        ext_call_put(call, d == 0 ? "(" : ", ");
        ext_call_number(call, shape[d]);
    }
    ext_call_put(call, ndim == 0 ? "()" : ndim == 1 ? ",)" : ")");
}

static void
hash_placement(dt_call *call, dt_placement p)
{
    int64_t row[4] = {(int64_t)p.kind, (int64_t)p.op, p.dim, p.split};
    ext_call_hash(call, row, sizeof row);
}

void
ext_call_placements(dt_call *call, const dt_mesh *mesh, const dt_placement *placements)
{
    char text[64];
    ext_call_put(call, "[");
    for (int m = 0; m < mesh->ndim; m++) {
        dt_placement_print(text, sizeof text, placements[m]);
        ext_call_put(call, m == 0 ? "" : ", ");
        ext_call_put(call, text);
        hash_placement(call, placements[m]);
    }
    ext_call_put(call, "]");
}

/* Not mesh->hash: the number of the world is this process's own. */
void
ext_call_mesh(dt_call *call, const dt_mesh *mesh)
{
    ext_call_hash(call, mesh->shape, sizeof(int64_t) * (size_t)mesh->ndim);
    if (mesh->ranks != NULL)
        ext_call_hash(call, mesh->ranks, sizeof(int64_t) * (size_t)mesh->size);
}

void
ext_call_layout(dt_call *call, const dt_layout *layout)
{
    int head[2] = {layout->ndim, (int)layout->dtype};
    ext_call_mesh(call, layout->mesh);
    ext_call_hash(call, head, sizeof head);
    ext_call_hash(call, layout->shape, sizeof(int64_t) * (size_t)layout->ndim);
    for (int m = 0; m < layout->mesh->ndim; m++)
        hash_placement(call, layout->placements[m]);
    for (int d = 0; d < layout->ndim; d++) {
        const dt_cut *cut = &layout->dims[d];
        ext_call_hash(call, cut->mesh_dims, sizeof(int) * (size_t)cut->count);
        if (cut->cuts != NULL)
            ext_call_hash(call, cut->cuts, sizeof(int64_t) * (size_t)(cut->parts + 1));
    }
}

/* Which ranks a mesh has: calls of the same text on other ranks are others. */
static void
put_ranks(dt_call *call, const dt_mesh *mesh)
{
    enum { SHOWN = 8 };
    ext_call_put(call, mesh->size == 1 ? " rank " : " ranks ");
    if (mesh->ranks == NULL && mesh->size > 1) {
        ext_call_put(call, "0-");
        ext_call_number(call, mesh->size - 1);
        return;
    }
    for (int64_t k = 0; k < mesh->size && k < SHOWN; k++) {
        ext_call_put(call, k == 0 ? "" : ", ");
        ext_call_number(call, dt_mesh_rank(mesh, k));
    }
    if (mesh->size > SHOWN)
        ext_call_put(call, ", ...");
}

void
ext_call_move(dt_call *call, const dt_layout *from, const dt_layout *to)
{
    char text[160];
    dt_layout_print(text, sizeof text, from);
    ext_call_text(call, "%s -> ", text);
    dt_layout_print(text, sizeof text, to);
    ext_call_text(call, "%s, shape ", text);
    ext_call_shape(call, to->ndim, to->shape);
    ext_call_text(call, ", %s, on", dt_dtype_name(to->dtype));
    put_ranks(call, from->mesh);
    if (from->mesh != to->mesh) {
        ext_call_put(call, " ->");
        put_ranks(call, to->mesh);
    }
    ext_call_layout(call, from);
    ext_call_layout(call, to);
}

/* The texts and hashes of plans that were run last: they cost more than a small move.
 */
typedef struct {
    const dt_plan *plan; /* retained; NULL: free */
    uint64_t hash;
    uint32_t name;
    char text[DT_CALL_MAX];
} said;

enum { SAID = 64 };

static said kept[SAID];

static void
release_said(said *place)
{
    if (place->plan != NULL)
        dt_plan_release(ext_plans, place->plan);
    place->plan = NULL;
}

void
move_forget_texts(void)
{
    for (int k = 0; k < SAID; k++)
        release_said(&kept[k]);
}

void
ext_call_plan(dt_call *call, const dt_plan *plan, const char *what)
{
    said *place = &kept[((uintptr_t)plan / sizeof(dt_plan)) % SAID];
    what = outermost(what);
    size_t length = strlen(what);
    if (place->plan != plan || strncmp(place->text, what, length) != 0 ||
        place->text[length] != '(') {
        ext_call_begin(call, what);
        ext_call_text(call, "(");
        ext_call_move(call, plan->from, plan->to);
        if (plan->max_scratch > 0)
            ext_call_text(call, ", max_bytes=%lld", (long long)plan->max_scratch);
        ext_call_text(call, ")");
        dt_plan_retain(plan);
        release_said(place);
        *place = (said){.plan = plan, .hash = call->hash, .name = call->name};
        memcpy(place->text, call->what, sizeof place->text);
        return;
    }
    call->hash = place->hash;
    call->name = place->name;
    call->traced = false;
    call->local.status = DT_OK;
    memccpy(call->what, place->text, '\0', sizeof call->what);
}

dt_status
ext_call_agree(dt_group *group, const dt_call *call, bool force, dt_error *err)
{
    err->status = DT_OK;
    PyThreadState *state = ext_world_stay(group->world);
    dt_agree(group, call, force, err);
    ext_world_leave(group->world, state);
    ext_told |= err->status != DT_OK;
    return err->status;
}

int
ext_agree(dt_group *group, const dt_call *call, bool force)
{
    dt_error err;
    return group->index < 0 ? 0
                            : ext_check(ext_call_agree(group, call, force, &err), &err);
}

PyObject *
ext_fail_together(const dt_mesh *a, const dt_mesh *b, const char *what)
{
    dt_call call;
    ext_call_begin(&call, what);
    ext_catch(&call.local);
    dt_group *group = ext_group(a, b, what);
    dt_error err = call.local;
    if (group == NULL) { /* what the user did wrong first is what counts */
        PyErr_Clear();
        group = ext_group(a, NULL, what);
    }
    if (group == NULL)
        PyErr_Clear();
    else if (group->index >= 0)
        ext_call_agree(group, &call, false, &err);
    return ext_raise(&err);
}

void
ext_note_failure(const dt_mesh *mesh, uint64_t lineage, const char *text)
{
    if (!PyErr_ExceptionMatches(PyExc_Exception))
        return; /* an interrupt, or the end of the program */
    dt_error error, told;
    dt_group *group = NULL;
    ext_catch(&error);
    WorldObject *world = ext_world_current();
    if (mesh != NULL)
        group = ext_group(mesh, NULL, text);
    else if (world != NULL && world->world != NULL)
        dt_world_group(&group, world->world, NULL, 0, NULL);
    PyErr_Clear();
    if (group != NULL && group->index >= 0) {
        told = error;
        dt_error_prefix(&told, text);
        ext_journal_failed(lineage);
        dt_note_failure(group, lineage, &told);
    }
    ext_raise(&error);
    ext_told = true;
}

PyObject *
ext_failed_handling(const dt_mesh *mesh, uint64_t lineage, PyObject *what)
{
    PyObject *error = PyErr_GetHandledException();
    const char *text = PyUnicode_AsUTF8(what);
    if (text != NULL && mesh != NULL && mesh->size > 1 && error != NULL) {
        PyErr_SetObject((PyObject *)Py_TYPE(error), error);
        ext_note_failure(mesh, lineage, text);
    }
    PyErr_Clear();
    Py_XDECREF(error);
    Py_RETURN_NONE;
}

int
ext_call_compare(bool *equal, dt_group *group, const dt_call *call, uint64_t detail)
{
    if (group->size == 1 && call->local.status == DT_OK) {
        *equal = true;
        return 0;
    }
    dt_error err; /* field by field: a sentence is long */
    err.status = DT_OK;
    PyThreadState *state = ext_world_stay(group->world);
    dt_agree_detail(equal, group, call, detail, &err);
    ext_world_leave(group->world, state);
    ext_told |= err.status != DT_OK;
    return ext_check(err.status, &err);
}

void
ext_call_meta(dt_call *call, const ext_meta *meta)
{
    if (!meta->given) {
        ext_call_put(call, "None");
        return;
    }
    ext_call_shape(call, meta->ndim, meta->shape);
    ext_call_put(call, " ");
    ext_call_put(call, dt_dtype_name((dt_dtype)meta->dtype));
}

void
ext_meta_print(char *out, size_t size, const ext_meta *meta)
{
    dt_call call = {.what = ""};
    ext_call_meta(&call, meta);
    snprintf(out, size, "%s", call.what);
}

int
ext_meta_of(ext_meta *out, PyObject *object, bool requires_grad, const char *what)
{
    PyArrayObject *array = (PyArrayObject *)object;
    dt_dtype dtype;
    memset(out, 0, sizeof *out);
    if (ext_dtype(&dtype, PyArray_DESCR(array), what) < 0)
        return -1;
    out->given = ext_has_data(array) ? META_GIVEN : META_WITHOUT_DATA;
    out->ndim = ext_array_shape(out->shape, array);
    out->dtype = (int32_t)dtype;
    out->requires_grad = requires_grad;
    return 0;
}

ext_meta *
ext_meta_share(dt_group *group, const dt_mesh *mesh, const ext_meta *mine,
               const char *what)
{
    /* One rank alone without memory would leave the others waiting: the few bytes are
     * not taken from the library's own blocks, whose shortage is agreed on before. */
    size_t size = (size_t)group->size;
    ext_meta *all = PyMem_RawMalloc(2 * size * sizeof *all);
    if (all == NULL)
        return (ext_meta *)PyErr_NoMemory();
    ext_meta *by_rank = all + size;
    dt_error err;
    PyThreadState *state = ext_world_stay(group->world);
    dt_status status = dt_share(by_rank, group, mine, sizeof *mine, what, &err);
    ext_world_leave(group->world, state);
    for (size_t k = 0; status == DT_OK && k < size; k++)
        all[k] = by_rank[ext_group_place(group, mesh, (int64_t)k)];
    if (status == DT_OK)
        return all;
    PyMem_RawFree(all);
    return ext_raise(&err);
}
