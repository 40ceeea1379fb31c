/* The graph behind a backward: a list of stops, and a table that finds them, which there
 * is from the first one on. */
#include "ext/tape/route.h"

#include <stdlib.h>
#include <string.h>

static int *
slot_of(const journey *j, PyObject *target)
{
    uint64_t hash = (uint64_t)(uintptr_t)target * 0x9E3779B97F4A7C15u;
    int mask = j->table_size - 1, place = (int)(hash >> 33) & mask;
    while (j->table[place] != 0 && j->stops[j->table[place] - 1].target != target)
        place = (place + 1) & mask;
    return &j->table[place];
}

static int
grow(journey *j)
{
    int room = j->room == 0 ? 64 : 2 * j->room;
    stop *stops = PyMem_Realloc(j->stops, (size_t)room * sizeof *stops);
    if (stops != NULL)
        j->stops = stops;
    int *table = stops == NULL ? NULL : PyMem_Calloc((size_t)room * 2, sizeof *table);
    if (table == NULL)
        return ext_no_memory();
    PyMem_Free(j->table);
    j->room = room;
    j->table = table;
    j->table_size = 2 * room;
    for (int k = 0; k < j->count; k++)
        *slot_of(j, j->stops[k].target) = k + 1;
    return 0;
}

int
route_add(journey *j, PyObject *target)
{
    if (j->count == j->room && grow(j) < 0)
        return -1;
    int *slot = slot_of(j, target);
    if (*slot == 0) {
        j->stops[j->count] = (stop){
            .target = Py_NewRef(target),
            .output_count =
                tape_is_node(target) ? ((NodeObject *)target)->output_count : 1,
        };
        *slot = ++j->count;
    }
    return *slot - 1;
}

/* Finds all that can be reached, and how many edges lead to each. New stops come at the
 * end, so that going through the list is a walk through the graph. */
static int
explore(journey *j)
{
    for (int k = 0; k < j->count; k++) {
        PyObject *target = j->stops[k].target;
        if (!tape_is_node(target))
            continue;
        NodeObject *node = (NodeObject *)target;
        for (int e = 0; e < node->input_count; e++) {
            if (node->edges[e].target == NULL)
                continue;
            int next = route_add(j, node->edges[e].target);
            if (next < 0)
                return -1;
            j->stops[next].uses++;
        }
    }
    return 0;
}

/* What this rank has made earlier than others would come later: it takes the age of the
 * oldest node that uses it. */
static void
find_ages(journey *j)
{
    bool any = false;
    for (int k = 0; k < j->count; k++) {
        stop *s = &j->stops[k];
        NodeObject *node = tape_is_node(s->target) ? (NodeObject *)s->target : NULL;
        s->place = k;
        s->floats = node != NULL && node->floats;
        any |= s->floats;
        s->age = node == NULL ? 0 : s->floats ? UINT64_MAX : node->sequence;
    }
    for (int k = 0; any && k < j->count; k++) {
        stop *s = &j->stops[k];
        NodeObject *node = tape_is_node(s->target) ? (NodeObject *)s->target : NULL;
        for (int e = 0; node != NULL && !s->floats && e < node->input_count; e++) {
            PyObject *target = node->edges[e].target;
            stop *next = target == NULL ? NULL : route_find(j, target);
            if (next != NULL && next->floats && next->age > s->age)
                next->age = s->age;
        }
    }
}

static int
by_age(const void *a, const void *b)
{
    const stop *x = a, *y = b;
    if (x->age != y->age)
        return x->age < y->age ? 1 : -1;
    return x->floats != y->floats ? x->floats - y->floats : x->place - y->place;
}

int
route_explore(journey *j)
{
    if (explore(j) < 0)
        return -1;
    if (j->count == 0)
        return 0;
    find_ages(j);
    qsort(j->stops, (size_t)j->count, sizeof *j->stops, by_age);
    memset(j->table, 0, (size_t)j->table_size * sizeof *j->table);
    for (int k = 0; k < j->count; k++)
        *slot_of(j, j->stops[k].target) = k + 1;
    return 0;
}

stop *
route_find(const journey *j, PyObject *target)
{
    return &j->stops[*slot_of(j, target) - 1];
}

tape_edge
route_edge_of(TensorObject *input)
{
    return (tape_edge){
        .target = input->node == NULL ? (PyObject *)input : input->node,
        .output = input->node == NULL ? 0 : input->output,
    };
}

void
route_mark_needed(journey *j)
{
    for (int i = 0; i < j->input_count; i++) {
        PyObject *target = route_edge_of((TensorObject *)j->inputs[i]).target;
        int place = j->table == NULL ? -1 : *slot_of(j, target) - 1;
        if (place >= 0)
            j->stops[place].wanted = true;
    }
    for (int k = j->count - 1; k >= 0; k--) {
        stop *s = &j->stops[k];
        s->needed = j->inputs == NULL;
        if (!tape_is_node(s->target))
            continue;
        NodeObject *node = (NodeObject *)s->target;
        for (int e = 0; e < node->input_count && !s->needed; e++) {
            PyObject *target = node->edges[e].target;
            const stop *next = target == NULL ? NULL : route_find(j, target);
            s->needed = next != NULL && (next->needed || next->wanted);
        }
    }
}

void
route_clear(journey *j)
{
    for (int k = 0; k < j->count; k++) {
        for (int o = 0; j->stops[k].grads != NULL && o < j->stops[k].output_count; o++)
            Py_XDECREF(j->stops[k].grads[o]);
        PyMem_Free(j->stops[k].grads);
        Py_DECREF(j->stops[k].target);
    }
    for (int i = 0; j->found != NULL && i < j->input_count; i++)
        Py_XDECREF(j->found[i]);
    PyMem_Free(j->found);
    PyMem_Free(j->stops);
    PyMem_Free(j->table);
    Py_XDECREF(j->callbacks);
    Py_XDECREF(j->late);
}
