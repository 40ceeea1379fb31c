#include "core/facts/reduce_op.h"

#include <stdio.h>
#include <string.h>

static const dt_reduce_op_row ROWS[] = {
#define ROW(op, name, torch, ufunc, law, identity, kinds, reversed)                    \
    [DT_##op] = {name,  torch,        ufunc, DT_LAW_##law, DT_IDENTITY_##identity,     \
                 kinds, DT_##reversed},
    DT_REDUCE_OPS(ROW)
#undef ROW
};

static const struct {
    bool linear, idempotent;
    const char *instead;
} LAWS[] = {
#define ROW(law, ...) [DT_LAW_##law] = {__VA_ARGS__},
    DT_REDUCE_LAWS(ROW)
#undef ROW
};

const dt_reduce_op_row *
dt_reduce_op_get(dt_reduce_op op)
{
    return &ROWS[op];
}

const char *
dt_reduce_op_name(dt_reduce_op op)
{
    return ROWS[op].name;
}

dt_status
dt_reduce_op_parse(dt_reduce_op *out, const char *name, dt_error *err)
{
    char names[256] = "";
    size_t used = 0;
    for (int op = 0; op < DT_REDUCE_OP_COUNT; op++) {
        if (strcmp(name, ROWS[op].name) == 0 || strcmp(name, ROWS[op].torch) == 0) {
            *out = (dt_reduce_op)op;
            return DT_OK;
        }
        used += (size_t)snprintf(names + used, sizeof names - used, "%s'%s'",
                                 op == 0 ? "" : ", ", ROWS[op].name);
    }
    return dt_fail(err, DT_VALUE, "Partial has no reduce_op '%.40s'; it is one of %s",
                   name, names);
}

dt_status
dt_reduce_op_check(dt_reduce_op op, dt_dtype dtype, dt_error *err)
{
    if (strchr(ROWS[op].kinds, dt_dtype_kind(dtype)) != NULL)
        return DT_OK;
    return dt_fail(err, DT_TYPE, "Partial(%s) has no exact value in dtype %s%s",
                   ROWS[op].name, dt_dtype_name(dtype), LAWS[ROWS[op].law].instead);
}

/* --- what follows from the law --- */

bool
dt_reduce_op_linear(dt_reduce_op op)
{
    return LAWS[ROWS[op].law].linear;
}

bool
dt_reduce_op_idempotent(dt_reduce_op op)
{
    return LAWS[ROWS[op].law].idempotent;
}

bool
dt_reduce_op_commute(dt_reduce_op a, dt_reduce_op b)
{
    return a == b || (dt_reduce_op_linear(a) && dt_reduce_op_linear(b));
}

/* --- conversions --- */

/* The dtype of a complex number's parts. */
static dt_dtype
component(dt_dtype dtype)
{
    if (dtype == DT_COMPLEX64)
        return DT_FLOAT32;
    if (dtype == DT_COMPLEX128)
        return DT_FLOAT64;
    return dtype == DT_CLONGDOUBLE ? DT_LONGDOUBLE : dtype;
}

static bool
is_inexact(dt_dtype dtype)
{
    char kind = dt_dtype_kind(dtype);
    return kind == 'f' || kind == 'c';
}

/* Sums of one dtype are those of the other. */
static bool
adds_alike(dt_dtype from, dt_dtype to)
{
    if (from == to)
        return true;
    if (!is_inexact(from) || !is_inexact(to))
        return false;
    dt_dtype a = component(from), b = component(to);
    return a == b || dt_dtype_size(b) > dt_dtype_size(a);
}

/* So are products, but for the real parts of complex ones. */
static bool
multiplies_alike(dt_dtype from, dt_dtype to)
{
    bool drops = dt_dtype_kind(from) == 'c' && dt_dtype_kind(to) != 'c';
    return !drops && adds_alike(from, to);
}

/* No larger value becomes a smaller one. Integers that do not fit would wrap. */
static bool
orders_alike(dt_dtype from, dt_dtype to)
{
    char a = dt_dtype_kind(from), b = dt_dtype_kind(to);
    if (a == 'c' || b == 'c')
        return false;
    if (from == to || b == 'f')
        return true;
    if (a == 'f' || b == 'b')
        return false;
    if (a == 'b')
        return true;
    size_t x = dt_dtype_size(from), y = dt_dtype_size(to);
    return a == b ? y >= x : a == 'u' && y > x;
}

/* Any integer to any other: its bits are dropped, or the highest one repeated; to bool:
 * whether there is one. */
static bool
has_bits(dt_dtype dtype)
{
    char kind = dt_dtype_kind(dtype);
    return kind == 'b' || kind == 'i' || kind == 'u';
}

bool
dt_reduce_op_converts(dt_reduce_op op, dt_dtype from, dt_dtype to)
{
    switch (ROWS[op].law) {
    case DT_LAW_ADDS:
    case DT_LAW_AVERAGES:
        return adds_alike(from, to);
    case DT_LAW_MULTIPLIES:
        return multiplies_alike(from, to);
    case DT_LAW_SELECTS:
        return orders_alike(from, to);
    case DT_LAW_BITWISE:
        return has_bits(from) && has_bits(to);
    }
    return false;
}

bool
dt_reduce_op_travels(dt_reduce_op op, dt_dtype dtype)
{
    return dt_reduce_op_get(op)->law == DT_LAW_SELECTS || dt_dtype_kind(dtype) != 'f' ||
           dt_dtype_size(dtype) > 2;
}
