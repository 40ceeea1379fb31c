/* fault.c: failures on purpose, for tests.
 *
 * The linker leads what the library asks of the C library through here and reserve.c
 * (CMakeLists.txt, `--wrap`), so no other file knows of it. While nothing is to fail, each
 * of these calls reads one number of its thread. */
#include "ext/base/base.h"

#include "core/memory/memory.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The calls until one fails, in this thread; 0: none does. */
static _Thread_local long calls_left[EXT_FAULTS];
static _Thread_local bool is_short; /* it does a part of what it should, and says so */
static _Thread_local bool no_reserve;

bool
ext_fails(ext_fault kind)
{
    return calls_left[kind] > 0 && --calls_left[kind] == 0;
}

bool
ext_fails_all(void)
{
    return no_reserve;
}

/* --- files --- */

ssize_t __real_pread(int fd, void *data, size_t bytes, off_t place);
ssize_t __real_pwrite(int fd, const void *data, size_t bytes, off_t place);

ssize_t __wrap_pread(int fd, void *data, size_t bytes, off_t place);
ssize_t __wrap_pwrite(int fd, const void *data, size_t bytes, off_t place);

/* The bytes of a call that reads or writes; 0 with errno where it fails. */
static size_t
allowed(size_t bytes, int error)
{
    if (!ext_fails(EXT_FAULT_FILE))
        return bytes;
    if (is_short && bytes > 1)
        return bytes / 2;
    errno = error;
    return 0;
}

ssize_t
__wrap_pread(int fd, void *data, size_t bytes, off_t place)
{
    size_t some = allowed(bytes, EIO);
    return some == 0 && bytes > 0 ? -1 : __real_pread(fd, data, some, place);
}

ssize_t
__wrap_pwrite(int fd, const void *data, size_t bytes, off_t place)
{
    size_t some = allowed(bytes, ENOSPC);
    return some == 0 && bytes > 0 ? -1 : __real_pwrite(fd, data, some, place);
}

/* --- NumPy's arrays --- */

/* Smaller ones, such as numbers as arrays, are among Python's objects: these do not fail. */
enum { LEAST = 65 };

static bool
array_fails(size_t bytes)
{
    return bytes >= LEAST && ext_fails(EXT_FAULT_NUMPY);
}

static void *
numpy_malloc(void *Py_UNUSED(context), size_t bytes)
{
    return array_fails(bytes) ? NULL : malloc(bytes);
}

static void *
numpy_calloc(void *Py_UNUSED(context), size_t count, size_t bytes)
{
    return array_fails(count * bytes) ? NULL : calloc(count, bytes);
}

static void *
numpy_realloc(void *Py_UNUSED(context), void *old, size_t bytes)
{
    return array_fails(bytes) ? NULL : realloc(old, bytes);
}

static void
numpy_free(void *Py_UNUSED(context), void *block, size_t Py_UNUSED(bytes))
{
    free(block);
}

static PyDataMem_Handler numpy_memory = {
    "dtensor.faults", 1, {NULL, numpy_malloc, numpy_calloc, numpy_realloc, numpy_free}};

/* Lets NumPy take memory of this context from here, or from where it did before. */
static int
lead_numpy(bool here)
{
    PyObject *handler = here ? PyCapsule_New(&numpy_memory, "mem_handler", NULL) : NULL;
    if (here && handler == NULL)
        return -1;
    PyObject *before = PyDataMem_SetHandler(handler);
    Py_XDECREF(handler);
    Py_XDECREF(before);
    return before != NULL ? 0 : -1;
}

/* --- for tests --- */

static const char *const KINDS[] = {[EXT_FAULT_MEMORY] = "memory",
                                    [EXT_FAULT_NUMPY] = "numpy",
                                    [EXT_FAULT_FILE] = "file"};

/* Sets when a call of this kind fails; the calls that were left until then, -1 with an
 * exception. */
static long
set_fault(const char *kind, long call)
{
    if (strcmp(kind, "array") == 0)
        return dt_memory_fail_at(call);
    for (int k = 0; k < EXT_FAULTS; k++) {
        if (strcmp(kind, KINDS[k]) != 0)
            continue;
        if (k == EXT_FAULT_NUMPY && lead_numpy(call > 0) < 0)
            return -1;
        long left = calls_left[k];
        calls_left[k] = call;
        return left;
    }
    return ext_fail(PyExc_ValueError, "no kind of fault is called %s", kind);
}

static PyObject *
fault_at(PyObject *Py_UNUSED(module), PyObject *args)
{
    const char *kind;
    long call;
    int variant = 0;
    if (!PyArg_ParseTuple(args, "sl|p:_fault_at", &kind, &call, &variant))
        return NULL;
    long left = set_fault(kind, call);
    is_short = no_reserve = variant;
    return left < 0 ? NULL : PyLong_FromLong(left);
}

PyMethodDef ext_fault_methods[] = {
    {"_fault_at", fault_at, METH_VARARGS,
     "_fault_at(kind, k, variant=False, /)\n--\n\n"
     "Let the k-th call of a kind from now on fail in this thread; 0 switches it off.\n"
     "Kinds: \"array\": memory of the library's arrays; \"memory\": the memory that "
     "its C\n"
     "code takes, with `variant` without the reserve; \"numpy\": that of NumPy's "
     "arrays;\n"
     "\"file\": reading and writing, with `variant` half of what it should. Return "
     "the\n"
     "calls that were left before: 0 if one has failed."},
    {0},
};
