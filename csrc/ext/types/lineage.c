/* lineage.c: 64 bits of how the elements of a DTensor came to be.
 *
 * A result's lineage is a hash of the operator, its constants and the lineages of its
 * operands; an array that is new has the number of the call that made it, or what that
 * call says of its elements. Ranks that have made the same calls have the same lineages,
 * so an agreement finds by one number that they are about to mix different values.
 *
 * Nothing in it depends on addresses, on time, on the order of a dict or on calls that
 * only one rank makes. Tensors that share memory share the hash of what was written into
 * it (tape_version), which is added to each one's own: a write through one of them counts
 * for all, and a view has the same lineage whether it was made by copying or not. */
#include "ext/types/types.h"

#include <string.h>

enum { ARRAY_BYTES = 64, DEPTH = 8 };

/* --- tensors --- */

int
ext_lineage_next(uint64_t *out, uint64_t *number, const dt_mesh *mesh, const char *what)
{
    *out = *number = 0;
    if (mesh->world == 0)
        return 0;
    dt_group *group = ext_group(mesh, NULL, what);
    if (group == NULL)
        return -1;
    *number = ++group->arrivals;
    *out = dt_hash(dt_mix(group->hash, group->ended), number, sizeof *number);
    return 0;
}

void
ext_made_in_scope(PyObject *tensor)
{
    ext_scope *scope = &ext_trace.scope;
    if (scope->lineage == 0)
        return;
    uint64_t lineage = dt_mix(scope->lineage, ++scope->made);
    PyObject *text = ext_journal_text(scope->lineage);
    ext_journal_note(lineage, Py_XNewRef(text), NULL, scope->lineage, false,
                     scope->made);
    ext_with_lineage(tensor, lineage);
}

/* Counts an array that this rank alone could not make. */
static void
not_arrived(const dt_mesh *mesh, const char *what)
{
    uint64_t lineage, number;
    PyObject *type, *error, *trace;
    PyErr_Fetch(&type, &error, &trace);
    if (ext_lineage_next(&lineage, &number, mesh, what) < 0)
        PyErr_Clear();
    PyErr_Restore(type, error, trace);
}

PyObject *
ext_arrived(PyObject *tensor, const dt_mesh *mesh, const char *what)
{
    uint64_t lineage, number;
    if (tensor == NULL && ext_trace.scope.lineage == 0)
        not_arrived(mesh, what);
    if (tensor == NULL)
        return NULL;
    if (ext_trace.scope.lineage != 0) {
        ext_made_in_scope(tensor);
        return tensor;
    }
    LayoutObject *layout = ((DTensorObject *)tensor)->layout;
    if (ext_lineage_next(&lineage, &number, mesh, what) < 0) {
        Py_DECREF(tensor);
        return NULL;
    }
    ext_journal_arrival(lineage, what, dt_count_in(number), layout);
    return ext_with_lineage(tensor, lineage);
}

/* --- what a call is made of --- */

static uint64_t add(uint64_t hash, PyObject *object, int depth);

static uint64_t
add_text(uint64_t hash, const char *text)
{
    return dt_hash(hash, text, strlen(text));
}

static uint64_t
add_name(uint64_t hash, PyObject *name)
{
    Py_ssize_t size;
    const char *text = PyUnicode_AsUTF8AndSize(name, &size);
    if (text == NULL)
        PyErr_Clear(); /* of a lone surrogate */
    return text == NULL ? hash : dt_hash(hash, text, (size_t)size);
}

static uint64_t
add_integer(uint64_t hash, PyObject *number)
{
    int overflow;
    int64_t value = PyLong_AsLongLongAndOverflow(number, &overflow);
    if (overflow == 0)
        return dt_mix(hash, (uint64_t)value);
    hash = dt_mix(hash, PyLong_AsUnsignedLongLongMask(number));
    return dt_mix(hash, (uint64_t)PyLong_Type.tp_hash(number));
}

