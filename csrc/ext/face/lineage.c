/* lineage.c: lineages, as Python sees them. */
#include "ext/face/face.h"

static PyObject *
get_lineage(PyObject *Py_UNUSED(module), PyObject *tensor)
{
    if (!ext_is_dtensor(tensor))
        return PyErr_Format(PyExc_TypeError, "lineage takes a DTensor, not %s",
                            Py_TYPE(tensor)->tp_name);
    return PyLong_FromUnsignedLongLong(ext_lineage((DTensorObject *)tensor));
}

/* That of what is made of args[1:], first the call as a text, which the journal gets. */
static uint64_t
lineage_of(PyObject *args)
{
    uint64_t lineage = 0;
    for (Py_ssize_t k = 1; k < PyTuple_GET_SIZE(args); k++)
        lineage = ext_lineage_add(lineage, PyTuple_GET_ITEM(args, k));
    PyObject *name = PyTuple_GET_SIZE(args) > 1 ? PyTuple_GET_ITEM(args, 1) : Py_None;
    if (PyUnicode_Check(name))
        ext_journal_note(lineage, Py_NewRef(name), NULL, lineage, true, 0);
    return lineage;
}

static PyObject *
set_lineage(PyObject *Py_UNUSED(module), PyObject *args)
{
    PyObject *tensor = PyTuple_GET_SIZE(args) > 0 ? PyTuple_GET_ITEM(args, 0) : Py_None;
    if (!ext_is_dtensor(tensor))
        return PyErr_Format(PyExc_TypeError, "made_of takes a DTensor, not %s",
                            Py_TYPE(tensor)->tp_name);
    return ext_with_lineage(Py_NewRef(tensor), lineage_of(args));
}

static PyObject *
not_made(PyObject *Py_UNUSED(module), PyObject *args)
{
    PyObject *mesh = PyTuple_GET_SIZE(args) > 1 ? PyTuple_GET_ITEM(args, 0) : Py_None;
    if (!PyObject_TypeCheck(mesh, &ext_mesh_type))
        return PyErr_Format(PyExc_TypeError, "not_made takes a mesh and a text");
    return ext_failed_handling(((MeshObject *)mesh)->mesh, lineage_of(args),
                               PyTuple_GET_ITEM(args, 1));
}

static PyObject *
arrived(PyObject *Py_UNUSED(module), PyObject *tensor)
{
    if (!ext_is_dtensor(tensor))
        return PyErr_Format(PyExc_TypeError, "arrived takes a DTensor, not %s",
                            Py_TYPE(tensor)->tp_name);
    return ext_arrived(Py_NewRef(tensor), ((DTensorObject *)tensor)->layout->mesh->mesh,
                       "an array");
}

static PyObject *
of_part(PyObject *Py_UNUSED(module), PyObject *args)
{
    PyObject *part, *layout;
    if (!PyArg_ParseTuple(args, "OO!:of_part", &part, &ext_layout_type, &layout))
        return NULL;
    PyObject *array = ext_array_of(part, NULL, "of_part");
    PyObject *tensor = array == NULL ? NULL
                                     : ext_dtensor_checked(&ext_dtensor_type, array,
                                                           (LayoutObject *)layout);
    if (tensor != NULL)
        ext_made_in_scope(tensor);
    return ext_in_dialect(tensor, part);
}

/* The mesh of an argument that is a DTensor, or a list or dict of some; NULL: of one rank,
 * or there is none. */
static const dt_mesh *
mesh_in(PyObject *object, int depth)
{
    const dt_mesh *found = NULL;
    if (ext_is_dtensor(object))
        found = ((DTensorObject *)object)->layout->layout->mesh;
    else if (depth > 0 && (PyTuple_Check(object) || PyList_Check(object)))
        for (Py_ssize_t k = 0; !found && k < PySequence_Fast_GET_SIZE(object); k++)
            found = mesh_in(PySequence_Fast_GET_ITEM(object, k), depth - 1);
    else if (depth > 0 && PyDict_Check(object)) {
        PyObject *key, *value;
        for (Py_ssize_t at = 0; !found && PyDict_Next(object, &at, &key, &value);)
            found = mesh_in(value, depth - 1);
    }
    return found != NULL && found->size > 1 ? found : NULL;
}

