/* Placing: layouts of operands and results, by the rule and what moves cost. */
#include "ext/op/op.h"

#include "kernels/reduce.h"

/* --- dtypes and shapes --- */

/* The dtypes of the results: as the function says, or those that the kernel gives. */
static int
find_dtypes(op_maker *m, PyObject *given)
{
    int count = dt_rule_results(m->rule->rule);
    m->dtypes = PyMem_New(dt_dtype, (size_t)count);
    if (m->dtypes == NULL)
        return ext_no_memory();
    PyObject *results = given == Py_None ? op_try_kernel(m, false) : Py_NewRef(given);
    if (results == NULL)
        return -1;
    bool several = PyTuple_Check(results) || PyList_Check(results);
    if (several && given == Py_None)
        m->entry->container = Py_NewRef((PyObject *)Py_TYPE(results));
    int failed = 0;
    if (several && PySequence_Fast_GET_SIZE(results) != count) {
        PyErr_Format(PyExc_SystemError,
                     "operator %U: the rule has %d results, the kernel %zd",
                     m->call->op->name, count, PySequence_Fast_GET_SIZE(results));
        failed = -1;
    }
    for (int k = 0; failed == 0 && k < count; k++) {
        PyObject *item = several ? PySequence_Fast_ITEMS(results)[k] : results;
        const char *what = m->call->op->text;
        failed = given == Py_None
                     ? ext_dtype_of(&m->dtypes[k], item, what)
                     : ext_dtype_like(&m->dtypes[k], item, DT_FLOAT64, what);
    }
    Py_DECREF(results);
    return failed;
}

/* Shapes that do not fit: NumPy is to say it in its own words. */
static void
raise_shapes(const op_maker *m, const dt_error *err)
{
    PyObject *result = op_try_kernel(m, true);
    if (result != NULL) {
        Py_DECREF(result);
        PyErr_Format(PyExc_SystemError,
                     "operator %U: NumPy takes these shapes, but the rule %U does not: "
                     "%s",
                     m->call->op->name, m->rule->text, err->message);
    }
}

static int
bind(op_maker *m, const dt_layout *const *layouts)
{
    int count = m->call->operand_count;
    dt_shape *shapes = PyMem_New(dt_shape, (size_t)count);
    if (shapes == NULL)
        return ext_no_memory();
    for (int k = 0; k < count; k++)
        shapes[k] = (dt_shape){layouts[k]->ndim, layouts[k]->shape};
    dt_error err;
    dt_status status = dt_rule_bind(&m->binding, m->rule->rule, shapes, count, &err);
    PyMem_Free(shapes);
    if (status == DT_VALUE)
        raise_shapes(m, &err);
    else if (status != DT_OK)
        ext_raise(&err);
    return status == DT_OK ? 0 : -1;
}

/* --- layouts of the operands --- */

/* A dtype as NumPy promotes it with Python numbers: float32 for bfloat16, of which it
 * knows nothing. */
static PyObject *
promoted(PyObject *dtype)
{
    if (ext_dtype_is((PyArray_Descr *)dtype, DT_BFLOAT16))
        return (PyObject *)PyArray_DescrFromType(NPY_FLOAT);
    return Py_NewRef(dtype);
}

/* The dtype that a Python number takes beside the other operands, as NumPy finds it. */
static int
number_dtype(const op_maker *m, dt_dtype *out, PyObject *number)
{
    const op_call *call = m->call;
    static PyObject *result_type;
    if (ext_import(&result_type, "numpy", "result_type") == NULL)
        return -1;
    PyObject *kinds = PyList_New(0);
    for (int k = 0; kinds != NULL && k < call->operand_count; k++) {
        PyObject *dtype = ((OperandObject *)m->metas[k])->dtype;
        if (dtype != Py_None)
            ext_append(&kinds, promoted(dtype));
    }
    if (kinds != NULL)
        ext_append(&kinds, Py_NewRef(number));
    PyObject *args = kinds == NULL ? NULL : PyList_AsTuple(kinds);
    PyObject *dtype = args == NULL ? NULL : PyObject_CallObject(result_type, args);
    int failed =
        dtype == NULL ? -1 : ext_dtype_like(out, dtype, DT_FLOAT64, call->op->text);
    Py_XDECREF(kinds);
    Py_XDECREF(args);
    Py_XDECREF(dtype);
    return failed;
}