/* Of long doubles, of which some bytes are none. */
static uint64_t
add_repr(uint64_t hash, PyObject *numbers)
{
    PyObject *text = PyObject_Repr(numbers);
    if (text != NULL)
        hash = add_name(hash, text);
    PyErr_Clear();
    Py_XDECREF(text);
    return hash;
}

static bool
is_long_double(int type)
{
    return type == NPY_LONGDOUBLE || type == NPY_CLONGDOUBLE;
}

static uint64_t
add_scalar(uint64_t hash, PyObject *scalar)
{
    char bytes[2 * sizeof(npy_longdouble)] = {0};
    PyArray_Descr *descr = PyArray_DescrFromScalar(scalar);
    if (descr != NULL && is_long_double(descr->type_num))
        hash = add_repr(hash, scalar);
    else if (descr != NULL && PyTypeNum_ISNUMBER(descr->type_num))
        PyArray_ScalarAsCtype(scalar, bytes);
    Py_XDECREF(descr);
    PyErr_Clear();
    return dt_hash(hash, bytes, sizeof bytes);
}

static uint64_t
add_array(uint64_t hash, PyArrayObject *array)
{
    int type = PyArray_TYPE(array), ndim = PyArray_NDIM(array);
    hash = dt_mix(hash, (uint64_t)type << 8 | (uint64_t)ndim);
    for (int d = 0; d < ndim; d++)
        hash = dt_mix(hash, (uint64_t)PyArray_DIM(array, d));
    if ((PyArray_NBYTES(array) > ARRAY_BYTES && !ext_trace.whole) ||
        PyDataType_REFCHK(PyArray_DESCR(array))) /* a composite's is made of its call */
        return dt_mix(hash, ext_trace.scope.lineage);
    if (PyArray_IS_C_CONTIGUOUS(array) && !is_long_double(type))
        return dt_hash(hash, PyArray_DATA(array), (size_t)PyArray_NBYTES(array));
    PyObject *copy = is_long_double(type) ? PyArray_ToList(array)
                                          : PyArray_NewCopy(array, NPY_CORDER);
    if (copy == NULL) {
        PyErr_Clear();
        return hash;
    }
    if (is_long_double(type))
        hash = add_repr(hash, copy);
    else
        hash = dt_hash(hash, PyArray_DATA((PyArrayObject *)copy),
                       (size_t)PyArray_NBYTES(array));
    Py_DECREF(copy);
    return hash;
}

/* What NumPy makes an array of, such as an array.array. */
static uint64_t
add_as_array(uint64_t hash, PyObject *object)
{
    PyObject *array = PyArray_FromAny(object, NULL, 0, 0, 0, NULL);
    if (array != NULL)
        hash = add_array(hash, (PyArrayObject *)array);
    PyErr_Clear();
    Py_XDECREF(array);
    return hash;
}

/* Attributes that are part of what an object is. */
static uint64_t
add_attributes(uint64_t hash, PyObject *object, const char *const *names, int depth)
{
    for (; *names != NULL; names++) {
        PyObject *value = PyObject_GetAttrString(object, *names);
        if (value != NULL)
            hash = add(hash, value, depth);
        PyErr_Clear();
        Py_XDECREF(value);
    }
    return hash;
}

/* Of a dict or a set the order does not count. */
static uint64_t
add_unordered(uint64_t hash, PyObject *object, int depth)
{
    PyObject *items =
        PyDict_Check(object) ? PyDict_Items(object) : PySequence_List(object);
    uint64_t sum = 0;
    for (Py_ssize_t k = 0; items != NULL && k < PyList_GET_SIZE(items); k++)
        sum += add(0, PyList_GET_ITEM(items, k), depth);
    PyErr_Clear();
    Py_XDECREF(items);
    return dt_mix(hash, sum);
}

/* What a function without a name of its own does: its code, with the names and constants
 * in it. */
