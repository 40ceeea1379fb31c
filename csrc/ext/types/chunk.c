/* chunk.c: chunks of a dim, as Shard tells them. */
#include "ext/types/types.h"

static PyObject *
shard_size_and_offset(PyObject *Py_UNUSED(type), PyObject *args, PyObject *kwargs)
{
    static char *keywords[] = {"curr_local_size", "num_chunks", "rank", NULL};
    long long length, count, index;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "LLL:local_shard_size_and_offset",
                                     keywords, &length, &count, &index))
        return NULL;
    if (length < 0)
        return PyErr_Format(PyExc_ValueError, "a dimension cannot have length %lld",
                            length);
    if (index < 0 || index >= count)
        return PyErr_Format(PyExc_ValueError, "there is no chunk %lld of %lld", index,
                            count);
    dt_range range = dt_chunk(length, count, index);
    return Py_BuildValue("(LL)", (long long)range.size, (long long)range.start);
}

static const char shard_size_doc[] =
    "local_shard_size_and_offset(curr_local_size, num_chunks, rank)\n--\n\n"
    "Return the length of one chunk of a dimension, and where it starts.\n\n"
    "Parameters\n----------\n"
    "curr_local_size : int\n    Length of the dimension.\n"
    "num_chunks : int\n    Number of chunks.\n"
    "rank : int\n    Which chunk, ``0 <= rank < num_chunks``.\n\n"
    "Returns\n-------\n"
    "tuple of int\n"
    "    Length and offset. The offset of an empty chunk is the dimension's length.\n\n"
    "Raises\n------\n"
    "ValueError\n    If the length is negative or there is no such chunk.";

PyMethodDef ext_shard_methods[] = {
    {"local_shard_size_and_offset", EXT_KEYWORDS(shard_size_and_offset) | METH_STATIC,
     shard_size_doc},
    {0},
};
