/* state.c: what the whole extension has one of. */
#define EXT_IMPORTS_NUMPY
#include "ext/base/base.h"

#include <numpy/ufuncobject.h>

dt_context *ext_context;
dt_plans *ext_plans;
dt_dtype ext_default_dtype = DT_FLOAT32;
int (*ext_put_off)(void);

int
ext_state_make(void)
{
    import_array1(-1);
    import_umath1(-1);
    if (ext_context == NULL)
        ext_context = dt_context_make();
    if (ext_context != NULL && ext_plans == NULL)
        ext_plans = dt_plans_make(ext_context);
    if (ext_plans != NULL)
        return 0;
    return ext_no_memory();
}
