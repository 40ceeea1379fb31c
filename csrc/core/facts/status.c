#include "core/facts/status.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

dt_status
dt_fail(dt_error *err, dt_status status, const char *format, ...)
{
    if (err != NULL) {
        va_list args;
        va_start(args, format);
        err->status = status;
        vsnprintf(err->message, sizeof err->message, format, args);
        va_end(args);
    }
    return status;
}

void
dt_error_prefix(dt_error *err, const char *context)
{
    if (err == NULL)
        return;
    char old[sizeof err->message];
    memcpy(old, err->message, sizeof old);
    snprintf(err->message, sizeof err->message, "%.200s: %.800s", context, old);
}