static uint64_t
add_code(uint64_t hash, PyObject *code, int depth)
{
    static const char *const parts[] = {"co_code", "co_names", "co_consts"};
    for (size_t k = 0; k < sizeof parts / sizeof *parts && depth > 0; k++) {
        PyObject *part = PyObject_GetAttrString(code, parts[k]);
        bool several = part != NULL && PyTuple_Check(part);
        if (part != NULL && !several)
            hash = add(hash, part, depth);
        for (Py_ssize_t i = 0; several && i < PyTuple_GET_SIZE(part); i++) {
            PyObject *item = PyTuple_GET_ITEM(part, i);
            hash = PyCode_Check(item) ? add_code(hash, item, depth - 1)
                                      : add(hash, item, depth);
        }
        Py_XDECREF(part);
    }
    PyErr_Clear();
    return hash;
}

/* The name of a function, of a lambda its code; what a closure and defaults refer to; and
 * what a partial is made of. */
static uint64_t
add_function(uint64_t hash, PyObject *function, int depth)
{
    static const char *const held[] = {"__defaults__", "__kwdefaults__", NULL};
    static const char *const parts[] = {"func", "args", "keywords", NULL};
    if (strcmp(Py_TYPE(function)->tp_name, "functools.partial") == 0)
        return add_attributes(hash, function, parts, depth);
    if (PyFunction_Check(function))
        hash = add_attributes(hash, function, held, depth);
    PyObject *name = PyObject_GetAttrString(function, "__qualname__");
    if (name != NULL && PyUnicode_Check(name))
        hash = add_name(hash, name);
    PyErr_Clear();
    Py_XDECREF(name);
    PyObject *code = PyFunction_Check(function) ? PyFunction_GetCode(function) : NULL;
    if (code != NULL && PyUnicode_CompareWithASCIIString(
                            ((PyCodeObject *)code)->co_name, "<lambda>") == 0)
        hash = add_code(hash, code, depth);
    PyObject *cells =
        PyFunction_Check(function) ? PyFunction_GetClosure(function) : NULL;
    for (Py_ssize_t k = 0; cells != NULL && k < PyTuple_GET_SIZE(cells); k++) {
        PyObject *content = PyCell_GET(PyTuple_GET_ITEM(cells, k));
        if (content != NULL)
            hash = add(hash, content, depth);
    }
    return hash;
}

static uint64_t
add_placement(uint64_t hash, dt_placement p)
{
    int64_t row[4] = {(int64_t)p.kind, (int64_t)p.op, p.dim, p.split};
    return dt_hash(hash, row, sizeof row);
}

static uint64_t
add_items(uint64_t hash, PyObject *sequence, int depth)
{
    hash = dt_mix(hash, (uint64_t)PySequence_Fast_GET_SIZE(sequence));
    for (Py_ssize_t k = 0; k < PySequence_Fast_GET_SIZE(sequence); k++)
        hash = add(hash, PySequence_Fast_GET_ITEM(sequence, k), depth);
    return hash;
}

/* Numbers and arrays that are neither Python's nor NumPy's, by value. */
static uint64_t
add_other(uint64_t hash, PyObject *object)
{
    const PyNumberMethods *number = Py_TYPE(object)->tp_as_number;
    if (number != NULL && number->nb_float != NULL) {
        PyObject *value = PyNumber_Float(object);
        PyErr_Clear();
        if (value != NULL) {
            hash = dt_mix(hash, ext_float_bits(value));
            Py_DECREF(value);
            return hash;
        }
    }
    bool array = PyObject_CheckBuffer(object) ||
                 PyObject_HasAttrString((PyObject *)Py_TYPE(object), "__array__");
    return array ? add_as_array(hash, object) : hash;
}

