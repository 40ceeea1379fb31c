/* checkpoint.c: what dtensor.checkpoint does with bytes: headers are judged, parts are
 * written at their places and read back, checksums go along. Without the GIL. */
#include "ext/face/face.h"

#include "core/format/crc32c.h"
#include "core/format/random.h"
#include "core/format/safetensors.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

/* --- headers --- */

static PyObject *
text_object(dt_text text)
{
    return PyUnicode_DecodeUTF8(text.text, (Py_ssize_t)text.bytes, NULL);
}

static PyObject *
tensor_object(const dt_stored *tensor)
{
    return Py_BuildValue("(NsNLL)", text_object(tensor->name), tensor->dtype,
                         ext_tuple(tensor->shape, tensor->ndim),
                         (long long)tensor->begin, (long long)tensor->end);
}

static PyObject *
tensor_list(const dt_safetensors *file)
{
    PyObject *list = PyList_New(file->tensor_count);
    for (Py_ssize_t k = 0; list != NULL && k < file->tensor_count; k++)
        ext_put(&list, k, tensor_object(&file->tensors[k]));
    return list;
}

static PyObject *
note_dict(const dt_safetensors *file)
{
    PyObject *dict = PyDict_New();
    for (int64_t k = 0; dict != NULL && k < file->note_count; k++) {
        PyObject *key = text_object(file->notes[k].key);
        PyObject *value = text_object(file->notes[k].value);
        if (key == NULL || value == NULL || PyDict_SetItem(dict, key, value) < 0)
            Py_CLEAR(dict);
        Py_XDECREF(key);
        Py_XDECREF(value);
    }
    return dict;
}

static PyObject *
parse_safetensors(PyObject *Py_UNUSED(module), PyObject *args)
{
    Py_buffer header;
    long long data_bytes;
    if (!PyArg_ParseTuple(args, "y*L:parse_safetensors", &header, &data_bytes))
        return NULL;
    dt_safetensors file;
    dt_error err;
    dt_status status =
        dt_safetensors_parse(&file, header.buf, (size_t)header.len, data_bytes, &err);
    PyBuffer_Release(&header);
    if (status != DT_OK)
        return ext_raise(&err);
    PyObject *tensors = tensor_list(&file), *notes = note_dict(&file);
    dt_safetensors_free(&file);
    if (tensors != NULL && notes != NULL)
        return Py_BuildValue("(NN)", tensors, notes);
    Py_XDECREF(tensors);
    Py_XDECREF(notes);
    return NULL;
}

/* --- checksums --- */

static PyObject *
crc32c(PyObject *Py_UNUSED(module), PyObject *args)
{
    Py_buffer data;
    unsigned int crc = 0;
    if (!PyArg_ParseTuple(args, "y*|I:crc32c", &data, &crc))
        return NULL;
    Py_BEGIN_ALLOW_THREADS;
    crc = dt_crc32c(crc, data.buf, (size_t)data.len);
    Py_END_ALLOW_THREADS;
    PyBuffer_Release(&data);
    return PyLong_FromUnsignedLong(crc);
}

/* --- data --- */

/* Some data in a file, and the blocks in which they are checked. */
typedef struct {
    int fd;
    long long base;       /* where in the file the data begin */
    long long data_bytes; /* how many they are */
    long long block;      /* bytes of a block; the last one may have fewer */
    Py_buffer sums;       /* a uint32 for each block; buf NULL: not checked */
    int error;            /* an errno, 0: none */
    int64_t damaged;      /* the first block whose checksum is another one; -1 */
} data_file;

static int64_t
block_end(const data_file *file, int64_t block)
{
    int64_t end = (block + 1) * file->block;
    return end < file->data_bytes ? end : file->data_bytes;
}

/* Whether an array of checksums has one for each block. */
static bool
data_file_good(data_file *file, PyObject *sums)
{
    if (file->block < 1 || file->base < 0 || file->data_bytes < 0) {
        PyErr_SetString(PyExc_ValueError,
                        "blocks must be positive, sizes must not be negative");
        return false;
    }
    if (sums == Py_None)
        return true;
    if (PyObject_GetBuffer(sums, &file->sums, PyBUF_WRITABLE) < 0)
        return false;
    int64_t blocks = (file->data_bytes + file->block - 1) / file->block;
    if (file->sums.len == (Py_ssize_t)sizeof(uint32_t) * blocks &&
        (uintptr_t)file->sums.buf % sizeof(uint32_t) == 0)
        return true;
    PyErr_Format(PyExc_ValueError, "%lld blocks need as many checksums of 4 bytes",
                 (long long)blocks);
    PyBuffer_Release(&file->sums);
    return false;
}

