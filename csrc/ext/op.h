/* op.h: operators. What the files of the dispatcher offer each other.
 *
 * A call is taken apart into operands (tensors, arrays, numbers) and constants, which
 * make its key (op_key.c). Under the key the cache (op_cache.c) has an entry: which
 * layouts the operands are moved to, what the kernel is called with, and the layouts of
 * the results. Without one it is made (op_make.c) by the operator's Python function,
 * its rule and core/propagate.h. Then it is run (op.c). */
#ifndef DT_EXT_OP_H
#define DT_EXT_OP_H

#include "core/propagate.h"
#include "core/rule.h"
#include "ext/tensor.h"

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
} OperandObject;

extern PyTypeObject ext_rule_type, ext_call_type, ext_part_type, ext_operand_type;
PyObject *ext_operand(int index, PyObject *shape, PyObject *dtype, PyObject *layout);
int ext_add_local_shape(PyObject *module); /* the constant LOCAL_SHAPE */

/* --- op.c: the type Operator --- */

typedef struct {
    PyObject_HEAD
    vectorcallfunc vectorcall;
    PyObject *function, *name, *doc, *dict;
    PyObject *replacement; /* callable(rule, *args, **kwargs) -> Rule, or NULL */
    const char *text;      /* of name */
    int operands;          /* leading positional parameters that may be numbers */
    PyObject *agrees;  /* what its kernel may raise on one rank: then all do; or NULL */
    bool dim, keepdim; /* the function has parameters of torch's names */
    bool view;         /* its results share the memory of its only operand, as a rule */
    struct tape_vjp *vjp; /* its gradient, or NULL */
    PyObject *weakrefs;
} OperatorObject;

extern PyTypeObject ext_operator_type;
extern PyMethodDef ext_op_methods[];
extern _Thread_local bool ext_implicit_replication;

/* --- op_key.c: a call taken apart --- */

enum { OP_INLINE = 16, OP_INLINE_WORDS = 48 };

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
    int operand_count, static_count, word_count;
    int operand_room, static_room, word_room;
    PyObject **operands, **statics; /* borrowed */
    uintptr_t *words;
    uint64_t hash;
    PyObject *owned; /* list of what was made on the way, or NULL */
    PyObject *operand_space[OP_INLINE], *static_space[OP_INLINE];
    uintptr_t word_space[OP_INLINE_WORDS];
} op_call;

typedef struct op_entry op_entry;

/* Takes a call apart; op_call_clear is due in any case. */
int op_call_read(op_call *call, OperatorObject *op, PyObject *const *args,
                 Py_ssize_t nargs, PyObject *kwnames, LayoutObject *out, bool abstract);
void op_call_clear(op_call *call);
/* Whether an operand has no data: nor have the results (without_data.c). */
bool op_without_data(const op_call *call);
/* The entry of a call, made where there is none: a new reference. */
op_entry *op_entry_of(const op_call *call);

/* What an argument is; ext_op_is_operand says of it that NumPy's protocols may pass it
 * on to an operator. */
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
bool op_is_array(op_kind kind, const op_call *call);
/* Whether argument k, keywords after the others, is an operand even as numbers: the
 * leading ones, and a list of `where=`. */
bool op_is_expected(const op_call *call, Py_ssize_t k);
/* A list or tuple that holds arrays: its elements are operands. */
bool op_holds_arrays(PyObject *object, const op_call *call);
bool op_static_equal(PyObject *a, PyObject *b);
/* A constant that stays what it is when the user changes a list: a new reference. */
PyObject *op_static_copy(PyObject *object);

/* --- op_cache.c --- */

typedef struct {
    LayoutObject *key;       /* as it was given: the key has its address; or NULL */
    LayoutObject *from, *to; /* on the mesh of the call; `to` NULL: stays */
    const dt_plan *plan;     /* of the move, or NULL */
    PyObject *stand_in;      /* for a Python number, or NULL: itself */
} op_operand;

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
} op_result;

struct op_entry {
    op_entry *next;          /* of the bucket */
    op_entry *newer, *older; /* by use */
    int64_t refs;
    bool kept; /* in the cache */
    uint64_t hash;
    int word_count, static_count;
    uintptr_t *words;
    PyObject **statics;

    PyObject
        *composite; /* what is called instead, with the call's arguments; or NULL */
    int operand_count, slot_count, result_count;
    op_operand *operands;
    PyObject *kernel;
    PyObject *container; /* type that the kernel gives its results in, or NULL */
    op_slot *slots;
    Py_ssize_t positional; /* arguments of the kernel that are not keywords */
    Py_ssize_t arguments;  /* all */
    PyObject *kwnames;     /* or NULL */
    op_result *results;
    LayoutObject *out;   /* the key's, or NULL */
    PyObject *out_names; /* kwnames with `out`, of a ufunc */
    int moved;           /* operands that are moved; with `sends`, by messages */
    bool sends;
    bool checks;  /* plain arrays are compared across ranks */
    bool outside; /* this rank is not in the mesh, or nobody is: nothing is computed */
    bool solo;    /* no DTensor among the operands: Tensors come out */
    bool ufunc;   /* the kernel is a ufunc: it writes into out= itself */
    double seconds;
    uint64_t detail; /* of the constants, the same on all ranks; where it sends */
};

