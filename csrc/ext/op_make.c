/* A miss: an operator's function, its rule and the layouts become an entry. */
#include "ext/op.h"

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
    m->entry->checks = m->world != NULL && m->world->check == DT_CHECK_ARRAYS;
    return m->world == NULL ? -1 : 0;
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

static int
make(op_maker *m)
{
    const op_call *call = m->call;
    size_t room = (size_t)call->operand_count + 1;
    m->metas = PyMem_Calloc(room, sizeof *m->metas);
    m->entry->operands = PyMem_Calloc(room, sizeof *m->entry->operands);
    if (m->metas == NULL || m->entry->operands == NULL) {
        PyErr_NoMemory();
        return -1;
    }
    m->entry->operand_count = call->operand_count;
    PyObject *answer, *dtypes;
    int failed = op_ask(m, &answer, &dtypes);
    bool composite = failed == 0 && m->rule == NULL;
    if (composite) {
        m->entry->composite = Py_NewRef(answer);
        hold_layouts(m);
    } else if (failed == 0) {
        m->entry->result_count = dt_rule_results(m->rule->rule);
        failed = op_place(m, dtypes);
    }
    Py_XDECREF(answer);
    return failed < 0 || composite ? failed : op_make_slots(m);
}

op_entry *
op_make(const op_call *call)
{
    op_maker m = {.call = call, .entry = op_entry_new()};
    int failed = m.entry == NULL ? -1 : find_mesh(&m);
    if (failed == 0)
        failed = make(&m);
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
