/* Reading costs, and what a step pays. */
#include "core/plan/cost.h"

#include "core/facts/hash.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- reading --- */

/* What stands in an item: NAME.KEY=VALUE or KEY=VALUE. */
typedef struct {
    char name[DT_NAME_MAX], key[16];
    double value;
} item;

static dt_status
cannot_read(const char *text, size_t length, dt_error *err)
{
    return dt_fail(err, DT_VALUE,
                   "costs are written as latency=1e-6,bandwidth=1e10,copy=1e10, or "
                   "dp.latency=2e-5 for the mesh dim \"dp\"; \"%.*s\" cannot be read",
                   (int)(length < 60 ? length : 60), text);
}

static bool
take(char *out, size_t room, const char *text, size_t length)
{
    if (length == 0 || length >= room)
        return false;
    memcpy(out, text, length);
    out[length] = '\0';
    return true;
}

/* Reads one item; the name of a mesh dimension ends at the last dot. */
static bool
read_item(item *out, const char *text, size_t length)
{
    const char *equals = memchr(text, '=', length);
    if (equals == NULL)
        return false;
    size_t left = (size_t)(equals - text), dot = left;
    while (dot > 0 && text[dot - 1] != '.')
        dot--;
    *out = (item){.value = 0};
    if (dot > 0 && !take(out->name, sizeof out->name, text, dot - 1))
        return false;
    char number[40], *end;
    if (!take(out->key, sizeof out->key, text + dot, left - dot) ||
        !take(number, sizeof number, equals + 1, length - left - 1))
        return false;
    out->value = strtod(number, &end);
    return end != number && *end == '\0' && isfinite(out->value);
}

/* The link of a mesh dimension; those that are named are in alphabetical order, so that
 * equal costs are equal texts. NULL: there are too many. */
static dt_link *
named_link(dt_cost *cost, const char *name)
{
    int k = 0;
    while (k < cost->named_count && strcmp(cost->named[k].name, name) < 0)
        k++;
    if (k < cost->named_count && strcmp(cost->named[k].name, name) == 0)
        return &cost->named[k].link;
    if (cost->named_count == DT_MESH_MAX_NDIM)
        return NULL;
    memmove(&cost->named[k + 1], &cost->named[k],
            sizeof cost->named[0] * (size_t)(cost->named_count++ - k));
    memset(&cost->named[k], 0, sizeof cost->named[k]);
    strcpy(cost->named[k].name, name);
    cost->named[k].link = (dt_link){.latency = -1, .bandwidth = -1}; /* not given yet */
    return &cost->named[k].link;
}

static dt_status
put_item(dt_cost *cost, const item *given, const char *text, size_t length,
         dt_error *err)
{
    bool general = given->name[0] == '\0';
    bool nodes = general && strncmp(given->key, "nodes_", 6) == 0;
    const char *key = given->key + (nodes ? 6 : 0);
    bool latency = strcmp(key, "latency") == 0;
    bool bandwidth = strcmp(key, "bandwidth") == 0;
    bool copy = strcmp(given->key, "copy") == 0 && general;
    bool number = given->value >= 1 && given->value == floor(given->value);
    if (strcmp(key, "family") == 0 && general && number &&
        given->value <= DT_COST_FAMILIES) {
        cost->family = (int)given->value;
        return DT_OK;
    }
    if (strcmp(key, "node_ranks") == 0 && general) {
        if (!number || given->value > 1e9)
            return dt_fail(err, DT_VALUE, "node_ranks must be 1, 2, 3 ..., it is %g",
                           given->value);
        cost->node = (int64_t)given->value;
        return DT_OK;
    }
    if (!latency && !bandwidth && !copy)
        return cannot_read(text, length, err);
    if (latency ? given->value < 0 : given->value <= 0)
        return dt_fail(err, DT_VALUE, "%s must be %s, it is %g",
                       latency ? "a latency" : "a bandwidth or copy",
                       latency ? "0 seconds or more" : "more than 0 bytes per second",
                       given->value);
    dt_link *link = nodes     ? &cost->nodes
                    : general ? &cost->link
                              : named_link(cost, given->name);
    if (link == NULL)
        return dt_fail(err, DT_VALUE,
                       "at most %d mesh dims can have costs of their own",
                       DT_MESH_MAX_NDIM);
    *(copy ? &cost->copy : latency ? &link->latency : &link->bandwidth) = given->value;
    return DT_OK;
}

