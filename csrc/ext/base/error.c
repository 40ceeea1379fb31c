/* error.c: the one border between dt_status and Python's exceptions. */
#include "ext/base/base.h"

#include <stdio.h>
#include <string.h>

PyObject *ext_mpi_error;

/* Where a thread keeps the exception that it caught, in its thread state. */
static const char KEPT[] = "dtensor.caught";

/* What Python and NumPy raise beside these, such as a function of the user's: subclasses
 * before their bases. The status of a row is DT_CALLERS and its place. */
static PyObject *linalg_error, *axis_error;
static PyObject **const OTHERS[] = {
    &linalg_error, /* a ValueError, as the next two */
    &axis_error,
    &PyExc_UnicodeError,
    &PyExc_ZeroDivisionError,
    &PyExc_OverflowError,
    &PyExc_UnboundLocalError,
    &PyExc_NameError,
    &PyExc_AttributeError,
    &PyExc_ModuleNotFoundError,
    &PyExc_ImportError,
    &PyExc_RecursionError, /* a RuntimeError */
    &PyExc_FileNotFoundError,
    &PyExc_FileExistsError,
    &PyExc_IsADirectoryError,
    &PyExc_NotADirectoryError,
    &PyExc_PermissionError,
    &PyExc_TimeoutError,
    &PyExc_ConnectionError,
    &PyExc_OSError,
    &PyExc_EOFError,
    &PyExc_BufferError,
    &PyExc_StopIteration,
    &PyExc_RuntimeWarning,
    &PyExc_DeprecationWarning,
    &PyExc_FutureWarning,
    &PyExc_UserWarning,
    &PyExc_Warning,
};
enum { OTHER_COUNT = sizeof OTHERS / sizeof *OTHERS };

int
ext_errors_make(void)
{
    bool all = ext_import(&linalg_error, "numpy.linalg", "LinAlgError") != NULL &&
               ext_import(&axis_error, "numpy.exceptions", "AxisError") != NULL;
    return all ? 0 : -1;
}

static PyObject *
exception_for(dt_status status)
{
    if (status >= DT_CALLERS && status < DT_CALLERS + OTHER_COUNT)
        return *OTHERS[status - DT_CALLERS];
    switch (status) { /* no default: the compiler finds a status without a row */
    case DT_VALUE:
        return PyExc_ValueError;
    case DT_TYPE:
        return PyExc_TypeError;
    case DT_INDEX:
        return PyExc_IndexError;
    case DT_KEY:
        return PyExc_KeyError;
    case DT_RUNTIME:
    case DT_PARTED:
        return PyExc_RuntimeError;
    case DT_ASSERTION:
        return PyExc_AssertionError;
    case DT_NOT_IMPLEMENTED:
        return PyExc_NotImplementedError;
    case DT_MEMORY:
        return PyExc_MemoryError;
    case DT_FLOATING_POINT:
        return PyExc_FloatingPointError;
    case DT_MPI:
        return ext_mpi_error;
    case DT_INTERRUPTED:
        return PyExc_KeyboardInterrupt;
    case DT_BUG:
    case DT_CALLERS:
    case DT_OK:
        break;
    }
    return PyExc_SystemError;
}

/* DT_OK: no row of the tables. */
static dt_status
status_for(PyObject *exception)
{
    for (int k = 0; k < OTHER_COUNT; k++)
        if (PyErr_GivenExceptionMatches(exception, *OTHERS[k]))
            return (dt_status)(DT_CALLERS + k);
    /* RuntimeError last: others are subclasses of it. */
    static const dt_status rows[] = {
        DT_VALUE,          DT_TYPE,      DT_INDEX,           DT_KEY,
        DT_MEMORY,         DT_ASSERTION, DT_NOT_IMPLEMENTED, DT_MPI,
        DT_FLOATING_POINT, DT_RUNTIME};
    for (size_t k = 0; k < sizeof rows / sizeof *rows; k++)
        if (PyErr_GivenExceptionMatches(exception, exception_for(rows[k])))
            return rows[k];
    return PyErr_GivenExceptionMatches(exception, PyExc_SystemError) ? DT_BUG : DT_OK;
}

