/* What a move would cost: the plan, told to Python. */
#include "ext/face/face.h"

#include "comm/way/way.h"

/* What is known at once while step `k` of a plan runs: source, result, and what lies
 * between them before and after. */
static int64_t
peak_bytes(const dt_plan *plan, const dt_traffic *traffic, int k)
{
    int last = plan->step_count - 1;
    return traffic[0].bytes_before + traffic[last].bytes_after +
           (k > 0 ? traffic[k].bytes_before : 0) +
           (k < last ? traffic[k].bytes_after : 0);
}

/* The placements, and the dtype where it is not that of the array. */
static void
print_between(char *out, size_t size, const dt_layout *layout, const dt_plan *plan)
{
    int used = dt_layout_print(out, size, layout);
    if (layout->dtype != plan->from->dtype && (size_t)used < size)
        snprintf(out + used, size - (size_t)used, " %s", dt_dtype_name(layout->dtype));
}

static PyObject *
explain_step(const dt_plan *plan, const dt_traffic *traffic, const dt_world *world,
             int k)
{
    const dt_step *step = &plan->steps[k];
    char from[1024], to[1024];
    int64_t mesh_dims[DT_MESH_MAX_NDIM];
    print_between(from, sizeof from, step->from, plan);
    print_between(to, sizeof to, step->to, plan);
    int count = 0;
    for (int at = 0; at < step->mesh_dim_count; at++) {
        int m = step->mesh_dims[at];
        if (plan->node_dim >= 0 && m > plan->node_dim)
            m--; /* the same one, or what comes after both */
        if (count == 0 || mesh_dims[count - 1] != m)
            mesh_dims[count++] = m;
    }
    PyObject *dims = ext_tuple(mesh_dims, count);
    if (dims == NULL)
        return NULL;
    const char *why;
    const dt_way *way = dt_way_of(&why, world, step, dt_way_first(plan, k));
    return Py_BuildValue("(sNssLLLLss)", dt_step_name(step->kind), dims, from, to,
                         (long long)traffic[k].bytes_sent,
                         (long long)traffic[k].bytes_received,
                         (long long)traffic[k].messages,
                         (long long)peak_bytes(plan, traffic, k), way->name, why);
}

static PyObject *
explain_plan(const dt_plan *plan, const dt_world *world, int64_t rank)
{
    dt_traffic traffic[DT_PLAN_MAX_STEPS];
    int64_t peak = 0;
    for (int k = 0; k < plan->step_count; k++) {
        const char *why;
        const dt_step *step = &plan->steps[k];
        dt_way_of(&why, world, step, dt_way_first(plan, k))
            ->traffic(&traffic[k], step, rank);
    }
    PyObject *steps = PyList_New(plan->step_count);
    for (int k = 0; k < plan->step_count && steps != NULL; k++) {
        PyObject *step = explain_step(plan, traffic, world, k);
        int64_t bytes = peak_bytes(plan, traffic, k);
        peak = bytes > peak ? bytes : peak;
        ext_put(&steps, k, step);
    }
    if (steps == NULL)
        return NULL;
    return Py_BuildValue("(dLN)", plan->seconds, (long long)peak, steps);
}

/* The costs, and the world; NULL: there is none. -1 with an exception. */
static int
cost_of(const dt_cost **out, const dt_world **where, int64_t *rank,
        const dt_layout *from, const dt_layout *to)
{
    *where = NULL;
    const dt_mesh *mesh = from->mesh->world != 0 ? from->mesh : to->mesh;
    if (mesh->world == 0) {
        if (*rank < 0)
            *rank = 0;
        *out = ext_cost(NULL);
        return *out == NULL ? -1 : 0;
    }
    dt_world *world = ext_world(mesh, "explain");
    if (world == NULL)
        return -1;
    *out = &world->cost;
    *where = world;
    if (*rank < 0)
        *rank = world->transport->rank;
    return 0;
}

static PyObject *
explain(PyObject *Py_UNUSED(module), PyObject *const *args, Py_ssize_t nargs,
        PyObject *kwnames)
{
    static const ext_signature signature = EXT_SIGNATURE(
        "_explain", 4, 4, 2, "from_layout", "to_layout", "rank", "max_bytes");
    PyObject *given[4];
    int64_t rank = -1, max_bytes = 0;
    if (ext_arguments(given, &signature, args, nargs, kwnames) < 0 ||
        ext_argument_int(&rank, given[2]) < 0 ||
        ext_argument_int(&max_bytes, given[3]) < 0)
        return NULL;
    if (!PyObject_TypeCheck(given[0], &ext_layout_type) ||
        !PyObject_TypeCheck(given[1], &ext_layout_type))
        return PyErr_Format(PyExc_TypeError, "_explain: expected two Layouts");
    const dt_layout *from = ((LayoutObject *)given[0])->layout;
    const dt_layout *to = ((LayoutObject *)given[1])->layout;
    if (max_bytes < 0)
        return PyErr_Format(PyExc_ValueError,
                            "_explain: max_bytes must not be negative");
    if (from == to)
        return Py_BuildValue("(dL[])", 0.0, 0LL);
    const dt_cost *cost;
    const dt_world *world;
    if (cost_of(&cost, &world, &rank, from, to) < 0)
        return NULL;
    const dt_plan *plan;
    dt_error err;
    if (dt_plans_find(&plan, ext_plans, from, to, cost, max_bytes, &err) != DT_OK)
        return ext_raise(&err);
    PyObject *result = explain_plan(plan, world, rank);
    dt_plan_release(ext_plans, plan);
    return result;
}

PyDoc_STRVAR(
    explain_doc,
    "_explain($module, /, from_layout, to_layout, rank=None, max_bytes=None)\n--\n\n"
    "Return the plan between two layouts, for ``dtensor.debug.explain``.\n\n"
    "Parameters\n----------\n"
    "from_layout, to_layout : Layout\n"
    "    Of equal shapes and dtypes; their meshes may be without ranks.\n"
    "rank : int, optional\n"
    "    Whose bytes and messages are told; default: this rank, or 0 without ranks.\n"
    "max_bytes : int, optional\n"
    "    The bound that redistribute would be given.\n\n"
    "Returns\n-------\n"
    "tuple\n"
    "    Predicted seconds, the most bytes held at once, and for each step: name, "
    "mesh\n"
    "    dimensions, layout before, layout after, bytes sent, bytes received, "
    "messages\n"
    "    sent, bytes held, the way that is expected, and why.\n\n"
    "Raises\n------\n"
    "ValueError\n"
    "    If the shapes differ or no plan keeps to `max_bytes`.\n"
    "TypeError\n"
    "    If the dtypes differ.\n");

PyMethodDef ext_explain_methods[] = {
    {"_explain", EXT_FAST(explain), explain_doc},
    {"_watch", watch_set, METH_VARARGS, watch_doc},
    {"_rule", EXT_FAST(watch_rule), watch_rule_doc},
    {NULL, NULL, 0, NULL},
};
