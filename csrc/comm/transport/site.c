#include "comm/transport/site.h"
#include "core/facts/hash.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

void
dt_site_find(dt_site *out, const char *name)
{
    char id[64] = "";
    memset(out, 0, sizeof *out);
    FILE *file = fopen("/proc/sys/kernel/random/boot_id", "r");
    if (file != NULL) {
        if (fgets(id, sizeof id, file) == NULL)
            id[0] = '\0';
        fclose(file);
    }
    out->host = dt_hash(0, name, strlen(name));
    out->machine = id[0] != '\0' ? dt_hash(0, id, strlen(id)) : out->host;
    snprintf(out->name, sizeof out->name, "%.*s", DT_HOST_MAX - 1, name);
    if (sched_getaffinity(0, sizeof out->allowed, &out->allowed) != 0)
        CPU_ZERO(&out->allowed);
}

/* Ranks may be bound to one processor each, so what counts is the union of theirs. */
void
dt_sites_judge(dt_transport *t, dt_host *hosts, uint64_t *nodes, const dt_site *sites)
{
    const dt_site *own = &sites[t->rank];
    cpu_set_t together = own->allowed;
    int on_machine = 0;
    t->neighbours = 0;
    t->shared_memory = true;
    for (int rank = 0; rank < t->size; rank++) {
        const dt_site *other = &sites[rank];
        memcpy(hosts[rank], other->name, sizeof other->name);
        nodes[rank] = dt_mix(other->machine, other->host);
        if (other->machine != own->machine || other->host != own->host)
            t->shared_memory = false;
        if (other->machine != own->machine)
            continue;
        on_machine++;
        t->neighbours += other->host == own->host;
        CPU_OR(&together, &together, &other->allowed);
    }
    long processors = CPU_COUNT(&together);
    if (processors == 0)
        processors = sysconf(_SC_NPROCESSORS_ONLN);
    t->oversubscribed = on_machine > processors;
    t->hosts = t->shared_memory ? NULL : (const dt_host *)hosts;
    t->nodes = t->shared_memory ? NULL : nodes;
}