/* The layout of operand k: its own, or replicated on the mesh of the others. */
static LayoutObject *
layout_of(const op_maker *m, int k)
{
    PyObject *object = m->call->operands[k];
    op_kind kind = op_kind_of(object);
    if (kind == OP_DTENSOR)
        return (LayoutObject *)Py_NewRef((PyObject *)((DTensorObject *)object)->layout);
    if (kind == OP_LAYOUT)
        return (LayoutObject *)Py_NewRef(object);
    int64_t shape[DT_MAX_NDIM];
    dt_dtype dtype;
    int ndim = 0;
    if (kind == OP_NUMBER) {
        if (number_dtype(m, &dtype, object) < 0)
            return NULL;
    } else {
        PyArrayObject *array = op_array(object);
        ndim = ext_array_shape(shape, array);
        if (ext_dtype(&dtype, PyArray_DESCR(array), m->call->op->text) < 0)
            return NULL;
    }
    return ext_layout(ext_layout_make(m->mesh->mesh, NULL, ndim, shape, dtype),
                      m->mesh);
}

/* Replaces a layout by that on the mesh of the call, if the meshes differ by the names
 * of their dimensions alone. Steals it. */
static LayoutObject *
on_mesh(const op_maker *m, LayoutObject *layout, int k)
{
    const dt_mesh *mesh = m->mesh->mesh;
    dt_layout *made = NULL;
    dt_error err;
    LayoutObject *result = NULL;
    if (!dt_mesh_same_ranks(layout->layout->mesh, mesh))
        PyErr_Format(PyExc_ValueError,
                     "%U: operands are on different meshes: %R, and operand %d on %R; "
                     "move one of them first: x.redistribute(device_mesh=mesh, "
                     "placements=placements)",
                     m->call->op->name, (PyObject *)m->mesh, k,
                     (PyObject *)layout->mesh);
    else {
        dt_status status = dt_layout_on(&made, layout->layout, mesh, &err);
        result = ext_layout(ext_layout_made(status, made, &err), m->mesh);
    }
    Py_DECREF(layout);
    return result;
}

/* --- the entry --- */

/* What a Python number is where its Partial has nothing to add, on this rank. */
static int
make_stand_in(op_maker *m, op_operand *operand)
{
    const dt_layout *to = operand->to->layout;
    int64_t coordinate[DT_MESH_MAX_NDIM];
    if (m->world == NULL)
        return 0;
    int inside = ext_coordinate(coordinate, to->mesh, m->call->op->text);
    if (inside <= 0)
        return inside;
    dt_reduce_op op;
    if (!dt_layout_leaves_identity(&op, to, coordinate))
        return 0;
    PyObject *identity = ext_array(0, NULL, to->dtype);
    if (identity == NULL)
        return -1;
    dt_reduce_identity(to->dtype, op, PyArray_DATA((PyArrayObject *)identity));
    operand->stand_in = PyObject_CallMethod(identity, "item", NULL);
    Py_DECREF(identity);
    return operand->stand_in == NULL ? -1 : 0;
}

/* Bytes of the whole of an array that is cut, if the target is not; else 0. */
static int64_t
gathered(const dt_layout *from, const dt_layout *to)
{
    bool was_cut = false;
    for (int d = 0; d < from->ndim; d++) {
        if (to->dims[d].count > 0)
            return 0;
        was_cut |= from->dims[d].count > 0;
    }
    return was_cut ? dt_layout_bytes_at(to, 0) : 0;
}

static int
make_operand(op_maker *m, int k, const dt_layout *target)
{
    op_operand *operand = &m->entry->operands[k];
    if (target == operand->from->layout)
        return 0;
    dt_layout_retain(target);
    operand->to = ext_layout(target, m->mesh);
    if (operand->to == NULL)
        return -1;
    if (op_kind_of(m->call->operands[k]) == OP_NUMBER)
        return make_stand_in(m, operand);
    dt_error err;
    const dt_cost *cost = ext_cost(m->world);
    if (cost == NULL ||
        ext_check(dt_plans_find(&operand->plan, ext_plans, operand->from->layout,
                                target, cost, 0, &err),
                  &err) < 0)
        return -1;
    m->entry->moved++;
    m->entry->sends |= !dt_plan_local(operand->plan);
    int64_t bytes = gathered(operand->from->layout, target);
    if (bytes > m->entry->gathered)
        m->entry->gathered = bytes;
    return 0;
}

