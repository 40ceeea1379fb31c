/* The room ext/tape: what was computed, and the way back through it: nodes, backward,
 * and the borders where arrays become DTensors, move, and come back.
 *
 * May use: ext/base, ext/types, ext/move, ext/op. See operators.c for what is above.
 * Begin with: tape_result in record.c, then engine.c. */

/* While recording is on, an operator with an operand that requires a gradient makes a
 * Node: its arguments, as far as the gradient needs them, and for each operand the edge
 * to the node that made it, or to the leaf that it is. Backward goes along the edges
 * from the youngest node to the oldest. After PyTorch's autograd, whose rules and
 * errors are kept; gradients are made of operators, so they shard as everything does.
 *
 *     y = x * w; y.sum().backward()
 *
 *     leaf x <---.                      .--- leaf w
 *                 Node multiply (y) ---'
 *                     ^
 *                 Node sum  <-- backward starts here */
#ifndef DT_EXT_TAPE_H
#define DT_EXT_TAPE_H

#include "ext/move/move.h"
#include "ext/op/op.h"

/* --- node.c --- */

extern _Thread_local bool tape_off; /* nothing is recorded in this thread */

/* Whether a tensor is recorded, or is a view of what has become so since. */
static inline bool
tape_requires(PyObject *object)
{
    TensorObject *tensor = (TensorObject *)object;
    return ext_is_tensor(object) &&
           (tensor->requires_grad || (tape_is_behind(tensor) && tape_follows(tensor)));
}

/* Whether it is a tensor of a dtype that can have a gradient. */
bool tape_can_require(PyObject *object);

/* Where the gradient of an input goes. */
typedef struct {
    PyObject *target; /* a Node, or a leaf (a Tensor); NULL: none is wanted */
    int output;       /* of the node */
} tape_edge;

typedef struct {
    PyObject_HEAD
    uint64_t sequence;  /* younger nodes have greater ones; leaves count as 0 */
    PyObject *name;     /* of the operator or function */
    OperatorObject *op; /* or NULL */
    op_entry *entry;    /* of its call, or NULL */
    PyObject *backward; /* without `op`: called with the gradients of the outputs */
    int input_count, output_count;
    tape_edge *edges;
    PyObject **metas;  /* of each output an Operand: shape, dtype, layout */
    bool done;         /* what was kept is given back */
    bool floats;       /* backward goes through it after the oldest node that uses it */
    bool several;      /* the operator gave a tuple or list */
    bool differs;      /* its call was in a block of dtensor.differs */
    Py_ssize_t nargs;  /* arguments by place */
    PyObject **args;   /* Saved, Operand or as they came; lists hold these too */
    Py_ssize_t count;  /* of args */
    PyObject *kwnames; /* or NULL */
    PyObject **outs;   /* Saved or Operand */
    PyObject *hooks;   /* list of (output, kind, function), or NULL */
    PyObject *dict;
    PyObject *weakrefs;
} NodeObject;

extern PyTypeObject ext_node_type, ext_saved_type;

NodeObject *tape_node(PyObject *name, int inputs, int outputs);
void tape_node_forget(NodeObject *node); /* what it keeps for backward */
/* Backward has been through it: it forgets, unless it keeps no tensors. */
void tape_node_used(NodeObject *node);
PyObject *tape_raise_done(void); /* RuntimeError of a node that has forgotten */
/* The edge to what made a tensor; its target is a new reference. */
tape_edge tape_edge_to(TensorObject *tensor);
/* What is known of a tensor without its data: an Operand. */
PyObject *tape_meta(TensorObject *tensor, int index);
bool tape_is_node(PyObject *object);
/* What retain_grad() has put among the hooks of a tensor's node, or None. New
 * reference. */
PyObject *tape_retaining(TensorObject *tensor);
/* Has a tensor come from another node (or NULL) from now on; retain_grad() is for the
 * newest. */
