/* compare.c: DTENSOR_CHECK=2, a debugging aid: ranks that hold the same elements compare
 * them, before they are used. What wrote into them may be no call that could be seen. */
#include "ext/move/move.h"

#include <string.h>

/* What a rank holds of one array. */
typedef struct {
    uint64_t part;     /* from 1, equal on the ranks that hold the same; 0: none */
    uint64_t elements; /* a hash of them */
} holding;

int
ext_hash_elements(uint64_t *hash, PyObject *array)
{
    PyArrayObject *whole = PyArray_GETCONTIGUOUS((PyArrayObject *)array);
    if (whole == NULL)
        return -1;
    *hash = dt_hash(*hash, PyArray_DATA(whole), (size_t)PyArray_NBYTES(whole));
    Py_DECREF(whole);
    return 0;
}

int
ext_compare_arrays(bool *equal, PyObject *array, dt_group *group, const char *what)
{
    dt_call call;
    uint64_t hash = 0;
    ext_call_begin(&call, what);
    ext_call_text(&call, ": the arrays that the ranks pass");
    if (ext_hash_elements(&hash, array) < 0)
        ext_catch(&call.local);
    return ext_call_compare(equal, group, &call, hash);
}

/* Without replicas nothing is compared, and all ranks know that. */
static int
hold(holding *out, const dt_layout *layout, PyObject *array)
{
    int64_t coordinate[DT_MESH_MAX_NDIM];
    *out = (holding){0};
    if (!dt_layout_has_replicas(layout) || array == NULL ||
        !ext_has_data((PyArrayObject *)array))
        return 0;
    if (ext_coordinate(coordinate, layout->mesh, "DTENSOR_CHECK=2") <= 0)
        return PyErr_Occurred() ? -1 : 0;
    for (int m = 0; m < layout->mesh->ndim; m++)
        if (!dt_placement_whole(layout->placements[m]))
            out->part =
                out->part * (uint64_t)layout->mesh->shape[m] + (uint64_t)coordinate[m];
    out->part++;
    return ext_hash_elements(&out->elements, array);
}

/* Raises if two ranks hold the same part of array k and other elements. */
static int
judge(const holding *all, int count, int k, const dt_group *group, const dt_call *call)
{
    for (int i = 0; i < group->size; i++)
        for (int j = 0; j < i; j++) {
            const holding *a = &all[j * count + k], *b = &all[i * count + k];
            if (a->part == 0 || a->part != b->part || a->elements == b->elements)
                continue;
            return ext_fail(PyExc_RuntimeError,
                            "%s: the replicas of operand %d differ between ranks %d "
                            "and %d. Was it written to through to_local() or "
                            "np.asarray on one of them, or made of other arrays by "
                            "from_local? (found with DTENSOR_CHECK=2)",
                            call->what, k, group->ranks[j], group->ranks[i]);
        }
    return 0;
}

int
ext_compare_replicas(const dt_layout *const *layouts, PyObject *const *arrays,
                     int count, dt_group *group, const char *what)
{
    bool any = false;
    for (int k = 0; k < count; k++)
        any |= dt_layout_has_replicas(layouts[k]);
    if (!any || ext_trace.differs || group->index < 0 || group->size == 1)
        return 0;
    dt_call call;
    ext_call_begin(&call, what);
    size_t row = (size_t)count * sizeof(holding);
    holding *mine = PyMem_RawMalloc(row);
    holding *all = PyMem_RawMalloc(row * (size_t)group->size);
    int failed = mine == NULL || all == NULL ? ext_no_memory() : 0;
    for (int k = 0; k < count && failed == 0; k++) {
        ext_call_layout(&call, layouts[k]);
        failed = hold(&mine[k], layouts[k], arrays[k]);
    }
    if (failed < 0)
        ext_catch(&call.local);
    failed = ext_agree(group, &call, true);
    if (failed == 0) {
        dt_error err;
        PyThreadState *state = ext_world_enter(group->world);
        dt_status status = dt_share(all, group, mine, row, call.what, &err);
        ext_world_leave(group->world, state);
        failed = ext_check(status, &err);
    }
    for (int k = 0; k < count && failed == 0; k++)
        failed = judge(all, count, k, group, &call);
    PyMem_RawFree(mine);
    PyMem_RawFree(all);
    return failed;
}
