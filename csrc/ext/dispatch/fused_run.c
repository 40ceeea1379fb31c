/* fused_run.c: a program of inner loops runs, block by block. */
#include "ext/dispatch/fused.h"

#include "core/memory/memory.h"
#include "core/threads/team.h"

enum {
    BLOCK_BYTES = 1 << 14, /* of the widest array: some of them fit in a core's cache */
    LINE = 64,
    APART = 3 * LINE, /* between slots, which shall not fall into the same sets of it */
};

static npy_intp
least(npy_intp a, npy_intp b)
{
    return a < b ? a : b;
}

/* --- where results are --- */

static npy_intp
size_of(const fused_step *step, int k)
{
    return PyDataType_ELSIZE(step->call.loop->context->descriptors[k]);
}

static bool
is_kept(const fused_step *step)
{
    return Py_REFCNT((PyObject *)step->result) > 1;
}

/* Gives a slot to each result that is not kept, free again after the last step that reads
 * it. A step does not write where it reads: loops go other ways where memory overlaps. */
static void
assign_slots(fused_program *p)
{
    int busy_until[FUSED_MOST];
    npy_intp widest = 1;
    p->slots = p->unwritten = 0;
    for (int k = 0; k < p->count; k++) {
        fused_step *step = &p->steps[k];
        step->slot = -1;
        if (fused_is_sum(step))
            continue;
        for (int i = 0; i <= step->call.count; i++)
            widest = size_of(step, i) > widest ? size_of(step, i) : widest;
        if (is_kept(step))
            continue;
        int slot = 0;
        while (slot < p->slots && busy_until[slot] >= k)
            slot++;
        p->slots += slot == p->slots;
        busy_until[slot] = step->last;
        step->slot = slot;
        p->unwritten++;
    }
    p->block = BLOCK_BYTES / widest / LINE * LINE;
    p->slot_bytes = p->block * widest + APART;
}

/* Without memory for slots all results are written. */
static void
take_slots(fused_program *p)
{
    p->threads = dt_team_size();
    size_t bytes = (size_t)p->slots * (size_t)p->slot_bytes * (size_t)p->threads;
    p->scratch = bytes == 0 ? NULL : dt_memory_take(bytes);
    for (int k = 0; p->scratch == NULL && k < p->count; k++)
        p->steps[k].slot = -1;
    if (p->scratch == NULL)
        p->unwritten = 0;
}

/* Without memory for leaves sums are made in the end, of results that are written. */
static void
take_leaves(fused_program *p)
{
    p->leaves = p->sums == 0 ? 0 : op_sum_leaves(p->length, p->block);
    size_t each = sizeof *p->begins + FUSED_NUMBER * (size_t)p->sums;
    char *room = p->leaves == 0 ? NULL : dt_memory_take((size_t)(p->leaves + 1) * each);
    p->begins = (npy_intp *)(void *)room;
    p->totals =
        room == NULL ? NULL : room + (size_t)(p->leaves + 1) * sizeof *p->begins;
    if (room != NULL)
        op_sum_cut(p->begins, p->length, p->block);
}

/* After take_leaves: a result that is summed in the end is written. */
static void
keep_summed(fused_program *p)
{
    for (int k = 0; k < p->count && p->begins == NULL; k++)
        if (fused_is_sum(&p->steps[k])) {
            fused_step *summed = &p->steps[p->steps[k].from[0]];
            p->unwritten -= summed->slot >= 0;
            summed->slot = -1;
        }
}

/* --- a block --- */

/* Elements of the results that are made one after the other. */
typedef struct {
    char *scratch; /* of this thread */
    npy_intp first, count, leaf;
} block;

/* Where argument k of a step has the element `at`. */
static char *
place_of(const fused_program *p, const fused_step *step, int k, const block *b,
         npy_intp at)
{
    const op_loop_call *c = &step->call;
    int from = k == c->count ? -1 : step->from[k];
    int slot = k == c->count ? step->slot : from < 0 ? -1 : p->steps[from].slot;
    if (slot >= 0)
        return b->scratch + slot * p->slot_bytes + (at - b->first) * size_of(step, k);
    if (c->rows == 1)
        return c->data[k] + at * c->inner[k];
    return op_loop_row(c, k, at / c->length) + at % c->length * c->inner[k];
}

/* The flags of a step are cleared where they are set, which is seldom: that takes as long
 * as many elements. */
