/* The room ext/op: a call of an operator: taken apart, looked up, and planned where it
 * is new.
 *
 * May use: ext/base, ext/types, core. Nothing here moves data or computes.
 * Begin with: again.c, key.c and cache.c for a known call, make.c for a new one. */

/* A call is taken apart into operands (tensors, arrays, numbers) and constants, which
 * make its key (key.c). Under the key the cache (cache.c) has an entry: which layouts
 * the operands are moved to, what the kernel is called with, and the layouts of the
 * results. Without one it is made (make.c) by the operator's Python function (ask.c),
 * its rule and core's search (place.c), and the kernel's arguments (arguments.c). */
#ifndef DT_EXT_OP_H
#define DT_EXT_OP_H

#include "core/memory/memory.h"
#include "core/rule/propagate.h"
#include "core/rule/rule.h"
#include "ext/types/types.h"

/* --- rule.c: what an operator's function gives back --- */

typedef struct {
    PyObject_HEAD
    dt_rule *rule;
    PyObject *text, *partial, *reduce;
} RuleObject;

typedef struct {
    PyObject_HEAD
    PyObject *kernel, *args, *kwargs; /* kwargs: dict or NULL */
} CallObject;

typedef struct {
    PyObject_HEAD
    PyObject *function;
} PartObject;

/* An operand as the function sees it. */
typedef struct {
    PyObject_HEAD
    int index;
    PyObject *shape, *dtype; /* a Python number's dtype is None */
    PyObject *layout;        /* or None */
    bool zero;               /* it is known to be 0: op_call.by_zero */
    bool read;               /* lengths or layout of a DTensor have been looked at */
    bool counted, listed;    /* it has been taken for a number, or for a list */
    PyObject *number;        /* the type of a Python number (borrowed), or NULL */
    PyObject *value;         /* that number, if it is one of `told`; or NULL */
} OperandObject;

extern PyTypeObject ext_rule_type, ext_call_type, ext_part_type, ext_operand_type;
PyObject *ext_operand(int index, PyObject *shape, PyObject *dtype, PyObject *layout);
int ext_add_local_shape(PyObject *module); /* the constant LOCAL_SHAPE */

/* --- the type Operator; what it does is in ext/dispatch/operator.c --- */

typedef struct {
    PyObject_HEAD
    vectorcallfunc vectorcall;
    PyObject *function, *name, *doc, *dict;
    PyObject *replacement; /* callable(rule, *args, **kwargs) -> Rule, or NULL */
    const char *text;      /* of name */
    uint32_t local;        /* the name on the trail: ext/move/local.c's */
    int operands;          /* leading positional parameters that may be numbers */
    Py_ssize_t positional; /* parameters that may be given by position */
    Py_ssize_t out;        /* which of them is `out`, or PY_SSIZE_T_MAX */
    PyObject *autocast;    /* called in its place within autocast, or NULL */
    PyObject *otherwise; /* a function for calls that its own does not take, or NULL */
    PyObject *words, *defaults; /* of its parameters by place, where there is one */
    PyObject *base;             /* whose gradient it has, and users' rule; or NULL */
    PyObject
        *told; /* numbers that are constants as its last operand: a tuple, or NULL */
    PyObject *agrees;  /* what its kernel may raise on one rank: then all do; or NULL */
    bool dim, keepdim; /* the function has parameters of torch's names */
    bool view;         /* its results share the memory of its only operand, as a rule */
    bool bare;         /* NumPy's scalars count as Python's numbers, as in PyTorch */
    bool copies;       /* a view if nothing has to move, else a copy, as in NumPy */
    bool divides;      /* addends may be divided by its last operand, but not by 0 */
    struct tape_vjp *vjp;  /* its gradient, or NULL */
    struct op_entry *last; /* of its last call, while that is in the cache, or NULL */
    struct op_answer *answers; /* of its function, the last one first: answer.c */
    PyObject *weakrefs;
} OperatorObject;

/* --- key.c: a call taken apart --- */

enum { OP_INLINE = 16, OP_INLINE_WORDS = 48, OP_KNOWN = 4 };

typedef struct {
    OperatorObject *op;
    PyObject *const *args; /* as in a vectorcall */
    Py_ssize_t nargs;
    PyObject *kwnames;
    bool abstract;        /* layouts stand for DTensors */
    LayoutObject *out;    /* of `out=`, or NULL */
    LayoutObject *layout; /* of the first DTensor, or NULL */
    PyObject *tensor;     /* the first Tensor that is none, or NULL */
    bool cacheable;       /* all constants can be compared */
    bool torch;           /* an operand is in PyTorch's dialect: so are the results */
    bool by_zero;         /* addends would be divided by the last operand, which is 0 */
    int operand_count, static_count, word_count;
    int operand_room, static_room, word_room;
    PyObject **operands, **statics; /* borrowed */
    uintptr_t *words;
    uint64_t hash;
    uint64_t lineage; /* of the first result; 0 where none is kept */
    PyObject *owned;  /* list of what was made on the way, or NULL */
    PyObject *operand_space[OP_INLINE], *static_space[OP_INLINE];
    uintptr_t word_space[OP_INLINE_WORDS];
} op_call;

