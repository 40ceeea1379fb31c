/* journal.c: the last calls of this thread's rank, by the lineages of their results.
 *
 * Where ranks have different values, they tell each other what made theirs: the call of
 * that lineage (comm/talk/walk.c). */
#include "comm/talk/sentence.h"
#include "ext/types/types.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

_Thread_local ext_tracing ext_trace;

static PyObject *a_write; /* the text of writes, whose first operand is the call */

/* At the end of the thread, whose dictionary owns it. */
static void
journal_free(PyObject *capsule)
{
    ext_record *all = PyCapsule_GetPointer(capsule, NULL);
    if (all == ext_trace.journal)
        ext_trace.journal = NULL;
    for (size_t k = 0; all != NULL && k < EXT_JOURNAL; k++)
        Py_XDECREF(all[k].text);
    free(all);
}

ext_record *
ext_journal_begin(void)
{
    static _Thread_local ext_record spare;
    ext_record *all = calloc(EXT_JOURNAL, sizeof *all);
    PyObject *owner = all == NULL ? NULL : PyCapsule_New(all, NULL, journal_free);
    PyObject *thread = PyThreadState_GetDict();
    if (owner == NULL)
        free(all);
    else if (thread != NULL &&
             PyDict_SetItemString(thread, "dtensor.journal", owner) == 0)
        ext_trace.journal = all;
    PyErr_Clear();
    Py_XDECREF(owner);
    return ext_trace.journal == NULL
               ? &spare
               : &ext_trace.journal[ext_trace.next++ % EXT_JOURNAL];
}

/* The newest record of a lineage; NULL: older than all, never made here, or unknown. */
static ext_record *
find(uint64_t lineage)
{
    bool any = ext_trace.journal != NULL && lineage != 0;
    for (uint32_t age = 1; any && age <= EXT_JOURNAL; age++) {
        ext_record *record = &ext_trace.journal[(ext_trace.next - age) % EXT_JOURNAL];
        if (record->text != NULL && record->lineage == lineage)
            return record;
    }
    return NULL;
}

void
ext_journal_number(ext_record *record, PyObject *number)
{
    PyObject *text = record->text;
    PyObject *more =
        PyTuple_Check(text) ? PyTuple_Pack(1, number) : PyTuple_Pack(2, text, number);
    if (more != NULL && PyTuple_Check(text))
        Py_SETREF(more, PySequence_Concat(text, more));
    if (more == NULL)
        PyErr_Clear();
    else
        Py_SETREF(record->text, more);
}

void
ext_journal_note(uint64_t lineage, PyObject *text, PyObject *number, uint64_t operand,
                 bool plain, uint64_t second)
{
    PyErr_Clear(); /* of a text that could not be made */
    ext_record *record = ext_journal_add(text != NULL ? text : Py_NewRef(Py_None));
    const char *name =
        text == NULL || !PyUnicode_Check(text) ? NULL : PyUnicode_AsUTF8(text);
    record->call = name == NULL ? 0 : dt_hash(0, name, strlen(name));
    PyErr_Clear();
    record->operands[0] = operand;
    record->operands[1] = second;
    record->kinds = plain ? EXT_PLAIN(0) : 0;
    record->count = 2;
    record->lineage = lineage;
    if (number != NULL)
        ext_journal_number(record, number);
}

/* The text of an arrival is only written where ranks differ: its record has the shape
 * instead, and what else is said of it behind its operands. */
enum { ARRIVED_NUMBER = 2, ARRIVED_DTYPE, ARRIVED_WHAT };
_Static_assert((int)ARRIVED_WHAT < (int)EXT_RECORDED,
               "a record has room for an arrival");

static bool
is_arrival(PyObject *text)
{
    return PyTuple_Check(text) &&
           (PyTuple_GET_SIZE(text) == 0 || PyLong_Check(PyTuple_GET_ITEM(text, 0)));
}

void
ext_journal_arrival(uint64_t lineage, const char *what, uint64_t number,
                    LayoutObject *layout)
{
    const dt_layout *of = layout->layout;
    if (of->mesh->size == 1)
        return; /* nobody asks */
    ext_record *record = ext_journal_add(Py_NewRef(layout->shape));
    const uint64_t words[] = {number, (uint64_t)of->dtype, (uint64_t)of->ndim};
    record->call = dt_hash(dt_hash(0, what, strlen(what)), words, sizeof words);
    record->call =
        dt_hash(record->call, of->shape, sizeof *of->shape * (size_t)of->ndim);
    record->operands[0] = lineage;
    record->operands[1] = 0;
    record->operands[ARRIVED_NUMBER] = number;
    record->operands[ARRIVED_DTYPE] = (uint64_t)of->dtype;
    record->operands[ARRIVED_WHAT] = (uint64_t)(uintptr_t)what;
    record->kinds = EXT_PLAIN(0);
    record->count = 2;
    record->lineage = lineage;
}

