/* module.c: the module dtensor._C. */
#include "ext/face/face.h"
#include "ext/kernels/kernels.h"

/* The types in the order of their bases, with the fields that a `match` statement takes
 * by place. */
static const struct {
    PyTypeObject *type;
    const char *match[3];
} TYPES[] = {
    {&ext_placement_type, {NULL}},
    {&ext_shard_type, {"dim", NULL}},
    {&ext_strided_type, {"dim", "split_factor", NULL}},
    {&ext_replicate_type, {NULL}},
    {&ext_partial_type, {"reduce_op", NULL}},
    {&ext_mesh_type, {NULL}},
    {&ext_layout_type, {NULL}},
    {&ext_world_type, {NULL}},
    {&ext_tensor_type, {NULL}},
    {&ext_dtensor_type, {NULL}},
    {&ext_torch_tensor_type, {NULL}},
    {&ext_torch_dtensor_type, {NULL}},
    {&ext_rule_type, {NULL}},
    {&ext_call_type, {NULL}},
    {&ext_part_type, {NULL}},
    {&ext_node_type, {NULL}},
    {&ext_programs_type, {NULL}},
    {&ext_saved_type, {NULL}},
    {&ext_operand_type, {NULL}},
    {&ext_operator_type, {NULL}},
    {&ext_kernel_type, {NULL}},
    {&ext_wide_type, {NULL}},
};

/* Sets __match_args__ of a type that is ready, where it has some. */
static int
set_match_args(PyTypeObject *type, const char *const *fields)
{
    Py_ssize_t count = 0;
    while (fields[count] != NULL)
        count++;
    PyObject *names = PyTuple_New(count);
    for (Py_ssize_t k = 0; names != NULL && k < count; k++)
        ext_put(&names, k, PyUnicode_InternFromString(fields[k]));
    if (names == NULL)
        return -1;
    int status =
        count > 0 ? PyDict_SetItemString(type->tp_dict, "__match_args__", names) : 0;
    Py_DECREF(names);
    PyType_Modified(type);
    return status;
}

/* x.T and the like, which Tensor has beside its own table. */
static int
add_attributes(PyTypeObject *type, PyGetSetDef *table)
{
    int failed = 0;
    for (; table->name != NULL && failed == 0; table++) {
        PyObject *attribute = PyDescr_NewGetSet(type, table);
        failed = attribute == NULL
                     ? -1
                     : PyDict_SetItemString(type->tp_dict, table->name, attribute);
        Py_XDECREF(attribute);
    }
    return failed;
}

/* Under its own name, but for the two of PyTorch's dialect. */
static int
add_type(PyObject *module, PyTypeObject *type)
{
    if (type == &ext_torch_tensor_type)
        return PyModule_AddObjectRef(module, "TorchTensor", (PyObject *)type);
    if (type == &ext_torch_dtensor_type)
        return PyModule_AddObjectRef(module, "TorchDTensor", (PyObject *)type);
    return PyModule_AddType(module, type);
}

static int
add_types(PyObject *module)
{
    ext_fill_tensor_types();
    ext_fill_torch_types();
    ext_fill_world_type();
    for (size_t k = 0; k < sizeof TYPES / sizeof *TYPES; k++)
        if (ext_give_torch_bases(TYPES[k].type) < 0 ||
            PyType_Ready(TYPES[k].type) < 0 ||
            set_match_args(TYPES[k].type, TYPES[k].match) < 0 ||
            add_type(module, TYPES[k].type) < 0)
            return -1;
    return add_attributes(&ext_tensor_type, ext_slot_attributes);
}

static int
add_mpi_error(PyObject *module)
{
    if (ext_mpi_error == NULL)
        ext_mpi_error = PyErr_NewExceptionWithDoc(
            "dtensor.MPIError",
            "MPI has failed; the communicator may not work any more.",
            PyExc_RuntimeError, NULL);
    return ext_mpi_error != NULL
               ? PyModule_AddObjectRef(module, "MPIError", ext_mpi_error)
               : -1;
}

static PyObject *
cache_info(PyObject *Py_UNUSED(module), PyObject *Py_UNUSED(none))
{
    dt_plans_info plans = dt_plans_count(ext_plans);
    dt_context_info context = dt_context_count(ext_context);
    return Py_BuildValue("{s:L,s:L,s:L,s:L,s:L}", "hits", (long long)plans.hits,
                         "misses", (long long)plans.misses, "plans",
                         (long long)plans.plans, "layouts", (long long)context.layouts,
                         "meshes", (long long)context.meshes);
}

static PyMethodDef module_methods[] = {
    {"cache_info", cache_info, METH_NOARGS,
     "cache_info()\n--\n\n"
     "Return how many plans were found (hits) or made (misses), and how many plans,\n"
     "layouts and meshes there are now."},
    {"_forget", ext_forget, METH_NOARGS, ext_forget_doc},
    {0},
};

static int
module_fill(PyObject *module)
{
    PyMethodDef *tables[] = {
        ext_world_methods,    ext_memory_methods,       ext_fault_methods,
        ext_create_methods,   ext_redistribute_methods, ext_explain_methods,
        ext_op_methods,       op_autocast_methods,      op_fused_methods,
        ext_protocol_methods, ext_write_methods,        ext_tape_methods,
        ext_saved_methods,    ext_gradient_methods,     ext_engine_methods,
        ext_kernel_methods,   ext_wide_methods,         ext_random_methods,
        ext_optim_methods,    ext_without_data_methods, ext_checkpoint_methods,
        ext_lineage_methods,  ext_carried_methods,      ext_torch_methods,
        ext_dialect_methods,  ext_reduce_methods,       ext_along_methods,
        ext_join_methods,     ext_order_methods,        ext_shape_methods,
        ext_filled_methods,   ext_columns_methods,      ext_threads_methods,
        ext_panel_methods,    ext_product_methods,      ext_merge_methods};
    if (ext_state_make() < 0 || ext_errors_make() < 0)
        return -1;
    for (size_t k = 0; k < sizeof tables / sizeof *tables; k++)
        if (PyModule_AddFunctions(module, tables[k]) < 0)
            return -1;
    if (add_mpi_error(module) < 0 || add_types(module) < 0)
        return -1;
    if (ext_add_reduce_ops(module) < 0 || ext_threads_constants(module) < 0)
        return -1;
    return ext_add_local_shape(module);
}

static PyModuleDef_Slot module_slots[] = {
    {Py_mod_exec, module_fill},
#if PY_VERSION_HEX >= 0x030C0000
    {Py_mod_multiple_interpreters, Py_MOD_MULTIPLE_INTERPRETERS_NOT_SUPPORTED},
#endif
    {0, NULL},
};

static struct PyModuleDef module_def = {
    PyModuleDef_HEAD_INIT,
    .m_name = "dtensor._C",
    .m_doc = "The C half of dtensor: placements, meshes, layouts, tensors and moves.",
    .m_methods = module_methods,
    .m_slots = module_slots,
};

PyMODINIT_FUNC PyInit__C(void); /* the export that import looks for */

PyMODINIT_FUNC
PyInit__C(void)
{
    return PyModuleDef_Init(&module_def);
}
