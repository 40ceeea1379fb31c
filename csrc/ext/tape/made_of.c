/* The lineages of gradients.
 *
 * A gradient is made of those that came in, whatever makes it. Most are made by operators,
 * whose results tell of their operands. Others are not: of parts, by a function of the
 * user's, or by way of plain Tensors between `to_local` and `from_local`, which have no
 * lineage; so what comes in is added here. Which rank's nodes are visited, and in which
 * order, is the same for all that have DTensors on one side. */
#include "core/facts/hash.h"
#include "ext/tape/route.h"

/* 0: it has none, or there is no gradient. */
static uint64_t
lineage_of(PyObject *grad)
{
    bool global = grad != NULL && ext_is_dtensor(grad);
    return global ? ext_lineage((DTensorObject *)grad) : 0;
}

static const dt_mesh *
mesh_of(PyObject *grad)
{
    return ((DTensorObject *)grad)->layout->layout->mesh;
}

/* The crossing of a mesh; with `add` made where there is none. NULL: no room, or none. */
static crossing *
crossing_of(journey *j, const dt_mesh *mesh, bool add)
{
    for (crossing *c = j->crossings; c < j->crossings + ROUTE_CROSSINGS; c++) {
        if (c->mesh == 0 && add)
            c->mesh = mesh->hash;
        if (c->mesh == mesh->hash || c->mesh == 0)
            return c->mesh == 0 ? NULL : c;
    }
    return NULL;
}

/* The gradient of a DTensor becomes one of a Tensor. */
static void
cross(journey *j, PyObject *grad, PyObject *name)
{
    crossing *c = crossing_of(j, mesh_of(grad), true);
    uint64_t came = lineage_of(grad), before;
    if (c == NULL || came == 0)
        return;
    before = c->lineage;
    c->lineage = before == 0 ? came : dt_mix(before, came);
    if (before != 0)
        ext_journal_note(c->lineage, Py_NewRef(name), NULL, before, false, came);
}

/* What has crossed to Tensors of gradients on a mesh, in this run or those around it. */
static uint64_t
crossed(journey *j, const dt_mesh *mesh)
{
    for (; j != NULL; j = j->outer) {
        const crossing *c = crossing_of(j, mesh, false);
        if (c != NULL && c->lineage != 0)
            return c->lineage;
    }
    return 0;
}

static Py_ssize_t
count_of(PyObject *object, PyObject *const *others, Py_ssize_t count)
{
    Py_ssize_t found = 0;
    for (Py_ssize_t k = 0; k < count; k++)
        found += others[k] == object;
    return found;
}

/* Gives the e-th of the gradients, and those that are the same, another lineage. One that
 * others have, too, is theirs: an alias takes its place. */
static int
set_lineage(PyObject **made, Py_ssize_t e, Py_ssize_t count, uint64_t lineage)
{
    PyObject *old = made[e];
    if (Py_REFCNT(old) <= count_of(old, made, count)) {
        ext_with_lineage(old, lineage);
        return 0;
    }
    PyObject *alias = ext_alias(old, Py_TYPE(old));
    if (alias == NULL)
        return -1;
    ext_with_lineage(alias, lineage);
    for (Py_ssize_t k = e; k < count; k++)
        if (made[k] == old)
            Py_SETREF(made[k], Py_NewRef(alias));
    Py_DECREF(alias);
    return 0;
}

int
gradients_made_of(journey *j, PyObject *const *grads, int count, PyObject *name,
                  PyObject *results)
{
    PyObject **made = PySequence_Fast_ITEMS(results);
    Py_ssize_t made_count = PyTuple_GET_SIZE(results);
    bool plain = false;
    for (Py_ssize_t e = 0; e < made_count; e++)
        plain = plain || (ext_is_tensor(made[e]) && !ext_is_dtensor(made[e]));
    for (int k = 0; plain && k < count; k++)
        if (grads[k] != NULL && ext_is_dtensor(grads[k]))
            cross(j, grads[k], name);
    for (Py_ssize_t e = 0; e < made_count; e++) {
        bool again = count_of(made[e], made, e) > 0;
        uint64_t own = again ? 0 : lineage_of(made[e]), first = 0, came = 0;
        bool alone = own == 0; /* or a move alone, which counts for nothing */
        for (int k = 0; !alone && k < count; k++) {
            uint64_t lineage = lineage_of(grads[k]);
            if (lineage == 0 || !dt_mesh_equal(mesh_of(grads[k]), mesh_of(made[e])))
                continue;
            first = first == 0 ? lineage : first;
            came = dt_mix(came, lineage);
            alone = lineage == own;
        }
        if (!alone && first == 0)
            first = came = crossed(j, mesh_of(made[e]));
        if (alone || first == 0)
            continue;
        if (set_lineage(made, e, made_count, dt_mix(own, came)) < 0)
            return -1;
        ext_journal_note(dt_mix(own, came), Py_NewRef(name), NULL, own, false, first);
    }
    return 0;
}
