/* Arguments that are given by PyTorch's names, where NumPy has others or none. */
#include "ext/dispatch/dispatch.h"

int
op_find_parameter(int *place, Py_ssize_t *positional, PyObject *function,
                  const char *name)
{
    PyObject *code = PyObject_GetAttrString(function, "__code__");
    PyObject *names = NULL, *plain = NULL, *keywords = NULL;
    if (code != NULL) {
        names = PyObject_GetAttrString(code, "co_varnames");
        plain = PyObject_GetAttrString(code, "co_argcount");
        keywords = PyObject_GetAttrString(code, "co_kwonlyargcount");
    }
    if (names != NULL && plain != NULL && keywords != NULL) {
        *positional = PyLong_AsSsize_t(plain);
        Py_ssize_t count = *positional + PyLong_AsSsize_t(keywords);
        *place = -1;
        for (int k = 0; k < count && k < PyTuple_GET_SIZE(names); k++)
            if (PyUnicode_CompareWithASCIIString(PyTuple_GET_ITEM(names, k), name) == 0)
                *place = k;
    }
    Py_XDECREF(code);
    Py_XDECREF(names);
    Py_XDECREF(plain);
    Py_XDECREF(keywords);
    return PyErr_Occurred() ? -1 : 0;
}

static const struct {
    const char *name;
    int place;
} PLACES[] = {
    {"input", 0},    {"self", 0},   {"tensors", 0},  {"elements", 0},    {"other", 1},
    {"mat2", 1},     {"vec", 1},    {"vec2", 1},     {"tensor", 1},      {"dims", 1},
    {"size", 1},     {"shape", 1},  {"dim0", 1},     {"dim1", 2},        {"axis0", 1},
    {"axis1", 2},    {"source", 1}, {"decimals", 1}, {"destination", 2}, {"indices", 1},
    {"exponent", 1}, {"chunks", 1}, {"repeats", 1},
};

/* The dict of PLACES, made once; NULL with an exception. */
static PyObject *
places(void)
{
    static PyObject *known;
    if (known != NULL)
        return known;
    PyObject *made = PyDict_New();
    for (size_t k = 0; made != NULL && k < sizeof PLACES / sizeof PLACES[0]; k++) {
        PyObject *place = PyLong_FromLong(PLACES[k].place);
        if (place == NULL || PyDict_SetItemString(made, PLACES[k].name, place) < 0)
            Py_CLEAR(made);
        Py_XDECREF(place);
    }
    return known = made;
}

/* Where an argument of that name goes: -1 if by name; -2 with an exception. */
static int
place_of(const OperatorObject *self, PyObject *name)
{
    PyObject *known = places(), *place;
    if (known == NULL)
        return -2;
    place = PyDict_GetItemWithError(known, name);
    if (place == NULL)
        return PyErr_Occurred() ? -2 : -1;
    int own = -1;
    Py_ssize_t positional;
    if (op_find_parameter(&own, &positional, self->function, PyUnicode_AsUTF8(name)) <
        0)
        return -2;
    return own >= 0 ? -1 : (int)PyLong_AsLong(place);
}

int
op_has_places(const OperatorObject *self, PyObject *kwnames)
{
    for (Py_ssize_t k = 0; k < PyTuple_GET_SIZE(kwnames); k++) {
        int place = place_of(self, PyTuple_GET_ITEM(kwnames, k));
        if (place != -1)
            return place < 0 ? -1 : 1;
    }
    return 0;
}

/* Puts the arguments in order; returns how many are positional then, or -1. */
static Py_ssize_t
put_places(OperatorObject *self, PyObject *const *args, Py_ssize_t nargs,
           PyObject *kwnames, PyObject **rest, PyObject *names)
{
    Py_ssize_t keywords = PyTuple_GET_SIZE(kwnames), moved = 0, kept = 0;
    for (Py_ssize_t k = 0; k < keywords; k++) {
        int place = place_of(self, PyTuple_GET_ITEM(kwnames, k));
        if (place == -2)
            return -1;
        if (place == -1)
            continue;
        if (place >= nargs + keywords || rest[place] != NULL)
            return ext_fail(PyExc_TypeError, "%U() has no place for the argument '%U'",
                            self->name, PyTuple_GET_ITEM(kwnames, k));
        rest[place] = args[nargs + k];
        moved++;
    }
    Py_ssize_t placed = nargs + moved;
    for (Py_ssize_t k = 0; k < placed; k++)
        if (rest[k] == NULL)
            return ext_fail(PyExc_TypeError, "%U() lacks its argument %zd", self->name,
                            k + 1);
    for (Py_ssize_t k = 0; k < keywords; k++) {
        PyObject *name = PyTuple_GET_ITEM(kwnames, k);
        if (place_of(self, name) >= 0)
            continue;
        rest[placed + kept] = args[nargs + k];
        PyTuple_SET_ITEM(names, kept++, Py_NewRef(name));
    }
    return placed;
}

