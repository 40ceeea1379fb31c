/* The lineages of gradients.
 *
 * A gradient is made of those that came in, whatever makes it. Most are made by operators,
 * whose results tell of their operands. Others are not: of parts, or by a function of the
 * user's; so what came in is added here. A gradient that comes from rank-local Tensors, by
 * `to_local`, is made of what backward began from: what ranks do with their own parts, and
 * whether these want gradients, is their own affair. */
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

/* Of what this run, or one around it, began from on a mesh; 0: of nothing. */
static uint64_t
origin_of(const journey *j, const dt_mesh *mesh)
{
    for (; j != NULL; j = j->outer)
        for (Py_ssize_t k = 0; k < PyTuple_GET_SIZE(j->tensors); k++) {
            PyObject *tensor = PyTuple_GET_ITEM(j->tensors, k);
            if (lineage_of(tensor) != 0 && dt_mesh_equal(mesh_of(tensor), mesh))
                return lineage_of(tensor);
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

/* Gives the e-th of the gradients, and those that are the same, another lineage; 0: it
 * keeps its own. One that others have, too, is theirs: an alias takes its place. */
static int
set_lineage(PyObject **made, Py_ssize_t e, Py_ssize_t count, uint64_t lineage)
{
    PyObject *old = made[e];
    if (Py_REFCNT(old) <= count_of(old, made, count)) {
        ext_with_lineage(old, lineage);
        return 1;
    }
    TensorObject *leaf = (TensorObject *)old;
    bool is_leaf = leaf->requires_grad && leaf->node == NULL;
    if (is_leaf && !tape_off)
        return 0; /* gradients of gradients go to it */
    PyObject *alias = ext_alias(old, Py_TYPE(old));
    if (alias == NULL)
        return -1;
    if (is_leaf)
        ((TensorObject *)alias)->requires_grad = false;
    ext_with_lineage(alias, lineage);
    for (Py_ssize_t k = e; k < count; k++)
        if (made[k] == old)
            Py_SETREF(made[k], Py_NewRef(alias));
    Py_DECREF(alias);
    return 1;
}

int
gradients_made_of(const journey *j, PyObject *const *grads, int count, PyObject *name,
                  PyObject *results)
{
    PyObject **made = PySequence_Fast_ITEMS(results);
    Py_ssize_t made_count = PyTuple_GET_SIZE(results);
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
            first = came = origin_of(j, mesh_of(made[e]));
        if (alone || first == 0)
            continue;
        uint64_t lineage = dt_mix(own, came);
        int set = set_lineage(made, e, made_count, lineage);
        if (set < 0)
            return -1;
        if (set > 0)
            ext_journal_note(lineage, Py_NewRef(name), NULL, own, false, first);
    }
    return 0;
}
