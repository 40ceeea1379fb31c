/* safetensors.h: the header of a safetensors file, read and judged.
 *
 * A file [1] is a length, 8 bytes, least significant first; a header of that length;
 * and the data, to the end of the file. The header is a JSON object that tells of every
 * tensor where in the data it is, and may have notes:
 *
 *     {"__metadata__": {"format": "pt"},
 *      "w": {"dtype": "F32", "shape": [2, 3], "data_offsets": [0, 24]}}
 *
 * A header comes from anywhere, so it is judged strictly: what is read is this and no
 * more of JSON, in one pass without recursion, in memory of a small multiple of its
 * length. Names are data: nothing here takes them for paths.
 *
 * [1] https://github.com/huggingface/safetensors, README, "Format". */
#ifndef DT_SAFETENSORS_H
#define DT_SAFETENSORS_H

#include "core/memory/bump.h"
#include "core/memory/copy.h"
#include "core/facts/status.h"

enum { DT_SAFETENSORS_MOST = 100000000 }; /* bytes that a header may have */

typedef struct {
    const char *text; /* UTF-8, not terminated: it may hold a NUL */
    size_t bytes;
} dt_text;

typedef struct {
    dt_text name;
    const char *dtype; /* one of the format's names, such as "BF16" */
    int ndim;
    const int64_t *shape;
    int64_t begin, end; /* in bytes, from the beginning of the data */
} dt_stored;

typedef struct {
    dt_text key, value;
} dt_note;

typedef struct {
    dt_stored *tensors; /* in the order of their data */
    int64_t tensor_count;
    dt_note *notes; /* in the order of their keys' bytes */
    int64_t note_count;
    /* below: safetensors.c's own */
    int64_t tensor_room, note_room;
    char *texts;
    dt_bump shapes;
} dt_safetensors;

/* Reads a header of `bytes` bytes in front of `data_bytes` bytes of data.
 *
 * DT_VALUE, with a sentence that says what and where, for a header that is longer than
 * DT_SAFETENSORS_MOST; is not such an object, followed by blanks at most; is not UTF-8,
 * also in its escapes; has a name or key twice, or fields of a tensor other than the
 * three; numbers other than 0 ... 2^63 - 1 in plain digits; a dtype that the format
 * does not have; more than DT_MAX_NDIM dimensions; offsets that do not fit shape and
 * dtype; or tensors that leave a gap, overlap, or do not end where the data end.
 * DT_MEMORY. */
dt_status dt_safetensors_parse(dt_safetensors *out, const char *header, size_t bytes,
                               int64_t data_bytes, dt_error *err);
void dt_safetensors_free(dt_safetensors *file); /* all zero: nothing to free */

#endif