/* Ends the use of a file: NULL with an exception if something failed, else None. */
static PyObject *
data_file_end(data_file *file)
{
    if (file->sums.buf != NULL)
        PyBuffer_Release(&file->sums);
    if (file->error == ENOMEM)
        return PyErr_NoMemory();
    if (file->error != 0) {
        errno = file->error;
        return PyErr_SetFromErrno(PyExc_OSError);
    }
    if (file->damaged < 0)
        Py_RETURN_NONE;
    return PyErr_Format(PyExc_ValueError,
                        "damaged: the CRC-32C of bytes %lld to %lld of the file is not "
                        "what was written",
                        file->base + (long long)(file->damaged * file->block),
                        file->base + (long long)block_end(file, file->damaged));
}

/* All of the bytes, or file->error. */
static void
write_all(data_file *file, const char *data, int64_t bytes, int64_t place)
{
    while (bytes > 0 && file->error == 0) {
        ssize_t done = pwrite(file->fd, data, (size_t)bytes, file->base + place);
        if (done < 0 && errno != EINTR)
            file->error = errno;
        else if (done == 0)
            file->error = EIO;
        else if (done > 0)
            data += done, bytes -= done, place += done;
    }
}

static void
read_all(data_file *file, char *data, int64_t bytes, int64_t place)
{
    while (bytes > 0 && file->error == 0) {
        ssize_t done = pread(file->fd, data, (size_t)bytes, file->base + place);
        if (done < 0 && errno != EINTR)
            file->error = errno;
        else if (done == 0)
            file->error = EIO; /* the file has become shorter */
        else if (done > 0)
            data += done, bytes -= done, place += done;
    }
}

/* Block by block, so that a checksum is made of what the caches hold. */
static void
write_data(data_file *file, const char *data, int64_t bytes, int64_t place)
{
    uint32_t *sums = file->sums.buf;
    while (bytes > 0 && file->error == 0) {
        int64_t block = place / file->block, end = block_end(file, block);
        int64_t part = bytes < end - place ? bytes : end - place;
        if (sums != NULL) {
            uint32_t crc = dt_crc32c(0, data, (size_t)part);
            sums[block] ^= dt_crc32c_shift(crc, (uint64_t)(end - place - part));
        }
        write_all(file, data, part, place);
        data += part, bytes -= part, place += part;
    }
}

static PyObject *
write_at(PyObject *Py_UNUSED(module), PyObject *args)
{
    data_file file = {.damaged = -1};
    long long place;
    Py_buffer data;
    PyObject *sums;
    if (!PyArg_ParseTuple(args, "iLLy*LOL:write_at", &file.fd, &file.base, &place,
                          &data, &file.data_bytes, &sums, &file.block))
        return NULL;
    bool good = data_file_good(&file, sums);
    if (good && (place < 0 || data.len > file.data_bytes - place)) {
        PyErr_SetString(PyExc_ValueError, "the bytes lie outside the data");
        PyBuffer_Release(&file.sums);
        good = false;
    }
    if (good) {
        Py_BEGIN_ALLOW_THREADS;
        write_data(&file, data.buf, data.len, place);
        Py_END_ALLOW_THREADS;
    }
    PyBuffer_Release(&data);
    return good ? data_file_end(&file) : NULL;
}

/* Where a part is read to, and the block that was read last. */
typedef struct {
    data_file file;
    int64_t place, itemsize; /* of the whole array in the data */
    char *out;
    char *room;   /* one block */
    int64_t held; /* which; -1: none yet */
} part_reader;

static void
read_block(data_file *file, char *out, int64_t block)
{
    int64_t start = block * file->block, bytes = block_end(file, block) - start;
    read_all(file, out, bytes, start);
    const uint32_t *sums = file->sums.buf;
    if (sums != NULL && file->error == 0 && file->damaged < 0 &&
        dt_crc32c(0, out, (size_t)bytes) != sums[block])
        file->damaged = block;
}

/* One stretch of the part. A block that lies in it as a whole is read where it belongs;
 * of others there is a copy, since many stretches may be cut from it. */
static void
read_stretch(void *data, int64_t local, int64_t global, int64_t count)
{
    part_reader *r = data;
    data_file *file = &r->file;
    char *out = r->out + local * r->itemsize;
    int64_t place = r->place + global * r->itemsize, bytes = count * r->itemsize;
    while (bytes > 0 && file->error == 0 && file->damaged < 0) {
        int64_t block = place / file->block, end = block_end(file, block);
        int64_t part = bytes < end - place ? bytes : end - place;
        if (place == block * file->block && part == end - place) {
            read_block(file, out, block);
        } else {
            if (r->held != block)
                read_block(file, r->room, block);
            r->held = block;
            memcpy(out, r->room + (place - block * file->block), (size_t)part);
        }
        out += part, bytes -= part, place += part;
    }
}

