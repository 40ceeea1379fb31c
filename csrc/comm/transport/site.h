/* site.h: where ranks run, and what follows from it: how many share the processors, which of
 * them are on one host, and what the hosts are called. */
#ifndef DT_SITE_H
#define DT_SITE_H

#include "comm/transport/transport.h"

#include <sched.h>

/* What a rank tells the others, byte by byte. */
typedef struct {
    uint64_t machine;  /* one kernel */
    uint64_t host;     /* one name on it: containers have several ... */
    dt_host name;      /* ... and that */
    cpu_set_t allowed; /* processors; none if unknown */
} dt_site;

/* This process's own; `name` is its host's. */
void dt_site_find(dt_site *out, const char *name);

/* Writes down in `t` what the sites of its ranks say, and in hosts[] and nodes[], which `t`
 * refers to if there are several, their names and a number for each. */
void dt_sites_judge(dt_transport *t, dt_host *hosts, uint64_t *nodes,
                    const dt_site *sites);

#endif
