/* version.c: the counter of writes into memory that tensors share, by which backward
 * finds that what it kept has changed. */
#include "ext/types/types.h"

tape_version *
tape_version_of(TensorObject *tensor)
{
    if (tensor->version == NULL) {
        tensor->version = PyMem_Malloc(sizeof *tensor->version);
        if (tensor->version == NULL)
            return (tape_version *)PyErr_NoMemory();
        *tensor->version = (tape_version){.refs = 1};
    }
    return tensor->version;
}

static __attribute__((noinline)) int
share_any(TensorObject *tensor, TensorObject *owner)
{
    tape_version *version = tape_version_of(owner);
    if (version == NULL)
        return -1;
    bool global = ext_is_dtensor((PyObject *)tensor);
    uint64_t lineage = global ? ext_lineage((DTensorObject *)tensor) : 0;
    version->refs++;
    tape_version_release(tensor->version);
    tensor->version = version;
    if (global)
        ext_with_lineage((PyObject *)tensor, lineage);
    return 0;
}

/* Of every view, which is new and has no version yet, in few instructions. */
int
tape_share_version(TensorObject *tensor, TensorObject *owner)
{
    tape_version *version = owner->version;
    if (version == NULL || tensor->version != NULL ||
        (Py_TYPE(tensor) != &ext_dtensor_type &&
         Py_TYPE(tensor) != &ext_torch_dtensor_type))
        return share_any(tensor, owner);
    version->refs++;
    tensor->version = version;
    ((DTensorObject *)tensor)->lineage -= version->writes;
    return 0;
}

/* A hash of the writes counts them in their order, and whichever of the tensors that
 * share the memory was written to. */
int
tape_written(TensorObject *tensor, uint64_t call)
{
    bool global = ext_is_dtensor((PyObject *)tensor);
    tape_version *version = global ? tape_version_of(tensor) : tensor->version;
    if (version == NULL)
        return global ? -1 : 0;
    version->value++;
    if (!global)
        return 0;
    uint64_t before = ext_lineage((DTensorObject *)tensor);
    version->writes = dt_mix(dt_mix(version->writes, call), before);
    ext_journal_write(ext_lineage((DTensorObject *)tensor), call, before);
    return 0;
}

int
tape_written_recorded(TensorObject *tensor, uint64_t call)
{
    if (tape_version_of(tensor) == NULL)
        return -1;
    tensor->version->recorded++;
    return tape_written(tensor, call);
}

void
tape_set_fresh(TensorObject *tensor)
{
    tensor->fresh = tensor->version == NULL ? 0 : tensor->version->recorded;
}

int
tape_check_fresh(TensorObject *tensor)
{
    if (tensor->node == NULL || tensor->version == NULL ||
        tensor->version->recorded == tensor->fresh)
        return 0;
    return ext_fail(PyExc_RuntimeError,
                    "a tensor that is recorded was written to through a view of it; "
                    "write into it by x[index] = value, so that its gradient knows");
}