typedef struct op_entry op_entry;
typedef struct op_answer op_answer;

/* Takes a call apart; op_call_clear is due in any case. */
int op_call_read(op_call *call, OperatorObject *op, PyObject *const *args,
                 Py_ssize_t nargs, PyObject *kwnames, LayoutObject *out, bool abstract);
void op_call_clear(op_call *call);
/* A hash of where operands and constants stand among each other: the same on all ranks. */
uint64_t op_call_pattern(const op_call *call);

/* The first word of a key. Without nargs, the name of a keyword could be an argument. */
static inline uintptr_t
op_first_word(Py_ssize_t nargs)
{
    enum { TAG_BITS = 4, TAG_NOTHING = 8 };
    uintptr_t first = (uintptr_t)ext_thread_rank << 32 |
                      (uintptr_t)ext_default_dtype << 24 | (uintptr_t)nargs;
    return first << TAG_BITS | TAG_NOTHING;
}

/* A call of which nothing has been read. */
static inline void
op_call_begin(op_call *call, OperatorObject *op, PyObject *const *args,
              Py_ssize_t nargs, PyObject *kwnames)
{
    call->op = op;
    call->args = args;
    call->nargs = nargs;
    call->kwnames = kwnames;
    call->abstract = false;
    call->out = NULL;
    call->layout = NULL;
    call->tensor = NULL;
    call->cacheable = true;
    call->torch = false;
    call->by_zero = false;
    call->operand_count = call->static_count = call->word_count = 0;
    call->operand_room = call->static_room = OP_INLINE;
    call->word_room = OP_INLINE_WORDS;
    call->operands = call->operand_space;
    call->statics = call->static_space;
    call->words = call->word_space;
    call->owned = NULL;
    call->lineage = 0;
}

/* What an argument is. */
typedef enum {
    OP_CONSTANT,
    OP_DTENSOR,
    OP_TENSOR,
    OP_ARRAY,
    OP_SCALAR, /* NumPy's, or of a subclass of Python's */
    OP_NUMBER, /* Python's */
    OP_LAYOUT, /* stands for a DTensor in an abstract call */
} op_kind;

op_kind op_kind_of(PyObject *object);
/* A scalar of NumPy's as a number of Python's; anything else as it is. */
PyObject *op_bare_number(PyObject *object);
bool op_is_array(op_kind kind, const op_call *call);
/* Whether argument k, keywords after the others, is an operand even as numbers: the
 * leading ones, and a list of `where=`. */
bool op_is_expected(const op_call *call, Py_ssize_t k);
/* A list, tuple or range: where an array is expected, it is one. */
bool op_is_numbers(PyObject *object);
/* A list or tuple that holds arrays: its elements are operands. */
bool op_holds_arrays(PyObject *object, const op_call *call);
bool op_static_equal(PyObject *a, PyObject *b);
/* Which of the numbers that an operator is told an operand is, from 1; or 0. */
static inline int
op_told(const OperatorObject *op, PyObject *object)
{
    Py_ssize_t k = op->told == NULL ? 0 : PyTuple_GET_SIZE(op->told);
    while (k > 0 && !op_static_equal(PyTuple_GET_ITEM(op->told, k - 1), object))
        k--;
    return (int)k;
}
/* A constant that stays what it is when the user changes a list: a new reference. */
PyObject *op_static_copy(PyObject *object);

/* --- cache.c --- */

typedef struct {
    LayoutObject *key;       /* as it was given: the key has its address; or NULL */
    LayoutObject *from, *to; /* on the mesh of the call; `to` NULL: stays */
    const dt_plan *plan;     /* of the move, or NULL */
    PyObject *stand_in;      /* for a Python number, or NULL: itself */
} op_operand;

enum { OP_LISTS = 4 }; /* that a kernel takes, at most */

/* One argument of the kernel. A list is followed by its `count` elements. */
typedef struct {
    enum { SLOT_OPERAND, SLOT_CONSTANT, SLOT_LIST, SLOT_TUPLE } kind;
    int index;       /* of the operand */
    int count;       /* elements of a list */
    PyObject *value; /* the constant */
} op_slot;