static uint64_t
add(uint64_t hash, PyObject *object, int depth)
{
    if (ext_is_dtensor(object))
        return dt_mix(hash, ext_lineage((DTensorObject *)object));
    hash = add_text(hash, Py_TYPE(object)->tp_name);
    if (ext_is_tensor(object) && ext_trace.whole && !ext_trace.differs) {
        if (ext_catch_up() < 0) /* here nothing can be raised */
            PyErr_WriteUnraisable(object);
        return add_array(hash, (PyArrayObject *)((TensorObject *)object)->array);
    }
    bool number = PyFloat_Check(object) || PyComplex_Check(object) ||
                  PyLong_Check(object) || PyArray_IsScalar(object, Generic);
    if (depth == 0 || object == Py_None || ext_is_tensor(object) ||
        (ext_trace.differs && (number || PyArray_Check(object))))
        return hash;
    if (PyLong_Check(object))
        return add_integer(hash, object);
    if (PyFloat_Check(object)) {
        double value = PyFloat_AS_DOUBLE(object);
        return dt_hash(hash, &value, sizeof value);
    }
    if (PyArray_IsScalar(object, Generic))
        return add_scalar(hash, object);
    if (PyComplex_Check(object)) {
        Py_complex value = PyComplex_AsCComplex(object);
        return dt_hash(hash, &value, sizeof value);
    }
    if (PyUnicode_Check(object))
        return add_name(hash, object);
    if (PyBytes_Check(object))
        return dt_hash(hash, PyBytes_AS_STRING(object),
                       (size_t)PyBytes_GET_SIZE(object));
    if (PyTuple_Check(object) || PyList_Check(object))
        return add_items(hash, object, depth - 1);
    if (PySlice_Check(object)) {
        PySliceObject *slice = (PySliceObject *)object;
        hash = add(hash, slice->start, depth - 1);
        hash = add(hash, slice->stop, depth - 1);
        return add(hash, slice->step, depth - 1);
    }
    if (PyArray_Check(object))
        return add_array(hash, (PyArrayObject *)object);
    if (PyArray_DescrCheck(object))
        return dt_mix(hash, (uint64_t)((PyArray_Descr *)object)->type_num);
    if (PyObject_TypeCheck(object, &ext_placement_type))
        return add_placement(hash, ((PlacementObject *)object)->placement);
    if (PyDict_Check(object) || PyAnySet_Check(object))
        return add_unordered(hash, object, depth - 1);
    static const char *const bounds[] = {"start", "stop", "step", NULL};
    if (PyRange_Check(object))
        return add_attributes(hash, object, bounds, depth - 1);
    if (PyCallable_Check(object))
        return add_function(hash, object, depth - 1);
    return ext_trace.differs ? hash : add_other(hash, object);
}

uint64_t
ext_lineage_add(uint64_t hash, PyObject *object)
{
    return add(hash, object, DEPTH);
}

uint64_t
ext_lineage_operand(ext_record *record, int k, PyObject *object)
{
    bool number = PyFloat_Check(object) || PyLong_Check(object) ||
                  PyComplex_Check(object) || PyArray_IsScalar(object, Generic);
    int64_t integer = 0;
    int overflow = !PyLong_CheckExact(object);
    if (!overflow)
        integer = PyLong_AsLongLongAndOverflow(object, &overflow);
    uint64_t word;
    uint32_t kind = EXT_PLAIN(0);
    if (ext_is_dtensor(object)) {
        word = ext_lineage((DTensorObject *)object);
        kind = 0;
    } else if (!overflow && !ext_trace.differs) {
        word = (uint64_t)integer ^ EXT_INTEGERS;
        kind = EXT_INTEGER(0);
    } else if (PyFloat_CheckExact(object) && !ext_trace.differs) {
        word = ext_float_bits(object);
        kind = EXT_FLOAT(0);
    } else {
        word = add(0, object, DEPTH);
        if (number && k < EXT_RECORDED)
            ext_journal_number(record, object);
    }
    if (k < EXT_RECORDED) {
        record->operands[k] = word;
        record->kinds |= kind << k;
    }
    return word;
}
