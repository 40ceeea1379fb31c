/* fused.h: a program of calls of inner loops, and of sums of what they give, that have
 * been put off. Of fused*.c alone. */
#ifndef DT_EXT_FUSED_H
#define DT_EXT_FUSED_H

#include "ext/dispatch/sum.h"

#include <stdatomic.h>

enum { FUSED_MOST = 32 }; /* steps of a program */

typedef struct {
    op_loop_call call; /* without a loop if it is a sum */
    op_sum sum;        /* of the result of step from[0] */
    op_entry *entry;   /* these three are references */
    OperatorObject *op;
    PyArrayObject *result;    /* its memory is written to when the program runs */
    PyObject *held[OP_SHORT]; /* operands that no step makes: references, or NULL */
    int from[OP_SHORT];       /* the steps that make the others; -1 */
    int last;                 /* the last step that reads the result, or this one */
    int slot;         /* of the scratch memory, if nobody else has the result; -1 */
    uint64_t lineage; /* of the call */
    atomic_int flags; /* floating-point flags that it raised */
} fused_step;

typedef struct {
    fused_step steps[FUSED_MOST];
    int count, sums; /* steps; those that are sums */
    npy_intp length; /* elements of each result */
    PyObject *modes; /* numpy.geterr() of its steps */
    bool flags;      /* some of them are not "ignore" */
    void *thread;    /* the only one that adds steps, and tells of flags */
    bool ran;        /* another one wanted elements */
    /* While it runs. */
    int threads;   /* at most: another thread may set how many there are */
    char *scratch; /* slots for each of them */
    npy_intp slot_bytes, block;
    int slots, unwritten;
    /* Where there are sums, blocks are the leaves of their tree. */
    npy_intp leaves, *begins;
    char *totals; /* of each leaf those of all sums */
    atomic_bool failed;
} fused_program;

enum { FUSED_NUMBER = sizeof(double) }; /* of totals */

static inline bool
fused_is_sum(const fused_step *step)
{
    return step->sum.add != NULL;
}

/* Runs all steps, block by block, so that what one of them writes the next ones find in
 * the processor's cache. A result that nobody but the program has is not written to its
 * memory at all. */
void fused_run(fused_program *p);

/* Warns of what the loops have raised, as `errstate` was when they were called; -1 with an
 * exception. */
int fused_tell(fused_program *p);

#endif