typedef struct {
    LayoutObject *layout;
    int ndim;
    int64_t shape[DT_MAX_NDIM + 1]; /* of this rank's part */
    bool short_part; /* one slice of a dim, or none, where the whole has more */
} op_result;

/* What an argument by position was: a tensor of a layout, a number of a type, or a
 * constant. */
typedef struct {
    op_kind kind;
    int told; /* op_told of a number */
    void *is; /* the layout or the type: borrowed, as in the key */
} op_known;

/* What a method of NumPy's arrays has shown of its array: ext/dispatch/view.c. */
typedef struct {
    PyArray_Descr *from, *to;
    int from_ndim, from_flags, ndim, flags;
    npy_intp offset;    /* in bytes */
    npy_intp lengths[]; /* the array's strides; shape and strides of what is shown */
} op_view;

struct op_entry {
    op_entry *next;          /* of the bucket */
    op_entry *newer, *older; /* by use */
    int64_t refs;
    bool kept; /* in the cache */
    uint64_t hash;
    int word_count, static_count;
    uintptr_t *words;
    PyObject **statics;
    int known_count; /* arguments by which again.c knows the call; 0: it does not */
    op_known known[OP_KNOWN];
    uint64_t costs;      /* ext_cost_hash; of such a call */
    LayoutObject *first; /* call->layout: borrowed, as in the key */

    PyObject *composite; /* is called instead, with the call's arguments; or NULL */
    /* Of a composite: with the first arguments alone, by an operator; 0: with all; -1:
     * the call gives its first operand. */
    Py_ssize_t passes;
    int operand_count, slot_count, result_count;
    op_operand *operands;
    PyObject *kernel;
    PyObject *container; /* type that the kernel gives its results in, or NULL */
    op_slot *slots;
    Py_ssize_t positional; /* arguments of the kernel that are not keywords */
    Py_ssize_t arguments;  /* all */
    PyObject *kwnames;     /* of these, or of the composite's; or NULL */
    op_result *results;
    LayoutObject *out;   /* the key's, or NULL */
    PyObject *out_names; /* kwnames with `out`, of a ufunc */
    int moved;           /* operands that are moved; with `sends`, by messages */
    bool sends;
    int64_t gathered; /* bytes of the largest cut operand that becomes whole; or 0 */
    bool checks;      /* plain arrays are compared across ranks */
    bool outside; /* this rank is not in the mesh, or nobody is: nothing is computed */
    bool solo;    /* no DTensor among the operands: Tensors come out */
    bool ufunc;   /* the kernel is a ufunc: it writes into out= itself */
    bool elementwise; /* as far as its rule says: dt_rule_elementwise */
    bool geometric; /* the kernel is a method of arrays or the like, with one operand */
    op_view *view;  /* of its last call, or NULL */
    PyObject *gradient; /* what ext/tape keeps of such calls, or NULL */
    int runs; /* of a ufunc as NumPy calls it, as far as ext/dispatch/loop.c counts */
    PyObject *loop_owner;     /* of its inner loop or known kernel, or NULL */
    const void *loop;         /* the inner loop of an elementwise ufunc, or NULL */
    const void *product;      /* that of matmul, or NULL */
    bool summed;              /* ext/dispatch/sum_small.c gives what the kernel does */
    const void *known_kernel; /* of ext/dispatch/kernel.c, or NULL */
    char sums;  /* whether the kernel adds up, as ext/dispatch/sum.c has found; or 0 */
    bool large; /* this rank's part of an operand or result: op_is_large */
    bool
        pooled; /* the memory of its results is ours: they are, or others may read it */
    double seconds;
    bool traced;     /* results have a lineage: several ranks compare what they do */
    uint64_t detail; /* of operator and constants, the same on all ranks; if traced */
    uint64_t
        loose; /* the same without numbers and plain arrays: see ext_trace.differs */
    PyObject *text; /* the call, for people; if traced */
};

/* Whether an array is so large that threads share its loop, and its memory is ours. NumPy's
 * loops of float16 take ten times as long. */
static inline bool
op_is_large(bool float16, int64_t bytes)
{
    enum { LARGE_OF_HALVES = 1 << 12 };
    return bytes >= (float16 ? LARGE_OF_HALVES : DT_MEMORY_LARGE);
}

op_entry *op_cache_find(const op_call *call); /* a new reference, or NULL */
void op_cache_used(op_entry *entry); /* it was found otherwise: takes a reference */
void op_cache_add(op_entry *entry, const op_call *call);
op_entry *op_entry_new(void); /* or NULL with an exception; one reference */
void op_entry_release(op_entry *entry);
void op_view_free(op_view *view); /* NULL passes */
void op_cache_forget(const OperatorObject *op);
/* Forgets the entries of all operators; `also`, or NULL, is called for each entry. */
void op_cache_clear(void (*also)(OperatorObject *op));
PyObject *op_cache_info(void);