/* How many elements the whole array has and `out` must have. -1 with an exception. */
static int64_t
check_part(PyObject *out, PyObject *layout, int64_t *coordinate, int64_t *whole)
{
    if (!PyArray_Check(out) || !PyArray_ISCARRAY((PyArrayObject *)out))
        return ext_fail(PyExc_TypeError, "a part is read into a C-ordered array");
    int64_t held = PyArray_SIZE((PyArrayObject *)out);
    *whole = held;
    if (layout == Py_None)
        return held;
    const dt_layout *l = ((LayoutObject *)layout)->layout;
    int inside = ext_coordinate(coordinate, l->mesh, "read_part");
    if (inside < 0)
        return -1;
    if (!inside ||
        dt_layout_local_bytes(l, coordinate) != held * (int64_t)dt_dtype_size(l->dtype))
        return ext_fail(PyExc_ValueError, "the array is not this rank's part");
    *whole = 1;
    for (int d = 0; d < l->ndim; d++)
        *whole *= l->shape[d];
    return held;
}

static PyObject *
read_part(PyObject *Py_UNUSED(module), PyObject *args)
{
    part_reader r = {.file = {.damaged = -1}, .held = -1};
    long long place;
    PyObject *out, *layout, *sums;
    int64_t coordinate[DT_MESH_MAX_NDIM], whole;
    if (!PyArg_ParseTuple(args, "iLLOOLOL:read_part", &r.file.fd, &r.file.base, &place,
                          &out, &layout, &r.file.data_bytes, &sums, &r.file.block))
        return NULL;
    if (layout != Py_None && Py_TYPE(layout) != &ext_layout_type)
        return PyErr_Format(PyExc_TypeError, "expected a Layout, not %R", layout);
    int64_t held = check_part(out, layout, coordinate, &whole);
    if (held < 0 || !data_file_good(&r.file, sums))
        return NULL;
    r.place = place;
    r.itemsize = PyArray_ITEMSIZE((PyArrayObject *)out);
    r.out = PyArray_DATA((PyArrayObject *)out);
    dt_error err = {.status = DT_OK};
    if (place < 0 || whole > (r.file.data_bytes - place) / r.itemsize)
        dt_fail(&err, DT_VALUE, "the array lies outside the data");
    r.room = err.status == DT_OK ? PyMem_RawMalloc((size_t)r.file.block) : NULL;
    if (err.status == DT_OK && r.room == NULL)
        r.file.error = ENOMEM;
    Py_BEGIN_ALLOW_THREADS;
    if (r.room != NULL && layout == Py_None)
        read_stretch(&r, 0, 0, held);
    else if (r.room != NULL)
        dt_stretches(((LayoutObject *)layout)->layout, coordinate, read_stretch, &r,
                     &err);
    Py_END_ALLOW_THREADS;
    PyMem_RawFree(r.room);
    PyObject *none = data_file_end(&r.file);
    if (none == NULL || err.status == DT_OK)
        return none;
    Py_DECREF(none);
    return ext_raise(&err);
}

PyMethodDef ext_checkpoint_methods[] = {
    {"parse_safetensors", parse_safetensors, METH_VARARGS,
     "parse_safetensors(header, data_bytes, /)\n--\n\n"
     "Return what a header says: a list of (name, dtype, shape, begin, end) in the\n"
     "order of the data, and the dict of its notes. ValueError says what is wrong."},
    {"crc32c", crc32c, METH_VARARGS,
     "crc32c(data, crc=0, /)\n--\n\n"
     "Return the CRC-32C of data behind those whose CRC-32C is `crc`."},
    {"write_at", write_at, METH_VARARGS,
     "write_at(fd, base, place, data, data_bytes, sums, block, /)\n--\n\n"
     "Write bytes at `place` of the data that begin at `base` of a file. The array of\n"
     "uint32 `sums` is changed by what they add to the checksum of each block: the\n"
     "exclusive or over everybody's is the checksum. None: no checksums."},
    {"read_part", read_part, METH_VARARGS,
     "read_part(fd, base, place, out, layout, data_bytes, sums, block, /)\n--\n\n"
     "Read into `out`, C-ordered, this rank's part of an array of this layout (None: "
     "of\n"
     "the shape of `out`) that lies at `place` of the data. ValueError if a block "
     "that\n"
     "has some of it has another checksum than `sums` has."},
    {0},
};