static void
note_flags(fused_program *p, fused_step *step)
{
    int raised = p->flags ? fetestexcept(LOOP_ERRORS) : 0;
    if (raised == 0)
        return;
    if (fused_is_sum(step) || !step->call.loop->no_floatingpoint_errors)
        atomic_fetch_or(&step->flags, raised);
    feclearexcept(LOOP_ERRORS);
}

static void
run_step(fused_program *p, const fused_step *step, const block *b)
{
    const op_loop_call *c = &step->call;
    npy_intp end = b->first + b->count, count;
    char *data[OP_SHORT + 1];
    for (npy_intp at = b->first; at < end; at += count) {
        count = c->rows == 1 ? b->count : least(c->length - at % c->length, end - at);
        for (int k = 0; k <= c->count; k++)
            data[k] = place_of(p, step, k, b, at);
        if (op_loop_run(c, data, count) < 0)
            atomic_store(&p->failed, true);
    }
}

/* Adds up what the block has of a result. */
static void
sum_leaf(const fused_program *p, const fused_step *step, int number, const block *b)
{
    const fused_step *summed = &p->steps[step->from[0]];
    op_sum_leaf(&step->sum, p->totals + (b->leaf * p->sums + number) * FUSED_NUMBER,
                place_of(p, summed, summed->call.count, b, b->first), b->count);
}

static void
run_block(fused_program *p, const block *b)
{
    for (int k = 0, sums = 0; k < p->count; k++) {
        fused_step *step = &p->steps[k];
        if (!fused_is_sum(step))
            run_step(p, step, b);
        else if (p->begins != NULL)
            sum_leaf(p, step, sums++, b);
        note_flags(p, step);
    }
}

static char *
own_scratch(const fused_program *p)
{
    return p->scratch +
           (p->scratch == NULL ? 0 : dt_team_place()) * p->slots * p->slot_bytes;
}

static void
run_leaves(void *work, int64_t begin, int64_t end)
{
    fused_program *p = work;
    block b = {.scratch = own_scratch(p)};
    if (p->flags)
        feclearexcept(LOOP_ERRORS);
    for (b.leaf = (npy_intp)begin; b.leaf < end; b.leaf++) {
        b.first = p->begins[b.leaf];
        b.count = p->begins[b.leaf + 1] - b.first;
        run_block(p, &b);
    }
}

static void
run_elements(void *work, int64_t begin, int64_t end)
{
    fused_program *p = work;
    block b = {.scratch = own_scratch(p)};
    if (p->flags)
        feclearexcept(LOOP_ERRORS);
    for (b.first = (npy_intp)begin; b.first < end; b.first += b.count) {
        b.count = least(p->block, (npy_intp)end - b.first);
        run_block(p, &b);
    }
}

/* The results of sums, from the totals of leaves or from what was written. */
static void
finish_sums(fused_program *p)
{
    if (p->flags)
        feclearexcept(LOOP_ERRORS);
    for (int k = 0, sums = 0; k < p->count; k++) {
        fused_step *step = &p->steps[k];
        if (!fused_is_sum(step))
            continue;
        char whole[FUSED_NUMBER];
        const char *totals = whole;
        npy_intp most = p->length;
        if (p->begins == NULL)
            op_sum_leaf(&step->sum, whole,
                        PyArray_BYTES(p->steps[step->from[0]].result), p->length);
        else {
            totals = p->totals + FUSED_NUMBER * sums++;
            most = p->block;
        }
        op_sum_finish(&step->sum, PyArray_BYTES(step->result), totals,
                      FUSED_NUMBER * p->sums, p->length, most);
        note_flags(p, step);
    }
}

void
fused_run(fused_program *p)
{
    npy_intp size = 0;
    assign_slots(p);
    take_leaves(p);
    keep_summed(p);
    take_slots(p);
    for (int k = 0; k < p->count; k++)
        size += fused_is_sum(&p->steps[k])
                    ? FUSED_NUMBER
                    : size_of(&p->steps[k], p->steps[k].call.count);
    if (p->begins != NULL)
        dt_team_run_by(p->threads, p->leaves, p->block * size, run_leaves, p);
    else
        dt_team_run_by(p->threads, p->length, size, run_elements, p);
    finish_sums(p);
    if (p->scratch != NULL)
        dt_memory_give(p->scratch);
    if (p->begins != NULL)
        dt_memory_give(p->begins);
}