op_entry *op_cache_find(const op_call *call); /* a new reference, or NULL */
void op_cache_add(op_entry *entry, const op_call *call);
op_entry *op_entry_new(void); /* or NULL with an exception; one reference */
void op_entry_release(op_entry *entry);
void op_cache_forget(const OperatorObject *op);
PyObject *op_cache_info(void);

/* --- op_make.c: a miss --- */

/* What is known while an entry is made. */
typedef struct {
    const op_call *call;
    op_entry *entry;
    MeshObject *mesh; /* of the DTensors; without any, one of a single rank */
    dt_world *world;  /* of it; NULL: an abstract mesh */
    PyObject **metas; /* an Operand for each operand */
    RuleObject *rule;
    CallObject *kernel;
    dt_dtype *dtypes; /* of the results */
    dt_binding *binding;
} op_maker;

op_entry *op_make(const op_call *call);

/* op_ask.c: asks the operator's function, into m->rule and m->kernel, with the dtypes
 * that it gives (borrowed from *answer) or None. Without a rule the answer is a
 * composite: what is called for such arguments. */
int op_ask(op_maker *m, PyObject **answer, PyObject **dtypes);
/* NumPy's name of a parameter where torch's is given. New reference. */
PyObject *op_keyword(const OperatorObject *op, PyObject *name);
/* Calls the kernel on one-element arrays, or (`whole`) on arrays of the global shapes
 * that take no memory. */
PyObject *op_try_kernel(const op_maker *m, bool whole);
/* op_place.c: finds the layouts of operands and results. */
int op_place(op_maker *m, PyObject *dtypes);
/* op_arguments.c: the kernel's arguments as slots. */
int op_make_slots(op_maker *m);
bool op_is_ufunc(PyObject *kernel);
/* The array of an operand that is no number. */
PyArrayObject *op_array(PyObject *operand);

/* --- op_run.c --- */

/* Calls the kernel of an entry on a call's operands and makes the results tensors.
 * `out`: this rank's array that the kernel (a ufunc) is to write into, or NULL. */
PyObject *op_run(const op_entry *entry, const op_call *call, PyObject *out);
extern PyObject *ext_implicit_hook; /* called before operands are sent, or NULL */

/* --- op_record.c --- */

/* Called as recorder(operator, args, kwargs, result) after each operator that this
 * thread calls, but not for those within; or NULL. */
extern _Thread_local PyObject *op_recorder;
PyObject *op_call_recorded(PyObject *op, PyObject *const *args, size_t flags,
                           PyObject *kwnames);
PyObject *op_set_recorder(PyObject *module, PyObject *recorder);

/* --- op_check.c --- */

/* With DTENSOR_CHECK=2: compares the plain arrays among the operands across ranks, and
 * raises on all where they differ. Collective. */
int op_check_arrays(const op_call *call);

/* --- op_write.c --- */

/* Before writing into a tensor: 0 if that may be, 1 if op_end_write is due afterwards,
 * -1 with an exception. */
int op_begin_write(PyObject *tensor, const char *what);
/* Collective where there was an origin to write back to. */
int op_end_write(PyObject *tensor, bool written);
/* What is a part of such a copy is written back to it. */
int op_follow_origin(PyObject *result, PyObject *tensor, PyObject *index);
/* After row = tensor[index]. */
void op_note_read(PyObject *tensor, PyObject *index, PyObject *row);
/* Refuses a swap of two rows by compiled code, at its first tensor[index] = value,
 * where they are views: -1 with an exception. */
int op_refuse_swap(PyObject *tensor, PyObject *index, PyObject *value);
extern PyMethodDef ext_write_methods[];

/* --- op_out.c --- */

/* A call with `out`: a DTensor, Tensor or array, or a tuple of these. */
PyObject *op_call_out(OperatorObject *op, PyObject *const *args, Py_ssize_t nargs,
                      PyObject *kwnames, PyObject *out);

/* --- protocol.c, slots.c: how NumPy and Python come to operators --- */

extern PyMethodDef ext_protocol_methods[];
PyObject *ext_tensor_ufunc(PyObject *self, PyObject *const *args, Py_ssize_t nargs,
                           PyObject *kwnames);
PyObject *ext_tensor_function(PyObject *self, PyObject *args);

int ext_fill_slots(PyObject *given); /* from a dict by name */
void ext_fill_number_slots(PyNumberMethods *numbers);
PyObject *ext_tensor_compare(PyObject *a, PyObject *b, int op);
PyObject *ext_tensor_iter(PyObject *self);
extern PyMappingMethods ext_tensor_mapping;
extern PySequenceMethods ext_tensor_sequence;
extern PyGetSetDef ext_slot_attributes[];

#endif
