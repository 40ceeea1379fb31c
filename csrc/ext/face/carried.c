/* carried.c: calls of the user's own functions, whose failure on one rank is carried to
 * the others as that of a kernel is. */
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

/* The call goes into the journal before it is made: so that ranks which are in the middle
 * of it know that they have made it. */
static PyObject *
carried(PyObject *Py_UNUSED(module), PyObject *args)
{
    PyObject *name, *function, *given, *keywords = NULL;
    int everywhere = 0;
    if (!PyArg_ParseTuple(args, "UOO!|O!p:carried", &name, &function, &PyTuple_Type,
                          &given, &PyDict_Type, &keywords, &everywhere))
        return NULL;
    PyObject *tensor = NULL;
    uint64_t lineage = add_dtensors(ext_lineage_add(0, name), &tensor, given, 2);
    const char *text = PyUnicode_AsUTF8(name);
    const dt_layout *layout =
        tensor == NULL ? NULL : ((DTensorObject *)tensor)->layout->layout;
    const dt_mesh *mesh = layout == NULL ? NULL : layout->mesh;
    if (text == NULL)
        return NULL;
    bool told = mesh == NULL ? everywhere != 0 : mesh->size > 1 && mesh->world != 0;
    if (told)
        ext_journal_note(lineage, Py_NewRef(name), NULL, 0, false, 0);
    PyObject *result = PyObject_Call(function, given, keywords);
    if (result == NULL && told)
        ext_note_failure(mesh, lineage, text);
    return result;
}

PyMethodDef ext_carried_methods[] = {
    {"carried", carried, METH_VARARGS,
     "carried(name, function, args, kwargs={}, everywhere=False, /)\n--\n\n"
     "Call a function of the user's. Where it raises on some ranks of the mesh of its\n"
     "first DTensor (`everywhere`: of all ranks if it has none) and not on others, "
     "these raise in\n"
     "their next call."},
    {0},
};