static PyObject *
begin_call(PyObject *Py_UNUSED(module), PyObject *args)
{
    PyObject *name, *given, *options;
    if (!PyArg_ParseTuple(args, "UO!O!:begin_call", &name, &PyTuple_Type, &given,
                          &PyDict_Type, &options))
        return NULL;
    ext_scope before = ext_trace.scope;
    if (mesh_in(given, 2) == NULL && mesh_in(options, 2) == NULL)
        Py_RETURN_NONE;
    ext_told = false;
    uint64_t hash =
        ext_lineage_add(before.lineage, name); /* and what that is made of */
    const char *text = before.name == NULL ? PyUnicode_AsUTF8(name) : before.name;
    if (text == NULL)
        return NULL;
    ext_record *record = ext_journal_add(Py_NewRef(name));
    record->call = hash;
    record->count = (int)PyTuple_GET_SIZE(given);
    for (int k = 0; k < record->count; k++)
        hash = dt_mix(hash, ext_lineage_operand(record, k, PyTuple_GET_ITEM(given, k)));
    record->lineage = hash = ext_lineage_add(hash, options);
    ext_trace.scope = (ext_scope){.lineage = hash, .name = text};
    return Py_BuildValue("(KKNO)", (unsigned long long)before.lineage,
                         (unsigned long long)before.made,
                         PyLong_FromVoidPtr((void *)(uintptr_t)before.name),
                         name); /* whose letters the scope refers to */
}

static PyObject *
call_failed(PyObject *Py_UNUSED(module), PyObject *args)
{
    PyObject *name, *given, *options;
    if (!PyArg_ParseTuple(args, "UO!O!:call_failed", &name, &PyTuple_Type, &given,
                          &PyDict_Type, &options))
        return NULL;
    const dt_mesh *mesh = mesh_in(given, 2);
    if (mesh == NULL)
        mesh = mesh_in(options, 2);
    return ext_told ? Py_NewRef(Py_None)
                    : ext_failed_handling(mesh, ext_trace.scope.lineage, name);
}

static PyObject *
end_call(PyObject *Py_UNUSED(module), PyObject *before)
{
    unsigned long long lineage, made;
    PyObject *outer, *name;
    if (before != Py_None) {
        if (!PyArg_ParseTuple(before, "KKO!U:end_call", &lineage, &made, &PyLong_Type,
                              &outer, &name))
            return NULL;
        ext_trace.scope = (ext_scope){
            .lineage = lineage, .made = made, .name = PyLong_AsVoidPtr(outer)};
    }
    Py_RETURN_NONE;
}

static PyObject *
set_differs(PyObject *Py_UNUSED(module), PyObject *wanted)
{
    return ext_switch(&ext_trace.differs, wanted);
}

PyMethodDef ext_lineage_methods[] = {
    {"lineage", get_lineage, METH_O,
     "lineage(tensor, /)\n--\n\n"
     "Return 64 bits of how the elements of a DTensor came to be."},
    {"made_of", set_lineage, METH_VARARGS,
     "made_of(tensor, /, *how)\n--\n\n"
     "Say what the elements of a new DTensor were made of, first the call as a text;\n"
     "return it."},
    {"not_made", not_made, METH_VARARGS,
     "not_made(mesh, /, *how)\n--\n\n"
     "Say that this rank had no memory for a new DTensor, maybe it alone; else as\n"
     "`made_of`."},
    {"arrived", arrived, METH_O,
     "arrived(tensor, /)\n--\n\n"
     "Say that a new DTensor came from elsewhere to all ranks of its mesh; return it."},
    {"of_part", of_part, METH_VARARGS,
     "of_part(part, layout, /)\n--\n\n"
     "Return a DTensor of this rank's part, without gradient. What it is made of is "
     "said\n"
     "by the call that this is in, or by `made_of`."},
    {"begin_call", begin_call, METH_VARARGS,
     "begin_call(name, args, options, /)\n--\n\n"
     "Enter a function that is composed of operators: what it makes of parts is made "
     "of\n"
     "its arguments. Return what `end_call` takes."},
    {"call_failed", call_failed, METH_VARARGS,
     "call_failed(name, args, options, /)\n--\n\n"
     "Say, before `end_call`, that the function has raised the exception that is "
     "being\n"
     "handled, maybe on this rank alone."},
    {"end_call", end_call, METH_O, "end_call(before, /)\n--\n\nLeave it."},
    {"set_differs", set_differs, METH_O,
     "set_differs(wanted, /)\n--\n\n"
     "Whether numbers and plain arrays of this thread may differ between ranks; "
     "return\n"
     "what was."},
    {0},
};