/* Mesh dimensions with half a link get the rest of the general one. */
static void
complete(dt_cost *cost)
{
    for (int k = 0; k < cost->named_count; k++) {
        dt_link *link = &cost->named[k].link;
        link->latency = link->latency < 0 ? cost->link.latency : link->latency;
        link->bandwidth = link->bandwidth < 0 ? cost->link.bandwidth : link->bandwidth;
    }
    dt_cost given = DT_COST_DEFAULT;
    const double usual[] = {given.link.latency,  given.link.bandwidth,  given.copy, 0,
                            given.nodes.latency, given.nodes.bandwidth, 0};
    const double general[] = {
        cost->link.latency,  cost->link.bandwidth,  cost->copy,        cost->family,
        cost->nodes.latency, cost->nodes.bandwidth, (double)cost->node};
    if (cost->named_count > 0 || memcmp(general, usual, sizeof usual) != 0) {
        cost->hash = dt_hash(1, general, sizeof general);
        cost->hash = dt_hash(cost->hash, cost->named,
                             sizeof cost->named[0] * (size_t)cost->named_count);
    }
}

dt_status
dt_cost_parse(dt_cost *out, const char *text, dt_error *err)
{
    dt_cost cost = DT_COST_DEFAULT;
    for (;;) {
        text += strspn(text, " ,");
        size_t length = strcspn(text, ",");
        if (length == 0)
            break;
        size_t used = length;
        while (text[used - 1] == ' ')
            used--;
        item given;
        if (!read_item(&given, text, used))
            return cannot_read(text, used, err);
        DT_TRY(put_item(&cost, &given, text, used, err));
        text += length;
    }
    complete(&cost);
    *out = cost;
    return DT_OK;
}

/* --- writing --- */

/* Appends to a text as far as there is room. */
__attribute__((format(printf, 3, 4))) static void
append(char *out, size_t room, const char *format, ...)
{
    size_t used = strlen(out);
    va_list list;
    va_start(list, format);
    vsnprintf(out + used, room - used, format, list);
    va_end(list);
}

/* A number in as few digits as give it back. */
static void
append_item(char *out, size_t room, const char *name, const char *key, double value)
{
    char number[40];
    int digits = 1;
    do
        snprintf(number, sizeof number, "%.*g", digits++, value);
    while (digits <= 17 && strtod(number, NULL) != value);
    append(out, room, "%s%s%s%s=%s", out[0] == '\0' ? "" : ",", name,
           name[0] == '\0' ? "" : ".", key, number);
}

void
dt_cost_print(char *out, size_t room, const dt_cost *cost)
{
    out[0] = '\0';
    append_item(out, room, "", "latency", cost->link.latency);
    append_item(out, room, "", "bandwidth", cost->link.bandwidth);
    append_item(out, room, "", "copy", cost->copy);
    dt_cost given = DT_COST_DEFAULT;
    if (cost->nodes.latency != given.nodes.latency)
        append_item(out, room, "", "nodes_latency", cost->nodes.latency);
    if (cost->nodes.bandwidth != given.nodes.bandwidth)
        append_item(out, room, "", "nodes_bandwidth", cost->nodes.bandwidth);
    if (cost->node != 0)
        append_item(out, room, "", "node_ranks", (double)cost->node);
    if (cost->family != 0)
        append_item(out, room, "", "family", cost->family);
    for (int k = 0; k < cost->named_count; k++) {
        const char *name = cost->named[k].name;
        append_item(out, room, name, "latency", cost->named[k].link.latency);
        append_item(out, room, name, "bandwidth", cost->named[k].link.bandwidth);
    }
}

/* --- using --- */

dt_link
dt_link_dearer(dt_link a, dt_link b)
{
    return (dt_link){.latency = a.latency > b.latency ? a.latency : b.latency,
                     .bandwidth =
                         a.bandwidth < b.bandwidth ? a.bandwidth : b.bandwidth};
}

