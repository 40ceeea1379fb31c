#include "core/facts/dtype.h"

static const struct {
    const char *name;
    char kind;
    size_t size;
} TABLE[] = {
#define DT_DTYPE_ROW(name, text, kind, size, home) {text, kind, size},
    DT_DTYPES(DT_DTYPE_ROW)
#undef DT_DTYPE_ROW
};

size_t
dt_dtype_size(dt_dtype dtype)
{
    return TABLE[dtype].size;
}

const char *
dt_dtype_name(dt_dtype dtype)
{
    return TABLE[dtype].name;
}

char
dt_dtype_kind(dt_dtype dtype)
{
    return TABLE[dtype].kind;
}
