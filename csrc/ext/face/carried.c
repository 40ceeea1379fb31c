/* carried.c: calls of Python functions, the user's own and the library's, whose failure on
 * one rank is carried to the others as that of a kernel is. */
#include "ext/face/face.h"

/* Adds the DTensors among arguments, or in lists of them, to a hash; gives the first one,
 * borrowed. Nothing else: what is plain may differ between ranks. */
static uint64_t
add_dtensors(uint64_t hash, PyObject **first, PyObject *object, int depth)
{
    if (ext_is_dtensor(object)) {
        *first = *first == NULL ? object : *first;
        return dt_mix(hash, ext_lineage((DTensorObject *)object));
    }
    if (depth > 0 && (PyTuple_Check(object) || PyList_Check(object)))
        for (Py_ssize_t k = 0; k < PySequence_Fast_GET_SIZE(object); k++)
            hash = add_dtensors(hash, first, PySequence_Fast_GET_ITEM(object, k),
                                depth - 1);
    return hash;
}

static PyObject *
call_locally(const char *text, PyObject *function, PyObject *given, PyObject *keywords)
{
    ext_local_call local = ext_local_begin(text);
    PyObject *result = PyObject_Call(function, given, keywords);
    ext_local_end(&local, result != NULL);
    return result;
}

/* The call goes into the journal before it is made: so that ranks which are in the middle
 * of it know that they have made it. */
static PyObject *
carried(PyObject *Py_UNUSED(module), PyObject *args)
{
    PyObject *name, *function, *given, *keywords = NULL;
    int local = 0;
    if (!PyArg_ParseTuple(args, "UOO!|O!p:carried", &name, &function, &PyTuple_Type,
                          &given, &PyDict_Type, &keywords, &local))
        return NULL;
    PyObject *tensor = NULL;
    const char *text = PyUnicode_AsUTF8(name);
    uint64_t lineage = ext_lineage_add(0, name);
    if (!local)
        lineage = add_dtensors(lineage, &tensor, given, 2);
    const dt_layout *layout =
        tensor == NULL ? NULL : ((DTensorObject *)tensor)->layout->layout;
    const dt_mesh *mesh = layout == NULL ? NULL : layout->mesh;
    if (text == NULL)
        return NULL;
    if (mesh == NULL || mesh->size == 1 || mesh->world == 0)
        return call_locally(text, function, given, keywords);
    ext_journal_note(lineage, Py_NewRef(name), NULL, 0, false, 0);
    ext_told = false;
    PyObject *result = PyObject_Call(function, given, keywords);
    if (result == NULL && !ext_told)
        ext_note_failure(mesh, lineage, text);
    return result;
}

PyMethodDef ext_carried_methods[] = {
    {"carried", carried, METH_VARARGS,
     "carried(name, function, args, kwargs={}, local=False, /)\n--\n\n"
     "Call a function. Where it raises on some ranks of the mesh of its first DTensor "
     "and\n"
     "not on others, these raise in their next call. Without a DTensor, or if it is\n"
     "`local`, that holds for all meshes of a rank on which it raises."},
    {0},
};
