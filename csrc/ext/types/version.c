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

int
tape_share_version(TensorObject *tensor, TensorObject *owner)
{
    tape_version *version = tape_version_of(owner);
    if (version == NULL)
        return -1;
    version->refs++;
    tape_version_release(tensor->version);
    tensor->version = version;
    return 0;
}

void
tape_version_release(tape_version *version)
{
    if (version != NULL && --version->refs == 0)
        PyMem_Free(version);
}

void
tape_written(TensorObject *tensor)
{
    if (tensor->version != NULL)
        tensor->version->value++;
}

int
tape_written_recorded(TensorObject *tensor)
{
    tape_version *version = tape_version_of(tensor);
    if (version == NULL)
        return -1;
    version->value++;
    version->recorded++;
    return 0;
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
