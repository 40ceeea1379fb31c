/* rule_parts.h: what parsed rules and bindings are made of. Only for the files that
 * implement rule.h and propagate.h. */
#ifndef DT_RULE_PARTS_H
#define DT_RULE_PARTS_H

#include "core/rule/rule.h"

/* --- as it is written: rule.c, partial.c --- */

typedef struct {
    char letter; /* upper-case: stays whole */
    int primes;
    int last_term; /* in which it was seen */
    bool in_operands;
    int64_t given; /* length after the ";", or -1 */
} dt_rule_factor;

typedef struct {
    int factor;     /* or -1 */
    int64_t length; /* where it is no factor */
} dt_rule_word;

typedef enum { DT_DIM_WORDS, DT_DIM_ANY, DT_DIM_BROADCAST } dt_rule_dim_kind;

typedef struct {
    int64_t start, count, step;
} dt_window;

typedef struct {
    dt_rule_dim_kind kind;
    int first, count; /* of its words */
    bool windowed;
    dt_window window;
} dt_rule_dim;

typedef struct {
    int first, count; /* of its dims */
    bool broadcasts;
} dt_rule_term;

enum { DT_ALL_OPERANDS = -1, DT_LISTED = -2 }; /* instead of an operand's number */

/* A row of Partial placements. */
typedef struct {
    int who;              /* the operand that alone is Partial, or one of the above */
    dt_reduce_op in, out; /* what operands have and results get */
    const signed char *list; /* of DT_LISTED: an op or -1 for each term */
    bool moves;              /* of `any` */
    bool monotone;           /* of `increasing` or `decreasing` */
} dt_rule_row;

struct dt_rule {
    char *text;
    int operand_count, result_count;
    dt_rule_factor *factors;
    dt_rule_word *words;
    dt_rule_dim *dims;
    dt_rule_term *terms; /* operands, then results */
    int factor_count, word_count, dim_count, term_count;
    int broadcast_at; /* how many factors stand before the first "..." */
    int reduce;
    bool floating; /* monotone rows only for floats */
    dt_rule_row *rows;
    int row_count;
};

/* Fills rows and floating from the text of Partial rows. */
dt_status dt_rule_parse_partial(dt_rule *rule, const char *text, dt_error *err);

/* --- with shapes: bind.c --- */

typedef struct {
    int64_t length;
    bool cuttable;
    bool in_operands;
    bool chunked; /* second or later word of a group: cut only by chunks */
    bool alone;   /* no group and no window in any term */
} dt_bound_factor;

typedef struct {
    int factor;           /* or -1 */
    int dim;              /* in its term */
    int64_t length;       /* of the factor */
    int64_t before, rest; /* product of the words before, after it in the dim */
    bool windowed;
    dt_window window;
} dt_bound_word;

typedef struct {
    int ndim;
    int64_t *shape;
    int first_word, word_count;
} dt_bound_term;

typedef struct {
    int a, b; /* factors that lie in one dim somewhere */
} dt_factor_pair;

struct dt_binding {
    int operand_count, term_count, factor_count, pair_count;
    dt_bound_factor *factors;
    dt_bound_word *words;
    dt_bound_term *terms;
    dt_factor_pair *pairs;
    int *where;      /* term x factor: number of the word, or -1 */
    int64_t *shapes; /* of all terms */
};

#endif