/* The exception that is set, with its traceback, no longer set. */
static PyObject *
take_exception(void)
{
#if PY_VERSION_HEX >= 0x030C0000
    return PyErr_GetRaisedException();
#else
    PyObject *type, *value, *traceback;
    PyErr_Fetch(&type, &value, &traceback);
    PyErr_NormalizeException(&type, &value, &traceback);
    if (traceback != NULL)
        PyException_SetTraceback(value, traceback);
    Py_XDECREF(type);
    Py_XDECREF(traceback);
    return value;
#endif
}

/* Takes the reference over. */
static void
set_exception(PyObject *exception)
{
#if PY_VERSION_HEX >= 0x030C0000
    PyErr_SetRaisedException(exception);
#else
    PyErr_Restore(Py_NewRef(Py_TYPE(exception)), exception,
                  PyException_GetTraceback(exception));
#endif
}

/* str(), but a KeyError's own is the repr of its key. */
static PyObject *
text_of(PyObject *exception)
{
    if (!PyErr_GivenExceptionMatches(exception, PyExc_KeyError))
        return PyObject_Str(exception);
    PyObject *args = PyObject_GetAttrString(exception, "args");
    if (args == NULL || !PyTuple_Check(args) || PyTuple_GET_SIZE(args) != 1) {
        Py_XDECREF(args);
        PyErr_Clear();
        return PyObject_Str(exception);
    }
    PyObject *text = PyObject_Str(PyTuple_GET_ITEM(args, 0));
    Py_DECREF(args);
    return text;
}

/* What the other ranks are told. Leaves no exception set. */
static void
describe(dt_error *out, PyObject *exception)
{
    PyObject *text = text_of(exception);
    const char *message = text != NULL ? PyUnicode_AsUTF8(text) : NULL;
    PyErr_Clear();
    const char *name = Py_TYPE(exception)->tp_name;
    dt_status status = status_for(exception);
    if (message == NULL || message[0] == '\0')
        dt_fail(out, status != DT_OK ? status : DT_RUNTIME, "%s", name);
    else if (status == DT_OK)
        dt_fail(out, DT_RUNTIME, "%s: %s", name, message);
    else
        dt_fail(out, status, "%s", message);
    Py_XDECREF(text);
}

/* The exception that this thread caught, or NULL; it is forgotten. */
static PyObject *
take_kept(void)
{
    PyObject *dict = PyThreadState_GetDict();
    PyObject *kept = dict != NULL ? PyDict_GetItemString(dict, KEPT) : NULL;
    if (kept != NULL) {
        Py_INCREF(kept);
        if (PyDict_DelItemString(dict, KEPT) < 0)
            PyErr_Clear();
    }
    return kept;
}

void
ext_catch(dt_error *err)
{
    PyObject *exception = take_exception();
    if (exception == NULL) {
        dt_fail(err, DT_BUG, "a function failed without an exception");
        return;
    }
    describe(err, exception);
    PyObject *dict = PyThreadState_GetDict();
    if (dict == NULL || PyDict_SetItemString(dict, KEPT, exception) < 0)
        PyErr_Clear();
    Py_DECREF(exception);
}

/* What is told, without the rank that tells it. */
static const char *
without_speaker(const char *message)
{
    int end = 0;
    sscanf(message, "rank %*d: %n", &end);
    return message + end;
}

/* True if `err` is what `exception` was described by, here or on another rank where the
 * same has happened: agreement may shorten it. */
static bool
describes(const dt_error *err, PyObject *exception)
{
    dt_error own;
    const char *told = without_speaker(err->message);
    describe(&own, exception);
    return own.status == err->status &&
           (strncmp(own.message, err->message, strlen(err->message)) == 0 ||
            strncmp(own.message, told, strlen(told)) == 0);
}

_Thread_local bool ext_told;

void *
ext_raise(const dt_error *err)
{
    PyObject *kept = err->status != DT_INTERRUPTED ? take_kept() : NULL;
    if (err->status == DT_INTERRUPTED && PyErr_Occurred())
        return NULL;
    if (kept != NULL && describes(err, kept)) {
        set_exception(kept);
        return NULL;
    }
    PyObject *text =
        PyUnicode_DecodeUTF8(err->message, (Py_ssize_t)strlen(err->message), "replace");
    if (text != NULL)
        PyErr_SetObject(exception_for(err->status), text);
    Py_XDECREF(text);
    if (kept != NULL) { /* another rank's error is told; one's own is behind it */
        PyObject *raised = take_exception();
        PyException_SetContext(raised, kept);
        set_exception(raised);
    }
    return NULL;
}
