/* The entries of all operators, and which of them are kept: those used last. */
#include "ext/op/op.h"

#include <string.h>

enum { ENTRIES = 8192, BUCKETS = 16384 };

static op_entry *buckets[BUCKETS];
static op_entry *newest, *oldest;
static long long entry_count, hits, misses, drops;

op_entry *
op_entry_new(void)
{
    op_entry *entry = PyMem_Calloc(1, sizeof *entry);
    if (entry == NULL)
        PyErr_NoMemory();
    else
        entry->refs = 1;
    return entry;
}

void
op_view_free(op_view *view)
{
    if (view == NULL)
        return;
    Py_XDECREF(view->from);
    Py_XDECREF(view->to);
    PyMem_Free(view);
}

static void
entry_free(op_entry *entry)
{
    for (int k = 0; k < entry->static_count; k++)
        Py_XDECREF(entry->statics[k]);
    for (int k = 0; entry->operands != NULL && k < entry->operand_count; k++) {
        op_operand *operand = &entry->operands[k];
        if (operand->plan != NULL)
            dt_plan_release(ext_plans, operand->plan);
        Py_XDECREF(operand->key);
        Py_XDECREF(operand->from);
        Py_XDECREF(operand->to);
        Py_XDECREF(operand->stand_in);
    }
    for (int k = 0; entry->slots != NULL && k < entry->slot_count; k++)
        Py_XDECREF(entry->slots[k].value);
    for (int k = 0; entry->results != NULL && k < entry->result_count; k++)
        Py_XDECREF(entry->results[k].layout);
    Py_XDECREF(entry->kernel);
    Py_XDECREF(entry->text);
    Py_XDECREF(entry->composite);
    Py_XDECREF(entry->container);
    Py_XDECREF(entry->kwnames);
    Py_XDECREF(entry->out);
    Py_XDECREF(entry->out_names);
    Py_XDECREF(entry->loop_owner);
    Py_XDECREF(entry->gradient);
    op_view_free(entry->view);
    PyMem_Free(entry->words);
    PyMem_Free(entry->statics);
    PyMem_Free(entry->operands);
    PyMem_Free(entry->slots);
    PyMem_Free(entry->results);
    PyMem_Free(entry);
}

void
op_entry_release(op_entry *entry)
{
    if (entry != NULL && --entry->refs == 0)
        entry_free(entry);
}

/* --- the order of use --- */

static void
unlink_entry(op_entry *entry)
{
    *(entry->newer != NULL ? &entry->newer->older : &newest) = entry->older;
    *(entry->older != NULL ? &entry->older->newer : &oldest) = entry->newer;
}

static void
link_newest(op_entry *entry)
{
    entry->newer = NULL;
    entry->older = newest;
    *(newest != NULL ? &newest->newer : &oldest) = entry;
    newest = entry;
}

static inline void
make_newest(op_entry *entry)
{
    if (entry == newest)
        return;
    unlink_entry(entry);
    link_newest(entry);
}

static void
take_out(op_entry *entry)
{
    op_entry **place = &buckets[entry->hash % BUCKETS];
    while (*place != entry)
        place = &(*place)->next;
    *place = entry->next;
    unlink_entry(entry);
    entry->kept = false;
    OperatorObject *op = (OperatorObject *)entry->statics[0];
    if (op->last == entry)
        op->last = NULL;
    entry_count--;
    drops++;
}

/* --- looking up --- */

static bool
same_words(const op_entry *entry, const op_call *call)
{
    return entry->hash == call->hash && entry->word_count == call->word_count &&
           entry->static_count == call->static_count + 1 &&
           entry->statics[0] == (PyObject *)call->op &&
           memcmp(entry->words, call->words,
                  (size_t)call->word_count * sizeof(uintptr_t)) == 0;
}

static bool
same_statics(const op_entry *entry, const op_call *call)
{
    for (int k = 0; k < call->static_count; k++)
        if (!op_static_equal(entry->statics[k + 1], call->statics[k]))
            return false;
    return true;
}

op_entry *
op_cache_find(const op_call *call)
{
    op_entry *entry = call->cacheable ? buckets[call->hash % BUCKETS] : NULL;
    while (entry != NULL) {
        /* Comparing constants may run code that changes the cache. */
        long long before = drops;
        entry->refs++;
        if (same_words(entry, call) && same_statics(entry, call))
            break;
        op_entry *next = drops == before ? entry->next : NULL;
        op_entry_release(entry);
        entry = next;
    }
    *(entry != NULL ? &hits : &misses) += 1;
    if (entry != NULL && entry->kept) {
        make_newest(entry);
        if (entry->known_count > 0)
            call->op->last = entry;
    }
    return entry;
}

void
op_cache_used(op_entry *entry)
{
    entry->refs++;
    hits++;
    make_newest(entry);
}

static int
copy_statics(op_entry *entry, const op_call *call)
{
    entry->statics[0] = Py_NewRef((PyObject *)call->op);
    entry->static_count = 1;
    for (int k = 0; k < call->static_count; k++) {
        PyObject *copy = op_static_copy(call->statics[k]);
        if (copy == NULL) {
            PyErr_Clear();
            return -1;
        }
        entry->statics[entry->static_count++] = copy;
    }
    return 0;
}

void
op_cache_add(op_entry *entry, const op_call *call)
{
    if (!call->cacheable)
        return;
    entry->words = PyMem_New(uintptr_t, (size_t)call->word_count);
    entry->statics = PyMem_New(PyObject *, (size_t)call->static_count + 1);
    if (entry->words == NULL || entry->statics == NULL || copy_statics(entry, call) < 0)
        return; /* it is used this once */
    memcpy(entry->words, call->words, (size_t)call->word_count * sizeof(uintptr_t));
    entry->word_count = call->word_count;
    entry->out = (LayoutObject *)Py_XNewRef((PyObject *)call->out);
    entry->hash = call->hash;
    entry->next = buckets[entry->hash % BUCKETS];
    buckets[entry->hash % BUCKETS] = entry;
    link_newest(entry);
    entry->kept = true;
    entry->refs++;
    if (++entry_count <= ENTRIES)
        return;
    op_entry *last = oldest;
    take_out(last);
    op_entry_release(last);
}

/* Takes out the entries of an operator, and of those that are based on it; NULL: of all.
 * They are freed at the end, for that may run code that comes here. */
static void
forget(const PyObject *op, void (*also)(OperatorObject *op))
{
    op_entry *gone = NULL;
    for (op_entry *entry = newest, *older; entry != NULL; entry = older) {
        older = entry->older;
        const OperatorObject *own = (OperatorObject *)entry->statics[0];
        if (op != NULL && (const PyObject *)own != op && own->base != op)
            continue;
        take_out(entry);
        entry->next = gone;
        gone = entry;
    }
    while (gone != NULL) {
        op_entry *entry = gone;
        gone = entry->next;
        if (also != NULL)
            also((OperatorObject *)entry->statics[0]);
        op_entry_release(entry);
    }
}

void
op_cache_forget(const OperatorObject *op)
{
    forget((const PyObject *)op, NULL);
}

void
op_cache_clear(void (*also)(OperatorObject *op))
{
    forget(NULL, also);
}

PyObject *
op_cache_info(void)
{
    return Py_BuildValue("{s:L,s:L,s:L,s:i}", "hits", hits, "misses", misses, "entries",
                         entry_count, "capacity", (int)ENTRIES);
}