void
dt_cost_find_nodes(dt_cost *cost, const uint64_t *nodes, int64_t size)
{
    int64_t length = 0;
    if (nodes == NULL || cost->node != 0)
        return;
    while (length < size && nodes[length] == nodes[0])
        length++;
    for (int64_t rank = 0; rank + 1 < size; rank++)
        if ((nodes[rank] == nodes[rank + 1]) != ((rank + 1) % length != 0) ||
            (rank + 1 >= length && nodes[rank + 1] == nodes[0]))
            return;
    cost->node = length < size ? length : 0;
}

/* The nodes of two lines of ranks along a mesh dimension: that of the first rank of the
 * mesh, and that of its last. */
static int64_t
node_at(const dt_cost *cost, const dt_mesh *mesh, int m, int line, int64_t at)
{
    int64_t begin =
        line == 0 ? 0 : mesh->size - 1 - (mesh->shape[m] - 1) * mesh->stride[m];
    return dt_mesh_rank(mesh, begin + at * mesh->stride[m]) / cost->node;
}

/* Whether one of these lines is not on one node. */
static bool
leaves_node(const dt_cost *cost, const dt_mesh *mesh, int m)
{
    for (int line = 0; line < 2; line++)
        for (int64_t at = 1; at < mesh->shape[m]; at++)
            if (node_at(cost, mesh, m, line, at) != node_at(cost, mesh, m, line, 0))
                return true;
    return false;
}

/* How many neighbours share a node, all along both lines; 0: here more, there fewer. */
static int64_t
ranks_along(const dt_cost *cost, const dt_mesh *mesh, int m)
{
    int64_t run = 1;
    while (run < mesh->shape[m] &&
           node_at(cost, mesh, m, 0, run) == node_at(cost, mesh, m, 0, 0))
        run++;
    for (int line = 0; line < 2; line++)
        for (int64_t at = 1; at < mesh->shape[m]; at++) {
            bool leaves = node_at(cost, mesh, m, line, at) !=
                          node_at(cost, mesh, m, line, at - 1);
            if (leaves != (at % run == 0))
                return 0;
        }
    return mesh->shape[m] % run == 0 ? run : 0;
}

int
dt_cost_node_dim(int64_t *ranks, const dt_cost *cost, const dt_mesh *mesh)
{
    if (cost->node == 0 || mesh->ndim == DT_MESH_MAX_NDIM ||
        (mesh->named && cost->named_count > 0))
        return -1;
    for (int m = 0; m < mesh->ndim; m++) {
        *ranks = ranks_along(cost, mesh, m);
        if (*ranks > 1 && *ranks < mesh->shape[m] && (*ranks & (*ranks - 1)) == 0)
            return m;
    }
    return -1;
}

/* The link along a mesh dimension. */
static dt_link
link_along(const dt_cost *cost, const dt_mesh *mesh, int m)
{
    for (int k = 0; mesh->named && k < cost->named_count; k++)
        if (strcmp(cost->named[k].name, mesh->names[m]) == 0)
            return cost->named[k].link;
    return cost->node != 0 && leaves_node(cost, mesh, m) ? cost->nodes : cost->link;
}

dt_link
dt_cost_link(const dt_cost *cost, const dt_mesh *mesh, unsigned mesh_dims)
{
    if ((cost->node == 0 && (cost->named_count == 0 || !mesh->named)) || mesh_dims == 0)
        return cost->link;
    dt_link dearest = {.latency = 0, .bandwidth = INFINITY};
    for (int m = 0; m < mesh->ndim; m++)
        if (mesh_dims >> m & 1)
            dearest = dt_link_dearer(dearest, link_along(cost, mesh, m));
    return dearest;
}

dt_link
dt_cost_least(const dt_cost *cost)
{
    dt_link least = cost->link;
    for (int k = 0; k < cost->named_count; k++) {
        dt_link link = cost->named[k].link;
        least.latency = link.latency < least.latency ? link.latency : least.latency;
        least.bandwidth =
            link.bandwidth > least.bandwidth ? link.bandwidth : least.bandwidth;
    }
    return least;
}