PyObject *
op_call_placed(OperatorObject *self, PyObject *const *args, Py_ssize_t nargs,
               PyObject *kwnames)
{
    Py_ssize_t keywords = PyTuple_GET_SIZE(kwnames), moved = 0;
    for (Py_ssize_t k = 0; k < keywords; k++)
        moved += place_of(self, PyTuple_GET_ITEM(kwnames, k)) >= 0;
    PyObject **rest = PyMem_Calloc((size_t)(nargs + keywords), sizeof *rest);
    PyObject *names = PyTuple_New(keywords - moved), *result = NULL;
    if (rest != NULL && names != NULL) {
        for (Py_ssize_t k = 0; k < nargs; k++)
            rest[k] = args[k];
        Py_ssize_t placed = put_places(self, args, nargs, kwnames, rest, names);
        if (placed >= 0)
            result = PyObject_Vectorcall((PyObject *)self, rest, (size_t)placed, names);
    } else if (!PyErr_Occurred())
        PyErr_NoMemory();
    PyMem_Free(rest);
    Py_XDECREF(names);
    return result;
}

/* --- operators that have PyTorch's words themselves --- */

static Py_ssize_t
place_in(PyObject *words, PyObject *name)
{
    Py_ssize_t count = PyTuple_GET_SIZE(words);
    for (Py_ssize_t k = 0; k < count; k++)
        if (PyTuple_GET_ITEM(words, k) == name)
            return k;
    for (Py_ssize_t k = 0; k < count; k++)
        if (PyUnicode_Compare(PyTuple_GET_ITEM(words, k), name) == 0)
            return k;
    return -1;
}

/* The same, of PyTorch's names too, where the operator has NumPy's. */
static Py_ssize_t
place_of_word(const OperatorObject *self, PyObject *name)
{
    Py_ssize_t place = place_in(self->words, name);
    if (place >= 0)
        return place;
    PyObject *other = op_keyword(self, name);
    place = other == NULL || other == name ? -1 : place_in(self->words, other);
    Py_XDECREF(other);
    PyErr_Clear();
    return place;
}

/* Puts all arguments into their places, with defaults between them: how many there are
 * then, or -1, without an exception, if that cannot be done: `out` has no place. */
static Py_ssize_t
put_words(const OperatorObject *self, PyObject *const *args, Py_ssize_t nargs,
          PyObject *kwnames, PyObject **placed)
{
    Py_ssize_t room = PyTuple_GET_SIZE(self->words), count = nargs;
    Py_ssize_t needed = room - PyTuple_GET_SIZE(self->defaults);
    for (Py_ssize_t k = 0; k < nargs; k++)
        placed[k] = args[k];
    for (Py_ssize_t k = 0; k < PyTuple_GET_SIZE(kwnames); k++) {
        Py_ssize_t place = place_of_word(self, PyTuple_GET_ITEM(kwnames, k));
        if (place < nargs || placed[place] != NULL)
            return -1;
        if (place == self->out && args[nargs + k] != Py_None)
            return -1;
        placed[place] = args[nargs + k];
        count = place >= count ? place + 1 : count;
    }
    for (Py_ssize_t k = nargs; k < count; k++) {
        if (placed[k] == NULL && k < needed)
            return -1;
        if (placed[k] == NULL)
            placed[k] = PyTuple_GET_ITEM(self->defaults, k - needed);
    }
    return count;
}

PyObject *
op_call_in_words(OperatorObject *self, PyObject *const *args, Py_ssize_t nargs,
                 PyObject *kwnames)
{
    PyObject *placed[OP_INLINE] = {NULL};
    Py_ssize_t room = PyTuple_GET_SIZE(self->words), count = -1;
    if (nargs <= room && nargs <= self->out && room <= OP_INLINE)
        count = put_words(self, args, nargs, kwnames, placed);
    if (count < 0)
        return PyObject_Vectorcall(self->otherwise, args, (size_t)nargs, kwnames);
    return op_call_in_order(self, placed, count, NULL);
}

/* --- in the order of their names --- */

bool
op_in_order_of_names(PyObject *kwnames)
{
    for (Py_ssize_t k = 1; k < PyTuple_GET_SIZE(kwnames); k++)
        if (PyUnicode_Compare(PyTuple_GET_ITEM(kwnames, k - 1),
                              PyTuple_GET_ITEM(kwnames, k)) > 0)
            return false;
    return true;
}

PyObject *
op_call_sorted(OperatorObject *self, PyObject *const *args, Py_ssize_t nargs,
               PyObject *kwnames)
{
    Py_ssize_t keywords = PyTuple_GET_SIZE(kwnames);
    PyObject *names = PySequence_List(kwnames), *order = NULL, *result = NULL;
    PyObject **sorted = PyMem_Calloc((size_t)(nargs + keywords), sizeof *sorted);
    if (sorted == NULL)
        PyErr_NoMemory();
    else if (names != NULL && PyList_Sort(names) == 0)
        order = PyList_AsTuple(names);
    for (Py_ssize_t k = 0; order != NULL && k < nargs; k++)
        sorted[k] = args[k];
    for (Py_ssize_t k = 0; order != NULL && k < keywords; k++)
        for (Py_ssize_t j = 0; j < keywords; j++)
            if (PyTuple_GET_ITEM(order, k) == PyTuple_GET_ITEM(kwnames, j))
                sorted[nargs + k] = args[nargs + j];
    if (order != NULL)
        result = PyObject_Vectorcall((PyObject *)self, sorted, (size_t)nargs, order);
    Py_XDECREF(names);
    Py_XDECREF(order);
    PyMem_Free(sorted);
    return result;
}
