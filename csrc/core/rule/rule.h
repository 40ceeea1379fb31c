/* The room core/rule: what an operator accepts and gives, and on which layouts
 * it is computed with the least moving.
 *
 * May use: core/facts, core/memory, core/layout, core/plan.
 * Begin with: this header, then bind.c; propagate.h and search.h for the search. */

/* rule.h: which placements an operator accepts and gives, on ONE mesh dimension.
 *
 * A rule is written as einsum is: operands, "->", results, with a word for each
 * dimension. Factors are letters; every row of the rule cuts at most one of them.
 *
 *     mk,kn->mn      matrix product     rows  m: S(0),R->S(0)   n: R,S(1)->S(1)
 *                                             k: S(1),S(0)->P(sum)
 *     aB->aB         softmax over b     row   a: S(0)->S(0)
 *     ab->b          sum over a         rows  a: S(0)->P(sum)   b: S(1)->S(0)
 *     ...,...->...   add                a row for each broadcast dimension
 *     (ab)c->abc     a reshape
 *
 * Dimensions are one of
 *
 *     a          a factor that may be cut (a' and a'' are others, for arrays of many
 *                dimensions): the operands that have it are cut along it
 *                (the others are replicated), and so are the results that have it; the
 *                results that lack it are Partial
 *     A          a factor that must stay whole: its lengths must be equal
 *     12         a dimension of that length which stays whole
 *     *          in operands: a whole dimension of any length
 *     (ab3)      factors and lengths that lie in one dimension, row-major. Cut along
 *                its first word: at multiples of the length of the others. Cut along
 *                another word w: a strided shard of split = product of the words before
 *                w; only by chunks, and only while no other word of the group is cut
 *     a[1:5:2]   in results: 5 elements of factor a from 1 on, step 2 (start, count,
 *                step)
 *     ...        any number of leading dimensions, once in a term, broadcast against
 *                one another as NumPy does: where an operand has length 1 it lacks the
 *                factor
 *
 * Blanks are ignored. A factor's length comes from an operand's dimension that is the
 * factor alone, else from a group in which all else is known, else from "; a=3, b=4"
 * at the end of the rule. Letters lie at most once in each term (a diagonal is a rule
 * of the operator's own).
 *
 * Partial rows say which Partial operands pass. They are a list separated by ";" of
 *
 *     sum,R->sum     a row: the placement of every operand and result
 *     all            every operand P(sum) -> P(sum), and the same for avg
 *     each           for each operand: it alone P(sum) or P(avg), the others R
 *     0              operand 0 alone P(sum) or P(avg), the others R
 *     any            for every op: all operands P(op) -> P(op). For what only moves
 *                    elements; alone passes mixed Partials
 *     increasing     for each operand: it alone P(max) or P(min), the others R. Addends
 *                    may be infinite: not for what makes NaN of two infinities
 *     decreasing     the same, P(max) -> P(min) and P(min) -> P(max)
 *     floating       a condition on increasing and decreasing: operands are floats (an
 *                    integer may wrap)
 *
 * Sums and averages pass only where that is exact for the dtypes: an integer or bool
 * operand only to results of the same dtype, a float never to a smaller or an integer
 * type. P(max) and P(min) pass only between real dtypes, from floats to floats, and
 * from integers to integers only where all values fit.
 *
 * Results lacking a cut factor are Partial(`reduce`), or, with `reduce` DT_NO_REDUCE,
 * the factor may not be cut where a result lacks it.
 *
 * After the factor rules of Shardy and PyTorch's single-dim strategies. */
#ifndef DT_RULE_H
#define DT_RULE_H

#include "core/layout/layout.h"

enum { DT_NO_REDUCE = -1 };

typedef struct dt_rule dt_rule;

/* Parses a rule. `partial` may be NULL. `reduce` is a dt_reduce_op or DT_NO_REDUCE.
 * DT_VALUE, with the place, for what is no rule; DT_MEMORY. */
dt_status dt_rule_parse(dt_rule **out, const char *text, const char *partial,
                        int reduce, dt_error *err);
void dt_rule_free(dt_rule *rule); /* may be NULL */

int dt_rule_operands(const dt_rule *rule);
int dt_rule_results(const dt_rule *rule);

/* Whether each element of a result depends, as far as the rule says, on the elements of the
 * operands at its own place: all terms have the same dims, which are "..." or factors that
 * may be cut. */
bool dt_rule_elementwise(const dt_rule *rule);

/* A rule with the shapes of its operands put in. */
typedef struct dt_binding dt_binding;

typedef struct {
    int ndim;
    const int64_t *shape;
} dt_shape;

/* DT_VALUE where the shapes do not fit the rule; DT_BUG where a length is missing. */
dt_status dt_rule_bind(dt_binding **out, const dt_rule *rule, const dt_shape *operands,
                       int count, dt_error *err);
void dt_binding_free(dt_binding *binding); /* may be NULL */

/* The shape of result `index`, as long as the binding lives. */
dt_shape dt_binding_result(const dt_binding *binding, int index);

#endif
