/* handler.c: results of NumPy's own functions come from our pool (NEP 49): large ones, and
 * those that other processes may read there.
 *
 * NumPy asks the handler of the current context for the memory of a new array, and the
 * array gives it back to that one. Ours is put in front of the one that is there. It
 * serves such arrays that are made while an operator of ours computes, and passes all
 * else on: arrays of other code stay where they were. Whose a block is, is told by its
 * address, so a block may be given back by any thread, after any change of handlers. */
#include "ext/base/base.h"

#include "core/memory/memory.h"
#include "core/memory/range.h"

#include <string.h>

_Thread_local bool ext_computing;

static const char NAME[] = "mem_handler";

/* A handler of ours and the one behind it. */
typedef struct {
    PyDataMem_Handler handler;
    PyDataMemAllocator next;
    PyObject *capsule; /* of the next one */
} chained;

/* A block of ours, or NULL: the next one is to serve. */
static void *
take(size_t bytes)
{
    if (!ext_computing || bytes < dt_memory_least())
        return NULL;
    void *block = dt_memory_take(bytes);
    if (block == NULL || dt_range_has(block))
        return block;
    dt_memory_give(block);
    return NULL;
}

static void *
handler_malloc(void *data, size_t bytes)
{
    const PyDataMemAllocator *next = &((chained *)data)->next;
    void *block = take(bytes);
    return block != NULL ? block : next->malloc(next->ctx, bytes);
}

static void *
handler_calloc(void *data, size_t count, size_t each)
{
    const PyDataMemAllocator *next = &((chained *)data)->next;
    size_t bytes;
    void *block = __builtin_mul_overflow(count, each, &bytes) ? NULL : take(bytes);
    return block != NULL ? memset(block, 0, bytes)
                         : next->calloc(next->ctx, count, each);
}

static void
handler_free(void *data, void *block, size_t bytes)
{
    const PyDataMemAllocator *next = &((chained *)data)->next;
    if (dt_range_has(block))
        dt_memory_give(block);
    else
        next->free(next->ctx, block, bytes);
}

static void *
handler_realloc(void *data, void *block, size_t bytes)
{
    const PyDataMemAllocator *next = &((chained *)data)->next;
    if (!dt_range_has(block))
        return next->realloc(next->ctx, block, bytes);
    size_t before = dt_memory_size(block);
    void *moved = take(bytes);
    if (moved == NULL)
        moved = next->malloc(next->ctx, bytes);
    if (moved == NULL)
        return NULL;
    memcpy(moved, block, bytes < before ? bytes : before);
    dt_memory_give(block);
    return moved;
}

/* Arrays hold a reference, so this comes after the last of them. */
static void
free_chained(PyObject *capsule)
{
    chained *c = PyCapsule_GetPointer(capsule, NAME);
    Py_DECREF(c->capsule);
    PyMem_Free(c);
}

/* Puts ours in front of another handler. */
static int
install(PyObject *next, const PyDataMem_Handler *theirs)
{
    chained *c = PyMem_Malloc(sizeof *c);
    if (c == NULL) {
        PyErr_NoMemory();
        return -1;
    }
    *c = (chained){
        .handler = {.name = "dtensor",
                    .version = 1,
                    .allocator = {.ctx = c,
                                  .malloc = handler_malloc,
                                  .calloc = handler_calloc,
                                  .realloc = handler_realloc,
                                  .free = handler_free}},
        .next = theirs->allocator,
        .capsule = Py_NewRef(next),
    };
    PyObject *capsule = PyCapsule_New(c, NAME, free_chained);
    if (capsule == NULL) {
        Py_DECREF(next);
        PyMem_Free(c);
        return -1;
    }
    PyObject *before = PyDataMem_SetHandler(capsule);
    Py_DECREF(capsule);
    Py_XDECREF(before);
    return before == NULL ? -1 : 0;
}

int
ext_handler_install(void)
{
    PyObject *current = PyDataMem_GetHandler();
    if (current == NULL)
        return -1;
    const PyDataMem_Handler *handler = PyCapsule_GetPointer(current, NAME);
    int failed = -1;
    if (handler != NULL)
        failed =
            handler->allocator.malloc == handler_malloc ? 0 : install(current, handler);
    Py_DECREF(current);
    return failed;
}
