/* search.h: the state of one propagation, and its parts. Only for propagate.c, rows.c,
 * cutting.c, target.c and bound.c.
 *
 * A combination is a row for each mesh dimension, and for each factor that these rows
 * cut a cutting: order and cut points. It says for every term (operand or result) which
 * layout it has, its target. */
#ifndef DT_SEARCH_H
#define DT_SEARCH_H

#include "core/memory/bump.h"
#include "core/rule/propagate.h"
#include "core/rule/rule_parts.h"

#include <stddef.h>

/* --- rows --- */

typedef enum { DT_ROW_WHOLE, DT_ROW_FACTOR, DT_ROW_PARTIAL } dt_row_kind;

typedef struct {
    dt_row_kind kind;
    int factor;
    const dt_rule_row *pending; /* of DT_ROW_PARTIAL */
    unsigned ops;               /* that its operands and results are pending by */
} dt_row;

/* What a row does with one term, its code: the number of the word that is cut, or one
 * of these; Partial(op) is DT_CODE_PARTIAL - op. */
enum { DT_CODE_WHOLE = -1, DT_CODE_PARTIAL = -2 };

/* What a row costs on one mesh dimension at least. */
typedef struct {
    int64_t messages; /* of rank 0, for all operands */
    int64_t shared;   /* more of them, which other mesh dimensions may have in common */
    int moved;        /* operands whose placement changes */
    bool barred;      /* it would make a sharded operand Partial */
} dt_row_bound;

/* --- cuttings --- */

/* In elements of the factor. */
typedef struct {
    int id; /* no other cutting of the search has it; ascending in their lists */
    int count;
    int mesh_dims[DT_MESH_MAX_NDIM]; /* in the order in which they cut */
    int64_t parts;
    const int64_t *cuts; /* parts + 1 boundaries; NULL: chunks */
    bool strided;
    int64_t splits[DT_MESH_MAX_NDIM]; /* where strided: of mesh_dims[k] */
} dt_cutting;

enum { DT_CUTTINGS_MAX = 16 }; /* that are tried of one factor */

/* All that are tried where the mesh dimensions of `mask` cut a factor. */
typedef struct dt_cuttings {
    struct dt_cuttings *next;
    unsigned mask;
    int count;
    const dt_cutting *list[DT_CUTTINGS_MAX];
} dt_cuttings;

/* --- targets --- */

typedef struct dt_target {
    struct dt_target *next;
    const dt_layout *layout; /* retained */
    double least;  /* seconds of the move to it, or from it to the wanted one */
    bool planned;  /* `least` is exact */
    int64_t key[]; /* for each mesh dimension code and cutting */
} dt_target;

/* --- the whole --- */

typedef struct {
    dt_context *context; /* of the plans */
    dt_plans *plans;
    const dt_rule *rule;
    const dt_binding *binding;
    const dt_layout *const *operands;
    const dt_dtype *results;
    const dt_layout *const *wanted;
    const dt_cost *cost;
    dt_link least; /* no link of `cost` costs less */
    dt_error *err;
    const dt_mesh *mesh;
    bool exhaustive; /* nothing is left out */
    dt_bump bump;
    dt_row *rows;
    int row_count;
    int cutting_count;
    dt_cuttings **cuttings; /* for each factor those found so far */
    dt_target **targets;    /* for each term those found so far */

    bool *bounded;        /* for each operand: the bounds hold */
    dt_row_bound *bounds; /* mesh dim x row */
    int *order;           /* mesh dim x row: rows, the most promising first */
    int64_t rest[DT_MESH_MAX_NDIM + 1]; /* messages of the mesh dims from there on */

    int row[DT_MESH_MAX_NDIM]; /* the combination */
    const dt_cutting *cutting[DT_MESH_MAX_NDIM];
    unsigned *masks;   /* for each factor the mesh dims that cut it */
    dt_target **trial; /* for each term its target */
    double *after;     /* for each term what those behind it take at least */

    bool scouting;
    bool found;
    double best_seconds;
    int best_moved;
    int best_row[DT_MESH_MAX_NDIM];
    const dt_cutting *best_cutting[DT_MESH_MAX_NDIM];
    const dt_layout **best;
} dt_search;

static inline dt_status
dt_search_no_memory(const dt_search *s)
{
    return dt_fail(s->err, DT_MEMORY, "no memory to choose the layouts of an operator");
}

/* Whether a code leaves a placement as it is, cut points and order aside. */
static inline bool
dt_code_keeps(const dt_search *s, int code, dt_placement p)
{
    switch (p.kind) {
    case DT_REPLICATE:
        return code == DT_CODE_WHOLE;
    case DT_PARTIAL:
        return code == DT_CODE_PARTIAL - (int)p.op;
    case DT_SHARD:
        break;
    }
    return code >= 0 && s->binding->words[code].dim == p.dim;
}

/* rows.c: fills rows and row_count with the rows that the dtypes allow. */
dt_status dt_search_rows(dt_search *search);
int dt_row_code(const dt_search *search, const dt_row *row, int term);
/* Whether the current combination at most cuts an operand further, along factors that
 * cut all results. That is free: to compute with the whole takes longer than the copy. */
bool dt_search_only_cuts(const dt_search *search, int operand, const int *codes);

/* cutting.c */
dt_status dt_search_cuttings(const dt_cuttings **out, dt_search *search, int factor,
                             unsigned mask);
/* The cut points of a dimension of `length` whose word is cut so; NULL: chunks. */
dt_status dt_cutting_points(const int64_t **out, dt_search *search,
                            const dt_cutting *cutting, const dt_bound_word *word,
                            int64_t length);

/* target.c: the target of a term in the current combination, and its plan. */
dt_status dt_search_target(dt_target **out, dt_search *search, int term);
dt_status dt_search_plan(dt_search *search, int term, dt_target *target);

/* Sums of doubles may round down: a bound is taken times this. */
#define DT_SURELY (1 - 1e-9)

/* bound.c: fills bounded, bounds, order and rest. */
dt_status dt_search_bounds(dt_search *search);
double dt_bound_seconds(const dt_search *search, int64_t messages);
/* Of the current combination, with its bytes; not all of it where that is `enough`. */
double dt_bound_combination(const dt_search *search, double enough);
/* Of a move, where it makes no sharded mesh dimension Partial. */
double dt_bound_move(const dt_search *search, const dt_layout *from,
                     const dt_layout *to);

#endif
