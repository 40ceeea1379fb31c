/* route.h: what one backward visits, and in which order. */
#ifndef DT_EXT_TAPE_ROUTE_H
#define DT_EXT_TAPE_ROUTE_H

#include "ext/tape/tape.h"

typedef struct {
    bool keep_graph, create_graph;
    bool accumulate; /* into leaves; else the gradients of `inputs` are wanted */
    bool allow_unused;
    PyObject *inputs; /* sequence (fast), or NULL */
} tape_options;

typedef struct {
    PyObject *target; /* a Node or a leaf */
    int uses;         /* edges to it that are still to come */
    int output_count;
    bool needed;      /* a wanted input is behind it */
    bool wanted;      /* it is, or has, a wanted input */
    bool floats;      /* a Node of that kind */
    uint64_t age;     /* the order of visits: the greatest first, then by place */
    int place;        /* in the order in which they are found */
    PyObject **grads; /* one for each output, or NULL */
} stop;

typedef struct journey {
    struct journey *outer; /* the run within which this one is, or NULL */
    PyObject *callbacks;   /* list of what is called at the end, or NULL */
    const tape_options *options;
    stop *stops;
    int count, room;
    int *table; /* of a hash of the target: index + 1 */
    int table_size;
    PyObject **inputs; /* of options->inputs, or NULL */
    PyObject **found;  /* the gradient of each, or NULL */
    int input_count;
    PyObject
        *late; /* list of (leaf, gradient) that move together at the end, or NULL */
    PyObject *tensors; /* tuple, from which the run begins; borrowed */
} journey;

/* The index of a stop, made where there is none; -1 with an exception. */
int route_add(journey *j, PyObject *target);
/* The edge to what made an input, also to a leaf that requires no gradient any more; its
 * target is borrowed. */
tape_edge route_edge_of(TensorObject *input);
/* The stop of a target that is on the route. */
stop *route_find(const journey *j, PyObject *target);
/* Finds all that can be reached from the stops that are there, counts the edges to each
 * of them, and sorts: youngest first. */
int route_explore(journey *j);
/* Marks what leads to wanted inputs; without such inputs, everything. */
void route_mark_needed(journey *j);
void route_clear(journey *j);

/* --- made_of.c --- */

/* Puts into the lineages of what a node has made, a new tuple, those of the `count`
 * gradients that came in, or else of what the run began from. */
int gradients_made_of(const journey *j, PyObject *const *grads, int count,
                      PyObject *name, PyObject *results);

/* --- hooks.c --- */

/* Calls the hooks of one kind on a gradient: what they give back takes its place. Steals
 * it. `hooks`: a list, or NULL. */
PyObject *hooks_call(PyObject *hooks, int output, const char *kind, PyObject *grad);
/* Calls those of a node before and after it computes, as PyTorch's `register_prehook` and
 * `register_hook`: with the gradients of its outputs, and those of its inputs, a tuple,
 * which is stolen and given back. */
int hooks_before(NodeObject *node, PyObject **grads);
PyObject *hooks_after(NodeObject *node, PyObject *const *grads, PyObject *results);
/* Calls those of a leaf that has its gradient. */
int hooks_done(TensorObject *leaf);
/* Whether there is a hook of a kind on an output. "at once": fully_shard counts on being
 * called while backward goes on, on all ranks; hooks of users may be there on one. */
bool hooks_have(PyObject *hooks, int output, const char *kind);

/* --- leaves.c --- */

/* Whether the gradient of a leaf can be left there when all others are known: it is
 * small, and must be reduced first. */
bool leaf_may_wait(const journey *j, TensorObject *leaf, PyObject *grad);
/* Keeps it until then; steals it. */
int leaf_wait(journey *j, TensorObject *leaf, PyObject *grad);
/* Reduces what waits, by mesh and dtype, and leaves it at the leaves. */
int leaves_settle(journey *j);

#endif
