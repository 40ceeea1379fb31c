/* journal.c: the last calls of this thread's rank, by the lineages of their results.
 *
 * Where ranks have different values, they show each other what made theirs: the call of
 * that lineage. If it is the same call on all, one of its operands differs, and they go
 * on with that, until the calls themselves differ: that is where the ranks parted. */
#include "comm/talk/sentence.h"
#include "comm/talk/settle.h"
#include "ext/types/types.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

_Thread_local ext_tracing ext_trace;

/* At the end of the thread, whose dictionary owns it. */
static void
journal_free(PyObject *capsule)
{
    ext_record *all = PyCapsule_GetPointer(capsule, NULL);
    if (all == ext_trace.journal)
        ext_trace.journal = NULL;
    for (size_t k = 0; all != NULL && k < EXT_JOURNAL; k++) {
        Py_XDECREF(all[k].text);
        Py_XDECREF(all[k].number);
    }
    free(all);
}

ext_record *
ext_journal_begin(void)
{
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
    return ext_trace.journal;
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
ext_journal_note(uint64_t lineage, PyObject *text, PyObject *number, uint64_t operand,
                 bool plain, uint64_t second)
{
    ext_record *record = ext_journal_add();
    PyErr_Clear(); /* of a text that could not be made */
    if (record == NULL) {
        Py_XDECREF(text);
        Py_XDECREF(number);
        return;
    }
    *record = (ext_record){
        .lineage = lineage,
        .text = text != NULL ? text : Py_NewRef(Py_None),
        .number = number,
        .operands = {operand, second},
        .plain = plain,
        .count = 2,
    };
    const char *name = text == NULL ? NULL : PyUnicode_AsUTF8(text);
    record->call = name == NULL ? 0 : dt_hash(0, name, strlen(name));
    PyErr_Clear();
}

PyObject *
ext_journal_text(uint64_t lineage)
{
    const ext_record *record = find(lineage);
    return record == NULL ? NULL : record->text;
}

/* Called while this thread waits, without the GIL: only it writes into its journal. */
dt_made
ext_made_here(uint64_t lineage)
{
    const ext_record *record = find(lineage);
    return record == NULL ? DT_NOT_MADE : record->failed ? DT_FAILED : DT_SUCCEEDED;
}

void
ext_failed(const dt_mesh *mesh, uint64_t lineage, const char *what)
{
    if (!PyErr_ExceptionMatches(PyExc_Exception))
        return; /* an interrupt, or the end of the program */
    dt_error error, told;
    ext_catch(&error);
    dt_group *group = ext_group(mesh, NULL, what);
    if (group == NULL)
        PyErr_Clear();
    else if (group->index >= 0) {
        told = error;
        dt_error_prefix(&told, what);
        ext_record *record = find(lineage);
        if (record != NULL)
            record->failed = true;
        dt_note_failure(group, lineage, &told);
    }
    ext_raise(&error);
}

PyObject *
ext_failed_handling(const dt_mesh *mesh, uint64_t lineage, PyObject *what)
{
    PyObject *error = PyErr_GetHandledException();
    const char *text = PyUnicode_AsUTF8(what);
    if (text != NULL && mesh != NULL && mesh->size > 1 && error != NULL) {
        PyErr_SetObject((PyObject *)Py_TYPE(error), error);
        ext_failed(mesh, lineage, text);
    }
    PyErr_Clear();
    Py_XDECREF(error);
    Py_RETURN_NONE;
}

/* --- what the ranks tell each other --- */

typedef struct {
    uint64_t lineage, call;
    uint64_t operands[EXT_RECORDED];
    int32_t traced; /* this rank has a value that the others would have too */
    int32_t known;  /* and its journal has the call that made it */
    int32_t count;
    uint32_t plain;
    char text[200];
} testimony;

static void
put_text(char *out, size_t size, PyObject *text, PyObject *number)
{
    const char *what = text == NULL ? NULL : PyUnicode_AsUTF8(text);
    PyObject *shown = number == NULL ? NULL : PyObject_Repr(number);
    const char *with = shown == NULL ? NULL : PyUnicode_AsUTF8(shown);
    snprintf(out, size, with == NULL ? "%s" : "%s with %s", what == NULL ? "?" : what,
             with);
    Py_XDECREF(shown);
    PyErr_Clear();
}

static void
testify(testimony *out, uint64_t lineage, bool traced)
{
    memset(out, 0, sizeof *out);
    const ext_record *record = traced ? find(lineage) : NULL;
    out->lineage = lineage;
    out->traced = traced;
    out->known = record != NULL;
    if (record == NULL)
        return;
    out->call = record->call;
    out->count = record->count;
    out->plain = record->plain;
    memcpy(out->operands, record->operands, sizeof out->operands);
    put_text(out->text, sizeof out->text, record->text, record->number);
}

/* The DTensor in which two ranks' calls differ; -1: the calls themselves do, or another
 * operand of theirs. */
static int
differing(const testimony *a, const testimony *b)
{
    if (a->call != b->call || a->count != b->count || a->plain != b->plain)
        return -1;
    for (int k = 0; k < EXT_RECORDED && k < a->count; k++)
        if (a->operands[k] != b->operands[k])
            return a->plain >> k & 1 ? -1 : k;
    return -1;
}

/* "rank 1 computed cumprod(axis=0), ranks 0, 2, 3 computed cumsum(axis=0)"; behind
 * `all` is room for a label of each. */
static void
write_testimonies(dt_sentence *s, const dt_group *group, testimony *all)
{
    unsigned char *labels = (unsigned char *)(all + group->size);
    const char *texts[3];
    unsigned char count = 0;
    for (int k = 0; k < group->size; k++) {
        unsigned char label = 0;
        while (label < count && strcmp(texts[label], all[k].text) != 0)
            label++;
        if (!all[k].known || (label == count && count == 3))
            label = 3;
        else if (label == count)
            texts[count++] = all[k].text;
        labels[k] = label;
    }
    for (unsigned char label = 0; label < count; label++) {
        dt_sentence_add(s, label == 0 ? "" : ", ");
        dt_sentence_ranks(s, group->ranks, labels, group->size, label);
        dt_sentence_add(s, " computed %s", texts[label]);
    }
}

/* --- the walk back --- */

void
ext_find_parting(dt_error *err, dt_group *group, const dt_call *call)
{
    testimony mine, *all = PyMem_RawCalloc((size_t)group->size, sizeof *all + 1);
    uint64_t lineage = call->lineage;
    bool traced = call->traced, found = false;
    dt_error failure;
    dt_sentence s = {
        .out = err->message, .size = sizeof err->message, .used = strlen(err->message)};
    /* Every step goes to older calls, so it ends. */
    for (int step = 0; all != NULL && step < EXT_JOURNAL && !found; step++) {
        testify(&mine, lineage, traced);
        PyThreadState *state = ext_world_enter(group->world);
        dt_status status =
            dt_share(all, group, &mine, sizeof mine, call->what, &failure);
        ext_world_leave(group->world, state);
        if (status != DT_OK)
            break;
        const testimony *first = NULL, *other = NULL;
        for (int k = 0; k < group->size; k++) {
            if (!all[k].traced)
                continue;
            if (first == NULL)
                first = &all[k];
            else if (other == NULL && all[k].lineage != first->lineage)
                other = &all[k];
        }
        if (other == NULL || !first->known || !other->known)
            break;
        int operand = differing(first, other);
        found = operand < 0;
        if (found) {
            dt_sentence_add(&s, "; they part here: ");
            write_testimonies(&s, group, all);
            if (first->call == other->call)
                dt_sentence_add(&s,
                                ", with other numbers or arrays (if they are meant to "
                                "differ: `with dtensor.differs():`, on all ranks)");
        } else {
            traced = mine.known && mine.call == first->call;
            lineage = mine.operands[operand];
        }
    }
    if (!found)
        dt_sentence_add(&s,
                        "; the calls that made them are not among the last %d that "
                        "each rank knows of",
                        (int)EXT_JOURNAL);
    PyMem_RawFree(all);
}
