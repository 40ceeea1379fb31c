/* propagate.h: from the layouts of the operands to those that an operator computes in.
 * Pure: the same on every rank. */
#ifndef DT_PROPAGATE_H
#define DT_PROPAGATE_H

#include "core/plan/plans.h"
#include "core/rule/rule.h"

/* How an operator is computed: what each operand is moved to, and what comes out. */
typedef struct {
    int operand_count, result_count;
    const dt_layout **operands; /* retained; the given one where nothing moves */
    const dt_layout **results;  /* retained */
    double seconds;             /* predicted, of all moves that are not free */
    int moved; /* operands whose layout changes; those that were not replicated twice */
} dt_choice;

/* Chooses, among all ways to take a row of the rule on each mesh dimension, the one
 * whose moves are predicted to take the least time (core/plan/plan.h); among equals the
 * one that moves fewest operands (one that is cut or Partial counts for two), then the
 * one that comes first in the order of the rows: all replicated, factors in the order
 * of the text, Partial rows. To cut what is whole on every rank, along factors that cut
 * all results, is free: computing with the whole would take longer than that copy, and
 * hold more.
 *
 * Never more than the cheapest of the full product of rows, but found by a search. A
 * factor that several mesh dimensions cut has one order and one set of cut points,
 * which all operands that have it take over from one of them (that which makes it
 * cheapest, among the first 16 that differ), and which the results inherit. A dimension
 * of an operand that is length 1 where the factor is longer is replicated. No tensor
 * mixes kinds of Partial but sum and avg, unless it did before and the row is of `any`.
 * Partial comes from Partial: an operand is made so only if it is replicated and
 * another one has addends of that kind there. (What is sharded would take no message
 * either, but memory for the whole on every rank.)
 *
 * `operands`      on one mesh; operand k has the shape k of the binding
 * `results`       dtypes of the results
 * `wanted`        layouts that the results are to be brought to afterwards, whose cost
 *                 counts; NULL, or an entry NULL, for any
 * `exhaustive`    goes through the full product: for tests
 *
 * DT_MEMORY, and what dt_plan_make gives. */
dt_status dt_propagate(dt_choice *out, dt_plans *plans, const dt_rule *rule,
                       const dt_binding *binding, const dt_layout *const *operands,
                       const dt_dtype *results, const dt_layout *const *wanted,
                       const dt_cost *cost, bool exhaustive, dt_error *err);

/* Releases the layouts and frees the lists. */
void dt_choice_clear(dt_choice *choice, dt_context *context);

#endif
