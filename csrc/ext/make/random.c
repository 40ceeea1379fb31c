/* Random arrays: streams as arrays of four words, and this rank's parts of what is
 * drawn from them. */
#include "ext/make/make.h"

#include "kernels/random.h"

#include <string.h>

enum { RELEASE_GIL_FROM = 1 << 13, STATE_WORDS = 4 /* elements */ };

static const char *const KINDS[DT_DRAW_KIND_COUNT] = {
    [DT_DRAW_UNIFORM] = "uniform",         [DT_DRAW_NORMAL] = "normal",
    [DT_DRAW_EXPONENTIAL] = "exponential", [DT_DRAW_BERNOULLI] = "bernoulli",
    [DT_DRAW_INTEGERS] = "integers",
};

/* --- arguments --- */

/* The words of a state, for reading and writing; NULL with an exception. */
static uint64_t *
words_of(PyObject *state)
{
    PyArrayObject *array = (PyArrayObject *)state;
    if (PyArray_CheckExact(state) && PyArray_TYPE(array) == NPY_UINT64 &&
        PyArray_SIZE(array) == STATE_WORDS && PyArray_ISCARRAY(array))
        return PyArray_DATA(array);
    return (uint64_t *)PyErr_Format(
        PyExc_TypeError,
        "the state of a stream is an array of 4 uint64: the two words of "
        "the key, the position, and the word whose half is kept");
}

static int
read_stream(dt_stream *out, PyObject *state)
{
    const uint64_t *words = words_of(state);
    if (words == NULL)
        return -1;
    *out = (dt_stream){{words[0], words[1]}, words[2], words[3]};
    return 0;
}

static int
read_kind(dt_draw_kind *out, const char *name)
{
    for (int kind = 0; kind < DT_DRAW_KIND_COUNT; kind++)
        if (strcmp(KINDS[kind], name) == 0) {
            *out = (dt_draw_kind)kind;
            return 0;
        }
    return ext_fail(PyExc_ValueError, "there is no random distribution \"%s\"", name);
}

/* What is made of a dtype: of integers and booleans only 0, 1 and integers, of complex
 * numbers neither. */
static int
check_dtype(dt_draw_kind kind, dt_dtype dtype)
{
    bool whole = kind == DT_DRAW_BERNOULLI || kind == DT_DRAW_INTEGERS;
    char of = dt_dtype_kind(dtype);
    if (of == 'f' || (whole && strchr("biu", of) != NULL) ||
        (of == 'c' && (kind == DT_DRAW_UNIFORM || kind == DT_DRAW_NORMAL)))
        return 0;
    return ext_fail(PyExc_NotImplementedError,
                    "the random distribution \"%s\" is not implemented for %s",
                    KINDS[kind], dt_dtype_name(dtype));
}

/* Two numbers: floating ones, or for integers the lowest one and their count, both
 * modulo 2^64. */
static int
read_draw(dt_draw *out, const char *kind, PyObject *a, PyObject *b, dt_dtype dtype)
{
    *out = (dt_draw){.dtype = dtype};
    if (read_kind(&out->kind, kind) < 0 || check_dtype(out->kind, dtype) < 0)
        return -1;
    if (out->kind == DT_DRAW_INTEGERS) {
        out->low = PyLong_AsUnsignedLongLongMask(a);
        out->span = PyLong_AsUnsignedLongLongMask(b);
    } else {
        out->a = PyFloat_AsDouble(a);
        out->b = PyFloat_AsDouble(b);
    }
    return PyErr_Occurred() ? -1 : 0;
}

/* --- parts --- */

/* Where a part is made: dt_draw_run, or dt_dropout_run where `from` is not NULL. */
typedef struct {
    const dt_draw *draw;
    const dt_stream *stream;
    char *to;
    const char *from;
    double p;
    int64_t size; /* bytes of an element */
} target;

static void
make_run(void *data, int64_t local, int64_t global, int64_t count)
{
    const target *t = data;
    char *to = t->to + local * t->size;
    if (t->from == NULL)
        dt_draw_run(to, t->draw, t->stream, global, count);
    else
        dt_dropout_run(to, t->from + local * t->size, t->draw->dtype, t->p, t->stream,
                       global, count);
}

/* Makes this rank's part of a layout, or `count` elements that are all (layout NULL).
 */
static int
make_part(target *t, const dt_layout *layout, const int64_t *coordinate, int64_t count)
{
    dt_error err;
    dt_status status = DT_OK;
    PyThreadState *state = count >= RELEASE_GIL_FROM ? PyEval_SaveThread() : NULL;
    t->size = (int64_t)dt_dtype_size(t->draw->dtype);
    if (layout == NULL)
        make_run(t, 0, 0, count);
    else
        status = dt_stretches(layout, coordinate, make_run, t, &err);
    if (state != NULL)
        PyEval_RestoreThread(state);
    return ext_check(status, &err);
}