/* "from_local #3 of (4, 4) float32"; new. */
static PyObject *
arrival_text(const ext_record *record)
{
    const uint64_t *words = record->operands;
    return PyUnicode_FromFormat("%s #%llu of %R %s",
                                (const char *)(uintptr_t)words[ARRIVED_WHAT],
                                (unsigned long long)words[ARRIVED_NUMBER], record->text,
                                dt_dtype_name((dt_dtype)words[ARRIVED_DTYPE]));
}

PyObject *
ext_journal_text(uint64_t lineage)
{
    const ext_record *record = find(lineage);
    if (record == NULL)
        return NULL;
    PyObject *text = record->text;
    return is_arrival(text)      ? NULL
           : PyTuple_Check(text) ? PyTuple_GET_ITEM(text, 0)
                                 : text;
}

void
ext_journal_write(uint64_t lineage, uint64_t call, uint64_t before)
{
    if (a_write == NULL)
        a_write = PyUnicode_InternFromString("a write");
    ext_journal_note(lineage, Py_XNewRef(a_write), NULL, call, false, before);
}

/* Called while this thread waits, without the GIL: only it writes into its journal. */
dt_made
ext_made_here(uint64_t lineage)
{
    const ext_record *record = find(lineage);
    return record == NULL ? DT_NOT_MADE : record->failed ? DT_FAILED : DT_SUCCEEDED;
}

void
ext_journal_failed(uint64_t lineage)
{
    ext_record *record = find(lineage);
    if (record != NULL)
        record->failed = true;
}

/* --- writes through what shares memory --- */

enum { WRITES_TRIED = 64 };

static bool
is_write(const ext_record *record)
{
    return record->text != NULL && record->text == a_write;
}

/* The write that left a lineage; NULL: another call, or none that is known. */
static const ext_record *
write_of(uint64_t lineage)
{
    const ext_record *record = find(lineage);
    return record != NULL && is_write(record) ? record : NULL;
}

/* The record of a write that was made through another tensor of the same memory, as if it
 * had been made through that of this lineage; false: there is none. A write adds the same
 * to the lineages of all that share the memory, so what it has added, or it and those
 * before it, is taken off until a lineage is left that a call has made. */
static bool
find_write(ext_record *out, uint64_t lineage)
{
    int writes = 0;
    bool any = ext_trace.journal != NULL && lineage != 0;
    for (uint32_t age = 1; any && age <= EXT_JOURNAL && writes < WRITES_TRIED; age++) {
        const ext_record *last =
            &ext_trace.journal[(ext_trace.next - age) % EXT_JOURNAL];
        if (!is_write(last))
            continue;
        writes++;
        const ext_record *first = last;
        for (int back = 0; first != NULL && back < WRITES_TRIED; back++) {
            if (find(lineage - (last->lineage - first->operands[1])) != NULL) {
                *out = *last;
                out->lineage = lineage;
                out->operands[1] = lineage - (last->lineage - last->operands[1]);
                return true;
            }
            first = write_of(first->operands[1]);
        }
    }
    return false;
}

/* --- what the ranks tell each other --- */

/* Adds a number, which it releases, to what is said of a call. */
static void
put_number(dt_sentence *s, bool first, PyObject *number)
{
    PyObject *shown = number == NULL ? NULL : PyObject_Repr(number);
    const char *text = shown == NULL ? NULL : PyUnicode_AsUTF8(shown);
    dt_sentence_add(s, "%s %s", first ? " with" : ",", text == NULL ? "?" : text);
    Py_XDECREF(shown);
    Py_XDECREF(number);
}

