/* A miss: an operator's function, its rule and the layouts become an entry. */
#include "core/memory/memory.h"
#include "ext/move/move.h"
#include "ext/op/op.h"

/* The mesh of calls without any DTensor: one rank, which holds all. Borrowed. */
static MeshObject *
solo_mesh(void)
{
    static PyObject *mesh;
    if (mesh == NULL)
        mesh = PyObject_CallFunction((PyObject *)&ext_mesh_type, "(())");
    return (MeshObject *)mesh;
}

static int
find_mesh(op_maker *m)
{
    m->entry->solo = m->call->layout == NULL;
    m->mesh = m->entry->solo ? solo_mesh() : m->call->layout->mesh;
    if (m->mesh == NULL)
        return -1;
    if (m->mesh->mesh->world == 0)
        return 0;
    m->world = ext_world(m->mesh->mesh, m->call->op->text);
    if (m->world == NULL)
        return -1;
    m->entry->checks = m->world->check == DT_CHECK_ARRAYS;
    m->entry->traced = m->mesh->mesh->size > 1;
    return 0;
}

/* A key has addresses of layouts: as long as it is kept, so are they. */
static void
hold_layouts(op_maker *m)
{
    for (int k = 0; k < m->call->operand_count; k++) {
        PyObject *layout = ((OperandObject *)m->metas[k])->layout;
        if (layout != Py_None)
            m->entry->operands[k].from = (LayoutObject *)Py_NewRef(layout);
    }
}

static uint64_t
hash_constants(const op_call *call, bool loose)
{
    bool before = ext_trace.differs;
    ext_scope scope = ext_trace.scope; /* an entry is for calls in any */
    ext_trace.differs = loose;
    ext_trace.scope.lineage = 0;
    uint64_t hash = ext_lineage_add(op_call_pattern(call), call->op->name);
    for (int k = 0; k < call->static_count; k++)
        hash = ext_lineage_add(hash, call->statics[k]);
    ext_trace.differs = before;
    ext_trace.scope = scope;
    return hash;
}

/* What is the same in all calls of an entry. */
static void
trace(op_maker *m)
{
    Py_CLEAR(m->entry->text);
    m->entry->detail = hash_constants(m->call, false);
    m->entry->loose = hash_constants(m->call, true);
    m->entry->text = op_call_text(m->call);
    if (m->entry->text == NULL) { /* an argument that cannot be shown is no error */
        PyErr_Clear();
        m->entry->text = Py_NewRef(m->call->op->name);
    }
}

/* Whether this rank has much of an operand or a result. */
static bool
has_large(const op_maker *m)
{
    int rank = m->world == NULL ? -1 : m->world->transport->rank;
    bool large = false;
    for (int k = 0; k < m->entry->operand_count && !large && rank >= 0; k++) {
        const LayoutObject *from = m->entry->operands[k].from;
        large = from != NULL && op_is_large(from->layout->dtype == DT_FLOAT16,
                                            dt_layout_bytes_at(from->layout, rank));
    }
    for (int k = 0; k < m->entry->result_count && !large && rank >= 0; k++) {
        const LayoutObject *layout = m->entry->results[k].layout;
        large = layout != NULL && op_is_large(layout->layout->dtype == DT_FLOAT16,
                                              dt_layout_bytes_at(layout->layout, rank));
    }
    return large;
}

/* Whether this rank has so much of a result that others may read it where it lies. */
static bool
has_pooled(const op_maker *m)
{
    bool pooled = m->entry->large;
    for (int k = 0; k < m->entry->result_count && !pooled && m->world != NULL; k++) {
        const LayoutObject *layout = m->entry->results[k].layout;
        pooled = layout != NULL &&
                 dt_layout_bytes_at(layout->layout, m->world->transport->rank) >=
                     (int64_t)dt_memory_least();
    }
    return pooled;
}