int tape_set_node(TensorObject *tensor, NodeObject *node, int output);
/* Makes a tensor output number `output` of a node. */
int tape_attach(TensorObject *tensor, NodeObject *node, int output);

/* --- saved.c --- */

typedef struct {
    PyObject_HEAD
    PyObject *value;  /* the tensor, or what the pack hook made of it */
    PyObject *unpack; /* the hook, or NULL */
    tape_edge edge;   /* of the tensor */
    bool output;      /* an output of the node that keeps it */
    bool bare;        /* the value has no history */
    bool data;        /* it had some when it was kept */
    tape_version *version;
    uint64_t at;
} SavedObject;

/* Keeps a tensor until backward; `output` says of which output of its own node, -1: an
 * input. `moved`: the same elements in another layout, without a history, which are
 * kept instead; or NULL. New reference. */
PyObject *tape_save(TensorObject *tensor, int output, TensorObject *moved);
/* The same array under a new object, without a history. New reference. */
PyObject *tape_alias(TensorObject *tensor);
/* The tensor again; RuntimeError if it was written to since. New reference. */
PyObject *tape_unpack(SavedObject *saved, NodeObject *node);

/* --- vjp.c: the gradients of operators --- */

struct tape_vjp *tape_vjp_new(PyObject *functions, bool all);
void tape_vjp_free(struct tape_vjp *vjp);
struct tape_vjp *tape_vjp_copy(const struct tape_vjp *vjp);
/* Whether the gradients along those edges that are wanted need the data of an argument:
 * the one at a place, or of this name. */
bool tape_vjp_keeps(const struct tape_vjp *vjp, const tape_edge *edges, int count,
                    Py_ssize_t place, PyObject *keyword);
bool tape_vjp_keeps_out(const struct tape_vjp *vjp, const tape_edge *edges, int count);
bool tape_vjp_is_ours(const struct tape_vjp *vjp); /* its functions are the library's */
uint64_t tape_vjp_number(const struct tape_vjp *vjp); /* no other one has had it */
/* What the function of a node gets: argv[1] gradients, argv[2] results, argv[3...] the
 * operator's arguments; new references. `grads` has one for each output, NULL where there
 * is none. argv[0] is NULL, and used by the call. */
int tape_vjp_arguments(PyObject **argv, NodeObject *node, PyObject *const *grads);
/* Gradients of those inputs of a node that are `sent`, so, a tuple. New reference. */
PyObject *tape_vjp_call(NodeObject *node, PyObject **argv, const bool *sent);

/* --- program.c, trace.c: gradients as programs --- */

extern _Thread_local bool tape_programs; /* false: the functions are always called */
extern long long tape_played_count;      /* how often they were not */
extern PyTypeObject ext_programs_type;
/* The function that runs and of which the calls are noted; NULL: none. */
extern _Thread_local struct tape_trace *tape_tracing;
/* Where there is one: makes a call, and notes it. */
PyObject *tape_traced_call(PyObject *callable, PyObject *const *args, size_t flags,
                           PyObject *kwnames);
/* The gradients of a node's inputs, as tape_fit_all gives them, by its entry's program or
 * by its function. New reference. */
PyObject *tape_node_backward(NodeObject *node, PyObject *const *grads,
                             const bool *sent);

/* --- record.c --- */

/* Records what an operator gave, if that is to be; else a result that shows the memory
 * of an operand shares its counter of writes. Steals the result and gives it back.
 * `moved`: what operands were moved to for the layouts of the entry, NULL where they
 * were not; or NULL. */
PyObject *tape_result(const op_call *call, const op_entry *entry,
                      PyObject *const *moved, PyObject *result);
/* Notes that a result which was recorded shares the memory of `owner`; steals it (NULL:
 * an exception is set) and gives it back. */
PyObject *tape_follow(PyObject *result, TensorObject *owner);
/* Records what `backward`, called with the gradients of the outputs, goes back
 * through. */
