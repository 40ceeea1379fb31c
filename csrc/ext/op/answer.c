/* answer.c: what an operator's function has answered, kept for calls of other lengths. A
 * function that has looked at no length and no layout of its operands answers the same for
 * all of them. Which it has looked at, the operands note (Operand.read); that it cannot do
 * so later, their reference counts show. */
#include "ext/op/op.h"

#include <string.h>

enum { ANSWERS = 16, WORDS = 64, TAG_BITS = 4, TAG_MASK = 15 };

struct op_answer {
    op_answer *next;
    uint64_t hash;
    int word_count, static_count;
    uintptr_t words[WORDS];
    PyObject *statics[OP_INLINE];
    RuleObject *rule;
    CallObject *kernel;
    PyObject *dtypes; /* of the result, or None: the kernel is to be asked */
};

/* --- the key: that of the call, without lengths of DTensors --- */

static bool
make_key(op_answer *key, const op_call *call)
{
    int count = 0;
    bool good = call->cacheable && call->out == NULL && call->layout != NULL &&
                op_replacement(call->op) == NULL && call->word_count * 2 <= WORDS &&
                call->static_count <= OP_INLINE;
    for (int k = 0; good && k < call->static_count; k++)
        good = op_is_plain(call->statics[k]);
    key->hash = 0;
    for (int k = 0; good && k < call->word_count; k++) {
        uintptr_t word = call->words[k];
        if ((word & TAG_MASK) == OP_DTENSOR) {
            const dt_layout *layout =
                ((LayoutObject *)(word & ~(uintptr_t)TAG_MASK))->layout;
            uintptr_t empty = 0;
            for (int d = 0; d < layout->ndim; d++)
                empty |= (uintptr_t)(layout->shape[d] == 0) << d;
            key->words[count++] = empty;
            word = ((uintptr_t)layout->dtype << 8 | (uintptr_t)layout->ndim)
                       << TAG_BITS |
                   OP_DTENSOR;
        }
        key->words[count++] = word;
    }
    for (int k = 0; k < count; k++)
        key->hash = dt_mix(key->hash, key->words[k]);
    key->word_count = count;
    return good;
}

static bool
is_equal(const op_answer *answer, const op_answer *key, const op_call *call)
{
    if (answer->hash != key->hash || answer->word_count != key->word_count ||
        answer->static_count != call->static_count ||
        memcmp(answer->words, key->words, (size_t)key->word_count * sizeof *key->words))
        return false;
    for (int k = 0; k < call->static_count; k++)
        if (!op_static_equal(answer->statics[k], call->statics[k]))
            return false;
    return true;
}

PyObject *
op_answer_find(op_maker *m)
{
    op_answer key;
    if (m->call->op->answers == NULL || !make_key(&key, m->call))
        return NULL;
    op_answer **place = &m->call->op->answers;
    while (*place != NULL && !is_equal(*place, &key, m->call))
        place = &(*place)->next;
    op_answer *found = *place;
    if (found == NULL)
        return NULL;
    *place = found->next;
    found->next = m->call->op->answers;
    m->call->op->answers = found;
    m->rule = (RuleObject *)Py_NewRef((PyObject *)found->rule);
    m->kernel = (CallObject *)Py_NewRef((PyObject *)found->kernel);
    m->known = true;
    return Py_NewRef(found->dtypes);
}

/* --- keeping one --- */

static void
answer_free(op_answer *answer)
{
    for (int k = 0; k < answer->static_count; k++)
        Py_XDECREF(answer->statics[k]);
    Py_XDECREF((PyObject *)answer->rule);
    Py_XDECREF((PyObject *)answer->kernel);
    Py_XDECREF(answer->dtypes);
    PyMem_Free(answer);
}

void
op_answers_free(OperatorObject *op)
{
    op_answer *next = op->answers;
    op->answers = NULL;
    while (next != NULL) {
        op_answer *answer = next;
        next = answer->next;
        answer_free(answer);
    }
}

/* Counts the references to each operand in the kernel's arguments; false if others have
 * one of the lists too. */
static bool
count_operands(Py_ssize_t *counts, PyObject *object)
{
    if (Py_TYPE(object) == &ext_operand_type)
        counts[((OperandObject *)object)->index]++;
    bool list = PyTuple_CheckExact(object) || PyList_CheckExact(object);
    if (!list || op_is_plain(object))
        return true;
    bool good = Py_REFCNT(object) == 1;
    for (Py_ssize_t k = 0; good && k < PySequence_Fast_GET_SIZE(object); k++)
        good = count_operands(counts, PySequence_Fast_ITEMS(object)[k]);
    return good;
}

/* Whether nobody has looked at lengths or layouts, or could from now on. */
static bool
is_blind(const op_maker *m)
{
    Py_ssize_t counts[OP_INLINE] = {0}, place = 0;
    PyObject *key, *value, *kwargs = m->kernel->kwargs;
    bool good = Py_REFCNT(m->kernel) == 1 && m->call->operand_count <= OP_INLINE &&
                (kwargs == NULL || Py_REFCNT(kwargs) == 1) &&
                count_operands(counts, m->kernel->args);
    while (good && kwargs != NULL && PyDict_Next(kwargs, &place, &key, &value))
        good = count_operands(counts, value);
    for (int k = 0; good && k < m->call->operand_count; k++)
        good = !((OperandObject *)m->metas[k])->read &&
               Py_REFCNT(m->metas[k]) == 1 + counts[k];
    return good;
}

/* The dtype that the kernel has given; an int that does not fit is NumPy's to refuse. */
static PyObject *
dtype_of(const op_maker *m)
{
    bool numbers = false;
    for (int k = 0; k < m->call->operand_count; k++)
        numbers |= ((OperandObject *)m->metas[k])->number != NULL;
    return numbers && !m->gave_dtypes ? Py_NewRef(Py_None)
                                      : (PyObject *)ext_descr(m->dtypes[0]);
}

/* Drops the oldest of too many. */
static void
drop_last(OperatorObject *op)
{
    op_answer **place = &op->answers;
    for (int k = 0; *place != NULL && k < ANSWERS; k++)
        place = &(*place)->next;
    op_answer *last = *place;
    if (last != NULL) {
        *place = NULL;
        answer_free(last);
    }
}

void
op_answer_keep(op_maker *m)
{
    op_answer key;
    if (m->known || m->rule == NULL || m->entry->result_count != 1 ||
        m->entry->container != NULL || !is_blind(m) || !make_key(&key, m->call))
        return;
    op_answer *answer = PyMem_Malloc(sizeof *answer);
    if (answer == NULL)
        return;
    *answer = key;
    answer->static_count = 0;
    answer->rule = (RuleObject *)Py_NewRef((PyObject *)m->rule);
    answer->kernel = (CallObject *)Py_NewRef((PyObject *)m->kernel);
    answer->dtypes = dtype_of(m);
    bool good = answer->dtypes != NULL;
    for (int k = 0; good && k < m->call->static_count; k++) {
        PyObject *copy = op_static_copy(m->call->statics[k]);
        answer->statics[answer->static_count++] = copy;
        good = copy != NULL;
    }
    if (!good) {
        PyErr_Clear();
        answer_free(answer);
        return;
    }
    for (int k = 0; k < m->call->operand_count; k++) /* its mesh may go */
        Py_SETREF(((OperandObject *)m->metas[k])->layout, Py_NewRef(Py_None));
    answer->next = m->call->op->answers;
    m->call->op->answers = answer;
    drop_last(m->call->op);
}