/* A layout of which this rank has a part; None: *out is NULL. */
static int
read_layout(const dt_layout **out, int64_t *coordinate, PyObject *object)
{
    *out = NULL;
    if (object == Py_None)
        return 0;
    if (Py_TYPE(object) != &ext_layout_type)
        return ext_fail(PyExc_TypeError, "a Layout or None is wanted, not %R", object);
    const dt_layout *layout = ((LayoutObject *)object)->layout;
    int inside = ext_coordinate(coordinate, layout->mesh, "random");
    if (inside == 0)
        PyErr_SetString(PyExc_ValueError, "a rank outside of a mesh has no part");
    *out = layout;
    return inside == 1 ? 0 : -1;
}

/* The shape of what is made: of a part, or as it is given. Returns ndim. */
static int
read_shape(int64_t *shape, const dt_layout **layout, int64_t *coordinate,
           PyObject *where)
{
    if (Py_TYPE(where) != &ext_layout_type) {
        *layout = NULL;
        return ext_shape(shape, where, "random");
    }
    if (read_layout(layout, coordinate, where) < 0)
        return -1;
    dt_layout_local_shape(shape, *layout, coordinate);
    return (*layout)->ndim;
}

/* --- the module's functions --- */

static PyObject *
random_take(PyObject *Py_UNUSED(module), PyObject *args)
{
    PyObject *state, *dtype_like;
    const char *name;
    unsigned long long count;
    dt_stream stream;
    dt_draw_kind kind;
    dt_dtype dtype;
    if (!PyArg_ParseTuple(args, "OsOK:random_take", &state, &name, &dtype_like,
                          &count) ||
        read_stream(&stream, state) < 0 || read_kind(&kind, name) < 0 ||
        ext_dtype_like(&dtype, dtype_like, ext_default_dtype, name) < 0 ||
        check_dtype(kind, dtype) < 0)
        return NULL;
    PyObject *before = PyArray_NewCopy((PyArrayObject *)state, NPY_CORDER);
    if (before == NULL)
        return NULL;
    dt_draw_take(&stream, kind, dtype, count);
    uint64_t *words = words_of(state);
    words[2] = stream.position;
    words[3] = stream.half;
    return before;
}

static PyObject *
random_part(PyObject *Py_UNUSED(module), PyObject *args)
{
    PyObject *state, *a, *b, *dtype_like, *where;
    const char *kind;
    dt_stream stream;
    dt_dtype dtype;
    dt_draw draw;
    const dt_layout *layout;
    int64_t coordinate[DT_MESH_MAX_NDIM], shape[DT_MAX_NDIM + 1];
    if (!PyArg_ParseTuple(args, "OsOOOO:random_part", &state, &kind, &a, &b,
                          &dtype_like, &where) ||
        read_stream(&stream, state) < 0 ||
        ext_dtype_like(&dtype, dtype_like, ext_default_dtype, kind) < 0 ||
        read_draw(&draw, kind, a, b, dtype) < 0)
        return NULL;
    int ndim = read_shape(shape, &layout, coordinate, where);
    PyObject *array = ndim < 0 ? NULL : ext_array(ndim, shape, dtype);
    if (array == NULL)
        return NULL;
    PyArrayObject *made = (PyArrayObject *)array;
    target t = {.draw = &draw, .stream = &stream, .to = PyArray_DATA(made)};
    if (make_part(&t, layout, coordinate, PyArray_SIZE(made)) < 0)
        Py_CLEAR(array);
    return array;
}

/* Where the elements are to lie as they are made: the array itself, if its memory
 * allows, or else a new one. */
static PyArrayObject *
room_for(PyArrayObject *array, dt_dtype dtype)
{
    if (PyArray_ISCARRAY(array))
        return (PyArrayObject *)Py_NewRef((PyObject *)array);
    return (PyArrayObject *)ext_array_like(array, dtype);
}

static PyObject *
random_fill(PyObject *Py_UNUSED(module), PyObject *args)
{
    PyObject *state, *a, *b, *layout_like;
    PyArrayObject *array;
    const char *kind;
    dt_stream stream;
    dt_dtype dtype;
    dt_draw draw;
    const dt_layout *layout;
    int64_t coordinate[DT_MESH_MAX_NDIM];
    if (!PyArg_ParseTuple(args, "OsOOO!O:random_fill", &state, &kind, &a, &b,
                          &PyArray_Type, &array, &layout_like) ||
        read_stream(&stream, state) < 0 ||
        ext_dtype(&dtype, PyArray_DESCR(array), kind) < 0 ||
        read_draw(&draw, kind, a, b, dtype) < 0 ||
        read_layout(&layout, coordinate, layout_like) < 0)
        return NULL;
    if (PyArray_FailUnlessWriteable(array, "output array") < 0)
        return NULL;
    PyArrayObject *made = room_for(array, dtype);
    if (made == NULL)
        return NULL;
    target t = {.draw = &draw, .stream = &stream, .to = PyArray_DATA(made)};
    int failed = make_part(&t, layout, coordinate, PyArray_SIZE(made));
    if (failed == 0 && made != array)
        failed = PyArray_CopyInto(array, made);
    Py_DECREF((PyObject *)made);
    if (failed < 0)
        return NULL;
    Py_RETURN_NONE;
}