static int
make(op_maker *m)
{
    const op_call *call = m->call;
    size_t room = (size_t)call->operand_count + 1;
    m->metas = PyMem_Calloc(room, sizeof *m->metas);
    m->entry->operands = PyMem_Calloc(room, sizeof *m->entry->operands);
    if (m->metas == NULL || m->entry->operands == NULL)
        return ext_no_memory();
    m->entry->operand_count = call->operand_count;
    PyObject *answer, *dtypes;
    int failed = op_ask(m, &answer, &dtypes);
    bool composite = failed == 0 && m->rule == NULL;
    if (composite) {
        m->entry->composite = Py_NewRef(answer);
        m->entry->kwnames = op_keywords(call);
        failed = call->kwnames != NULL && m->entry->kwnames == NULL ? -1 : 0;
        if (m->entry->passes != 0) /* the other operator does */
            m->entry->checks = m->entry->traced = false;
        hold_layouts(m);
    } else if (failed == 0) {
        m->entry->result_count = dt_rule_results(m->rule->rule);
        m->entry->elementwise =
            dt_rule_elementwise(m->rule->rule) && !op_says(call->op, "in_rows");
        failed = op_place(m, dtypes);
    }
    if (failed == 0 && m->entry->traced)
        trace(m);
    if (failed == 0 && !composite) {
        m->entry->large = has_large(m);
        m->entry->pooled = has_pooled(m);
    }
    Py_XDECREF(answer);
    return failed < 0 || composite ? failed : op_make_slots(m);
}

/* A call that cannot be made for want of memory may fail on this rank alone. */
static void
note_failure(op_maker *m)
{
    if (m->entry == NULL || !m->entry->traced ||
        !PyErr_ExceptionMatches(PyExc_MemoryError))
        return;
    dt_error error;
    ext_catch(&error);
    op_call call = *m->call;
    trace(m);
    op_call_trace(&call, m->entry);
    ext_raise(&error);
    ext_note_failure(m->mesh->mesh, call.lineage, call.op->text);
}

static op_entry *
make_entry(const op_call *call)
{
    op_maker m = {.call = call, .entry = op_entry_new()};
    int failed = m.entry == NULL ? -1 : find_mesh(&m);
    if (failed == 0)
        failed = make(&m);
    if (failed < 0)
        note_failure(&m);
    else
        op_answer_keep(&m);
    for (int k = 0; m.metas != NULL && k < call->operand_count; k++)
        Py_XDECREF(m.metas[k]);
    PyMem_Free(m.metas);
    PyMem_Free(m.dtypes);
    dt_binding_free(m.binding);
    Py_XDECREF((PyObject *)m.rule);
    Py_XDECREF((PyObject *)m.kernel);
    if (failed < 0) {
        op_entry_release(m.entry);
        return NULL;
    }
    return m.entry;
}

_Thread_local bool ext_implicit_replication;

/* The entry of a call, made where there is none. A new reference. */
static op_entry *
find_entry(const op_call *call)
{
    op_entry *entry = op_cache_find(call);
    if (entry == NULL) {
        entry = make_entry(call);
        if (entry != NULL)
            op_cache_add(entry, call);
        if (entry != NULL && entry->kept)
            op_know(entry, call);
    }
    return entry;
}

op_entry *
op_entry_of(const op_call *call)
{
    if (call->tensor != NULL && call->layout != NULL && !ext_implicit_replication)
        return (op_entry *)PyErr_Format(
            PyExc_RuntimeError,
            "%U: got mixed Tensor and DTensor, need to convert all Tensor to "
            "DTensor before calling distributed operators! "
            "(what all ranks have, such as a full_tensor(), may be an array: "
            "tensor.numpy(); of parts DTensor.from_local(tensor, mesh, placements); or "
            "the context dtensor.experimental.implicit_replication(); or x.to_local() "
            "of the DTensor; distribute_module makes a model's parameters DTensors)",
            call->op->name);
    return find_entry(call);
}
