/* What all transports have in common. */
#include "comm/transport/transport.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

int64_t dt_count_limit = INT_MAX;

dt_rank_name
dt_name_rank(const dt_transport *t, int rank)
{
    dt_rank_name name;
    if (t->hosts == NULL)
        snprintf(name.text, sizeof name.text, "rank %d", rank);
    else
        snprintf(name.text, sizeof name.text, "rank %d (on host %s)", rank,
                 t->hosts[rank]);
    return name;
}

double
dt_now(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

dt_status
dt_timeout_read(double *out, dt_error *err)
{
    const char *text = getenv("DTENSOR_TIMEOUT");
    double seconds = DT_TIMEOUT_DEFAULT;
    if (text != NULL && *text != '\0') {
        char *end;
        seconds = strtod(text, &end);
        if (*end != '\0' || !(seconds > 0)) /* also for NaN */
            return dt_fail(err, DT_VALUE,
                           "DTENSOR_TIMEOUT must be a positive number of seconds, "
                           "it is \"%.40s\"",
                           text);
    }
    *out = seconds;
    return DT_OK;
}