static PyObject *
random_dropout(PyObject *Py_UNUSED(module), PyObject *args)
{
    PyObject *given, *state, *layout_like;
    double p;
    dt_stream stream;
    dt_dtype dtype;
    const dt_layout *layout;
    int64_t coordinate[DT_MESH_MAX_NDIM];
    if (!PyArg_ParseTuple(args, "O!OdO:random_dropout", &PyArray_Type, &given, &state,
                          &p, &layout_like) ||
        read_stream(&stream, state) < 0 ||
        read_layout(&layout, coordinate, layout_like) < 0 ||
        ext_dtype(&dtype, PyArray_DESCR((PyArrayObject *)given), "dropout") < 0)
        return NULL;
    PyArrayObject *x = (PyArrayObject *)PyArray_FROM_OF(given, NPY_ARRAY_CARRAY_RO);
    if (x == NULL)
        return NULL;
    PyObject *array = ext_array_like(x, dtype);
    if (array != NULL) {
        dt_draw draw = {.dtype = dtype};
        target t = {.draw = &draw,
                    .stream = &stream,
                    .to = PyArray_DATA((PyArrayObject *)array),
                    .from = PyArray_DATA(x),
                    .p = p};
        if (make_part(&t, layout, coordinate, PyArray_SIZE(x)) < 0)
            Py_CLEAR(array);
    }
    Py_DECREF((PyObject *)x);
    return array;
}

static PyObject *
random_permutation(PyObject *Py_UNUSED(module), PyObject *args)
{
    PyObject *state;
    long long count;
    dt_stream stream;
    if (!PyArg_ParseTuple(args, "OL:random_permutation", &state, &count) ||
        read_stream(&stream, state) < 0)
        return NULL;
    if (count < 0)
        return PyErr_Format(PyExc_ValueError, "a permutation of %lld numbers", count);
    PyObject *array = ext_array(1, (int64_t[]){count}, DT_INT64);
    if (array == NULL)
        return NULL;
    PyThreadState *thread = PyEval_SaveThread();
    dt_random_permutation(PyArray_DATA((PyArrayObject *)array), &stream, count);
    PyEval_RestoreThread(thread);
    return array;
}

/* With DTENSOR_CHECK=2: the ranks that draw an array together draw it from the same
 * place of the same stream. */
static PyObject *
random_check(PyObject *Py_UNUSED(module), PyObject *args)
{
    const char *what;
    PyObject *state;
    MeshObject *mesh;
    dt_stream stream;
    if (!PyArg_ParseTuple(args, "sOO!:random_check", &what, &state, &ext_mesh_type,
                          &mesh) ||
        read_stream(&stream, state) < 0)
        return NULL;
    dt_group *group = ext_group(mesh->mesh, NULL, what);
    if (group == NULL)
        return NULL;
    if (group->index >= 0 && group->world->check == DT_CHECK_ARRAYS) {
        dt_call call;
        ext_call_begin(&call, what);
        ext_call_text(&call, " from a generator with the key %llu at word %llu",
                      (unsigned long long)stream.key[0],
                      (unsigned long long)stream.position);
        ext_call_hash(&call, words_of(state), sizeof(uint64_t) * STATE_WORDS);
        if (ext_agree(group, &call, false) < 0)
            return NULL;
    }
    Py_RETURN_NONE;
}

#define ROW(name, doc) {#name, name, METH_VARARGS, doc}

PyMethodDef ext_random_methods[] = {
    ROW(random_take,
        "random_take(state, kind, dtype, count, /)\n--\n\n"
        "Take an array of `count` elements out of a stream; return the state before."),
    ROW(random_part,
        "random_part(state, kind, a, b, dtype, where, /)\n--\n\n"
        "Return an array from a stream: of a shape, or this rank's part of a Layout."),
    ROW(random_fill,
        "random_fill(state, kind, a, b, array, layout, /)\n--\n\n"
        "Fill this rank's part of a layout, or the whole array if that is None."),
    ROW(random_dropout,
        "random_dropout(x, state, p, layout, /)\n--\n\n"
        "Return this rank's part with elements dropped, the others divided by 1 - p."),
    ROW(random_permutation,
        "random_permutation(state, count, /)\n--\n\n"
        "Return 0 ... count - 1 in an order that a stream decides."),
    ROW(random_check,
        "random_check(what, state, mesh, /)\n--\n\n"
        "With DTENSOR_CHECK=2: raise if the ranks of a mesh have different states."),
    {0},
};