/* "divide((10, 7) float64, float) with 2.0": the call and its numbers. */
static void
put_text(char *out, size_t size, const ext_record *record)
{
    dt_sentence s = {.out = out, .size = size};
    PyObject *text = record->text;
    if (text == a_write) {
        const ext_record *call = find(record->operands[0]);
        dt_sentence_add(&s, "a write of ");
        if (call == NULL || call->text == a_write)
            dt_sentence_add(&s, "something");
        else
            put_text(out + s.used, size - s.used, call);
        return;
    }
    PyObject *arrived = is_arrival(text) ? arrival_text(record) : NULL;
    text = arrived != NULL ? arrived : text;
    bool tuple = PyTuple_Check(text);
    Py_ssize_t others = tuple && !is_arrival(text) ? PyTuple_GET_SIZE(text) : 1;
    PyObject *name = tuple ? PyTuple_GET_ITEM(text, 0) : text;
    const char *what = PyUnicode_Check(name) ? PyUnicode_AsUTF8(name) : NULL;
    dt_sentence_add(&s, "%s", what == NULL ? "?" : what);
    Py_XDECREF(arrived);
    int numbers = 0;
    for (int k = 0; k < record->count && k < EXT_RECORDED; k++) {
        uint64_t word = record->operands[k];
        double value;
        memcpy(&value, &word, sizeof value);
        if ((record->kinds & EXT_FLOAT(k)) == EXT_FLOAT(k))
            put_number(&s, numbers++ == 0, PyFloat_FromDouble(value));
        else if ((record->kinds & EXT_INTEGER(k)) == EXT_INTEGER(k))
            put_number(&s, numbers++ == 0,
                       PyLong_FromLongLong((int64_t)(word ^ EXT_INTEGERS)));
    }
    for (Py_ssize_t k = 1; k < others; k++)
        put_number(&s, numbers++ == 0, Py_NewRef(PyTuple_GET_ITEM(text, k)));
    PyErr_Clear();
}

/* --- where the user's programs are --- */

/* "train.py:42": the nearest line that is neither ours nor NumPy's. */
static void
put_place(char *out, size_t room)
{
    PyObject *name =
        PyObject_GetAttrString((PyObject *)&ext_dtensor_type, "__module__");
    PyObject *module = name == NULL ? NULL : PyImport_GetModule(name);
    PyObject *path = module == NULL ? NULL : PyModule_GetFilenameObject(module);
    const char *ours = path == NULL ? NULL : PyUnicode_AsUTF8(path);
    const char *end = ours == NULL ? NULL : strrchr(ours, '/');
    size_t length = end == NULL ? 0 : (size_t)(end + 1 - ours);
    PyFrameObject *frame = PyThreadState_GetFrame(PyThreadState_Get());
    out[0] = '\0';
    while (frame != NULL) {
        PyCodeObject *code = PyFrame_GetCode(frame);
        const char *file = PyUnicode_AsUTF8(code->co_filename);
        bool users = file != NULL && strstr(file, "/numpy/") == NULL &&
                     (length == 0 || strncmp(file, ours, length) != 0);
        if (users) {
            size_t size = strlen(file), most = room - 16;
            snprintf(out, room, "%s%s:%d", size > most ? "..." : "",
                     size > most ? file + size - most + 4 : file,
                     PyFrame_GetLineNumber(frame));
        }
        Py_DECREF(code);
        Py_SETREF(frame, users ? NULL : PyFrame_GetBack(frame));
    }
    Py_XDECREF(name);
    Py_XDECREF(module);
    Py_XDECREF(path);
    PyErr_Clear();
}

/* Texts and frames are Python's, and this thread waits without the GIL. */
void
ext_place_here(char *out, size_t room)
{
    PyGILState_STATE state = PyGILState_Ensure();
    PyObject *type, *error, *trace;
    PyErr_Fetch(&type, &error, &trace);
    put_place(out, room);
    PyErr_Restore(type, error, trace);
    PyGILState_Release(state);
}

void
ext_testify_here(dt_testimony *out, uint64_t lineage, bool traced)
{
    PyGILState_STATE state = PyGILState_Ensure();
    PyObject *type, *error, *trace;
    PyErr_Fetch(&type, &error, &trace);
    ext_record through;
    const ext_record *record = traced ? find(lineage) : NULL;
    if (record == NULL && traced && find_write(&through, lineage))
        record = &through;
    out->lineage = lineage;
    out->traced = traced;
    out->known = record != NULL;
    put_place(out->place, sizeof out->place);
    if (record != NULL) {
        out->call = record->call;
        out->count = record->count;
        out->kinds = record->kinds;
        memcpy(out->operands, record->operands, sizeof out->operands);
        put_text(out->text, sizeof out->text, record);
    }
    PyErr_Restore(type, error, trace);
    PyGILState_Release(state);
}