/* --- again.c --- */

/* The entry of a call by position that is as the last one of its operator: a new
 * reference, and the call is read. NULL: it is to be read from the beginning. */
op_entry *op_call_again(op_call *call, OperatorObject *op, PyObject *const *args,
                        Py_ssize_t nargs);
/* Whether a constant is immutable, and compared without code of others. */
bool op_is_plain(PyObject *object);
/* Notes in an entry that is kept what its call is known by. */
void op_know(op_entry *entry, const op_call *call);

/* --- lineage.c --- */

/* Sets call->lineage, of the operator, its constants and its operands, and enters the
 * call into the journal. */
void op_call_trace(op_call *call, const op_entry *entry);
PyObject *op_call_text(const op_call *call); /* "cumsum((10, 7) float64, axis=0)" */
/* That of result k. */
static inline uint64_t
op_lineage(const op_call *call, int k)
{
    return k == 0 ? call->lineage : dt_mix(call->lineage, (uint64_t)k);
}

/* --- make.c: a miss --- */

/* What is known while an entry is made. */
typedef struct {
    const op_call *call;
    op_entry *entry;
    MeshObject *mesh; /* of the DTensors; without any, one of a single rank */
    dt_world *world;  /* of it; NULL: an abstract mesh */
    PyObject **metas; /* an Operand for each operand */
    RuleObject *rule;
    CallObject *kernel;
    bool known;       /* both from an answer that was kept */
    bool gave_dtypes; /* the function did, not the kernel */
    dt_dtype *dtypes; /* of the results */
    dt_binding *binding;
} op_maker;

/* The entry of a call, made where there is none: a new reference. */
op_entry *op_entry_of(const op_call *call);
/* Whether a Tensor beside a DTensor counts as replicated. */
extern _Thread_local bool ext_implicit_replication;

/* ask.c: asks the operator's function, into m->rule and m->kernel, with the dtypes
 * that it gives (borrowed from *answer) or None. Without a rule the answer is a
 * composite: what is called for such arguments; an operator that gets the first ones
 * alone (`passes`) is itself the call. */
int op_ask(op_maker *m, PyObject **answer, PyObject **dtypes);
/* Says in words that an argument is no array, where a function has found out by looking
 * for an attribute that it does not have. */
void op_error_of_no_array(PyObject *function, PyObject *args);

/* The array of integers that an operator's function took for a number or a list, and
 * failed; a reference, or NULL. */
extern _Thread_local PyObject *op_counted;
/* What has taken the place of an operator's rule, or of that of its base; or NULL. */
static inline PyObject *
op_replacement(const OperatorObject *op)
{
    if (op->replacement == NULL && op->base != NULL)
        return ((OperatorObject *)op->base)->replacement;
    return op->replacement;
}

/* answer.c: finds one that was kept for calls like this, into m->rule and m->kernel, and
 * returns its dtypes or None, a new reference; NULL: there is none. Keeps one, after all else. */
PyObject *op_answer_find(op_maker *m);
void op_answer_keep(op_maker *m);
void op_answers_free(OperatorObject *op);
/* NumPy's name of a parameter where torch's is given. New reference. */
PyObject *op_keyword(const OperatorObject *op, PyObject *name);
/* The names of a call's keywords as its function takes them, or NULL: none, or with an
 * exception. */
PyObject *op_keywords(const op_call *call);

/* Whether an attribute of the operator is True: `broadcasts_out`, where NumPy broadcasts
 * what it gives into `out=`, as all ufuncs do; `casts_out`, where NumPy casts it to the
 * dtype of `out=` whatever that is, which the operator's function then gets; `exact_out`,
 * where NumPy does not cast it; `in_rows`, where PyTorch gives elementwise results in C
 * order, too. */
bool op_says(const OperatorObject *op, const char *name);
/* Calls the kernel on one-element arrays, or (`whole`) on arrays of the global shapes
 * that take no memory. */
PyObject *op_try_kernel(const op_maker *m, bool whole);
/* place.c: finds the layouts of operands and results. */
int op_place(op_maker *m, PyObject *dtypes);
/* arguments.c: the kernel's arguments as slots. */
int op_make_slots(op_maker *m);
/* A tuple of layouts: of the operands as they are or as the kernel gets them, or of the
 * results. */
typedef enum { OP_SOURCES, OP_TARGETS, OP_RESULTS } op_which;
PyObject *op_layouts(const op_entry *entry, op_which which);
bool op_is_ufunc(PyObject *kernel);
/* The array of an operand that is no number. */
PyArrayObject *op_array(PyObject *operand);

#endif