static int
make_result(op_maker *m, int k, const dt_layout *layout)
{
    op_result *result = &m->entry->results[k];
    dt_layout_retain(layout);
    result->layout = ext_layout(layout, m->mesh);
    if (result->layout == NULL)
        return -1;
    if (m->entry->solo) {
        result->ndim = layout->ndim;
        memcpy(result->shape, layout->shape,
               sizeof *layout->shape * (size_t)layout->ndim);
        return 0;
    }
    if (m->world == NULL) { /* a mesh without ranks: there is no data */
        m->entry->outside = true;
        result->ndim = dt_layout_local_shape(result->shape, layout, NULL);
        return 0;
    }
    int64_t coordinate[DT_MESH_MAX_NDIM];
    int inside = ext_coordinate(coordinate, layout->mesh, m->call->op->text);
    if (inside < 0)
        return -1;
    m->entry->outside = !inside;
    result->ndim =
        dt_layout_local_shape(result->shape, layout, inside ? coordinate : NULL);
    for (int d = 0; inside && d < layout->ndim; d++)
        result->short_part |= result->shape[d] < 2 && layout->shape[d] > 1;
    return 0;
}

static int
take_choice(op_maker *m, const dt_choice *choice)
{
    op_entry *entry = m->entry;
    entry->seconds = choice->seconds;
    entry->results = PyMem_Calloc((size_t)choice->result_count, sizeof *entry->results);
    if (entry->results == NULL)
        return ext_no_memory();
    for (int k = 0; k < choice->operand_count; k++)
        if (make_operand(m, k, choice->operands[k]) < 0)
            return -1;
    for (int k = 0; k < choice->result_count; k++)
        if (make_result(m, k, choice->results[k]) < 0)
            return -1;
    return 0;
}

/* --- the results that are there already --- */

/* Whether NumPy broadcasts a result of this shape into `out`. */
static bool
goes_into(dt_shape shape, const dt_layout *out)
{
    bool fits = shape.ndim <= out->ndim;
    for (int d = 1; fits && d <= shape.ndim; d++) {
        int64_t length = shape.shape[shape.ndim - d];
        fits = length == 1 || length == out->shape[out->ndim - d];
    }
    return fits;
}

static bool
is_shape(dt_shape shape, const dt_layout *layout)
{
    bool same = shape.ndim == layout->ndim;
    for (int d = 0; same && d < shape.ndim; d++)
        same = shape.shape[d] == layout->shape[d];
    return same;
}

/* Sets *out to the layout that the only result is to be brought to, NULL if there is
 * none that propagation could count with. A ufunc says in its own words what does not
 * fit. */
static int
find_wanted(const dt_layout **out, const op_maker *m)
{
    *out = NULL;
    if (m->call->out == NULL || dt_rule_results(m->rule->rule) != 1)
        return 0;
    const dt_layout *given = m->call->out->layout;
    dt_shape shape = dt_binding_result(m->binding, 0);
    if (op_is_ufunc(m->kernel->kernel) && !goes_into(shape, given)) {
        PyObject *result = op_try_kernel(m, true);
        Py_XDECREF(result);
        return result == NULL ? -1 : 0;
    }
    if (is_shape(shape, given) && given->mesh == m->mesh->mesh &&
        given->dtype == m->dtypes[0])
        *out = given;
    return 0;
}

/* --- all of it --- */

static int
find_operands(op_maker *m, const dt_layout **layouts)
{
    for (int k = 0; k < m->call->operand_count; k++) {
        op_operand *operand = &m->entry->operands[k];
        operand->key = operand->from = layout_of(m, k);
        if (operand->from == NULL)
            return -1;
        Py_INCREF((PyObject *)operand->key);
        if (operand->from->layout->mesh != m->mesh->mesh)
            operand->from = on_mesh(m, operand->from, k);
        if (operand->from == NULL)
            return -1;
        layouts[k] = operand->from->layout;
    }
    return 0;
}

static int
propagate(op_maker *m, const dt_layout *const *layouts)
{
    const dt_layout *wanted;
    if (find_wanted(&wanted, m) < 0)
        return -1;
    dt_choice choice;
    dt_error err;
    const dt_cost *cost = ext_cost(m->world);
    if (cost == NULL ||
        ext_check(dt_propagate(&choice, ext_plans, m->rule->rule, m->binding, layouts,
                               m->dtypes, wanted == NULL ? NULL : &wanted, cost, false,
                               &err),
                  &err) < 0)
        return -1;
    int failed = take_choice(m, &choice);
    dt_choice_clear(&choice, ext_context);
    return failed;
}

int
op_place(op_maker *m, PyObject *dtypes)
{
    size_t count = (size_t)m->call->operand_count;
    const dt_layout **layouts = PyMem_New(const dt_layout *, count);
    if (layouts == NULL)
        return ext_no_memory();
    int failed = find_operands(m, layouts);
    if (failed == 0)
        failed = bind(m, layouts);
    if (failed == 0)
        failed = find_dtypes(m, dtypes);
    if (failed == 0)
        failed = propagate(m, layouts);
    PyMem_Free(layouts);
    return failed;
}