int tape_record_function(PyObject *name, PyObject *backward, PyObject *const *inputs,
                         int input_count, PyObject *const *outputs, int output_count);
/* Before a tensor is written to by a call: RuntimeError where that cannot be recorded.
 * `in_place`: it is operand 0 too. */
int tape_check_write(const op_call *call, TensorObject *target, bool in_place);
/* Whether the gradient of a call that writes into its first argument needs what that is
 * now, or its history without hooks. */
bool tape_needs_old_value(const OperatorObject *op, PyObject *const *args,
                          Py_ssize_t nargs);
/* Whether there are hooks of gradients on the way from a view to its owner: of a write
 * into the view they are not told, since that goes back to the owner past them. */
bool tape_is_hooked(TensorObject *view);
/* A copy with the same history, past hooks of a view. New reference. */
PyObject *tape_old_value(TensorObject *tensor);
/* Before the result `made` of an operator is copied into `target`: it takes the place
 * of the result on the tape. Checks as tape_check_write. */
int tape_take_over(TensorObject *target, TensorObject *made, bool in_place,
                   PyObject *name);
/* After an operator has written into its operand 0. */
int tape_record_write(const op_call *call, TensorObject *target);
extern PyMethodDef ext_tape_methods[], ext_saved_methods[], ext_engine_methods[];

/* --- operators.c: operators that Python has registered --- */

PyObject *tape_sum_to(PyObject *grad, PyObject *shape);
PyObject *tape_cast(PyObject *grad, PyObject *dtype);
PyObject *tape_zeros(PyObject *meta);
PyObject *tape_ones(PyObject *tensor);
extern PyMethodDef ext_gradient_methods[];

/* --- gradient.c --- */

/* Brings a gradient to the shape and dtype of what it is the gradient of; steals it. */
PyObject *tape_fit(PyObject *grad, PyObject *target, int output, PyObject *name);
/* A tuple of the gradients of those inputs of a node that are `sent`, so, None for the
 * others; steals `results`, a tuple or the only one (NULL: an exception is set). */
PyObject *tape_fit_all(NodeObject *node, PyObject *results, const bool *sent);
/* The sum of two gradients; steals both. `in_place`: the first may be overwritten. */
PyObject *tape_add(PyObject *a, PyObject *b, bool in_place);
/* Adds to the `grad` of a leaf; steals it. */
int tape_accumulate(TensorObject *leaf, PyObject *grad);
/* A gradient that is given to the user; a copy where it lacks views that PyTorch's has: a
 * new reference. */
PyObject *tape_in_order(PyObject *grad, TensorObject *input);

/* --- border.c: where arrays become DTensors, move, and come back --- */

/* Each records how `result`, whose requires_grad is unset, was made of `source`, where
 * that requires a gradient and recording is on. Each steals `result` (NULL: an
 * exception is set) and gives it back. `grad_placements` may be NULL or None. */
PyObject *tape_moved(PyObject *result, DTensorObject *source, PyObject *backward_dtype);
PyObject *tape_from_local(PyObject *result, PyObject *source,
                          PyObject *grad_placements);
PyObject *tape_to_local(PyObject *result, DTensorObject *source,
                        PyObject *grad_placements);
/* As to_local, of what was gathered. */
PyObject *tape_gathered(PyObject *result, DTensorObject *source,
                        PyObject *grad_placements);
/* The layout of the gradient of a tensor: core's dual. New reference. */
LayoutObject *tape_dual(LayoutObject *layout);

/* As ext_move_tensors, recorded. */
int tape_move_tensors(PyObject **out, PyObject *const *tensors, int count,
                      const ext_move_options *o);
/* Moves a DTensor to a layout, also to new Partial placements; recorded. */
PyObject *tape_redistribute_to(PyObject *tensor, LayoutObject *to, const char *what);

#endif
