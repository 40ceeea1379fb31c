/* simulated.c: the bytes that tensors without data would have, in a world that is
 * simulated: they are added up while the tensors live. */
#include "ext/types/types.h"

static const char MEMORY[] = "dtensor.simulated";

static int worlds; /* that were made: without any, nothing is looked up */

void
ext_simulated_begin(void)
{
    worlds++;
}

bool
ext_is_simulated(const dt_mesh *mesh)
{
    if (worlds == 0 || mesh->world == 0)
        return false;
    WorldObject *self = ext_world_find(mesh->world);
    return self != NULL && self->world != NULL && self->world->transport->alone;
}

/* What a tensor without data would take. */
typedef struct {
    WorldObject *world; /* owned */
    int64_t bytes;
} claim;

static void
give_back(PyObject *capsule)
{
    claim *c = PyCapsule_GetPointer(capsule, MEMORY);
    c->world->live_bytes -= c->bytes;
    Py_DECREF((PyObject *)c->world);
    PyMem_Free(c);
}

void
ext_simulated_peak(WorldObject *self, int64_t besides)
{
    int64_t bytes = self->live_bytes + besides;
    if (bytes > self->peak_bytes)
        self->peak_bytes = bytes;
}

PyObject *
ext_simulated_memory(int ndim, const int64_t *shape, dt_dtype dtype)
{
    WorldObject *self = worlds == 0 ? NULL : ext_world_current();
    if (self == NULL || self->world == NULL || !self->world->transport->alone)
        return NULL;
    int64_t bytes = (int64_t)dt_dtype_size(dtype);
    for (int d = 0; d < ndim; d++)
        if (__builtin_mul_overflow(bytes, shape[d], &bytes))
            return PyErr_NoMemory();
    claim *c = PyMem_New(claim, 1);
    PyObject *capsule = c == NULL ? PyErr_NoMemory() : NULL;
    if (c != NULL)
        capsule = PyCapsule_New(c, MEMORY, give_back);
    if (capsule == NULL) {
        PyMem_Free(c);
        return NULL;
    }
    *c = (claim){(WorldObject *)Py_NewRef((PyObject *)self), bytes};
    self->live_bytes += bytes;
    ext_simulated_peak(self, 0);
    return capsule;
}
